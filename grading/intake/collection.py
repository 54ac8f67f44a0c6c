"""What came in: a folder or a platform's zip becomes one submission per student and problem set.

Whose a notebook is, the folder, the file name or the platform says, never the notebook. What is
not clear is left to a human, what is no notebook is named in the notes, and nothing is dropped.

Canvas calls the files of its download ``<sortable name>[_LATE]_<user>_<attachment>_<file name>``,
the name in lower case without blanks and punctuation (``lib/content_zipper.rb`` of canvas-lms). It
adds ``-1``, ``-2`` to the name of a file that the student has uploaded before, and gives every
upload a larger attachment number. Moodle calls its folders
``<full name>_<participant>_assignsubmission_file``, older versions with another ``_`` at the end;
without folders it puts the same before each file name. Where students work in groups, the group and
a hyphen come first (``mod/assign/classes/downloader.php`` of moodle).
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from grading.intake.roster import LONGEST_ID, UNMATCHED, Roster
from grading.intake.sources import NOTEBOOK, File, Folder, Zip
from grading.intake.times import read_time
from grading.late import Receipt
from grading.results import Student, Submission
from grading.safe_text import composed, name_words, safe_name, shown
from grading.settings import in_utc

if TYPE_CHECKING:
    from collections.abc import Collection as Container
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from grading.intake.sources import Reader
    from grading.results import Status

__all__ = ["OF_GROUP", "UNMATCHED", "Collection", "collect", "safe_name"]

CANVAS = re.compile(
    r"(?:_|^(?=anon_))(?=(?P<user>[0-9]+|anon_[A-Za-z0-9]+)_(?P<serial>[0-9]+)_(?P<base>.+)$)"
)
MOODLE = re.compile(r"(?P<name>.*?)_(?P<user>[0-9]+)_assignsubmission_[a-z]+(?:_(?P<base>.*)|$)")
RESUBMITTED = re.compile(r"-(?:[0-9]{1,2}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
LATE = re.compile(r"(?:^|_)LATE$")
STAMP = "timestamp.txt"
"""Where nbgrader writes when it collected a notebook."""
ANONYMOUS = "participant"
MOST_ASIDE = 19
"""Files that are no notebooks, of which each has a line of its own."""
WAITS = "a notebook that may be this student's waits unmatched:"
"""Begins the message of whom a notebook hints at that no roster or number gives to anybody."""
PERHAPS = "nothing came under this name, and nobody knows whose this is:"
"""Begins the message of whom nothing came, while a notebook waits that could be anybody's."""
NO_NOTEBOOK = "no notebook was handed in"
"""Begins the message of whoever sent nothing but other files."""
TYPED = re.compile(rb"""student_id\s*=\s*\\?["']([^"'\\\n]{1,128})""")
"""What a notebook, as bytes of JSON, says of who wrote it; it is believed in nothing."""
OF_GROUP = "the notebook of the group came from"


@dataclass(frozen=True)
class _Claim:
    """Whose a file is by its place and name."""

    name: str
    platform: str = ""
    user: str = ""
    other_users: tuple[str, ...] = ()
    serial: int = 0
    base: str = ""
    entry: str = ""  # what the platform calls the file or its folder
    is_late: bool | None = None  # what the platform says; None where it does not say


@dataclass(frozen=True)
class _Found:
    """A file with whose it is and what it answers."""

    file: File
    claim: _Claim
    student: Student
    doubt: str
    assignment: str | None
    stamp: File | None = None  # says when it came


@dataclass(frozen=True)
class _Planned:
    """A submission whose bytes have still to be read."""

    student: Student
    assignment: str
    file: File | None
    problem: tuple[Status, str] | None
    origin: str
    receipt: Receipt | None = None  # None where nothing came


