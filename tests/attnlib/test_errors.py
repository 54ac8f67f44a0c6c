"""Bad arguments: the error names the argument, what came and what is wanted; nothing warns.

The tables are built from one valid call of every public function and from a list of what can
be wrong with each kind of argument; a test sees to it that no function or argument is left out.
"""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import attnlib
from attnbook import initialization
from attnbook.initialization import INITIALIZERS
from attnlib import _checks

NAN, INF = float("nan"), float("inf")
PACKAGE = Path(attnlib.__file__).parent
RNG = np.random.default_rng(0)
ROW = np.array([[0.25, 0.75], [0.5, 0.5]])
SCORES = np.array([[1.0, 2.0], [3.0, -4.0]])

# argument -> kind; the kinds' bad values are below
SCORES_AXIS = {"x": "logits", "axis": "axis"}
WEIGHTS_AXIS = {"weights": "weights", "axis": "axis"}
SAMPLER = {"rng": "rng"}
MATRICES = {"query": "matrix", "key": "matrix", "value": "matrix"}
ATTENTION_ARGUMENTS = MATRICES | {"attn_mask": "mask", "is_causal": "flag", "scale": "scale"}
PROJECTED = {"initializer": "initializer", "width": "count", "d_k": "count"}
HEAD = SAMPLER | {"d_k": "count", "n_keys": "count"}
SCALED_ROWS = HEAD | {"n_rows": "count", "scale": "scale"}
KINDS = {
    "diagnose": {
        name: kind
        for name, kind in ATTENTION_ARGUMENTS.items()
        if name not in {"value", "is_causal"}
    },
    "softmax": SCORES_AXIS,
    "log_softmax": SCORES_AXIS,
    "softmax_jacobian": {"weights": "weights"},
    "softmax_vjp": WEIGHTS_AXIS | {"cotangent": "real array"},
    "jacobian_norm_squared": WEIGHTS_AXIS,
    "entropy": WEIGHTS_AXIS,
    "effective_positions": WEIGHTS_AXIS,
    "score_moments": {
        "d_k": "count",
        "fourth_moment_q": "fourth moment",
        "fourth_moment_k": "fourth moment",
    },
    "general_score_moments": {
        "cov_q": "covariance",
        "cov_k": "covariance",
        "mean_q": "mean",
        "mean_k": "mean",
    },
    "score_pdf": {"z": "real array", "d_k": "count"},
    "score_sf": {"z": "real array", "d_k": "count"},
    "sample_scores": SAMPLER | {"d_k": "count", "size": "size"},
    "sample_score_rows": HEAD | {"size": "size"},
    "causal_mask": {"n_queries": "length", "n_keys": "count"},
    "scaled_dot_product_attention": ATTENTION_ARGUMENTS | {"return_weights": "flag"},
    "attention_vjp": ATTENTION_ARGUMENTS | {"cotangent": "cotangent"},
    "blockwise_attention": ATTENTION_ARGUMENTS,
    "blockwise_attention_vjp": ATTENTION_ARGUMENTS | {"cotangent": "cotangent"},
    "online_attention": MATRICES | {"block_size": "count"},
    "freezing_std": {"n_keys": "count"},
    "freezing_width": {"n_keys": "count"},
    "expected_maximum": {"n_keys": "count"},
    "concentration_bound": {"logit_std": "positive", "n_keys": "count"},
    "gradient_statistics": {"lengths": "lengths", "quantiles": "probabilities", "axis": "axis"},
    "sorted_shares": {"lengths": "lengths", "axis": "axis"},
    "meaningful_keys": {"weights": "weights", "share": "positive"},
    "layer_norm": {"x": "vectors"},
    "predict_variances": PROJECTED | {"n_tokens": "two or more", "token_cosine": "cosine"},
    "sample_tokens": SAMPLER
    | {"n_tokens": "count", "width": "three or more", "token_cosine": "cosine"},
    "sample_projections": SAMPLER | PROJECTED,
    "sample_logit_variances": SAMPLER
    | PROJECTED
    | {
        "width": "three or more",
        "n_draws": "two or more",
        "n_tokens": "two or more",
        "token_cosine": "cosine",
    },
    "sample_row_statistics": SCALED_ROWS,
    "sample_query_gradients": SCALED_ROWS,
    "sample_key_gradients": SCALED_ROWS,
    "sample_layer_key_gradients": HEAD
    | {"n_queries": "count", "n_layers": "count", "scale": "scale"},
}
VALID = {
    "logits": SCORES,
    "axis": -1,
    "weights": ROW,
    "lengths": ROW,
    "probabilities": np.array([0.25, 0.5]),
    "real array": SCORES,
    "count": 3,
    "length": 3,
    "fourth moment": 3.0,
    "covariance": np.eye(2),
    "mean": np.ones(2),
    "size": 2,
    "matrix": SCORES,
    "mask": np.zeros((2, 2)),
    "flag": False,
    "cotangent": SCORES,
    "scale": 0.5,
    "positive": 0.5,
    "rng": RNG,
    "vectors": SCORES,
    "initializer": INITIALIZERS["gpt2"],
    "two or more": 3,
    "three or more": 5,
    "cosine": 0.5,
}

