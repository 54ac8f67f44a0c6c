import ast
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.intake import normalize as module
from grading.intake.normalize import Invalid, Normalized, WorkCell, normalize
from grading.problem_set import Cell, ProblemSet, Question, read
from grading.release import worked

TITLE = "# Problem set 1\n\nThe rules are these."
NUMBERS = (
    'RANGES = {"q1": {"d_k": (48, 160)}}\n\n\ndef personal_numbers(student_id, question):\n    ...'
)
IDENTITY = 'student_id = ""  # between the quotes: your student number'
SETUP = "import numpy as np"
Q1_TEXT = "### 1 A variance\n\nWrite down the variance.\nIt is a number."
Q1 = "variance = None\n# your code here"
Q1_CHECK = (
    'assert variance is not None, "the variance has no value"\nassert variance > 0, "a square"'
)
Q2_TEXT = "### 2 A function\n\nWrite a function that sharpens scores.\nIt returns weights."
Q2 = 'def sharpen(scores, factor):\n    """Return sharper weights."""\n    # your code here'
Q2_CHECK = 'weights = sharpen([1.0, 2.0], 2.0)\nassert len(weights) == 2, "as many as scores"'
Q3_TEXT = "### 3 A paragraph\n\nExplain it in your words."
Q3 = "*Your paragraph here.*"

PRISTINE = (
    Cell("text 0", "text", "markdown", TITLE),
    Cell("numbers", "locked", "code", NUMBERS),
    Cell("identity", "identity", "code", IDENTITY),
    Cell("setup", "locked", "code", SETUP),
    Cell("q1_text", "locked", "markdown", Q1_TEXT),
    Cell("q1", "answer", "code", Q1),
    Cell("q1_check", "check", "code", Q1_CHECK),
    Cell("q2_text", "locked", "markdown", Q2_TEXT),
    Cell("q2", "answer", "code", Q2),
    Cell("q2_check", "check", "code", Q2_CHECK),
    Cell("q3_text", "locked", "markdown", Q3_TEXT),
    Cell("q3", "by hand", "markdown", Q3),
)
PROBLEM_SET = ProblemSet(
    "problem_set_1",
    PRISTINE,
    (Question("q1", 2), Question("q2", 3), Question("q3", 4, by_hand=True)),
)
NAMES = [cell.name for cell in PRISTINE]
MY_ID = 'student_id = "s1"  # between the quotes: your student number'
MY_Q1 = "variance = 64.0"
MY_Q2 = 'def sharpen(scores, factor):\n    """Return sharper weights."""\n    return scores'
MY_Q3 = "The sum has as many terms as the width."
MINE = {"identity": MY_ID, "q1": MY_Q1, "q2": MY_Q2, "q3": MY_Q3}


def cell(source, name=None, kind="code", **more):
    metadata = {"nbgrader": {"grade_id": name, "schema_version": 3}} if name else {}
    made = {"cell_type": kind, "metadata": metadata, "source": source}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made | more


class Notebook:
    """A submission that the tests take apart."""

    def __init__(self, **answers):
        answers = MINE | answers
        self.cells = [
            cell(
                answers.get(each.name, each.source),
                None if each.role == "text" else each.name,
                each.kind,
            )
            for each in PRISTINE
        ]
        self.rest = {"metadata": {}, "nbformat": 4, "nbformat_minor": 5}

    def place(self, name):
        return NAMES.index(name)

    def __getitem__(self, name):
        return self.cells[self.place(name)]

    def after(self, name, *cells):
        self.cells[self.place(name) + 1 : self.place(name) + 1] = cells
        return self

    def without_metadata(self, *names):
        for i, each in enumerate(self.cells):
            if not names or (i < len(NAMES) and NAMES[i] in names):
                each["metadata"] = {}
        return self

    def without(self, *names):
        self.cells = [each for i, each in enumerate(self.cells) if NAMES[i] not in names]
        return self

    def raw(self):
        return json.dumps({"cells": self.cells} | self.rest).encode()

    def normalized(self):
        return normalize(self.raw(), PROBLEM_SET)


