"""Runs the cells of a page one after the other, with names that carry on, as a notebook does."""

import ast
import io
import json
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from itertools import count

LONGEST = 20_000  # characters of output that a page shows

names = vars(sys.modules["__main__"])
numbers = count(1)


def run(code):
    """Run a cell and say what came of it as JSON: output, error and pictures."""
    place = f"<cell {next(numbers)}>"
    printed = io.StringIO()
    error, pictures = None, []
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            pictures = show(evaluate(ast.parse(code, place), place))
        except BaseException as problem:
            error = {"line": line_of(problem, place), "text": last_line(problem)}
    output = printed.getvalue()
    if len(output) > LONGEST:
        output = output[:LONGEST] + "\n…"
    return json.dumps({"output": output, "error": error, "pictures": pictures})


def evaluate(cell, place):
    """Run all statements, and return the value of the last if it is an expression."""
    *statements, last = cell.body or [None]
    value = isinstance(last, ast.Expr)
    cell.body = statements if value else cell.body
    exec(compile(cell, place, "exec"), names)
    return eval(compile(ast.Expression(last.value), place, "eval"), names) if value else None


def show(value):
    """Print a value as a notebook shows it, or return it as a picture if it can draw itself."""
    if hasattr(value, "_repr_svg_"):
        return [value._repr_svg_()]
    if value is not None:
        print(repr(value))
    return []


def last_line(error):
    """Return the line with which Python's own message about an error ends."""
    lines = traceback.format_exception_only(error)
    return next(line for line in lines if not line.startswith(" ")).strip()


def line_of(error, place):
    """Return which line of this cell an error came from, None if it is not known."""
    if isinstance(error, SyntaxError) and error.filename == place:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == place), None)
