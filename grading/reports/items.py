"""What a class's marks say of the questions: how hard each is, and whether its key looks right.

Difficulty and discrimination are those of classical test theory. Intervals hold 95 % and come from
drawing students anew with replacement, 2,000 times with a fixed seed: Efron, B. (1979), Bootstrap
methods: another look at the jackknife, The Annals of Statistics 7, 1-26.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grading.gradebook.book import Book
from grading.private import write_private
from grading.problem_set import SOURCE, problem_sets
from grading.reports.pages import render, rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from grading.problem_set import ProblemSet, Question
    from grading.results import Mark, Result

FEWEST = 10
DRAWS = 2000
STRONG = 5
MOST = 0.9
BEYOND = 2.5
"""Students without whom nothing is concluded; classes that are drawn; students without whom the
strongest quarter says nothing, and the part of it that earns nothing for the same mistake when a
key looks wrong; standard errors by which a mistake goes with strength when a key looks wrong."""

NUMERAL = re.compile(r"(?<![\w.])[-−]?\d[\d.,]*(?:e[-+]?\d+)?(?!\w)")
LONGEST = 300
MOST_MESSAGES = 12
COLUMNS = ("question", "what", "value", "low", "high", "count", "text")
"""Characters of a message, and messages of a question on the page."""


class Measured(NamedTuple):
    """A number with its interval."""

    value: float
    low: float
    high: float


class Message(NamedTuple):
    """What students were told about one question, with # for its numbers."""

    text: str
    count: int  # how many were told
    points: float  # how many points they earned in the mean


@dataclass(frozen=True)
class Item:
    """What the marks say of one question."""

    question: Question
    count: int  # how many have a mark
    difficulty: Measured | None  # the mean part of the points; the interval is two standard errors
    discrimination: Measured | None  # how it correlates with the points of all other questions
    # the mean part in each quarter of the class, from the weakest by the other questions
    quarters: tuple[float, ...]
    messages: tuple[Message, ...]  # the most frequent first
    flag: str = ""  # why the key looks wrong, if it does


@dataclass(frozen=True)
class Analysis:
    """What the marks say of a problem set."""

    assignment: str
    count: int  # how many were graded
    whole: int  # how many of them have every mark that the set as a whole is judged by
    items: tuple[Item, ...]
    reliability: Measured | None  # Cronbach's alpha
    left_out: dict[str, int]  # how many have each other status
    open: dict[str, int]  # how many marks by hand are still to come, for each question


def analyze(results: Iterable[Result], problem_set: ProblemSet) -> Analysis:
    """Return what the results of a class say of its questions.

    Only what is graded counts, and no mark that is still to come. A question that half of the class
    has no mark for yet is not part of the total.
    """
    statuses: Counter[str] = Counter()
    marks: dict[str, list[Mark | None]] = {each.name: [] for each in problem_set.questions}
    for result in results:
        statuses[result.status] += 1
        if result.status == "graded":
            given = {mark.question: mark for mark in result.marks if mark.points is not None}
            for name, column in marks.items():
                column.append(given.get(name))
    graded = statuses.pop("graded", 0)
    decided = {name: [each for each in column if each] for name, column in marks.items()}
    names = [name for name, column in decided.items() if len(column) * 2 > graded]
    rows = [row for row in zip(*(marks[name] for name in names), strict=True) if all(row)]
    points = np.array([[mark.points for mark in row if mark] for row in rows], dtype=float)
    points = points.reshape(len(rows), len(names)).T
    discriminations, reliability = _measured(points)
    items = []
    for question in problem_set.questions:
        name, column = question.name, decided[question.name]
        difficulty = _difficulty([mark.points or 0.0 for mark in column], question.points)
        messages = () if question.by_hand else _messages(column)
        item = Item(question, len(column), difficulty, None, (), messages)
        if name in names and len(rows) >= FEWEST and len(names) > 1:
            i = names.index(name)
            rest = points.sum(axis=0) - points[i]
            told = [_plain(mark.message) for row in rows if (mark := row[i])]
            item = replace(
                item,
                discrimination=discriminations[i],
                quarters=_quarters(points[i], rest, question.points),
                flag=_flag(points[i], rest, told, discriminations[i]),
            )
        items.append(item)
    still = {name: graded - len(column) for name, column in decided.items()}
    still = {name: count for name, count in still.items() if count}
    return Analysis(
        problem_set.name, graded, len(rows), tuple(items), reliability, dict(statuses), still
    )


