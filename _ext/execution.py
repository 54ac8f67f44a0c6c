"""Run notebooks side by side, and write pages so.

MyST-NB runs a notebook when it comes to read it, one after another, while the other processors have
nothing to do. Before a build reads anything, those that the cache does not have yet are run here,
one for each processor, and put into the same cache. Sphinx can write many pages side by side, but
Jupyter Book's command has no way to ask for it.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from sphinx.util import logging

if TYPE_CHECKING:
    from jupyter_cache.base import JupyterCacheAbstract
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

LOGGER = logging.getLogger(__name__)
# each kernel would warn that other users of this machine could listen to it
QUIET = ["--IPKernelApp.log_level=ERROR"]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def is_known(cache: JupyterCacheAbstract, notebook: nbformat.NotebookNode) -> bool:
    """Say whether a cache has the outputs of a notebook."""
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


async def run_all(notebooks: dict[Path, nbformat.NotebookNode], timeout: int) -> list[float | None]:
    """Fill notebooks with their outputs, and return how long each took; None if it failed."""
    turns = asyncio.Semaphore(os.cpu_count() or 1)

    async def execute(path: Path) -> float | None:
        async with turns:
            start = time.perf_counter()
            folder = {"metadata": {"path": str(path.parent.resolve())}}
            client = NotebookClient(
                notebooks[path],
                timeout=timeout,
                resources=folder,
                record_timing=False,
                extra_arguments=QUIET,
            )
            try:
                await client.async_execute()
            except (CellExecutionError, CellTimeoutError):
                return None
            return time.perf_counter() - start

    return await asyncio.gather(*map(execute, notebooks))


def run(paths: list[Path], cache: JupyterCacheAbstract, timeout: int) -> int:
    """Run the notebooks that a cache does not have, and return how many there were.

    One that fails is left to the build, which runs it again and reports what went wrong.
    """
    read = {path: nbformat.read(path, as_version=4) for path in paths}
    waiting = [path for path in paths if not is_known(cache, read[path])]
    if len(waiting) < 2:
        return 0
    # the longest first, or one processor is left with it at the end; a long one is a large one
    waiting.sort(key=lambda path: -path.stat().st_size)
    # the notebooks share the processors already
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: "1" for name in THREADS if before[name] is None})
    try:
        seconds = asyncio.run(run_all({path: read[path] for path in waiting}, timeout))
    finally:
        for name in THREADS:
            if before[name] is None:
                del os.environ[name]
    for path, taken in zip(waiting, seconds, strict=True):
        if taken is not None:
            bundle = CacheBundleIn(
                read[path], str(path.resolve()), data={"execution_seconds": taken}
            )
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    return len(waiting)


def run_stale(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Run what the build is about to read and has no outputs of."""
    config: Any = app.config
    if config["nb_execution_mode"] != "cache" or len(docnames) < 2:
        return
    paths = [Path(env.doc2path(name)) for name in docnames]
    paths = [path for path in paths if path.suffix == ".ipynb"]
    cache = get_cache(config["nb_execution_cache_path"])
    count = run(paths, cache, config["nb_execution_timeout"])
    if count:
        LOGGER.info("ran %s notebooks side by side", count)


def write_side_by_side(app: Sphinx, _env: BuildEnvironment) -> None:
    """Let Sphinx use all processors from here on; reading side by side sphinx-proof cannot do."""
    app.parallel = max(app.parallel, os.cpu_count() or 1)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the above to the build."""
    app.connect("env-before-read-docs", run_stale)
    app.connect("env-updated", write_side_by_side)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
