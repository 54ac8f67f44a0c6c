"""Right answers around which something is unusual keep their points, and causes are told first.

Each notebook is marked as in the grader, in the sandbox.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grading.intake.normalize import normalize
from grading.intake.sources import FILE_LIMIT, Folder
from grading.marking.submission import Conditions, mark
from grading.problem_set import read
from grading.release import worked
from grading.reports.student_pages import page_of
from grading.results import Result, Student, Submission
from grading.sandbox.sandbox import Limits, _own_paths

pytestmark = pytest.mark.proof("unusual")
SOURCE = Path(__file__).parent / "source"
TINY = read(SOURCE / "tiny" / "tiny.ipynb")
STUDENT = Student("s1", "", "Ada Example")
Q1 = 'variance = float(personal_numbers(student_id, "q1")["d_k"])\n'
LIMITS = Limits(cell_seconds=3, wall_seconds=14)
Notebook = dict[str, Any]

if TYPE_CHECKING:
    from grading.intake.sources import Content


def code(source: str) -> Notebook:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }


def written(answers: dict[str, str], setup: str = "", *behind: str) -> bytes:
    """Return a notebook with other answers, additions to its set-up, and cells behind all."""
    notebook = json.loads(worked(TINY, STUDENT.student_id, answers, SOURCE))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "setup":
            cell["source"] = "".join(cell["source"]) + setup
    notebook["cells"] += map(code, behind)
    return json.dumps(notebook).encode()


def marked(raw: bytes, limits: Limits = LIMITS) -> Result:
    conditions = Conditions({"tiny": 1}, limits)
    return mark(Submission(STUDENT, "tiny", raw), TINY, conditions)


def points(result: Result) -> list[float | None]:
    assert result.status == "graded", result.message
    return [each.points for each in result.marks]


def handed_in(folder: Path, raw: bytes) -> Content:
    """Return what is read of a file, or why nothing is."""
    (folder / "s1.ipynb").write_bytes(raw)
    source = Folder(folder)
    (file,) = source.files()
    with source.opened() as read_file:
        return read_file(file)


RIGHT = [2.0, 3.0, 1.0]


@pytest.mark.parametrize(
    "before",
    [
        "%matplotlib widget\n%matplotlib notebook\n%matplotlib qt\n",
        "%load_ext nb_black\n%config InlineBackend.figure_format = 'retina'\n%unheard_of\n",
        "%pip install seaborn\n%conda install seaborn\n",
        "import matplotlib, matplotlib.pyplot as plt\nmatplotlib.use('TkAgg')\nplt.plot([1, 2])\n",
        "get_ipython().run_line_magic('matplotlib', 'widget')\n",
    ],
)
def test_what_shows_or_installs_ends_no_cell(before: str) -> None:
    assert points(marked(written({"q1": before + Q1})))[:3] == RIGHT


def test_a_magic_of_a_whole_cell_that_is_not_here_leaves_its_cell() -> None:
    assert points(marked(written({"q1": f"%%unheard_of\n{Q1}"})))[:3] == RIGHT


def test_what_was_added_to_the_set_up_is_kept_and_what_was_changed_is_not() -> None:
    added = "\nfrom fractions import Fraction\n%matplotlib inline\nhalf = Fraction(1, 2)\n"
    raw = written({"q1": f"{Q1}variance = variance * float(half + half)\n"}, added)
    result = marked(raw)
    assert points(result)[:3] == RIGHT
    assert "what was added to it ran after it" in page_of(TINY, result)
    changed = added + "\ndef np():\n    return 0\nimport math as np\n"
    cells = {cell.name: cell for cell in normalize(written({}, changed), TINY).cells if cell.name}
    assert cells["setup"].source == TINY.by_name["setup"].source
    own = [cell.source for cell in normalize(written({}, changed), TINY).cells if not cell.name]
    assert own == ["%matplotlib inline\nfrom fractions import Fraction\nhalf = Fraction(1, 2)"]


def test_cells_behind_all_questions_take_no_time_from_functions() -> None:
    endless = "total = 0\nwhile True:\n    total += 1\n"
    result = marked(written({}, "", *[endless] * 6))
    assert points(result)[:3] == RIGHT
    assert "too long" in page_of(TINY, result)


def test_a_notebook_with_very_large_outputs_is_read_without_them(tmp_path: Path) -> None:
    notebook = json.loads(written({}))
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 10**7}}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [picture]
    raw = json.dumps(notebook).encode()
    assert len(raw) > 2 * FILE_LIMIT
    found, trouble = handed_in(tmp_path, raw)
    assert trouble is None
    assert found is not None
    assert len(found) < 100_000
    assert normalize(found, TINY) == normalize(written({}), TINY)


@pytest.mark.parametrize(
    ("begin", "piece", "times", "end", "why"),
    [
        (b"[", b'"a",', 6_000_000, b'"b"]', "20 MB and has more than 2,000,000 texts"),
        (b'["', b"a", 21_000_000, b'"]', "20 MB and cannot be read as a notebook"),
        (b"", b"{", 21_000_000, b"", "20 MB and has more than 1,000,000 parts"),
        (b'{"cells": [], "a": "', b"a", 21_000_000, b'"}', "20 MB, even without its outputs"),
        (b"", b"0", 100_000_001, b"", "100 MB"),
    ],
)
def test_what_stays_too_large_is_refused_for_the_reason_that_is_true(
    tmp_path: Path, begin: bytes, piece: bytes, times: int, end: bytes, why: str
) -> None:
    raw = begin + piece * times + end
    assert handed_in(tmp_path, raw) == (None, ("invalid", f"the file is larger than {why}"))


def test_letters_of_other_languages_do_not_make_a_notebook_larger(tmp_path: Path) -> None:
    notebook = json.loads(written({"q1": "é" * 9_000_000}))
    notebook["cells"][-1] |= {"outputs": [{"data": {"image/png": "A" * 10**7}}]}
    raw = json.dumps(notebook, ensure_ascii=False).encode()
    found, trouble = handed_in(tmp_path, raw)
    assert (trouble, found is not None) == (None, True)


def test_a_set_up_cell_that_nests_too_deep_is_the_original_one() -> None:
    for deep in (f"x = a{'.b' * 2500}", f"x = {'-' * 3000}1"):
        found = normalize(written({}, f"\n%matplotlib inline\n{deep}\n"), TINY)
        assert [cell.source for cell in found.cells if not cell.name] == ["%matplotlib inline"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("import pandas as pd\n" + Q1, "`pandas` is not there when this is marked"),
        ("import attnlib\n" + Q1, "`attnlib` is not there when this is marked"),
        ("variance = 1\nvariance = = 2\n", "SyntaxError in line 2: invalid syntax"),
        ("variance = None\nvariance = 1 / 0\n", "ZeroDivisionError: division by zero"),
        ("while True:\n    pass\n", "it took too long and was stopped"),
        ("variance = bytearray(10**10)\n", "all the memory"),
    ],
)
def test_the_cause_is_what_is_said_first(answer: str, words: str) -> None:
    (first, *_) = marked(written({"q1": answer})).marks
    assert first.points == 0
    assert words in first.message.partition("; the check says: ")[0]


def test_a_name_that_an_earlier_cell_did_not_bind_is_that_cells_fault() -> None:
    answers = {"q1": f"import pandas\nshared = 2\n{Q1}", "q2": "factor = 2 * shared\n"}
    second = marked(written(answers)).marks[1]
    assert second.message.startswith("an earlier cell stopped: `pandas` is not there")


def test_who_is_right_is_told_of_no_cause() -> None:
    (first, *_) = marked(written({"q1": f"{Q1}1 / 0\n"})).marks
    assert (first.points, first.message) == (2.0, "")


def test_no_folder_of_this_machine_is_in_what_students_see() -> None:
    tries = "import sys, json\nprint(sys.prefix, sys.base_prefix, json.__file__)\njson.loads('{')\n"
    result = marked(written({"q1": Q1 + tries}))
    assert "JSONDecodeError" in page_of(TINY, result)
    for path in _own_paths():
        assert path not in page_of(TINY, result)
        assert path not in result.notebook


def test_what_a_function_says_of_its_inputs_is_no_cause() -> None:
    answer = "def sharpen(scores, tau):\n    raise ValueError(str(scores))\n"
    second = marked(written({"q2": answer})).marks[1]
    assert second.message == "your function raised ValueError when the check called it"
