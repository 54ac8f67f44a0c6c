"""Long proofs in named groups, and a record of what each group has proven: ``make prove``.

A test that takes long is marked ``@pytest.mark.proof("mutants")``. ``make test`` leaves it out, and
``make prove ARGS=mutants`` runs the group. When a whole group has passed, `RECORD` keeps a digest
of all that the group depends on: its tests, whatever they import, directly or not, and what
`INPUTS` lists beside. A group whose digest is another one today is due, which ``make test`` says at
its end, and ``make prove ARGS=--due`` runs what is due. Words do not count: comments, docstrings,
and what is plain text in a page, which the short tests read.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from book import repository
from book.files import atomic_write
from book.sources import closure, tree_digest

ROOT = Path(__file__).resolve().parent.parent
RECORD = "tests/proofs.json"
#: The plain tests again, measuring which lines they reach.
COVERAGE = "coverage"

SITE = (
    *("_config.yml", "_toc.yml", "_ext/*", "chapters/*", "index.ipynb", "references.bib"),
    *("attnbook/*.css", "attnbook/*.js", "attnbook/*.json", "attnbook/*.npz"),
    *("benchmarks/*.json", "data/*", "live/*", "vendor/*", "requirements.txt"),
)
GRADER = ("grading/*",)
#: What a group needs and does not import, as patterns of paths.
INPUTS: dict[str, tuple[str, ...]] = {
    "binder": (*SITE, ".binder/*"),
    "census": ("data/census.json", "attnbook/models/census/*"),
    "citation": ("CITATION.cff",),
    COVERAGE: (
        *("attnbook/*.py", "attnlib/*.py", "book/*.py", "grading/*.py", "tests/*.py"),
        *("pyproject.toml",),
    ),
    "chapter": (*SITE, "tools/chapter.md"),
    "downloads": SITE,
    "engines": (*SITE, "tests/engines/*"),
    "examples": GRADER,
    "jupyterlab": (*SITE, ".binder/*"),
    "mutants": ("tests/attnlib/*",),
    "numerals": SITE,
    "offline": SITE,
    "pages": SITE,
    "pdf": (*SITE, "book/pdf/*"),
    "peers": ("tests/peers/*", "data/libraries.json", "requirements-bench.txt"),
    "postgres": (),
    "redteam": GRADER,
    "retraining": ("attnbook/language_model/pytorch/*", "data/*", "requirements-bench.txt"),
    "trained": ("data/trained_models.json", "attnbook/trained_models/measuring/*"),
    "types": ("attnlib/*", "tests/attnlib/*"),
    "unusual": GRADER,
}
#: What the plain tests need and do not import.
SHORT = (
    *SITE,
    *GRADER,
    *("*.mk", "*.md", "*.toml", "*.cff", "*.in", "LICENSE*", "NOTICE", "Makefile", "tests/*"),
    *(".binder/*", ".ci/*", ".github/*", ".git*", "docs/*", "requirements*.txt", "tools/*"),
    *("benchmarks/*", "findings/*", "book/*.txt", "*/py.typed"),
)
#: What every test runs in.
ALWAYS = ("requirements-dev.txt",)


def names_of(source: str) -> set[str]:
    """Return the groups to which a file of tests belongs.

    Examples
    --------
    >>> sorted(names_of('import pytest\\n@pytest.mark.proof("pdf")\\ndef test(): ...'))
    ['pdf']
    """
    return {
        argument.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "proof"
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }


def structure(text: str) -> str:
    """Return a text in which each run of words is one letter: formulas, links and marks are left.

    Examples
    --------
    >>> structure("Some words, and $x^2$.")
    'w$x^2$w'
    """
    from book.markdown import walk  # imports much, which a run of single tests need not wait for

    parts, end = [], 0
    for piece in walk(text):
        if piece.kind == "words" and len(piece.places):
            parts += [text[end : piece.places[0]], "w"]
            end = piece.places[-1] + 1
    return re.sub(r"w(\s*w)+", "w", "".join([*parts, text[end:]]))


def holds_code(name: str) -> bool:
    """Say whether a file imports others: a module, or a notebook of the book.

    Submissions of the grader's example are broken on purpose.
    """
    return name.endswith(".py") or bool(re.search(r"(^|/)(index|chapters/\w+)\.ipynb$", name))


def content_digest(path: Path) -> str:
    """Return a digest of what can change the outcome of a long test in a file."""
    if path.suffix == ".py":
        return tree_digest(path.read_text(encoding="utf-8"))
    content = path.read_bytes()
    if path.suffix == ".ipynb" and holds_code(path.as_posix()):
        kept = []
        for cell in json.loads(content)["cells"]:
            text = "".join(cell["source"])
            is_text = cell["cell_type"] == "markdown"
            kept.append([structure(text) if is_text else text, cell["metadata"]])
        content = json.dumps(kept, sort_keys=True).encode()
    elif path.suffix == ".md":
        content = structure(content.decode()).encode()
    return hashlib.sha256(content).hexdigest()


class Proofs:
    """The groups of one repository, and what they depend on."""

    def __init__(
        self,
        root: Path = ROOT,
        inputs: dict[str, tuple[str, ...]] = INPUTS,
        short: tuple[str, ...] = SHORT,
    ) -> None:
        self.root = root
        self.inputs = inputs
        self._short = short
        self.files = repository.files(root, new=True)
        self._digest = cache(lambda name: content_digest(root / name))
        self._tests = {
            name: names_of((root / name).read_text(encoding="utf-8"))
            for name in self.files
            if fnmatchcase(name, "tests/*test_*.py")
        }

    def _matching(self, patterns: Iterable[str]) -> set[str]:
        return {name for name in self.files if any(fnmatchcase(name, p) for p in patterns)}

    def _reached(self, tests: Collection[str], patterns: Iterable[str]) -> set[str]:
        """Return tests, their settings, what patterns match, and what all these import."""
        listed = self._matching((*patterns, *ALWAYS)) - {RECORD}
        folders = {parent.as_posix() for name in tests for parent in Path(name).parents}
        settings = {name for folder in folders if (name := f"{folder}/conftest.py") in self.files}
        code = filter(holds_code, {*tests, *listed})
        # what the settings make for a test is in the table
        return closure(code, self.root) | listed | settings

    def dependencies(self, group: str) -> set[str]:
        """Return the files on which a group depends."""
        tests = [name for name, groups in self._tests.items() if group in groups]
        return self._reached(tests, self.inputs[group])

    def digest(self, group: str) -> str:
        """Return sixteen digits of all that a group depends on."""
        lines = [f"{name} {self._digest(name)}" for name in sorted(self.dependencies(group))]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

    def record(self) -> dict[str, dict[str, object]]:
        """Return what was kept of each group."""
        path = self.root / RECORD
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def due(self) -> list[str]:
        """Return the groups whose proof is out of date."""
        kept = self.record()
        return [
            group
            for group in sorted(self.inputs)
            if kept.get(group, {}).get("digest") != self.digest(group)
        ]

    def keep(self, proven: dict[str, dict[str, object]]) -> None:
        """Write down groups that have passed."""
        kept = self.record() | proven
        there = {group: kept[group] for group in sorted(kept) if group in self.inputs}
        atomic_write(self.root / RECORD, json.dumps(there, indent=1) + "\n")

    def unclaimed(self) -> list[str]:
        """Return the files on which no test depends, short or long."""
        claimed = self._reached(list(self._tests), self._short).union(
            *map(self.dependencies, self.inputs)
        )
        return sorted(set(self.files) - claimed - {RECORD})


def run_pytest(*arguments: str) -> int:
    """Run pytest on this repository, and return its exit status."""
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "run_tests.py", *arguments], cwd=ROOT, check=False
    ).returncode


def main(arguments: list[str], run: Callable[..., int] = run_pytest) -> int:
    """Prove the groups that are named, those that are due, or all; return an exit status."""
    named = [name for name in arguments if not name.startswith("-")]
    options = [name for name in arguments if name.startswith("-") and name != "--due"]
    if unknown := sorted(set(named) - set(INPUTS)):
        sys.stderr.write(f"no group {', '.join(unknown)}; there are {', '.join(INPUTS)}\n")
        return 2
    groups = Proofs().due() if "--due" in arguments else named or list(INPUTS)
    marked = [group for group in groups if group != COVERAGE]
    statuses = [run(f"--prove={','.join(marked)}", *options)] if marked else []
    if COVERAGE in groups:
        statuses.append(run("--cov", "--cov-report=term", *options))
    return max(statuses, default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
