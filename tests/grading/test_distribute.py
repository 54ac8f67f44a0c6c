"""Every submission gets exactly one result, whatever happens to the workers."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from grading.marking import distribute, remote
from grading.marking.submission import Conditions
from grading.problem_set import ProblemSet, Question
from grading.reports.student_pages import page_of
from grading.results import Mark, Result, Student, Submission
from grading.sandbox.sandbox import Limits, SandboxUnavailable
from tests.book.notebooks import ROOT

DASK = Path(distribute.__file__).with_name("dask.yaml")
SETS = {"one": ProblemSet("one", (), (Question("q1", 2.0, by_hand=True),))}


def came_in(number: int, word: str = "fine") -> Submission:
    return Submission(Student(f"s{number}", "", ""), "one", word.encode())


def pretend(submissions, problem_sets, conditions):  # noqa: ARG001
    """Do what the notebook says in place of marking it."""
    return [pretended(each) for each in submissions]


def pretended(submission: Submission) -> Result:
    word, _, rest = submission.notebook.decode().partition(" ")
    if word == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "once" and not Path(rest).exists():
        Path(rest).write_text("killed", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "sleep":
        time.sleep(1000)
    if word == "refuse":
        raise SandboxUnavailable("no bubblewrap")
    return Result(submission.student, "one", "graded", marks=(Mark("q1", 1.5, 2.0),))


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Run what the targets grade-scheduler and grade-worker run, and give the address."""
    address = folder / "address.json"
    programs = [
        ["scheduler", "--host=127.0.0.1", "--port=0", "--no-dashboard"],
        ["worker", "--nthreads=1", "--nworkers=2", "--no-dashboard", f"--local-directory={folder}"],
    ]
    running = []
    try:
        for name, *options in programs:
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options]
            running.append(
                subprocess.Popen(
                    [*command, f"--scheduler-file={address}"],
                    cwd=ROOT,
                    env={**os.environ, "DASK_CONFIG": str(DASK), "PYTHONPATH": str(ROOT)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        end = time.monotonic() + 60
        while not address.exists():
            assert time.monotonic() < end, "the scheduler did not start"
            time.sleep(0.1)
        yield json.loads(address.read_text(encoding="utf-8"))["address"]
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait()


@pytest.fixture(
    scope="module", params=["local", pytest.param("dask", marks=pytest.mark.proof("examples"))]
)
def workers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[distribute.Workers]:
    if request.param == "local":
        with distribute.cluster(2) as pool:
            yield pool
        return
    with (
        scheduler(tmp_path_factory.mktemp("dask")) as address,
        distribute.cluster(scheduler=address) as found,
    ):
        end = time.monotonic() + 60
        while found.count < 2:
            assert time.monotonic() < end, "the workers did not start"
            time.sleep(0.1)
        yield found


def outcomes(
    workers: distribute.Workers, submissions: list[Submission], size: int = 3
) -> dict[str, Result]:
    found = [
        result
        for results in distribute.mark_all(
            workers, submissions, SETS, Conditions({}), size=size, work=pretend
        )
        for result in results
    ]
    seen = Counter(each.student.student_id for each in found)
    assert set(seen.values()) <= {1}, "somebody has two results"
    return {each.student.student_id: each for each in found}


def test_every_submission_has_one_result(workers: distribute.Workers) -> None:
    found = outcomes(workers, [came_in(i) for i in range(20)])
    assert set(found) == {f"s{i}" for i in range(20)}
    assert {each.status for each in found.values()} == {"graded"}


def test_nothing_in_is_nothing_out(workers: distribute.Workers) -> None:
    assert outcomes(workers, []) == {}


def test_a_worker_that_dies_once_costs_nobody_anything(
    workers: distribute.Workers, tmp_path: Path
) -> None:
    work = [came_in(i) for i in range(11)]
    work[4] = came_in(4, f"once {tmp_path / 'first'}")
    work[9] = came_in(9, f"once {tmp_path / 'second'}")
    found = outcomes(workers, work)
    assert {name: each.status for name, each in found.items()} == {
        f"s{i}": "graded" for i in range(11)
    }
    assert (tmp_path / "first").exists()
    assert (tmp_path / "second").exists()


def test_what_kills_its_worker_every_time_is_for_a_person_and_the_others_are_marked(
    workers: distribute.Workers,
) -> None:
    work = [came_in(i, "kill" if i == 2 else "fine") for i in range(7)]
    found = outcomes(workers, work)
    assert found["s2"].status == "needs-review"
    assert "lost" in found["s2"].message
    assert found["s2"].total is None
    assert "your instructor has been told" in page_of(SETS["one"], found["s2"])
    assert {each.status for name, each in found.items() if name != "s2"} == {"graded"}
    assert len(found) == 7


def test_what_never_comes_back_is_for_a_person_and_the_others_are_marked(
    workers: distribute.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def patience(batch: distribute.Batch, *_: object) -> float:
        # the others may have to wait for a worker that starts anew
        return 2.0 if any(each.notebook == b"sleep" for each in batch.submissions) else 600.0

    monkeypatch.setattr(distribute, "_patience", patience)
    found = outcomes(workers, [came_in(i, "sleep" if i == 1 else "fine") for i in range(4)])
    assert {name: each.status for name, each in found.items()} == {
        "s0": "graded",
        "s1": "needs-review",
        "s2": "graded",
        "s3": "graded",
    }


def test_a_busy_machine_is_waited_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribute.os, "cpu_count", lambda: 2)
    waits = []
    for load in (0.1, 2.0, 32.0):
        monkeypatch.setattr(distribute.os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        batch = distribute.Batch((came_in(1),))
        waits.append(distribute._patience(batch, SETS, Conditions({})))
    assert waits[0] == waits[1] == waits[2] / 16 > Limits().wall_seconds


def test_without_a_sandbox_nothing_is_marked(workers: distribute.Workers) -> None:
    with pytest.raises(SandboxUnavailable, match="bubblewrap"):
        outcomes(workers, [came_in(0), came_in(1, "refuse")])


def test_submissions_are_read_as_they_are_needed(workers: distribute.Workers) -> None:
    read = []

    def reading() -> Iterator[Submission]:
        for i in range(200):
            read.append(i)
            yield came_in(i)

    results = distribute.mark_all(workers, reading(), SETS, Conditions({}), size=5, work=pretend)
    next(results)
    # the next batch is on its way before the results of the first are written
    assert len(read) == 5 * (workers.ahead * 2 + 1)
    assert sum(len(each) for each in results) + 5 >= 200
    assert len(read) == 200


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (6, [1] * 6),
        (30, [3, 3, 3, 2, 2, 2] + [1] * 15),
        (100, [10, 10, 10, 8, 7, 6, 6, 5, 4, 4, 3, 3, 3, 2, 2, 2] + [1] * 15),
        (200, [10] * 11 + [7]),
    ],
)
def test_the_last_batches_are_small_so_that_no_worker_waits_long_for_another(
    count: int, sizes: list[int]
) -> None:
    work = [came_in(i) for i in range(min(count, 117))]
    found = list(distribute._batched(work, 10, count, workers=2))
    assert [len(each) for each in found] == sizes
    assert list(itertools.chain(*found)) == work


def test_with_an_unknown_number_all_batches_are_of_one_size() -> None:
    work = [came_in(i) for i in range(6)]
    assert [len(each) for each in distribute._batched(work, 4, None, workers=2)] == [4, 2]


def test_workers_that_die_while_they_have_nothing_to_do_are_replaced() -> None:
    with distribute.cluster(2) as pool:
        before = multiprocessing.active_children()
        for process in before:
            process.kill()
            process.join()
        found = outcomes(pool, [came_in(i) for i in range(20)])
        after = multiprocessing.active_children()
    assert {each.status for each in found.values()} == {"graded"}
    assert len(found) == 20
    assert len(after) == 2
    assert not set(after) & set(before)


def interrupted(pool: distribute.Workers) -> None:
    """Be interrupted while a worker is busy and another waits."""
    pool.send(pretend, (came_in(0, "sleep"),), SETS, Conditions({}))
    raise KeyboardInterrupt


def refused(pool: distribute.Workers) -> None:
    """Mark where there is no sandbox."""
    outcomes(pool, [came_in(i, "refuse") for i in range(4)])


@pytest.mark.parametrize(
    ("end", "failure"), [(interrupted, KeyboardInterrupt), (refused, SandboxUnavailable)]
)
def test_no_worker_is_left_however_it_ends(
    end: Callable[[distribute.Workers], None], failure: type[BaseException]
) -> None:
    others = multiprocessing.active_children()
    with suppress(failure), distribute.cluster(2) as pool:
        assert len(multiprocessing.active_children()) == len(others) + 2
        end(pool)
        pytest.fail("it did not end")
    assert multiprocessing.active_children() == others


def test_a_failure_in_a_worker_says_where_it_was() -> None:
    with distribute.cluster(1) as pool:
        task = pool.send(pretend, (came_in(0, "refuse"),), SETS, Conditions({}))
        assert pool.finished([task], 60) == [task]
        with pytest.raises(SandboxUnavailable) as failure:
            pool.take(task)
    assert "in pretended" in failure.value.__notes__[0]


def test_a_failure_of_the_grader_is_for_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(submission, problem_set, conditions):  # noqa: ARG001
        if submission.student.student_id == "s1":
            raise KeyError("unforeseen")
        return pretended(submission)

    monkeypatch.setattr(distribute, "mark", failing)
    bad, good = distribute.mark_batch((came_in(1), came_in(2)), SETS, Conditions({}))
    assert (bad.status, good.status) == ("needs-review", "graded")
    assert "unforeseen" in bad.message


def test_numbers_of_workers_and_addresses_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "ANSWERS_WITHIN", "2s")
    with (
        pytest.raises(ValueError, match="WORKERS must be at least 1; got 0"),
        distribute.cluster(0),
    ):
        pass
    with (
        pytest.raises(ValueError, match=r"tcp://127\.0\.0\.1:9 does not answer"),
        distribute.cluster(scheduler="tcp://127.0.0.1:9"),
    ):
        pass


def test_dask_does_not_warn_of_batches_that_are_large(
    workers: distribute.Workers, recwarn: pytest.WarningsRecorder
) -> None:
    large = came_in(0, "fine " + "x" * 11_000_000)
    assert outcomes(workers, [large])["s0"].status == "graded"
    assert [str(each.message) for each in recwarn] == []