@dataclass
class Collection:
    """All submissions of a folder or zip, read one at a time."""

    notes: list[str]  # what was left aside or decided, for the instructor; safe to print
    # the problem sets of which something came, or the only one that was asked for
    assignments: tuple[str, ...]
    _planned: list[_Planned] = field(repr=False)
    _source: Folder | Zip = field(repr=False)

    def __len__(self) -> int:
        """Return the number of submissions, missing ones among them."""
        return len(self._planned)

    def receipt(self, submission: Submission) -> Receipt | None:
        """Return when one of the submissions came; None where nothing did."""
        found = self._receipts.get((submission.assignment, submission.student.student_id))
        if found is None or submission.notebook is None:
            return found
        return replace(found, content=hashlib.sha256(submission.notebook).hexdigest())

    @cached_property
    def _receipts(self) -> dict[tuple[str, str], Receipt]:
        """Return what is known of when everything came, by problem set and student."""
        return {
            (each.assignment, each.student.student_id): each.receipt
            for each in self._planned
            if each.receipt is not None
        }

    @property
    def missing(self) -> int:
        """Return how many students handed in nothing."""
        return sum(
            each.problem is not None and each.problem[0] == "missing" for each in self._planned
        )

    @property
    def is_empty(self) -> bool:
        """Return whether nobody handed in anything."""
        return self.missing == len(self)

    def __iter__(self) -> Iterator[Submission]:
        """Yield one submission after the other, with the bytes of one notebook at a time."""
        with self._source.opened() as read:
            for planned in self._planned:
                yield _submission(planned, read)


def _submission(planned: _Planned, read: Reader) -> Submission:
    """Read one submission."""
    raw, problem = None, planned.problem
    if planned.file is not None:
        raw, trouble = _content(planned.file, read)
        problem = problem or trouble
    return Submission(planned.student, planned.assignment, raw, problem, planned.origin)


def _content(file: File, read: Reader) -> tuple[bytes | None, tuple[Status, str] | None]:
    """Return the bytes of a file, or why there are none."""
    return (None, file.trouble) if file.trouble else read(file)


@dataclass(frozen=True)
class Special:
    """What is not the same for all problem sets of a course."""

    # the same students as on the roster, with what a platform calls them in one problem set
    rosters: Mapping[str, Roster] = field(default_factory=dict)
    # the problem sets of which one notebook counts for a whole group
    groups: Container[str] = ()
    # who has marks already, by problem set: a group's notebook stays with the one who has
    marked: Mapping[str, Container[str]] = field(default_factory=dict)
    # students whose notebook counts where several came, by what somebody said now ...
    accepting: Container[str] = ()
    # ... and before, with the digest of the notebook, by problem set
    accepted: Mapping[str, Container[tuple[str, str]]] = field(default_factory=dict)
    # the zone of the course, for times that have none of their own
    timezone: ZoneInfo | None = None
    due: Container[str] = ()  # the problem sets of which something can be late


def collect(
    submissions: Path,
    roster: Roster | None,
    assignments: Sequence[str],
    special: Special = Special(),
) -> Collection:
    """Find out what came from whom: first those on the roster, in its order, then all others.

    `submissions` is a zip of Canvas or Moodle, such a zip extracted, a folder as nbgrader has it,
    ``<student>/<assignment>/<notebook>.ipynb`` or ``<student>/<notebook>.ipynb``, or one of
    ``<student>.ipynb``. A folder around all of it does not matter. Without a roster each name is a
    student; the files of a platform are then all left to a human, since nothing says what the
    platform's numbers mean. If there is one problem set, everything answers it; otherwise a folder,
    the notebook's name or else the name of the zip has to say which.

    Two different notebooks of one student for one problem set are left to a human, unless Canvas
    says that they are one file uploaded again: then the newest counts, and a note says so. Where
    one notebook counts for a group, it is the submission of the member who handed it in, and for
    the others nothing is marked. Raises ValueError if there is no such folder, the zip is damaged,
    or no problem set is given.
    """
    if not assignments or isinstance(assignments, str):
        raise ValueError(f"assignments must be names of problem sets; got {assignments!r}")
    source: Folder | Zip
    if submissions.is_dir():
        source = Folder(submissions)
    elif submissions.is_file():
        source = Zip(submissions)
    else:
        raise ValueError(f"{shown(str(submissions))} came, which is neither a folder nor a file")
    with source.opened() as read:
        planner = _Planner(roster, tuple(assignments), submissions.name, read, special)
        planner.take(source.files())
        wanted = planner.wanted()
        planned = list(planner.plan(wanted))
    return Collection(planner.notes, wanted, planned, source)


