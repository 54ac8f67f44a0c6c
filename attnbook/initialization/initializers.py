"""The usual initializers, each with the place where it was read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from attnlib import EntryLaw, Initializer, scaling

__all__ = ["INITIALIZERS"]


def _xavier_std(fan_in: int, fan_out: int) -> float:
    """Return the standard deviation that the numbers of inputs and outputs ask for."""
    return math.sqrt(2 / (fan_in + fan_out))


def _fused_xavier_std(width: int, _d_k: int) -> float:
    """Return that of W_q, W_k and W_v in one matrix: it counts as having 3 d_model outputs."""
    return _xavier_std(width, 3 * width)


def _square_xavier_std(width: int, _d_k: int) -> float:
    """Return that of one d_model × d_model matrix for the W_q of all heads."""
    return _xavier_std(width, width)


def _head_xavier_std(width: int, d_k: int) -> float:
    """Return that of one d_model × d_k matrix for each head."""
    return _xavier_std(width, d_k)


def _linear_std(width: int, _d_k: int) -> float:
    """Return that of the uniform law between ±1/√d_model, for weights and biases alike."""
    return 1 / math.sqrt(3 * width)


def _fixed_std(_width: int, _d_k: int) -> float:
    """Return the same at every width."""
    return 0.02


def _width_std(width: int, _d_k: int) -> float:
    """Return what keeps unit variance."""
    return 1 / math.sqrt(width)


def _folded_std(width: int, d_k: int) -> float:
    """Return what keeps unit variance, divided by √d_k as the scores are not."""
    return 1 / math.sqrt(width * d_k)


_FUSED_XAVIER = EntryLaw("uniform", _fused_xavier_std)
_SQUARE_XAVIER = EntryLaw("uniform", _square_xavier_std)
_HEAD_XAVIER = EntryLaw("uniform", _head_xavier_std)
_LINEAR = EntryLaw("uniform", _linear_std)
_FIXED = EntryLaw("normal", _fixed_std)
_FIXED_TRUNCATED = EntryLaw("truncated normal", _fixed_std)
_WIDTH = EntryLaw("normal", _width_std)
_FOLDED = EntryLaw("normal", _folded_std)
_LINEAR_SOURCE = "pytorch/pytorch, torch/nn/modules/linear.py, Linear.reset_parameters"
_MUP_SOURCE = "G. Yang et al. 2021 (weights); microsoft/mup, README.md (scale)"

INITIALIZERS: Mapping[str, Initializer] = MappingProxyType(
    {
        "multihead_attention": Initializer(
            "nn.MultiheadAttention",
            _FUSED_XAVIER,
            _FUSED_XAVIER,
            "pytorch/pytorch, torch/nn/modules/activation.py, MultiheadAttention._reset_parameters",
        ),
        "xavier_square": Initializer(
            "Xavier, square matrix",
            _SQUARE_XAVIER,
            _SQUARE_XAVIER,
            "tensorflow/tensor2tensor, tensor2tensor/models/transformer.py, transformer_base_v1; "
            "tensor2tensor/layers/common_attention.py, compute_attention_component",
        ),
        "xavier_head": Initializer(
            "Xavier, one matrix a head",
            _HEAD_XAVIER,
            _HEAD_XAVIER,
            "X. Glorot and Y. Bengio 2010, equation 16, applied to each head's matrix",
        ),
        "linear": Initializer(
            "nn.Linear without bias",
            _LINEAR,
            _LINEAR,
            _LINEAR_SOURCE,
        ),
        "linear_bias": Initializer(
            "nn.Linear with bias",
            _LINEAR,
            _LINEAR,
            _LINEAR_SOURCE,
            query_bias=_LINEAR,
            key_bias=_LINEAR,
        ),
        "gpt2": Initializer(
            "GPT-2",
            _FIXED,
            _FIXED,
            "openai/gpt-2, src/model.py, conv1d",
        ),
        "bert": Initializer(
            "BERT",
            _FIXED_TRUNCATED,
            _FIXED_TRUNCATED,
            "google-research/bert, modeling.py, create_initializer and attention_layer",
        ),
        "t5": Initializer(
            "T5",
            _FOLDED,
            _WIDTH,
            "tensorflow/mesh, mesh_tensorflow/transformer/attention.py, AttentionParams",
            scale=scaling.no_scaling(),
        ),
        "mup": Initializer(
            "µP, 1/dₖ",
            _WIDTH,
            _WIDTH,
            _MUP_SOURCE,
            scale=scaling.inverse_width(),
        ),
        "mup_8": Initializer(
            "µP, 8/dₖ",
            _WIDTH,
            _WIDTH,
            _MUP_SOURCE,
            scale=scaling.inverse_width(8),
        ),
    }
)
"""The usual initializers by a short key. All of them start biases at 0 but ``linear_bias``.

The chapter on initialization compares them.
"""
