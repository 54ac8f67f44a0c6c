"""What callers are told: of missing packages, of other types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_overloads

import ml_dtypes
import numpy as np
import pytest

import attnlib

pytestmark = pytest.mark.not_for_mutants

#: What asks for a package: a statement, and what has to be run before.
ASKING = {
    "scipy": ["score_pdf(0.5, 4)", "score_sf(0.5, 4)", "expected_maximum(9)"],
    "matplotlib": ["import attnbook.plots"],
    "anywidget": ["import attnbook.figures"],
    "joblib": [
        """from attnbook.training.sweep import Setting, run_settings
run_settings([Setting('divided by √dₖ', 'SGD', 4, 0.1, steps=1)], [0])"""
    ],
}
#: What works without a package.
SPARED = {
    "tqdm": "from attnbook.training import *; train(0, 4, None, Sgd(0.1), steps=1)",
    "threadpoolctl": "blockwise_attention(*np.ones((3, 2000, 4)))",
}
ONES = np.ones((3, 2, 4))


def without(package: str, statement: str) -> subprocess.CompletedProcess[str]:
    """Run a statement where a package is missing."""
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"import numpy as np; from attnlib import *\n{statement}"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(attnlib.__file__).parent.parent,
    )


@pytest.mark.parametrize(
    ("package", "statement"),
    [(package, statement) for package, asking in ASKING.items() for statement in asking],
)
def test_what_is_missing_is_named_with_how_to_install_it(package: str, statement: str):
    last = without(package, statement).stderr.splitlines()[-1]
    assert last == (
        f"ModuleNotFoundError: this needs {package}, which is not installed: "
        f"python -m pip install {package}"
    )


@pytest.mark.parametrize("package", SPARED)
def test_what_is_not_needed_may_be_missing(package: str):
    done = without(package, SPARED[package])
    assert done.returncode == 0, done.stderr


def test_types_that_numpy_does_not_know_are_refused_in_words():
    said = r"query must hold real numbers of a type of NumPy; got dtype float8"
    with pytest.raises(TypeError, match=said):
        attnlib.scaled_dot_product_attention(ONES[0].astype(ml_dtypes.float8_e4m3fn), *ONES[1:])


def test_the_weights_are_returned_when_asked_for_by_type_too():
    without_weights, with_weights = get_overloads(attnlib.scaled_dot_product_attention.__wrapped__)
    assert without_weights.__annotations__["return"] == "np.ndarray"
    assert with_weights.__annotations__["return"] == "tuple[np.ndarray, np.ndarray]"
