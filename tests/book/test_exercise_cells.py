"""Every exercise has its cells in order, and its check asks for exactly the parts it judges."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from importlib import import_module

import nbformat
import pytest

from attnbook.exercises._exercise import checks_of, exercises
from attnbook.exercises._judges import Number, Pick
from book.model import Page
from book.stubs import BEGIN, END, names_stored
from tests.book.notebooks import (
    BOOK,
    CHAPTERS,
    NOTEBOOKS,
    ROOT,
    code,
    notebook,
    printed,
    read,
    text_of,
)

WITH_EXERCISES = [page for page in BOOK.chapters if page.exercises]
ALL = f"{BOOK.page('11_exercises').name}.ipynb"
"""The chapter that is nothing but exercises."""
N_EXERCISES = 10
FEWEST = 3
ORDER = ["task", "hint", "ask", "start", "answer", "end"]
HEAD = re.compile(r"\n(?:★☆☆ gentle|★★☆ moderate|★★★ demanding) · \*\*Trains\*\* \S.*\n\n\S")
BOX = re.compile(
    r"^### [^\n]+\n+(?P<fence>:{3,})\{exercise\}\n:label: ex-(?P<task>[\w-]+)\n(?P<words>.*?)"
    r"\n(?P=fence)$"
    r"|^(?P<fences>:{3,})\{admonition\} Hint\n:class: dropdown (?P<hint>hint)\n.+?\n(?P=fences)$"
    r"|^:{3,}\{solution-start\} ex-(?P<start>[\w-]+)\n:label: solution-(?P<own>[\w-]+)\n"
    r":class: dropdown\n:{3,}$"
    r"|^:{3,}\{solution-(?P<end>end)\}\n:{3,}$",
    re.DOTALL | re.MULTILINE,
)
BOXES = re.compile(r"^:{3,}\{(?:exercise|solution)[\w-]*\}", re.MULTILINE)


@dataclass
class Found:
    """What a chapter holds of an exercise, in its order there."""

    name: str
    words: str
    kinds: list[str] = field(default_factory=lambda: ["task"])
    solves: tuple[str, str] = ("", "")
    cells: dict[str, nbformat.NotebookNode] = field(default_factory=dict)
    solution: list[nbformat.NotebookNode] = field(default_factory=list)
    """The code cells between its begin and its end."""


def found_exercises(content: nbformat.NotebookNode) -> list[Found]:
    found: list[Found] = []
    for cell in content.cells:
        if cell.cell_type == "code":
            tags = cell.metadata.get("tags", []) if found else []
            for kind in {"ask", "answer"}.intersection(tags):
                found[-1].kinds.append(kind)
                found[-1].cells[kind] = cell
            if found and "start" in found[-1].kinds and "end" not in found[-1].kinds:
                found[-1].solution.append(cell)
            continue
        for box in BOX.finditer(cell.source):
            if box["task"]:
                found.append(Found(box["task"], box["words"]))
            else:
                kind = next(kind for kind in ("hint", "start", "end") if box[kind])
                found[-1].kinds.append(kind)
                if kind == "start":
                    found[-1].solves = box["start"], box["own"]
    return found


def ask_problems(one: Found) -> list[str]:
    """Hold the cell that shows fields for the answers against its form."""
    cell = one.cells["ask"]
    wanted = f'Ask("{one.name}")'
    problems = [] if cell.source == wanted else ["its fields are asked for in another form"]
    if set(cell.metadata.tags) != {"ask", "remove-input"}:
        problems.append("the cell of its fields is not tagged ask and remove-input")
    return problems


def is_check(node: ast.stmt) -> bool:
    """Say whether a statement is a call of `check` with the name of an exercise."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "check"
        and bool(node.value.args)
        and isinstance(node.value.args[0], ast.Constant)
    )