NO_NUMBERS = {
    # what came -> how the message shows it
    "text": ("abc", "'abc'"),
    "nothing": (None, "None"),
    "a dictionary": ({1: 2}, "{1: 2}"),
    "complex": (SCORES * 1j, "complex128"),
    "boolean": (SCORES > 0, "bool"),
    "objects": (SCORES.astype(object), "object"),
    "numbers as text": (SCORES.astype(str), "<U"),
    "dates": (SCORES.astype("M8[D]"), "datetime64"),
}
RAGGED = ([[1.0, 2.0], [3.0]], "[[1.0, 2.0], [3.0]]")


def with_entry(array: np.ndarray, entry: float) -> np.ndarray:
    changed = np.array(array, float)
    changed.flat[-1] = entry
    return changed


def bad_arrays(valid: np.ndarray, *, infinite: tuple[float, ...] = (INF, -INF), none=False):
    """Yield (label, value, error, what the message shows) for an array argument."""
    for label, (value, shown) in NO_NUMBERS.items():
        if not (none and value is None):
            yield label, value, TypeError, shown
    yield "masked", np.ma.array(valid, mask=np.asarray(valid) >= 0), TypeError, "masked_array"
    yield "ragged", RAGGED[0], ValueError, RAGGED[1]
    yield "NaN", with_entry(valid, NAN), ValueError, "nan"
    for entry in infinite:
        yield f"{entry}", with_entry(valid, entry), ValueError, f"{entry}"


def bad_integers(least: int):
    for value in (1.5, 64.0, "8", None, [8], 1j, True, False, np.True_, NAN, np.float64(2)):
        yield repr(value), value, TypeError, str(value)
    yield "array", np.array([3]), TypeError, "array([3])"
    for value in (least - 1, -7, np.int64(least - 1)):
        yield repr(value), value, ValueError, str(value)


def bad_numbers(*, least: float, excluded: bool, none: bool = False):
    for value in ("x", [1.0], 1j, True, np.ones(2), object, *(() if none else (None,))):
        yield repr(value), value, TypeError, repr(value)[:20]
    yield "ragged", RAGGED[0], ValueError, RAGGED[1]
    for value in (NAN, INF, -INF, least - 0.5, np.float32(least - 1)):
        yield repr(value), value, ValueError, f"{value:g}"
    if excluded:
        yield "the bound itself", least, ValueError, str(float(least))


def bad_weights():
    yield from bad_arrays(ROW)
    yield "a number", 1.0, ValueError, "()"
    yield "negative", [[-0.25, 1.25]], ValueError, "-0.25"
    yield "sum too large", [[0.5, 0.5], [0.5, 0.6]], ValueError, "1.1"
    yield "sum too small", [[0.4, 0.5], [0.5, 0.5]], ValueError, "0.9"
    yield "sum a little off", [[0.5, 0.50000105]], ValueError, "1"
    yield "empty", np.zeros((3, 0)), ValueError, "(3, 0)"


def bad_lengths():
    yield from bad_arrays(ROW)
    yield "a number", 1.0, ValueError, "()"
    yield "negative", [[2.0, -0.25], [1.0, 1.0]], ValueError, "-0.25"
    yield "empty", np.zeros((2, 0)), ValueError, "(2, 0)"


def bad_probabilities():
    yield from bad_arrays(VALID["probabilities"])
    yield "a number", 0.5, ValueError, "()"
    yield "a matrix", [[0.5]], ValueError, "(1, 1)"
    yield "empty", np.zeros(0), ValueError, "(0,)"
    yield "below 0", [0.5, -0.01], ValueError, "-0.01"
    yield "above 1", [0.5, 1.01], ValueError, "1.01"