def sources(normalized):
    return {each.name: each.source for each in normalized.cells if each.name}


def own(normalized):
    return [(each.source, each.question) for each in normalized.cells if each.role == "own"]


def expected(**answers):
    return {each.name: (MINE | answers).get(each.name, each.source) for each in PRISTINE}


def lost(cells):
    return f"the {cells} had lost the name; the place and the text told which it is"


def changed(name):
    return f"the cell {name} was changed; the original one was used"


def missing(name):
    return f"the cell {name} was missing; it counts as not filled in"


def becomes(notebook, *notes, own_cells=(), **answers):
    """Check what a notebook becomes: answers, cells of the student's own, and notes."""
    normalized = notebook.normalized()
    assert sources(normalized) == expected(**answers)
    assert own(normalized) == list(own_cells)
    assert normalized.notes == notes
    return normalized


# what stays as it is


def test_answers_come_into_the_cells_of_the_problem_set():
    normalized = becomes(Notebook())
    assert [(each.name, each.role, each.kind) for each in normalized.cells] == [
        (each.name, each.role, each.kind) for each in PRISTINE
    ]
    assert normalized.typed_id == "s1"


def test_cells_know_their_questions():
    questions = {each.name: each.question for each in Notebook().normalized().cells}
    assert questions == {name: name[:2] if name[0] == "q" else None for name in NAMES}


def test_whatever_is_between_text_and_check_belongs_to_the_question():
    inner = Cell("inner", "locked", "code", "INNER = [1, 2]")
    outer = Cell("outer", "locked", "code", "OUTER = [1, 2]")
    cells = (*PRISTINE[:5], inner, *PRISTINE[5:7], outer, *PRISTINE[7:])
    problem_set = ProblemSet("problem_set_1", cells, PROBLEM_SET.questions)
    normalized = normalize(Notebook().raw(), problem_set)
    questions = {each.name: each.question for each in normalized.cells}
    assert (questions["inner"], questions["outer"]) == ("q1", None)


def test_an_empty_submission_has_the_stubs():
    stubs = {each.name: each.source for each in PRISTINE}
    assert becomes(Notebook(**stubs), **stubs).typed_id == ""


def test_sources_may_be_lists_of_lines():
    notebook = Notebook()
    for each in notebook.cells:
        each["source"] = each["source"].splitlines(keepends=True)
    assert sources(notebook.normalized()) == expected()


def test_line_ends_and_blanks_at_them_are_no_change():
    notebook = Notebook()
    for each in notebook.cells:
        each["source"] = each["source"].replace("\n", "  \r\n") + "\r\n"
    normalized = notebook.normalized()
    assert normalized.notes == ()
    assert "\r" not in "".join(each.source for each in normalized.cells)


def test_a_byte_order_mark_does_no_harm():
    assert normalize(b"\xef\xbb\xbf" + Notebook().raw(), PROBLEM_SET).typed_id == "s1"


def test_outputs_points_and_metadata_do_not_matter():
    notebook = Notebook()
    for each in notebook.cells:
        each["outputs"] = [{"output_type": "nonsense", "data": [1] * 1000}, None]
        each["metadata"]["nbgrader"] = {
            "grade_id": each["metadata"].get("nbgrader", {}).get("grade_id"),
            "points": 1e9,
            "locked": "no",
            "schema_version": 1,
        }
        each["attachments"] = {"x": 3}
        each["id"] = 7
    notebook.rest["metadata"] = {"nbgrader": {"points": 5}}
    becomes(notebook)


# the student's own cells


