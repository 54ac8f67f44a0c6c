"""The questions: small valid inputs, and the verdict on what a library makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .calls import HEADS_FIRST, TOKENS_FIRST, Array, Call, NoSuchArgumentError

REFUSED = "refused"
NO_ARGUMENT = "no such argument"
NOT_ASKED = "not asked"
LOWEST = float(np.finfo(np.float32).min)


def weights_of(logits: Array) -> Array:
    """Return softmax in float64; a row of -inf gives zeros."""
    peak = logits.max(axis=-1, keepdims=True)
    terms = np.exp(logits - np.where(np.isneginf(peak), 0, peak))
    total = terms.sum(axis=-1, keepdims=True)
    weights: Array = terms / np.where(total == 0, 1, total)
    return weights


def exact(
    query: Array, key: Array, value: Array, bias: Any = 0.0, scale: float | None = None
) -> Array:
    """Return attention in float64."""
    query, key, value = (np.asarray(x, np.float64) for x in (query, key, value))
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    return weights_of(factor * (query @ key.swapaxes(-1, -2)) + bias) @ value


def sample(*shapes: tuple[int, ...], seed: int = 0) -> list[Array]:
    """Return standard normal arrays in float32."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def verdict(output: Array, references: Mapping[str, Array], tolerance: float = 1e-3) -> str:
    """Return the name of the reference that an output equals."""
    numbers = np.asarray(output, np.float64)
    for name, reference in references.items():
        if numbers.shape == np.shape(reference) and np.allclose(numbers, reference, atol=tolerance):
            return name
    if np.isnan(numbers).any():
        return "NaN"
    return "something else"


def minus_inf(visible: Array, hidden: float = -np.inf) -> Array:
    """Return a mask to be added."""
    return np.where(visible, 0, hidden).astype(np.float32)


def boolean(call: Call, visible: Array) -> Array:
    """Return a Boolean mask in the library's sense."""
    return ~visible if call.true_hides else visible


def hidden_row(kind: str, n_keys: int) -> Callable[[Call], str]:
    """Ask for the output of a query that may see no key."""

    def ask(call: Call) -> str:
        query, key, value = sample(*[(1, 1, n_keys, 8)] * 3)
        visible = np.ones((1, 1, n_keys, n_keys), bool)
        visible[..., 1, :] = False
        if kind == "Boolean":
            output = call(query, key, value, mask=boolean(call, visible))
        else:
            lowest = {"-inf": -np.inf, "lowest": LOWEST}[kind]
            output = call(query, key, value, bias=minus_inf(visible, lowest))
        row = output[0, 0, 1]
        if np.isnan(row).all() and np.isfinite(np.delete(output, 1, axis=2)).all():
            return "NaN"
        return verdict(
            row,
            {
                "zeros": np.zeros(8),
                "mean of all values": value[0, 0].mean(axis=0),
                "as without a mask": exact(query, key, value)[0, 0, 1],
            },
        )

    return ask


def name_of(option: str) -> Callable[[Call], str]:
    """Ask for the library's name of an argument, which the other questions use."""

    def ask(call: Call) -> str:
        if option not in call.names:
            raise NoSuchArgumentError(option)
        return call.names[option]

    return ask


def what_true_means(call: Call) -> str:
    """Ask what True says of a key."""
    query, key, value = sample(*[(1, 1, 4, 8)] * 3)
    mask = np.tile([True, False, True, False], (1, 1, 4, 1))
    references = {
        "may be seen": exact(query, key, value, minus_inf(mask)),
        "is hidden": exact(query, key, value, minus_inf(~mask)),
        "one is added to the logit": exact(query, key, value, mask),
    }
    return verdict(call(query, key, value, mask=mask), references)


def mask_of_two_axes(call: Call) -> str:
    """Ask which axes a Boolean mask has that has two of them, for as many texts as queries."""
    visible = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 1, 0]], bool)
    return masked(call, visible, {"(queries, keys)": visible, "(batch, keys)": visible[:, None]})


def padding_mask(call: Call) -> str:
    """Ask whether a mask may have one row for all heads and queries of a text."""
    visible = np.arange(4) < np.array([4, 3, 2, 1])[:, None, None, None]
    return masked(call, visible, {"taken": visible[:, 0]})


def masked(call: Call, visible: Array, readings: Mapping[str, Array]) -> str:
    """Return how a mask is read."""
    if call.axes not in (HEADS_FIRST, TOKENS_FIRST):
        raise NoSuchArgumentError("a mask for several texts")
    query, key, value = sample(*[(4, 1, 4, 8)] * 3)
    references = {
        name: exact(query, key, value, minus_inf(np.broadcast_to(mask, (4, 4, 4))[:, None]))
        for name, mask in readings.items()
    }
    references["one is added to the logit"] = exact(query, key, value, visible)
    return verdict(call(query, key, value, mask=boolean(call, visible)), references)