def bad_covariances():
    yield from bad_arrays(np.eye(2))
    yield "a number", 2.0, ValueError, "()"
    yield "a vector", [1.0, 1.0], ValueError, "(2,)"
    yield "three axes", np.ones((1, 1, 1)), ValueError, "(1, 1, 1)"
    yield "not square", np.ones((2, 3)), ValueError, "(2, 3)"
    yield "empty", np.zeros((0, 0)), ValueError, "(0, 0)"
    yield "of another size", np.eye(3), ValueError, "(3, 3)"
    yield "not symmetric", [[1.0, 0.5], [0.0, 1.0]], ValueError, "transpose"
    yield "slightly asymmetric", [[2.0, 2.1e-8], [0.0, 2.0]], ValueError, "transpose"
    yield "a negative eigenvalue", [[1.0, 2.0], [2.0, 1.0]], ValueError, "-1"
    yield "slightly negative", [[2.0, 0.0], [0.0, -2.1e-8]], ValueError, "-2.1e-08"
    yield "nearly symmetric", [[1.0, 0.5], [0.4, 1.0]], ValueError, "transpose"
    yield "negative", -np.ones((2, 2)), ValueError, "-2"


def bad_means():
    yield from bad_arrays(np.ones(2), none=True)
    yield "too long", np.ones(3), ValueError, "(3,)"
    yield "a column", np.ones((2, 1)), ValueError, "(2, 1)"


def bad_logits():
    yield from bad_arrays(SCORES, infinite=(INF,))
    yield "a number", 1.0, ValueError, "()"
    yield "no key", np.zeros((2, 0)), ValueError, "(2, 0)"
    yield "a row of -inf", [[1.0, 2.0], [-INF, -INF]], ValueError, "-inf throughout"


def bad_vectors():
    yield from bad_arrays(SCORES)
    yield "a number", 1.0, ValueError, "()"
    yield "a constant vector", [[1.0, 2.0], [0.1, 0.1]], ValueError, "(2, 2)"
    yield "empty vectors", np.zeros((2, 0)), ValueError, "(2, 0)"


def bad_cosines():
    yield from bad_numbers(least=0, excluded=False)
    yield "above 1", 1.01, ValueError, "1.01"


def bad_initializers():
    for value in (None, "gpt2", 0.02, attnlib.Initializer, INITIALIZERS):
        yield repr(value)[:20], value, TypeError, repr(value)[:20]


def bad_axes():
    for value in (1.0, "0", None, True, False, np.True_, [0], (0,), 1j):
        yield repr(value), value, TypeError, str(value)
    for value in (2, -3, 100, np.int64(2)):
        yield repr(value), value, ValueError, str(value)


def bad_sizes():
    for value in (1.5, "3", None, True, (2, 1.5), (True,), (2, None), np.array([2, 3])):
        shown = value[-1] if isinstance(value, tuple) else value
        yield repr(value), value, TypeError, repr(shown)
    for value in (-1, (2, -1), [-3, 2]):
        yield repr(value), value, ValueError, "-"


def bad_matrices():
    yield from bad_arrays(SCORES)
    yield "a number", 1.0, ValueError, "()"
    yield "a vector", [1.0, 2.0], ValueError, "(2,)"


def bad_cotangents():
    yield from bad_arrays(SCORES)
    yield "too wide", np.ones((2, 3)), ValueError, "(2, 3)"
    yield "too many axes", np.ones((1, 2, 2)), ValueError, "(1, 2, 2)"


def bad_masks():
    for label, (value, shown) in NO_NUMBERS.items():
        if label not in {"nothing", "boolean"}:
            yield label, value, TypeError, shown
    yield "ragged", RAGGED[0], ValueError, RAGGED[1]
    yield "integers", [[1, 0], [1, 1]], TypeError, "int64"
    yield "unsigned", np.ones((2, 2), np.uint8), TypeError, "uint8"
    yield "NaN", with_entry(SCORES, NAN), ValueError, "nan"
    yield "+inf", with_entry(SCORES, INF), ValueError, "inf"
    yield "wrong width", np.ones((2, 3), bool), ValueError, "(2, 3)"
    yield "wrong height", np.zeros((3, 2)), ValueError, "(3, 2)"
    yield "too many axes", np.zeros((4, 2, 2)), ValueError, "(4, 2, 2)"


