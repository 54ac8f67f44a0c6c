"""What honest students do, in their own environment, costs them nothing in that of the grader."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from grading.gradebook import autograded
from grading.marking import newer, running
from grading.marking.submission import (
    BESIDE,
    ELSEWHERE,
    FOR_A_PERSON,
    UNTOUCHED,
    Conditions,
    mark,
)
from grading.release import worked
from grading.reports.instructor import summary
from grading.results import Result, Student, Submission
from grading.sandbox import sandbox
from grading.sandbox.sandbox import Collect, Execute, Limits, run
from tests.grading.small_class import PROBLEM_SET, TINY

STUDENT = Student("s1", "", "Ada Example")


def shown(found: sandbox.Run) -> str:
    return json.dumps(found.outputs)


@pytest.mark.parametrize(
    ("name", "cells", "says"),
    [
        (
            "a pool",
            [
                "from multiprocessing import Pool, get_start_method, set_start_method",
                "def twice(x): return 2 * x",
                "with Pool(2) as pool: print(sum(pool.map(twice, range(9))))",
                "assert get_start_method() == 'fork'",
                "set_start_method('spawn', force=True)",
            ],
            "72",
        ),
        (
            "locks and queues",
            [
                "import multiprocessing as mp\ncontext = mp.get_context('fork')",
                "lock, queue = context.Lock(), context.Queue()",
                "def put():\n    with lock:\n        queue.put('from a child')",
                "child = context.Process(target=put)\nchild.start()\nprint(queue.get())",
                "child.join()",
            ],
            "from a child",
        ),
        (
            "a module beside the notebook",
            [
                "%%writefile helper.py\ndef answer(): return 'imported'",
                "import helper",
                "print(helper.answer())",
            ],
            "imported",
        ),
        (
            "a deeper recursion in a later cell",
            [
                "import sys\nsys.setrecursionlimit(5000)",
                "def deep(n): return n and 1 + deep(n - 1)",
                "print(deep(3000))",
            ],
            "3000",
        ),
        (
            "a picture of another kind",
            [
                "import io\nfrom PIL import Image\nfrom IPython.display import Image as Shown",
                "raw = io.BytesIO()\nImage.new('RGB', (3, 2)).save(raw, 'jpeg')",
                "Shown(data=raw.getvalue(), format='jpeg')",
            ],
            "image/jpeg",
        ),
        (
            "a picture that moves",
            [
                "import io\nfrom PIL import Image\nfrom IPython.display import Image as Shown",
                "raw = io.BytesIO()\nImage.new('P', (3, 2)).save(raw, 'gif')",
                "Shown(data=raw.getvalue(), format='gif')",
            ],
            "image/gif",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_what_works_in_a_notebook_works_here(name: str, cells: list[str], says: str) -> None:
    found = run([Execute(f"{name} {i}", cell) for i, cell in enumerate(cells)])
    assert not found.ended
    assert says in shown(found), shown(found)[-2000:]
    assert '"error"' not in shown(found), shown(found)[-2000:]


def test_shared_memory_has_a_size() -> None:
    fill = "import os\ntry:\n    with open('/dev/shm/x', 'wb') as file:\n"
    fill += "        for _ in range(40): file.write(bytes(1_000_000))\n"
    fill += "except OSError as error: print(error.errno, os.path.getsize('/dev/shm/x'))"
    found = run([Execute("a", fill)], Limits(shared_bytes=1 << 22))
    (output,) = found.outputs["a"]
    number, size = map(int, output["text"].split())
    assert (number, size <= 1 << 22) == (28, True)  # no space left on device


def test_a_student_may_call_things_like_those_of_python() -> None:
    names = "list next filter zip str map len isinstance getattr dict range sum sorted type"
    shadows = Execute("0", "\n".join(f"{name} = {name!r}" for name in names.split()))
    for question in PROBLEM_SET.questions:
        if question.by_hand:
            continue
        source = running.with_own_builtins(question.functions["answer"])
        # what is asked for is not there, and nothing else may be wrong
        found = run([shadows, Collect("a", source, {})])
        assert "not callable" not in found.failures.get("a", "")
    answer = "def answer(rows):\n    return {'a': list(map(str, zip(rows, range(len(rows)))))}"
    found = run([shadows, Collect("a", running.with_own_builtins(answer), {"rows": [1, 2]})])
    assert found.answers == {"a": {"a": ["(1, 0)", "(2, 1)"]}}


def test_pictures_are_dropped_before_answers() -> None:
    # as large as a picture of 700 by 700 points of noise
    show = "from IPython.display import Image, display\nimport io\nimport numpy as np\n"
    show += "from PIL import Image as Picture\nheld = io.BytesIO()\n"
    show += "dots = np.random.default_rng(0).integers(0, 256, (400, 400, 3)).astype('uint8')\n"
    show += "Picture.fromarray(dots).save(held, 'png')"
    pictures = [Execute(str(i), "display(Image(held.getvalue()))") for i in range(20)]
    texts = [Execute(f"text {i}", "print('é' * 64_000)") for i in range(20)]
    answer = Collect("a", "def answer():\n    return 7")
    found = run([Execute("-", show), *pictures, *texts, answer])
    assert (found.ended, found.answers) == ("", {"a": 7})
    kept = [each.key for each in pictures if "image/png" in json.dumps(found.outputs[each.key])]
    assert 0 < len(kept) < len(pictures)
    assert "this picture is left out" in shown(found)


def test_a_cell_that_runs_again_for_a_later_question_takes_no_time_of_the_students() -> None:
    limits = Limits(cpu_seconds=2, cell_seconds=60)
    work = "import time\nuntil = time.process_time() + {}\nwhile time.process_time() < until: pass"
    first, again = Execute("a", work.format(1.2)), Execute("b", work.format(1.2), "a")
    found = run([first, again, Collect("c", "def answer():\n    return 1")], limits)
    assert (found.ended, found.answers) == ("", {"c": 1})
    # and what takes far longer the second time is stopped as ever
    found = run([Execute("a", "1"), Execute("b", work.format(9), "a")], limits)
    assert (found.stopped_at, found.ended) == (
        "b",
        "the program took more than 2 s of processor time",
    )


# ------------------------------------------------------------------ what ran there and not here


def executed(answers: dict[str, str], *, error: bool = False, count: int | None = 3) -> bytes:
    """Return a notebook as Jupyter saves it after all cells ran."""
    notebook = json.loads(worked(PROBLEM_SET, "s1", answers, TINY))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = count
            if error:
                wrong = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
                cell["outputs"] = [wrong]
    return json.dumps(notebook).encode()


def marked(raw: bytes) -> Result:
    result = mark(Submission(STUDENT, "tiny", raw), PROBLEM_SET, Conditions({"tiny": 1}))
    assert result.status == "graded", result.message
    return result


# what no Python of the grader reads, in place of what only newer ones do
SYNTAX = 'variance = float(f"{"64"}")' if sys.version_info < (3, 12) else "variance = float("
NEWER = {
    "syntax": SYNTAX,
    "a statement": "type Number = float\nvariance = 1.0" if sys.version_info < (3, 12) else SYNTAX,
    "a package": "import something_that_is_not_here\nvariance = 1.0",
    "an import": "from numpy import something_gone\nvariance = 1.0",
    "an attribute": "variance = np.something_gone(1.0)",
    "an argument": "variance = np.sum([1.0], something_gone=2)",
    "a file": "open('measured.txt')",
    "a program": "import subprocess\nsubprocess.run(['program-that-is-not-here'])",
    "the net": "import urllib.request\nurllib.request.urlopen('http://example.org', timeout=1)",
    "a locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'xx_XX.UTF-8')",
    "a style": "import matplotlib.pyplot as plt\nplt.style.use('style-of-older-versions')",
}


@pytest.mark.parametrize("name", NEWER)
def test_what_ran_there_and_cannot_run_here_is_for_a_person(name: str) -> None:
    answers = {"q1": NEWER[name]}
    found, *others = marked(executed(answers)).marks
    assert found.points is None
    assert found.message.startswith(f"{FOR_A_PERSON} it ran with its author, and here not: ")
    assert [each.points for each in others] == [3, 1, None]
    # without a sign that it ran there, it is an answer that does not run
    for raw in (executed(answers, count=None), executed(answers, error=True)):
        assert marked(raw).marks[0].points == 0


def test_what_an_earlier_cell_lacks_here_is_for_a_person_too() -> None:
    notebook = json.loads(executed({"q3": "ordered = make()"}))
    place = next(i for i, each in enumerate(notebook["cells"]) if called(each) == "q3_text")
    source = "from numpy import something_gone\ndef make(): return something_gone()"
    own = {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}
    notebook["cells"].insert(place, own | {"execution_count": 7})
    assert [each.points for each in marked(json.dumps(notebook).encode()).marks][:3] == [2, 3, None]


def called(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


@pytest.mark.parametrize("gone", ["np.something_gone(scores)", "scores.ptp()"])
def test_what_a_function_asks_for_that_is_gone_is_for_a_person(gone: str) -> None:
    # the check catches what the function raises, and the cell itself runs
    source = f"def sharpen(scores, tau):\n    try:\n        return {gone}\n    except Exception:\n"
    source += "        return None"
    result = marked(executed({"q2": source}))
    name = gone.partition("(")[0].removeprefix("scores.")
    assert result.marks[1].points is None
    assert f"`{name}` is not there any more" in result.marks[1].message
    assert marked(executed({"q2": source}, count=None)).marks[1].points == 0
    # what is wrong for another reason is wrong, and nothing is imported to find that out
    wrong = "def sharpen(scores, tau):\n    return np.exp(scores).sum()"
    assert marked(executed({"q2": wrong})).marks[1].points == 0


def test_the_summary_counts_what_is_for_a_person() -> None:
    result = marked(executed({"q1": NEWER["a package"], "q3": NEWER["an import"]}))
    said = summary([result, marked(executed({"q1": NEWER["a package"]}))], PROBLEM_SET)
    assert "3 answers are for a person, as no program can mark them here: q1 (2), q3 (1)" in said
    assert "q1: 2 still to be marked by hand" in said


def test_names_are_looked_up_and_nothing_is_imported() -> None:
    head = "import numpy as np, matplotlib.pyplot as plt\nfrom numpy import linalg as la"
    there = (
        "np.sum, np.linalg.norm, la.norm, plt.plot, np.ndarray.sum, np.float64(1).any.x, np.f2py"
    )
    assert newer.gone(f"x = ({there})", [head]) == ""
    for name in ("np.float_", "np.in1d", "la.something_gone", "plt.something_gone"):
        assert newer.gone(f"f({name})", [head]) == name
    # what is no name of the packages is none of ours
    assert newer.gone("np = 3\nother.thing.here, plot.x", ["import other"]) == ""
    sys.modules.pop("numpy.f2py.__main__", None)
    assert newer.gone("np.f2py.__main__.main()", [head]) == ""
    assert "numpy.f2py.__main__" not in sys.modules


# ------------------------------------------------------------------ words in the wrong cell

PARAGRAPH = "Because the spread of the scores grows with the width of the head."


def edited(change: Callable[[dict[str, dict[str, Any]], list[dict[str, Any]]], None]) -> bytes:
    """Return a solved notebook whose paragraph is as it was given out, with something changed."""
    notebook = json.loads(worked(PROBLEM_SET, "s1", {"q4": STUB}, TINY))
    cells = {called(cell): cell for cell in notebook["cells"]}
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    change(cells, notebook["cells"])
    return json.dumps(notebook).encode()


STUB = PROBLEM_SET.by_name["q4"].source


def into(name: str, text: str) -> bytes:
    """Return a notebook in which something is written at the end of a cell."""
    return edited(lambda cells, _: cells[name].update(source=f"{cells[name]['source']}\n{text}"))


@pytest.mark.parametrize("name", ["q4_text", "q3_check", "q3_text"])
@pytest.mark.parametrize("mark", ["", "\n", "# ", "**My answer:** "])
def test_a_paragraph_in_another_cell_is_handed_to_the_marker(name: str, mark: str) -> None:
    result = marked(into(name, f"{mark}{PARAGRAPH}"))
    found = result.marks[3]
    assert (found.points, found.message) == (None, ELSEWHERE)
    cells, _ = autograded.read(result.notebook)
    (shown,) = [each for each in cells if PARAGRAPH in each.source]
    assert (shown.question, shown.role) == ("q4", "own")
    assert [each.points for each in result.marks[:3]] == [2, 3, 1]


def test_a_paragraph_in_a_cell_of_its_own_above_is_handed_over() -> None:
    def above(kind: str) -> Callable[..., None]:
        cell = {"cell_type": kind, "metadata": {}, "source": PARAGRAPH}
        cell |= {"outputs": [], "execution_count": None} if kind == "code" else {}
        return lambda _, cells: cells.insert(
            next(i for i, each in enumerate(cells) if called(each) == "q4_text"), cell
        )

    for kind in ("markdown", "code"):
        assert marked(edited(above(kind))).marks[3].points is None


def test_who_wrote_nothing_has_nothing() -> None:
    nothing = marked(edited(lambda *_: None))
    assert (nothing.marks[3].points, nothing.marks[3].message) == (0, UNTOUCHED)
    # a corrected word in the text of a question is nobody's answer
    fixed = edited(lambda cells, _: cells["q4_text"].update(source="## 4 A paragraph\n\nSay why."))
    assert marked(fixed).marks[3].points == 0
    # and who wrote into the cell itself is marked by it
    both = json.loads(into("q4_text", "and one more remark of mine for the course"))
    next(each for each in both["cells"] if called(each) == "q4")["source"] = PARAGRAPH
    assert marked(json.dumps(both).encode()).marks[3].message == ""


@pytest.mark.parametrize("name", ["q1_check", "q1_text"])
def test_a_number_beside_the_field_is_for_a_person(name: str) -> None:
    raw = json.loads(into(name, "variance = 97.0  # I think that it is this, by the first theorem"))
    stub = PROBLEM_SET.by_name["q1"].source
    next(each for each in raw["cells"] if called(each) == "q1")["source"] = stub
    found = marked(json.dumps(raw).encode()).marks[0]
    assert (found.points, found.message) == (None, f"{FOR_A_PERSON} {BESIDE}")
    # where the field is filled in, the program marks that
    assert (
        marked(into(name, "variance = 97.0  # see above, or not, as you like")).marks[0].points == 2
    )
