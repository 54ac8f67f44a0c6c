"""Settings of the tests of the package."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# The helper modules beside this file; importlib mode puts no test directory on the path.
sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("tests", derandomize=True, deadline=None, database=None, max_examples=60)
# For the mutation run: a failing example is enough, the smallest one is not wanted.
settings.register_profile(
    "mutants",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=6,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("ATTNLIB_HYPOTHESIS_PROFILE", "tests"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "not_for_mutants: too slow for, or beside the point of, the mutation run"
    )
