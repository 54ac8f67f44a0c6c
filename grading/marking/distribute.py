"""Marks many submissions by workers: on this machine, or on a cluster that runs already.

Submissions travel in batches, and a batch's results come back by value, so that workers need the
project and bubblewrap but share no files with the one who grades. One process, this one, writes.
What a dead worker took with it, or what takes too long, is sent again, alone in the end; what
still does not come back is for a person to look at.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from grading.marking import running
from grading.marking.local import Pool
from grading.marking.submission import Conditions, mark, without_points
from grading.results import FAILED, Result, Submission
from grading.sandbox.sandbox import SandboxUnavailable, why_unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from grading.problem_set import ProblemSet

BATCH = 10
TRIES = 2
LOOK_EVERY = 5.0  # seconds
USUAL = 60.0  # seconds for one notebook, with what is done outside of the sandbox


class Workers(Protocol):
    """Processes that work for this one, on this machine or on others."""

    ahead: int  # how many tasks each of them may have at a time

    @property
    def count(self) -> int:
        """Return how many there are now."""

    def send(self, work: Callable[..., Any], *arguments: object) -> Any:
        """Give one of them work, and return the task."""

    def finished(self, tasks: Collection[Any], seconds: float) -> list[Any]:
        """Wait, so long at most, for the next tasks that are done or whose workers are dead."""

    def take(self, task: Any) -> Any:
        """Return what came of such a task, or raise its exception; None if its worker is dead."""

    def stop(self, task: Any) -> None:
        """End the worker of a task, so that `take` returns None, and start another."""


@contextmanager
def cluster(workers: int | None = None, scheduler: str | None = None) -> Iterator[Workers]:
    """Give workers: those of a cluster that runs already, or some made here for the occasion.

    With the address of a running scheduler of Dask, ``tcp://host:port``, nothing is started here;
    otherwise `workers` processes are, one for each processor core unless told otherwise, and
    stopped afterwards. Raises ValueError if `workers` is less than one, or no scheduler answers.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"WORKERS must be at least 1; got {workers}")
    if scheduler:
        from grading.marking.remote import connected  # Dask takes a second to import

        with connected(scheduler) as found:
            yield found
        return
    with Pool(workers or os.cpu_count() or 1) as pool:
        yield pool


@dataclass
class Batch:
    """Submissions that travel together."""

    submissions: tuple[Submission, ...]  # what to mark
    tries: int = 0  # how often they were sent before
    since: float = field(default_factory=time.monotonic)  # when they were last sent


def mark_batch(
    submissions: tuple[Submission, ...],
    problem_sets: Mapping[str, ProblemSet],
    conditions: Conditions,
) -> list[Result]:
    """Mark some submissions, one after the other; this is what a worker does."""
    return [_mark_safely(each, problem_sets[each.assignment], conditions) for each in submissions]


def _mark_safely(submission: Submission, problem_set: ProblemSet, conditions: Conditions) -> Result:
    """Mark one submission; where the grader itself fails on it, the others still get theirs."""
    try:
        return mark(submission, problem_set, conditions)
    except SandboxUnavailable as failure:
        if not conditions.unsafe and why_unavailable():
            raise
        reason = f"{FAILED} its sandbox did not start: {failure}"
    except Exception as failure:  # noqa: BLE001, one submission must not stop the others
        reason = f"{FAILED} {type(failure).__name__}: {failure}"
    return without_points(submission, problem_set, "needs-review", reason[:300])


def mark_all(
    workers: Workers,
    submissions: Iterable[Submission],
    problem_sets: Mapping[str, ProblemSet],
    conditions: Conditions,
    *,
    size: int = BATCH,
    count: int | None = None,
    work: Callable[..., list[Result]] | None = None,
) -> Iterator[list[Result]]:
    """Mark submissions by workers and give the results as they come.

    Submissions are read as workers become free, so that few are in memory at a time. At most `size`
    travel together, and fewer in the last batches if their `count` is known. `work` is what workers
    do in place of `mark_batch`; tests simulate it. Over all batches every submission
    has exactly one result. Raises `sandbox.SandboxUnavailable` if a worker cannot keep students'
    code in a sandbox.
    """
    fresh = (Batch(tuple(each)) for each in _batched(submissions, size, count, workers.count))
    under_way = _UnderWay(workers, problem_sets, conditions, work or mark_batch)
    while under_way.send_all(fresh):
        for task in under_way.finished():
            results = under_way.take(task)
            under_way.send_all(fresh)  # so that no worker waits until results are written
            if results:
                yield results


