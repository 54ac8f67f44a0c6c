"""Answers to the exercises of the chapter on implementation."""

import math
from types import SimpleNamespace

import numpy as np
import scipy.special

from attnlib import blockwise_attention, scaled_dot_product_attention
from tests.attnbook.cases import Answers, Cases


# right attention
def plain(query, key, value):
    logits = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


def with_einsum(query, key, value):
    root = query.shape[-1] ** 0.25
    logits = np.einsum("...qd,...kd->...qk", query / root, key / root)
    return np.einsum("...qk,...kv->...qv", scipy.special.softmax(logits, axis=-1), value)


def by_loops(query, key, value):
    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    for place in np.ndindex(query.shape[:-1]):
        logits = [query[place] @ k / math.sqrt(query.shape[-1]) for k in key[place[:-1]]]
        output[place] = scipy.special.softmax(logits) @ value[place[:-1]]
    return output


def as_lists(query, key, value):
    return plain(query, key, value).tolist()


def in_float32(query, key, value):
    if np.abs(query).max() > 10:
        return plain(query, key, value)  # huge scores lose all digits in float32
    return plain(*(x.astype(np.float32) for x in (query, key, value))).astype(np.float32)


# wrong attention; softmax as a careless reader may write it, or a careful one
def careful(logits, axis=-1):
    return scipy.special.softmax(logits, axis=axis)


def careless(logits, axis=-1):
    return np.exp(logits) / np.exp(logits).sum(axis=axis, keepdims=True)


def transposed(key):
    return np.moveaxis(key, -1, -2)


def times(factor, softmax=careful):
    """Make attention whose scores are multiplied by a function of the three shapes."""

    def attention(query, key, value):
        shapes = SimpleNamespace(q=query.shape, k=key.shape, v=value.shape)
        return softmax(query @ transposed(key) * factor(shapes)) @ value

    return attention


def after(softmax):
    def attention(query, key, value):
        return softmax(query @ transposed(key)) / query.shape[-1] ** 0.5 @ value

    return attention


def along(axis, softmax):
    def attention(query, key, value):
        return softmax(query @ transposed(key) / query.shape[-1] ** 0.5, axis) @ value

    return attention


def without_transpose(query, key, value):
    return careful(query @ key / math.sqrt(query.shape[-1])) @ value


def with_t(query, key, value):
    return careful(query @ key.T / math.sqrt(query.shape[-1])) @ value


def weights_only(softmax):
    def attention(query, key, _value):
        return softmax(query @ transposed(key) / math.sqrt(query.shape[-1]))

    return attention


def largest_of_all(query, key, value):
    logits = query @ transposed(key) / math.sqrt(query.shape[-1])
    return careless(logits - np.max(logits)) @ value


def padded_sum(query, key, value):
    logits = query @ transposed(key) / math.sqrt(query.shape[-1])
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    return (weights / (weights.sum(-1, keepdims=True) + 1e-9)) @ value


def logits_only(query, key, _value):
    return query @ transposed(key) / math.sqrt(query.shape[-1])


def zeros(query, _key, value):
    return np.zeros((*query.shape[:-1], value.shape[-1]))


def mean_of_values(query, key, value):
    return zeros(query, key, value) + value.mean(axis=-2, keepdims=True)


def in_place(query, key, value):
    query /= math.sqrt(query.shape[-1])
    return careful(query @ transposed(key)) @ value


def hard_maximum(query, key, value):
    best = (query @ transposed(key)).argmax(axis=-1)
    return np.take_along_axis(value, best[..., None], axis=-2)


def clipped(query, key, value):
    logits = query @ transposed(key) / math.sqrt(query.shape[-1])
    return careless(np.clip(logits, -500, 500)) @ value


# right and wrong masked attention
def with_library(query, key, value, mask):
    return scaled_dot_product_attention(query, key, value, attn_mask=mask)


def in_blocks(query, key, value, mask):
    return blockwise_attention(query, key, value, attn_mask=mask)


def only_visible(query, key, value, mask):
    output = np.zeros((*query.shape[:-1], value.shape[-1]))
    for place in np.ndindex(query.shape[:-1]):
        seen, head = np.flatnonzero(mask[place]), place[:-1]
        if seen.size:
            logits = key[head][seen] @ query[place] / math.sqrt(query.shape[-1])
            output[place] = careful(logits) @ value[head][seen]
    return output


def cleaned(query, key, value, mask):
    logits = np.where(mask, logits_only(query, key, value), -np.inf)
    return np.nan_to_num(careful(logits) @ value)


def hiding(weights_of):
    """Make masked attention of a function from logits and mask to weights."""
    return lambda query, key, value, mask: weights_of(logits_only(query, key, value), mask) @ value


def with_nan(softmax):
    return hiding(lambda logits, mask: softmax(np.where(mask, logits, -np.inf)))


def lowered_to(number):
    return hiding(lambda logits, mask: careful(np.where(mask, logits, number)))


def zero_in_blind_rows(masked):
    def attention(query, key, value, mask):
        output = masked(query, key, value, mask)
        output[~mask.any(axis=-1)] = 0
        return output

    return attention


