"""The same number of threads for all sides, as far as each of them lets itself be told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

CORES = 2
_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def restrict(cores: int = CORES) -> None:
    """Give the process so many cores. Has to come before NumPy, PyTorch and JAX are imported.

    JAX takes no number: it starts a worker for each core that the process may use, so the process
    gets no more of them, where the system can do that.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ.update(dict.fromkeys(_VARIABLES, str(cores)))


def _named_threads(name: str) -> int | None:
    """Count the threads of this process that bear a name, where the system shows them."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return None
    return sum((task / "comm").read_text().strip() == name for task in tasks.iterdir())


def in_use() -> dict[str, Any]:
    """Return how many threads each side has, asked from the library itself."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import torch
    from threadpoolctl import threadpool_info

    ones = jnp.ones((512, 512))
    jax.block_until_ready(ones @ ones)  # starts the workers
    np.linalg.norm(np.ones((2, 2)) @ np.ones((2, 2)))
    blas = {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "cores": len(affinity(0)) if affinity else os.cpu_count(),
        "blas": max(blas, default=None),
        "torch": torch.get_num_threads(),
        "jax": _named_threads("tf_XLAEigen"),
    }
