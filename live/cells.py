"""Run a cell of a page, after what it needs of the cells above; the same code gives the same."""

from __future__ import annotations

import ast
import io
import json
import linecache
import traceback
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from cell_dependencies import needed

LONGEST = 20_000
"""How many characters of output a page shows."""
ABOVE, CELL = "<cells above>", "<cell>"


def run(code: str, above: Iterable[str] = ()) -> str:
    r"""Run a cell and say what came of it as JSON: output and error.

    Examples
    --------
    >>> run("a + 1", ["a = 2"])
    '{"output": "3\\n", "error": null}'
    >>> json.loads(run("a = 2\nprint(a)\na / 0"))["error"]
    {'text': 'ZeroDivisionError: division by zero', 'line': 3, 'above': False}
    """
    printed, names = io.StringIO(), {"__name__": "__main__"}
    error, place = None, ABOVE
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            ast.parse(code, CELL)
            evaluate(needed(list(above), code), ABOVE, names)
            place = CELL
            printed.seek(0)
            printed.truncate()
            value = evaluate(code, CELL, names)
            if value is not None:
                print(repr(value))
        except BaseException as problem:  # noqa: BLE001 - a cell may raise anything, exits too
            line = line_of(problem, CELL)
            error = {"text": last_line(problem), "line": line, "above": not line and place == ABOVE}
    output = printed.getvalue()
    if len(output) > LONGEST:
        output = output[:LONGEST] + "\n…"
    return json.dumps({"output": output, "error": error})


def evaluate(code: str, place: str, names: dict[str, Any]) -> object:
    """Run all statements, and return the value of the last if it is an expression."""
    # with it a traceback shows the lines
    linecache.cache[place] = (len(code), None, code.splitlines(keepends=True), place)
    cell = ast.parse(code, place)
    last = cell.body[-1] if cell.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(cell, place, "exec"), names)  # noqa: S102 - what a reader wrote to be run
        return None
    cell.body.pop()
    exec(compile(cell, place, "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), place, "eval"), names)  # noqa: S307


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
