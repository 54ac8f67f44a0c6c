"""Plain threads for NumPy work, as many as NumPy's own products use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

R = TypeVar("R")


@cache
def _blas() -> Any:
    """Return the control of the libraries that multiply matrices, None if there is none."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


class _Products:
    """How many threads NumPy's products have, and how many calls hold them to one.

    Calls of several threads may overlap: the first sets the limit, the last lifts it.
    """

    lock = threading.Lock()
    calls = 0
    limit: Any = None
    n_threads = 1


def n_threads() -> int:
    """Return how many threads NumPy's matrix products use, so that one setting rules both."""
    with _Products.lock:
        if _Products.calls == 0 and _blas() is not None:
            counts = [library.num_threads for library in _blas().lib_controllers]
            _Products.n_threads = max(counts, default=1)
        return _Products.n_threads


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Let products of small matrices run on one thread, as others would only wait for it."""
    with _Products.lock:
        if _Products.calls == 0 and _blas() is not None:
            _Products.limit = _blas().limit(limits=1)
        _Products.calls += 1
    try:
        yield
    finally:
        with _Products.lock:
            _Products.calls -= 1
            if _Products.calls == 0 and _Products.limit is not None:
                _Products.limit.restore_original_limits()


@cache
def _pool(_process: int) -> ThreadPoolExecutor:
    """Return threads that stay, for a process: a fork has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="attnlib")


def share_out(work: Callable[[Sequence[Any]], R], items: Sequence[Any], n: int) -> list[R]:
    """Call `work` with every n-th item, here and in n - 1 threads; return the results in order."""
    if n < 2:
        return [work(items)]
    with on_one_thread():
        others = [_pool(os.getpid()).submit(work, items[start::n]) for start in range(1, n)]
        try:
            return [work(items[::n]), *(other.result() for other in others)]
        finally:
            wait(others)  # they write into the caller's arrays
