"""Run notebooks side by side while Sphinx reads other pages, and write pages side by side.

Pages never show what the code no longer computes. jupyter-cache knows a notebook's cells and not
the package that they call, so each record holds a digest of all else that its outputs depend on. A
build begins by removing the records with another digest than today's, and reads those pages again
that the last build to come to its end made with another one.

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
import json
import os
import shutil
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.cache.db import NbCacheRecord
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from sphinx.errors import SphinxError
from sphinx.util import logging

from book import numbers, sources
from book.digest import notebook_digests
from book.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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

    def __init__(
        self,
        notebooks: dict[Path, nbformat.NotebookNode],
        digests: Mapping[Path, str],
        timeout: int,
    ) -> None:
        self._notebooks = notebooks
        self._digests = digests
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
        kept = numbers.record(self._notebooks[path], self._digests[path], numbers.ROOT)
        client = numbers.Client(
            self._notebooks[path],
            timeout=self._timeout,
            resources={"metadata": {"path": str(path.parent.resolve())}},
            record_timing=False,
            # MyST-NB breaks a line where the kernel flushed (findings/myst-nb-broken-lines.sh)
            coalesce_streams=True,
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
        numbers.keep(client.values, kept)
        return time.perf_counter() - start

    def __iter__(self) -> Iterator[Path]:
        """Go through the notebooks in the order in which they start."""
        return iter(self._notebooks)

    def __contains__(self, path: Path) -> bool:
        """Say whether a notebook is among those that run."""
        return path in self._notebooks

    def keep(self, path: Path, cache: JupyterCacheAbstract) -> bool:
        """Wait for a notebook, put it into a cache and say whether it ran to its end.

        One that fails is left to the build, which runs it again and reports what went wrong.
        """
        seconds = self._seconds[path].result()
        if seconds is None:
            return False
        data = {"execution_seconds": seconds, "digest": self._digests[path]}
        bundle = CacheBundleIn(self._notebooks[path], str(path.resolve()), data=data)
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        return True

    def stop(self) -> None:
        """End what still runs, and its kernels."""
        atexit.unregister(self.stop)
        self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()
        self._loop.close()


def drop_stale(cache: JupyterCacheAbstract, digests: Mapping[Path, str]) -> None:
    """Remove the outputs from a cache that their notebooks would no longer have."""
    for record in cache.list_cache_records():
        if (record.data or {}).get("digest") != digests.get(Path(record.uri)):
            NbCacheRecord.remove_records([record.pk], cache.db)
            shutil.rmtree(cache.path / "executed" / record.hashkey, ignore_errors=True)


def start(digests: Mapping[Path, str], cache: JupyterCacheAbstract, timeout: int) -> Runs | None:
    """Start the notebooks that a cache does not have, each given with its digest."""
    read = {path: nbformat.read(path, as_version=4) for path in digests}
    waiting = [path for path in digests if not is_known(cache, read[path])]
    if not waiting:
        return None
    # the longest first, or one processor is left with it at the end: that with the most code
    waiting.sort(key=lambda path: -code_length(read[path]))
    return Runs({path: read[path] for path in waiting}, digests, timeout)


class SideBySide:
    """What a build runs while it reads."""

    def __init__(self) -> None:
        self._runs: Runs | None = None
        self._paths: dict[str, Path] = {}
        self._digests: dict[Path, str] = {}
        self._failed: set[str] = set()

    def find_stale(
        self, app: Sphinx, env: BuildEnvironment, added: set[str], *_others: set[str]
    ) -> list[str]:
        """Remove outputs that are no longer true, and name the pages that show such."""
        if app.config["nb_execution_mode"] != "cache":
            return []
        known = Path(app.doctreedir) / "sources.pickle"
        sources.load(known)
        paths = {name: Path(env.doc2path(name)).resolve() for name in env.found_docs}
        self._paths = {name: path for name, path in paths.items() if path.suffix == ".ipynb"}
        self._digests = notebook_digests(self._paths.values(), numbers.ROOT)
        sources.keep(known)
        drop_stale(self._cache(app), self._digests)
        made = self._made(app)
        before = json.loads(made.read_text(encoding="utf-8")) if made.is_file() else {}
        stale = {name for name, digest in self._named().items() if before.get(name) != digest}
        return sorted(stale - added)

    def start(self, app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
        """Start what the build is about to read and has no outputs of, and let it wait last."""
        digests = {
            self._paths[name]: self._digests[self._paths[name]]
            for name in docnames
            if name in self._paths
        }
        if not digests:
            return
        self._runs = runs = start(digests, self._cache(app), app.config["nb_execution_timeout"])
        if runs:
            # those that have started first are read first; sorting keeps the order of the others
            ranks = {path: rank for rank, path in enumerate(runs)}
            docnames.sort(key=lambda name: ranks.get(self._paths.get(name), -1))

    def keep(self, app: Sphinx, docname: str, _source: list[str]) -> None:
        """Wait for the notebook that is read now."""
        path = self._paths.get(docname)
        if self._runs and path in self._runs and not self._runs.keep(path, self._cache(app)):
            self._failed.add(docname)

    def stop(self, app: Sphinx, error: Exception | None) -> None:
        """Leave nothing running when a build ends, however it ends, and note what it has made.

        A build that is interrupted notes nothing, since it may have read pages and not written
        them; and a notebook that failed is tried again.
        """
        if self._runs:
            self._runs.stop()
            self._runs = None
        if error is None and self._paths:
            made = {name: it for name, it in self._named().items() if name not in self._failed}
            atomic_write(self._made(app), json.dumps(made))

    def _named(self) -> dict[str, str]:
        return {name: self._digests[path] for name, path in self._paths.items()}

    @staticmethod
    def _made(app: Sphinx) -> Path:
        return Path(app.doctreedir) / f"outputs-{app.builder.name}.json"

    @staticmethod
    def _cache(app: Sphinx) -> JupyterCacheAbstract:
        return get_cache(app.env.mystnb_config.execution_cache_path)


def write_side_by_side(app: Sphinx, _env: BuildEnvironment) -> None:
    """Let Sphinx use all processors from here on; reading side by side sphinx-proof cannot do.

    Sphinx hands pages out in as many parts as it has processes: with small ones no process is left
    with all the long chapters.
    """
    app.parallel = max(app.parallel, 1 + 4 * (os.cpu_count() or 1))


def unwritten(app: Sphinx) -> list[str]:
    """Name the pages that were read and not written after that."""
    env, builder = app.env, app.builder
    pairs = [
        (name, Path(builder.get_outfilename(name)), Path(env.doctreedir) / f"{name}.doctree")
        for name in sorted(env.found_docs)
    ]
    return [
        name
        for name, page, read in pairs
        if not page.exists() or page.stat().st_mtime < read.stat().st_mtime
    ]


def check_written(app: Sphinx, error: Exception | None) -> None:
    """Fail if a page is missing.

    Where a process that writes pages fails while others wait for their turn, Sphinx 7.4 to 9.0
    leaves pages out and says that the build succeeded (findings/sphinx-parallel-writing.sh).
    """
    if error is None and app.builder.format == "html" and (missing := unwritten(app)):
        raise SphinxError(f"pages that a process failed to write: {', '.join(missing)}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    side_by_side = SideBySide()
    app.connect("env-get-outdated", side_by_side.find_stale)
    app.connect("env-before-read-docs", side_by_side.start)
    app.connect("source-read", side_by_side.keep)
    app.connect("build-finished", side_by_side.stop)
    app.connect("build-finished", check_written, priority=100)
    app.connect("env-updated", write_side_by_side)
    # a build makes millions of objects that stay: to look for rings among them takes long
    gc.set_threshold(100_000, 50, 50)
    # at its end Python would look once more for rings among the nodes of all pages: for seconds
    atexit.register(gc.freeze)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