class _Planner:
    """Sorts files by student and problem set, and decides what each student handed in."""

    def __init__(
        self,
        roster: Roster | None,
        assignments: tuple[str, ...],
        name: str,
        read: Reader,
        special: Special,
    ) -> None:
        self.roster = roster
        self.special = special
        self.is_single = False
        self.stamps: dict[tuple[str, ...], File] = {}
        self.assignments = {composed(each).casefold(): each for each in assignments}
        self.read = read
        self.notes: list[str] = []
        self.aside: list[str] = []  # files that are no notebooks
        self.notebooks: defaultdict[str, list[_Found]] = defaultdict(list)
        self.others: defaultdict[str, list[_Found]] = defaultdict(list)
        # who may have written what waits unmatched, by problem set, with where it is; nobody
        # where nothing hints at anybody
        self.hints: defaultdict[str, list[tuple[set[str], str]]] = defaultdict(list)
        # Moodle calls its zip after the assignment
        by_name = self._named(composed(name))
        self.default = by_name[0] if len(by_name) == 1 else None
        self.around = f"{shown(name)}: "

    # where files belong

    def take(self, files: Sequence[File]) -> None:
        """Sort all files."""
        kept = [file for file in files if not file.is_ignored]
        if len(kept) < len(files):
            self.notes.append(
                f"{len(files) - len(kept)} files of the operating system or of Jupyter were ignored"
            )
        around = self._folders_around(
            [file.parts for file in kept if file.is_notebook and not file.unsafe]
        )
        paths = [file.parts[min(around, len(file.parts) - 1) :] for file in kept]
        nbgraders = any(self._is_nbgraders(path) for path in paths)
        stamped = [file for file in files if file.parts[-1] == STAMP and not file.trouble]
        if nbgraders:
            self.stamps = {file.parts[around:-1]: file for file in stamped if not file.unsafe}
        for file, path in zip(kept, paths, strict=True):
            found = self._found(file, path)
            if not (file.is_notebook or file.trouble):
                self._take_other(found)
            elif nbgraders and self._is_of_another(found, path):
                self.notes.append(f"{file.origin}: not one of the problem sets asked for")
            else:
                self.notebooks[found.student.student_id.casefold()].append(found)
                self._note_hints(found)
        self.notes += self.aside[:MOST_ASIDE]
        if (more := len(self.aside) - MOST_ASIDE) > 0:
            self.notes.append(f"and {more} more files that are not notebooks")

    def _note_hints(self, found: _Found) -> None:
        """Remember who may have written a notebook that nobody's name fits."""
        if self.roster is None or not found.student.student_id.startswith(UNMATCHED):
            return
        raw, _ = _content(found.file, self.read)
        typed = {text.decode("utf-8", "replace") for text in TYPED.findall(raw or b"")}
        for assignment in [found.assignment] if found.assignment else self.assignments.values():
            roster = self._roster(assignment) or self.roster
            near = [roster.by_id(each) for each in typed]
            near += roster.members(found.claim.name)
            near += [each for part in _parts(found.claim.name) for each in roster.all_called(part)]
            if found.claim.platform:
                near.append(roster.by_lms_id(found.claim.user))
            if found.claim.platform == "Canvas":
                near += roster.all_run_together(found.claim.name)
            names = {each.student_id for each in near if each is not None}
            self.hints[assignment].append((names, found.file.origin))

    def _is_nbgraders(self, path: tuple[str, ...]) -> bool:
        """Return whether a path is ``<student>/<assignment>/<notebook>``."""
        return len(path) == 3 and path[1].casefold() in self.assignments

    def _is_of_another(self, found: _Found, path: tuple[str, ...]) -> bool:
        """Return whether a path names a problem set that was not asked for, as nbgrader does."""
        if found.claim.platform or found.file.unsafe or len(path) != 3:
            return False
        named = any(folder.casefold() in self.assignments for folder in path[:2])
        return not named and not self._named(path[2])

    def _take_other(self, found: _Found) -> None:
        """Note a file that is not a notebook."""
        is_zip = found.file.parts[-1].casefold().endswith(".zip")
        what = "a zip within, which was not opened" if is_zip else "not a notebook"
        self.aside.append(f"{found.file.origin}: {what}")
        self.others[found.student.student_id.casefold()].append(found)

    def _folders_around(self, paths: list[tuple[str, ...]]) -> int:
        """Return how many folders are around everything and say nothing."""
        around = 0
        while paths and not any(self._is_recognized(path) for path in paths):
            if len({path[0] for path in paths}) > 1 or min(map(len, paths)) == 1:
                return 0
            paths = [path[1:] for path in paths]
            around += 1
        return around

    def _is_recognized(self, path: tuple[str, ...]) -> bool:
        """Return whether a path says whose the file is, as far as can be known."""
        if self.roster is None:
            claim = _claim(path, self.assignments)
            return bool(claim.platform) or (
                len(path) > 2 and path[1].casefold() in self.assignments
            )
        claim = _claim(path, self.assignments, self.roster)
        return not self._match(claim, self._assignment(claim, path))[1]

    def _found(self, file: File, path: tuple[str, ...]) -> _Found:
        """Return whose a file is and what it answers."""
        if file.unsafe:
            claim = _Claim(composed("/".join(path)))
            student, doubt = _stranger(claim), file.unsafe
            return _Found(file, claim, student, doubt, self._assignment(claim, path))
        claim = _claim(path, self.assignments, self.roster)
        assignment = self._assignment(claim, path)
        student, doubt = self._match(claim, assignment)
        # in the folder of a platform it may be the student's own file
        stamp = None if claim.platform else self.stamps.get(path[:-1])
        return _Found(file, claim, student, doubt, assignment, stamp)

    def _assignment(self, claim: _Claim, path: tuple[str, ...]) -> str | None:
        """Return the problem set that a file answers, or None if nothing says which."""
        for folder in path[:-1]:
            if folder.casefold() in self.assignments:
                return self.assignments[folder.casefold()]
        if len(self.assignments) == 1:
            return next(iter(self.assignments.values()))
        named = self._named(claim.base or path[-1])
        if not named:
            return self.default
        return named[0] if len(named) == 1 else None

    def _named(self, name: str) -> list[str]:
        """Return the problem sets that the name of a file names."""
        stem = _without_ending(name).casefold()
        return [each for key, each in self.assignments.items() if _says(stem, key)]

    # who somebody is

    def _roster(self, assignment: str | None) -> Roster | None:
        """Return the students with what a platform calls them in a problem set."""
        return self.special.rosters.get(assignment or "", self.roster)

    def _match(self, claim: _Claim, assignment: str | None) -> tuple[Student, str]:
        """Return the student, and why that is in doubt."""
        roster = self._roster(assignment)
        if roster is None:
            return self._without_roster(claim)
        if claim.platform == "Canvas":
            return _match_canvas(claim, roster)
        if claim.platform == "Moodle":
            if assignment in self.special.groups and (group := roster.members(claim.name)):
                return group[0], ""
            return _match_moodle(claim, roster, own=assignment in self.special.rosters)
        student = roster.by_id(claim.name)
        if student is None:
            return _stranger(claim), f"{shown(claim.name)} is not on the roster"
        return student, ""

    def _without_roster(self, claim: _Claim) -> tuple[Student, str]:
        """Return a student who is called as the folder or file."""
        if claim.platform:
            what = f"{claim.platform} calls the student {shown(claim.user)}"
            return _stranger(claim), f"{what}; only a roster tells the student number"
        if not claim.name.isprintable() or len(claim.name) > LONGEST_ID:
            return _stranger(claim), f"{shown(claim.name)!r} cannot be a student number"
        return Student(claim.name, "", shown(claim.name)), ""

    # what somebody handed in

    def wanted(self) -> tuple[str, ...]:
        """Return the problem sets of which something came.

        A notebook that does not say what it answers counts only where no other one says it, so that
        it makes nothing missing for the others.
        """
        if len(self.assignments) == 1:
            return tuple(self.assignments.values())
        came = {each.assignment for found in self.notebooks.values() for each in found}
        clear = tuple(each for each in self.assignments.values() if each in came)
        return clear or (tuple(self.assignments.values()) if came else ())

    def plan(self, wanted: Sequence[str]) -> Iterator[_Planned]:
        """Yield what is to be submitted, in order."""
        self.is_single = len(wanted) == 1
        pools = {key: self._pools(found) for key, found in self.notebooks.items()}
        people = {each: self._roster(each) or () for each in wanted}
        grouped = {each: self._groups(each, pools) for each in wanted}
        listed = [student.student_id.casefold() for student in self.roster or ()]
        for students in zip(*people.values(), strict=True):
            for each, student in zip(wanted, students, strict=True):
                pool = pools.get(student.student_id.casefold(), {}).get(each)
                if student.student_id in grouped[each]:
                    yield grouped[each][student.student_id]
                else:
                    yield self._decide(each, pool) if pool else self._missing(student, each)
        for key in sorted(pools.keys() - set(listed)):
            for each in wanted:
                if pool := pools[key].get(each):
                    yield self._decide(each, pool)

    def _groups(
        self, assignment: str, pools: Mapping[str, Mapping[str, list[_Found]]]
    ) -> dict[str, _Planned]:
        """Return what everybody in a group of which something came submits."""
        planned: dict[str, _Planned] = {}
        roster = self._roster(assignment)
        if roster is None or assignment not in self.special.groups:
            return planned
        for student in roster:
            members = roster.members(roster.group_of(student.student_id))
            came = {
                each.student_id: pool
                for each in members
                if (pool := pools.get(each.student_id.casefold(), {}).get(assignment))
            }
            if came and student.student_id not in planned:
                planned |= self._of_group(assignment, members, came)
        return planned

    def _of_group(
        self, assignment: str, members: list[Student], came: Mapping[str, list[_Found]]
    ) -> dict[str, _Planned]:
        """Return what the members of a group submit, of whom some handed something in."""
        latest = {each: self._newest(self._different(pool)) for each, pool in came.items()}
        chosen = [each for each, pool in latest.items() if self._counts(assignment, each, pool)]
        if len(chosen) == 1:
            latest = came = {chosen[0]: latest[chosen[0]]}
        newest = [each for pool in latest.values() for each in pool]
        different = self._different(newest)
        marked = self.special.marked.get(assignment, ())
        holder = min(came, key=lambda each: each not in marked)
        planned = {}
        for student in members:
            if len(different) > 1 and student.student_id in came:
                names = self._where(different)
                count = f"{len(different)} different notebooks of one group came"
                what = f"{count}, ACCEPT the member whose counts: {names}"
                receipt = self._receipt(student, assignment, came[student.student_id])
                decided = _Planned(
                    student, assignment, None, ("needs-review", what), names, receipt
                )
            elif student.student_id == holder:
                decided = self._decide(assignment, newest, _with_ids(student, members))
            else:
                what = f"{OF_GROUP} {holder}"
                decided = _Planned(student, assignment, None, ("missing", what), "")
            planned[student.student_id] = decided
        return planned

    def _counts(self, assignment: str, student: str, pool: list[_Found]) -> bool:
        """Return whether somebody has said that of a group this member's notebook counts."""
        return student in self.special.accepting or any(
            self._is_accepted(assignment, each) for each in pool
        )

    def _is_accepted(self, assignment: str, found: _Found) -> bool:
        """Return whether somebody has said that this very notebook is the student's."""
        accepted = self.special.accepted.get(assignment)
        return bool(accepted) and (found.student.student_id, self._digest(found.file)) in accepted

    def _where(self, found: Iterable[_Found]) -> str:
        """Return where some files are; the zip around them is named once."""
        first, *others = [each.file.origin for each in found][:5]
        return "; ".join([first, *(each.removeprefix(self.around) for each in others)])

    def _pools(self, found: list[_Found]) -> dict[str, list[_Found]]:
        """Return what one student may have handed in for each problem set."""
        clear = [each for each in found if each.assignment is not None]
        unclear = [each for each in found if each.assignment is None]
        if clear and unclear:
            known = {self._digest(each.file) for each in clear}
            copies = [each for each in unclear if self._digest(each.file) in known]
            unclear = [each for each in unclear if each not in copies]
            self.notes += [f"{each.file.origin}: the same as another one" for each in copies]
        return {
            each: [one for one in clear if one.assignment == each] + unclear
            for each in self.assignments.values()
        }

    def _digest(self, file: File) -> str:
        """Return what is the same for the same bytes; what cannot be read is like nothing else."""
        raw, _ = _content(file, self.read)
        return file.origin if raw is None else hashlib.sha256(raw).hexdigest()

    def _decide(
        self, assignment: str, pool: list[_Found], student: Student | None = None
    ) -> _Planned:
        """Return what one student handed in for one problem set."""
        different = self._newest(self._different(pool))
        accepted = [each for each in different if self._is_accepted(assignment, each)]
        if len(different) > 1 and len(accepted) == 1:
            where = self._where(each for each in different if each not in accepted)
            self.notes.append(f"{accepted[0].file.origin}: was accepted, and counts beside {where}")
            different = accepted
        first = different[0]
        origin = self._where(different)
        doubts = [first.doubt] if first.doubt else []
        if len(different) > 1:
            doubts.append(f"{len(different)} different notebooks came: {origin}")
        elif first.assignment is None:
            doubts.append(
                "neither folder nor file says which problem set this answers; "
                f"ASSIGNMENT={assignment} does, where all that comes answers it"
            )
        problem: tuple[Status, str] | None = None
        if doubts:
            problem = ("needs-review", "; ".join(doubts))
        file = first.file if len(different) == 1 else None
        student = student or first.student
        receipt = self._receipt(student, assignment, different)
        return _Planned(student, assignment, file, problem, origin, receipt)

    def _receipt(self, student: Student, assignment: str, files: list[_Found]) -> Receipt:
        """Return what is known of when something came."""
        first = files[0]
        # the roster of a course cannot say of which of several problem sets its times are
        roster = self.special.rosters.get(assignment) or (self.roster if self.is_single else None)
        time = roster.submitted.get(student.student_id) if roster else None
        if time is None and first.stamp is not None:
            time = self._stamped(first.stamp, student, is_due=assignment in self.special.due)
        said = [each.claim.is_late for each in files if each.claim.is_late is not None]
        late = any(said) if said else None
        return Receipt(assignment, student.student_id, time, late, first.claim.entry)

    def _stamped(self, stamp: File, student: Student, *, is_due: bool) -> datetime | None:
        """Return the time that nbgrader wrote, in UTC; one that is wanted and not read is noted."""
        raw, _ = _content(stamp, self.read)
        text = (raw or b"").decode("utf-8", "replace").strip()
        found = read_time(text, self.special.timezone)
        if found is not None and (found.tzinfo or self.special.timezone):
            return in_utc(found, self.special.timezone)
        if not is_due:
            return None
        self.notes.append(
            f"{stamp.origin}: when {student.student_id} handed in cannot be read; "
            f"{shown(text, 60) or 'nothing'} came, wanted is a time such as "
            "2026-11-20 23:59:00 UTC, or one under submitted in course.toml"
        )
        return None

    def _different(self, pool: list[_Found]) -> list[_Found]:
        """Return the files that differ in their bytes."""
        if len(pool) == 1:
            return pool
        by_digest: dict[str, _Found] = {}
        for each in pool:
            by_digest.setdefault(self._digest(each.file), each)
        if len(by_digest) == 1:
            self.notes.append(f"{pool[0].file.origin}: came {len(pool)} times, the same each time")
        return list(by_digest.values())

    def _newest(self, different: list[_Found]) -> list[_Found]:
        """Return the last upload alone, if Canvas says that all are one file uploaded again."""
        if len(different) == 1 or not all(
            each.claim.platform == "Canvas" and not each.doubt for each in different
        ):
            return different
        stems = [_without_ending(each.claim.base).casefold() for each in different]
        first = min(stems, key=len)
        if any(first not in (stem, RESUBMITTED.sub("", stem)) for stem in stems):
            return different
        newest = max(different, key=lambda each: each.claim.serial)
        older = ", ".join(each.file.origin for each in different if each is not newest)
        self.notes.append(f"{newest.file.origin}: counts as the newest, in place of {older}")
        return [newest]

    def _missing(self, student: Student, assignment: str) -> _Planned:
        """Return that somebody on the roster handed in nothing, or no notebook.

        Whoever may have written a notebook that waits unmatched is not missing.
        """
        others = self.others.get(student.student_id.casefold(), [])
        clear = [each for each in others if each.assignment == assignment]
        if clear:
            names = [each.file.origin for each in clear[:5]]
            what = f"{NO_NOTEBOOK}, only {', '.join(names)}"
            receipt = self._receipt(student, assignment, clear)
            return _Planned(student, assignment, None, ("invalid", what), "; ".join(names), receipt)
        hints = self.hints.get(assignment, [])
        if waits := [origin for names, origin in hints if student.student_id in names]:
            what = f"{WAITS} {', '.join(waits[:5])}"
            return _Planned(student, assignment, None, ("needs-review", what), "")
        if unclear := [each.file.origin for each in others if each.assignment is None]:
            what = f"{NO_NOTEBOOK}; perhaps {', '.join(unclear[:5])}"
            return _Planned(student, assignment, None, ("needs-review", what), "; ".join(unclear))
        what = "nothing was handed in"
        if anybodys := [origin for names, origin in hints if not names]:
            what = f"{PERHAPS} {', '.join(anybodys[:5])}"
        return _Planned(student, assignment, None, ("missing", what), "")


