"""What is installed is what the requirements pin, and the README promises only what exists."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

import pytest
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from tests.book.building import COMMAND, run
from tests.book.notebooks import ROOT

ON_BINDER = ".binder/requirements.txt"
FILES = sorted([ON_BINDER, *(path.name for path in ROOT.glob("requirements*.txt"))])
# Pins of the benchmark, which `make bench` installs into an environment of its own, and of what
# makes a package, in the workflow of a release.
APART = "requirements-bench.txt"
INSTALLED = [name for name in FILES if name not in {APART, "requirements-package.txt"}]
# Written for people: files that tell a reader which commands to type.
GUIDES = ["README.md", "CONTRIBUTING.md", "chapters/run.md", "grading/README.md"]
MAKEFILES = ["Makefile", "instructors.mk"]
EXTENSION = re.compile(r"/labextensions/((?:@[^/]+/)?[^/]+)/package\.json$")


def pins(text: str) -> list[str]:
    """Return the lines of a requirements file that require something."""
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def pin_problems(line: str) -> list[str]:
    """Say what keeps a line from being one exact pin of a package by name."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return [f"{line}: not a requirement"]
    operators = [specifier.operator for specifier in requirement.specifier]
    exact = operators == ["=="] and "*" not in str(requirement.specifier)
    return [] if exact and requirement.url is None else [f"{line}: not an exact pin"]


def installation_problems(line: str) -> list[str]:
    """Say how the installed version differs from a pin that holds on this machine."""
    requirement = Requirement(line)
    if requirement.marker is not None and not requirement.marker.evaluate():
        return []
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return [f"{line}: not installed"]
    fits = requirement.specifier.contains(installed, prereleases=True)
    return [] if fits else [f"{line}: {installed} is installed"]


def disagreements(apart: list[str], book: list[str]) -> list[str]:
    """List the pins of a second environment that name a package of the book in another version."""
    pinned: dict[str, set[str]] = {}
    for requirement in map(Requirement, book):
        pinned.setdefault(canonicalize_name(requirement.name), set()).add(
            str(requirement.specifier)
        )
    return [
        line
        for line, requirement in zip(apart, map(Requirement, apart), strict=True)
        if str(requirement.specifier)
        not in pinned.get(canonicalize_name(requirement.name), {str(requirement.specifier)})
    ]


def lab_extensions(name: str) -> set[str]:
    """Return the extensions of JupyterLab that the packages of a list bring."""
    installed = {canonicalize_name(package.name): package for package in distributions()}
    named = {
        canonicalize_name(Requirement(line).name)
        for line in pins((ROOT / name).read_text(encoding="utf-8"))
    }
    files = [
        file.as_posix() for each in named & {*installed} for file in installed[each].files or ()
    ]
    return {found[1] for found in map(EXTENSION.search, files) if found}


def makefile(folder: Path = ROOT) -> str:
    """Return the Makefile of a folder, with what it includes where that is there."""
    files = [folder / name for name in MAKEFILES]
    return "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def make_targets(makefile: str) -> set[str]:
    """Return the targets of a Makefile."""
    return set(re.findall(r"^([\w.-]+)(?: [\w .-]+)?:(?!=)", makefile, re.MULTILINE))


def help_screens(folder: Path) -> list[dict[str, str]]:
    """Return the commands of ``make help`` in a folder with its words, and each list it names."""
    screens: list[dict[str, str]] = []
    waiting = ["help"]
    while waiting:
        said = run("make", "--no-print-directory", waiting.pop(), cwd=folder)
        lines = [line.split(maxsplit=2) for line in said.splitlines()]
        assert {line[0] for line in lines} == {"make"}
        screens.append({line[1]: line[2] for line in lines})
        waiting += [name for name in screens[-1] if name.startswith("help-")]
    return screens


def make_help(folder: Path) -> dict[str, str]:
    """Return the commands that ``make help`` and its further lists name, with what they say."""
    return {name: words for screen in help_screens(folder) for name, words in screen.items()}


