"""Right answers in unusual forms, and notebooks of unusual forms, lose no points.

All answers to one question run in one sandbox, one after the other, as if a student had tried them
all. Names of the one before are gone.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from grading.intake.normalize import normalize
from grading.marking.judging import Judge
from grading.marking.submission import Conditions, mark
from grading.release import worked
from grading.results import Mark, Student, Submission
from grading.sandbox import sandbox
from tests.grading.trial import problem_set
from tests.grading.unusual import UNUSUAL

pytestmark = pytest.mark.proof("unusual")
Notebook = dict[str, Any]
STUDENT = "s0000001"
LIMITS = sandbox.Limits(wall_seconds=110, cell_seconds=20)
ALL = [
    pytest.param(assignment, question, i, id=f"{assignment}-{question}-{variant.name}")
    for assignment, questions in UNUSUAL.items()
    for question, variants in questions.items()
    for i, variant in enumerate(variants)
]
FORGET = """
for each in [name for name in globals() if name not in KNOWN and not name.startswith("_")]:
    del globals()[each]
"""


@cache
def ran(assignment: str, question: str) -> tuple[sandbox.Run, list[Mark | str]]:
    """Return what came out, and the mark of each answer, or why there is none."""
    given = problem_set(assignment)
    judge = Judge.of(given)
    (asked_of,) = (each for each in given.questions if each.name == question)
    asked = judge.ask(asked_of, STUDENT, 7)
    first = [f"{given.by_name['numbers'].source}\nstudent_id = {STUDENT!r}"]
    first.append("KNOWN = {'KNOWN', *globals()}")
    steps: list[sandbox.Execute | sandbox.Collect] = [
        sandbox.Execute(f"first {i}", source) for i, source in enumerate(first)
    ]
    for i, variant in enumerate(UNUSUAL[assignment][question]):
        sources = (FORGET, given.by_name["setup"].source, variant.source)
        check = given.by_name[f"{question}_check"].source
        steps += [sandbox.Execute(f"{i}.{j}", each) for j, each in enumerate((*sources, check))]
        given_to = asked_of.taken(asked)
        steps.append(sandbox.Collect(str(i), asked_of.functions["answer"], given_to))
    found = sandbox.run(steps, LIMITS)
    marks: list[Mark | str] = [
        judge.judge(asked_of, found.answers[str(i)], STUDENT, asked)
        if str(i) in found.answers
        else found.failures.get(str(i), found.ended)
        for i in range(len(UNUSUAL[assignment][question]))
    ]
    return found, marks


@pytest.mark.parametrize(("assignment", "question", "place"), ALL)
def test_a_right_answer_in_an_unusual_form_earns_everything(
    assignment: str, question: str, place: int
) -> None:
    found, marks = ran(assignment, question)
    found_mark = marks[place]
    shown = [found.outputs.get(f"{place}.{j}") for j in range(4)]
    assert isinstance(found_mark, Mark), (found_mark, str(shown)[-1500:])
    earned = found_mark.points, found_mark.message
    assert earned == (found_mark.maximum, ""), str(shown)[-1500:]
    # and the public check has nothing against it
    assert not [each for each in shown[3] or () if each["output_type"] == "error"], shown[3]


def test_there_are_many_right_answers() -> None:
    from tests.grading.variants import variants_of

    known = [
        each
        for assignment in UNUSUAL
        for variants in variants_of(assignment).values()
        for each in variants
        if each.earned == 1
    ]
    assert len(known) + len(ALL) >= 200
    for questions in UNUSUAL.values():
        for variants in questions.values():
            assert len({each.name for each in variants}) == len(variants)


# ------------------------------------------------------------------------- notebooks as files


def of_tool(**metadata: Any) -> Callable[[Notebook], None]:
    """Return what writes what a tool leaves in a notebook and in each of its cells."""

    def change(notebook: Notebook) -> None:
        notebook["metadata"] |= metadata.get("notebook", {})
        for each in notebook["cells"]:
            each["metadata"] |= metadata.get("cell", {})

    return change


def every(*kinds: str, **values: Any) -> Callable[[Notebook], None]:
    """Return what writes into each cell of a kind."""

    def change(notebook: Notebook) -> None:
        for i, each in enumerate(notebook["cells"]):
            if each["cell_type"] in (kinds or ("code", "markdown")):
                each |= {key: made(i) if callable(made) else made for key, made in values.items()}

    return change


def called(each: Notebook) -> str:
    return str(each["metadata"].get("nbgrader", {}).get("grade_id", ""))


def sources(change: Callable[[str], Any]) -> Callable[[Notebook], None]:
    return lambda notebook: (
        [each.update(source=change(each["source"])) for each in notebook["cells"]] and None
    )


def without(wanted: Callable[[Notebook], bool]) -> Callable[[Notebook], None]:
    """Return what deletes cells."""
    return lambda notebook: notebook.update(
        cells=[each for each in notebook["cells"] if not wanted(each)]
    )


def without_names(notebook: Notebook) -> None:
    for each in notebook["cells"]:
        each["metadata"] = {}


def merged_with_checks(notebook: Notebook) -> None:
    """Merge each check into its answer, as an editor merges a cell with the one below."""
    for each, below in itertools.pairwise(list(notebook["cells"])):
        if called(below) == f"{called(each)}_check":
            each["source"] += "\n" + below["source"]
            notebook["cells"].remove(below)


def split_answers(notebook: Notebook) -> None:
    """Split the first line of each answer off into a cell of its own, with the same metadata."""
    for each in list(notebook["cells"]):
        if called(each) in ("q1", "q4"):
            first, _, rest = each["source"].partition("\n")
            notebook["cells"].insert(
                notebook["cells"].index(each), {**each, "id": "new", "source": first}
            )
            each["source"] = rest


def added(*more: Notebook) -> Callable[[Notebook], None]:
    """Return what adds cells behind each cell."""

    def change(notebook: Notebook) -> None:
        notebook["cells"] = [one for each in notebook["cells"] for one in (each, *more)]

    return change


def format_4(minor: int) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        notebook["nbformat_minor"] = minor
        for each in notebook["cells"]:
            each.pop("id", None)

    return change


TEXT = {"cell_type": "markdown", "metadata": {}, "source": "# My notes\n\nσ² и 学生 🎓"}
EMPTY = {"cell_type": "code", "metadata": {}, "source": "", "outputs": [], "execution_count": None}
RAW = {"cell_type": "raw", "metadata": {}, "source": "# student_id = 'nobody'"}
SHOWN = [{"output_type": "stream", "name": "stdout", "text": ["x" * 100] * 1000}]
FILES: dict[str, Callable[[Notebook], None]] = {
    **{f"format 4.{minor}": format_4(minor) for minor in range(6)},
    "Colab": of_tool(
        notebook={"colab": {"provenance": []}, "accelerator": "GPU"},
        cell={"id": "x1", "colab": {"base_uri": "", "height": 7}, "outputId": "y"},
    ),
    "VS Code": of_tool(
        notebook={"vscode": {"interpreter": {"hash": "0"}}, "orig_nbformat": 4},
        cell={"vscode": {"languageId": "python"}},
    ),
    "Deepnote": of_tool(
        notebook={"deepnote_notebook_id": "0", "deepnote": {}},
        cell={"cell_id": "0", "deepnote_cell_type": "code", "execution_millis": 7},
    ),
    "Kaggle": of_tool(
        notebook={"kaggle": {"dataSources": []}, "papermill": {"duration": 3.0}},
        cell={"_uuid": "0", "_cell_guid": "1", "papermill": {"status": "completed"}},
    ),
    "JupyterLite": of_tool(
        notebook={"kernelspec": {"name": "python", "display_name": "Python (Pyodide)"}},
        cell={"trusted": True},
    ),
    "a kernel of old": of_tool(notebook={"kernelspec": {"name": "conda-env-py27-py"}}),
    "no metadata of the notebook": lambda notebook: notebook.update(metadata={}),
    "cells of other ids": every(id=lambda i: f"{i:032x}"),
    "cells without ids": lambda notebook: [
        each.pop("id", 0) for each in notebook["cells"]
    ] and None,
    "outputs that are huge": every("code", outputs=SHOWN),
    "outputs that are missing": lambda notebook: [
        each.pop(key, 0) for each in notebook["cells"] for key in ("outputs", "execution_count")
    ] and None,
    "cells executed in another order": every("code", execution_count=lambda i: 99 - i),
    "sources in lines": sources(lambda source: source.splitlines(keepends=True)),
    "line ends of Windows": sources(lambda source: source.replace("\n", "\r\n")),
    "line ends of old": sources(lambda source: source.replace("\n", "\r")),
    "blanks at the ends of lines": sources(lambda source: source.replace("\n", "  \n") + "\n\n"),
    "texts that are deleted": without(
        lambda each: each["cell_type"] == "markdown" and called(each) != "q5"
    ),
    "checks that are deleted": without(lambda each: called(each).endswith("_check")),
    "given cells that are deleted": without(lambda each: called(each) in ("numbers", "setup")),
    "names that are lost": without_names,
    "checks merged into answers": merged_with_checks,
    "notes behind every cell": added(TEXT),
    "empty cells behind every cell": added(EMPTY, RAW),
    "texts in another order": lambda notebook: notebook["cells"].sort(
        key=lambda each: each["cell_type"] == "markdown"
    ),
    "answers from the last to the first": lambda notebook: notebook["cells"].reverse(),
}  # fmt: skip


def work_of(assignment: str) -> Notebook:
    """Return the notebook of somebody who solved everything, each source a text."""
    notebook: Notebook = json.loads(worked(problem_set(assignment), STUDENT))
    for each in notebook["cells"]:
        each["source"] = "".join(each["source"])
    return notebook


def normalized(assignment: str, change: Callable[[Notebook], None], before: bytes = b"") -> Any:
    notebook = work_of(assignment)
    change(notebook)
    return normalize(before + json.dumps(notebook).encode(), problem_set(assignment))


def answers(work: Any) -> dict[str, str]:
    """Return the sources of the cells of the problem set, without blanks that say nothing."""
    return {
        cell.name: "\n".join(line.rstrip() for line in cell.source.strip().split("\n"))
        for cell in work.cells
        if cell.name
    }


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"], ids=["", "with a mark"])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("assignment", UNUSUAL)
def test_a_notebook_in_an_unusual_form_has_the_same_answers(
    assignment: str, name: str, before: bytes
) -> None:
    plain, found = (normalized(assignment, each, before) for each in (lambda _: None, FILES[name]))
    given, came = answers(plain), answers(found)
    if name == "checks merged into answers":  # then the check runs twice
        came = {key: source[: len(given[key])] for key, source in came.items()}
    assert came == given
    assert found.typed_id == STUDENT
    code = [cell.source for cell in found.cells if cell.role == "own" and cell.kind == "code"]
    assert not any(code)


TOGETHER = (
    "Colab", "cells without ids", "outputs that are huge", "checks merged into answers",
    "notes behind every cell", "empty cells behind every cell", "line ends of Windows",
)  # fmt: skip


@pytest.mark.parametrize("assignment", UNUSUAL)
def test_a_notebook_in_many_unusual_forms_at_once_earns_everything(assignment: str) -> None:
    given = problem_set(assignment)
    notebook = work_of(assignment)
    split_answers(notebook)
    for name in TOGETHER:
        FILES[name](notebook)
    raw = json.dumps(notebook).encode()
    submission = Submission(Student(STUDENT, "", "Ada Example"), assignment, raw)
    result = mark(submission, given, Conditions({assignment: 7}, LIMITS))
    assert result.status == "graded", result.message
    for each in result.marks[:4]:
        assert (each.points, each.message) == (each.maximum, "")