def answer_problems(one: Found, parts: list[str]) -> list[str]:
    """Hold the cell with the solution and its check against its form."""
    cell = one.cells["answer"]
    lines = cell.source.splitlines()
    statements = ast.parse(cell.source).body
    if (lines.count(BEGIN), lines.count(END)) != (1, 1) or lines.index(BEGIN) > lines.index(END):
        return ["its solution has no begin or no end"]
    first, last = lines.index(BEGIN), lines.index(END)
    if not statements or not is_check(statements[-1]) or statements[-1].lineno <= last:
        return ["its answer does not end with a check"]
    problems = []
    region = ast.parse("\n".join(lines[first + 1 : last])).body
    call = statements[-1].value
    given = [keyword.arg for keyword in call.keywords]
    if len(call.args) == 2 and len(parts) == 1 and not given:
        given = parts
    elif len(call.args) != 1:
        problems.append("its check takes parts without names")
    if call.args[0].value != one.name:
        problems.append(f"its check is that of {call.args[0].value!r}")
    if sorted(map(str, given)) != sorted(parts):
        problems.append(f"its check asks for {given}, the parts are {parts}")
    used = {
        node.id
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]
        for node in ast.walk(argument)
        if isinstance(node, ast.Name)
    }
    if open_names := used - {name for node in region for name in names_stored(node)}:
        problems.append(f"its solution does not define {sorted(open_names)}")
    problems += [
        f"{node.name} does not say what it returns"
        for node in region
        if isinstance(node, ast.FunctionDef)
        and node.name in used
        and ast.get_docstring(node) is None
    ]
    shown = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    if not any(text.startswith(f"✓ {one.name}") for text in shown):
        problems.append("its solution was not executed or does not pass")
    return problems


def solution_problems(one: Found, *, printed_too: bool) -> list[str]:
    """Ask for an assertion in a cell that ran, and where wanted in one that printed something."""
    asserting = [
        cell
        for cell in one.solution
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source)))
    ]
    ran = [cell for cell in asserting if cell.execution_count]
    if not ran or (printed_too and not any(cell.outputs for cell in ran)):
        return ["its solution checks nothing in a cell that was executed"]
    return []


def form_problems(one: Found, parts: list[str], *, whole: bool = False) -> list[str]:
    """Hold an exercise against the form that all have, and a chapter of exercises to more."""
    if one.kinds != ORDER:
        return [f"it has {', '.join(one.kinds)}; wanted are {', '.join(ORDER)}"]
    problems = [] if HEAD.match(one.words) else ["no line with difficulty and skill at its head"]
    if whole and "**A right answer** " not in one.words:
        problems.append("no word on what is right")
    problems += solution_problems(one, printed_too=whole)
    solves, own = one.solves
    if solves != one.name or not own.startswith(one.name):
        problems.append(f"its solution names {one.solves}")
    return problems + ask_problems(one) + answer_problems(one, parts)


def section_problems(content: nbformat.NotebookNode) -> list[str]:
    """Look for the section of exercises right before the works to read."""
    headings = re.findall(r"^## .*", text_of(content), re.MULTILINE)
    if headings.count("## Exercises") != 1:
        return [f"{headings.count('## Exercises')} sections of exercises"]
    after = headings[headings.index("## Exercises") + 1 :]
    problems = [] if after[:1] == ["## Read more"] else ["no works to read follow"]
    at = [
        index
        for index, cell in enumerate(content.cells)
        if re.search(r"^## (?:Exercises|Read more)$", cell.source, re.MULTILINE)
    ]
    boxed = [index for index, cell in enumerate(content.cells) if BOXES.search(cell.source)]
    if not all(at[0] <= index < at[-1] for index in boxed):
        problems.append("an exercise is outside of the section")
    return problems


def chapter_problems(
    content: nbformat.NotebookNode, known: dict[str, list[str]], *, whole: bool = False
) -> list[str]:
    """Hold all exercises of a chapter against those that can be checked.

    `known` has the parts of each; `whole` is for the chapter that consists of exercises.
    """
    found = found_exercises(content)
    problems = [] if whole else section_problems(content)
    if len(found) != N_EXERCISES if whole else len(found) < FEWEST:
        problems.append(f"{len(found)} exercises")
    if len(BOXES.findall(text_of(content))) != 3 * len(found):
        problems.append("an exercise or a solution has another form")
    if [one.name for one in found] != list(known):
        problems.append(f"it has {[one.name for one in found]}, checks know {list(known)}")
    if len({one.solves[1] for one in found}) != len(found):
        problems.append("two solutions have the same label")
    for one in found:
        wrong = form_problems(one, known.get(one.name, []), whole=whole)
        problems += [f"{one.name}: {text}" for text in wrong]
    return problems


@pytest.mark.parametrize("page", WITH_EXERCISES, ids=lambda page: page.topic)
def test_the_exercises_of_a_chapter_have_their_form(page: Page) -> None:
    module = import_module(f"attnbook.{page.topic}.exercises")
    known = {exercise.name: list(exercise.parts) for exercise in checks_of(module)}
    problems = chapter_problems(page.notebook, known, whole=f"{page.name}.ipynb" == ALL)
    assert not problems, "\n".join(problems)


