"""What users are told of packages that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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
