"""What callers are told who use the names that arguments have in other libraries."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MASK = "attn_mask, in which a Boolean True shows a key and a float is added to the logits"
CAUSAL = "is_causal=True"
SCALE = "scale, which multiplies the scores"
CAP = "scale=scaling.soft_cap(cap)"
HIDE = "a Boolean attn_mask of the same keys"
CACHE = "the keys and values of all tokens, joined by np.concatenate"
NOTHING = "no argument at all, because no weight is ever dropped here"
ELSEWHERE = {
    "attention_mask": MASK,
    "attn_bias": MASK,
    "attn_logits_soft_cap": CAP,
    "bias": MASK,
    "causal": CAUSAL,
    "dim": "axis",
    "dropout_p": NOTHING,
    "dropout_rate": NOTHING,
    "dtype": "arrays of the type: the result has theirs",
    "enable_gqa": "key = np.repeat(key, group, axis=-3), and the same for value",
    "key_padding_mask": "attn_mask=~key_padding_mask[:, None, None, :], since True hides there",
    "key_value_seq_lengths": HIDE,
    "left_window_size": HIDE,
    "local_window_size": HIDE,
    "mask": MASK,
    "need_weights": "return_weights",
    "nonpad_kv_seqlen": HIDE,
    "past_key": CACHE,
    "past_value": CACHE,
    "query_seq_lengths": HIDE,
    "right_window_size": HIDE,
    "scaling": SCALE,
    "softcap": CAP,
    "softmax_scale": SCALE,
    "where": "-inf in the entries to hide",
}
"""Arguments of PyTorch, JAX, Keras, ONNX, MLX, FlashAttention and SciPy, and what to use here."""


def answer_porting(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function answer arguments that other libraries have under another name.

    Examples
    --------
    >>> from attnlib import softmax
    >>> softmax([1.0, 2.0], dim=0)
    Traceback (most recent call last):
    TypeError: softmax has no argument dim; use axis
    """
    parameters = inspect.signature(function).parameters

    @wraps(function)
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs.keys() - parameters.keys() & ELSEWHERE.keys():
            use = CAUSAL if isinstance(kwargs[name], str) else ELSEWHERE[name]
            raise TypeError(f"{function.__name__} has no argument {name}; use {use}")
        mask = kwargs.get("attn_mask")
        if isinstance(mask, str) and mask == "causal":
            raise TypeError(f"attn_mask must be an array; use {CAUSAL}")
        by_place = [p for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
        if "attn_mask" in parameters and len(args) > len(by_place):
            raise TypeError(
                f"{function.__name__} takes arguments behind {by_place[-1].name} by name, such as "
                "attn_mask=mask"
            )
        return function(*args, **kwargs)

    return answered
