"""Leave long proofs to ``make prove``, and write down which of their groups have passed.

A plugin of pytest, which conftest.py takes in. `proofs` says what a group is and when it is due.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.proofs import COVERAGE, INPUTS, Proofs

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

SECONDS_BETWEEN = 60
#: Options of pytest with which not all tests run.
LEAVING_OUT = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "maxfail", "lf")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--prove", default="", metavar="GROUPS", help="run these long proofs and nothing else"
    )


def chosen_groups(config: pytest.Config) -> set[str]:
    """Return the groups that are to run; none for the plain tests."""
    return {name for name in config.getoption("--prove").split(",") if name}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose between long proofs and plain tests."""
    wanted = chosen_groups(config)
    chosen, left = [], []
    for item in items:
        groups = {name for mark in item.iter_markers("proof") for name in mark.args}
        if unknown := groups - set(INPUTS):
            raise pytest.UsageError(f"{item.nodeid}: tests/proofs.py knows no group {unknown}")
        item.user_properties += [("proof", name) for name in sorted(groups & wanted)]
        (chosen if groups & wanted or not (groups or wanted) else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = chosen


def is_whole(config: pytest.Config) -> bool:
    """Say whether nothing was left out that belongs to what runs."""
    asked = any(config.getoption(name, None) for name in LEAVING_OUT)
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not asked


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(Recorder(config))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell how much memory a worker has held."""
    if hasattr(session.config, "workeroutput") and sys.platform != "win32":
        import resource

        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        session.config.workeroutput["megabytes"] = held // 1024


class Recorder:
    """What comes of the groups that run, and what is said at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._wanted = chosen_groups(config)
        if not self._wanted and getattr(config.option, "cov_source", None):
            self._wanted = {COVERAGE}
        self._before: dict[str, str] = {}
        self._expected = 0
        if self._wanted:
            proofs = Proofs(config.rootpath)
            self._before = {group: proofs.digest(group) for group in self._wanted}
            record = proofs.record()
            self._expected = sum(record.get(group, {}).get("seconds", 0) for group in self._wanted)
        self._seconds = dict.fromkeys(self._wanted, 0.0)
        self._spoiled: set[str] = set()
        self._passed: set[str] = set()
        self._said = time.monotonic()
        self._megabytes = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test to its groups, and say from time to time how far they are."""
        named = {value for name, value in report.user_properties if name == "proof"}
        for group in named or self._wanted & {COVERAGE}:
            self._seconds[group] += report.duration
            if report.failed or (report.skipped and group != COVERAGE):
                self._spoiled.add(group)
            elif report.when == "call":
                self._passed.add(group)
        if self._wanted and time.monotonic() - self._said > SECONDS_BETWEEN:
            self._said = time.monotonic()
            self._say_time_left()

    def _say_time_left(self) -> None:
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        done = sum(self._seconds.values())
        workers = max(1, len(getattr(self._config.option, "tx", None) or ()))
        left = max(self._expected - done, 0) / workers / 60
        reporter.ensure_newline()
        reporter.write_line(
            f"{done / workers / 60:.0f} min done, about {left:.0f} left"
            if self._expected
            else f"{done / workers / 60:.0f} min done; how much is left, the next run can say"
        )

    @pytest.hookimpl(optionalhook=True)  # of pytest-xdist
    def pytest_testnodedown(self, node: Any) -> None:
        """Remember the largest worker."""
        self._megabytes = max(
            self._megabytes, getattr(node, "workeroutput", {}).get("megabytes", 0)
        )

    def _keep(self, exitstatus: int) -> set[str]:
        """Write down what has passed, if it was all there and nothing has changed meanwhile."""
        ended = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
        if not is_whole(self._config) or exitstatus not in ended:
            return set()
        now = Proofs(self._config.rootpath)
        proven = {
            group
            for group in self._passed - self._spoiled
            if now.digest(group) == self._before[group]
            and (group != COVERAGE or exitstatus == pytest.ExitCode.OK)
        }
        if proven:
            now.keep(
                {
                    group: {"digest": self._before[group], "seconds": round(self._seconds[group])}
                    for group in proven
                }
            )
        return proven

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter, exitstatus: int) -> None:
        """Say what was proven, or which proofs are out of date and what renews them."""
        write = terminalreporter.write_line
        if self._megabytes:
            write(f"the largest worker held {self._megabytes} MB")
        if self._wanted:
            proven = self._keep(exitstatus)
            for group in sorted(self._wanted):
                write(f"{group}: {'proven' if group in proven else 'NOT proven'}")
        elif is_whole(self._config):
            due = Proofs(self._config.rootpath).due()
            if due:
                write(f"proofs out of date: {', '.join(due)}; make prove ARGS=--due renews them")
