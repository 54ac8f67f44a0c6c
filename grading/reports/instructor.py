"""What an instructor sees of a run: how far it is, and in the end what came of it."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from statistics import mean, quantiles
from typing import TYPE_CHECKING, Self, TextIO, TypeVar

from tqdm import tqdm

from grading.results import FOR_A_PERSON
from grading.safe_text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grading.problem_set import ProblemSet, Question
    from grading.results import Mark, Result

Item = TypeVar("Item")
REASONS = {
    "needs-review": "For somebody to look at:",
    "invalid": "To ask for another file:",
}
STATUSES = ("graded", "needs-review", "invalid", "missing")
EVERY = 30.0
"""Seconds between two bars of progress where there is no terminal."""

SOON = 1.0
"""Seconds before a step other than marking shows how far it is."""

MOST_LISTED = 20
BINS = 10
BAR = 40
"""Students listed with their reasons; bars of the histogram, and characters of the longest."""


class Progress:
    """How far a run is: a bar on a terminal, and one now and then in a log.

    It goes to `stream`, standard error by default. Submissions that have not changed take no time,
    nor do the `missing` ones, and the bar is one of the others. The time left is by the mean of
    those that were marked since `start`.
    """

    def __init__(self, total: int, stream: TextIO | None = None, *, missing: int = 0) -> None:
        stream = sys.stderr if stream is None else stream
        self._counts: Counter[str] = Counter()
        tqdm.monitor_interval = 0  # or its thread would run where workers fork
        self._bar = tqdm(
            total=total - missing,
            file=stream,
            mininterval=0.1 if stream.isatty() else EVERY,
            miniters=1,
            dynamic_ncols=True,
            bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]",
        )

    def __enter__(self) -> Self:
        """Return the bar."""
        return self

    def __exit__(self, *_: object) -> None:
        """Write how far it came."""
        self._bar.close()

    def start(self) -> None:
        """Begin to measure the time: marking begins."""
        self._bar.reset(self._bar.total)

    def add(self, *results: Result) -> None:
        """Count results that came together."""
        for result in results:
            self._count(result.status)
        self._bar.update(sum(result.status != "missing" for result in results))

    def unchanged(self, *, missing: bool = False) -> None:
        """Count a submission that was graded before and has not changed, or does not come again."""
        self._bar.total -= not missing
        self._count("unchanged")

    def _count(self, what: str) -> None:
        """Count one of a kind."""
        self._counts[what] += 1
        kinds = (*STATUSES, "unchanged")
        words = [f"{kind} {self._counts[kind]}" for kind in kinds if self._counts[kind]]
        self._bar.set_postfix_str(", ".join([*self._left(), *words]), refresh=False)

    def _left(self) -> list[str]:
        """Return the time that is left, once anything was marked."""
        marked = sum(self._counts[each] for each in STATUSES if each != "missing")
        left = self._bar.total - marked
        if not marked or not left:
            return []
        return [f"{tqdm.format_interval(self._bar.format_dict['elapsed'] / marked * left)} left"]


def counted(
    items: Iterable[Item], total: int, what: str, stream: TextIO | None = None
) -> Iterator[Item]:
    """Give things one after the other, and show how far that is where it takes a while."""
    stream = sys.stderr if stream is None else stream
    tqdm.monitor_interval = 0
    interval = 0.1 if stream.isatty() else EVERY
    form = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]"
    return tqdm(
        items,
        what,
        total,
        file=stream,
        mininterval=interval,
        delay=SOON,
        miniters=1,
        leave=None,
        dynamic_ncols=True,
        bar_format=form,
    )


@dataclass
class Tally:
    """The numbers of one problem set, gathered from results that are not kept."""

    problem_set: ProblemSet  # the problem set
    statuses: Counter[str] = field(default_factory=Counter)  # how many results have each status
    # the totals of those who were graded
    totals: array[float] = field(default_factory=lambda: array("d"))
    # for each question the shares of its points that were earned, where it has been marked
    shares: dict[str, array[float]] = field(default_factory=dict)
    # how many marks by hand each question still waits for
    open_marks: Counter[str] = field(default_factory=Counter)
    # how many answers to each question no program can mark here
    not_here: Counter[str] = field(default_factory=Counter)
    # how many marks of each question an older check made, or a person before the check changed
    older: Counter[str] = field(default_factory=Counter)
    decided_before: Counter[str] = field(default_factory=Counter)
    # how many marks each version of the grader made
    graders: Counter[str] = field(default_factory=Counter)
    # the first of those that somebody has to look at, or to ask for another file, with reasons
    review: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, Question]:
        """Return the questions by their names."""
        return {question.name: question for question in self.problem_set.questions}

    def add(self, result: Result) -> None:
        """Take the numbers out of a result."""
        self.statuses[result.status] += 1
        listed = self.review.setdefault(result.status, [])
        if result.status in REASONS and len(listed) < MOST_LISTED:
            who = shown(result.student.student_id, 40)
            listed.append(f"{who}: {shown(result.message) or 'no reason was given'}")
        if result.status != "graded":
            return
        self.totals.append(result.total or 0.0)
        for mark in result.marks:
            self._note_versions(mark)
            if mark.points is None:
                self.open_marks[mark.question] += 1
                self.not_here[mark.question] += mark.message.startswith(FOR_A_PERSON)
            elif mark.maximum:
                share = mark.points / mark.maximum
                self.shares.setdefault(mark.question, array("d")).append(share)

    @property
    def is_mixed(self) -> bool:
        """Return whether some of the marks would be made otherwise today."""
        return bool(self.older or self.decided_before or len(self.graders) > 1)

    def _note_versions(self, mark: Mark) -> None:
        """Count a mark among the older ones, if it is one."""
        question = self.by_name.get(mark.question)
        if question is not None and question.is_older(mark):
            self.older[mark.question] += 1
        if mark.before:
            self.decided_before[mark.question] += 1
        if mark.grader:
            self.graders[mark.grader] += 1

    def lines(self) -> Iterator[str]:
        """Give the summary, line by line."""
        yield f"{self.problem_set.name}: {self.statuses.total()} students"
        yield from (f"  {self.statuses[each]:6} {each}" for each in STATUSES)
        if self.totals:
            yield ""
            yield from self._marks()
        if count := self.not_here.total():
            answers = "One answer is" if count == 1 else f"{count} answers are"
            where = ", ".join(f"{name} ({each})" for name, each in (+self.not_here).items())
            yield ""
            yield f"{answers} for a person, as no program can mark them here: {where}"
        if self.is_mixed:
            yield ""
            yield from self._versions()
        for status, heading in REASONS.items():
            if listed := self.review.get(status):
                yield ""
                yield heading
                yield from (f"  {line}" for line in listed)
                if more := self.statuses[status] - len(listed):
                    yield f"  and {more} more"

    def _versions(self) -> Iterator[str]:
        """Say which marks are older than the checks and schemes, and how to make them anew."""
        for name, count in sorted(self.older.items()):
            marks = "One mark" if count == 1 else f"{count} marks"
            yield f"{marks} of {name} by an older check; REMARK={name} makes them anew."
        for name, count in sorted(self.decided_before.items()):
            what = "One decision" if count == 1 else f"{count} decisions"
            yield f"{what} by hand about {name} from before its check or scheme changed."
        if len(self.graders) > 1:
            parts = (f"{count} by {grader}" for grader, count in self.graders.most_common())
            yield f"Marks by several versions of the grader: {', '.join(parts)}."

    def _marks(self) -> Iterator[str]:
        """Give what is known of the marks, where there are any."""
        maximum = self.problem_set.maximum
        so_far = " so far, with marks by hand still to come" if self.open_marks else ""
        yield f"Totals of {len(self.totals)} graded, of {maximum:g} points{so_far}:"
        if len(self.totals) > 1:
            low, median, high = quantiles(self.totals, n=4, method="inclusive")
            yield (
                f"  mean {mean(self.totals):.2f}, median {median:.2f}, "
                f"quartiles {low:.2f} and {high:.2f}, "
                f"from {min(self.totals):.2f} to {max(self.totals):.2f}"
            )
        else:
            yield f"  {self.totals[0]:.2f}"
        yield from histogram(self.totals, maximum)
        yield ""
        yield "Questions:"
        yield from (f"  {self._question(each)}" for each in self.problem_set.questions)

    def _question(self, question: Question) -> str:
        """Return what is known of one question."""
        waiting = self.open_marks[question.name]
        still = f"{waiting} still to be marked by hand" if waiting else ""
        shares = self.shares.get(question.name)
        if not shares:
            return f"{question.name}: {still or 'nobody has a mark'}"
        if waiting and question.by_hand:
            return f"{question.name}: {len(shares)} marked, {still}"
        words = (
            f"mean {mean(shares):.0%} of {question.points:g} points, "
            f"nothing for {sum(share <= 0 for share in shares)} of {len(shares)}"
        )
        return f"{question.name}: {', '.join(filter(None, (words, still)))}"


def histogram(totals: Iterable[float], maximum: float) -> list[str]:
    r"""Return the distribution of totals in lines of text.

    There is one for each tenth of the points. A line's range holds its lower end, and the last one
    both ends.

    Examples
    --------
    >>> print("\n".join(histogram([0.5, 19, 20], 20)[::9]))
         0 -    2       1 ####################
        18 -   20       2 ########################################
    """
    width = maximum / BINS if maximum > 0 else 1.0
    # 1/3 + 4/3 + 1/3 is a little less than 2, where a range may begin
    places = Counter(min(BINS - 1, max(0, int(total / width + 1e-9))) for total in totals)
    most = max(places.values(), default=1)
    return [
        f"  {place * width:>4g} - {(place + 1) * width:>4g}  {places[place]:6} "
        f"{'#' * -(-BAR * places[place] // most)}".rstrip()
        for place in range(BINS)
    ]


def tally(results: Iterable[Result], problem_set: ProblemSet) -> Tally:
    """Return the numbers of a problem set; of the results, one for each student, none is kept."""
    counted = Tally(problem_set)
    for result in results:
        counted.add(result)
    return counted


def summary(results: Iterable[Result], problem_set: ProblemSet) -> str:
    """Return what came of a problem set, for the instructor.

    The text has no control characters. Means and quartiles are those of graded submissions alone,
    and there are none without one.
    """
    return "\n".join(tally(results, problem_set).lines())
