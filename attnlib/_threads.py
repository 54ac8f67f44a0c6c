"""Plain threads for NumPy work: how many, their pool, and the memory that each keeps."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

_kept = threading.local()


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, thread_name_prefix="attnlib")


if hasattr(os, "register_at_fork"):  # a forked child has the pool, but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def n_threads() -> int:
    """Return how many threads NumPy's matrix products use, so that one setting rules both.

    Examples
    --------
    >>> n_threads() >= 1
    True
    """
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


def share_out(work: Callable[[Sequence[Any]], Any], items: Sequence[Any]) -> list[Any]:
    """Call `work` with every n-th item in each of n threads, this one included.

    Returns what each call returned, in order. Products run on one thread each meanwhile.

    Examples
    --------
    >>> sorted(sum(share_out(list, range(5)), []))
    [0, 1, 2, 3, 4]
    """
    n = min(n_threads(), len(items))
    if n < 2:
        return [work(items)]
    with _blas().limit(limits=1):
        others = [_pool(n - 1).submit(work, items[start::n]) for start in range(1, n)]
        return [work(items[::n]), *(other.result() for other in others)]


def scratch(name: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return memory that this thread uses again and again; its content is what was left there.

    Fresh memory costs a page fault every 4 kB, which is more than the arithmetic of a tile.

    Examples
    --------
    >>> scratch("scores", (2, 3), np.dtype(float)).shape
    (2, 3)
    """
    size = math.prod(shape)
    flat = getattr(_kept, name, None)
    if flat is None or flat.size < size or flat.dtype != dtype:
        flat = np.empty(size, dtype)
        setattr(_kept, name, flat)
    return flat[:size].reshape(shape)
