"""What GitHub is told to run exists, may do little, and is pinned."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.book.building import run
from tests.book.notebooks import ROOT
from tests.book.test_pins import make_targets, makefile
from tools.plain_sphinx import without_jupyter_book

FOLDER = ROOT / ".github"
WORKFLOWS = sorted(path.name for path in (FOLDER / "workflows").iterdir())
READING = {"contents": "read"}
WRITING = {"contents": "write"}
PUBLISHING = {"pages": "write", "id-token": "write"}
# Jobs that may do more than read, with what they may.
MORE = {
    ("book.yml", "publish"): PUBLISHING,
    ("book.yml", "colab"): WRITING,
    # what calls book.yml has to grant what its jobs ask for
    ("tests.yml", "book"): PUBLISHING | WRITING,
    ("publish.yml", "book"): PUBLISHING | WRITING,  # of the copy for students
    ("newest.yml", "report"): READING | {"issues": "write"},
    ("newest.yml", "tell"): READING | {"issues": "write"},
    ("links.yml", "report"): READING | {"issues": "write"},
    ("libraries.yml", "report"): READING | {"issues": "write"},
}
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def text(name: str) -> str:
    return (FOLDER / "workflows" / name).read_text(encoding="utf-8")


def parsed(content: str) -> dict[str, Any]:
    """Parse a workflow; YAML reads its key "on" as true."""
    found = yaml.safe_load(content)
    found["on"] = found.pop(True)
    return found


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job.get("steps", []) if "run" in step]


def calls(name: str, job: dict[str, Any]) -> bool:
    """Say whether a job is a call of a workflow of this repository."""
    return job.get("uses") == f"./.github/workflows/{name}"


def command_problems(command: str) -> list[str]:
    """Say what a command calls that is not there, or takes from where anybody can write."""
    problems = ["a value from outside is part of a command"] if "${{" in command else []
    made = re.findall(r"\bmake ([\w-]+)", command)
    exist = make_targets(makefile())
    problems += [f"make {target} does not exist" for target in made if target not in exist]
    scripts = re.findall(r"\bbash (\S+)", command)
    return problems + [f"{name} does not exist" for name in scripts if not (ROOT / name).is_file()]


def problems(name: str, content: str) -> list[str]:
    workflow = parsed(content)
    found = [] if workflow["permissions"] == READING else ["it may do more than read"]
    found += ["it names a secret"] * ("secrets." in content)
    found += ["strangers' code runs with rights"] * ("pull_request_target" in workflow["on"])
    used = [line.strip().removeprefix("- ") for line in content.splitlines() if "uses:" in line]
    local = [f"uses: ./.github/workflows/{called}" for called in CALLED]
    found += [
        f"not pinned: {line}" for line in used if not PINNED.fullmatch(line) and line not in local
    ]
    for key, job in workflow["jobs"].items():
        if job.get("permissions", READING) != MORE.get((name, key), READING):
            found.append(f"{key} may do more than it needs")
        if "timeout-minutes" not in job and "uses" not in job:
            found.append(f"{key} may run for ever")
        needed = job.get("needs", [])
        found += [f"{key} waits for {other}" for other in needed if other not in workflow["jobs"]]
        for command in commands(job):
            found += command_problems(command)
    return found


CALLED = [name for name in WORKFLOWS if "workflow_call" in parsed(text(name))["on"]]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_sound(name: str) -> None:
    assert problems(name, text(name)) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("links.yml", "contents: read\n\n", "contents: write\n\n"),
        ("links.yml", "issues: write", "issues: write\n      actions: write"),
        ("links.yml", "# v5.0.0", ""),
        ("links.yml", "@e797f83bcb11b83ae66e0230d6156d7c80228e7c # v6.0.0", "@v6"),
        ("links.yml", "make links", "make nothing"),
        ("links.yml", "make links", "make links ${{ github.head_ref }}"),
        ("links.yml", ".github/report.sh", ".github/gone.sh"),
        ("links.yml", "    timeout-minutes: 45\n", ""),
        ("links.yml", "${{ github.token }}", "${{ secrets.TOKEN }}"),
        ("links.yml", "needs: [check]", "needs: [test]"),
        ("links.yml", "  workflow_dispatch:", "  pull_request_target:"),
        ("tests.yml", "book.yml", "gone.yml"),
        ("tests.yml", "./.github/workflows/book.yml", "else/where/.github/workflows/book.yml@main"),
        ("tests.yml", "pages: write", "pages: write\n      issues: write"),
        ("tests.yml", "contents: write", "contents: read"),
        ("tests.yml", "needs: [test]", "needs: [tests]"),
    ],
)
def test_an_unsound_workflow_is_reported(name: str, old: str, new: str) -> None:
    content = text(name)
    assert old in content
    assert len(problems(name, content.replace(old, new, 1))) == 1


def test_only_what_has_passed_the_tests_on_main_is_published() -> None:
    jobs = {
        (name, key): job for name in WORKFLOWS for key, job in parsed(text(name))["jobs"].items()
    }
    deploying = [at for at, job in jobs.items() if "actions/deploy-pages" in str(job)]
    assert deploying == [("book.yml", "publish")]
    publish = jobs["book.yml", "publish"]
    assert publish["if"] == "github.ref == 'refs/heads/main' && github.event_name == 'push'"
    assert publish["needs"] == ["build"]
    # nothing starts that workflow but one job, which no condition lets run after a failure
    assert set(parsed(text("book.yml"))["on"]) == {"workflow_call"}
    assert [at for at, job in jobs.items() if calls("book.yml", job)] == [("tests.yml", "book")]
    assert jobs["tests.yml", "book"]["needs"] == ["test"]
    assert "if" not in jobs["tests.yml", "book"]
    assert parsed(text("tests.yml"))["on"] == {"push": {"branches": ["main"]}, "pull_request": None}
    assert commands(jobs["tests.yml", "test"])[-1] == "bash .ci/run"
    assert "continue-on-error" not in text("tests.yml") + text("book.yml")


def test_the_pages_take_their_address_from_where_they_are_published() -> None:
    """So a fork's pages link to the fork, and nobody has to edit anything."""
    address = parsed(text("book.yml"))["env"]["REPOSITORY_URL"]
    assert address == "${{ github.server_url }}/${{ github.repository }}"