def test_every_check_belongs_to_one_exercise_of_the_book() -> None:
    asked = [one.name for name in CHAPTERS for one in found_exercises(read(name))]
    assert exercises().keys() - set(asked) == set(), "checks of which no chapter asks the exercise"
    assert set(asked) - exercises().keys() == set(), (
        "exercises without a check in the room of their chapter"
    )
    assert len(asked) == len(set(asked)), "an exercise is asked twice"
    rooms = [path.parent.name for path in ROOT.glob("attnbook/*/exercises.py")]
    assert sorted(rooms) == sorted(page.topic for page in WITH_EXERCISES)


def test_solutions_are_closed_in_jupyterlab() -> None:
    found = [one for page in WITH_EXERCISES for one in found_exercises(page.notebook)]
    closed = {"source_hidden": True, "outputs_hidden": True}
    assert all(one.solution for one in found)
    cells = [cell for one in found for cell in one.solution]
    assert [cell.source for cell in cells if cell.metadata.get("jupyter") != closed] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_jupyterlab_shows_of_a_closed_text_has_no_comment(name: str) -> None:
    # it shows the first line of the source
    texts = [cell for cell in read(name).cells if cell.cell_type == "markdown"]
    closed = [cell for cell in texts if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert [cell.source for cell in closed if "<!--" in cell.source.splitlines()[0]] == []


def test_every_exercise_can_be_tried_on_the_page() -> None:
    closed = [
        name
        for name, exercise in exercises().items()
        if not any(isinstance(judge, Number | Pick) for judge in exercise.parts.values())
    ]
    assert closed == []


TASK = """### Find it

:::{exercise}
:label: ex-NAME

★★☆ moderate · **Trains** finding

Where is it?
:::"""
HINT = """:::{admonition} Hint
:class: dropdown hint
Look below.
:::"""
ASK = 'Ask("NAME")'
START = ":::{solution-start} ex-NAME\n:label: solution-NAME\n:class: dropdown\n:::\n\nHere."
ANSWER = '''data = [1]

### BEGIN SOLUTION
one = 1


def two(x):
    """Return twice x."""
    return 2 * x


### END SOLUTION
check("NAME", one=one, two=two)'''
VERDICT = "✓ NAME\n  ✓ one: Right."
SECOND = "assert one == 1\nprint(1)"
ENDING = ":::{solution-end}\n:::"
NAMED = ("a", "b", "c")
KNOWN = {name: ["one", "two"] for name in NAMED}


def made(
    *,
    heading: str = "## Exercises\n\nTry them.",
    readings: str = "## Read more",
    after: str = "",
    tags: tuple[str, ...] = ("ask", "remove-input"),
    **changed: str,
) -> nbformat.NotebookNode:
    """Make a chapter with three exercises; what is changed is changed in the last one."""
    usual = {
        "task": f"{TASK}\n\n{HINT}",
        "ask": ASK,
        "start": START,
        "answer": ANSWER,
        "verdict": VERDICT,
        "second": SECOND,
        "ending": ENDING,
    }
    cells: list[nbformat.NotebookNode | str] = ["# A title", "## Claim", heading]
    for name in NAMED:
        parts = usual | (changed if name == NAMED[-1] else {})
        text = {key: value.replace("NAME", name) for key, value in parts.items()}
        output = nbformat.v4.new_output("execute_result", {"text/plain": text["verdict"]})
        cells += [
            text["task"],
            code(text["ask"], [output], tags=tags),
            text["start"],
            code(text["answer"], [output], tags=("answer",)),
            code(text["second"], [printed("1")]),
            text["ending"],
        ]
    return notebook(*cells, readings, after)


def test_exercises_in_their_form_pass() -> None:
    assert chapter_problems(made(), KNOWN) == []


def test_a_single_part_needs_no_name() -> None:
    single = ANSWER.replace("one=one, two=two", "one")
    last = found_exercises(made(answer=single))[-1]
    assert form_problems(last, ["one"]) == []
    assert len(form_problems(last, ["one", "two"])) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"heading": "Try them."},
        {"readings": "## Something else\n\n## Read more"},
        {"readings": "## Claims"},
        {"after": TASK.replace("NAME", "d")},
        {"task": f"{TASK}"},
        {"task": f"{HINT}\n\n{TASK}"},
        {"task": f"{TASK}\n\n{HINT}\n\n{HINT}"},
        {"task": f"{TASK}\n\n{HINT}".replace("### Find it\n\n", "")},
        {"task": f"{TASK}\n\n{HINT}".replace("★★☆ moderate · ", "")},
        {"task": f"{TASK}\n\n{HINT}".replace("NAME", "a")},
        {"task": f"{TASK}\n\n{HINT}".replace("NAME", "d")},
        {"task": f"{TASK}\n\n{HINT}".replace("dropdown hint", "hint")},
        {"ask": 'from attnbook.figures import Ask\n\nAsk("NAME")'},
        {"ask": ASK.replace("NAME", "a")},
        {"tags": ("ask",)},
        {"tags": ("remove-input",)},
        {"start": START.replace(":class: dropdown\n", "")},
        {"start": START.replace("ex-NAME", "ex-a")},
        {"start": START.replace("solution-NAME", "solution-a")},
        {"start": "Here."},
        {"answer": ANSWER.replace(BEGIN, "")},
        {"answer": ANSWER.replace(END, "")},
        {"answer": ANSWER.replace("NAME", "a")},
        {"answer": ANSWER.replace("one=one, ", "")},
        {"answer": ANSWER.replace("one=one", "three=one")},
        {"answer": ANSWER.replace("one=one, two=two", "one, two")},
        {"answer": ANSWER.replace("one = 1", "pass")},
        {"answer": ANSWER.replace('    """Return twice x."""\n', "")},
        {"answer": f"{ANSWER}\nprint(one)"},
        {"verdict": "✗ NAME\n  ✗ one: Wrong."},
        {"verdict": "✓ a"},
        {"second": "print(1)"},
        {"ending": "Words."},
        {"ending": f"{ENDING}\n\n{ENDING}"},
    ],
)
def test_an_exercise_in_another_form_is_reported(changed: dict[str, object]) -> None:
    assert chapter_problems(made(**changed), KNOWN)


