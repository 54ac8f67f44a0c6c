"""A release says one thing about itself everywhere, and holds what it promises."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import tomllib
from datetime import date
from email import message_from_string
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from docutils.nodes import paragraph

import attnlib
from _ext.citation import apa, bibtex
from book.numbers import Notebook, problems
from tests.book.notebooks import ROOT, notebook
from tests.conftest import Once
from tests.programs import install
from tools import package_check, repository

# The headings of Keep a Changelog, in its order, and what a release leaves open.
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Known limits"]
HEADING = re.compile(r"## \[(?P<version>\d+\.\d+\.\d+)\] - (?P<day>\d{4}-\d\d-\d\d)")
CODE = re.compile(r"`([\w.]+)`")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def citation() -> dict:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def releases(changelog: str) -> list[tuple[tuple[int, ...], date]]:
    """Return the releases of a changelog with their days, in its order."""
    return [
        (tuple(map(int, found["version"].split("."))), date.fromisoformat(found["day"]))
        for found in map(HEADING.fullmatch, changelog.splitlines())
        if found
    ]


def changelog_problems(changelog: str) -> list[str]:
    """Say what keeps a text from having the form of Keep a Changelog."""
    lines = changelog.splitlines()
    problems = [] if lines[:1] == ["# Changelog"] else ["the title is another"]
    for line in lines:
        of_a_release = HEADING.fullmatch(line) or line == "## [Unreleased]"
        if line.startswith("## ") and not of_a_release:
            problems.append(f"no release: {line}")
        if line.startswith("### ") and line[4:] not in KINDS:
            problems.append(f"no kind of change: {line}")
    found = releases(changelog)
    if not found or found != sorted(found, reverse=True):
        problems.append("the newest release does not come first")
    parts = re.split(r"^## .*\n", changelog, flags=re.MULTILINE)[1:]
    return problems + ["a release without changes" for part in parts if "\n- " not in part]


def test_the_version_is_in_one_place_and_the_records_agree() -> None:
    assert "version" in project()["project"]["dynamic"]
    assert project()["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "attnlib.__version__"}
    newest, day = releases(CHANGELOG)[0]
    assert ".".join(map(str, newest)) == citation()["version"] == attnlib.__version__
    assert day == citation()["date-released"]


def test_the_readme_cites_as_the_site_does() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    cited = paragraph("", "", *apa(citation(), "")).astext()
    assert f"> {cited}" in readme.replace("*", "")
    assert f"```bibtex\n{bibtex(citation(), '')}\n```" in readme


def test_the_changelog_has_its_form() -> None:
    assert changelog_problems(CHANGELOG) == []


def test_the_changelog_states_no_number_but_versions_and_their_days() -> None:
    """It is a page of the book, whose numbers come out of cells, and it has no cell."""
    text = "\n".join(line for line in CHANGELOG.splitlines() if not HEADING.fullmatch(line))
    assert problems(Notebook(notebook(text)), {}) == []


GOOD = "# Changelog\n\n## [1.1.0] - 2027-01-02\n\n### Fixed\n\n- This.\n\n"
GOOD += "## [1.0.0] - 2026-11-22\n\n### Added\n\n- All.\n"


def test_a_good_changelog_passes() -> None:
    assert changelog_problems(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Changelog", "# History"),
        ("[1.1.0]", "1.1.0"),
        ("[1.1.0]", "[0.9.0]"),
        ("Fixed", "Repaired"),
        ("- All.", ""),
    ],
)
def test_another_form_is_reported(old: str, new: str) -> None:
    assert len(changelog_problems(GOOD.replace(old, new, 1))) == 1


def test_the_metadata_name_no_address_that_nobody_has() -> None:
    """The book's address is one value, which differs between copies; the package has none."""
    assert not {"urls", "dynamic-urls"} & set(project()["project"])
    assert not {"url", "repository-code", "doi"} & set(citation())


def test_the_licenses_are_those_of_the_license_file() -> None:
    assert project()["project"]["license"] in citation()["license"]
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    assert "BSD 3-Clause" in notice
    assert "CC BY 4.0" in notice
    for name, first in (("LICENSE", "BSD 3-Clause"), ("LICENSE-TEXT", "Attribution 4.0")):
        assert name in notice
        assert (ROOT / name).read_text(encoding="utf-8").startswith(first)
    assert sorted(citation()["license"]) == ["BSD-3-Clause", "CC-BY-4.0"]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[str]]:
    """Make both distributions of what a clone has; ``make package-check`` also installs them."""
    clone = tmp_path_factory.mktemp("clone")
    names = repository.files(new=True)
    needed = package_check.package_files(names) | package_check.BESIDE | {"MANIFEST.in"}
    repository.copy(needed, clone)
    program = "from setuptools import build_meta as b; b.build_sdist('d'); b.build_wheel('d')"
    subprocess.run([sys.executable, "-c", program], cwd=clone, capture_output=True, check=True)
    (archive,), (wheel,) = (clone / "d").glob("*.tar.gz"), (clone / "d").glob("*.whl")
    return archive, wheel, names


