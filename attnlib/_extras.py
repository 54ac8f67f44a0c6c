"""What callers are told: of packages that are missing, and of arguments known from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

ELSEWHERE = {
    "dim": "it is called axis, as in NumPy",
    "dropout_p": "dropout draws at random while a model is trained, and nothing here does",
    "dtype": "the result has the type of the arrays: convert these with astype",
    "enable_gqa": "groups of queries share a key after key = np.repeat(key, group, axis=-3), and "
    "the same for value",
    "mask": "it is called attn_mask, as in PyTorch, and is True where a query may attend",
    "need_weights": "it is called return_weights",
    "where": "an entry is hidden by -inf",
}
"""Arguments of PyTorch, JAX and SciPy, and why they are not here."""


@contextmanager
def extra() -> Iterator[None]:
    """Say of a package that is imported inside and is missing how to install it.

    Examples
    --------
    >>> from attnlib._extras import extra
    >>> with extra():
    ...     import abacus
    Traceback (most recent call last):
    ModuleNotFoundError: this needs abacus, which is not installed: python -m pip install abacus
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        name = (missing.name or "a package").partition(".")[0]
        said = f"this needs {name}, which is not installed: python -m pip install {name}"
        raise ModuleNotFoundError(said, name=missing.name) from None


def answering(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function answer arguments that it has under another name or not at all.

    Examples
    --------
    >>> from attnlib import softmax
    >>> softmax([1.0, 2.0], dim=0)
    Traceback (most recent call last):
    TypeError: softmax has no dim, because it is called axis, as in NumPy
    """

    @wraps(function)
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            for name in kwargs.keys() & ELSEWHERE.keys():
                reason = f"{function.__name__} has no {name}, because {ELSEWHERE[name]}"
                raise TypeError(reason) from None
            raise

    return answered
