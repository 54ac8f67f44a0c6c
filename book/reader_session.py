"""Follow a reader through a notebook: say which numbers of the text a change contradicts.

The first cell of a reader's notebook calls `follow`. From then on, what is bound to a number of the
text is computed again after each cell, in the reader's own kernel. A number that comes out
differently is named below the cell, and by `Chapter.changed` as long as it differs. What comes out
of a prediction is held back until the reader has committed to an answer.

    notebook = follow("01_puzzle")
    notebook.changed()  # the numbers of the text that no longer match
    notebook.restore()  # bring back the notebook as it was

This needs IPython and the standard library alone. ``tools/reader.py`` writes what it reads: beside
the notebooks, in ``.original``, each as it was, with its bindings in its metadata.
"""

from __future__ import annotations

import html
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from book.numerals import numbers

ORIGINAL = ".original"
"""The folder with the notebooks as they were, beside those that readers change."""
HELD = "Commit your prediction above to see what comes out."
"""What a cell shows in place of its outputs."""
SHOWN = 5
"""Of so many numbers that no longer match a cell tells; `Chapter.changed` tells of all."""


class Chapter:
    """A notebook that a reader runs and changes."""

    def __init__(self, path: Path, shell: Any) -> None:
        self.path = path
        self.shell = shell
        original = json.loads(self._original.read_text(encoding="utf-8"))
        self._sources = {
            cell["id"]: "".join(cell["source"])
            for cell in original["cells"]
            if cell["cell_type"] == "code"
        }
        self._bound: dict[str, list[dict[str, Any]]] = original["metadata"]["numbers"]
        self._off: dict[tuple[str, int], str] = {}
        self._held: dict[str, str] = original["metadata"]["held"]
        self._asked: dict[str, Any] = {}
        self._alternatives: dict[str, str] = original["metadata"]["alternatives"]
        self._running = ""
        self._holding: AbstractContextManager[None] | None = None

    @property
    def _original(self) -> Path:
        """The notebook as it was."""
        return self.path.parent / ORIGINAL / self.path.name

    def before(self, info: Any) -> None:
        """Hold back what comes out of a prediction that is not committed; IPython calls this."""
        cell = self._running = self._cell(getattr(info, "cell_id", None), info.raw_cell)
        asked = self._asked.get(self._held.get(cell, ""))
        if asked is not None and not asked.committed:
            self._holding = holding(self.shell, asked, self._alternatives.get(cell, ""))
            self._holding.__enter__()

    def describe(self, message: dict[str, Any]) -> dict[str, Any]:
        """Give a plot its words; the kernel calls this with what it is about to send."""
        content, words = message["content"], self._alternatives.get(self._running, "")
        content["data"] = described(content["data"], content["metadata"], words)
        return message

    def after(self, result: Any) -> None:
        """Compare what a cell that has run is bound to; IPython calls this."""
        if self._holding is not None:
            self._holding.__exit__(None, None, None)
            self._holding = None
        if not result.success:
            return
        cell = self._cell(getattr(result.info, "cell_id", None), result.info.raw_cell)
        if cell in self._held.values():
            self._asked[cell] = result.result
        found = [self._compared(cell, place) for place in range(len(self._bound.get(cell, ())))]
        said = [sentence for sentence in found if sentence]
        for sentence in said[:SHOWN]:
            print(sentence)
        if said[SHOWN:]:
            print(f"{len(said) - SHOWN} more numbers do not match: notebook.changed() lists them.")

    def changed(self) -> None:
        """Print which numbers of the text the last runs contradict."""
        print("\n".join(self._off.values()) or "Every number that was computed matches the text.")

    def restore(self) -> None:
        """Bring back the notebook as it was."""
        shutil.copyfile(self._original, self.path)
        print(
            f"{self.path.name} is as it was. Load it anew (in JupyterLab: File, Reload Notebook "
            "from Disk)."
        )

    def _cell(self, name: str | None, source: str) -> str:
        """Return which cell has run: by its name, or by what it looks like."""
        if name in self._sources:
            return str(name)
        close = get_close_matches(source, self._sources.values(), 1)
        return next((cell for cell, text in self._sources.items() if [text] == close), "")

    def _compared(self, cell: str, place: int) -> str:
        """Return a sentence if the text contradicts what was computed."""
        bound = self._bound[cell][place]
        self._off.pop((cell, place), None)
        says, gives = bound["numbers"], "no such number"
        try:
            value = numbers(self.shell.ev(bound["expression"]))
        except NameError:  # what it asks for has not run yet
            return ""
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            value = []  # it asks for what the change took away
        if value:
            if is_part(value, says):
                return ""
            says, gives = says[-len(value) :], ", ".join(value)
        sentence = f"The text says {', '.join(says)}, your run gives {gives}: {bound['words']}"
        self._off[cell, place] = sentence
        return sentence


