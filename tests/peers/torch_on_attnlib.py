"""PyTorch's own sample inputs of attention and softmax, handed to attnlib; prints counts.

Runs where PyTorch is installed, and compares with PyTorch's output in float64.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import attnlib

ATTENTION = "nn.functional.scaled_dot_product_attention"
FUNCTIONS = {
    ATTENTION: (attnlib.scaled_dot_product_attention, attnlib.blockwise_attention),
    "softmax": (attnlib.softmax,),
    "log_softmax": (attnlib.log_softmax,),
}
AS_IT_IS, ADAPTED, NOT_EXPRESSIBLE = "as it is", "adapted", "not expressible"


def adapted(arguments: list[Any], options: dict[str, Any]) -> tuple[list[Any], dict[str, Any], str]:
    """Return what attnlib is given, and how far that is PyTorch's call."""
    kept = dict(options)
    if kept.pop("dropout_p", 0) or 0 in arguments[0].shape:
        return arguments, kept, NOT_EXPRESSIBLE
    kind = AS_IT_IS if kept == options else ADAPTED
    if "dtype" in kept:
        dtype = str(kept.pop("dtype")).removeprefix("torch.")
        arguments, kind = [arguments[0].astype(dtype), *arguments[1:]], ADAPTED
    if not arguments[0].ndim:  # a number is a row of one
        arguments, kind = [arguments[0][None], *arguments[1:]], ADAPTED
    return arguments, kept, kind


def to_numpy(value: Any) -> Any:
    """Return a tensor as an array, and anything else as it is."""
    return value.detach().numpy() if isinstance(value, torch.Tensor) else value


def main() -> None:
    """Print how many samples of each function agree, by how they were handed over."""
    counts: dict[str, Counter[str]] = {}
    for operator in op_db:
        for function in FUNCTIONS.get(operator.name, ()):
            counted = counts.setdefault(function.__name__, Counter())
            for sample in operator.sample_inputs("cpu", torch.float64):
                given = [to_numpy(value) for value in (sample.input, *sample.args)]
                options = {name: to_numpy(value) for name, value in sample.kwargs.items()}
                arguments, options, kind = adapted(given, options)
                counted[kind] += 1
                if kind != NOT_EXPRESSIBLE:
                    wanted = to_numpy(operator(sample.input, *sample.args, **sample.kwargs))
                    output = function(*arguments, **options).reshape(wanted.shape)
                    np.testing.assert_allclose(output, wanted, rtol=1e-12, atol=1e-13)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