def integer_mask(option: str) -> Callable[[Call], str]:
    """Ask what a mask of 0 and 1 does."""

    def ask(call: Call) -> str:
        query, key, value = sample(*[(1, 1, 4, 8)] * 3)
        mask = np.tile([1, 0, 1, 0], (1, 1, 4, 1)).astype(np.int32)
        return verdict(
            call(query, key, value, **{option: mask}),
            {
                "added to the logits": exact(query, key, value, mask),
                "read as Boolean": exact(
                    query, key, value, minus_inf((mask == 1) ^ call.true_hides)
                ),
            },
        )

    return ask


def float_in_place_of_boolean(call: Call) -> str:
    """Ask what an additive mask does in the argument for Boolean ones."""
    query, key, value = sample(*[(1, 1, 4, 8)] * 3)
    mask = minus_inf(np.tile([True, False, True, False], (1, 1, 4, 1)))
    references = {
        "added": exact(query, key, value, mask),
        "inverted: 0 hides and −∞ shows": exact(query, key, value, minus_inf(mask != 0)),
    }
    return verdict(call(query, key, value, mask=mask), references)


def bias_of_type(dtype: type) -> Callable[[Call], str]:
    """Ask whether an additive mask of another type than the query's is taken."""

    def ask(call: Call) -> str:
        query, key, value, bias = sample((1, 1, 4, 8), (1, 1, 4, 8), (1, 1, 4, 8), (1, 1, 4, 4))
        bias = bias.astype(dtype)
        output = call(query, key, value, bias=bias)
        return verdict(output, {"added": exact(query, key, value, bias)}, 2e-3)

    return ask


def causal(n_queries: int, n_keys: int) -> Callable[[Call], str]:
    """Ask which keys each query sees, from values that are a unit matrix."""

    def ask(call: Call) -> str:
        query, key = sample((1, 1, n_queries, n_keys), (1, 1, n_keys, n_keys), seed=1)
        value = np.eye(n_keys, dtype=np.float32)[None, None]
        left = np.tri(n_queries, n_keys, dtype=bool)
        right = np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)
        expected = {
            "upper left": exact(query, key, value, minus_inf(left)),
            "lower right": exact(query, key, value, minus_inf(right)),
        }
        if n_queries > n_keys:
            empty = ~right.any(axis=-1, keepdims=True)
            mean = np.where(empty, 1 / n_keys, expected["lower right"])
            expected["lower right, zeros where no key is left"] = expected.pop("lower right")
            expected["lower right, the mean of all values where no key is left"] = mean
        return verdict(call(query, key, value, is_causal=True), expected)

    return ask


def causal_and_mask(option: str) -> Callable[[Call], str]:
    """Ask what becomes of a mask beside the causal one."""

    def ask(call: Call) -> str:
        query, key, value = sample(*[(1, 1, 4, 8)] * 3)
        visible = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 1]], bool)
        lower, given = np.tri(4, dtype=bool), visible[None, None]
        mask = boolean(call, given) if option == "mask" else minus_inf(given)
        references = {
            "both hold": exact(query, key, value, minus_inf(lower & visible)),
            "the mask is ignored": exact(query, key, value, minus_inf(lower)),
            "is_causal is ignored": exact(query, key, value, minus_inf(visible)),
        }
        return verdict(call(query, key, value, is_causal=True, **{option: mask}), references)

    return ask


def scaled_by(scale: float) -> Callable[[Call], str]:
    """Ask what an unusual scale does."""

    def ask(call: Call) -> str:
        query, key, value = (3 * x for x in sample(*[(1, 1, 3, 8)] * 3, seed=2))
        references = {
            "taken as it is": exact(query, key, value, scale=scale),
            "read as not given": exact(query, key, value),
            "its size is taken": exact(query, key, value, scale=abs(scale)),
        }
        return verdict(call(query, key, value, scale=scale), references)

    return ask


def default_width(call: Call) -> str:
    """Ask whose width the default scale takes."""
    query, key, value = sample((1, 1, 5, 16), (1, 1, 5, 16), (1, 1, 5, 64), seed=7)
    references = {
        "the query's": exact(query, key, value),
        "the value's": exact(query, key, value, scale=1 / 8),
    }
    return verdict(call(query, key, value), references)


def where_scaled(call: Call) -> str:
    """Ask where the scale is multiplied in, from what overflows in float32."""
    survived = []
    for size, length, scale in (1e25, 1e20, 1e-36), (1e25, 1e-20, 1e20), (1e-20, 1e25, 1e20):
        query, key, value = (np.zeros((1, 1, n, 8), np.float32) for n in (1, 2, 2))
        query[..., 0] = size
        key[0, 0, :, 0] = length, -length
        value[0, 0, 0] = 1
        try:
            survived.append(abs(float(call(query, key, value, scale=scale).flat[0]) - 1) < 1e-3)
        except NoSuchArgumentError:
            raise
        except (ValueError, OverflowError):
            survived.append(False)
    places: dict[tuple[bool, ...], str] = {
        (False, True, True): "after the product",
        (True, False, True): "on the query",
        (True, True, False): "on the key",
        (True, True, True): "its root on both",
    }
    return places.get(tuple(survived), "something else")