def test_own_cells_stay_where_they_were_and_belong_to_a_question_until_its_check():
    notebook = Notebook()
    notebook.after("q3", cell("my end", kind="raw"))
    notebook.after("q3_text", cell("before the paragraph", kind="markdown"))
    notebook.after("q2_check", cell("after_check_2"))
    notebook.after("q2", cell("after_2"), cell(" \n"))
    notebook.after("q2_text", cell("helper = 1"))
    notebook.after("setup", cell("import math"))
    notebook.cells.insert(0, cell("first"))
    normalized = notebook.normalized()
    assert own(normalized) == [
        ("first", None),
        ("import math", None),
        ("helper = 1", "q2"),
        ("after_2", "q2"),
        ("after_check_2", None),
        ("before the paragraph", "q3"),
        ("my end", "q3"),
    ]
    order = [each.name or each.source for each in normalized.cells]
    assert order.index("helper = 1") == order.index("q2_text") + 1
    assert order.index("after_2") == order.index("q2") + 1
    assert normalized.cells[0] == WorkCell(None, "own", "code", "first", None)
    assert normalized.cells[-1].kind == "markdown"


def test_reordered_cells_come_in_the_order_of_the_problem_set():
    notebook = Notebook().after("q1", cell("mine"))
    notebook.cells.reverse()
    normalized = becomes(notebook, own_cells=[("mine", None)])
    assert [each.name for each in normalized.cells if each.name] == NAMES


# what is mended


def test_changed_locked_cells_are_the_original_ones():
    notebook = Notebook()
    notebook["q1_check"]["source"] = "pass"
    notebook["numbers"]["source"] += "\nRANGES = {}"
    notebook["q2_text"]["cell_type"] = "code"
    becomes(notebook, changed("numbers"), changed("q1_check"), changed("q2_text"))


def test_deleted_cells_are_the_original_ones():
    normalized = becomes(
        Notebook().without("identity", "q1", "q1_check", "text 0", "q3"),
        missing("identity"),
        missing("q1"),
        "the cell q1_check was missing; the original one was used",
        missing("q3"),
        identity=IDENTITY,
        q1=Q1,
        q3=Q3,
    )
    assert normalized.typed_id == ""


@pytest.mark.parametrize("place", ["numbers", "q1", "q3"])
def test_of_copies_the_one_that_is_filled_in_counts(place):
    becomes(Notebook().after(place, cell(Q1, "q1"), cell(MY_Q1, "q1")))


def test_of_copies_with_different_contents_all_run_and_the_last_counts():
    notebook = Notebook().after("q1_check", cell("variance = 1", "q1"), cell("mine"))
    note = (
        "the cell q1 came 2 times with different contents; all were run in their order, and the "
        "last one counts"
    )
    becomes(notebook, note, own_cells=[(MY_Q1, "q1"), ("mine", "q1")], q1="variance = 1")


def test_a_cell_that_was_split_keeps_both_halves():
    notebook = Notebook(q2="def helper():\n    return 1")
    notebook.after("q2", cell("def sharpen(scores, factor):\n    return helper()", "q2"))
    normalized = notebook.normalized()
    assert own(normalized) == [("def helper():\n    return 1", "q2")]
    assert "helper()" in sources(normalized)["q2"]


def test_paragraphs_that_came_several_times_are_joined():
    becomes(
        Notebook().after("q3", cell("And so on.", "q3", "markdown")),
        "the cell q3 came 2 times; its texts were joined",
        q3=f"{MY_Q3}\n\nAnd so on.",
    )


def test_copies_of_checks_do_not_matter():
    normalized = Notebook().after("q1", cell("variance = 1", "q1_check")).normalized()
    # a number in another cell than that for it does not run, and is there for a person to see
    (beside,) = [each for each in normalized.cells if each.beside]
    assert (beside.kind, beside.source, beside.question) == ("markdown", "variance = 1", "q1")
    assert sources(normalized) == expected()
    assert normalized.notes == (
        f"{changed('q1_check')}, and what was written into it is shown below it",
    )


@pytest.mark.parametrize("kind", ["markdown", "raw", "something"])
def test_a_retyped_answer_is_used_all_the_same(kind):
    notebook = Notebook()
    notebook["q1"]["cell_type"] = kind
    notebook["q3"]["cell_type"] = "code"
    normalized = becomes(
        notebook,
        "the cell q1 came as a cell of another type; its text was used",
        "the cell q3 came as a cell of another type; its text was used",
    )
    assert [each.kind for each in normalized.cells if each.name in ("q1", "q3")] == [
        "code",
        "markdown",
    ]


