"""What makes a notebook run again: the code that it reaches, its data and the pins."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from book import sources
from book.digest import NO_DATA, dependencies, notebook_digests
from tests.book.notebooks import NOTEBOOKS, ROOT

COPIED = ("attnbook", "attnlib", "benchmarks", "chapters", "data")
PLOTS = sorted(path.parent.name for path in ROOT.glob("attnbook/*/plots.py"))
DATA = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("data/*", "attnbook/**/*.json", "attnbook/**/*.npz")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "by_eye.json"  # which make census reads, to write data/census.json
]
SHOWS_SOURCES = "chapters/07_implementation.ipynb"


class Copy:
    """A copy of the book, in which files are edited."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.before = self.digests()

    def digests(self) -> dict[str, str]:
        paths = {self.root / name: name for name in NOTEBOOKS}
        return {paths[path]: it for path, it in notebook_digests(paths, self.root).items()}

    def run_again(self, edits: dict[str, Callable[[str], str]]) -> set[str]:
        """Return the notebooks that would run after some edits, which are taken back."""
        texts = {name: (self.root / name).read_bytes() for name in edits}
        for name, edit in edits.items():
            changed = edit(texts[name].decode("latin-1")).encode("latin-1")
            assert changed != texts[name]
            (self.root / name).write_bytes(changed)
        after = self.digests()
        for name, text in texts.items():
            (self.root / name).write_bytes(text)
        return {name for name, digest in after.items() if digest != self.before[name]}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    root = tmp_path_factory.mktemp("copy")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("index.ipynb", "references.bib", "requirements.txt"):
        shutil.copy(ROOT / name, root)
    return Copy(root)


