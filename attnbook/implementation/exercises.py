"""The exercises of the chapter on implementation."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from attnbook.exercises._exercise import Check
from attnbook.exercises._judges import Function, Number, Pick

# Count before you allocate
HEADS, TOKENS, BYTES, MEMORY, WIDTH = 32, 16_384, 2, 24e9, 64
PER_PAIR = HEADS * BYTES
FITTING = math.sqrt(MEMORY / PER_PAIR)


def unrounded(pairs: float) -> float:
    """Return a number of tokens that lies near the root of the pairs, and near it rounded down."""
    return math.floor(math.sqrt(pairs)) + 0.45


WEIGHTS_MEMORY = Check(
    "weights-memory",
    gigabytes=Number(
        "the memory that the weights of the layer take, in gigabytes",
        PER_PAIR * TOKENS**2 / 1e9,
        mistakes={
            BYTES * TOKENS**2 / 1e9: "This is one head; the layer has 32 of them.",
            HEADS * TOKENS**2 / 1e9: "This counts the numbers; each takes two bytes.",
            2 * PER_PAIR * TOKENS**2 / 1e9: "You took four bytes a number, as in float32; "
            "these are float16.",
            PER_PAIR * TOKENS**2 / 2**30: "This is in units of 2³⁰ bytes; we want units of 10⁹.",
            PER_PAIR * TOKENS * WIDTH / 1e9: "This is the memory of the queries alone; "
            "each has a weight for every token.",
        },
        praise="And that is one layer and one text.",
    ),
    longest=Number(
        "the number of tokens of the longest text whose weights fit, a whole number",
        math.floor(FITTING),
        mistakes={
            math.floor(FITTING) + 0.99: "At this length the weights take a little more memory "
            "than there is.",
            MEMORY / PER_PAIR: "This is how many pairs of tokens fit; "
            "the number of tokens is its root.",
            unrounded(MEMORY / BYTES): "One head would fit with that; the layer has 32.",
            unrounded(MEMORY / HEADS): "Each number takes two bytes, not one.",
            unrounded(MEMORY / (2 * PER_PAIR)): "You took four bytes a number, as in float32; "
            "these are float16.",
            unrounded(24 * 2**30 / PER_PAIR): "You took a gigabyte for 2³⁰ bytes; here it is 10⁹.",
            TOKENS * MEMORY / (PER_PAIR * TOKENS**2): "The memory grows with the square of the "
            "length; you scaled it in proportion.",
        },
        within=0.49,
        why="We want a whole number.",
        praise="Half as much again takes 2.25 times the memory.",
    ),
    saving=Number(
        "the multiplications on the scores divided by those on the query",
        TOKENS / WIDTH,
        mistakes={
            WIDTH / TOKENS: "This is the other way round: the scores are the larger number.",
            TOKENS: "This is the number of scores of a query; "
            "divide it by what scaling the query takes.",
            TOKENS / math.sqrt(WIDTH): "The query has dₖ components, and each is multiplied; "
            "no root comes in.",
            TOKENS**2 / WIDTH: "This sets all scores against one query; compare like sizes.",
        },
        praise="It is n/dₖ, however many queries there are.",
    ),
)

# Write scaled attention
MODEL_WIDTH, MODEL_HEADS = 768, 12
HEAD_WIDTH = MODEL_WIDTH // MODEL_HEADS

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def _root(query: np.ndarray, _key: np.ndarray, _value: np.ndarray) -> float:
    return math.sqrt(query.shape[-1])


def _softmax(logits: np.ndarray, over: Any = -1, largest: Any = -1) -> np.ndarray:
    """Sum over some axes; the maximum is taken over these or others, or "nowhere"."""
    if largest != "nowhere":
        logits = logits - logits.max(axis=largest, keepdims=True)
    exponentials = np.exp(logits)
    return exponentials / exponentials.sum(axis=over, keepdims=True)


def _weights(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, divisor: Rule = _root, **axes: Any
) -> np.ndarray:
    return _softmax(query @ np.swapaxes(key, -1, -2) / divisor(query, key, value), **axes)


def _attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, **wrong: Any) -> np.ndarray:
    return _weights(query, key, value, **wrong) @ value


def _scaled_late(query: np.ndarray, key: np.ndarray, value: np.ndarray, **axes: Any) -> np.ndarray:
    weights = _weights(query, key, value, lambda *_: 1.0, **axes)
    return weights @ value / math.sqrt(query.shape[-1])


def _not_transposed(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, **axes: Any
) -> np.ndarray:
    return _softmax(query @ key / math.sqrt(query.shape[-1]), **axes) @ value


def _all_axes_turned(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, **axes: Any
) -> np.ndarray:
    return _softmax(query @ key.T / math.sqrt(query.shape[-1]), **axes) @ value


def _with_epsilon(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, *, epsilon: float
) -> np.ndarray:
    logits = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / (exponentials.sum(axis=-1, keepdims=True) + epsilon) @ value


# what a careless reader divides by, from queries, keys and values
DIVISORS = {
    (lambda *_: 1.0): "Your scores are not divided: the factor 1/√dₖ is missing.",
    (lambda *heads: heads[0].shape[-1]): "You divided by dₖ; divide by its square root.",
    (lambda *heads: 1 / math.sqrt(heads[0].shape[-1])): "You multiplied the scores by "
    "√dₖ; divide by it.",
    (lambda *heads: heads[0].shape[-1] ** 0.25): "You took the root twice and divided by the "
    "fourth root of dₖ. That is right on queries and keys both, or else too little.",
    (lambda *_: math.sqrt(MODEL_WIDTH)): "You divided by the root of d_model, "
    "the width of all heads together; read dₖ off the last axis of the query.",
    (lambda *_: math.sqrt(HEAD_WIDTH)): "You always divide by the same number; "
    "read the width off the last axis of the query.",
    (lambda *heads: math.sqrt(heads[1].shape[-2])): "You divided by the root of the number of "
    "keys, n; the width dₖ is the last axis.",
    (lambda *heads: math.sqrt(heads[2].shape[-1])): "You divided by the root of the width of the "
    "values; scores are made of queries and keys.",
    (lambda *heads: math.sqrt(len(heads[0]))): "You divided by the root of len(query), "
    "which counts along the first axis; the width is the last.",
    **{
        (lambda *heads, place=place: math.sqrt(heads[place].shape[1])): "For one head this is "
        "right. In a batch shape[1] is another axis; take shape[-1]."
        for place in (0, 1)
    },
}
LARGEST = (-1, "nowhere")
"""The maximum of each row, or none: a reader who divides wrongly may do either."""


def _sizes(rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Draw how many queries and keys there are and how wide keys and values, all different."""
    queries, keys, width, value_width = (int(size) for size in rng.permutation(range(2, 10))[:4])
    return queries, keys, width, value_width