BAD = {
    "logits": bad_logits,
    "axis": bad_axes,
    "weights": bad_weights,
    "lengths": bad_lengths,
    "probabilities": bad_probabilities,
    "real array": lambda: bad_arrays(SCORES),
    "count": lambda: bad_integers(1),
    "length": lambda: bad_integers(0),
    "fourth moment": lambda: bad_numbers(least=1, excluded=False),
    "covariance": bad_covariances,
    "mean": bad_means,
    "size": bad_sizes,
    "matrix": bad_matrices,
    "mask": bad_masks,
    "scale": lambda: bad_numbers(least=0, excluded=False, none=True),
    "positive": lambda: bad_numbers(least=0, excluded=True),
    "rng": lambda: (
        (repr(value)[:20], value, TypeError, str(value)[:20])
        for value in (0, None, 12345, np.random.RandomState(0), np.random, np.random.PCG64(0))
    ),
    "flag": lambda: (
        (repr(value), value, TypeError, repr(value)[:20])
        for value in (0, 1, None, "yes", [True], np.array([True, False]), np.float64(1))
    ),
    "cotangent": bad_cotangents,
    "vectors": bad_vectors,
    "initializer": bad_initializers,
    "two or more": lambda: bad_integers(2),
    "three or more": lambda: bad_integers(3),
    "cosine": bad_cosines,
}


def valid_call(name: str) -> dict:
    return {argument: VALID[kind] for argument, kind in KINDS[name].items()}


CASES = [
    pytest.param(name, argument, value, error, shown, id=f"{name}-{argument}-{label}")
    for name, arguments in KINDS.items()
    for argument, kind in arguments.items()
    for label, value, error, shown in BAD[kind]()
]


# What only two arguments together get wrong; the message names the one that has to give way.
Q, K, V = np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5))
DOUBLE = {"query": Q, "key": K, "value": V}
SINGLE = {name: array.astype(np.float32) for name, array in DOUBLE.items()}
ATTENTION = "scaled_dot_product_attention"
TOGETHER = [
    ("softmax_vjp", {"weights": ROW, "cotangent": cotangent}, "cotangent", shown)
    for cotangent, shown in (
        (np.ones(3), "(3,)"),
        (np.ones((4, 2, 2)), "(4, 2, 2)"),
        ([1.7e308, -1.7e308], "1.7e+308"),
        ([[1.7e308, -1.7e308], [0.0, 1.0]], "-1.7e+308"),
    )
]
TOGETHER += [
    (name, {"d_k": 4, "n_keys": 3, "rng": RNG, "scale": 1e308} | sizes, "scale", "1e+308")
    for name, sizes in (
        ("sample_query_gradients", {"n_rows": 40}),
        ("sample_key_gradients", {"n_rows": 40}),
        ("sample_layer_key_gradients", {"n_queries": 40, "n_layers": 1}),
    )
]
TOGETHER += [
    ("sorted_shares", {"lengths": [[1.0, 2.0], [0.0, 0.0]]}, "lengths", "(2, 2)"),
    ("sorted_shares", {"lengths": np.zeros((0, 3)), "axis": 0}, "lengths", "(0, 3)"),
    ("softmax", {"x": np.zeros((0, 3)), "axis": 0}, "x", "(0, 3)"),
    ("entropy", {"weights": np.zeros((0, 3)), "axis": 0}, "weights", "(0, 3)"),
    ("entropy", {"weights": ROW, "axis": 0}, "weights", "0.75"),
    (
        "online_attention",
        DOUBLE | {"value": [[1e308], [0.0], [1e308], [0.0]]},
        "value",
        "float64 can hold; got magnitudes up to 1, 1, 1e+308",
    ),
]
TOGETHER += [
    (ATTENTION, DOUBLE | bad, blamed, shown)
    for bad, blamed, shown in (
        ({"key": np.ones((4, 2))}, "key", "(4, 2)"),
        ({"value": np.ones((3, 5))}, "value", "(3, 5)"),
        ({"query": np.ones((2, 0)), "key": np.ones((4, 0))}, "query", "(2, 0)"),
        ({"key": np.ones((0, 3)), "value": np.ones((0, 5))}, "key", "(0, 3)"),
        ({"query": np.ones((2, 2, 3)), "key": np.ones((3, 4, 3))}, "query", "(3, 4, 3)"),
        ({"scale": 1e308}, "query", "1e+308"),
    )
]
TOGETHER += [
    (name, DOUBLE | {"query": Q * 1e200, "key": K * 1e200}, "query", "1e+200")
    for name in (ATTENTION, "online_attention")
]
TOGETHER += [
    (ATTENTION, SINGLE | bad, blamed, shown)
    for bad, blamed, shown in (
        (
            {"query": SINGLE["query"] * 1e20, "key": SINGLE["key"] * 1e20, "scale": 1},
            "query",
            "float32",
        ),
        ({"attn_mask": np.diag([1e300, 0, 0, 0])[:2]}, "attn_mask", "float32"),
    )
]
TOGETHER += [
    (name, SINGLE | bad, blamed, shown)
    for name in (ATTENTION, "blockwise_attention")
    for bad, blamed, shown in (
        ({"scale": 1e50}, "value", "1e+50"),
        ({"scale": lambda _d_k, n: 1e50 if n == 4 else 1.0}, "value", "<lambda>"),
        ({"scale": attnlib.scaling.soft_cap(1e50)}, "value", "soft cap 1e+50"),
        ({"attn_mask": np.full((2, 4), 1e300)}, "attn_mask", "float32"),
    )
]
TOGETHER += [
    (name, DOUBLE | {"cotangent": 1.0} | bad, "cotangent", shown)
    for name in ("attention_vjp", "blockwise_attention_vjp")
    for bad, shown in (
        ({"value": V * 1e200, "cotangent": 1e200}, "1e+200"),
        ({"query": np.zeros((2000, 3)), "cotangent": 1.7e308}, "up to 0, 1, 1"),
        (SINGLE | {"cotangent": np.array([[1.0], [-1e300]])}, "float32"),
    )
]