@contextmanager
def holding(shell: Any, asked: Any, words: str) -> Iterator[None]:
    """Show a sentence in place of each output of a cell, until a prediction is committed."""
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.display import display
    from IPython.utils.capture import capture_output

    with capture_output(stderr=False) as captured:
        hook = shell.display_trap.hook
        shell.display_trap.hook = CapturingDisplayHook(shell, shell.display_pub.outputs)
        try:
            yield
        finally:
            shell.display_trap.hook = hook
    printed = [({"text/plain": captured.stdout}, {})] if captured.stdout else []
    for data, metadata in [*printed, *((each.data, each.metadata) for each in captured.outputs)]:
        shown = display({"text/plain": HELD}, raw=True, display_id=True)
        told = described(data, metadata, words)
        show = partial(shown.update, told, metadata=metadata, raw=True)
        asked.observe(lambda _, show=show: show(), "committed")


def described(data: dict[str, Any], metadata: dict[str, Any], words: str) -> dict[str, Any]:
    """Return an output whose picture has an alternative text, which a bare PNG cannot have.

    Examples
    --------
    >>> described({"image/png": "iVBO"}, {"image/png": {"width": 424}}, "It rises.")["text/html"]
    '<img alt="It rises." width="424" src="data:image/png;base64,iVBO">'
    """
    if not words or "image/png" not in data:
        return data
    width = metadata.get("image/png", {}).get("width", "")
    source = f"data:image/png;base64,{data['image/png'].strip()}"
    picture = f'<img alt="{html.escape(words)}" width="{width}" src="{source}">'
    return {"text/html": picture, "text/plain": words}


def is_part(some: list[str], whole: list[str]) -> bool:
    """Say whether some numbers are among others in the same order.

    Examples
    --------
    >>> is_part(["1", "3"], ["1", "2", "3"]), is_part(["3", "1"], ["1", "2", "3"])
    (True, False)
    """
    rest = iter(whole)
    return all(number in rest for number in some)


def sharpen(shell: Any) -> None:
    """Show plots with two dots for each pixel of the page, and half as wide: as on the site."""
    settings = shell.config.InlineBackend
    settings.figure_formats = {"retina"}
    settings.print_figure_kwargs = {"bbox_inches": "tight", "dpi": 180}
    loaded = sys.modules.get("matplotlib_inline.config")  # to import it would load Matplotlib
    if loaded is not None and loaded.InlineBackend.initialized():
        loaded.InlineBackend.instance().update_config(shell.config)


def is_followers(callback: Any) -> bool:
    """Say whether this is a method of a notebook that is followed already."""
    return isinstance(getattr(callback, "__self__", None), Chapter)


def follow(name: str) -> Chapter | None:
    """Compare the numbers of a notebook's text with what its cells compute from now on."""
    from IPython import get_ipython

    shell, path = get_ipython(), Path(f"{name}.ipynb").resolve()
    if shell is not None:
        sharpen(shell)
    if shell is None or not (path.parent / ORIGINAL / path.name).is_file():
        print(f"The numbers of the text are not compared: {ORIGINAL}/{path.name} is not here.")
        return None
    chapter = Chapter(path, shell)
    for event, follower in (("pre_run_cell", chapter.before), ("post_run_cell", chapter.after)):
        for callback in filter(is_followers, list(shell.events.callbacks[event])):
            shell.events.unregister(event, callback)
        shell.events.register(event, follower)
    for hook in filter(is_followers, list(shell.display_pub._hooks)):
        shell.display_pub.unregister_hook(hook)
    shell.display_pub.register_hook(chapter.describe)
    return chapter