def _claim(
    path: tuple[str, ...], assignments: Iterable[str], roster: Roster | None = None
) -> _Claim:
    """Return whose a file is by its path; what the student named comes last."""
    folders = [part for part in path[:-1] if part.casefold() not in assignments]
    for folder in folders[:1]:
        if match := MOODLE.fullmatch(folder):
            name, user = match["name"], match["user"]
            return _Claim(name, "Moodle", user, base=path[-1], entry=folder)
        return _Claim(folder, base=path[-1])
    stem = _without_ending(path[-1])
    if roster is not None and roster.by_id(stem) is not None:
        return _Claim(stem)
    if match := MOODLE.fullmatch(path[-1]):
        base = match["base"] or ""
        return _Claim(match["name"], "Moodle", match["user"], base=base, entry=path[-1])
    if readings := list(CANVAS.finditer(path[-1])):
        return _canvas_claim(path[-1], readings)
    return _Claim(_without_assignment(stem, assignments, roster))


def _canvas_claim(name: str, readings: list[re.Match[str]]) -> _Claim:
    """Return what Canvas says; what comes first is its own, what follows may be the student's."""
    first = readings[0]
    before = name[: first.start()]
    return _Claim(
        LATE.sub("", before),
        "Canvas",
        first["user"],
        tuple(each["user"] for each in readings[1:]),
        int(first["serial"]),
        first["base"],
        name,
        LATE.search(before) is not None,
    )


