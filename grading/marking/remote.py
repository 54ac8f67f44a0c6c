"""Workers on other machines, by a scheduler of Dask that runs already."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, Future, KilledWorker, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

ANSWERS_WITHIN = "10s"
STOPS_WITHIN = 60.0  # seconds
# Dask warns of tasks that are as large as a batch of notebooks with pictures.
LARGE = {"distributed.admin.large-graph-warning-threshold": "10GB"}


@contextmanager
def connected(scheduler: str) -> Iterator[Cluster]:
    """Give the workers of a scheduler, or raise a ValueError if it does not answer."""
    with dask.config.set(LARGE):
        try:
            client = Client(scheduler, timeout=ANSWERS_WITHIN)
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(f"SCHEDULER {scheduler} does not answer: {error}") from None
        with client:
            yield Cluster(client)


class Cluster:
    """The workers of a scheduler, as `distribute.Workers` wants them: a task is Dask's future."""

    ahead = 2  # what a worker has beside it saves the way

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def count(self) -> int:
        """Return how many workers there are now."""
        return len(self._client.nthreads())

    def send(self, work: Callable[..., Any], *arguments: object) -> Future:
        """Give work to whichever worker is free first."""
        return self._client.submit(work, *arguments, pure=False)

    def finished(self, tasks: Collection[Future], seconds: float) -> list[Future]:
        """Wait for the next tasks that are done, or whose workers are dead."""
        try:
            return list(wait(list(tasks), timeout=seconds, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def take(self, task: Future) -> Any:
        """Return what came of a task, or None if its worker is dead."""
        try:
            if task.status == "finished":
                return task.result()
            if task.status == "error" and not isinstance(task.exception(), KilledWorker):
                raise task.exception()
            return None
        finally:
            task.release()

    def stop(self, task: Future) -> None:
        """Start the worker anew that does not come to an end with a task."""
        workers = {name for name, keys in self._client.processing().items() if task.key in keys}
        task.cancel()
        if workers:
            self._client.restart_workers(list(workers), timeout=STOPS_WITHIN, raise_for_error=False)
        give_up = time.monotonic() + STOPS_WITHIN
        while workers & set(self._client.nthreads()) and time.monotonic() < give_up:
            time.sleep(0.1)  # or the next batch would go to the dead
