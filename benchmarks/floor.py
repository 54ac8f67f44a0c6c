"""The least that attention costs on this machine: its matrix products and its exponentials.

The floor does these and nothing else, on tiles that stay in a core's cache, with one thread a
core: no maximum, no sums, no division, no mask, nothing checked. What it computes is no attention;
it is the part of the time that no NumPy program can save. It is tried with tiles of several shapes,
with both functions that exponentiate, and on one core; what is fastest counts.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from benchmarks.threads import CORES

TRIALS = 3
"""How often each loop is tried."""


class Loop(NamedTuple):
    """One way to go through the tiles."""

    rows: int
    """Queries in one tile, at most."""
    keys: int
    """Keys in one tile, at most."""
    power: np.ufunc
    cores: int


LOOPS = [
    Loop(rows, keys, power, cores)
    for rows, keys in ((512, 256), (512, 512), (1024, 256))
    for power in (np.exp, np.exp2)
    for cores in (1, CORES)
]

Tile = tuple[slice, slice]


@cache
def _workers() -> tuple[ThreadPoolExecutor, ThreadpoolController]:
    return ThreadPoolExecutor(CORES), ThreadpoolController()


def fastest(works: Iterable[Callable[[], None]]) -> Callable[[], None]:
    """Return what takes the least time."""

    def seconds(work: Callable[[], None]) -> float:
        return min(timeit.repeat(work, number=1, repeat=TRIALS))

    return min(works, key=seconds)


def share(work: Callable[[list[Tile]], None], tiles: list[Tile], cores: int = CORES) -> None:
    """Do the tiles on some cores, one thread each, with BLAS held to the thread that calls it."""
    pool, libraries = _workers()
    with libraries.limit(limits=1, user_api="blas"):
        if cores == 1:
            work(tiles)
        else:
            list(pool.map(work, [tiles[first::cores] for first in range(cores)]))


def slices(length: int, step: int) -> Iterator[slice]:
    """Cut a range into pieces."""
    for start in range(0, length, step):
        yield slice(start, min(start + step, length))


def tiles_of(loop: Loop, heads: int, n: int) -> list[Tile]:
    """List heads and queries of each tile; short sequences share one."""
    rows = min(n, loop.rows)
    together = max(1, loop.rows * loop.keys // (n * min(n, loop.keys))) if rows == n else 1
    together = min(together, -(-heads // loop.cores))
    return [(some, part) for some in slices(heads, together) for part in slices(n, rows)]


def forward(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> Callable[[], None]:
    """Return what runs the floor of attention: two products and one exponential a tile."""
    return fastest(_forward(loop, query, key, value) for loop in LOOPS)


def _forward(
    loop: Loop, query: np.ndarray, key: np.ndarray, value: np.ndarray
) -> Callable[[], None]:
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value))
    k_columns = np.swapaxes(k, 1, 2)
    heads, n, width = q.shape

    def work(tiles: list[Tile]) -> None:
        scratch = np.empty(loop.rows * loop.keys, q.dtype)
        for some, rows in tiles:
            part = q[some, rows]
            out = np.empty((*part.shape[:2], width), q.dtype)
            for keys in slices(n, loop.keys):
                columns = k_columns[some, :, keys]
                shape = (*part.shape[:2], columns.shape[2])
                scores = scratch[: np.prod(shape)].reshape(shape)
                np.matmul(part, columns, out=scores)
                loop.power(scores, out=scores)
                np.matmul(scores, v[some, keys], out=out)

    tiles = tiles_of(loop, heads, n)
    return lambda: share(work, tiles, loop.cores)


def backward(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, upstream: np.ndarray
) -> Callable[[], None]:
    """Return what runs the floor of output and gradients without storing the weights.

    Forward two products and one exponential; backward the scores and the exponential again, the
    gradient by the weights, and one product each for query, key and value.
    """
    return fastest(_backward(loop, query, key, value, upstream) for loop in LOOPS)


def _backward(
    loop: Loop, query: np.ndarray, key: np.ndarray, value: np.ndarray, upstream: np.ndarray
) -> Callable[[], None]:
    q, k, v, g = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value, upstream))
    k_columns, v_columns = np.swapaxes(k, 1, 2), np.swapaxes(v, 1, 2)
    heads, n, width = q.shape
    first_pass = _forward(loop, query, key, value)

    def work(tiles: list[Tile]) -> None:
        scratch, slope = np.empty((2, loop.rows * loop.keys), q.dtype)
        for some, rows in tiles:
            part, direction = q[some, rows], g[some, rows]
            by_query = np.empty((*part.shape[:2], width), q.dtype)
            for keys in slices(n, loop.keys):
                columns = k_columns[some, :, keys]
                shape = (*part.shape[:2], columns.shape[2])
                scores = scratch[: np.prod(shape)].reshape(shape)
                by_score = slope[: np.prod(shape)].reshape(shape)
                np.matmul(part, columns, out=scores)
                loop.power(scores, out=scores)
                np.matmul(direction, v_columns[some, :, keys], out=by_score)
                np.matmul(by_score, k[some, keys], out=by_query)
                np.matmul(np.swapaxes(by_score, 1, 2), part)
                np.matmul(np.swapaxes(scores, 1, 2), direction)

    tiles = tiles_of(loop, heads, n)

    def both() -> None:
        first_pass()
        share(work, tiles, loop.cores)

    return both