def _without_assignment(stem: str, assignments: Iterable[str], roster: Roster | None) -> str:
    """Return the name of a file without the problem set that it may name before or after."""
    for each in assignments:
        match = re.fullmatch(
            rf"{re.escape(each)}[-_ ](?P<after>.+)|(?P<before>.+)[-_ ]{re.escape(each)}",
            stem,
            re.IGNORECASE,
        )
        rest = match and (match["after"] or match["before"])
        if rest and (roster is None or roster.by_id(rest) is not None):
            return rest
    return stem


def _without_ending(name: str) -> str:
    """Return the name of a notebook without its ending."""
    return name[: -len(NOTEBOOK)] if name.casefold().endswith(NOTEBOOK) else name


def _says(stem: str, assignment: str) -> bool:
    """Return whether the name of a file names a problem set."""
    stem, assignment = (re.sub(r"[\s-]+", "_", text) for text in (stem, assignment))
    return re.search(rf"(?<![^\W_]){re.escape(assignment)}(?![^\W_])", stem) is not None


def _stranger(claim: _Claim) -> Student:
    """Return somebody whom no roster tells, with an identifier that no roster can have."""
    parts = [claim.platform, claim.user, claim.name] if claim.platform else [claim.name]
    text = " ".join(part for part in parts if part)
    return Student(UNMATCHED + safe_name(text), shown(claim.user), shown(claim.name))


