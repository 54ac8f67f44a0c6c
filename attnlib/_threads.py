"""Plain threads for NumPy work: how many, their pool, and the memory that each keeps."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numpy as np

_kept = threading.local()


@cache
def _blas() -> Any:
    """Return the control of the libraries that multiply matrices, None if there is none."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


class _Products:
    """How many threads NumPy's products use, and that they use one while calls share out work.

    Calls of several threads may overlap: the first sets the limit, the last lifts it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls = 0
        self.limit: Any = None
        self.n_threads = 1

    def count(self) -> int:
        with self.lock:
            if self.calls == 0:
                libraries = [] if _blas() is None else _blas().lib_controllers
                self.n_threads = max((library.num_threads for library in libraries), default=1)
            return self.n_threads

    @contextmanager
    def held_to_one(self) -> Iterator[None]:
        with self.lock:
            if self.calls == 0 and _blas() is not None:
                self.limit = _blas().limit(limits=1)
            self.calls += 1
        try:
            yield
        finally:
            with self.lock:
                self.calls -= 1
                if self.calls == 0:
                    self.lift()

    def lift(self) -> None:
        if self.limit is not None:
            self.limit.restore_original_limits()
            self.limit = None

    def start_anew(self) -> None:
        """In a forked child no call is running, whatever the parent was doing."""
        self.lock = threading.Lock()
        self.calls = 0
        self.lift()


_products = _Products()


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the other threads; they start when they are needed first."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="attnlib")


if hasattr(os, "register_at_fork"):  # a child has the parent's pool, but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
    os.register_at_fork(after_in_child=_products.start_anew)


def n_threads() -> int:
    """Return how many threads NumPy's matrix products use, so that one setting rules both."""
    return _products.count()


def on_one_thread() -> AbstractContextManager[None]:
    """Let products of small matrices run on one thread, as others would only wait for it."""
    return _products.held_to_one()


def share_out(
    work: Callable[[Sequence[Any]], Any], items: Sequence[Any], n_threads: int
) -> list[Any]:
    """Call `work` with every n-th item in each of n threads, this one included.

    Returns what each call returned, in order. Products run on one thread each meanwhile.
    """
    n = min(n_threads, len(items))
    if n < 2:
        return [work(items)]
    with _products.held_to_one():
        others = [_pool().submit(work, items[start::n]) for start in range(1, n)]
        try:
            return [work(items[::n]), *(other.result() for other in others)]
        finally:
            wait(others)  # they work on the caller's arrays


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return memory that this thread uses again and again; its content is what was left there.

    Fresh memory costs a page fault every 4 kB, which is more than the arithmetic of a tile.
    """
    size = math.prod(shape)
    flat = getattr(_kept, name, None)
    if flat is None or flat.size < size or flat.dtype != dtype:
        flat = np.empty(size, dtype)
        setattr(_kept, name, flat)
    return flat[:size].reshape(shape)
