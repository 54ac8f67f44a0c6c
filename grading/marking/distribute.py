"""Marks many submissions on Dask: on this machine, or on a cluster that runs already.

Submissions travel in batches, and a batch's results come back by value, so that workers need the
project and bubblewrap but share no files with the one who grades. One process, this one, writes.
What a dead worker took with it, or what takes too long, is sent again, alone in the end; what
still does not come back is for a person to look at.
"""

from __future__ import annotations

import itertools
import os
import signal
import tempfile
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grading.marking.submission import OUR_FAULT, Conditions, mark, without_points
from grading.results import Result, Submission
from grading.sandbox.sandbox import SandboxUnavailable, why_unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from distributed import Client, Future

    from grading.problem_set import ProblemSet

BATCH = 10
ANSWERS_WITHIN = "10s"
STOPS_WITHIN = 60.0  # seconds
TRIES = 2
AHEAD = 2


@contextmanager
def cluster(workers: int | None = None, scheduler: str | None = None) -> Iterator[Client]:
    """Give a client of a cluster: of one made here for the occasion, or of one that runs already.

    With the address of a running scheduler, ``tcp://host:port``, nothing is started here; otherwise
    `workers` processes are, one for each processor core unless told otherwise, and stopped
    afterwards. Raises ValueError if `workers` is less than one, or no scheduler answers.
    """
    import dask
    from distributed import Client, LocalCluster

    if workers is not None and workers < 1:
        raise ValueError(f"WORKERS must be at least 1; got {workers}")
    dask.config.set(
        {
            # A batch that kills its worker is sent again in pieces by us, not as a whole by Dask.
            "distributed.scheduler.allowed-failures": 0,
            # Dask remembers a thousand messages to each worker; ours carry submissions.
            "distributed.admin.low-level-log-length": 10,
            # A worker that starts anew on a busy machine may take a while.
            "distributed.deploy.lost-worker-timeout": "2 minutes",
            # Workers wait for sandboxes; to watch them wait takes time from the sandboxes.
            "distributed.worker.profile.enabled": False,
            "distributed.admin.system-monitor.interval": "10s",
            "distributed.admin.tick.interval": "1s",
        }
    )
    if scheduler:
        try:
            client = Client(scheduler, timeout=ANSWERS_WITHIN)
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(f"SCHEDULER {scheduler} does not answer: {error}") from None
        with client:
            yield client
        return
    with (
        tempfile.TemporaryDirectory(prefix="grading-") as scratch,
        dask.config.set({"temporary-directory": scratch}),
        LocalCluster(
            n_workers=workers or os.cpu_count() or 1,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            local_directory=scratch,
            security=True,  # or other users of this machine could send work to it
        ) as local,
        Client(local) as client,
    ):
        yield client


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
        reason = f"its sandbox did not start: {failure}"
    except Exception as failure:  # noqa: BLE001, one submission must not stop the others
        reason = f"the grader itself failed: {type(failure).__name__}: {failure}"
    return without_points(
        submission, problem_set, "needs-review", reason[:300], for_student=OUR_FAULT
    )


def mark_all(
    client: Client,
    submissions: Iterable[Submission],
    problem_sets: Mapping[str, ProblemSet],
    conditions: Conditions,
    *,
    size: int = BATCH,
    count: int | None = None,
    work: Callable[..., list[Result]] | None = None,
) -> Iterator[list[Result]]:
    """Mark submissions on a cluster and give the results as they come.

    Submissions are read as workers become free, so that few are in memory at a time. At most `size`
    travel together, and fewer in the last batches if their `count` is known. `work` is what workers
    do in place of `mark_batch`; tests and benchmarks simulate it. Over all batches every submission
    has exactly one result. Raises `sandbox.SandboxUnavailable` if a worker cannot keep students'
    code in a sandbox.
    """
    places = len(client.nthreads())
    fresh = (Batch(tuple(each)) for each in _batched(submissions, size, count, places))
    under_way = _UnderWay(client, problem_sets, conditions, work or mark_batch)
    while under_way.send_all(fresh):
        for future in _finished(under_way.running, conditions):
            if results := under_way.take(future):
                yield results