def _with_ids(student: Student, members: Iterable[Student]) -> Student:
    """Return a student who may have typed what identifies any member of the group."""
    others = [each for each in members if each is not student]
    theirs = [name for each in others for name in (each.student_id, *each.also)]
    return replace(student, also=(*student.also, *theirs))


def _match_canvas(claim: _Claim, roster: Roster) -> tuple[Student, str]:
    """Return whom Canvas means."""
    student = roster.by_lms_id(claim.user)
    if student is None:
        return _stranger(claim), f"the roster has no lms_id {shown(claim.user)}, as Canvas calls it"
    for user in claim.other_users:
        if roster.by_lms_id(user) not in (None, student):
            what = f"the name can mean lms_id {shown(claim.user)} and {shown(user)}"
            return _stranger(claim), what
    return student, ""


def _called(name: str) -> list[tuple[str, ...]]:
    """Return the words of what may be a name, which may have a group before it.

    Examples
    --------
    >>> _called("Group A-Ada Example")
    [('a', 'ada', 'example', 'group'), ('ada', 'example')]
    """
    return [name_words(part) for part in _parts(name)]


def _parts(name: str) -> list[str]:
    """Return a name without what may be a group before it, in all ways."""
    places = [0, *(match.end() for match in re.finditer("-", name))]
    return [name[place:] for place in places]


