"""What a student's answers should be: the model solution, run with this student's numbers.

It runs the source notebook, which the instructor wrote, and nothing that came from a student.
"""

from __future__ import annotations

import ast
import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import nbformat

from grading.problem_set import IDENTITY, SOURCE, ProblemSet, read

MOST_ENTRIES = 40
MOST_POINTS = 8


def expected(student: str, assignment: str, source: Path = SOURCE) -> str:
    """Return the expected answers of one student, question by question.

    `student` is the number as the student types it. Raises ValueError if it is empty, or there is
    no such problem set in the folder `source`.
    """
    path = source / assignment / f"{assignment}.ipynb"
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in source.glob("*/*.ipynb")))
        raise ValueError(f"no problem set is called {assignment!r}; there are {known}")
    if not student.strip():
        raise ValueError("STUDENT is missing: the number as the student types it")
    parts = [f"{assignment}, {student.strip()}"]
    parts += _answers(read(path), path, student.strip())
    return "\n\n".join(parts) + "\n"


def _answers(problem_set: ProblemSet, path: Path, student: str) -> Iterator[str]:
    """Yield a paragraph for each question, in the order of the notebook."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = nbformat.read(path, as_version=4).cells
    with no_screen():
        for cell in cells:
            marks = cell.metadata.get("nbgrader", {})
            name = marks.get("grade_id", "")
            if cell.cell_type != "code" or marks.get("grade"):
                continue
            _run(cell.source, f"{path.name}, {name}", namespace)
            if name == IDENTITY:  # after the cell, so that the number is never read as code
                namespace["student_id"] = student
    for question in problem_set.questions:
        personal = question.name in namespace["RANGES"]
        numbers = namespace["personal_numbers"](student, question.name) if personal else {}
        head = f"{question.name}, {question.points:g} points"
        told = ", ".join(f"{key} = {value}" for key, value in numbers.items())
        lines = [f"{head}; personal numbers: {told or 'none'}"]
        if question.by_hand:
            lines.append(f"  a paragraph; the model answer is in {path.name}")
        else:
            stub = problem_set.by_name[question.name].source
            lines += [f"  {name} {_shown(namespace[name])}" for name in _wanted(stub)]
        yield "\n".join(lines)


def _run(code: str, where: str, namespace: dict[str, Any]) -> None:
    """Run a cell of the source notebook, which has nothing of a student's."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, where, "exec"), namespace)  # noqa: S102 - the instructor's own code


@contextlib.contextmanager
def no_screen() -> Iterator[None]:
    """Draw figures without a screen, and let `plt.show` leave them open until the end."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before, show = mpl.get_backend(), plt.show
    mpl.use("Agg")
    plt.show = lambda *_, **__: None
    try:
        yield
    finally:
        plt.show = show
        plt.close("all")
        mpl.use(before)


def _wanted(stub: str) -> list[str]:
    r"""Return the names that a student has to fill in, in order: what is given does not count.

    Examples
    --------
    >>> _wanted("STEPS = 30\na, b = None, None\n\n\ndef f(x):\n    'Return.'\n    # your code here")
    ['a', 'b', 'f']
    """
    names = []
    for node in ast.parse(stub).body:
        match node:
            case ast.FunctionDef(name=name, body=[ast.Expr()]):  # a docstring, and the stub
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None)):
                names.append(name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values, strict=True)
                names += [name.id for name, value in pairs if ast.unparse(value) == "None"]
    return names


def _shown(value: Any) -> str:
    """Return a value as somebody compares it with what came in."""
    import numpy as np
    from matplotlib.figure import Figure

    if isinstance(value, FunctionType):
        return "is a function, which is marked by what it returns"
    if isinstance(value, Figure):
        return "\n".join(["is a figure:", *_series(value)])
    if isinstance(value, str | bool):
        return f"= {value!r}"
    array = np.asarray(value)
    if array.size > MOST_ENTRIES:
        return f"is an array of shape {array.shape}, too large to show"
    with np.printoptions(precision=8, suppress=True, linewidth=90):
        text = f"{array[()]!s}" if array.ndim else f"{float(array):.10g}"
    return (
        f"= {text}"
        if "\n" not in text
        else "=\n" + "\n".join(f"    {line}" for line in text.splitlines())
    )


def _series(figure: Any) -> Iterator[str]:
    """Yield a line for each named series of a figure; measured ones scatter from draw to draw."""
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            points = [f"({x:.4g}, {y:.4g})" for x, y in handle.get_xydata()]
            if len(points) > MOST_POINTS:
                points[2:-2] = [f"{len(points) - 4} more"]
            yield f"    {label}: {', '.join(points)}"
