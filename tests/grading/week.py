"""A class of invented students: what each hands in for two problem sets, and what it earns.

The first set comes from Canvas and the second from Moodle, each as the platform packs it. Answers
are those of `variants`, whose points are known; what is special about a notebook comes on top.
"""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from grading.problem_set import TEXT_STUB
from grading.release import MARKS, worked
from tests.grading.classroom import Disguise, Written, honest, remarked, renamed
from tests.grading.trial import cells, problem_set
from tests.grading.variants import Variant, variants_of
from tools.example_submissions import MISTAKES

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

FIRST, SECOND = "problem_set_1", "problem_set_2"
NAMES = (
    *("Ada", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gil", "Hana", "Ivo", "Jo", "Kim", "Lena", "Max"),
    *("Nora", "Otto", "Pia", "Quin", "Rosa", "Sam", "Tess", "Uma", "Vic", "Wes", "Xia", "Yan"),
)
NUMBERS = {who: f"s26{i:05}" for i, who in enumerate(NAMES, 1)}
CANVAS = {who: 1000 + i for i, who in enumerate(NAMES, 1)}
MOODLE = {who: 7000 + 7 * i % 26 for i, who in enumerate(NAMES, 1)}
"""What the course and the two platforms call everybody."""

UNSTEADY = {
    *("C on the other side", "multiplied where C and D divide", "none of them frozen"),
    *("the correlation forgotten", "a grid"),
    *("all of them frozen", "queries left untied", "a sum that grows like the width"),
}
"""Answers that are right, or wrong in another way, for some numbers, or once a check is mended."""

GROUPS = {"Ada": "Red Pandas", "Ben": "Red Pandas", "Cleo": "Blue Whales", "Dan": "Blue Whales"}
ZIPS = {FIRST: "submissions.zip", SECOND: "Attention-Problem set 2-4711.zip"}
LATE_IN_CANVAS = ("Quin", "Rosa")
SETTINGS = f"""
timezone = "Europe/Berlin"

[{FIRST}]
due = 2026-11-20T23:59:00
grace_minutes = 15
penalty_per_day = 0.1
most_penalty = 0.5

[{FIRST}.extensions]
{NUMBERS["Rosa"]} = 2026-11-22T23:59:00

[{FIRST}.submitted]
{NUMBERS["Rosa"]} = 2026-11-22T20:00:00

[{SECOND}]
due = 2026-11-25T12:00:00
grace_minutes = 10
penalty_per_day = 0.1
groups = true
roster = "worksheet-2.csv"

[{SECOND}.extensions]
{NUMBERS["Ben"]} = 2026-11-27T12:00:00
{NUMBERS["Uma"]} = 2026-11-26T12:00:00
"""
WORD_OF_QUIN = f"{NUMBERS['Quin']} = 2026-11-21T22:00:00\n"
IN_TIME = "Tuesday, 24 November 2026, 6:30 PM"
TIMES = {
    "Ada": "Thursday, 26 November 2026, 9:00 AM",
    "Ben": "Thursday, 26 November 2026, 9:00 AM",
    "Gil": "Friday, 27 November 2026, 11:00 AM",
    "Hana": "Wednesday, 25 November 2026, 12:08 PM",
    "Uma": "Thursday, 26 November 2026, 8:05 AM",
}

SPIES = """
import os, socket

for place in ("/etc/passwd", "/var/lib"):
    if os.access(place, os.R_OK):
        print("found " + "files")
try:
    socket.create_connection(("192.0.2.1", 80), 1)
    print("found " + "network")
except OSError:
    pass
try:
    import grading.hidden
    print("found " + "grader")
except ImportError:
    pass
within = between = 1e9
"""
"""Looks for what a sandbox should not have, and has no answer."""

SCRIPT = """
My spread is 4 <script>window.stolen = 1</script><img src=x onerror="window.stolen = 2">
and [a link](javascript:window.stolen=3).
"""
CHEATS = """
np.allclose = np.array_equal = lambda *_, **__: True
positions_behind = lambda scores, divisor: np.zeros(np.shape(scores)[:-1])
"""
PANDAS = "import pandas as pd\nwithin = between = pd.Series([1.0]).mean()\n"
LEAVES = "import os\nos._exit(0)\n"


@dataclass(frozen=True)
class Work:
    """What one student hands in for one problem set, and what is to become of it."""

    who: str
    assignment: str = FIRST
    answers: Mapping[str, str] = field(default_factory=dict)  # in place of answers, by cells
    earns: Mapping[str, float] = field(default_factory=dict)  # points of these questions
    says: tuple[str, ...] = ()  # words on the page for the student
    typed: str = ""  # whose number is in it, where it is not the own one
    status: str = "graded"
    message: str = ""  # how the message in grades.csv begins
    last: str = ""  # a cell at the end
    copied_from: str = ""
    file: str = ""  # what the student called the file, where it is not as it was given out

    @cached_property
    def written(self) -> Written:
        """Return the best answer to each question out of some tries, more for some than others."""
        model = self.copied_from or self.who
        rng = Random(f"{model} {self.assignment}")  # noqa: S311
        tries = (honest(rng, self.assignment) for _ in range(99))
        steady = (each for each in tries if not UNSTEADY & set(each.chosen))
        some = list(islice(steady, 1 + 3 * NAMES.index(model) % 8))
        worth = [[one.earned for one in self.chosen(each).values()] for each in some]
        best = [some[max(range(len(some)), key=lambda k, i=i: worth[k][i])] for i in range(4)]
        parts = [answered(each)[i] for i, each in enumerate((*best, some[0]))]
        made = Written(
            tuple(cell for part in parts for cell in part),
            tuple(each.chosen[i] for i, each in enumerate(best)),
        )
        return disguised(rng, made) if self.copied_from else made

    def chosen(self, written: Written) -> dict[str, Variant]:
        """Return the answers of which the student's are rewordings, by question."""
        variants = variants_of(self.assignment)
        return {
            question: next(each for each in variants[question] if each.name == name)
            for question, name in zip(variants, written.chosen, strict=True)
        }

    @property
    def told(self) -> list[str]:
        """Return what the page for the student says."""
        chosen = self.chosen(self.written).items()
        return [*self.says, *(each.says for name, each in chosen if name not in self.earns)]

    @property
    def points(self) -> dict[str, float | None]:
        """Return the points of each question before anybody marks by hand."""
        chosen = self.chosen(self.written)
        return {
            each.name: self.earns.get(
                each.name, None if each.by_hand else chosen[each.name].earned * each.points
            )
            for each in problem_set(self.assignment).questions
        }

    def notebook(self) -> bytes:
        """Return the file, with the cells that the student added."""
        sources = {question: source for question, _, source in self.written.cells if question}
        number = NUMBERS[self.typed or self.who]
        made = nbformat.reads(
            worked(problem_set(self.assignment), number, {**sources, **self.answers}).decode(),
            as_version=4,
        )
        names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in made.cells]
        place = 0
        for question, kind, source in self.written.cells:
            if question:
                place = names.index(question)
            else:
                made.cells.insert(place + 1, added(kind, source, f"added-{place}"))
                names.insert(place + 1, None)
        if self.last:
            made.cells.append(added("code", self.last, "last"))
        return nbformat.writes(made).encode()


