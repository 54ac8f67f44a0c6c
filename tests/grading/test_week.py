"""An instructor's week, by commands alone: two sets, two platforms, and a check that is mended."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.book.notebooks import ROOT
from tests.grading import week
from tests.grading.pages import harm, parsed
from tests.grading.test_dry_run import contents, section
from tests.grading.test_formgrader import ready, serving, student_of, window
from tests.grading.week import FIRST, NAMES, NUMBERS, OF_SECOND, SECOND, WORKS, Work

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LEAKS = (
    *("hidden_check", "HIDDEN", "SOLUTION", "def judge", "A model answer", "How it is marked"),
    *("found files", "found network", "found grader"),
)
SUBMITTED = f"[{FIRST}.submitted]\n"
STRANGERS = {
    (FIRST, "needs-review"): [],
    (FIRST, "invalid"): [NUMBERS["Otto"]],
    # the stranger's notebook has Wes's number in it, of whom nothing else came: Wes waits with it
    (SECOND, "needs-review"): [NUMBERS["Wes"], "unmatched~Moodle%209999%20Zed%20Example"],
    (SECOND, "invalid"): [NUMBERS["Rosa"]],
}
OVERRULED = {
    (FIRST, "Hana"): (2, "A bracket is missing; the rest is right in half."),
    (SECOND, "Fay"): (1, "A grid, but a fine one."),
}
PARTNERS = {(SECOND, "Ada"): ("Ada", "Ben"), (SECOND, "Cleo"): ("Cleo", "Dan"), (SECOND, "Dan"): ()}
UNTOUCHED = {FIRST: "Fay", SECOND: "Lena"}
COMMENTS = {"Ada": "Say <why>.", "Gil": "Which numbers are yours?"}


class Course:
    """A copy of the grader, a course folder, and what came in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clone, self.out = folder, folder / "clone", folder / "course"
        self.changed: dict[tuple[str, str], dict[str, float]] = {}
        """Points that are not those of the first marking, by problem set, name and question."""
        for name in ("grading", "book"):
            leave = shutil.ignore_patterns("__pycache__", "release")
            shutil.copytree(ROOT / name, self.clone / name, ignore=leave)
        self.out.mkdir()
        self.roster = folder / "2026-11-21T0905_Grades-Attention.csv"
        self.roster.write_text(week.gradebook_of_canvas(), encoding="utf-8-sig")
        self.write("worksheet-2.csv", week.worksheet_of_moodle())
        self.write("course.toml", week.SETTINGS)
        self.submissions = {FIRST: week.from_canvas(folder), SECOND: week.from_moodle(folder)}

    def write(self, name: str, text: str) -> None:
        """Write one of the files in the course folder that are the instructor's."""
        (self.out / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Change something in one place of the copy."""
        path = self.clone / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, command: str, *arguments: str) -> str:
        """Run a command in the copy, and return all that it prints."""
        done = subprocess.run(
            [sys.executable, "-m", "grading", command, *arguments],
            cwd=self.clone,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def grade(self, assignment: str, *more: str) -> str:
        given = {
            "submissions": self.submissions[assignment],
            "roster": self.roster,
            "out": self.out,
            "workers": "1",
        }
        options = [text for name, value in given.items() for text in (f"--{name}", str(value))]
        return self.run("grade", *options, *more)

    def export(self, command: str = "export") -> str:
        return self.run(command, "--out", str(self.out), "--roster", str(self.roster))

    def rows(self, assignment: str) -> dict[str, dict[str, str]]:
        """Return the lines of grades.csv about a set, by student."""
        with (self.out / "grades.csv").open(encoding="utf-8", newline="") as file:
            lines = [line for line in csv.DictReader(file) if line["assignment"] == assignment]
        rows = {line["student"]: line for line in lines}
        assert len(rows) == len(lines)
        return rows

    def late(self) -> dict[tuple[str, str], tuple[str, float | None]]:
        """Return by how much each notebook is late, and what that costs."""
        return {
            (assignment, who): (row["late"], number(row["deduction"]))
            for assignment in (FIRST, SECOND)
            for who in NAMES
            if (row := self.rows(assignment)[NUMBERS[who]])["status"] == "graded"
        }

    def expected(self, assignment: str) -> dict[str, dict[str, float | None]]:
        """Return what everybody has by then who has marks."""
        found = {}
        for work in WORKS[assignment]:
            points = work.points
            if points["q5"] is None:
                points["q5"] = by_hand(assignment, work.who)
            if (assignment, work.who) in OVERRULED:
                points["q2"] = OVERRULED[assignment, work.who][0]
            points |= self.changed.get((assignment, work.who), {})
            for who in PARTNERS.get((assignment, work.who), (work.who,)):
                found[NUMBERS[who]] = points
        return found

    def text(self, who: str, assignment: str) -> str:
        """Return the words on the page for a student, squeezed."""
        return squeezed(parsed(self.page(who, assignment)).get_text())

    def page(self, who: str, assignment: str) -> str:
        path = self.out / "feedback" / NUMBERS[who] / f"{assignment}.html"
        return path.read_text(encoding="utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(tmp_path)


@pytest.mark.proof("redteam")
def test_an_instructor_s_week(course: Course, browser: Browser) -> None:
    released(course)
    looked_at_before(course)
    graded(course)
    settled(course)
    marked_by_hand(course, browser)
    mended(course)
    compared(course)
    sent(course)


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def squeezed(text: str) -> str:
    """Return a text without blanks and what marks code."""
    return re.sub(r"[\s`]+", "", text)


def assert_earned(row: dict[str, str], points: Mapping[str, float | None]) -> None:
    """Hold the points in a line of grades.csv against what they must be."""
    assert {name: number(row[name]) for name in points} == pytest.approx(points), row
    known = [each for each in points.values() if each is not None]
    assert number(row["total"]) == (pytest.approx(sum(known)) if known else None), row


def assert_row(row: dict[str, str], work: Work) -> None:
    """Hold a line of grades.csv against what became of a notebook."""
    assert row["status"] == work.status, row
    waits = "waiting for a mark by hand" if work.points["q5"] is None else ""
    assert row["message"].startswith(work.message or waits), row
    assert_earned(row, work.points if work.status == "graded" else dict.fromkeys(work.points))


def released(course: Course) -> None:
    """The sets are written as students get them."""
    printed = course.run("problem-sets").split()
    assert [Path(each).stem for each in printed] == [FIRST, SECOND]
    for each in printed:
        text = Path(each).read_text(encoding="utf-8")
        assert not re.search("HIDDEN|SOLUTION|hidden_check", text)


def looked_at_before(course: Course) -> None:
    """A dry run says who waits and why, and changes nothing."""
    before = contents(course.out)
    said = course.grade(FIRST, "--dry-run") + course.grade(SECOND, "--dry-run")
    assert contents(course.out) == before

    def listed(heading: str) -> dict[str, str]:
        found = (re.match(r"([^\s:]+)[^:]*: (.*)", line) for line in section(said, heading))
        return {line[1]: line[2] for line in found}

    for assignment, works in WORKS.items():
        for heading, status in (
            ("would wait for you", "needs-review"),
            ("cannot be marked", "invalid"),
        ):
            found = listed(f"{assignment}, {heading}:")
            for work in works:
                why = found.pop(NUMBERS[work.who], "")
                assert bool(why) == (work.status == status), work
                assert why.startswith(work.message if why else ""), work
            assert list(found) == STRANGERS[assignment, status], found
    assert listed(f"{FIRST}, missing:") == {NUMBERS["Nora"]: "nothing was handed in"}
    assert listed(f"{SECOND}, would share the marks of their group:") == {
        NUMBERS["Ben"]: f"the notebook of the group came from {NUMBERS['Ada']}"
    }
    assert listed(f"{FIRST}, late, and what that would cost at most:") == {
        NUMBERS["Quin"]: "handed in late; how late is not known yet"
    }
    assert listed(f"{SECOND}, late, and what that would cost at most:") == {
        NUMBERS["Gil"]: "handed in 1 day 23 h late, with 10 min of grace: 4 points off"
    }


def graded(course: Course) -> None:
    """Everybody earns what the notebook is worth, and is told why."""
    for assignment, works in WORKS.items():
        said = course.grade(assignment)
        if assignment == FIRST:
            assert "examplepia_1016_9900_problem_set_1-1.ipynb: counts as the newest" in said
            assert f"  {NUMBERS['Kim']}: handed in by {NUMBERS['Kim']}, but" in said
        assert "nothing says when" not in said  # as what has no marks costs nothing
        rows = course.rows(assignment)
        for work in works:
            assert_row(rows[NUMBERS[work.who]], work)
            page = course.text(work.who, assignment)
            told = work.told if work.status == "graded" else ()
            assert [words for words in told if squeezed(words) not in page] == [], page
    assert rows[NUMBERS["Ben"]]["message"].endswith("the notebook of the group came from s2600001")
    assert_earned(rows[NUMBERS["Ben"]], OF_SECOND[0].points)
    late = {who: line for who, line in course.late().items() if line != ("no", 0)}
    assert late == {(FIRST, "Quin"): ("yes", None), (SECOND, "Gil"): ("1 day 23 h", 4)}


def run(said: str) -> int:
    """Return how many notebooks a command has run and marked."""
    progress = re.findall(r"\[\d\d:\d\d(.*)\]", said)[-1]
    found = re.search(r"graded (\d+)", progress)
    assert "unchanged" in progress
    return int(found[1]) if found else 0


def settled(course: Course) -> None:
    """Kim's number, Max's file and the second notebook of the Blue Whales; nobody else is run."""
    before = course.rows(FIRST)
    assert run(course.grade(FIRST, "--accept", NUMBERS["Kim"])) == 1
    week.from_canvas(course.folder, is_whole=True)
    assert run(course.grade(FIRST)) == 1
    rows = course.rows(FIRST)
    for who in ("Kim", "Max"):
        (work,) = (each for each in WORKS[FIRST] if each.who == who)
        assert_row(rows[NUMBERS[who]], replace(work, status="graded", message=""))
        del before[NUMBERS[who]]
    assert {student: rows[student] for student in before} == before

    week.from_moodle(course.folder, without="Dan")
    assert run(course.grade(SECOND)) == 1
    cleo = next(each for each in WORKS[SECOND] if each.who == "Cleo")
    for who in ("Cleo", "Dan"):
        assert_row(course.rows(SECOND)[NUMBERS[who]], replace(cleo, status="graded", message=""))


def marked_by_hand(course: Course, browser: Browser) -> None:
    """In a browser: all paragraphs of the second set, some of the first, and two checks."""
    command = [sys.executable, "-m", "grading", "formgrader", "--out", str(course.out)]
    with (
        serving(command, course.folder, cwd=course.clone) as address,
        window(browser, address) as page,
    ):
        for assignment in (FIRST, SECOND):
            page.goto(f"{address}/manage_assignments")
            title = assignment.replace("_", " ").capitalize()
            page.get_by_role("region", name=title).get_by_role("link", name="Mark q5").click()
            while page.title() != "Marking by hand":
                ready(page)
                mark(page, assignment)
                before = page.url
                page.locator("#next").click()
                page.wait_for_url(lambda url, before=before: url != before)
    course.export()
    for assignment in (FIRST, SECOND):
        rows = course.rows(assignment)
        for student, points in course.expected(assignment).items():
            assert_earned(rows[student], points)
    assert "Say &lt;why&gt;." in course.page("Ada", FIRST)
    assert OVERRULED[FIRST, "Hana"][1] in course.page("Hana", FIRST)


def by_hand(assignment: str, who: str) -> float | None:
    """Return what a paragraph earns from a person, who leaves half of the first set for later."""
    if who == UNTOUCHED[assignment] or (assignment == FIRST and who > "M"):
        return None
    return 2.5 if who in COMMENTS else 3


def mark(page: Page, assignment: str) -> None:
    """Mark what one student wrote, and overrule the check of one of the questions."""
    who = NAMES[int(student_of(page)[-3:]) - 1]
    if (assignment, who) in OVERRULED:
        points, comment = OVERRULED[assignment, who]
        page.get_by_role("link", name="q2", exact=True).click()
        page.wait_for_url("**question=q2")
        ready(page)
        page.locator(".score").fill(f"{points:g}")
        page.locator(".comment").fill(comment)
        page.get_by_role("link", name="q5").click()
        page.wait_for_url("**question=q5")
        ready(page)
    points = by_hand(assignment, who)
    if points is None:
        return
    page.locator(".score").fill(f"{points:g}")
    if who in COMMENTS:
        page.locator(".comment").fill(COMMENTS[who])


def mended(course: Course) -> None:
    """The tolerance of a check was too small: nobody is marked anew who need not be."""
    path = f"grading/source/{SECOND}/{SECOND}.ipynb"
    course.edit(path, "WITHIN = 1.5e-5", "WITHIN = 1.5e-2")
    before = {name: course.rows(name) for name in (FIRST, SECOND)}
    said = course.grade(SECOND)
    assert run(said) == 0
    assert "16 marks of q2 by an older check; REMARK=q2 makes them anew." in said, said
    for name, rows in before.items():
        now = course.rows(name)
        for student, row in rows.items():
            assert {key: now[student][key] for key in row} == row

    said = course.grade(SECOND, "--remark", "q2")
    assert "by an older check" not in said
    assert "One decision by hand about q2 from before its check or scheme changed." in said
    course.changed[SECOND, "Eve"] = {"q2": 4}
    assert course.rows(FIRST) == {
        student: row | {"older": ""} for student, row in before[FIRST].items()
    }
    rows = course.rows(SECOND)
    for student, points in course.expected(SECOND).items():
        assert_earned(rows[student], points)
    older = {student: row["older"] for student, row in rows.items() if row["older"]}
    assert older == {NUMBERS["Fay"]: "q2 decided before the check changed"}

    # Fay asks to have it looked at
    table = course.out / "regrade-requests.csv"
    ask = f"student,assignment,question,request\n{NUMBERS['Fay']},{SECOND},q2,It is 0.5 % off.\n"
    table.write_text(ask, encoding="utf-8")
    assert "regrade-requests.csv: 0 answered now, 1 open" in course.export()
    assert "1 of 4" in table.read_text(encoding="utf-8-sig")
    table.write_text(
        ask.replace("request\n", "request,points,answer\n").replace("off.\n", "off.,4,Yes.\n"),
        encoding="utf-8",
    )
    assert "regrade-requests.csv: 1 answered now, 0 open" in course.export()
    course.changed[SECOND, "Fay"] = {"q2": 4}
    rows = course.rows(SECOND)
    assert_earned(rows[NUMBERS["Fay"]], course.expected(SECOND)[NUMBERS["Fay"]])
    assert {row.get("older", "") for row in rows.values()} == {""}


def compared(course: Course) -> None:
    """The copies come first; others only where two took the same answer; questions are judged."""
    course.run("similarity", "--out", str(course.out))
    pairs = {}
    for assignment, works in WORKS.items():
        path = course.out / f"similarity-{assignment}.csv"
        pairs[assignment] = [line[:2] for line in table(path.read_text(encoding="utf-8"))[1:]]
        by_number = {NUMBERS[work.who]: work.written.chosen for work in works}
        for first, second in pairs[assignment]:
            assert set(by_number[first]) & set(by_number[second]), (first, second)
    assert pairs[FIRST][0] == [NUMBERS["Sam"], NUMBERS["Tess"]]
    assert len(pairs[FIRST]) <= 3
    assert pairs[SECOND] == []
    said = course.run("items", "--out", str(course.out))
    assert said.count(": 0 of 5 keys look wrong") == len(WORKS)
    for assignment in WORKS:
        assert f"items-{assignment}.html" in said
        lines = table((course.out / f"items-{assignment}.csv").read_text(encoding="utf-8"))
        assert {f"q{i}" for i in range(1, 6)} <= {line[0] for line in lines}


def sent(course: Course) -> None:
    """The platforms get their own tables back with what counts, and everybody's page."""
    course.write("course.toml", week.SETTINGS.replace(SUBMITTED, SUBMITTED + week.WORD_OF_QUIN))
    said = course.export()
    assert f"{NUMBERS['Nora']} (Example, Nora): missing: nothing was handed in" in said
    assert f"canvas-{FIRST}.csv" in said
    assert f"canvas-{SECOND}.csv" not in said
    late = {key: line for key, line in course.late().items() if line[0] != "no"}
    assert late == {(FIRST, "Quin"): ("22 h 1 min", 2), (SECOND, "Gil"): ("1 day 23 h", 4)}
    final = {
        assignment: {
            student: "" if None in points.values() else sum(points.values())
            for student, points in course.expected(assignment).items()
        }
        for assignment in (FIRST, SECOND)
    }
    final[SECOND][NUMBERS["Gil"]] -= 4

    header, _, possible, *students, _ = table(week.gradebook_of_canvas())
    given = table((course.out / f"canvas-{FIRST}.csv").read_text(encoding="utf-8"))
    assert given[:2] == [header[:6], possible[:6]]
    for before, after in zip(students, given[2:], strict=True):
        grade = final[FIRST].get(before[2], "")
        assert after[:5] == before[:5]
        assert number(after[5]) == pytest.approx(number(before[5]) if grade == "" else grade)

    header, *students = table(week.worksheet_of_moodle())
    given = table((course.out / f"moodle-{SECOND}.csv").read_text(encoding="utf-8"))
    place = header.index("Grade")
    for before, after in zip([header, *students], given, strict=True):
        assert after[:place] + after[place + 1 :] == before[:place] + before[place + 1 :]
        if before is not header:
            grade = final[SECOND].get(before[2], "")
            assert number(after[place]) == (None if grade == "" else pytest.approx(grade)), after

    course.export("feedback-zips")
    pages = packed(course)
    expected = {
        (assignment, who)
        for assignment in final
        for who in NAMES
        if final[assignment].get(NUMBERS[who], "") != ""
    }
    assert set(pages) == expected | {(SECOND, "Rosa")}
    for assignment, who in pages:
        assert pages[assignment, who] == course.page(who, assignment)
    for assignment, who in expected:
        points = f"{final[assignment][NUMBERS[who]]:g} of 20 points"
        assert squeezed(points) in course.text(who, assignment), (who, points)
    assert_nothing_leaks(course)


def packed(course: Course) -> dict[tuple[str, str], str]:
    """Return the pages in the zips for both platforms, by problem set and name."""
    pages = {}
    for platform, assignment, numbers in (
        ("canvas", FIRST, week.CANVAS),
        ("moodle", SECOND, week.MOODLE),
    ):
        called = {str(each): who for who, each in numbers.items()}
        with zipfile.ZipFile(course.out / f"feedback-{platform}-{assignment}.zip") as archive:
            for name in archive.namelist():
                text = archive.read(name).decode()
                if platform == "canvas":
                    (cell,) = nbformat.reads(text, as_version=4).cells
                    text = cell.outputs[0]["data"]["text/html"]
                pages[assignment, called[re.search(r"_(\d{4})_", name)[1]]] = text
    return pages


def assert_nothing_leaks(course: Course) -> None:
    """No page has a check, an answer, a path or anything that runs."""
    found = [*course.out.glob("feedback/*/*.html")]
    assert len(found) > len(WORKS[FIRST]) + len(WORKS[SECOND])
    places = [str(each) for each in (course.folder, ROOT, Path.home(), sys.prefix)]
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert [each for each in (*LEAKS, *places) if each in text] == [], path
        assert harm(text) == [], path
    said = course.run("expected", "--student", NUMBERS["Gil"], "--assignment", FIRST)
    right = re.findall(r"(?:within|between) = ([\d.]+)", said)
    assert len(right) == 2
    words = parsed(course.page("Gil", FIRST)).get_text(" ")
    for each in right:
        assert not re.search(rf"(?<![\d.]){re.escape(each)}(?!\d)", words), each