def test_of_copies_the_one_of_the_right_type_counts():
    normalized = Notebook().after("q1", cell("my *remark*", "q1", "markdown")).normalized()
    assert sources(normalized) == expected()


def test_one_renamed_cell_is_recognized_by_its_place():
    notebook = Notebook()
    notebook["q1"]["metadata"]["nbgrader"]["grade_id"] = "cell-0123"
    notebook["q2"]["metadata"] = {}
    notebook["q3"]["metadata"] = {"nbgrader": "?"}
    becomes(notebook, lost("cells q1, q2, q3"))


def test_a_notebook_without_metadata_is_recognized():
    notebook = Notebook()
    notebook["q1_check"]["source"] += "\nprint(variance)"
    notebook["q2_check"]["source"] = notebook["q2_check"]["source"].upper()
    notebook.after("q2", cell("mine = 2"))
    normalized = notebook.without_metadata().normalized()
    assert sources(normalized) == expected()
    assert lost("cells identity, q1, q2, q3") in normalized.notes
    assert ("mine = 2", "q2") in own(normalized)
    assert changed("q1_check") in normalized.notes


def test_of_nameless_cells_the_one_like_the_stub_is_the_answer():
    becomes(
        Notebook().after("q2_text", cell("helper = 1"), cell("other = 2")).without_metadata(),
        lost("cells identity, q1, q2, q3"),
        own_cells=[("helper = 1", "q2"), ("other = 2", "q2")],
    )


def test_of_several_like_the_stub_the_one_most_like_it_is_the_answer():
    draft = "def sharpen(scores, factor):\n    return factor"
    notebook = Notebook().after("q2_text", cell(draft)).without_metadata("q2_text")
    notebook.cells[notebook.place("q2") + 1]["metadata"] = {}
    becomes(notebook, lost("cell q2"), own_cells=[(draft, "q2")])


def test_a_place_between_cells_that_are_not_there_tells_nothing():
    becomes(
        Notebook().without("q1_text", "q1", "setup").after("identity", cell("mine")),
        "the cell setup was missing; the original one was used",
        "the cell q1_text was missing; the original one was used",
        missing("q1"),
        own_cells=[("mine", None)],
        q1=Q1,
    )


def test_a_copy_of_another_cell_is_not_taken_for_an_answer():
    notebook = Notebook().after("q1_text", cell(SETUP, "setup"))
    del notebook.cells[notebook.place("q1") + 1]
    assert sources(notebook.normalized()) == expected(q1=Q1)


def test_an_identity_without_a_name_is_told_by_what_it_assigns():
    notebook = Notebook().after("numbers", cell("import math\nif student_id == 1: ..."))
    normalized = notebook.without_metadata("identity").normalized()
    assert normalized.typed_id == "s1"
    assert sources(normalized) == expected()


def test_an_untouched_notebook_without_metadata_is_recognized():
    stubs = {each.name: each.source for each in PRISTINE}
    assert sources(Notebook(**stubs).without_metadata().normalized()) == stubs


def test_stubs_that_are_all_alike_are_told_by_their_places():
    cells = tuple(
        Cell(each.name, each.role, each.kind, "# your code here")
        if each.name in ("q1", "q2")
        else each
        for each in PRISTINE
    )
    problem_set = ProblemSet("problem_set_1", cells, PROBLEM_SET.questions)
    notebook = Notebook(q1="# your code here").without_metadata()
    assert sources(normalize(notebook.raw(), problem_set)) == expected(q1="# your code here")


def test_a_deleted_answer_is_not_taken_from_elsewhere():
    notebook = Notebook().after("q1_check", cell("mine")).without_metadata()
    del notebook.cells[notebook.place("q1")]
    normalized = notebook.normalized()
    assert sources(normalized) == expected(q1=Q1)
    assert missing("q1") in normalized.notes


