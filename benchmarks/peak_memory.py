"""Peak memory of one call beyond its inputs, measured in a process of its own.

``python -m benchmarks.peak_memory attnlib 32768`` prints a JSON object. Two instruments look at the
same call: tracemalloc, to which NumPy reports every array, and the high-water mark of the resident
memory that Linux keeps, which also holds the buffers of BLAS and the stacks of the threads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

from benchmarks.threads import restrict

WIDTH = 64
WARM_UP = 256
"""A short sequence first: threads and BLAS buffers are there before the measurement begins."""
ROOT = Path(__file__).resolve().parent.parent


def _status(field: str) -> int | None:
    """Return a line of /proc/self/status in bytes. Unlike ru_maxrss it knows no parent process."""
    listing = Path("/proc/self/status")
    if not listing.is_file():
        return None
    for line in listing.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    return None


def measure(name: str, n: int) -> dict[str, int | None]:
    """Run one attention in this process and return the bytes it took."""
    import numpy as np

    from benchmarks.peers import FORWARD

    rng = np.random.default_rng(0)

    def inputs(length: int) -> tuple[np.ndarray, ...]:
        shape = (1, 1, length, WIDTH)
        return tuple(rng.standard_normal(shape, dtype=np.float32) for _ in range(3))

    FORWARD[name](inputs(WARM_UP), None)()
    work = FORWARD[name](inputs(n), None)
    before = _status("VmRSS")
    tracemalloc.start()
    output = work()
    traced = tracemalloc.get_traced_memory()[1]
    after = _status("VmHWM")
    return {
        "output": output.nbytes,
        "traced": traced,
        "resident": None if before is None or after is None else after - before,
    }


def peak(name: str, n: int) -> dict[str, int | None]:
    """Return what :func:`measure` finds in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.peak_memory", name, str(n)]
    run = subprocess.run(  # noqa: S603 - the arguments are this module's own
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout)


if __name__ == "__main__":
    restrict()
    sys.stdout.write(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
