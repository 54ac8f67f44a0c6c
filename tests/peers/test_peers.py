"""The tests that other libraries publish for themselves, run on attnlib, with counts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from attnlib import blockwise_attention, scaled_dot_product_attention
from tests.book.notebooks import ROOT
from tools import libraries

pytestmark = pytest.mark.proof("peers")


SCIPY = "scipy.special.tests.test_logsumexp", "TestSoftmax or TestLogSoftmax"
CHOSEN = "test_softmax or test_log_softmax or test_dot_product_attention"
KERAS = "keras.src.ops.nn_test", f"NNOpsCorrectnessTest and ({CHOSEN}) and not scan"


def counted(python: Path, tests: str, chosen: str, **environment: str) -> Counter[str]:
    """Return how many tests of an installed package pass and fail on attnlib's functions."""
    done = subprocess.run(
        [
            *(python, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"),
            *("-p", "tests.peers.on_attnlib", "--pyargs", tests, "-k", chosen),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "KERAS_BACKEND": "numpy", **environment},
        cwd=Path(sys.prefix),
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stdout.splitlines()[-1]
    return Counter({word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last)})


def check_counts(python: Path, peer: tuple[str, str], as_they_are: int, adapted: int) -> None:
    """Compare how many pass, as they are and with an adapter for the axes; print the counts."""
    plain, helped = counted(python, *peer), counted(python, *peer, PEERS_ADAPTED="1")
    print(f"{peer[0]}: as they are {dict(plain)}, adapted {dict(helped)}")
    assert (plain["passed"], plain["failed"]) == (as_they_are, adapted - as_they_are)
    assert (helped["passed"], helped["failed"]) == (adapted, 0)


def test_scipy() -> None:
    """What differs is the default axis, several axes at once, and numbers for rows."""
    check_counts(Path(sys.executable), SCIPY, as_they_are=11, adapted=17)


def test_keras(tmp_path: Path) -> None:
    """What differs is several axes at once. Keras is tested where JAX is, which it needs."""
    pins = (*libraries.JAX, libraries.KERAS, f"pytest=={pytest.__version__}")
    python = libraries.installed(tmp_path / "keras", pins)
    check_counts(python, KERAS, as_they_are=24, adapted=28)


def test_torch(tmp_path: Path) -> None:
    """What differs is dropout, even of 0, a type beside the array, and numbers for rows.

    Samples with dropout, or without any number, cannot be handed over.
    """
    listed = (ROOT / "requirements-bench.txt").read_text(encoding="utf-8").splitlines()
    torch = next(line for line in listed if line.startswith("torch=="))
    pins = (torch, f"numpy=={np.__version__}", "expecttest==0.3.0")
    python = libraries.installed(tmp_path / "torch", pins)
    done = subprocess.run(
        [python, "-m", "tests.peers.torch_on_attnlib"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    print(f"PyTorch: {counts}")
    attention = {"adapted": 13, "not expressible": 12}
    rows = {"as it is": 5, "adapted": 7, "not expressible": 2}
    assert counts == {
        "scaled_dot_product_attention": attention,
        "blockwise_attention": attention,
        "softmax": rows,
        "log_softmax": rows,
    }


@pytest.mark.parametrize("function", [scaled_dot_product_attention, blockwise_attention])
def test_onnx(function) -> None:
    from tests.peers.onnx_on_attnlib import cases, is_bfloat16

    counts: Counter[str] = Counter()
    for case in cases():
        arrays = case.query, case.key, case.value
        output = case.shaped(function(*arrays, **case.options))
        assert output.dtype == case.expected.dtype, case.name
        counts["cases"] += 1
        counts["native"] += not case.by_hand
        counts.update(case.by_hand)
        if is_bfloat16(output):  # theirs is computed in bfloat16
            counts["bfloat16"] += 1
            options = dict(case.options)
            mask = options["attn_mask"]
            if mask is not None and mask.dtype != bool:
                options["attn_mask"] = mask.astype(float)
            exact = case.shaped(function(*(x.astype(float) for x in arrays), **options))
            rounded = exact.astype(np.float32).astype(output.dtype).astype(float)
            assert np.array_equal(output.astype(float), rounded), case.name
            error = np.abs(output.astype(float) - exact).max()
            assert error < np.abs(case.expected.astype(float) - exact).max(), case.name
            continue
        np.testing.assert_allclose(
            output.astype(float), case.expected.astype(float), 1e-3, 1e-7, err_msg=case.name
        )
        if case.weights is not None and function is scaled_dot_product_attention:
            counts["weights"] += 1
            weights = function(*arrays, return_weights=True, **case.options)[1]
            np.testing.assert_allclose(
                weights.astype(float), case.weights.astype(float), 1e-3, 1e-6, err_msg=case.name
            )
    print("ONNX:", ", ".join(f"{count} {name}" for name, count in counts.items()))
    assert counts["cases"] == 93
    assert counts["native"] >= 30
    assert counts["bfloat16"] == 5