@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_characters_that_are_no_text_are_replaced(character):
    normalized = becomes(
        Notebook(q1=f"variance = 1  # {character}").after("q1", cell(f'x = "{character}"')),
        "characters that are not text were replaced by \ufffd",
        own_cells=[('x = "\ufffd"', "q1")],
        q1="variance = 1  # \ufffd",
    )
    json.dumps([each.source for each in normalized.cells], ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "R", "name": "ir"}},
        {"language_info": {"name": "R"}, "kernelspec": {"language": "python"}},
    ],
)
def test_another_language_is_noted_only(metadata):
    notebook = Notebook()
    notebook.rest["metadata"] = metadata
    becomes(notebook, "the notebook says that it is written in r; it was run as Python")


@pytest.mark.parametrize(
    "metadata",
    [None, 3, {"kernelspec": 3}, {"kernelspec": {"language": "Python"}, "language_info": []}],
)
def test_odd_metadata_do_no_harm(metadata):
    notebook = Notebook()
    notebook.rest["metadata"] = metadata
    for each in notebook.after("q1", cell("mine")).cells:
        if "nbgrader" not in each["metadata"]:
            each["metadata"] = {"nbgrader": {"grade_id": ["q1"]}}
    assert notebook.normalized().notes == ()


# the identity


@pytest.mark.parametrize(
    ("source", "typed"),
    [
        ('student_id = "s1"', "s1"),
        ("student_id = ' s1\\n'", "s1"),
        ('student_id: str = "s1"', "s1"),
        ('x = 1\nstudent_id = "s1"\nstudent_id = "s2"', "s2"),
        ("student_id = 123", "123"),
        ('student_id = ""', ""),
        ('student_id = "a\\ud800\\u202eb"', "ab"),
        ('other = student_id = "s1"', "s1"),
        ("student_id = 007", None),
        ("student_id = s1", None),
        ("student_id = f'{x}'", None),
        ("student_id = 's' + '1'", None),
        ("student_id = True", None),
        ("student_id = 1.5", None),
        ("student_id = None", None),
        ("student_id: str", None),
        ("student_id += '1'", None),
        ("student_id = 's1'\nfor student_id in 'ab':\n    pass", None),
        ("student_id = input()", None),
        ("print('s1')", None),
        ("student_id = 's1", None),
        ("student_id = '\\N{nothing}'", None),
        ("student_id = '\\d'", "\\d"),
        ("if True:\n    student_id = 's1'", None),
        ("student_id = " + "(" * 900, None),
        ("student_id = " + "-" * 1900 + "1", None),
        ("student_id = " + "a." * 900 + "a", None),
        ("student_id = 's1'" + " " * 2000, None),
        ("student_id = 's1'\0", None),
    ],
)
def test_the_typed_identity_is_a_literal_or_nothing(source, typed):
    assert Notebook(identity=source).normalized().typed_id == typed


def test_an_identity_in_two_cells_is_the_last():
    notebook = Notebook().after("identity", cell('student_id = "s2"', "identity"))
    assert notebook.normalized().typed_id == "s2"


def test_a_problem_set_without_identity_has_an_empty_one():
    cells = tuple(each for each in PRISTINE if each.role != "identity")
    problem_set = ProblemSet("problem_set_1", cells, PROBLEM_SET.questions)
    assert normalize(Notebook().raw(), problem_set).typed_id == ""


