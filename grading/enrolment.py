"""Who takes the course and what was settled for it: rosters and ``course.toml`` put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from grading.gradebook.book import Book
from grading.intake.collection import Special
from grading.intake.roster import Roster, Sheet, read_roster, with_numbers
from grading.reports import tables
from grading.reports.outcomes import outcomes
from grading.safe_text import shown
from grading.settings import FILE, Settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from grading.results import Result


@dataclass(frozen=True)
class Enrolment:
    """The students of a course, and the rules of its problem sets."""

    settings: Settings
    roster: Roster | None
    # the same students with what a platform says of one problem set
    rosters: Mapping[str, Roster] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of(self, assignment: str) -> Roster | None:
        """Return the students with what a platform calls them in a problem set."""
        return self.rosters.get(assignment, self.roster)

    def named(self, students: Iterable[str]) -> frozenset[str]:
        """Return students by their identifiers of the roster; others stay as they came."""
        found = {each: self.roster and self.roster.by_id(each) for each in students}
        return frozenset(each.student_id if each else name for name, each in found.items())

    def sheets(self, assignment: str) -> list[Sheet]:
        """Return the tables of platforms that have a column or a line for a problem set."""
        known = [self.roster, self.rosters.get(assignment)]
        return [each.sheet for each in known if each is not None and each.sheet is not None]

    def check_worksheet(self, assignment: str, *, alone: bool) -> None:
        """Refuse to write marks into a worksheet of Moodle that may be another assignment's."""
        sheet = self.roster and self.roster.sheet
        if alone or assignment in self.rosters or not sheet or "Identifier" not in sheet.columns:
            return
        raise ValueError(
            f"ROSTER is Moodle's worksheet of one assignment, and {assignment} need not be that "
            f"one; say ASSIGNMENT=..., or roster in [{assignment}] of {FILE}"
        )

    def special(
        self, book: Book | None, accepting: frozenset[str], assignments: Iterable[str]
    ) -> Special:
        """Return what sorting submissions needs to know, with who has marks in a gradebook."""
        groups = {name for name, rules in self.settings.rules.items() if rules.groups}
        marked = {
            name: {each.student.student_id for each in book.results(name) if each.marks}
            for name in (groups if book else ())
        }
        accepted = {name: book.accepted(name) for name in (assignments if book else ())}
        due = {name for name, rules in self.settings.rules.items() if rules.due is not None}
        zone = self.settings.timezone
        return Special(self.rosters, groups, marked, accepting, accepted, zone, due)

    def outcomes(self, book: Book, assignment: str) -> Iterator[Result]:
        """Return what counts of a problem set, for everyone on the roster or in the gradebook."""
        roster = self.of(assignment)
        everyone = tables.everyone(book.results(assignment), list(roster or ()), assignment)
        rules = self.settings.of(assignment)
        receipts = book.receipts(assignment) if rules.due else {}
        return outcomes(everyone, roster, rules, receipts)


def enrolment(out: Path, source: Path, roster: Path | None) -> Enrolment:
    """Read the settings of a course, its roster, and what a platform says of each problem set.

    A ValueError says which of the files is not what is wanted.
    """
    settings = read_settings(out, sorted(path.stem for path in source.glob("*/*.ipynb")))
    people = read_roster(roster, settings) if roster else None
    if people is not None:
        settings = _canonical(out, settings, people)
    rosters, notes = {}, list(people.notes if people else ())
    for name, rules in settings.rules.items():
        if rules.roster is not None:
            if people is None:
                raise ValueError(
                    f"ROSTER is missing: roster in [{name}] of {out / FILE} has the numbers of one "
                    "problem set, and not the students of the course"
                )
            rosters[name], more = with_numbers(people, rules.roster, settings)
            notes += more
    return Enrolment(settings, people, rosters, tuple(notes))


def _canonical(out: Path, settings: Settings, people: Roster) -> Settings:
    """Return the settings with students called as on the roster."""

    def named(assignment: str, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        for name, value in values.items():
            student = people.by_id(name)
            if student is None:
                where = f"{out / FILE}: {assignment}.{key}"
                raise ValueError(f"{where} must name students of the roster; got {shown(name)}")
            found[student.student_id] = value
        return found

    rules = {
        each: replace(
            rule,
            extensions=named(each, "extensions", rule.extensions),
            submitted=named(each, "submitted", rule.submitted),
            points=named(each, "points", rule.points),
        )
        for each, rule in settings.rules.items()
    }
    return replace(settings, rules=rules)
