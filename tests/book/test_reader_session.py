"""A reader who changes a cell is told below it which numbers of the text it contradicts."""

from __future__ import annotations

import base64
import html
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode, v4

from book import reader_notebooks as reader
from book import reader_session
from book.reader_session import HELD, ORIGINAL, SHOWN, Chapter
from tests.book.notebooks import BOOK, ROOT

CELLS = {"first": "width = 64\nroot = width**0.5", "second": "rows = [root] * 7"}
ALL_WELL = "Every number that was computed matches the text.\n"


def bound(expression: str, *numbers: str, words: str) -> dict[str, Any]:
    return {"expression": f'f"""{expression}"""', "numbers": list(numbers), "words": words}


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    """Return a small notebook that a reader runs, in a kernel of this process."""
    cells = [v4.new_code_cell(source, id=name) for name, source in CELLS.items()]
    numbers = {
        "first": [
            bound("{width}", "1", "64", words="“One head of 64.”"),
            bound("{root:.1f}", "8.0", words="“The root is 8.0.”"),
        ],
        "second": [bound(f"{{rows[{i}]:.0f}}", "8", words=f"“{i}”") for i in range(7)],
    }
    (tmp_path / ORIGINAL).mkdir()
    made = v4.new_notebook(
        cells=cells, metadata={"numbers": numbers, "held": {}, "alternatives": {}}
    )
    for folder in (tmp_path, tmp_path / ORIGINAL):
        nbformat.write(made, folder / "made.ipynb")
    names: dict[str, Any] = {}
    shell = SimpleNamespace(user_ns=names, ev=lambda source: eval(source, names))  # noqa: S307
    return Chapter(tmp_path / "made.ipynb", shell)


def run(chapter: Chapter, source: str, name: str | None = None) -> None:
    """Run a cell as IPython does."""
    exec(source, chapter.shell.user_ns)  # noqa: S102
    info = SimpleNamespace(cell_id=name, raw_cell=source)
    chapter.after(SimpleNamespace(success=True, info=info))


