"""The examples in the docstrings of commands are true; pytest finds those of the packages."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from _ext import attnlib_reference
from benchmarks import missed, report
from tools import binder_check, imports, package_check, practice, sizes, students

MODULES = [attnlib_reference, binder_check, imports, missed, practice, package_check]
MODULES += [report, sizes, students]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_of_a_module_are_true(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
