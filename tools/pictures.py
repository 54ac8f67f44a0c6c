"""Take pictures of the built site: a clip of training for slides, and the README's picture.

    python tools/pictures.py clip
    python tools/pictures.py page

``make clip`` builds the book and writes ``_build/clip/training.webp``: 20 seconds in which the
chapter's replay of training goes from its first step to its last. Beside it are the last frame as
``training.png`` and what it shows in words as ``training.txt``. ``make page-picture`` writes
``docs/page.png``, the landing page down to its first figure. A picture is taken when the page says
that it shows what is wanted; no time is waited for.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import slides  # noqa: E402
from tools.chromium import find_chromium  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SITE = ROOT / "_build" / "html"
CLIP = ROOT / "_build" / "clip"
PAGE = ROOT / "docs" / "page.png"
REPLAY = "chapters/08_training.html"
PLAYER = '.live-figure[data-figure="training_player"]'
SIZE = 960, 600
LENGTH = 20_000
"""Milliseconds of the clip."""
WIDE = 800
"""Width of the README's picture: the page without its sidebar."""
# The figure alone, as large as the window; of its controls only the slider of the steps.
ALONE = """(figure) => {
  const style = document.createElement("style");
  style.textContent = `
    body { background: white; overflow: hidden; }
    body > :not(.live-figure, .source) { display: none !important; }
    body > .live-figure {
      border: 0; margin: 0; max-width: none; padding: 0.5rem 1.5rem; width: auto; zoom: 1.3;
    }
    .live-figure form :is(label:not(:has([name="step"])), button),
    .live-figure > :not(form, .training-room) { display: none !important; }
    .live-figure form label { flex-basis: 100% !important; }
    .source { bottom: 0.7rem; color: #555; left: 2rem; position: fixed; }
  `;
  const source = document.createElement("p");
  source.className = "source";
  source.textContent = document.title;
  document.head.append(style);
  document.body.append(figure, source);
}"""
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Until the figure's program has come, moving the slider changes nothing else.
GO_TO = """(place) => {
  const slider = document.querySelector("body > .live-figure [name=step]");
  const step = JSON.parse(`[${slider.dataset.stops}]`)[place];
  if (slider.ariaValueText.replace(/[^0-9]/g, "") === String(step)) return true;
  slider.value = place;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return false;
}"""


class PicturesError(Exception):
    """A picture cannot be taken."""


class Frame(NamedTuple):
    """A picture of the replay, and its words."""

    image: Image.Image
    words: str


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless Chromium that reaches no other machine."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        raise PicturesError("no Chromium was found; python tools/chromium.py installs one")
    is_root = sys.platform != "win32" and os.geteuid() == 0
    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND", *["--no-sandbox"] * is_root]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path, size: tuple[int, int], **options: object
) -> Iterator[Page]:
    """Open a built page in light colors, without animation."""
    if not path.is_file():
        raise PicturesError(f"{path} is missing; `make book` builds it")
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="light",
        reduced_motion="reduce",
        bypass_csp=True,  # the page's own rules forbid the style added here
        **options,
    )
    page = context.new_page()
    page.goto(path.as_uri(), wait_until="load")
    page.evaluate("() => document.fonts.ready")
    yield page
    context.close()


def frames(browser: Browser, site: Path, places: Sequence[int] | None = None) -> Iterator[Frame]:
    """Take pictures of the replay at places of its slider, by default at all."""
    with opened(browser, site / REPLAY, SIZE) as page:
        page.locator(PLAYER).first.evaluate(ALONE)
        last = int(page.locator("body > .live-figure [name=step]").get_attribute("max"))
        for place in range(last + 1) if places is None else places:
            page.wait_for_function(GO_TO, arg=place)
            for shown in ("none", ""):  # painted as a whole, or edges keep a trace of before
                page.evaluate("(shown) => (document.body.style.display = shown)", shown)
                page.evaluate(NEXT_FRAME)
            words = page.locator("body > .live-figure .figure-words").text_content()
            yield Frame(screen(page), words)


def screen(page: Page) -> Image.Image:
    """Take a picture of what the window shows."""
    return Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")


def durations(count: int, length: int = LENGTH) -> list[int]:
    """Return for how many milliseconds each frame stays: the first two shares, the last four.

    Examples
    --------
    >>> from tools import pictures
    >>> pictures.durations(4, 8_000)
    [2000, 1000, 1000, 4000]
    """
    ends = [(place + 2) * length // (count + 4) for place in range(count - 1)]
    return [end - start for start, end in zip([0, *ends], [*ends, length], strict=True)]


def write_clip(taken: Sequence[Frame], folder: Path) -> Path:
    """Write frames as a clip, and beside it its last frame and its words."""
    folder.mkdir(parents=True, exist_ok=True)
    first, *rest = (frame.image for frame in taken)
    clip = folder / "training.webp"
    lossless = {"lossless": True, "quality": 80, "method": 4, "minimize_size": True}
    shown = {"append_images": rest, "duration": durations(len(taken)), "loop": 0}
    first.save(clip, save_all=True, **shown, **lossless)
    rest[-1].save(clip.with_suffix(".png"), optimize=True)
    lines = [
        f"A clip of {LENGTH / 1000:g} seconds without sound: a head is trained twice from the same",
        "start, without the division and with it. Left: the weights of both on one test sequence:",
        "a row for each query, its right keys in a frame. Right: the loss of both by step.",
        "Frame by frame:",
        "",
        *(frame.words for frame in taken),
        "",
        f"From {slides.credit()}.",
    ]
    clip.with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return clip


def write_page(browser: Browser, site: Path, path: Path) -> str:
    """Write a picture of the landing page down to its first figure; return the figure's words."""
    with opened(browser, site / "index.html", (WIDE, 1_000)) as page:
        figure = page.locator(".live-figure").first
        bottom = figure.evaluate("(node) => node.getBoundingClientRect().bottom + scrollY")
        page.set_viewport_size({"width": WIDE, "height": round(bottom) + 24})
        page.evaluate(NEXT_FRAME)
        few = screen(page).quantize(64, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        return figure.locator(".figure-words").inner_text()


def main(arguments: list[str]) -> int:
    """Take the pictures asked for, and return the exit status."""
    parser = argparse.ArgumentParser(description="Take pictures of the built site.")
    parser.add_argument("what", choices=("clip", "page"))
    what = parser.parse_args(arguments).what
    try:
        with chromium() as browser:
            if what == "clip":
                path = write_clip(list(frames(browser, SITE)), CLIP)
                print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB, its still and its words")
            else:
                words = write_page(browser, SITE, PAGE)
                print(f"wrote {PAGE}, {PAGE.stat().st_size / 1000:.0f} kB")
                print(f"Look whether its alternative text in README.md still fits. Shown: {words}")
    except PicturesError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
