"""Run notebooks side by side while Sphinx reads other pages, and write pages side by side.

MyST-NB runs a notebook when it comes to read it, one after another, while the other processors have
nothing to do. Here those that the cache does not have yet start before anything is read, several at
a time. Sphinx reads the pages that run nothing meanwhile, and each notebook when its outputs are in
the cache. The parallel executor of jupyter-cache would let Sphinx wait, and has no way to evaluate
the expressions of the text in its kernels. Sphinx can write many pages side by side, but Jupyter
Book's command cannot ask for it.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import os
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx.util import logging

from book import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_cache.base import JupyterCacheAbstract
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

LOGGER = logging.getLogger(__name__)
# each kernel would warn that other users of this machine could listen to it
QUIET = ["--IPKernelApp.log_level=ERROR"]
SETTINGS = {
    # the notebooks share the processors already
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # glibc keeps what is freed: to be given new pages takes longer than to fill them with numbers
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**32),
}
"""What kernels are told, unless somebody has set it otherwise."""
NO_RESULT = (CellExecutionError, CellTimeoutError, DeadKernelError)


def is_known(cache: JupyterCacheAbstract, notebook: nbformat.NotebookNode) -> bool:
    """Say whether a cache has the outputs of a notebook."""
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def code_length(notebook: nbformat.NotebookNode) -> int:
    """Return how many characters of code a notebook has."""
    return sum(len(cell.source) for cell in notebook.cells if cell.cell_type == "code")


class Runs:
    """Notebooks on their way: they run in kernels of their own, in the order given.

    One more at a time than there are processors, since a kernel that starts or waits for its next
    cell leaves a processor idle.
    """

    def __init__(self, notebooks: dict[Path, nbformat.NotebookNode], timeout: int) -> None:
        self._notebooks = notebooks
        self._timeout = timeout
        self._seconds: dict[Path, Future[float | None]] = {path: Future() for path in notebooks}
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._run_all())
        # a build that is interrupted ends at once: its end waits for stop() and not for the thread
        self._thread = threading.Thread(target=self._work, name="notebooks", daemon=True)
        atexit.register(self.stop)
        self._thread.start()

    def _work(self) -> None:
        with suppress(asyncio.CancelledError):  # by stop(); what has not ended is left to the build
            self._loop.run_until_complete(self._task)

    async def _run_all(self) -> None:
        turns = asyncio.Semaphore((os.cpu_count() or 1) + 1)

        async def run(path: Path) -> None:
            async with turns:
                try:
                    self._seconds[path].set_result(await self._run(path))
                except Exception as error:  # noqa: BLE001 - the waiting caller gets it
                    self._seconds[path].set_exception(error)

        async with asyncio.TaskGroup() as group:
            for path in self._notebooks:
                group.create_task(run(path))

    async def _run(self, path: Path) -> float | None:
        start = time.perf_counter()
        client = numbers.Client(
            self._notebooks[path],
            timeout=self._timeout,
            resources={"metadata": {"path": str(path.parent.resolve())}},
            record_timing=False,
            extra_arguments=QUIET,
        )
        running = asyncio.ensure_future(client.async_execute(env=SETTINGS | os.environ))
        try:
            await asyncio.shield(running)
        except NO_RESULT:
            return None
        except asyncio.CancelledError:
            # nbclient leaves something behind if it is canceled, and nothing if its kernel dies
            while not running.done():
                if client.km is not None and client.km.has_kernel:
                    await client.km.shutdown_kernel(now=True)
                await asyncio.wait([running], timeout=0.2)
            running.exception()
            raise
        numbers.keep(self._notebooks[path], client.values, numbers.ROOT)
        return time.perf_counter() - start

    def __iter__(self) -> Iterator[Path]:
        """Go through the notebooks in the order in which they start."""
        return iter(self._notebooks)

    def __contains__(self, path: Path) -> bool:
        """Say whether a notebook is among those that run."""
        return path in self._notebooks

    def keep(self, path: Path, cache: JupyterCacheAbstract) -> None:
        """Wait for a notebook and put it into a cache.

        One that fails is left to the build, which runs it again and reports what went wrong.
        """
        seconds = self._seconds[path].result()
        if seconds is not None:
            data = {"execution_seconds": seconds}
            bundle = CacheBundleIn(self._notebooks[path], str(path.resolve()), data=data)
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)

    def stop(self) -> None:
        """End what still runs, and its kernels."""
        atexit.unregister(self.stop)
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()
        self._loop.close()


def start(paths: list[Path], cache: JupyterCacheAbstract, timeout: int) -> Runs | None:
    """Start the notebooks that a cache does not have; none if there is just one."""
    read = {path: nbformat.read(path, as_version=4) for path in paths}
    waiting = [path for path in paths if not is_known(cache, read[path])]
    if len(waiting) < 2:
        return None
    # the longest first, or one processor is left with it at the end: that with the most code
    waiting.sort(key=lambda path: -code_length(read[path]))
    return Runs({path: read[path] for path in waiting}, timeout)


class SideBySide:
    """What a build runs while it reads."""

    def __init__(self) -> None:
        self._runs: Runs | None = None

    def start(self, app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
        """Start what the build is about to read and has no outputs of, and let it wait last."""
        if app.config["nb_execution_mode"] != "cache":
            return
        paths = {name: Path(env.doc2path(name)) for name in docnames}
        notebooks = [path for path in paths.values() if path.suffix == ".ipynb"]
        self._runs = runs = start(notebooks, self._cache(app), app.config["nb_execution_timeout"])
        if runs:
            # those that have started first are read first; sorting keeps the order of the others
            ranks = {path: rank for rank, path in enumerate(runs)}
            docnames.sort(key=lambda name: ranks.get(paths[name], -1))

    def keep(self, app: Sphinx, docname: str, _source: list[str]) -> None:
        """Wait for the notebook that is read now."""
        path = Path(app.env.doc2path(docname))
        if self._runs and path in self._runs:
            self._runs.keep(path, self._cache(app))

    def stop(self, _app: Sphinx, _error: Exception | None) -> None:
        """Leave nothing running when a build ends, however it ends."""
        if self._runs:
            self._runs.stop()
            self._runs = None

    @staticmethod
    def _cache(app: Sphinx) -> JupyterCacheAbstract:
        return get_cache(app.config["nb_execution_cache_path"])


def write_side_by_side(app: Sphinx, _env: BuildEnvironment) -> None:
    """Let Sphinx use all processors from here on; reading side by side sphinx-proof cannot do.

    Sphinx hands pages out in as many parts as it has processes: with small ones no process is left
    with all the long chapters.
    """
    app.parallel = max(app.parallel, 1 + 4 * (os.cpu_count() or 1))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    side_by_side = SideBySide()
    app.connect("env-before-read-docs", side_by_side.start)
    app.connect("source-read", side_by_side.keep)
    app.connect("build-finished", side_by_side.stop)
    app.connect("env-updated", write_side_by_side)
    # a build makes millions of objects that stay: to look for rings among them takes long
    gc.set_threshold(100_000, 50, 50)
    # at its end Python would look once more for rings among the nodes of all pages: for seconds
    atexit.register(gc.freeze)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