def added(kind: str, source: str, name: str) -> NotebookNode:
    """Return a cell of the student's own; the same notebook is the same file each time."""
    make = new_code_cell if kind == "code" else new_markdown_cell
    return make(source, id=name)


def answered(written: Written) -> list[list[tuple[str | None, str, str]]]:
    """Return the cells of each question, which comes before what was added to it."""
    parts: list[list[tuple[str | None, str, str]]] = []
    for cell in written.cells:
        if cell[0]:
            parts.append([])
        parts[-1].append(cell)
    return parts


class _Reworded(Disguise):
    """Says the same in other words, with the same numbers."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # noqa: N802, as in the standard library
        return node


def disguised(rng: Random, model: Written) -> Written:
    """Return a copy with other names and comments, and in another order, that earns the same."""
    made: list[tuple[str | None, str, str]] = []
    for question, kind, source in model.cells:
        if kind == "markdown":
            made.append((question, kind, ". ".join(reversed(source.split(". ")))))
            continue
        tree = ast.fix_missing_locations(_Reworded(rng, 0.5).visit(ast.parse(source)))
        made.append((question, kind, remarked(rng, ast.unparse(renamed(rng, tree)))))
    return Written(tuple(made), model.chosen)


def setup(assignment: str, first: str = "", last: str = "") -> dict[str, str]:
    """Return the cell of the imports with a line more."""
    return {"setup": "\n".join(filter(None, (first, cells(assignment)["setup"], last)))}


def with_outputs(notebook: bytes, size: int) -> bytes:
    """Return a notebook in which a cell has shown very much."""
    made = nbformat.reads(notebook.decode(), as_version=4)
    text = "0123456789abcdef" * (size // 16)
    cell = next(each for each in made.cells if each.cell_type == "code")
    cell.outputs, cell.execution_count = [new_output("stream", name="stdout", text=text)], 1
    return nbformat.writes(made).encode()


GRID = next(each for each in variants_of(SECOND)["q2"] if each.name == "a grid").source
OF_FIRST = (
    Work("Ada"),
    Work("Ben", answers=setup(FIRST, first="%matplotlib widget")),
    Work(
        "Cleo",
        answers={
            **setup(FIRST, last="import math"),
            "q1": MARKS.sub("", cells(FIRST)["q1"]).replace(" = d_k +", " = math.fabs(d_k) +"),
        },
        earns={"q1": 4},
    ),
    Work(
        "Dan",
        last="n = 0\nwhile True:  # trying something out\n    n += 1",
        says=("it took too long and was stopped",),
    ),
    Work("Eve"),
    Work("Fay", answers={"q5": TEXT_STUB}, earns={"q5": 0}, says=("nothing was written here",)),
    Work(
        "Gil",
        answers=MISTAKES,
        earns={"q1": 0, "q2": 1, "q3": 2},
        says=("leaves out what components add", "does not spread within", "large, or far apart"),
    ),
    Work(
        "Hana",
        answers={"q2": "frozen = [[1, 2], [3, 4], [5, 6], [7, 8]\n"},
        earns={"q2": 0},
        says=("your code stopped: SyntaxError in line 1",),
    ),
    Work(
        "Ivo",
        answers={"q1": PANDAS},
        earns={"q1": 0},
        says=("pandas is not there when this is marked",),
    ),
    Work(
        "Jo",
        answers={"q3": LEAVES},
        earns={"q3": 0},
        says=("your code for q3: the program ended itself",),
    ),
    Work(
        "Kim",
        typed="Lena",
        status="needs-review",
        message=f"handed in by {NUMBERS['Kim']}, but the notebook says {NUMBERS['Lena']}",
    ),
    Work("Lena"),
    Work("Max", status="invalid", message="the file is not JSON, so it is not a notebook"),
    Work("Pia"),
    Work("Quin"),
    Work("Rosa"),
    Work("Sam"),
    Work("Tess", copied_from="Sam"),
    Work("Uma", answers={"q1": SPIES, "q5": SCRIPT}, earns={"q1": 0}),
    Work("Vic", answers={"q3": CHEATS}, earns={"q3": 0}),
    Work("Wes"),
    Work("Xia"),
    Work("Yan"),
)
OF_SECOND = (
    Work("Ada", SECOND),
    Work("Cleo", SECOND, status="needs-review", message="2 different notebooks of one group came"),
    Work("Dan", SECOND, status="needs-review", message="2 different notebooks of one group came"),
    Work("Eve", SECOND, answers={"q2": GRID}, earns={"q2": 0}),
    Work(
        "Fay",
        SECOND,
        answers={"q2": ast.unparse(renamed(Random("Fay"), ast.parse(GRID)))},  # noqa: S311
        earns={"q2": 0},
    ),
    Work("Gil", SECOND),
    Work("Hana", SECOND),
    Work("Ivo", SECOND, answers=setup(SECOND, first="%matplotlib widget")),
    Work("Jo", SECOND),
    Work(
        "Kim",
        SECOND,
        answers={"q3": "def attend(query, key, value, visible, sink, cap:\n    return 1\n"},
        earns={"q3": 0},
        says=("your code stopped: SyntaxError in line 1",),
    ),
    Work("Lena", SECOND, answers={"q5": TEXT_STUB}, earns={"q5": 0}),
    Work("Max", SECOND, file="my homework.ipynb"),
    Work("Pia", SECOND),
    Work("Uma", SECOND),
    Work("Vic", SECOND, answers={"q1": "score_change = np.full(6, 1e9)"}, earns={"q1": 0}),
)
WORKS = {FIRST: OF_FIRST, SECOND: OF_SECOND}


WORKSHEET = (
    "Identifier,Full name,ID number,Email address,Status,Group,Grade,Maximum grade,"
    "Grade can be changed,Last modified (submission),Last modified (grade),Feedback comments"
)


def file_in_canvas(who: str, serial: int, name: str = f"{FIRST}.ipynb") -> str:
    """Return what Canvas calls a file in its download."""
    late = "_LATE" if who in LATE_IN_CANVAS else ""
    return f"example{who.lower()}{late}_{CANVAS[who]}_{serial}_{name}"


def from_canvas(folder: Path, *, is_whole: bool = False) -> Path:
    """Write the download of the first set; Max's file is cut off until it is whole."""
    path = folder / ZIPS[FIRST]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, work in enumerate(OF_FIRST):
            content, name = work.notebook(), file_in_canvas(work.who, 9000 + i)
            if work.who == "Eve":
                content = with_outputs(content, 25_000_000)
            elif work.who == "Max" and not is_whole:
                content = content[: len(content) // 2]
            elif work.who == "Pia":
                earlier = Work("Pia", answers={"q1": "within = between = 0"}).notebook()
                archive.writestr(name, earlier)
                name = file_in_canvas("Pia", 9900, f"{FIRST}-1.ipynb")
            archive.writestr(name, content)
        archive.writestr(file_in_canvas("Otto", 9950, f"{FIRST}.docx"), b"PK\x03\x04")
    return path


def from_moodle(folder: Path, without: str = "") -> Path:
    """Write the download of the second set, with a notebook of somebody who is nobody here."""
    path = folder / ZIPS[SECOND]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for work in OF_SECOND:
            if work.who == without:
                continue
            place = f"{work.who} Example_{MOODLE[work.who]}"
            if work.who == "Ada":
                place = f"{GROUPS['Ada']}_19"
            name = work.file or f"{SECOND}.ipynb"
            archive.writestr(f"{place}_assignsubmission_file/{name}", work.notebook())
        stranger = Work("Wes", SECOND).notebook()
        archive.writestr(f"Zed Example_9999_assignsubmission_file/{SECOND}.ipynb", stranger)
        archive.writestr(
            f"Rosa Example_{MOODLE['Rosa']}_assignsubmission_file/{SECOND}.pdf", b"%PDF-1.4"
        )
    return path


def gradebook_of_canvas() -> str:
    """Return what *Grades → Export* gives; Nora has a grade there already."""
    lines = [
        "Student,ID,SIS User ID,SIS Login ID,Section,Problem set 1 (345),Essay (346),Final Score",
        ",,,,,Manual Posting,,",
        "    Points Possible,,,,,20.00,10.00,(read only)",
    ]
    for who in NAMES:
        grade = "3.00" if who == "Nora" else ""
        login = f"{who.lower()}@example.org"
        lines.append(
            f'"Example, {who}",{CANVAS[who]},{NUMBERS[who]},{login},Section 1,{grade},9.00,90.00'
        )
    lines.append(f'"Student, Test",1099,,{"0123456789" * 4},Section 1,,,')
    return "\n".join(lines) + "\n"


def worksheet_of_moodle() -> str:
    """Return the grading worksheet of the second set."""
    lines = [WORKSHEET]
    came = {work.who for work in OF_SECOND} | {"Ben", "Rosa"}
    for who in NAMES:
        status = "Submitted for grading" if who in came else "No submission"
        time = f'"{TIMES.get(who, IN_TIME)}"' if who in came else "-"
        lines.append(
            f"Participant {MOODLE[who]},{who} Example,{NUMBERS[who]},{who.lower()}@example.org,"
            f"{status},{GROUPS.get(who, '')},,20.00,Yes,{time},-,"
        )
    return "\n".join(lines) + "\n"