def function_named(name: str) -> Any:
    """Return what the package offers by that name, or the chapter on initialization."""
    return getattr(attnlib, name, None) or getattr(initialization, name)


def check(name: str, arguments: dict, blamed: str, error: type, shown: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error) as caught:
            function_named(name)(**arguments)
    message = str(caught.value)
    assert type(caught.value) is error
    assert re.match(rf"(\w+, )*(\w+ and )?{blamed}\b", message), "begins with the argument's name"
    assert re.search(r"\bmust\b.+; got ", message), "says what is wanted, then what came"
    assert shown in message, "shows what came"
    assert len(message) < 250, "is short enough to read"


@pytest.mark.parametrize(("name", "argument", "value", "error", "shown"), CASES)
def test_a_bad_argument(name, argument, value, error, shown):
    check(name, valid_call(name) | {argument: value}, argument, error, shown)


@pytest.mark.parametrize(
    ("name", "arguments", "blamed", "shown"), TOGETHER, ids=[f"{t[0]}-{t[3]}" for t in TOGETHER]
)
def test_arguments_that_do_not_fit_each_other(name, arguments, blamed, shown):
    check(name, arguments, blamed, ValueError, shown)


@pytest.mark.parametrize("name", KINDS)
def test_the_valid_call_is_valid(name):
    """Else every error above might be the fault of another argument."""
    before = {k: np.array(v) for k, v in valid_call(name).items() if isinstance(v, np.ndarray)}
    function_named(name)(**valid_call(name))
    for argument, copy in before.items():
        assert_array_equal(valid_call(name)[argument], copy)


def test_no_function_or_argument_is_left_out():
    functions = {
        name: function_named(name)
        for name in (*attnlib.__all__, *initialization.__all__)
        if inspect.isfunction(function_named(name))
    }
    assert set(KINDS) == set(functions)
    for name, function in functions.items():
        assert set(KINDS[name]) == set(inspect.signature(function).parameters), name


def test_the_least_allowed_values_are_allowed():
    """The other side of each bound."""
    assert attnlib.score_moments(1, fourth_moment_q=1, fourth_moment_k=1) == (0, 1, -2)
    assert attnlib.causal_mask(0, 1).shape == (0, 1)
    one = np.ones((1, 1))
    assert attnlib.scaled_dot_product_attention(one, one, one, scale=0) == 1
    assert attnlib.softmax(SCORES, axis=-2).shape == attnlib.softmax(SCORES, axis=1).shape
    assert attnlib.sample_query_gradients(1, 1, 1, scale=0, rng=RNG) == 0
    assert attnlib.sample_key_gradients(1, 1, 1, scale=0, rng=RNG) == 0
    assert attnlib.sample_layer_key_gradients(1, 1, 1, 1, scale=0, rng=RNG) == 0
    assert attnlib.gradient_statistics([0.0, 2.0], [0, 1]).quantiles.tolist() == [0, 2]
    assert attnlib.entropy([1.0 + 9e-7]) == pytest.approx(0, abs=1e-6)
    assert attnlib.concentration_bound(1e-300, 2) == 0
    assert attnlib.score_sf(0.0, 10**7) == 0.5


