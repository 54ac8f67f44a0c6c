"""What a stranger clones names no machine, hides no failure and promises nothing for later."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from book import repository
from tests.book.notebooks import ROOT

BINARY = {".ico", ".npz", ".png", ".ttf", ".woff", ".woff2"}
# Other people's code, unchanged.
FOREIGN = ("vendor/",)
# One letter of each is in brackets, so that the list does not find itself.
FORBIDDEN = {
    "the path of a home folder": r"/(?:hom[e]|roo[t]|User[s])/\w|C:\\\\?User[s]",
    "the path of a working folder": r"(?<![\w.])/(?:wor[k]|tm[p]/w)/\w",
    "a reference outside the repository": r"\.\./share[d]\b",
    "a package registry": r"\b(?:pypi\.or[g]|pythonhoste[d]|npmj[s]\.(?:org|com)|deb\.debia[n])",
    "an index option": r"--(?:extra-)?index-ur[l]",
    "a note for later": r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b",
    "a promise for later": r"(?i)\bcoming (?:soo[n]|late[r])\b|\bto be writte[n]\b",
    "a build that goes on after errors": r"allow_error[s]\s*[:=]\s*[Tt]rue",
    "a conflict marker": r"^(?:<{7}|>{7})\s",
}
PATTERNS = {what: re.compile(pattern, re.MULTILINE) for what, pattern in FORBIDDEN.items()}


def tracked_files() -> list[str]:
    """Return the files in git or about to be, except other people's and pictures."""
    return [
        name
        for name in repository.files(new=True)
        if Path(name).suffix not in BINARY and not name.startswith(FOREIGN)
    ]


def text_problems(text: str) -> list[str]:
    """List what a committed text must not hold."""
    return [
        f"{what}: {found.group()!r} in line {text.count(chr(10), 0, found.start()) + 1}"
        for what, pattern in PATTERNS.items()
        for found in pattern.finditer(text)
    ]


def test_the_license_names_folders_that_exist_and_those_of_instructors() -> None:
    head = (ROOT / "NOTICE").read_text(encoding="utf-8")
    folders = set(re.findall(r"(?<![\w/.])([a-z]+)/(?!\w)", head))
    assert {"attnlib", "chapters", "grading"} <= folders
    assert [name for name in sorted(folders) if not (ROOT / name).is_dir()] == []


def python_problems(source: str) -> list[str]:
    """List what hides a failure in Python code."""
    problems = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            problems.append(f"line {node.lineno} catches everything")
        if isinstance(node, ast.ExceptHandler) and all(
            isinstance(line, ast.Pass) for line in node.body
        ):
            problems.append(f"line {node.lineno} swallows an exception")
        if isinstance(node, ast.Attribute) and node.attr in {
            "skip",
            "skipif",
            "xfail",
            "importorskip",
        }:
            problems.append(f"line {node.lineno} skips a test")
    return problems


def allowed(name: str, problem: str) -> bool:
    """Say whether a finding is in one of the two places that may hold it."""
    # Where a browser cannot be had, its fixture says "not run"; in CI it fails.
    fixtures = {"tests/conftest.py", "tests/engines/conftest.py"}
    return name in fixtures and problem.endswith("skips a test")


def test_no_committed_file_holds_what_it_must_not() -> None:
    names = tracked_files()
    assert {"README.md", "tests/book/test_repository.py"} <= set(names)
    found = {name: text_problems((ROOT / name).read_text(encoding="utf-8")) for name in names}
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_no_code_hides_a_failure() -> None:
    sources = {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in tracked_files()
        if name.endswith(".py")
    }
    assert sources
    found = {
        name: [problem for problem in python_problems(source) if not allowed(name, problem)]
        for name, source in sources.items()
    }
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_generated_files_are_not_in_git() -> None:
    generated = re.compile(
        r"^(?:_build|notebooks|release|feedback)/|__pycache__|\.egg-info/|\.db$|\.pyc$"
        r"|-checkpoint\."
    )
    assert [name for name in tracked_files() if generated.search(name)] == []


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("see /ho", "me/somebody/x"),
        ("see /wo", "rk/main"),
        ("see ../sha", "red/design.md"),
        ("from pypi.", "org"),
        ("pip install --index-", "url x"),
        ("# TO", "DO: this"),
        ("The rest is coming ", "soon."),
        ("allow_", "errors: true"),
        ("<<<<", "<<< HEAD"),
    ],
)
def test_what_must_not_be_committed_is_reported(start: str, end: str) -> None:
    assert len(text_problems(f"first line\n{start}{end}\n")) == 1


def test_harmless_text_passes() -> None:
    assert text_problems("a homework, a framework/x, shared/y, every method, src/homes/x") == []


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    x()\nexcept:\n    y()\n",
        "try:\n    x()\nexcept ValueError:\n    pass\n",
        "import pytest\npytest.skip('x')\n",
        "import pytest\n@pytest.mark.skipif(True, reason='x')\ndef test(): ...\n",
    ],
)
def test_code_that_hides_a_failure_is_reported(source: str) -> None:
    assert len(python_problems(source)) == 1
