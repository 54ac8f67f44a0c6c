"""What kind of machine and which versions: enough to judge the numbers, nothing that names it."""

from __future__ import annotations

import datetime as dt
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "scipy", "torch", "jax", "jaxlib", "onnxruntime")


def processor() -> str:
    """Return the model of the processor."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """Return the facts that belong beside the results."""
    from threadpoolctl import threadpool_info

    from benchmarks.threads import in_use

    kernels = {
        pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"
    }
    return {
        "processor": processor(),
        "system": platform.system(),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
        "blas_kernel": ", ".join(sorted(kernels)),
        "threads": in_use(),
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
    }
