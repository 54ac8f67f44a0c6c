"""Begin a problem set from an exercise of the book: ``make question FROM=spread NAME=homework_1``.

It writes ``grading/source/NAME/NAME.ipynb``, with one question that can be given out as it is:
statement, stub, solution and checks come from the exercise, and each part is worth a point. Where
``RANGES`` has ranges for numbers of the exercise, these are the students' own. Right answers for
them are what the book's solution gives.

An exercise is refused if its solution imports what is not there when notebooks are marked, or if
only its check can say what to call a function with.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from textwrap import indent

import nbformat
from nbformat import NotebookNode, v4

from attnbook.exercises._exercise import describe_parts, exercises
from attnbook.exercises._judges import Example, Function, Number, Numeric, Pick
from book.folder_imports import imported
from book.markdown import Block
from book.model import Book, Exercise, Target
from book.normal_form import KERNEL, LANGUAGE
from book.plain_markdown import Plain
from book.stubs import BEGIN, END, answer_names, comment, empty_function
from grading import environment
from grading.problem_set import SOURCE

ROOT = Path(__file__).resolve().parent.parent

RANGES: dict[str, dict[str, tuple[int, int]]] = {
    "divide-later": {"d_k": (20, 100)},
    "fading": {"d_k": (40, 160), "distance": (2, 9)},
    "fold-bias": {"shared_width": (100, 900), "kernel_width": (40, 160)},
    "group-losses": {"groups": (3, 9), "size": (4, 12)},
    "longest": {"length": (5, 12), "width": (40, 160)},
    "merge-blocks": {"m_first": (6, 8), "l_first": (2, 5), "m_second": (3, 5), "l_second": (2, 5)},
    "nudge": {"d_k": (40, 160)},
    "odds": {"first": (6, 12), "second": (1, 5)},
    "positions": {"crowd": (300, 3000)},
    "rectified": {"d_k": (40, 160)},
    "runner-up": {"n": (12, 90), "gap": (1, 4)},
    "spread": {"d_k": (65, 900)},
    "start": {"width": (500, 1000), "d_k": (50, 150)},
    "tied": {"counted": (200, 570), "tied_head": (40, 160), "tied_width": (170, 400)},
    "unseen": {"n_queries": (5, 12), "n_keys": (14, 40)},
    "weights-memory": {"heads": (12, 48), "width": (48, 160), "n_tokens": (10000, 60000)},
}
THERE = {"math", "numpy"}
# how hard an exercise is, and what a reader should have thought of: marks know neither
UNMARKED = re.compile(r"^[★☆]+[^\n]*\n+|\n\n\*\*A right answer\*\*(?:[^\n]|\n(?!\n))*")
NUMERAL = re.compile(r"\d[\d,]*(?:\.\d+)?")

RULES = """# {title}

**Rules**

- Type your student number in the cell below that asks for it, and run the notebook from the top.\
{personal}
- Write only in the cells that say so. The checks between the questions look at the form of your \
answer. They do not say whether it is right. Your answer is marked later, by other checks.
- Use NumPy, and whatever Python itself brings. The book's package `attnlib` is not there when \
your notebook is marked, nor is SciPy."""
PERSONAL = " The question has personal numbers, which follow from your student number."
IDENTITY = f"""student_id = ""  # between the quotes: your student number, as your course writes it
{BEGIN}
student_id = "s0000000"
{END}"""
CHECK = """import sys

assert student_id, "type your student number into its cell further up, and run all cells again"
assert not sys.modules.get("attnlib"), "attnlib is not there when this is marked: do it with NumPy"
"""
HIDDEN = """### BEGIN HIDDEN TESTS
import math

import numpy as np

from grading.exercises import drawn_calls, mark_parts
from grading.hidden import hidden_check

EXERCISE = "{exercise}"
{ask}

def answer({calls}):{returned}
    return {{
{given}
    }}
{right}

def judge(given, student_id, asked):
    mark_parts(EXERCISE, given, asked{own})


hidden_check(answer, judge{asking})
### END HIDDEN TESTS"""
ASK = '''

def ask(rng, student_id):
    """Draw what functions are called with."""
    return {"calls": drawn_calls(EXERCISE, rng)}
'''
RETURNED = """
    import copy

    import numpy as np

    def returned(function, arguments):
        try:
            with np.errstate(all="ignore"):
                return function(*copy.deepcopy(arguments))
        except Exception:  # whatever a student's function raises
            return "an error"
"""
RIGHT = '''

def right_numbers(mine):
    """Return the answers of the solution with a student's numbers."""
{code}
    return {{{numbers}}}
'''


class QuestionError(Exception):
    """An exercise of which no question can be made, or a name that cannot be used."""


