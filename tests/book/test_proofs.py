"""A long proof runs when what it proves has changed, and counts only when it has passed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.book.notebooks import ROOT, code, notebook
from tests.proofs import (
    COVERAGE,
    INPUTS,
    RECORD,
    Proofs,
    content_digest,
    main,
    names_of,
    structure,
)
from tests.proving import LEAVING_OUT

FILES = {
    "attnlib/__init__.py": "",
    "attnlib/softmax.py": '"""Words."""\nBASE = 2\n',
    "grading/__init__.py": "",
    "grading/marks.py": "from attnlib import softmax\n\n\ndef mark():\n    return softmax.BASE\n",
    "data/table.json": "[1]",
    "tests/test_a.py": (
        "import pytest\nfrom attnlib.softmax import BASE\n\n\n"
        '@pytest.mark.proof("mutants")\ndef test_base():\n    assert BASE == 2\n'
    ),
    "tests/test_b.py": (
        'import pytest\n\npytestmark = pytest.mark.proof("redteam")\n\n\n'
        "def test_mark():\n    from grading.marks import mark\n\n    assert mark() == 2\n"
    ),
    "tests/test_c.py": "def test_short():\n    assert True\n",
    "requirements-dev.txt": "numpy==2.0\n",
    "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\npythonpath = ['.']\n",
}
TABLE = {"mutants": (), "redteam": ("data/*",)}


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a repository with two groups of proofs, both on record."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    for name, text in FILES.items():
        write(tmp_path, name, text)
    proofs = Proofs(tmp_path, TABLE)
    proofs.keep({group: {"digest": proofs.digest(group), "seconds": 1} for group in TABLE})
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "due"),
    [
        ("data/table.json", "[2]", ["redteam"]),
        ("grading/marks.py", "from attnlib.softmax import BASE as mark\n", ["redteam"]),
        ("attnlib/softmax.py", "BASE = 3\n", ["mutants", "redteam"]),
        ("attnlib/softmax.py", '"""Other words."""\nBASE = 2  # said\n', []),
        ("tests/test_a.py", FILES["tests/test_a.py"] + "    assert BASE > 1\n", ["mutants"]),
        ("tests/test_c.py", "def test_short():\n    assert 1\n", []),
        ("tests/conftest.py", "import pytest\n", ["mutants", "redteam"]),
        ("requirements-dev.txt", "numpy==2.1\n", ["mutants", "redteam"]),
        ("README.md", "Words.", []),
    ],
)
def test_a_change_makes_its_groups_due_and_no_other(
    small: Path, name: str, text: str, due: list[str]
) -> None:
    assert Proofs(small, TABLE).due() == []
    write(small, name, text)
    assert Proofs(small, TABLE).due() == due


def prove(small: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a small repository by this plugin."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "tests.proving",
            "-p",
            "no:cacheprovider",
            *arguments,
        ],
        cwd=small,
        env=kept | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_project_s_own_options_leave_a_run_whole(pytestconfig: pytest.Config) -> None:
    """Options such as ``--ignore`` among those of the project would keep every group unproven."""
    known = pytestconfig._parser.parse_known_args(pytestconfig.getini("addopts"))
    assert not any(getattr(known, name, None) for name in LEAVING_OUT)


def test_only_a_group_that_passes_whole_is_recorded(small: Path) -> None:
    (small / RECORD).unlink()
    write(small, "tests/test_b.py", FILES["tests/test_b.py"].replace("== 2", "== 3"))
    assert "1 passed, 2 deselected" in prove(small).stdout
    # a part of a group proves nothing
    assert "mutants: NOT proven" in prove(small, "--prove=mutants", "-k", "base").stdout
    assert "mutants: NOT proven" in prove(small, "--prove=mutants", "tests/test_a.py").stdout
    assert not (small / RECORD).exists()
    said = prove(small, "--prove=mutants,redteam")
    assert said.returncode == 1
    assert "mutants: proven\nredteam: NOT proven" in said.stdout
    assert list(json.loads((small / RECORD).read_text())) == ["mutants"]


@pytest.mark.parametrize(
    "body",
    ["    pytest.skip('no browser')\n", "    open('attnlib/softmax.py', 'a').write('BASE = 2')\n"],
)
def test_what_is_skipped_or_changes_what_it_proves_is_not_recorded(small: Path, body: str) -> None:
    (small / RECORD).unlink()
    write(small, "tests/test_a.py", FILES["tests/test_a.py"] + body)
    said = prove(small, "--prove=mutants")
    assert said.returncode == 0, said.stdout
    assert "mutants: NOT proven" in said.stdout
    assert not (small / RECORD).exists()


def test_a_group_that_the_table_lacks_is_refused(small: Path) -> None:
    write(small, "tests/test_a.py", FILES["tests/test_a.py"].replace("mutants", "mutant"))
    said = prove(small, "--prove=mutants")
    assert said.returncode != 0
    assert "tests/proofs.py knows no group" in said.stdout + said.stderr


def test_the_end_of_a_plain_run_names_what_is_due(small: Path) -> None:
    said = prove(small).stdout
    assert "proofs out of date: " in said
    assert "make prove ARGS=--due" in said


def test_a_file_on_which_nothing_depends_is_named(small: Path) -> None:
    short = ("pyproject.toml", "tests/*")
    assert Proofs(small, TABLE, short).unclaimed() == []
    write(small, "grading/forgotten.py", "")
    write(small, "data2/table.json", "[]")
    assert Proofs(small, TABLE, short).unclaimed() == ["data2/table.json", "grading/forgotten.py"]


def test_every_file_of_the_repository_is_tested_somewhere() -> None:
    assert Proofs().unclaimed() == []


def test_the_table_names_the_groups_that_tests_name_and_no_other() -> None:
    files = (ROOT / "tests").rglob("test_*.py")
    named = {name for path in files for name in names_of(path.read_text(encoding="utf-8"))}
    assert named == set(INPUTS) - {COVERAGE}


def test_what_a_group_is_about_is_among_what_it_depends_on() -> None:
    proofs = Proofs()
    assert "attnlib/softmax.py" in proofs.dependencies("mutants")
    assert not [name for name in proofs.dependencies("mutants") if name.startswith("grading")]
    for name in ("_ext/maths.py", "attnbook/figures/head.js", "chapters/04_gradients.ipynb"):
        assert name in proofs.dependencies("pages")
    assert "grading/sandbox/sandbox.py" in proofs.dependencies("redteam")


def test_words_of_a_page_are_no_reason_and_its_marks_are() -> None:
    text = "A claim about $d_k$, see {ref}`sec-one`: **so**.\n\n:::{note}\nAnd a note.\n:::\n"
    others = text.replace("A claim about", "Another, longer one: of").replace("And a", "With one")
    assert structure(text) == structure(others)
    for old, new in [("d_k", "d"), ("sec-one", "sec-two"), ("**so**", "so"), ("note}", "tip}")]:
        assert structure(text) != structure(text.replace(old, new))


def asked(arguments: list[str]) -> tuple[int, list[tuple[str, ...]]]:
    calls: list[tuple[str, ...]] = []

    def run(*given: str) -> int:
        calls.append(given)
        return len(calls)

    return main(arguments, run), calls


def test_the_command_runs_what_is_named_and_everything_otherwise() -> None:
    cov = ("--cov", "--cov-report=term")
    assert asked(["mutants", "pdf", "-v"]) == (1, [("--prove=mutants,pdf", "-v")])
    assert asked([COVERAGE]) == (1, [cov])
    marked = ",".join(name for name in INPUTS if name != COVERAGE)
    assert asked([]) == (2, [(f"--prove={marked}",), cov])
    assert asked(["mutant"]) == (2, [])


def test_the_command_runs_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Proofs, "due", lambda _: ["mutants", "pdf"])
    assert asked(["--due", "-v"]) == (1, [("--prove=mutants,pdf", "-v")])


def test_notebook_cells_count_as_they_are(tmp_path: Path) -> None:
    # a cell's code and a figure's words, which are metadata, are no text of a page
    path = tmp_path / "chapters" / "a.ipynb"
    path.parent.mkdir()

    def digest(*cells: object) -> str:
        nbformat.write(notebook(*cells), path)
        return content_digest(path)

    first = digest("# Title\n\nWords.", code("x = 1"))
    assert digest("# Title\n\nOther words.", code("x = 1")) == first
    assert digest("# Title\n\nWords.", code("x = 2")) != first
    assert digest("# Title\n\nWords.", code("x = 1", alt="A line.")) != first