@dataclass
class _UnderWay:
    """The batches that workers have, and those that have to be sent again."""

    workers: Workers
    problem_sets: Mapping[str, ProblemSet]
    conditions: Conditions
    work: Callable[..., list[Result]]
    running: dict[Any, Batch] = field(default_factory=dict)
    again: deque[Batch] = field(default_factory=deque)
    # for the last time, when nothing else runs that could do harm
    alone: deque[Batch] = field(default_factory=deque)

    def send_all(self, fresh: Iterator[Batch]) -> bool:
        """Send what there is room for, and return whether anything is under way."""
        places = self.workers.ahead * max(1, self.workers.count)
        while len(self.running) < places and (
            batch := self.again.popleft() if self.again else next(fresh, None)
        ):
            self.send(batch)
        if not self.running and self.alone:
            self.send(self.alone.popleft())
        return bool(self.running)

    def send(self, batch: Batch) -> None:
        """Send one batch."""
        assignments = {each.assignment for each in batch.submissions}
        needed = {name: self.problem_sets[name] for name in assignments}
        batch.since = time.monotonic()
        task = self.workers.send(self.work, batch.submissions, needed, self.conditions)
        self.running[task] = batch

    def finished(self) -> list[Any]:
        """Wait for the next batches that are done or lost; stop one that is late."""
        done = self.workers.finished(self.running, LOOK_EVERY)
        now = time.monotonic()
        for task, batch in self.running.items():
            if task not in done and now - batch.since > self.workers.ahead * _patience(
                batch, self.problem_sets, self.conditions
            ):
                self.workers.stop(task)
                for other in self.running.values():  # they waited for this one
                    other.since = time.monotonic()
                return [*done, task]
        return done

    def take(self, task: Any) -> list[Result]:
        """Return the results of a batch that is done, or see to it that it is sent again."""
        batch = self.running.pop(task)
        results: list[Result] | None = self.workers.take(task)
        if results is not None:
            return results
        if batch.tries == TRIES:
            return [self.lost(each) for each in batch.submissions]
        for each in batch.submissions:
            alone = Batch((each,), batch.tries + 1)
            (self.alone if alone.tries == TRIES else self.again).append(alone)
        return []

    def lost(self, submission: Submission) -> Result:
        """Return the result of a submission that did not come back from its last try."""
        reason = f"{FAILED} its worker was lost {TRIES + 1} times"
        problem_set = self.problem_sets[submission.assignment]
        return without_points(submission, problem_set, "needs-review", reason)


def batch_size(left: int, workers: int, size: int = BATCH) -> int:
    """Return how many submissions should travel together, so that all workers end about together.

    `left` submissions are left, and `size` of them may travel together.

    Examples
    --------
    >>> [batch_size(left, workers=2) for left in (1000, 80, 40, 12)]
    [10, 10, 5, 1]
    """
    return max(1, min(size, left // (4 * max(1, workers))))


def _batched(
    submissions: Iterable[Submission], size: int, count: int | None, workers: int
) -> Iterator[list[Submission]]:
    """Give submissions in lists of `size`, and in shorter ones when few of `count` are left."""
    iterator, taken = iter(submissions), 0
    while True:
        most = size if count is None else batch_size(count - taken, workers, size)
        batch = list(itertools.islice(iterator, most))
        if not batch:
            return
        yield batch
        taken += len(batch)


def _patience(
    batch: Batch, problem_sets: Mapping[str, ProblemSet], conditions: Conditions
) -> float:
    """Return for how long a batch is waited for.

    A single notebook has the longest that it can take, and others beside it what they usually take
    at most: where that is too short, each has its own time alone. Where the processors have more
    to do than they can, everything takes so many times longer.
    """
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    most = max(
        running.longest(conditions.limits, problem_sets[each.assignment].questions)
        for each in batch.submissions
    )
    return crowd * (most + USUAL * len(batch.submissions))
