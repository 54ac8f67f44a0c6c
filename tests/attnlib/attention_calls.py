"""Calls of attention, and scaling rules, that every way to compute it is put through."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose

from attnlib import ScalingRule, scaling

LEADS = [
    ((), (), ()),
    ((2,), (2,), (2,)),
    ((2, 3), (2, 3), (2, 3)),
    ((2, 3), (1, 3), (2, 1)),
    ((3,), (2, 1), ()),
    ((), (), (2, 2)),
    ((0,), (0,), (0,)),
]


def query_gain(d_k: int) -> np.ndarray:
    return np.resize([0.3, -0.2, 0.5, 0.1], d_k)


def rules(d_k: int) -> dict[str, ScalingRule]:
    """Every rule, with gains that are not zero; made anew, so that an altered one is noticed."""
    both = {"log_gain": 0.2, "query_gain": query_gain(d_k)}
    return {
        "none": scaling.no_scaling(),
        "inverse root": scaling.inverse_sqrt(),
        "inverse width": scaling.inverse_width(3),
        "temperature": scaling.fixed_temperature(2.5),
        "learned": scaling.learned_temperature().with_gains(log_gain=0.4),
        "by query": scaling.query_temperature(d_k).with_gains(query_gain=query_gain(d_k)),
        "direction": scaling.query_key_norm(learned=False),
        "direction, learned": scaling.query_key_norm().with_gains(log_gain=-0.6),
        "capped": scaling.soft_cap(0.7),
        "by length": scaling.log_length(3),
        "both gains": ScalingRule("both", lambda d, n: n / d, normalize=True, cap=1.2, gains=both),
    }


RULE_NAMES = list(rules(2))


def draw_inputs(rng, lead=(), n_q=3, n_k=4, d_k=5, d_v=2, dtype=float):
    shapes = (*lead, n_q, d_k), (*lead, n_k, d_k), (*lead, n_k, d_v)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


@st.composite
def calls(draw):
    """Draw arrays and options of one call; leading axes broadcast, masks hide whole rows."""
    side = st.integers(1, 4)
    n_q, n_k, d_k, d_v = draw(side), draw(side), draw(side), draw(side)
    lead = draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))

    def leading():
        kept = tuple(draw(st.sampled_from((1, size))) for size in lead)
        return kept[draw(st.integers(0, len(kept))) :]

    elements = st.floats(-3, 3, width=32)
    arrays = [
        draw(hnp.arrays(float, (*leading(), *tail), elements=elements))
        for tail in ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    ]
    common = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    mask_shape = draw(st.sampled_from([(n_q, n_k), (1, n_k), (n_k,), (), (*common, n_q, n_k)]))
    mask = draw(
        st.none()
        | hnp.arrays(bool, mask_shape)
        | hnp.arrays(float, mask_shape, elements=st.floats(-9, 9) | st.just(-math.inf))
    )
    options = {
        "attn_mask": mask,
        "is_causal": draw(st.booleans()),
        "scale": draw(st.none() | st.floats(0, 3)),
    }
    return arrays, options


def upstream(arrays, rng):
    """Draw a gradient by the output of a call."""
    q, k, v = (np.asarray(array) for array in arrays)
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    return rng.standard_normal((*lead, q.shape[-2], v.shape[-1]))


def assert_gradients(got, wanted, *, rtol=1e-10, atol):
    """Compare the gradients on queries, keys and values; of short types in float64."""
    for one, other in zip(got[:3], wanted[:3], strict=True):
        assert one.shape == other.shape
        assert_allclose(one.astype(float), other, rtol=rtol, atol=atol)