def normalized(weights, sums_in_blind_rows=lambda sums: sums == 0):
    sums = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(sums_in_blind_rows(sums), 1, sums)


def hidden_after_exponential(logits, mask):
    return normalized(np.exp(logits - logits.max(axis=-1, keepdims=True)) * mask)


def overflowing(logits, mask):
    return normalized(np.exp(logits) * mask, lambda _: ~mask.any(-1, keepdims=True))


def undivided(softmax):
    def attention(query, key, value, mask):
        weights = softmax(np.where(mask, query @ transposed(key), -np.inf))
        return (np.nan_to_num(weights) if softmax is careful else weights) @ value

    return attention


# merging
def joined(first, second):
    largest = max(first[0], second[0])
    if largest == -math.inf:
        return first
    one, other = math.exp(first[0] - largest), math.exp(second[0] - largest)
    return [largest, *(one * a + other * b for a, b in zip(first[1:], second[1:], strict=True))]


def ones_for_nothing(first, second):
    """Return what is right but for two empty blocks."""
    if first[0] == second[0] == -math.inf:
        return [-math.inf, *(1.0 for _ in first[1:])]
    return joined(first, second)


def joined_in_cases(first, second):
    if first[0] < second[0]:
        first, second = second, first
    if np.isinf(second[0]):
        return first.copy()
    merged = first.copy()
    merged[1:] += np.exp(second[0] - first[0]) * second[1:]
    return merged


def joined_by_difference(first, second):
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(second[0] - first[0], nan=0.0, posinf=np.inf, neginf=-np.inf)
    merged = np.exp(np.minimum(-gap, 0)) * first + np.exp(np.minimum(gap, 0)) * second
    merged[0] = np.maximum(first[0], second[0])
    return merged


def in_single(first, second):
    merged = joined_in_cases(*(state.astype(np.float32) for state in (first, second)))
    merged[0] = np.float32(max(first[0], second[0]))
    return merged


def merging(factors, of_outputs=None):
    """Make a merge of functions from both maxima and the new one to the factors of the parts."""

    def merge(first, second):
        maxima = first[0], second[0], np.maximum(first[0], second[0])
        (one, other), (of_first, of_second) = factors(*maxima), (of_outputs or factors)(*maxima)
        total = one * first[1] + other * second[1]
        return np.concatenate([[maxima[2], total], of_first * first[2:] + of_second * second[2:]])

    return merge


def shrinking(first, second, new):
    return np.exp(first - new), np.exp(second - new)


def adding(*_):
    return 1, 1


def without_sums(first, second):
    merged = np.array(joined_in_cases(first, second))
    merged[2:] /= merged[1]
    return merged