# what is refused


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"%PDF-1.7", "not JSON"),
        (b"PK\3\4\xff", "not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b"<html></html>", "not JSON"),
        (b'{"cells": [', "not JSON"),
        (b'{"nbformat": ' + b"1" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a":' * 100_000, "nested too deep"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        ([(b"[],\n", 1_000_001)], "more than 1,000,000 parts"),
        ([(b'"a",', 2_000_001)], "more than 2,000,000 texts"),
        ([(b"1,", 9_000_000), (b",,", 600_000)], "more than 10,000,000 entries"),
        (b"[]", "JSON, but not a notebook"),
        (b"null", "JSON, but not a notebook"),
        (b"{}", "notebook of format nobody knows which; wanted 4"),
        (b'{"nbformat": 5, "cells": []}', "format 5; wanted 4"),
        (b'{"nbformat": 2, "worksheets": []}', "format 2; wanted 4"),
        (b'{"nbformat": NaN}', "format nan; wanted 4"),
        (b'{"nbformat": [[]]}', "format nobody knows which; wanted 4"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"nbformat": 4, "cells": {}}', "no list of cells"),
        (b'{"nbformat": 3, "worksheets": []}', "format 3; wanted 4"),
        (b'{"nbformat": 4, "cells": [3]}', "cell 1 is not a cell"),
        (b'{"nbformat": 4, "cells": [{}, {"source": 3}]}', "source of its cell 2 is not text"),
        (b'{"nbformat": 4, "cells": [{"source": null}]}', "source of its cell 1 is not text"),
        (b'{"nbformat": 4, "cells": [{"source": ["a", 1]}]}', "source of its cell 1 is not text"),
        (b'{"nbformat": 4, "cells": []}', "no question of problem_set_1$"),
    ],
)
def test_what_is_no_notebook_is_refused(raw, words):
    # what is long is made here, since each worker holds every parameter
    long = b"".join(piece * times for piece, times in raw) if isinstance(raw, list) else raw
    with pytest.raises(Invalid, match=words):
        normalize(long, PROBLEM_SET)


def test_limits_hold():
    with pytest.raises(Invalid, match="the file is larger than 20 MB"):
        normalize(b"x" * 20_000_001, PROBLEM_SET)
    with pytest.raises(Invalid, match="its cell 6 is larger than 1 MB"):
        Notebook(q1="é" * 500_001).normalized()
    with pytest.raises(Invalid, match="larger than 5 MB together"):
        Notebook().after("q1", *[cell("x" * 999_999)] * 6).normalized()
    with pytest.raises(Invalid, match="it has 2001 cells; at most 2000 are graded"):
        Notebook().after("q1", *[cell("x")] * (2001 - len(PRISTINE))).normalized()


def test_large_outputs_are_no_reason_to_refuse():
    notebook = Notebook()
    notebook["q1"]["outputs"] = [{"data": {"image/png": "A" * 10_000_000}}]
    assert sources(notebook.normalized()) == expected()


def test_another_notebook_is_refused_with_its_title():
    raw = {
        "nbformat": 4,
        "cells": [cell("x\n## My  \x1b[2J diary", kind="markdown"), cell(SETUP), cell("x", "q9")],
    }
    with pytest.raises(
        Invalid, match=r"no question of problem_set_1; it is called 'My \[2J diary'"
    ):
        normalize(json.dumps(raw).encode(), PROBLEM_SET)


def test_another_problem_set_with_the_same_names_is_refused():
    notebook = Notebook()
    notebook.cells[0]["source"] = "# Problem set 2"
    for each in notebook.cells[4:]:
        each["source"] = "\n".join(f"other {line}" for line in each["source"].splitlines())
    with pytest.raises(
        Invalid, match="another problem set than problem_set_1; it is called 'Problem set 2'"
    ):
        notebook.normalized()


def test_a_problem_set_most_of_whose_texts_are_right_is_not_another():
    notebook = Notebook()
    notebook["q1_text"]["source"] = notebook["q2_check"]["source"] = "mine"
    assert sources(notebook.normalized()) == expected()


def test_a_notebook_of_the_answers_alone_is_graded():
    names = [name for name in NAMES if name not in MINE]
    assert sources(Notebook().without(*names).normalized()) == expected()


def test_hard_cases_take_no_time_to_compare():
    notebook = Notebook().without_metadata()
    notebook.after("q1_text", *[cell("a\n" * 1000 + f"{i}") for i in range(1900)])
    assert sources(notebook.normalized())["q2"] == MY_Q2


# whatever comes


def outcome(raw):
    try:
        normalized = normalize(raw, PROBLEM_SET)
    except Invalid as invalid:
        assert "\n" not in str(invalid)  # noqa: PT017, both ways out are right
        str(invalid).encode()
        return None
    assert isinstance(normalized, Normalized)
    assert [each.name for each in normalized.cells if each.name] == NAMES
    locked = {each.name: each.source for each in PRISTINE if each.role not in module.FILLED_IN}
    assert locked.items() <= sources(normalized).items()
    json.dumps([[each.source for each in normalized.cells], normalized.notes]).encode()
    repr(normalized).encode()
    "".join(each.source for each in normalized.cells).encode()
    return normalized