def _match_moodle(claim: _Claim, roster: Roster, *, own: bool) -> tuple[Student, str]:
    """Return whom Moodle means: the number counts only in one assignment, so the name must fit.

    A number of this assignment's `own` table decides, unless the name is somebody else's.
    """
    student = roster.by_lms_id(claim.user)
    if student is None:
        student = roster.by_name(claim.name)
        if student is not None and not student.lms_id:
            return student, ""
        what = f"the roster has no lms_id {shown(claim.user)} for {shown(claim.name)}"
        return _stranger(claim), f"{what}; Moodle numbers participants anew in each assignment"
    prefix = name_words(re.sub(r"[0-9]+$", "", student.lms_id))
    expected = [name_words(student.name), prefix or (ANONYMOUS,), (ANONYMOUS,)]
    said = _called(claim.name)
    if not name_words(student.name) or any(each in expected for each in said):
        return student, ""
    others = [each for name in _parts(claim.name) for each in roster.all_called(name)]
    whole = set(expected[0])
    is_longer = any(words and (whole <= set(words) or whole >= set(words)) for words in said)
    if not others and (own or is_longer):
        return student, ""
    what = f"lms_id {shown(claim.user)} is {student.name} on the roster"
    return _stranger(claim), f"{what}, but Moodle says {shown(claim.name)}"