WEIGHTS_MEMORY_CASES = Cases(
    "weights-memory",
    gigabytes=Answers(
        [32 * 16384**2 * 2 / 1e9, 17.2, np.float32(17.1799)],
        (16384**2 * 2 / 1e9, "one head"),
        (8.59, "two bytes"),
        (34.36, "four bytes"),
        (16.0, "2³⁰"),
        (16384 * 32 * 64 * 2 / 1e9, "queries alone"),
        (17.18e9, "too large"),
    ),
    longest=Answers(
        [int((24e9 / 64) ** 0.5), math.isqrt(24 * 10**9 // 64), 19364.0],
        (24e9 / 64, "pairs of tokens"),
        ((24e9 / 2) ** 0.5, "One head"),
        (109544, "One head"),
        (27386, "two bytes"),
        (math.sqrt(24e9 / 32), "two bytes"),
        (13693, "four bytes"),
        (20066, "2³⁰"),
        (22888, "in proportion"),
        (19365, "a little more memory"),
        (math.sqrt(24e9 / 64), "a little more memory"),
        (19363, "too small"),
        (19400, "too large"),
    ),
    saving=Answers(
        [16384 / 64, 256, [256]],
        (1 / 256, "other way round"),
        (16384, "number of scores of a query"),
        (16700, "too large"),
        (2048, "no root"),
        (16384**2 / 64, "one query"),
    ),
)

SCALED_ATTENTION_CASES = Cases(
    "scaled-attention",
    divisor=Answers(
        [(768 / 12) ** 0.5, 8, np.int64(8)],
        (64, "take its square root"),
        (27.7, "root of d_model"),
        (3.464, "number of heads"),
        (0.125, "want the divisor"),
    ),
    attend=Answers(
        [
            plain,
            with_einsum,
            by_loops,
            as_lists,
            in_float32,
            scaled_dot_product_attention,
            blockwise_attention,
        ],
        *((times(lambda _: 1, s), "not divided") for s in (careful, careless)),
        *((times(lambda x: 1 / x.q[-1], s), "divided by dₖ") for s in (careful, careless)),
        (times(lambda x: math.sqrt(x.q[-1])), "multiplied the scores"),
        (times(lambda x: x.q[-1] ** -0.25), "root twice"),
        *((times(lambda _: 1 / math.sqrt(768), s), "d_model") for s in (careful, careless)),
        (times(lambda _: 1 / 8), "always divide by the same number"),
        (times(lambda x: 1 / math.sqrt(x.k[-2])), "number of keys"),
        (times(lambda x: 1 / math.sqrt(x.v[-1])), "width of the values"),
        (times(lambda x: 1 / math.sqrt(x.q[0])), "len(query)"),
        (times(lambda x: 1 / math.sqrt(x.k[1])), "shape[-1]"),
        (times(lambda x: 1 / math.sqrt(x.q[1])), "shape[-1]"),
        *((after(s), "after softmax") for s in (careful, careless)),
        *((along(-2, s), "along the queries") for s in (careful, careless)),
        *((along(None, s), "whole matrix") for s in (careful, careless)),
        *((along((-2, -1), s), "whole matrix") for s in (careful, careless)),
        (without_transpose, "not transposed"),
        (with_t, ".T turns all axes"),
        *((weights_only(s), "These are the weights") for s in (careful, careless)),
        (along(-1, careless), "overflow to ∞/∞"),
        (largest_of_all, "largest score of the whole matrix"),
        (padded_sum, "added a small number"),
        (logits_only, "shape"),
        (zeros, "entries are off"),
        (mean_of_values, "entries are off"),
        (hard_maximum, "calls are wrong"),
        (clipped, "2 of 10 calls"),
        (in_place, "changes its input"),
        (lambda *_: None, "returned None"),
        (lambda query, _: query, "TypeError"),
        (lambda q, k, v: plain(k, q, v), "raised ValueError"),
        (lambda q, k, v: plain(q, k, v) * (1 + 1e-6), "entries are off"),
        (lambda q, k, v: plain(q, k, v) * np.nan, "NaN"),
    ),
    masked=Answers(
        [only_visible, with_library, in_blocks, cleaned, zero_in_blind_rows(lowered_to(-1e30))],
        (hiding(lambda logits, mask: np.where(mask, careful(logits), 0)), "after softmax"),
        (lambda q, k, v, mask: cleaned(q, k, v, ~mask), "other way round"),
        (lambda q, k, v, _: with_einsum(q, k, v), "ignores the mask"),
        (hiding(lambda logits, mask: careful(logits * mask)), "multiplied logits by the mask"),
        (with_nan(careful), "got NaN"),
        (with_nan(careless), "got NaN"),
        (lowered_to(-1e30), "large negative number"),
        (hiding(lambda logits, mask: careful(logits - 1e9 * (1 - mask))), "large negative number"),
        (lowered_to(-1e4), "not large enough"),
        (zero_in_blind_rows(lowered_to(-1e4)), "not large enough"),
        (hiding(hidden_after_exponential), "hide first"),
        (hiding(overflowing), "large scores overflow"),
        (
            hiding(lambda logits, mask: normalized(np.exp(np.where(mask, logits, -np.inf)))),
            "large scores overflow",
        ),
        (undivided(careful), "not divided"),
        (undivided(careless), "not divided"),
        (lambda q, k, v, mask: with_library(q, k, v, mask) + 1e-7, "off"),
    ),
)

MERGE_BLOCKS_CASES = Cases(
    "merge-blocks",
    total=Answers(
        [2 + 3 * math.exp(-3), 2.15, np.float32(2.149)],
        (5, "added the sums"),
        (2 + 3 * math.exp(3), "wrong sign"),
        (2 * math.exp(-3) + 3, "wrong sum"),
        (5 * math.exp(-3), "shrank both"),
        (2 * math.exp(7) + 3 * math.exp(4), "exponentials themselves"),
        (math.log(2 * math.exp(7) + 3 * math.exp(4)), "logarithm"),
    ),
    share=Answers(
        [3 / (3 + 2 * math.exp(3)), 0.0695],
        (0.6, "as they are"),
        (0.9305, "first block"),
        (3 * math.exp(-3), "whole sum"),
        (0.968, "wrong sign"),
        (1 / (1 + math.exp(3)), "largest logits only"),
    ),
    order=Answers(
        ["any order and any grouping", "Any order  and any grouping"],
        ("one after the other only", "not needed"),
        ("any grouping, but in order", "so is the order"),
        ("any order, but one at a time", "so is the grouping"),
        ("none", "none of the options"),
    ),
    merge=Answers(
        [joined, joined_in_cases, joined_by_difference],
        (merging(adding), "added the sums"),
        (merging(lambda a, b, new: (np.exp(new - a), np.exp(new - b))), "wrong sign"),
        (merging(shrinking, adding), "forgot o"),
        (merging(adding, shrinking), "forgot ℓ"),
        (merging(lambda a, _, new: (np.exp(a - new), 1)), "first state only"),
        (merging(lambda _, b, new: (1, np.exp(b - new))), "second state only"),
        (merging(lambda a, b, new: shrinking(b, a, new)), "swapped"),
        (merging(lambda a, b, _: shrinking(a, b, 0)), "not relative to the new maximum"),
        (without_sums, "no state"),
        (merging(shrinking), "two empty blocks"),
        (lambda a, b: joined(a, b)[1:], "shape"),
        (ones_for_nothing, "4 of 5 entries are off, first at [1]"),
        (lambda first, _: first, "off"),
        (lambda a, b: np.add(a, b), "off"),
    ),
)