class ForStudents(Plain):
    """Writes exercises for people who may not have the book beside them."""

    def page(self, name: str, words: str = "") -> str:
        """Return the name of a page, without a link."""
        return words or f"the chapter *{self.book.page(name).title}*"

    def reference(self, target: Target) -> str:
        """Return what a label names: a short formula itself, the rest by its name."""
        where = f"in {self.page(target.page.name)}"
        if target.kind == "exercise":
            return self.numbered(target)
        if target.kind == "equation":
            formula = " ".join(target.title.split()).rstrip(" .,")
            return f"an equation {where}" if r"\\" in formula else f"${formula}$"
        title = target.title
        if target.kind == "figure":  # the first sentence of its caption
            title = re.split(r"[.:](?:\s|$)", title)[0]
        kind = "" if target.kind in {"chapter", "section"} else f"the {target.kind} "
        return f"{kind}“{title}” {where}"

    def equation(self, box: Block) -> str:
        """Return a formula without its number."""
        return f"$$\n{box.body.strip()}\n$$"


def answers(exercise: Exercise) -> list[tuple[str, str]]:
    """Return the parts of an exercise, each with the name of its answer."""
    return answer_names(exercise.answer.partition(f"\n{END}\n")[2])


def obstacle(exercise: Exercise) -> str:
    """Return why no question can be made of an exercise, or nothing."""
    code = "\n".join([*exercise.given, exercise.answer])  # the last line calls check
    if missing := set(imported(code)) - THERE - sys.stdlib_module_names:
        names = " and ".join(sorted(missing))
        return f"its solution imports {names}, not there when notebooks are marked"
    functions = {
        node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)
    }
    parts, names = exercises()[exercise.name].parts, dict(answers(exercise))
    if any(isinstance(each, Example) and names[part] in functions for part, each in parts.items()):
        return "only its own check can call the function that it asks for"
    return ""


def with_numbers(statement: str, names: dict[str, tuple[int, int]]) -> str:
    r"""Return a statement in which personal numbers are named and not given.

    Examples
    --------
    >>> with_numbers("For $d_k = 64$<!-- {d_k} --> and 9<!-- {n} --> keys", {"d_k": (1, 9)})
    'For $d_k$ = `d_k` and 9 keys'
    """
    made = ""
    for before, bound in re.findall(r"(.*?)(<!--.*?-->|\Z)", statement, re.DOTALL):
        expressions = re.findall(r"\{([^}]*)\}", bound)
        numerals = list(NUMERAL.finditer(before))[-len(expressions) :] if expressions else []
        for numeral, expression in reversed(list(zip(numerals, expressions, strict=False))):
            if (name := expression.partition(":")[0]) in names:
                start, end = numeral.span()
                head, tail, shown = before[:start], before[end:], f"`{name}`"
                if tail.startswith("$"):  # a formula ends here
                    head, tail = re.sub(r"( = | )?$", r"$\1", head, count=1), tail[1:]
                before = head + shown + tail
        made += before
    return made


def filled(given: str, names: dict[str, tuple[int, int]]) -> str:
    """Return the lines above a solution with personal numbers in place of those of the book."""
    lines = given.split("\n")
    values = []
    for node in ast.parse(given).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Tuple):
            one = isinstance(node.targets[0], ast.Name)
            targets = [node.targets[0]] if one else node.targets[0].elts
            there = [node.value] if one else getattr(node.value, "elts", [])
            values += zip(targets, there, strict=False)
    for target, value in reversed(values):
        if isinstance(target, ast.Name) and target.id in names:
            line, start, end = value.lineno - 1, value.col_offset, value.end_col_offset
            lines[line] = f'{lines[line][:start]}mine["{target.id}"]{lines[line][end:]}'
    return "\n".join(lines)


def stub(exercise: Exercise, solution: str) -> str:
    """Return what a student fills in, with the solution between its marks: functions come last."""
    body = solution.splitlines()
    functions = {n.name: n for n in ast.parse(solution).body if isinstance(n, ast.FunctionDef)}
    phrases, values, defined = describe_parts(exercise.name), "", []
    for part, name in answers(exercise):
        if name in functions:
            defined.append(empty_function(functions[name], body).rpartition("\n")[0])
        else:
            values += f"{comment(phrases[part])}{name} = None\n"
    if not defined:
        return f"{values}{BEGIN}\n{solution}\n{END}"
    whole = "\n    # your code here\n\n\n".join(defined)
    return f"{values}\n\n{whole}\n    {BEGIN}\n{solution}\n    {END}".lstrip("\n")


def public_check(exercise: Exercise) -> str:
    """Return assertions on the form of each answer."""
    parts, lines = exercises()[exercise.name].parts, []
    for part, name in answers(exercise):
        found, judge = f'globals().get("{name}")', parts[part]
        if isinstance(judge, Function):
            lines.append(f'assert callable({found}), "`{name}` should be a function"')
            continue
        lines.append(f'assert {found} is not None, "`{name}` has no value yet"')
        if isinstance(judge, Number):
            lines.append(f'assert np.size({name}) == 1, "`{name}` should be one number"')
        elif isinstance(judge, Pick):
            lines.append(f'assert isinstance({name}, str), "`{name}` should be one of the texts"')
    return CHECK + "\n".join(lines)