@dataclass
class _UnderWay:
    """The batches that are on the cluster, and those that have to be sent again."""

    client: Client
    problem_sets: Mapping[str, ProblemSet]
    conditions: Conditions
    work: Callable[..., list[Result]]
    running: dict[Future, Batch] = field(default_factory=dict)
    again: deque[Batch] = field(default_factory=deque)
    # for the last time, when nothing else runs that could do harm
    alone: deque[Batch] = field(default_factory=deque)

    def send_all(self, fresh: Iterator[Batch]) -> bool:
        """Send what there is room for, and return whether anything is under way."""
        workers = len(self.client.nthreads())
        wanted = len(getattr(self.client.cluster, "worker_spec", ()))
        if workers < wanted:  # Dask has waited for some of ours in vain
            self.client.cluster.scale(wanted)  # does nothing while one is on its way
        places = AHEAD * max(1, workers)
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
        future = self.client.submit(
            self.work, batch.submissions, needed, self.conditions, pure=False
        )
        self.running[future] = batch

    def take(self, future: Future) -> list[Result]:
        """Return the results of a batch that is done, or see to it that it is sent again."""
        batch = self.running.pop(future)
        if future.status == "pending":
            _stop(self.client, future)
            for other in self.running.values():  # they waited for this one
                other.since = time.monotonic()
        results, retry = _outcome(future, batch, self.problem_sets)
        future.release()
        for each in retry:
            (self.alone if each.tries == TRIES else self.again).append(each)
        return results


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


def _finished(running: Mapping[Future, Batch], conditions: Conditions) -> list[Future]:
    """Wait for the next batches that are done, lost, or late."""
    from distributed import wait

    try:
        done = list(wait(list(running), timeout=5, return_when="FIRST_COMPLETED").done)
    except TimeoutError:
        done = []
    now = time.monotonic()
    late = [
        future
        for future, batch in running.items()
        if future not in done and now - batch.since > _patience(batch, conditions)
    ]
    return done + late[:1]


def _patience(batch: Batch, conditions: Conditions) -> float:
    """Return how long a batch can take at most, waiting for a free worker included."""
    each = 60 + conditions.limits.wall_seconds
    return 60 + (AHEAD + 1) * BATCH * each if len(batch.submissions) > 1 else 60 + AHEAD * each


def _stop(client: Client, future: Future) -> None:
    """Start the worker anew that does not come to an end with a batch."""
    workers = {worker for worker, keys in client.processing().items() if future.key in keys}
    future.cancel()
    nannies = getattr(client.cluster, "workers", {}).values()
    if workers and not nannies:  # somebody else's cluster
        client.restart_workers(list(workers), timeout=STOPS_WITHIN, raise_for_error=False)
    # Asked to stop, a busy worker of ours would be given up, and no other would take its place.
    for nanny in nannies:
        if nanny.worker_address in workers and nanny.pid:
            os.kill(nanny.pid, signal.SIGKILL)
    give_up = time.monotonic() + STOPS_WITHIN
    while workers & set(client.nthreads()) and time.monotonic() < give_up:
        time.sleep(0.1)  # or the next batch would go to the dead


def _outcome(
    future: Future, batch: Batch, problem_sets: Mapping[str, ProblemSet]
) -> tuple[list[Result], list[Batch]]:
    """Return the results of a batch, or the batches to send in its place."""
    from distributed import KilledWorker

    if future.status == "finished":
        return future.result(), []
    if future.status == "error" and not isinstance(error := future.exception(), KilledWorker):
        raise error
    if len(batch.submissions) > 1:
        return [], [Batch((each,), batch.tries + 1) for each in batch.submissions]
    if batch.tries < TRIES:
        return [], [Batch(batch.submissions, batch.tries + 1)]
    (submission,) = batch.submissions
    lost = f"could not be marked: its worker was lost {TRIES + 1} times"
    problem_set = problem_sets[submission.assignment]
    return [
        without_points(submission, problem_set, "needs-review", lost, for_student=OUR_FAULT)
    ], []
