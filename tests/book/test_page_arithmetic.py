"""What runs in a page rests on nothing that NumPy does otherwise there.

In WebAssembly NumPy gives no floating-point warning, `errstate` raises nothing, and products in
float32 may differ in their last bits. So no code that a page runs asks for any of it, and none
warns in a Python that would. That it is so, test_live_cells.py measures in a page.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator

import cell_dependencies
import cells
import numpy as np
import pytest

from _ext.exercises import without_marks
from _ext.live_cells import code_of
from book.model import tags
from tests.book.notebooks import BOOK, ROOT

OTHERWISE = {"FloatingPointError", "array_equal", "array_equiv", "seterr", "seterrcall", "warnings"}
CHECKS = sorted(ROOT.glob("attnbook/*/exercises.py"))


def code_of_cells() -> Iterator[tuple[str, list[str], str, str]]:
    """Yield each cell that a page runs: its name, the cells above, its code, what it prints."""
    for page in BOOK.notebooks:
        notebook = page.notebook.cells
        for place, cell in enumerate(notebook):
            if "edit" in tags(cell):
                above = [one.source for one in notebook[:place] if one.cell_type == "code"]
                printed = "".join(output["text"] for output in cell.outputs)
                yield f"{page.stem}-{place}", above, cell.source, printed


def code_of_answers() -> Iterator[tuple[str, list[str], str]]:
    """Yield the right answer of each exercise that a page runs, as the notebook has it."""
    for page in BOOK.notebooks:
        asked = code_of(page)["exercises"]
        for one in page.exercises:
            if one.name in asked and "scipy" not in one.answer:
                yield one.name, asked[one.name]["above"], without_marks(one.answer)


CELLS = {name: (above, code, printed) for name, above, code, printed in code_of_cells()}
ANSWERS = {name: (above, code) for name, above, code in code_of_answers()}
PROGRAMS = {
    name: cell_dependencies.needed(above, code) + "\n" + code
    for name, (above, code, _) in CELLS.items()
}
PROGRAMS |= {name: "\n".join([*above, code]) for name, (above, code) in ANSWERS.items()}


def rests_on(program: str) -> set[str]:
    """Name what a program uses that differs in a page; to ignore floating-point events is safe."""
    found = set()
    for node in ast.walk(ast.parse(program)):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.name for alias in node.names} & OTHERWISE
        elif name in OTHERWISE:
            found.add(name)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("errstate"):
            states = {ast.unparse(word.value) for word in node.keywords}
            found |= {f"errstate: {state}" for state in states - {"'ignore'"}}
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_code_of_a_page_rests_on_what_differs_there(name: str) -> None:
    assert rests_on(PROGRAMS[name]) == set()


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("import warnings\nwarnings.simplefilter('error')", {"warnings"}),
        ("np.array_equal(a @ b, c)", {"array_equal"}),
        ("with np.errstate(over='raise', under='ignore'): pass", {"errstate: 'raise'"}),
        ("try: f()\nexcept FloatingPointError: pass", {"FloatingPointError"}),
        ("with np.errstate(all='ignore'): np.exp(1000)", set()),
    ],
)
def test_what_differs_is_noticed(program: str, found: set[str]) -> None:
    assert rests_on(program) == found


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: path.parent.name)
def test_no_check_of_an_exercise_rests_on_it(path) -> None:
    """But to find out whether an input is still its own copy, which is the same bits anywhere."""
    source = re.sub(r"np\.array_equal\(given, queries\)", "True", path.read_text("utf-8"))
    assert rests_on(source) == set()


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_prints_the_same_where_a_warning_is_an_error(name: str) -> None:
    above, code, printed = CELLS[name]
    with warnings.catch_warnings(), np.errstate(over="warn", divide="warn", invalid="warn"):
        warnings.simplefilter("error")
        assert json.loads(cells.run(code, above)) == {"output": printed, "error": None}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_right_answer_is_right_where_a_warning_is_an_error(name: str) -> None:
    above, code = ANSWERS[name]
    with warnings.catch_warnings(), np.errstate(over="warn", divide="warn", invalid="warn"):
        warnings.simplefilter("error")
        assert json.loads(cells.run(code, above))["output"].startswith(f"✓ {name}\n")