def hidden_check(exercise: Exercise, given: str, solution: str) -> str:
    """Return the hidden check, which has the book's judge."""
    parts, pairs = exercises()[exercise.name].parts, answers(exercise)
    values = [
        f'"{part}": [returned({name}, each) for each in calls["{part}"]],'
        if isinstance(parts[part], Function)
        else f'"{part}": {name},'
        for part, name in pairs
    ]
    right = own = ""
    if RANGES.get(exercise.name):
        numbers = [f'"{part}": {name}' for part, name in pairs if isinstance(parts[part], Numeric)]
        code = indent(f"{given}\n\n{solution}".strip(), "    ")
        right = RIGHT.format(code=code, numbers=", ".join(numbers))
        own = ', right_numbers(personal_numbers(student_id, "q1"))'
    calls = any(isinstance(each, Function) for each in parts.values())
    return HIDDEN.format(
        exercise=exercise.name,
        given=indent("\n".join(values), " " * 8),
        right=right,
        own=own,
        ask=ASK if calls else "",
        calls="calls" if calls else "",
        returned=RETURNED if calls else "",
        asking=", ask" if calls else "",
    )


def cell(kind: str, name: str, source: str, **marks: bool | int) -> NotebookNode:
    """Return a cell with what nbgrader says of it."""
    made = {"code": v4.new_code_cell, "markdown": v4.new_markdown_cell}[kind](source, id=name)
    solution = marks.get("solution", False)
    basis = {"cell_type": kind, "grade": False, "grade_id": name, "locked": not solution}
    made.metadata["nbgrader"] = basis | {"schema_version": 3, "solution": False, "task": False}
    made.metadata["nbgrader"].update(marks)
    return made


def numbers_cell(assignment: str, ranges: dict[str, tuple[int, int]]) -> str:
    """Return the cell with the personal numbers, whose function is that of the other sets."""
    there = nbformat.read(SOURCE / "problem_set_1" / "problem_set_1.ipynb", as_version=4).cells
    (source,) = (
        each.source
        for each in there
        if each.metadata.get("nbgrader", {}).get("grade_id") == "numbers"
    )
    function = source[source.index("def personal_numbers") :]
    ranged = "".join(f'        "{name}": {ends},\n' for name, ends in ranges.items())
    inside = f"{{\n{ranged}    }}" if ranged else "{}"
    head = f'import hashlib\n\nASSIGNMENT = "{assignment}"\nRANGES = {{\n    "q1": {inside},\n}}\n'
    return f"{head}\n\n{function}"


def problem_set(book: Book, exercise: Exercise, name: str) -> NotebookNode:
    """Return a problem set with one question."""
    ranges = RANGES.get(exercise.name, {})
    points = len(answers(exercise))
    above, _, rest = exercise.answer.partition(f"{BEGIN}\n")
    solution = rest.partition(f"\n{END}")[0].strip("\n")
    given = filled("\n\n".join([*exercise.given, above.strip("\n")]).strip(), ranges)
    mine = 'mine = personal_numbers(student_id, "q1")\nprint(mine)\n' if ranges else ""
    top = f"{mine}{given}\n\n" if mine or given else ""
    text = ForStudents(book).text(with_numbers(exercise.statement, ranges))
    text = UNMARKED.sub("", text)
    each = "\n".join(
        f"- `{n}`: {describe_parts(exercise.name)[part]}" for part, n in answers(exercise)
    )
    heading = f"## Question 1: {exercise.title} ({points} point{'s' if points > 1 else ''})"
    hand_in = "**Hand in** this, for a point each; nothing else is marked:"
    statement = f"{heading}\n\n{text}\n\n{hand_in}\n\n{each}"
    check = f"{public_check(exercise)}\n{hidden_check(exercise, given, solution)}"
    rules = RULES.format(title=exercise.title, personal=PERSONAL if ranges else "")
    rules = f"{rules}\n{environment.RULES.strip()}"
    cells = [
        v4.new_markdown_cell(rules, id="rules"),
        cell("code", "numbers", numbers_cell(name, ranges)),
        cell("code", "identity", IDENTITY, solution=True),
        cell("code", "setup", "import math\n\nimport numpy as np"),
        cell("markdown", "q1_text", statement),
        cell("code", "q1", top + stub(exercise, solution), solution=True),
        cell("code", "q1_check", check, grade=True, points=points),
    ]
    metadata = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    return v4.new_notebook(cells=cells, metadata=metadata)


def begin(exercise: str, name: str = "", folder: Path = SOURCE, book: Book | None = None) -> Path:
    """Write a problem set with a question from an exercise; return the path of its notebook."""
    book = book or Book(ROOT)
    known = {each.name: each for page in book.chapters for each in page.exercises}
    if exercise not in known:
        offered = (f"{each}: {it.title}" for each, it in known.items() if not obstacle(it))
        raise QuestionError("\n  ".join([f"FROM is {exercise!r}; the exercises are", *offered]))
    if why := obstacle(known[exercise]):
        raise QuestionError(f"FROM is {exercise!r}, and that cannot be marked: {why}")
    name = name or exercise.replace("-", "_")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_]*", name):
        raise QuestionError(f"NAME is {name!r}; wanted are letters, digits and _")
    path = folder / name / f"{name}.ipynb"
    if path.exists():
        raise QuestionError(f"{path} is there already; choose another NAME")
    made = problem_set(book, known[exercise], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(made) + "\n", encoding="utf-8")
    return path
