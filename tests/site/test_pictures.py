"""The clip of training and the README's picture: the right size and length, and in motion."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageSequence

from attnbook.figures.training_player import STEPS, TrainingPlayer
from tests.book.notebooks import ROOT
from tools import pictures

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.proof("pages")


@pytest.fixture(scope="module")
def taken(browser: Browser, site: Path) -> list[pictures.Frame]:
    """Take a few pictures of the replay, one of them twice."""
    return list(pictures.frames(browser, site, [0, 9, len(STEPS) - 1, 9]))


def differ(one: Image.Image, other: Image.Image) -> bool:
    return ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox() is not None


def test_a_frame_shows_its_step_and_always_the_same(taken: list[pictures.Frame]) -> None:
    for frame, step in zip(taken, (0, STEPS[9], STEPS[-1], STEPS[9]), strict=True):
        assert frame.image.size == pictures.SIZE
        assert frame.words == TrainingPlayer(step=step).words()
    assert not differ(taken[1].image, taken[3].image)


def test_a_short_clip_has_length_size_and_motion(
    taken: list[pictures.Frame], tmp_path: Path
) -> None:
    clip = pictures.write_clip(taken[:3], tmp_path / "clip")
    assert clip.stat().st_size < 400_000
    with Image.open(clip) as opened:
        assert (opened.format, opened.size) == ("WEBP", pictures.SIZE)
        images, lengths = [], []
        for frame in ImageSequence.Iterator(opened):
            images.append(frame.convert("RGB"))
            lengths.append(frame.info["duration"])
    assert sum(lengths) == 20_000
    assert all(differ(one, other) for one, other in pairwise(images))
    assert not any(
        differ(image, frame.image) for image, frame in zip(images, taken[:3], strict=True)
    )
    with Image.open(clip.with_suffix(".png")) as still:
        assert not differ(still, taken[2].image)
    words = clip.with_suffix(".txt").read_text(encoding="utf-8")
    assert all(frame.words in words for frame in taken[:3])
    assert "CC BY 4.0" in words


def test_the_picture_of_the_page_is_light_and_ends_with_the_figure(
    browser: Browser, site: Path, tmp_path: Path
) -> None:
    path = tmp_path / "page.png"
    words = pictures.write_page(browser, site, path)
    for picture in (path, ROOT / "docs" / "page.png"):
        assert picture.stat().st_size <= 60_000
    with Image.open(path) as opened:
        width, height = opened.size
        bottom = opened.convert("RGB").crop((0, height - 12, width, height))
    assert (width, height > width) == (pictures.WIDE, True)
    assert len(bottom.getcolors()) == 1, "nothing is cut below the figure"
    assert words.endswith(".")


def test_a_missing_page_is_reported(browser: Browser, tmp_path: Path) -> None:
    with pytest.raises(pictures.PicturesError, match="`make book` builds it"):
        next(pictures.frames(browser, tmp_path))