def test_a_sum_may_be_off_by_what_rounding_explains():
    """An n-fold sum in float16 is off by up to n eps; float64 weights get no such allowance."""
    n = 400
    coarse = attnlib.softmax(np.random.default_rng(0).standard_normal(n).astype(np.float16))
    assert abs(float(coarse.astype(float).sum()) - 1) > 1e-6
    assert attnlib.entropy(coarse).dtype == np.float16
    half_eps = np.finfo(np.float16).eps
    within = np.array([0.5, 0.5 + 7 * half_eps], np.float16)
    assert attnlib.entropy(within) > 0
    beyond = np.array([0.5, 0.5 + 9 * half_eps], np.float16)
    for weights in (beyond, within.astype(float)):
        with pytest.raises(ValueError, match="sum to 1"):
            attnlib.entropy(weights)


def test_exact_messages():
    """One of each kind word for word, long values cut short."""
    expected = {
        "axis must be an integer; got 1.0": lambda: attnlib.softmax(ROW, axis=1.0),
        "axis must lie between -2 and 1 for x of shape (2, 2); got 2": lambda: attnlib.softmax(
            ROW, axis=2
        ),
        "d_k must be at least 1; got 0": lambda: attnlib.score_moments(0),
        "d_k must be at most 1e+07; got 10000001": lambda: attnlib.score_pdf(0.0, 10**7 + 1),
        "scale must leave the logits finite; got 1e+308": (
            lambda: attnlib.sample_row_statistics(64, 16, 10, scale=1e308, rng=RNG)
        ),
        "x must have 1 dimensions or more; got shape ()": lambda: attnlib.softmax(1.0),
        "query must have 2 dimensions or more; got shape (2,)": (
            lambda: attnlib.scaled_dot_product_attention(ROW[0], ROW, ROW)
        ),
        f"x must hold real numbers of a type of NumPy; got dtype <U99 from '{'a' * 59}": (
            lambda: attnlib.softmax("a" * 99)
        ),
        "z must hold finite numbers; got -inf in an array of shape (2,)": (
            lambda: attnlib.score_pdf([0.0, -INF], 2)
        ),
        "x must hold finite numbers or -inf; got inf in an array of shape (1,)": (
            lambda: attnlib.softmax([INF])
        ),
    }
    for message, call in expected.items():
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert str(caught.value) == message


def test_every_check_is_used():
    """A check that nothing calls guards nothing."""
    folders = PACKAGE, Path(initialization.__file__).parent
    sources = "".join(p.read_text("utf-8") for folder in folders for p in folder.glob("*.py"))
    for name, function in vars(_checks).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            # the definition, and at least one call
            assert len(re.findall(rf"\b{name}\(", sources)) > 1, name


@pytest.mark.parametrize("total", [0.0, 0.989, 1.011, 2.1])
def test_many_short_weights_do_not_excuse_a_wrong_sum(total: float) -> None:
    weights = np.full(300, total / 300).astype(np.float16)
    with pytest.raises(ValueError, match="sum to 1"):
        attnlib.entropy(weights)


def test_many_short_weights_may_be_rounded() -> None:
    weights = np.full(300, 1 / 300).astype(np.float16)
    assert abs(float(weights.sum(dtype=np.float64)) - 1) < 0.009
    assert np.isfinite(attnlib.entropy(weights))


def test_the_allowance_for_many_short_weights_ends_at_one_hundredth() -> None:
    step = np.finfo(np.float16).eps / 2  # the spacing of float16 from a half to one
    weights = np.zeros(300, np.float16)
    weights[:2] = 0.5, 0.5 + 20 * step
    assert attnlib.entropy(weights) > 0
    weights[1] = 0.5 + 22 * step
    with pytest.raises(ValueError, match="sum to 1"):
        attnlib.entropy(weights)