def grouped(n_query_heads: int, n_key_heads: int) -> Callable[[Call], str]:
    """Ask which key head each query head uses: the values of head j are all j."""

    def ask(call: Call) -> str:
        query, key = sample((1, n_query_heads, 4, 8), (1, n_key_heads, 4, 8), seed=3)
        heads = np.arange(n_key_heads, dtype=np.float32)
        value = np.broadcast_to(heads[None, :, None, None], key.shape).copy()
        group = n_query_heads // n_key_heads
        outputs: dict[str, Array] = {
            "in blocks": np.repeat(heads, group),
            "in turn": np.tile(heads, group),
        }
        if n_key_heads == 1:
            outputs = {"all use it": np.zeros(n_query_heads)}
        try:
            output = call(query, key, value)
            how = ""
        except NoSuchArgumentError:
            raise
        except Exception:  # whatever class a library has for it
            if "enable_gqa" not in call.names:
                raise
            output = call(query, key, value, enable_gqa=True)
            how = ", if enable_gqa is set"
        return verdict(output[0, :, 0, 0], outputs) + how

    return ask


def axes(call: Call) -> str:
    """Ask in which order the axes are."""
    query, key, value = sample((1, 1, 3, 8), (1, 1, 5, 8), (1, 1, 5, 8))
    return verdict(call(query, key, value), {call.axes: exact(query, key, value)})


def half_precision(component: float) -> Callable[[Call], str]:
    """Ask what large components do in float16, which two logits near 30,000 need to differ."""

    def ask(call: Call) -> str:
        query = np.full((1, 1, 2, 64), component, np.float16)
        key = np.full((1, 1, 3, 64), component, np.float16)
        key[..., 1, 0] *= 1.001  # a logit that is larger by less than a half
        key[..., 2, :] *= -1
        value = np.repeat([[1.0], [3.0], [7.0]], 64, axis=1).astype(np.float16)[None, None]
        output = call(query, key, value)
        rounded = np.full((1, 1, 2, 64), 2.0)  # both logits become equal
        return verdict(
            output,
            {"right": exact(query, key, value), "wrong: logits are rounded to float16": rounded},
            2e-2,
        )

    return ask


def rounding(dtype: str) -> Callable[[Call], str]:
    """Ask how large the error is, in roundings of the exact output."""

    def ask(call: Call) -> str:
        if dtype == "bfloat16":
            import ml_dtypes

            kind = np.dtype(ml_dtypes.bfloat16)
        else:
            kind = np.dtype(dtype)
        query, key, value = (x.astype(kind) for x in sample(*[(1, 2, 256, 64)] * 3, seed=4))
        right = exact(query, key, value)
        once = np.abs(right.astype(kind).astype(np.float64) - right).max()
        output = np.asarray(call(query, key, value))
        if output.dtype == np.float64:
            return "computed in float64"
        error = np.abs(output.astype(np.float64) - right).max() / once
        names = {1.15: "as if rounded once", 2.5: "up to 2 times", 10: "2 to 10 times"}
        return next((name for most, name in names.items() if error < most), "over 10 times")

    return ask


def no_key(call: Call) -> str:
    """Ask for the output over no key at all."""
    query, key = np.ones((1, 1, 2, 8), np.float32), np.ones((1, 1, 0, 8), np.float32)
    return verdict(call(query, key, key), {"zeros": np.zeros((1, 1, 2, 8))})


def no_query(call: Call) -> str:
    """Ask for the output of no query."""
    query, key = np.ones((1, 1, 0, 8), np.float32), np.ones((1, 1, 2, 8), np.float32)
    return verdict(call(query, key, key), {"an empty array": np.zeros((1, 1, 0, 8))})


def hidden_nan(place: str) -> Callable[[Call], str]:
    """Ask whether NaN in a hidden key, or its value, reaches the output."""

    def ask(call: Call) -> str:
        query, key, value = sample(*[(1, 1, 4, 8)] * 3)
        visible = np.tile(np.arange(4) < 3, (1, 1, 4, 1))
        right = exact(query, key, value, minus_inf(visible))
        {"key": key, "value": value}[place][..., 3, :] = np.nan
        output = call(query, key, value, mask=boolean(call, visible))
        found = verdict(output, {"stays hidden": right})
        return "spreads" if found == "NaN" else found

    return ask