def _flag(
    points: np.ndarray, rest: np.ndarray, told: Sequence[str], discrimination: Measured | None
) -> str:
    """Return why the key of a question looks wrong, or nothing."""
    if discrimination and discrimination.high < 0:
        return "Students who earn more elsewhere earn less here, beyond what chance would do"
    if not points.any():
        return "Nobody earns anything"
    order = np.argsort(-rest, kind="stable")
    strong, others = np.split(order, [-(-len(order) // 4)])
    for message, count in Counter(told[i] for i in strong if points[i] <= 0).most_common():
        failed = np.array([each == message for each in told]) & (points <= 0)
        if not message or not rest.std() or failed.all():
            continue
        # students of the same ability draw the mistake or not: then this is standard normal
        beyond = np.corrcoef(failed, rest)[0, 1] * np.sqrt(len(rest))
        most = len(strong) >= STRONG and count >= MOST * len(strong)
        worse = points[strong].mean() <= points[others].mean()
        blunt = discrimination is None or discrimination.low <= 0
        if (beyond >= BEYOND and blunt) or (most and worse):
            return (
                f"Of the {len(strong)} students who earn most elsewhere, {count} earn nothing "
                f"here and are told the same: {message}"
            )
    return ""


def alpha(covariances: np.ndarray) -> np.ndarray:
    """Return Cronbach's alpha from covariances of k questions, of shape (..., k, k).

    It is k/(k-1) times one minus the sum of variances over the variance of the sum: Cronbach, L. J.
    (1951), Coefficient alpha and the internal structure of tests, Psychometrika 16, 297-334.

    Examples
    --------
    >>> float(alpha(np.array([[1.0, 0.5], [0.5, 1.0]])).round(3))
    0.667
    """
    size = covariances.shape[-1]
    own = np.trace(covariances, axis1=-2, axis2=-1)
    return size / (size - 1) * (1 - own / covariances.sum(axis=(-2, -1)))


def rest_correlations(covariances: np.ndarray) -> np.ndarray:
    """Return how each question correlates with the sum of the others, from covariances.

    This is the corrected item-total correlation: Henrysson, S. (1963), Correction of item-total
    correlations in item analysis, Psychometrika 28, 211-218.

    Examples
    --------
    >>> rest_correlations(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([0.5, 0.5])
    """
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    with_all = covariances.sum(axis=-1)
    rest = covariances.sum(axis=(-2, -1))[..., np.newaxis] - 2 * with_all + own
    return (with_all - own) / np.sqrt(own * rest)


def _measured(points: np.ndarray) -> tuple[list[Measured | None], Measured | None]:
    """Return discriminations and alpha with intervals, from points by question and student."""
    size, whole = points.shape
    if size < 2 or whole < FEWEST:
        return [None] * size, None
    rng = np.random.default_rng(0)
    often = rng.multinomial(whole, np.full(whole, 1 / whole), size=DRAWS)
    often = np.vstack([np.ones(whole), often]) / whole  # the class itself comes first
    means = often @ points.T
    products = (points[:, np.newaxis] * points).reshape(size * size, whole)
    covariances = (often @ products.T).reshape(-1, size, size)
    covariances -= means[:, :, np.newaxis] * means[:, np.newaxis]
    covariances[np.abs(covariances) < 1e-12] = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = [*rest_correlations(covariances).T, alpha(covariances)]
    *discriminations, reliability = map(_interval, columns)
    return discriminations, reliability


def _interval(values: np.ndarray) -> Measured | None:
    """Return the first value with the interval of the others, if there is a first."""
    if not np.isfinite(values[0]):
        return None
    low, high = np.nanquantile(values[1:], [0.025, 0.975])
    return Measured(float(values[0]), float(low), float(high))


def _difficulty(points: Sequence[float], maximum: float) -> Measured | None:
    """Return the mean part of the points, with two standard errors around it."""
    if not points or not maximum:
        return None
    parts = np.array(points) / maximum
    error = parts.std(ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else np.nan
    mean = float(parts.mean())
    low, high = np.clip([mean - 2 * error, mean + 2 * error], 0, 1).tolist()
    return Measured(mean, low, high)


def _quarters(points: np.ndarray, rest: np.ndarray, maximum: float) -> tuple[float, ...]:
    """Return the mean part of the points in each quarter of the class, by the other questions."""
    if len(points) < FEWEST or not maximum:
        return ()
    # who has the same points elsewhere shares alike what they earn here
    values, place = np.unique(rest, return_inverse=True)
    alike = np.array([points[place == i].mean() for i in range(len(values))])[place]
    parts = np.array_split(alike[np.argsort(rest, kind="stable")] / maximum, 4)
    return tuple(float(part.mean()) for part in parts)


def _messages(marks: Iterable[Mark]) -> tuple[Message, ...]:
    """Return how often each message was given, and what those earned who got it."""
    told: dict[str, list[float]] = defaultdict(list)
    for mark in marks:
        if mark.message:
            told[_plain(mark.message)].append(mark.points or 0.0)
    counted = [Message(text, len(each), sum(each) / len(each)) for text, each in told.items()]
    return tuple(sorted(counted, key=lambda message: (-message.count, message.text)))


def _plain(message: str) -> str:
    """Return a message without its numbers, which differ from student to student."""
    return NUMERAL.sub("#", " ".join(message.split()))[:LONGEST]


def report(
    out: Path, assignment: str | None = None, url: str | None = None, source: Path = SOURCE
) -> list[str]:
    """Judge the questions of the gradebook in the folder `out`; return what was written.

    For each problem set, or only the one named, these are the files ``items-<set>.html`` and
    ``items-<set>.csv``. A gradebook that is not in `out` has the address `url`. A ValueError says
    that nothing is graded there.
    """
    known = problem_sets(source)
    if assignment is not None and assignment not in known:
        raise ValueError(f"ASSIGNMENT must be one of {', '.join(known)}; got {assignment}")
    if url is None and not (out / "gradebook.db").exists():
        raise ValueError(f"OUT must be a folder that make grade has filled; {out} has no gradebook")
    written = []
    with Book(url or f"sqlite:///{(out / 'gradebook.db').resolve()}") as book:
        for name in [assignment] if assignment else known:
            found = analyze(book.results(name), known[name])
            if not found.count:
                continue
            path = out / f"items-{name}.html"
            write_private(path, page(found))
            write_private(path.with_suffix(".csv"), table(found))
            flags = sum(bool(item.flag) for item in found.items)
            written.append(f"{path}: {flags} of {len(found.items)} keys look wrong")
    if not written:
        wanted = assignment or "any problem set"
        raise ValueError(f"OUT must hold graded submissions of {wanted}; {out} has none")
    return written


def table(found: Analysis) -> str:
    """Return the numbers as CSV, a line for each."""
    rows: list[tuple[object, ...]] = [COLUMNS]
    for item in found.items:
        name = item.question.name
        rows += [
            (name, "difficulty", *_numbers(item.difficulty), item.count, ""),
            (name, "discrimination", *_numbers(item.discrimination), found.whole, ""),
        ]
        rows += [
            (name, f"quarter {i}", round(part, 4), "", "", "", "")
            for i, part in enumerate(item.quarters, start=1)
        ]
        rows += [
            (name, "message", round(message.points, 4), "", "", message.count, message.text)
            for message in item.messages
        ]
        if item.flag:
            rows.append((name, "flag", "", "", "", "", item.flag))
    rows.append(("", "alpha", *_numbers(found.reliability), found.whole, ""))
    rows += [
        ("", status, "", "", "", count, "left out") for status, count in found.left_out.items()
    ]
    rows += [(name, "open", "", "", "", count, "left out") for name, count in found.open.items()]
    return rows_as_csv(rows)


def _numbers(measured: Measured | None) -> list[object]:
    """Return a number and its interval; nothing for what is not known."""
    return ["" if np.isnan(each) else round(each, 4) for each in measured or (np.nan,) * 3]


def page(found: Analysis) -> str:
    """Return the page for the instructor, whole in itself."""
    return render(
        "items.html",
        title=found.assignment.replace("_", " ").capitalize(),
        found=found,
        few=found.whole < FEWEST,
        most=MOST_MESSAGES,
        number=lambda value: f"{value:.2f}".replace("-", "−"),
        percent=lambda value: f"{100 * value:.0f}%".replace("-", "−"),
    )