def test_the_generated_notebooks_are_the_one_commit_of_a_branch(tmp_path: Path) -> None:
    """Twice, since the second time the branch is there already."""
    job = parsed(text("book.yml"))["jobs"]["colab"]
    assert job["needs"] == ["publish"], "only on the main branch and after the tests"
    assert "if" not in job, "a condition could run it although publishing was left out"
    make, push = commands(job)
    assert make == "make book notebooks", "the plots come from the build"

    def git(*arguments: str, folder: Path = tmp_path) -> str:
        return run("git", *arguments, cwd=folder)

    git("init", "--quiet", "--bare", "server")
    for state in ("first", "second"):
        clone = tmp_path / state
        git("clone", "--quiet", "server", state)
        for name in (".gitignore", "chapters/01.ipynb", "notebooks/01.ipynb"):
            (clone / name).parent.mkdir(exist_ok=True)
            (clone / name).write_text(f"{state} {name}", encoding="utf-8")
        (clone / "attnlib.py").write_text("", encoding="utf-8")
        git("add", "attnlib.py", folder=clone)  # as what is checked out
        (clone / ".gitignore").write_text("/notebooks/\n", encoding="utf-8")
        environment = os.environ | {"GITHUB_SHA": state}
        run("bash", "-ec", push, cwd=clone, env=environment)
        log = git("log", "--format=%s", "colab", folder=tmp_path / "server")
        assert log == f"Write the notebooks of {state}\n"
        listed = git("ls-tree", "-r", "--name-only", "colab", folder=tmp_path / "server")
        assert {"notebooks/01.ipynb", "attnlib.py"} <= {*listed.split()}
        shown = git("show", "colab:notebooks/01.ipynb", folder=tmp_path / "server")
        assert shown == f"{state} notebooks/01.ipynb"