def modules() -> Iterator[str]:
    """Yield the modules of the packages."""
    for folder in ("attnbook", "attnlib"):
        yield from (path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py"))


def in_docstrings(source: str) -> str:
    """Put a word into every docstring."""
    return re.sub(r'^( *)(r?""")(?=\w)', r"\1\2Edited ", source, flags=re.MULTILINE)


def other_result(source: str) -> str:
    """Let the functions of a module give something else."""
    return re.sub(r"^    return ", "    return 1 * ", source, flags=re.MULTILINE)


def test_docstrings_run_nothing(copy: Copy) -> None:
    assert copy.run_again(dict.fromkeys(modules(), in_docstrings)) == set()


def test_comments_run_what_shows_them(copy: Copy) -> None:
    edits = {name: lambda text: text + "\n# A comment.\n" for name in modules()}
    assert copy.run_again(edits) == {SHOWS_SOURCES}
    layout = {"attnlib/softmax.py": lambda text: text.replace("(x, axis)", "(\n    x, axis)")}
    assert copy.run_again(layout) == {SHOWS_SOURCES}


@pytest.mark.parametrize(
    ("name", "notebooks"),
    [
        ("attnlib/online.py", {"chapters/07_implementation.ipynb", "chapters/benchmarks.ipynb"}),
        ("attnbook/gradients/computed.py", {"chapters/04_gradients.ipynb"}),
        ("attnbook/saturation/drag_scores.py", {"chapters/03_saturation.ipynb"}),
        ("benchmarks/report.py", {"chapters/benchmarks.ipynb"}),
        ("tools/sizes.py", set()),
    ],
)
def test_a_formula_runs_what_reaches_it(copy: Copy, name: str, notebooks: set[str]) -> None:
    if name.startswith("tools"):
        (copy.root / name).parent.mkdir()
        shutil.copy(ROOT / name, copy.root / name)
    assert copy.run_again({name: other_result}) == notebooks


@pytest.mark.parametrize("topic", PLOTS)
def test_plots_run_the_notebooks_that_draw_them(copy: Copy, topic: str) -> None:
    name = f"attnbook/{topic}/plots.py"
    drawn = re.findall(r"^def ([a-z]\w+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    calls = re.compile(rf"\bplots\.(?:{'|'.join(drawn)})\b")
    draw = {one for one in NOTEBOOKS if calls.search((ROOT / one).read_text(encoding="utf-8"))}
    assert draw
    assert copy.run_again({name: other_result}) == draw


@pytest.mark.parametrize("name", DATA)
def test_data_run_their_readers(copy: Copy, name: str) -> None:
    readers = copy.run_again({name: lambda text: f"{text} "})
    assert readers
    if name.startswith("data/"):
        asked = {"tables.json": "recorded("}.get(Path(name).name, Path(name).name)
        named = {
            one
            for one in NOTEBOOKS
            if re.search(rf"\b{re.escape(asked)}", (ROOT / one).read_text("utf-8"))
        }
        assert readers == named


def test_scripts_and_styles_of_figures_run_nothing(copy: Copy) -> None:
    files = [*ROOT.glob("attnbook/*/*.js"), *ROOT.glob("attnbook/*/*.css")]
    assert len(files) > 2
    edits = {path.relative_to(ROOT).as_posix(): lambda text: f"{text}\n" for path in files}
    assert copy.run_again(edits) == set()


def test_pins_and_another_python_run_everything(copy: Copy, monkeypatch) -> None:
    assert copy.run_again({"requirements.txt": lambda text: f"{text}# new\n"}) == {*NOTEBOOKS}
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    assert not set(copy.digests().values()) & set(copy.before.values())


def test_what_a_process_has_read_serves_the_next(copy: Copy, tmp_path: Path, monkeypatch) -> None:
    sources.keep(tmp_path / "sources.pickle")
    for kept in ("READ", "LOADED"):
        monkeypatch.setattr(sources, kept, {})
    sources.load(tmp_path / "sources.pickle")
    monkeypatch.setattr(sources, "Code", None)  # nothing is left to read
    assert copy.digests() == copy.before


def test_code_that_pages_run_reads_docstrings_nowhere_and_shows_sources_in_one_place() -> None:
    names = {"__doc__", "getdoc", "getcomments", "getsource", "getsourcelines", "help", "pinfo"}
    imports = sources.Imports(ROOT)
    reached = {name for page in NOTEBOOKS for name in (page, *dependencies(ROOT / page, imports))}
    codes = {
        name: sources.read(ROOT / name, ROOT)
        for name in reached
        if name.endswith((".py", ".ipynb"))
    }
    found = {name: names & code.names for name, code in codes.items() if names & code.names}
    assert found == {
        # it adds to the docstring of a plot, and nothing comes of it but the reference
        "attnbook/drawing/plot_style.py": {"__doc__", "getdoc"},
        # it leaves out the docstring
        "attnbook/implementation/computed.py": {"getsource"},
    }


def test_no_file_that_a_notebook_opens_is_missed() -> None:
    name = "chapters/models.ipynb"
    cells = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    program = """import sys
opened = set()
sys.addaudithook(lambda event, given: event == "open" and opened.add(str(given[0])))
import os, pathlib
exec(sys.stdin.read(), {"__name__": "__main__"})
sys.stdout = sys.__stdout__
print("\\nopened", *{os.path.abspath(path) for path in opened}, sep="\\n")"""
    command = [sys.executable, "-c", program]
    run = subprocess.run(
        command,
        cwd=(ROOT / name).parent,
        env={"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"},
        input="\n".join(code),
        capture_output=True,
        text=True,
        check=True,
    )
    paths = map(Path, run.stdout.rpartition("\nopened\n")[2].splitlines())
    ours = {path for path in paths if path.is_relative_to(ROOT) and path.is_file()}
    # a figure's script has its table, and both come to the page from their files
    data = {path for path in ours if not path.with_suffix(".js").exists()}
    found = {path.relative_to(ROOT).as_posix() for path in data if path.suffix not in NO_DATA}
    found = {one for one in found if not one.startswith(".")}  # the environment
    assert "data/models.json" in found
    assert found <= dependencies(ROOT / name, sources.Imports(ROOT)).keys()