EVERY_TIME_THE_SAME = settings(max_examples=100, deadline=None, derandomize=True, database=None)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "nbformat", "metadata", "nbgrader", "grade_id", "source"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
CELLS = st.builds(
    cell,
    ANY_TEXT | st.sampled_from([each.source for each in PRISTINE]) | st.lists(ANY_TEXT, max_size=3),
    st.none() | st.sampled_from([*NAMES, "q1_", "other"]),
    st.sampled_from(["code", "markdown", "raw", ""]),
)


@EVERY_TIME_THE_SAME
@given(st.binary())
def test_any_bytes_are_refused_or_read(raw):
    outcome(raw)


@EVERY_TIME_THE_SAME
@given(JSON, st.sampled_from([None, 3, 4]))
def test_any_json_is_refused_or_read(document, version):
    if isinstance(document, dict) and version:
        document["nbformat"] = version
    outcome(json.dumps(document).encode())


@EVERY_TIME_THE_SAME
@given(st.lists(CELLS | JSON, max_size=8), JSON)
def test_any_cells_are_refused_or_read(cells, metadata):
    outcome(json.dumps({"nbformat": 4, "metadata": metadata, "cells": cells}).encode())


@EVERY_TIME_THE_SAME
@given(st.permutations(Notebook().cells), st.lists(CELLS, max_size=4), st.integers(0, 12))
def test_any_notebook_of_this_problem_set_is_read(cells, more, dropped):
    raw = json.dumps({"nbformat": 4, "metadata": {}, "cells": more + cells[dropped:]}).encode()
    normalized = outcome(raw)
    if dropped == 0 and not more:
        assert sources(normalized) == expected()


def test_a_given_cell_of_a_megabyte_is_not_looked_through(monkeypatch: pytest.MonkeyPatch):
    looked_at: list[int] = []
    added = module._bound

    def counted(node: ast.stmt) -> set[str]:
        looked_at.append(1)
        return added(node)

    monkeypatch.setattr(module, "_bound", counted)
    tiny = read(Path(__file__).parent / "source" / "tiny" / "tiny.ipynb")
    notebook = json.loads(worked(tiny, "s1", {}, Path(__file__).parent / "source"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "numbers":
            cell["source"] = "%time\n" + "x = 1\n" * 160_000
    found = normalize(json.dumps(notebook).encode(), tiny)
    assert len(looked_at) < 1000
    assert any("numbers was" in note for note in found.notes)


def test_how_much_is_read_as_python_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    # what is read here is read outside of the sandbox, and a megabyte of it takes seconds
    read_here: list[int] = []
    parse = ast.parse

    def counted(source: str) -> ast.Module:
        read_here.append(len(source))
        return parse(source)

    path = Path(__file__).parent / "source" / "tiny" / "tiny.ipynb"
    tiny = read(path)
    notebook = json.loads(worked(tiny, "s1", {"q4": ""}, path.parents[1]))
    cells = notebook["cells"]
    numbers = next(
        each for each in cells if each["metadata"].get("nbgrader", {}).get("grade_id") == "numbers"
    )
    given = "".join(numbers["source"])
    cells += [numbers | {"source": f"{given}\n{'z = 1;' * 7000}{i}"} for i in range(30)]
    place = len(cells) - 32
    own = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells[place:place] = [own | {"source": f"{'x = 1;' * 7000}{i}"} for i in range(30)]
    cells[place:place] = [own | {"source": "These words stand in a cell of code."}]
    monkeypatch.setattr(module.ast, "parse", counted)
    found = normalize(json.dumps(notebook).encode(), tiny)
    assert 0 < sum(read_here) <= 3 * module.READ_LIMIT
    assert any(cell.beside and cell.source.startswith("These words") for cell in found.cells)