def test_everything_is_run_again_on_a_schedule_with_the_newest_versions() -> None:
    workflow = parsed(text("newest.yml"))
    assert {"schedule", "workflow_dispatch"} == set(workflow["on"])
    *_, lock, _, test, prove = commands(workflow["jobs"]["test"])
    assert lock == "make lock UPGRADE=--upgrade"
    assert prove == "make prove"
    # what is left out is there, and is about pinned versions
    (left_out,) = re.findall(r'^make test ARGS="--deselect (tests/[^\s"]+)"$', test)
    path, *names = left_out.split("::")
    assert all(name in (ROOT / path).read_text(encoding="utf-8") for name in names)
    assert "pinned_versions" in names[-1]
    assert commands(workflow["jobs"]["sphinx"]) == ["make sphinx"]
    steps = [step for job in ("test", "sphinx") for step in workflow["jobs"][job]["steps"]]
    assert not [step for step in steps if "cache" in str(step)]


def test_jupyter_book_says_how_to_do_without_it(tmp_path: Path) -> None:
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, tmp_path)
    run(str(Path(sys.executable).with_name("jupyter-book")), "config", "sphinx", ".", cwd=tmp_path)
    written = (tmp_path / "conf.py").read_text(encoding="utf-8")
    said: dict[str, Any] = {}
    exec(without_jupyter_book(written), said)  # noqa: S102, what Sphinx does with it
    assert said["html_theme"] == "book_theme"
    assert {"myst_nb", "_ext.postprocess"} <= {*said["extensions"]}
    assert "jupyter_book" not in said["extensions"]
    with pytest.raises(ValueError, match="must name 'jupyter_book' once"):
        without_jupyter_book(without_jupyter_book(written))


def test_links_are_checked_on_a_schedule_and_nowhere_else() -> None:
    assert {"schedule", "workflow_dispatch"} == set(parsed(text("links.yml"))["on"])
    others = [text(name) for name in WORKFLOWS if name != "links.yml"]
    assert not any("make links" in content for content in others)


@pytest.mark.parametrize(
    ("name", "needs"), [("newest.yml", ["test", "sphinx", "census"]), ("links.yml", ["check"])]
)
def test_a_failure_is_told(name: str, needs: list[str]) -> None:
    report = parsed(text(name))["jobs"]["report"]
    assert report["if"] == "failure()"
    assert report["needs"] == needs
    assert {"GH_TOKEN", "GH_REPO", "TITLE", "RUN"} == set(report["env"])


@pytest.mark.parametrize(
    ("is_open", "said"), [("", "issue create --title T"), ("7", "issue comment 7")]
)
def test_a_failure_is_told_in_one_issue(tmp_path: Path, is_open: str, said: str) -> None:
    stand_in = tmp_path / "gh"
    stand_in.write_text(
        f'#!/bin/sh\n[ "$2" = list ] && printf %s "{is_open}" && exit\necho "$@"\n',
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    told = run(
        *(shutil.which("bash") or "bash", FOLDER / "report.sh"),
        env={"PATH": path, "TITLE": "T", "RUN": "https://example.org/runs/3"},
    )
    assert told.startswith(said)
    assert "https://example.org/runs/3" in told


def test_what_the_newest_models_do_otherwise_is_told_in_words() -> None:
    jobs = parsed(text("newest.yml"))["jobs"]
    (step,) = (step for step in jobs["census"]["steps"] if step.get("id") == "read")
    assert "make census ARGS=--newest" in step["run"]
    assert "pipefail" in step["run"]
    assert jobs["tell"]["if"] == "needs.census.outputs.words != ''"
    assert jobs["tell"]["env"]["DETAILS"] == "${{ needs.census.outputs.words }}"
    assert jobs["census"]["outputs"] == {"words": "${{ steps.read.outputs.words }}"}
    assert "${DETAILS" in text("../report.sh")


def test_updates_are_proposed_for_packages_and_actions() -> None:
    settings = yaml.safe_load((FOLDER / "dependabot.yml").read_text(encoding="utf-8"))
    assert settings["version"] == 2
    watched = {entry["package-ecosystem"]: entry["directory"] for entry in settings["updates"]}
    assert watched == {"pip": "/", "github-actions": "/"}
