"""A release says one thing about itself everywhere, and holds what it promises."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import tomllib
import zipfile
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from docutils.nodes import paragraph

import attnlib
from _ext.citation import apa, bibtex
from book import repository
from book.numbers import Notebook, problems
from tests.book.notebooks import ROOT, notebook
from tests.conftest import Once
from tests.programs import install

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


def test_the_wheel_holds_the_packages_and_nothing_else(tmp_path: Path) -> None:
    names = {
        name
        for name in repository.files(new=True)
        if name.startswith(("attnbook/", "attnlib/", "data/"))
    }
    beside = {"LICENSE", "MANIFEST.in", "docs/package.md", "pyproject.toml"}
    repository.copy(names | beside, tmp_path)
    program = "from setuptools import build_meta; build_meta.build_wheel('made')"
    command = [sys.executable, "-c", program]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    (wheel,) = (tmp_path / "made").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        held = {name for name in file.namelist() if ".dist-info/" not in name}
    # where setuptools puts the tables, as pyproject.toml says
    assert held == {re.sub("^data/", "attnbook/_data/", name) for name in names}


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
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("chapters/*.*")):
        assert not re.search(r'pip install "?attnlib', path.read_text(encoding="utf-8")), path


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