def softmax_of(
    function: str, row: list[float], answers: Mapping[str, list[float]]
) -> Callable[[Call], str]:
    """Ask for softmax, or its logarithm, of a row."""

    def ask(call: Call) -> str:
        softmax = getattr(call, function)
        if softmax is None:
            raise NoSuchArgumentError(function)
        output = np.asarray(softmax(np.asarray([row], np.float32)))
        references = {name: np.asarray([answer]) for name, answer in answers.items()}
        for name, reference in references.items():
            if np.allclose(output, reference, equal_nan=True):
                return name
        return verdict(output, {})

    return ask


def float16_total(count: int) -> Callable[[Call], str]:
    """Ask what the weights of equal scores in float16 add up to."""

    def ask(call: Call) -> str:
        if call.softmax is None:
            raise NoSuchArgumentError("softmax")
        weights = np.asarray(call.softmax(np.zeros((1, count), np.float16)), np.float64)
        return f"add up to {weights.sum():.3g}"

    return ask


def default_axis(call: Call) -> str:
    """Ask along which axis softmax goes if none is named."""
    if call.softmax_default is None:
        raise NoSuchArgumentError("softmax")
    (x,) = sample((2, 3))
    references = {
        "the last": weights_of(x),
        "all together": weights_of(x.ravel()).reshape(x.shape),
        "the first": weights_of(x.T).T,
    }
    return verdict(call.softmax_default(x), references)


EMPTY: dict[str, list[float]] = {"an empty array": []}


def uniform(count: int) -> dict[str, list[float]]:
    """Return what a row of -inf may give."""
    return {"NaN": [np.nan] * count, "zeros": [0.0] * count, "equal weights": [1 / count] * count}


INFINITY = float("inf")
LOGARITHMS = {
    "right": [-10000.0, 0.0],
    "−∞": [-INFINITY, 0.0],
    "clamped at −64": [-64.0, 0.0],
}
QUESTIONS: dict[str, Callable[[Call], str]] = {
    "axes": axes,
    "name of mask": name_of("mask"),
    "name of bias": name_of("bias"),
    "name of is_causal": name_of("is_causal"),
    "name of scale": name_of("scale"),
    "true": what_true_means,
    "hidden row, Boolean, 3 keys": hidden_row("Boolean", 3),
    "hidden row, Boolean, 8 keys": hidden_row("Boolean", 8),
    "hidden row, -inf": hidden_row("-inf", 3),
    "hidden row, lowest": hidden_row("lowest", 3),
    "mask of two axes": mask_of_two_axes,
    "padding mask": padding_mask,
    "float as mask": float_in_place_of_boolean,
    "integer as mask": integer_mask("mask"),
    "integer as bias": integer_mask("bias"),
    "float64 bias": bias_of_type(np.float64),
    "float16 bias": bias_of_type(np.float16),
    "NaN in a hidden key": hidden_nan("key"),
    "NaN in a hidden value": hidden_nan("value"),
    "causal, 2 and 5": causal(2, 5),
    "causal, 5 and 2": causal(5, 2),
    "causal and mask": causal_and_mask("mask"),
    "causal and bias": causal_and_mask("bias"),
    "scale 0": scaled_by(0.0),
    "scale below 0": scaled_by(-0.5),
    "default width": default_width,
    "where scaled": where_scaled,
    "heads 8 and 2": grouped(8, 2),
    "heads 8 and 1": grouped(8, 1),
    "float16, scaled 28800": half_precision(60),
    "float16, scaled 80000": half_precision(100),
    "float16 error": rounding("float16"),
    "bfloat16 error": rounding("bfloat16"),
    "no key": no_key,
    "no query": no_query,
    "softmax axis": default_axis,
    "softmax of -inf, 3": softmax_of("softmax", [-INFINITY] * 3, uniform(3)),
    "softmax of -inf, 8": softmax_of("softmax", [-INFINITY] * 8, uniform(8)),
    "softmax of nothing": softmax_of("softmax", [], EMPTY),
    "softmax, float16, 4096": float16_total(4096),
    "softmax, float16, 70000": float16_total(70_000),
    "log_softmax": softmax_of("log_softmax", [0.0, 1e4], LOGARITHMS),
}


def answer(call: Call, question: str) -> tuple[str, str]:
    """Return a library's verdict on a question, and the words of its error if it refuses."""
    if question in call.unasked:
        return NOT_ASKED, ""
    try:
        with np.errstate(all="ignore"):
            return QUESTIONS[question](call), ""
    except NoSuchArgumentError:
        return NO_ARGUMENT, ""
    except ImportError:  # the environment's fault
        raise
    except Exception as error:  # noqa: BLE001 - whatever class a library has for it
        words = next((line for line in str(error).splitlines() if line.strip()), "")
        return REFUSED, f"{type(error).__name__}: {words.strip()[:160]}"