def promised_targets(guide: str) -> set[str]:
    """Return the targets that a text in Markdown tells its reader to make."""
    marked = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", guide, re.DOTALL))
    return set(re.findall(r"\bmake ((?!-)[\w-]+)", marked))


def test_there_are_pins_for_building_and_for_testing() -> None:
    assert {"requirements.txt", "requirements-dev.txt"} <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_an_exact_pin(name: str) -> None:
    lines = pins((ROOT / name).read_text(encoding="utf-8"))
    assert lines
    assert [problem for line in lines for problem in pin_problems(line)] == []


@pytest.mark.parametrize("name", INSTALLED)
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    lines = pins((ROOT / name).read_text(encoding="utf-8"))
    assert [problem for line in lines for problem in installation_problems(line)] == []


def test_the_testing_pins_contain_the_building_pins() -> None:
    building, testing = (
        set(pins((ROOT / name).read_text(encoding="utf-8")))
        for name in ("requirements.txt", "requirements-dev.txt")
    )
    # a package that more ask for may be wanted on more systems
    assert [line for line in building if not {line, line.partition(" ;")[0]} & testing] == []


def test_binder_gets_a_short_list_of_the_pins_and_no_list_of_lists() -> None:
    """With `-r`, Binder would install everything again after each commit."""
    short, whole = (
        {
            (each.name, str(each.specifier))
            for each in map(Requirement, pins((ROOT / name).read_text(encoding="utf-8")))
        }
        for name in (ON_BINDER, "requirements.txt")
    )
    assert short <= whole
    assert len({name for name, _ in short}) < 130
    assert not {name for name, _ in short} & {"jupyter-book", "nbval"}


def test_the_benchmark_measures_the_versions_of_the_book() -> None:
    apart, book = (
        pins((ROOT / name).read_text(encoding="utf-8")) for name in (APART, "requirements.txt")
    )
    assert disagreements(apart, book) == []
    named = {Requirement(line).name for line in apart}
    assert {"jax", "jaxlib", "numpy", "scipy", "torch"} <= named


def test_the_reader_needs_none_of_the_peers() -> None:
    for name in INSTALLED:
        lines = pins((ROOT / name).read_text(encoding="utf-8"))
        assert not {"jax", "jaxlib", "torch"} & {Requirement(line).name for line in lines}


@pytest.mark.parametrize("name", [ON_BINDER, "requirements.txt"])
def test_readers_get_three_extensions_of_jupyterlab(name: str) -> None:
    assert lab_extensions(name) == {
        "@jupyter-widgets/jupyterlab-manager",
        "anywidget",
        "jupyterlab_pygments",
    }


def test_readers_and_tests_have_an_environment_each() -> None:
    """So what only tests install is in no JupyterLab of a reader, nor on a reader's disk."""
    readers = ("lab", "downloads", "serve", "numbers")
    for targets, own, lists in (
        (("book",), "VENV", {"new/site.txt"}),
        (readers, "VENV", {"new/site.txt", "requirements.txt"}),
        (("test", "lint"), "TEST", {"requirements-dev.txt"}),
    ):
        folders = {"VENV": "other", "TEST": "another", own: "new"}
        said = run(
            "make",
            "-n",
            "-o",
            ".live/.tried",
            *targets,
            *(f"{key}={value}" for key, value in folders.items()),
        )
        assert set(re.findall(r"\S+(?=/bin/)", said)) == {"new"}
        assert set(re.findall(r" -r (\S+)", said)) == lists


def test_more_extensions_are_noticed() -> None:
    assert {"@jupyter/nbgrader", "jupyterlab-jupytext"} <= lab_extensions("requirements-dev.txt")