def test_a_cell_as_it_was_says_nothing(
    chapter: Chapter, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, source in CELLS.items():
        run(chapter, source, name)
    assert capsys.readouterr().out == ""
    chapter.changed()
    assert capsys.readouterr().out == ALL_WELL


@pytest.mark.parametrize("name", ["first", None, "as another program calls it"])
def test_a_changed_cell_says_what_no_longer_matches(
    chapter: Chapter, name: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    run(chapter, "width = 256  # mine\nroot = width**0.5", name)
    said = (
        "The text says 64, your run gives 256: “One head of 64.”\n"
        "The text says 8.0, your run gives 16.0: “The root is 8.0.”\n"
    )
    assert capsys.readouterr().out == said
    run(chapter, "something = 'else'")
    assert capsys.readouterr().out == ""
    chapter.changed()
    assert capsys.readouterr().out == said
    run(chapter, CELLS["first"], "first")
    chapter.changed()
    assert capsys.readouterr().out == ALL_WELL


def test_many_numbers_are_counted(chapter: Chapter, capsys: pytest.CaptureFixture[str]) -> None:
    run(chapter, "root = 2\nrows = [root] * 7", "second")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:SHOWN] == [f"The text says 8, your run gives 2: “{i}”" for i in range(SHOWN)]
    assert lines[SHOWN:] == ["2 more numbers do not match: notebook.changed() lists them."]


def test_what_a_change_takes_away_is_said(
    chapter: Chapter, capsys: pytest.CaptureFixture[str]
) -> None:
    run(chapter, "rows = 6 * [8.0]", "second")
    assert capsys.readouterr().out == "The text says 8, your run gives no such number: “6”\n"
    chapter.shell.user_ns.clear()
    run(chapter, "pass", "second")  # what made the rows has not run: nothing to compare
    assert capsys.readouterr().out == ""


def test_a_cell_that_failed_is_not_compared(
    chapter: Chapter, capsys: pytest.CaptureFixture[str]
) -> None:
    chapter.shell.user_ns["width"] = 3
    info = SimpleNamespace(cell_id="first", raw_cell="")
    chapter.after(SimpleNamespace(success=False, info=info))
    assert capsys.readouterr().out == ""


def test_a_notebook_comes_back(chapter: Chapter, capsys: pytest.CaptureFixture[str]) -> None:
    original = chapter.path.read_bytes()
    chapter.path.write_text("scribbled", encoding="utf-8")
    chapter.restore()
    assert chapter.path.read_bytes() == original
    assert "made.ipynb is as it was" in capsys.readouterr().out


def test_without_its_original_a_notebook_is_not_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert reader_session.follow("nowhere") is None
    assert capsys.readouterr().out == (
        "The numbers of the text are not compared: .original/nowhere.ipynb is not here.\n"
    )


def test_a_kernel_says_it_below_the_cell_that_a_reader_changed(tmp_path: Path) -> None:
    made = reader.notebooks(BOOK, pages=[BOOK.page("models")])["models.ipynb"]
    folder = tmp_path / "notebooks"
    (folder / ORIGINAL).mkdir(parents=True)
    (folder / ORIGINAL / "models.ipynb").write_text(made, encoding="utf-8")
    for name in ("book", "data", "references.bib"):
        (tmp_path / name).symlink_to(BOOK.root / name)
    book = nbformat.reads(made, as_version=4)
    latest = bound("{latest}", words="")["expression"]
    (name,) = (
        cell
        for cell, entries in book.metadata["numbers"].items()
        if latest in [entry["expression"] for entry in entries]
    )
    (changed,) = (cell for cell in book.cells if cell.id == name)
    changed.source += "\nlatest = 1999"
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(book, timeout=120, kernel_name="python3", resources=where).execute()
    said = {
        cell.id: [output.text for output in cell.outputs if output.output_type == "stream"]
        for cell in book.cells
        if cell.cell_type == "code"
    }
    assert any("your run gives 1999: “" in text for text in said.pop(name))
    assert not [text for texts in said.values() for text in texts if "your run gives" in text]


NOTHING: dict[str, Any] = {"numbers": {}, "held": {}, "alternatives": {}}
ASK = """from attnbook.figures import Choice
asked = Choice(["one", "two"], "two", "It is two.", answer="one")
asked"""
RESULT = """from IPython.display import HTML
print("printed")
display(HTML("<b>shown</b>"))
2 + 2"""


def executed(
    folder: Path, sources: dict[str, str], metadata: dict[str, Any]
) -> dict[str, NotebookNode]:
    """Return the cells of a small notebook that a kernel has run and followed."""
    first = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom book.reader_session import follow"
    sources = {"first": f"{first}\nnotebook = follow('made')", **sources}
    cells = [v4.new_code_cell(source, id=name) for name, source in sources.items()]
    made = v4.new_notebook(cells=cells, metadata=metadata)
    (folder / ORIGINAL).mkdir()
    nbformat.write(made, folder / ORIGINAL / "made.ipynb")
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(made, timeout=120, kernel_name="python3", resources=where).execute()
    return {cell.id: cell for cell in cells}


@pytest.mark.parametrize("commits", [True, False])
def test_what_comes_out_is_held_back_until_a_reader_commits(tmp_path: Path, commits: bool) -> None:
    sources = {"ask": ASK, "result": RESULT, "later": "print('later')"}
    sources["commit"] = f"asked.committed = {commits}"
    cells = executed(tmp_path, sources, NOTHING | {"held": {"result": "ask"}})
    shown = {
        name: [output.get("text") or dict(output.data) for output in cells[name].outputs]
        for name in ("result", "later")
    }
    held = [{"text/plain": HELD}] * 3
    bold = {"text/plain": "<IPython.core.display.HTML object>", "text/html": "<b>shown</b>"}
    told = [{"text/plain": "printed\n"}, bold, {"text/plain": "4"}]
    assert shown == {"result": told if commits else held, "later": ["later\n"]}


PLOT = """import matplotlib.pyplot as plt
plt.figure(figsize=(4, 2), dpi=180)
plt.plot([0, 1])
plt.show()"""


def test_plots_are_sharp_and_half_as_wide_as_their_dots() -> None:
    sources = ["from book import reader_session as reading\nreading.follow('nowhere')"]
    sources += ["import sys\nprint('matplotlib' in sys.modules)", PLOT]
    made = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    where = {"metadata": {"path": str(ROOT)}}
    NotebookClient(made, timeout=120, kernel_name="python3", resources=where).execute()
    assert made.cells[1].outputs[0].text == "False\n"
    (shown,) = made.cells[2].outputs
    content = base64.b64decode(shown.data["image/png"])
    dots = int.from_bytes(content[16:20], "big")
    assert 600 < dots < 720, "four inches at 180 dots"
    assert shown.metadata["image/png"]["width"] == dots // 2


def test_a_plot_has_its_words_held_back_or_not(tmp_path: Path) -> None:
    sources = {
        "ask": ASK,
        "result": PLOT,
        "commit": "asked.committed = True",
        "plot": PLOT + "  # mine",
    }
    words = {"result": "It rises from <zero>.", "plot": "So does it."}
    metadata = NOTHING | {"held": {"result": "ask"}, "alternatives": words}
    book = executed(tmp_path, sources, metadata)
    for name, alternative in words.items():
        (shown,) = book[name].outputs
        assert set(shown.data) == {"text/html", "text/plain"}
        assert f'<img alt="{html.escape(alternative)}" width="' in shown.data["text/html"]
        assert shown.data["text/plain"] == alternative