def test_the_distributions_hold_the_package_and_nothing_else(
    packed: tuple[Path, Path, list[str]],
) -> None:
    archive, wheel, names = packed
    assert package_check.source_problems(archive, names, attnlib.__version__) == []
    assert package_check.wheel_problems(wheel, names, attnlib.__version__) == []
    assert package_check.stated_version() == attnlib.__version__


def test_the_data_that_the_packages_name_are_there() -> None:
    """Setuptools passes over a pattern that no file fits, such as a `py.typed` that got lost."""
    told = project()["tool"]["setuptools"]
    for package, patterns in told["package-data"].items():
        for pattern in patterns:
            folder = ROOT / told["package-dir"].get(package, package)
            assert [*folder.glob(pattern)], f"{package}/{pattern}"


def test_every_package_is_named() -> None:
    """Setuptools looks for none where one has its files elsewhere."""
    folders = {path.parent for path in ROOT.glob("attn*/**/*.py")}
    found = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    assert {*project()["tool"]["setuptools"]["packages"]} == found | {"attnbook._data"}


def test_the_page_of_the_package_names_a_command_that_works() -> None:
    """No index has the package: it comes from a copy, or from the address of the repository."""
    page = (ROOT / "docs" / "package.md").read_text(encoding="utf-8")
    commands = re.findall(r"pip install (\S+)", page)
    assert commands == [".", '".[all]"']
    addressed = package_check.with_address(page, "https://example.org/book")
    source = "@ git+https://example.org/book"
    commands = re.findall(r'pip install "(.+?)"', addressed)
    assert commands == [f"attnlib {source}", f"attnlib[all] {source}"]
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("chapters/*.*")):
        assert not re.search(r'pip install "?attnlib', path.read_text(encoding="utf-8")), path


def test_what_the_distributions_lack_or_have_too_much_is_noticed(
    packed: tuple[Path, Path, list[str]],
) -> None:
    archive, wheel, names = packed
    new, version = "attnlib/new.js", attnlib.__version__
    fewer = [name for name in names if name != "attnlib/softmax.py"]
    looks = package_check.source_problems, package_check.wheel_problems
    for look, file in zip(looks, (archive, wheel), strict=True):
        lacking = look(file, [*names, new], version)
        assert [problem.split()[-1] for problem in lacking] == [new]
        surplus = look(file, fewer, version)
        assert surplus
        assert all("holds attnlib/" in problem for problem in surplus)
    assert "Version is 1.0.0" in package_check.metadata_problems(
        message_from_string("Version: 1.0.0"), "2.0.0"
    )


METADATA = """Name: attnlib
Version: 1.0.0
License-Expression: BSD-3-Clause
Requires-Python: >=3.11
Description-Content-Type: text/markdown
Summary: S
Author: A
Keywords: k
Requires-Dist: numpy>=2.0
Provides-Extra: all
Requires-Dist: scipy; extra == "all"
"""


def test_a_known_repository_is_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPOSITORY_URL", "https://example.org/some/book")
    linked = METADATA + "Project-URL: Repository, https://example.org/some/book\n"
    assert package_check.metadata_problems(message_from_string(linked), "1.0.0") == []
    assert len(package_check.metadata_problems(message_from_string(METADATA), "1.0.0")) == 1


def test_the_page_of_the_package_stands_alone_and_its_examples_run() -> None:
    path = ROOT / project()["project"]["readme"]
    text = path.read_text(encoding="utf-8")
    assert doctest.testfile(str(path), module_relative=False).failed == 0
    assert re.findall(r"\]\(|<img|src=|href=", text) == [], "no index has what it would lead to"
    rows = re.findall(r"^\|.*\|(.*)\|$", text, re.MULTILINE)
    named = {name for row in rows for name in CODE.findall(row)}
    assert len(named) > 15
    for name in named:
        owner, _, rest = name.partition(".")
        found = import_module(name) if rest else getattr(attnlib, owner)
        assert found is not None


def test_complete_metadata_pass() -> None:
    assert package_check.metadata_problems(message_from_string(METADATA), "1.0.0") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("BSD-3-Clause", "MIT"),
        ("Summary: S\n", ""),
        ('; extra == "all"', ""),
        ("Provides-Extra: all", "Provides-Extra: all\nProvides-Extra: test"),
        ("Keywords: k", "Keywords: k\nProject-URL: Home, https://example.org"),
    ],
)
def test_other_metadata_are_reported(old: str, new: str) -> None:
    changed = METADATA.replace(old, new)
    assert len(package_check.metadata_problems(message_from_string(changed), "1.0.0")) == 1


@pytest.mark.proof("citation")
def test_the_citation_file_is_valid(once: Once, tmp_path: Path) -> None:
    """By the schema of its format, which a wrong file fails; the program asks for an older one."""
    program = Path(once("cffconvert", install("cffconvert==2.0.0")), "cffconvert")
    record = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for text, status in ((record, 0), (record.replace("version: 2", "version: [2]\nx: 2"), 1)):
        (tmp_path / "CITATION.cff").write_text(text, encoding="utf-8")
        command = [program, "--validate"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == status, done.stdout + done.stderr