@pytest.mark.proof("examples")
def test_every_extension_of_jupyterlab_loads() -> None:
    """One that does not fit its version of JupyterLab is listed with an X."""
    listed = subprocess.run(
        [sys.executable, "-m", "jupyter", "labextension", "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    plain = re.sub(r"\x1b\[\d*m", "", listed.stdout)
    stated = re.findall(r"^ +(\S+) v\S+ (.*)", plain, re.MULTILINE)
    assert {name for name, _ in stated} >= lab_extensions("requirements.txt")
    assert [name for name, state in stated if not re.match("enabled +OK", state)] == []


@pytest.mark.proof("examples")
def test_the_installed_packages_fit_together() -> None:
    run(sys.executable, "-m", "pip", "check")


@pytest.mark.parametrize("name", GUIDES)
def test_the_commands_a_guide_names_exist(name: str) -> None:
    promised = promised_targets((ROOT / name).read_text(encoding="utf-8"))
    assert promised, "the guide names no command"
    assert promised <= make_targets(makefile())


def test_help_says_what_every_command_does() -> None:
    phony = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)", makefile(), re.MULTILINE)
    commands = set(" ".join(phony).replace("\\\n", " ").split())
    assert len(phony) == len(MAKEFILES)
    assert (
        set(make_help(ROOT)) == commands - {"help"} == make_targets(makefile()) - {"help", ".PHONY"}
    )


def test_each_list_of_commands_fits_a_screen_and_names_a_command_once() -> None:
    screens = help_screens(ROOT)
    assert len(screens) == 3
    assert max(map(len, screens)) <= 20
    assert sum(map(len, screens)) == len(make_help(ROOT))


def test_the_book_is_built_here_as_by_its_own_command() -> None:
    assert f"\t$(BIN)/{' '.join(COMMAND)}\n" in makefile()


@pytest.mark.parametrize("name", GUIDES)
def test_the_files_a_guide_names_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    folder = (ROOT / name).parent
    assert [link for link in links if not (folder / link).exists()] == []


@pytest.mark.parametrize(
    "line",
    [
        "numpy",
        "numpy>=2",
        "numpy==2.*",
        "numpy==2.4.6,<3",
        "numpy @ https://example.org/numpy.whl",
        "https://example.org/numpy.whl",
        "-e .",
        "--find-links https://example.org",
        "-r other.txt",
    ],
)
def test_a_loose_requirement_is_reported(line: str) -> None:
    assert len(pin_problems(line)) == 1


def test_an_exact_pin_passes_with_a_comment_and_a_marker() -> None:
    lines = pins("# why\nnumpy==2.4.6  # here\n\npywinpty==3.1.2 ; os_name == 'nt'\n")
    assert lines == ["numpy==2.4.6", "pywinpty==3.1.2 ; os_name == 'nt'"]
    assert [problem for line in lines for problem in pin_problems(line)] == []


def test_another_version_or_none_at_all_is_reported() -> None:
    assert installation_problems("numpy==0.1") == [f"numpy==0.1: {version('numpy')} is installed"]
    assert installation_problems("no-such-package==1.0") == ["no-such-package==1.0: not installed"]
    assert installation_problems("no-such-package==1.0 ; python_version < '3'") == []


def test_another_version_in_the_second_environment_is_reported() -> None:
    book = ["numpy==2.4.6", "scipy==1.17.1 ; python_version < '3.12'", "scipy==1.18.1"]
    assert disagreements(["NumPy==2.4.6", "torch==2.13.0", "scipy==1.18.1"], book) == []
    assert disagreements(["numpy==2.4.5", "scipy==1.16.0"], book) == [
        "numpy==2.4.5",
        "scipy==1.16.0",
    ]


def test_commands_are_read_from_guides_and_makefiles() -> None:
    assert make_targets("A := b\nbook test: x\n\techo\n.PHONY: book\n") == {"book", ".PHONY"}
    assert promised_targets("We make sure: `make book`.\n\n```\nmake test\n```") == {"book", "test"}


def test_the_files_of_the_tests_are_those_of_the_root() -> None:
    assert all((ROOT / name).is_file() for name in [*FILES, *GUIDES, *MAKEFILES])
    assert Path(sys.prefix) != Path(sys.base_prefix), "the tests run outside a virtual environment"
