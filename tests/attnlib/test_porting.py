"""Who calls attnlib as another library is called is told the right argument."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import attnlib
from attnlib._porting import ELSEWHERE, answer_porting

pytestmark = pytest.mark.not_for_mutants  # functions are wrapped when they are made

ONES = np.ones((3, 2, 4))
MASK = np.ones((2, 2), bool)
#: What callers write, and the words that lead them on.
CALLS = {
    "PyTorch": ({"enable_gqa": False}, r"no argument enable_gqa; use key = np.repeat\("),
    "PyTorch without dropout": ({"dropout_p": 0.0}, "no argument dropout_p; use no argument"),
    "PyTorch's module": ({"need_weights": True}, "no argument need_weights; use return_weights"),
    "PyTorch's padding": ({"key_padding_mask": MASK}, "use attn_mask=~key_padding_mask"),
    "JAX": ({"mask": MASK}, "no argument mask; use attn_mask, in which a Boolean True shows"),
    "JAX, added": ({"bias": np.zeros((2, 2))}, "no argument bias; use attn_mask"),
    "JAX, windows": ({"local_window_size": 2}, "local_window_size; use a Boolean attn_mask"),
    "JAX, lengths": ({"key_value_seq_lengths": [1]}, "lengths; use a Boolean attn_mask"),
    "Keras": ({"attn_logits_soft_cap": 50.0}, r"cap; use scale=scaling.soft_cap\(cap\)"),
    "ONNX": ({"softcap": 50.0}, r"no argument softcap; use scale=scaling.soft_cap\(cap\)"),
    "ONNX, cache": ({"past_key": ONES}, "no argument past_key; use the keys and values of all"),
    "MLX": ({"mask": "causal"}, "no argument mask; use is_causal=True"),
    "MLX, nearly": ({"attn_mask": "causal"}, "attn_mask must be an array; use is_causal=True"),
    "FlashAttention": ({"softmax_scale": 0.5}, "no argument softmax_scale; use scale, which"),
    "FlashAttention, causal": ({"causal": True}, "no argument causal; use is_causal=True"),
    "xFormers": ({"attn_bias": np.zeros((2, 2))}, "no argument attn_bias; use attn_mask"),
    "transformers": ({"scaling": 0.5}, "no argument scaling; use scale, which multiplies"),
}
FUNCTIONS = [attnlib.scaled_dot_product_attention, attnlib.blockwise_attention]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("elsewhere", CALLS)
def test_an_argument_of_another_library_is_answered(function, elsewhere):
    arguments, words = CALLS[elsewhere]
    with pytest.raises(TypeError, match=words):
        function(*ONES, **arguments)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_mask_in_fourth_place_is_answered(function):
    with pytest.raises(TypeError, match="takes arguments behind value by name, such as attn_mask"):
        function(*ONES, MASK)


def test_arguments_of_softmax_elsewhere_are_answered():
    for arguments, words in [
        ({"dim": 0}, "use axis"),
        ({"where": MASK}, "use -inf"),
        ({"dtype": float}, "use arrays of the type"),
    ]:
        with pytest.raises(TypeError, match=words):
            attnlib.softmax(ONES, **arguments)


def test_what_is_known_nowhere_is_left_to_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        attnlib.softmax(ONES, nonsense=1)


def test_no_answer_hides_an_argument_that_is_there():
    public = (getattr(attnlib, name) for name in attnlib.__all__)
    answering = [f for f in public if inspect.isfunction(f) and hasattr(f, "__wrapped__")]
    assert len(answering) > 6
    for function in answering:
        assert not ELSEWHERE.keys() & inspect.signature(function).parameters.keys()

    @answer_porting
    def masked(mask):
        return mask

    assert masked(mask=3) == 3
