"""The quick choice of tests needs no built site and no browser, and leaves out what it says."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.book.notebooks import ROOT
from tests.conftest import FIRST, dealt
from tools.run_tests import LEFT_TO_ALL, QUICK, UNMEASURED, left_out

DEAR = {"browser", "build_result", "site"}


def asked_for(source: str) -> set[str]:
    """Return what takes a site or a browser and is an argument of some function."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return {argument.arg for function in functions for argument in function.args.args} & DEAR


def chosen() -> list[Path]:
    files = [path for folder in QUICK for path in sorted((ROOT / folder).rglob("test_*.py"))]
    return [path for path in files if path.relative_to(ROOT).as_posix() not in LEFT_TO_ALL]


def test_no_quick_test_asks_for_a_site_or_a_browser() -> None:
    files = chosen()
    assert {"test_softmax.py", "test_numbers.py"} <= {path.name for path in files}
    dear = {path.name: asked_for(path.read_text(encoding="utf-8")) for path in files}
    assert {name: found for name, found in dear.items() if found} == {}


def test_what_is_left_out_is_there_and_named() -> None:
    assert [name for name in LEFT_TO_ALL if not (ROOT / name).exists()] == []
    tests = {path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")}
    run = {path.relative_to(ROOT) for path in chosen()}
    named = {path for path in tests if any(path.is_relative_to(name) for name in left_out())}
    assert named == tests - run


@pytest.mark.parametrize("argument", sorted(DEAR))
def test_a_dear_argument_is_found(argument: str) -> None:
    assert asked_for(f"class T:\n    def test(self, {argument}: object): ...\n") == {argument}
    assert asked_for("def test(tmp_path): ...\n") == set()


NAMED = [*UNMEASURED, *(n for name in FIRST for n in ((name,) if isinstance(name, str) else name))]


@pytest.mark.parametrize("name", NAMED)
def test_what_is_chosen_by_its_name_is_there(name: str) -> None:
    file, *parts = name.partition("[")[0].split("::")
    assert (ROOT / file).exists()
    for part in parts:
        kind = "class" if part.startswith("Test") else "def"
        assert f"{kind} {part}" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("n_workers", "n_others"), [(1, 5), (2, 40), (3, 40), (3, 2), (30, 40)])
def test_every_worker_begins_with_its_share_of_what_takes_minutes(
    n_workers: int, n_others: int
) -> None:
    names = [name if isinstance(name, str) else name[0] for name in FIRST]
    others = [SimpleNamespace(nodeid=f"other {number}") for number in range(n_others)]
    built = SimpleNamespace(nodeid="built", fixturenames=("build_result",))
    long = [SimpleNamespace(nodeid=name) for name in names]
    items = [built, *others, *long]
    ordered = dealt(items, n_workers)
    assert sorted(map(id, ordered)) == sorted(map(id, items))
    assert len(items) < 40 or ordered[-1] is built
    left = ordered
    for number in range(n_workers):  # as xdist distributes them
        length = len(left) // (n_workers - number)
        if length >= len(names[number::n_workers]):
            assert [item.nodeid for item in left[:length]][: len(names[number::n_workers])] == (
                names[number::n_workers]
            )
        left = left[length:]
