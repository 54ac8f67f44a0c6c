"""Settings of the tests of what pages show and ask: those of the tests of the mathematics."""

from tests.attnlib.conftest import pytest_configure

__all__ = ["pytest_configure"]
