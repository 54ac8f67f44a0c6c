"""Run the cells of a page one after the other, with names that carry on, as a notebook does."""

from __future__ import annotations

import ast
import io
import json
import linecache
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from itertools import count

LONGEST = 20_000
"""How many characters of output a page shows."""
NAMES = vars(sys.modules["__main__"])
NUMBERS = count(1)


def run(code: str) -> str:
    r"""Run a cell and say what came of it as JSON: output, error and pictures.

    Examples
    --------
    >>> run("a = 2\na + 1")
    '{"output": "3\\n", "error": null, "pictures": []}'
    >>> json.loads(run("print(a)\na / 0"))["error"]
    {'line': 2, 'text': 'ZeroDivisionError: division by zero'}
    """
    place = f"<cell {next(NUMBERS)}>"
    linecache.cache[place] = (len(code), None, code.splitlines(keepends=True), place)
    printed = io.StringIO()
    error, pictures = None, []
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            pictures = show(evaluate(ast.parse(code, place), place))
        except BaseException as problem:  # noqa: BLE001 - a cell may raise anything, exits too
            error = {"line": line_of(problem, place), "text": last_line(problem)}
    output = printed.getvalue()
    if len(output) > LONGEST:
        output = output[:LONGEST] + "\n…"
    return json.dumps({"output": output, "error": error, "pictures": pictures})


def evaluate(cell: ast.Module, place: str) -> object:
    """Run all statements, and return the value of the last if it is an expression."""
    last = cell.body[-1] if cell.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(cell, place, "exec"), NAMES)  # noqa: S102 - what a reader wrote to be run
        return None
    cell.body.pop()
    exec(compile(cell, place, "exec"), NAMES)  # noqa: S102
    return eval(compile(ast.Expression(last.value), place, "eval"), NAMES)  # noqa: S307


def show(value: object) -> list[str]:
    """Print a value as a notebook does, or return it as a picture if it can draw itself."""
    if hasattr(value, "_repr_svg_"):
        return [value._repr_svg_()]
    if value is not None:
        print(repr(value))
    return []


def last_line(error: BaseException) -> str:
    """Return the line with which Python's own message about an error ends.

    Examples
    --------
    >>> last_line(NameError("name 'q' is not defined"))
    "NameError: name 'q' is not defined"
    """
    lines = traceback.format_exception_only(error)
    return next(line for line in lines if not line.startswith(" ")).strip()


def line_of(error: BaseException, place: str) -> int | None:
    """Return in which line of a cell an error arose, None if in none of them."""
    if isinstance(error, SyntaxError) and error.filename == place:
        return error.lineno
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == place
    ]
    return lines[-1] if lines else None
