"""The site as it is served, with a script that listens, and browsers to open it in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engines.drivers import ENGINES, Chromium, Engine, WebKit, firefox, missing, webkit
from tests.engines.listening import Listened
from tests.ext.serving import serving
from tools.debian import ENGINES as PACKAGES
from tools.debian import ensure_programs

#: Runs in an environment of its own.
collect_ignore = ["checkers"]


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the built site."""
    with serving(site, kind=Listened) as base:
        yield base


@pytest.fixture(scope="session")
def start(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Engine]]:
    """Return what starts a browser when it is first asked for, and gives it again later."""
    started: dict[str, Engine] = {}
    with ExitStack() as stack:

        def start_engine(name: str) -> Engine:
            known = started.get(name)
            if known is None or (isinstance(known, WebKit) and not known.is_alive()):
                if missing(name) and os.environ.get("CI"):
                    ensure_programs(PACKAGES)
                if lacking := missing(name):
                    message = f"not run: {name} needs {', '.join(lacking)}"
                    if os.environ.get("CI"):
                        pytest.fail(message)
                    pytest.skip(message)
                if name == "Chromium":
                    started[name] = Chromium(request.getfixturevalue("browser"))
                elif name == "Firefox":
                    folder = tmp_path_factory.mktemp("firefox")
                    started[name] = stack.enter_context(firefox(folder))
                else:
                    folder = tmp_path_factory.mktemp("webkit")
                    started[name] = stack.enter_context(webkit(folder))
            return started[name]

        yield start_engine


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, start: Callable[[str], Engine]) -> Engine:
    """Return each of the browsers in turn."""
    return start(request.param)