def _drawn(
    rng: np.random.Generator,
    sizes: tuple[int, int, int, int],
    leading: tuple[int, ...] = (),
    gain: float = 1.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw queries, keys and values for logits with the standard deviation `gain`."""
    queries, keys, width, value_width = sizes
    root = math.sqrt(gain)
    return (
        root * rng.standard_normal((*leading, queries, width)),
        root * rng.standard_normal((*leading, keys, width)),
        rng.standard_normal((*leading, keys, value_width)),
    )


def draw_heads(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw heads of many shapes, alone and in batches, with moderate and with huge scores."""
    single = [_sizes(rng), (4, 4, 4, 4), (1, 7, 9, 3), (5, 1, 3, 2), (2, 6, 1, 1)]
    calls: list[tuple[Any, ...]] = [_drawn(rng, sizes) for sizes in single]
    calls.append(tuple(x.astype(np.float32) for x in _drawn(rng, _sizes(rng))))
    calls.append(_drawn(rng, _sizes(rng), (10,)))
    calls.append(_drawn(rng, _sizes(rng), (2, 10)))
    calls.append(_drawn(rng, (6, 8, 5, 3), gain=rng.uniform(1e3, 1e4)))
    calls.append(_drawn(rng, (6, 8, 100, 3), gain=rng.uniform(1e3, 1e4)))
    return calls


def room_of_attention(_right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Bound the rounding of the output.

    With u = eps/2 (that of the inputs, if it is coarser), rounding the inputs to the type of the
    answer, a dot product of d terms and the factor are off by at most (d + 5)u·a, where a is the
    largest factor·Σ|qᵢkᵢ| of the row, whichever is multiplied first. Subtracting the maximum adds
    2u·a, the exponential a few u. So exponentials are off by factors within e^±η,
    η = (d + 8)u·a + 4u, weights within e^±2η, and the two sums over n keys add 2nu and a few u.
    Weights sum to one, so this is relative to the largest value.
    """
    query, key, value = arguments[:3]
    unit = max(eps, *(float(np.finfo(x.dtype).eps) for x in (query, key, value))) / 2
    width, keys = query.shape[-1], key.shape[-2]
    sizes = np.abs(query) @ np.swapaxes(np.abs(key), -1, -2) / math.sqrt(width)
    exponent = (width + 8) * unit * sizes.max(axis=-1, keepdims=True) + 4 * unit
    relative = np.expm1(2 * exponent) + (2 * keys + 8) * unit
    return relative * np.abs(value).max(axis=(-2, -1), keepdims=True)


def _masked_by(
    weights: Callable[[np.ndarray, np.ndarray], np.ndarray], *, divided: bool = True
) -> Callable[..., np.ndarray]:
    """Return attention whose weights are made of logits and mask."""

    def attention(
        query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray
    ) -> np.ndarray:
        divisor = math.sqrt(query.shape[-1]) if divided else 1.0
        return weights(query @ np.swapaxes(key, -1, -2) / divisor, mask) @ value

    return attention


def _hidden(
    logits: np.ndarray, mask: np.ndarray, *, guarded: bool = True, safe: bool = True
) -> np.ndarray:
    """Weigh the keys with True; a query without any gets zeros if it is guarded."""
    logits = np.where(mask, logits, -np.inf)
    if safe:
        largest = logits.max(axis=-1, keepdims=True)
        logits = logits - (np.where(np.isneginf(largest), 0.0, largest) if guarded else largest)
    exponentials = np.exp(logits)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / (np.where(total == 0, 1.0, total) if guarded else total)


def _near_below(logits: np.ndarray, mask: np.ndarray, *, far: float, guarded: bool) -> np.ndarray:
    weights = _softmax(np.where(mask, logits, -far))
    return weights * mask.any(axis=-1, keepdims=True) if guarded else weights


def _lowered(logits: np.ndarray, mask: np.ndarray, *, far: float) -> np.ndarray:
    return _softmax(logits + np.where(mask, 0.0, -far))


def _hidden_late(
    logits: np.ndarray, mask: np.ndarray, *, guard: str, safe: bool = True
) -> np.ndarray:
    """Hide after the exponential: the maximum has been taken over hidden keys too."""
    largest = logits.max(axis=-1, keepdims=True) if safe else 0.0
    exponentials = np.exp(logits - largest) * mask
    total = exponentials.sum(axis=-1, keepdims=True)
    if guard == "sum":
        total = np.where(total == 0, 1.0, total)
    elif guard == "rows":
        total = np.where(mask.any(axis=-1, keepdims=True), total, 1.0)
    return exponentials / total


_masked = _masked_by(_hidden)


def draw_masked_heads(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw heads with masks, some rows of them empty, some hiding the largest scores."""
    calls: list[tuple[Any, ...]] = []
    for sizes, leading in [
        (_sizes(rng), ()),
        (_sizes(rng), ()),
        ((1, 7, 9, 3), ()),
        ((5, 6, 1, 1), ()),
        (_sizes(rng), (2, 3)),
    ]:
        query, key, value = _drawn(rng, sizes, leading)
        mask = rng.random((*leading, *sizes[:2])) < 0.5
        mask[..., 0], mask[..., -1] = True, False
        calls.append((query, key, value, mask))
    for place in (1, 4):  # here a query sees no key
        calls[place][3][..., 0, :] = False
    query, key, value = _drawn(rng, (2, 1, 3, 2))
    calls.append((query, key, value, np.array([[True], [False]])))
    query, key, value = _drawn(rng, _sizes(rng))
    calls.append((query, key, value, np.ones((len(query), len(key)), dtype=bool)))
    query, key, value = _drawn(rng, (6, 8, 5, 3), gain=rng.uniform(1e3, 1e4))
    scores = query @ key.T
    calls.append((query, key, value, scores < scores.max(axis=-1, keepdims=True)))
    calls.append((query, key, value, scores > scores.min(axis=-1, keepdims=True)))
    low = rng.uniform(300, 400, (3, 4)), -rng.uniform(300, 400, (5, 4))
    calls.append((*low, rng.standard_normal((5, 2)), np.eye(3, 5) + np.eye(3, 5, 1) > 0))
    return calls


NO_KEY_MEAN = (
    "A query that sees no key got an answer made of hidden values: a large negative number hides "
    "nothing where all keys have it. Return zeros there."
)
LARGE_MASKED = (
    "The masks are right; large scores overflow. Subtract the largest visible logit of each row."
)
TOO_NEAR = (
    "Your large negative number is not large enough: visible logits can lie below it, and then "
    "hidden keys take their weight. Use −∞."
)
HIDDEN_MAXIMUM = (
    "Moderate scores come out right, but you take the maximum over hidden keys too. Where one of "
    "them is far above, all visible exponentials vanish: hide first, then take the maximum."
)
WHOLE_MATRIX = (
    "You divided by the sum over the whole matrix (or the whole batch); each row has a sum of its "
    "own."
)
WHOLE_MAXIMUM = (
    "You subtracted the largest score of the whole matrix. In a row far below it every exponential "
    "vanishes, and 0/0 is left: subtract the maximum of each row."
)

SCALED_ATTENTION = Check(
    "scaled-attention",
    divisor=Number(
        "what the scores of one such head are divided by",
        math.sqrt(HEAD_WIDTH),
        mistakes={
            HEAD_WIDTH: "This is the width of a head; take its square root.",
            math.sqrt(MODEL_WIDTH): "This is the root of d_model; "
            "a head sees only its share of that width.",
            math.sqrt(MODEL_HEADS): "This is the root of the number of heads, not of dₖ.",
            1 / math.sqrt(HEAD_WIDTH): "This is the factor that multiplies the scores; "
            "we want the divisor.",
        },
    ),
    attend=Function(
        "the function attend(query, key, value), which returns the outputs",
        _attention,
        draw_heads,
        room_of_attention,
        mistakes={
            **{
                partial(_attention, divisor=divisor, largest=largest): message
                for divisor, message in DIVISORS.items()
                for largest in LARGEST
            },
            **{
                partial(_scaled_late, largest=largest): "You divided after softmax: "
                "the outputs shrink and the weights are those of scores that were not divided. "
                "Divide the scores."
                for largest in LARGEST
            },
            **{
                partial(_attention, over=-2, largest=largest): "Your weights sum to 1 along the "
                "queries, not along the keys: take softmax over the last axis of the scores."
                for largest in (-2, -1, None, "nowhere")
            },
            **{
                partial(_attention, over=over, largest=largest): WHOLE_MATRIX
                for over in (None, (-2, -1))
                for largest in (-1, None, (-2, -1), "nowhere")
            },
            **{
                partial(_not_transposed, largest=largest): "The keys are not transposed: "
                "query @ key multiplies components of the query by whole keys, "
                "and fits only if there are as many keys as components."
                for largest in LARGEST
            },
            **{
                partial(_all_axes_turned, largest=largest): "One head alone is right, "
                "a batch fails: .T turns all axes around. Swap the last two axes of the keys only."
                for largest in LARGEST
            },
            **{
                partial(_weights, largest=largest): "These are the weights; "
                "we want the outputs, the weights times the values."
                for largest in LARGEST
            },
            partial(_attention, largest="nowhere"): "Moderate scores come out right; large ones "
            "overflow to ∞/∞. Subtract the largest logit of each row before the exponential.",
            partial(_attention, largest=None): WHOLE_MAXIMUM,
            partial(_attention, largest=(-2, -1)): WHOLE_MAXIMUM,
            **{
                partial(_with_epsilon, epsilon=epsilon): "You added a small number to the sum, "
                "which shifts every weight. "
                "With the maximum subtracted the sum is at least one and needs no help."
                for epsilon in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)
            },
        },
        praise="Among them batches, a single key, float32 and scores of several thousand.",
    ),
    masked=Function(
        "the function masked(query, key, value, mask), which returns the outputs",
        _masked,
        draw_masked_heads,
        room_of_attention,
        mistakes={
            _masked_by(lambda logits, mask: _softmax(logits) * mask): "You hid keys after softmax: "
            "the weights that are left do not sum to one. Hide them before the exponential.",
            (lambda query, key, value, mask: _masked(query, key, value, ~mask)): "Your mask works "
            "the other way round: here True means that a query may attend.",
            _masked_by(lambda logits, _: _softmax(logits)): "Your function ignores the mask.",
            _masked_by(lambda logits, mask: _softmax(logits * mask)): "You multiplied logits by "
            "the mask: a hidden key then has the logit zero, not the weight zero.",
            **{
                _masked_by(partial(_hidden, guarded=False, safe=safe)): "A query that sees no key "
                "got NaN, from −∞ − (−∞) or 0/0; return zeros there."
                for safe in (True, False)
            },
            _masked_by(partial(_near_below, far=1e9, guarded=False)): NO_KEY_MEAN,
            **{_masked_by(partial(_lowered, far=far)): NO_KEY_MEAN for far in (1e9, 1e10)},
            **{
                _masked_by(partial(_near_below, far=far, guarded=guarded)): TOO_NEAR
                for far in (1e2, 1e3, 1e4, 1e5)
                for guarded in (True, False)
            },
            **{
                _masked_by(partial(_hidden_late, guard=guard)): HIDDEN_MAXIMUM
                for guard in ("none", "sum", "rows")
            },
            **{
                _masked_by(partial(_hidden_late, guard=guard, safe=False)): LARGE_MASKED
                for guard in ("sum", "rows")
            },
            _masked_by(partial(_hidden, safe=False)): LARGE_MASKED,
            **{
                _masked_by(
                    partial(_hidden, guarded=guarded, safe=safe), divided=False
                ): "The scores are not divided: the factor 1/√dₖ is missing here."
                for guarded in (True, False)
                for safe in (True, False)
            },
        },
        praise="Among them queries that see no key, and hidden keys with the largest scores.",
    ),
)

# Merge two blocks
FIRST, SECOND = (7.0, 2.0), (4.0, 3.0)
(M_FIRST, L_FIRST), (M_SECOND, L_SECOND) = FIRST, SECOND
FACTOR = math.exp(M_SECOND - M_FIRST)
TOTAL = L_FIRST + FACTOR * L_SECOND


def _state(logits: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the state of a block: maximum, sum of exponentials, and sum with the values."""
    largest = logits.max(initial=-np.inf)
    exponentials = np.exp(logits - largest)
    return np.array([largest, exponentials.sum(), *(exponentials @ values)])


def _merged(
    first: np.ndarray,
    second: np.ndarray,
    *,
    sums: Callable[[float, float, float], tuple[float, float]] | None = None,
    outputs: Callable[[float, float, float], tuple[float, float]] | None = None,
    guarded: bool = True,
    normalized: bool = False,
) -> np.ndarray:
    """Merge two states; `sums` and `outputs` give the factors of the two parts, if wrong ones."""
    largest = max(first[0], second[0])
    reference = 0.0 if guarded and largest == -np.inf else largest
    by_sum = (sums or _own_factors)(first[0], second[0], reference)
    by_output = (outputs or sums or _own_factors)(first[0], second[0], reference)
    total = by_sum[0] * first[1] + by_sum[1] * second[1]
    weighted = by_output[0] * first[2:] + by_output[1] * second[2:]
    return np.array([largest, total, *(weighted / total if normalized else weighted)])


def _own_factors(first: float, second: float, largest: float) -> tuple[float, float]:
    return np.exp(first - largest), np.exp(second - largest)


def _no_factors(*_maxima: float) -> tuple[float, float]:
    return 1.0, 1.0


def draw_states(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Draw pairs of states: either maximum the larger one, huge logits, empty blocks."""
    calls = []
    for shift, keys, width in ((3.0, 4, 3), (-2.0, 5, 2), (0.5, 1, 1), (4e3, 3, 2), (-6e3, 2, 4)):
        base = rng.uniform(-abs(shift), abs(shift))
        one, other = rng.standard_normal((2, keys)) + base
        values = rng.standard_normal((2, keys, width))
        other += one.max() + shift - other.max()
        calls.append((_state(one, values[0]), _state(other, values[1])))
    full, empty = calls[0][0], np.array([-np.inf, 0.0, 0.0, 0.0, 0.0])
    calls.append((full, full * np.array([1.0, 0.5, 2.0, 2.0, -1.0])))  # equal maxima
    calls.append(tuple(state.astype(np.float32) for state in calls[1]))
    calls += [(full, empty), (empty, full), (empty, empty.copy())]
    return calls


def room_of_merging(right: np.ndarray, arguments: tuple[Any, ...], eps: float) -> np.ndarray:
    """Bound the rounding of a merged state.

    With u = eps/2 (that of the states, if it is coarser): the exponent, of size x, is off by u·x,
    so its exponential is by a relative (x + 2)u; a product and a sum add 2u. The parts that are
    added are at most those of the states, or of the result. Nothing is computed for the maximum
    but a rounding to the type of the answer.
    """
    first, second = (np.asarray(state, dtype=float) for state in arguments)
    unit = max(eps, *(float(np.finfo(state.dtype).eps) for state in arguments)) / 2
    exponent = abs(first[0] - second[0]) if np.isfinite([first[0], second[0]]).all() else 0.0
    room = (exponent + 8) * unit * (np.abs(first) + np.abs(second) + np.abs(right))
    room[0] = 2 * unit * abs(right[0])
    return np.where(np.isfinite(room), room, 0.0)


SHRUNK_WRONGLY = {
    "You shrank ℓ but forgot o: both sums are relative to the maximum.": {"outputs": _no_factors},
    "You shrank o but forgot ℓ: both sums are relative to the maximum.": {
        "sums": _no_factors,
        "outputs": _own_factors,
    },
    "You shrank the first state only. The second one may have the smaller maximum as well.": {
        "sums": lambda *maxima: (_own_factors(*maxima)[0], 1.0)
    },
    "You shrank the second state only. The first one may have the smaller maximum as well.": {
        "sums": lambda *maxima: (1.0, _own_factors(*maxima)[1])
    },
    "You swapped the two factors: each state is shrunk by its own maximum minus the new one.": {
        "sums": lambda first, second, largest: _own_factors(second, first, largest)
    },
}

MERGE_BLOCKS = Check(
    "merge-blocks",
    total=Number(
        "the sum ℓ of the two blocks together",
        TOTAL,
        mistakes={
            L_FIRST + L_SECOND: "You added the sums as they are, "
            "but they are relative to different maxima.",
            L_FIRST + L_SECOND / FACTOR: "The exponent has the wrong sign: "
            "no exponential may exceed one, and yours grows.",
            FACTOR * L_FIRST + L_SECOND: "You shrank the wrong sum: "
            "the one with the smaller maximum has to be adapted.",
            FACTOR * (L_FIRST + L_SECOND): "You shrank both sums; "
            "the one that has the new maximum already stays.",
            L_FIRST * math.exp(M_FIRST) + L_SECOND * math.exp(M_SECOND): "This is the sum of the "
            "exponentials themselves; ℓ is relative to the new maximum.",
            M_FIRST + math.log(TOTAL): "This is the logarithm of the sum of the "
            "exponentials; we want ℓ.",
        },
    ),
    share=Number(
        "the part of the weight that lies on the second block",
        FACTOR * L_SECOND / TOTAL,
        mistakes={
            L_SECOND / (L_FIRST + L_SECOND): "You compared the sums as they are, "
            "but they are relative to different maxima.",
            L_FIRST / TOTAL: "This is the part of the first block.",
            FACTOR * L_SECOND: "This is what the second block adds to the sum; "
            "divide by the whole sum.",
            L_SECOND / FACTOR / (L_FIRST + L_SECOND / FACTOR): "The exponent has the wrong sign: "
            "the block with the smaller maximum shrinks.",
            FACTOR / (1 + FACTOR): "You compared the largest logits only; "
            "the sums come in as well.",
        },
        praise="The gap between the two maxima outweighs the two sums.",
    ),
    order=Pick(
        "in which order blocks may be merged",
        "any order and any grouping",
        {
            "one after the other only": "That is how the chapter does it, but it is not "
            "needed: what a state is does not depend on how its block was read.",
            "any grouping, but in order": "Grouping is free, but so is the order: what does "
            "swapping the two states change in your formula?",
            "any order, but one at a time": "The order is free, but so is the grouping: two "
            "states that have been merged are a state of a block again.",
            "any order and any grouping": "Right, up to rounding: the state is a maximum and "
            "two sums over a set of keys. So parts of a row can be handed to different processors.",
        },
    ),
    merge=Function(
        "the function merge(first, second), which returns the state of both blocks together",
        _merged,
        draw_states,
        room_of_merging,
        mistakes={
            partial(_merged, sums=_no_factors): "You added the sums as they are: "
            "those of the block with the smaller maximum have to be shrunk first.",
            partial(
                _merged, sums=lambda first, second, largest: _own_factors(-first, -second, -largest)
            ): "Your exponents have the wrong sign: "
            "the factor is e to the old maximum minus the new one, never above one.",
            **{
                partial(_merged, **wrong, guarded=guarded): message
                for message, wrong in SHRUNK_WRONGLY.items()
                for guarded in (True, False)
            },
            partial(_merged, sums=lambda *maxima: _own_factors(*maxima[:2], 0.0)): "These sums are "
            "not relative to the new maximum, and with large logits they overflow or vanish.",
            **{
                partial(_merged, normalized=True, guarded=guarded): "You divided o by ℓ. "
                "That is the output, but no state: it could not be merged again."
                for guarded in (True, False)
            },
            partial(_merged, guarded=False): "All is right but for two empty blocks: "
            "there −∞ − (−∞) is no number; return the empty state.",
        },
        praise="Among them huge logits and empty blocks.",
    ),
)