def test_too_few_or_unknown_exercises_are_reported() -> None:
    assert chapter_problems(made(), KNOWN | {"d": ["one"]})
    assert chapter_problems(made(), {"a": [], **KNOWN, "c": ["one"]})
    assert chapter_problems(made(), dict(reversed(KNOWN.items())))
    few = made()
    del few.cells[3:9]
    problems = chapter_problems(few, {name: KNOWN[name] for name in "bc"})
    assert problems == ["2 exercises"]
    assert chapter_problems(made(), KNOWN, whole=True)[0] == "3 exercises"


def test_a_chapter_of_exercises_says_what_is_right_and_shows_what_came_out() -> None:
    task = f"{TASK}\n\n{HINT}".replace("Where is it?", "**A right answer** says where.")
    last = found_exercises(made(task=task))[-1]
    assert form_problems(last, ["one", "two"], whole=True) == []
    last.solution[-1].outputs = []
    assert form_problems(last, ["one", "two"]) == []
    assert len(form_problems(last, ["one", "two"], whole=True)) == 1
    without = found_exercises(made())[-1]
    assert form_problems(without, ["one", "two"], whole=True) == ["no word on what is right"]


def test_a_solution_that_never_ran_is_reported() -> None:
    content = made()
    content.cells[-4].execution_count = None
    said = "c: its solution checks nothing in a cell that was executed"
    assert chapter_problems(content, KNOWN) == [said]


def test_code_after_the_solution_is_not_part_of_it() -> None:
    content = made()
    content.cells[-4], content.cells[-3] = content.cells[-3], content.cells[-4]
    assert len(chapter_problems(content, KNOWN)) == 1


def test_two_solutions_with_one_label_are_reported() -> None:
    content = made()
    for cell in content.cells:
        cell.source = re.sub(r"(ex-|check\(\"|Ask\(\")b\b", r"\1ab", cell.source)
        cell.source = re.sub(r"solution-[ab]\b", "solution-ab", cell.source)
    known = {"a": KNOWN["a"], "ab": KNOWN["b"], "c": KNOWN["c"]}
    assert "two solutions have the same label" in chapter_problems(content, known)


def test_swapped_cells_are_reported() -> None:
    content = made()
    content.cells[-5], content.cells[-6] = content.cells[-6], content.cells[-5]
    assert chapter_problems(content, KNOWN)
