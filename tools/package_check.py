"""Build the package as for a release, and try it where nothing else is installed.

``make package-check`` takes the files that git knows, makes a source distribution and from that a
wheel, looks at what they hold and say, installs the wheel into an empty environment, and runs the
examples of its docstrings there: first with NumPy alone, then with everything that parts of it ask
for when they are used.
"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import repository  # noqa: E402

# What a source distribution holds beside the package.
BESIDE = {
    *("CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "pyproject.toml"),
    "docs/package.md",  # what a package index shows
}
# What setuptools adds to it.
MADE = re.compile(r"PKG-INFO|setup\.cfg|MANIFEST\.in|attnlib\.egg-info/[\w.-]+")
# Run in the new environment; what it may lack is on the command line. A module that imports such a
# thing at its head is left out, and an example that asks for it has not failed.
EXAMPLES = """
import doctest, importlib, pkgutil, sys
lacking = set(sys.argv[1:])
before = set(sys.modules)
import attnlib
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
strangers = {name for name in loaded - set(sys.stdlib_module_names) if name[0] != "_"}
assert strangers == {"attnlib", "numpy"}, strangers
import attnbook

def excused(failure):
    error = failure.exc_info[1] if isinstance(failure, doctest.UnexpectedException) else None
    return isinstance(error, ModuleNotFoundError) and error.name.partition(".")[0] in lacking

run = left = 0
modules = [
    found
    for package in (attnlib, attnbook)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
for found in modules:
    try:
        module = importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] not in lacking:
            raise
        left += 1
        continue
    for test in doctest.DocTestFinder().find(module):
        runner = doctest.DebugRunner(optionflags=doctest.ELLIPSIS)
        try:
            runner.run(test)
        except doctest.DocTestFailure as failure:
            sys.exit(f"{test.name}: {failure.example.source}gave {failure.got}")
        except doctest.UnexpectedException as failure:
            if not excused(failure):
                sys.exit(f"{test.name}: {failure.example.source}raised {failure.exc_info[1]!r}")
            left += 1
        else:
            run += bool(test.examples)
assert run > 20, run
print(f"{attnlib.__version__}: the examples of {run} docstrings run, {left} wait for more packages")
"""


class PackageError(Exception):
    """The package may not be released like this."""


def package_files(names: list[str]) -> set[str]:
    """Return those of the files that belong to the two packages, the tables included.

    Examples
    --------
    >>> sorted(package_files(["attnlib/a.js", "attnbook/b.py", "data/c.json", "tests/d.py"]))
    ['attnbook/b.py', 'attnlib/a.js', 'data/c.json']
    """
    return {name for name in names if name.startswith(("attnbook/", "attnlib/", "data/"))}


def with_address(page: str, repository: str) -> str:
    """Return the package's page with the commands that install it from a repository.

    Examples
    --------
    >>> with_address("python -m pip install .  # alone", "https://example.org/book")
    'python -m pip install "attnlib @ git+https://example.org/book"  # alone'
    """
    source = f" @ git+{repository}"
    page = page.replace("In a copy of the book's repository,", "From the book's repository,")
    page = page.replace("install .", f'install "attnlib{source}"')
    return page.replace('install ".[all]"', f'install "attnlib[all]{source}"')


def address(root: Path = ROOT) -> str:
    """Return the repository's address from the environment or ``_config.yml``, or nothing."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    configured = re.search(r'^  url: "(.*)"$', text, re.MULTILINE)[1]
    return os.environ.get("REPOSITORY_URL") or configured


def wheel_problems(wheel: Path, names: list[str], version: str) -> list[str]:
    """Say what a wheel lacks, has too much, or says wrongly."""
    with zipfile.ZipFile(wheel) as file:
        held = set(file.namelist())
        info = f"attnlib-{version}.dist-info/"
        metadata = file.read(f"{info}METADATA").decode() if f"{info}METADATA" in held else ""
    # where setuptools puts the tables, as pyproject.toml says
    wanted = {re.sub("^data/", "attnbook/_data/", name) for name in package_files(names)}
    problems = [f"the wheel lacks {name}" for name in sorted(wanted - held)]
    problems += [
        f"the wheel holds {name}"
        for name in sorted(held - wanted)
        if not name.startswith(info) or name.endswith("/")
    ]
    if f"{info}licenses/LICENSE" not in held:
        problems.append("the wheel lacks the license")
    return problems + metadata_problems(email.message_from_string(metadata), version)


def metadata_problems(metadata: Message, version: str) -> list[str]:
    """Say what the metadata of a wheel should say and does not."""
    wanted = {
        "Name": "attnlib",
        "Version": version,
        "License-Expression": "BSD-3-Clause",
        "Requires-Python": ">=3.11",
        "Description-Content-Type": "text/markdown",
    }
    problems = [
        f"{field} is {metadata[field]}" for field, text in wanted.items() if metadata[field] != text
    ]
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    if [re.split(r"\W", line)[0] for line in needed] != ["numpy"]:
        problems.append(f"it needs {needed}, not NumPy alone")
    offered = metadata.get_all("Provides-Extra", [])
    if offered != ["all"]:
        problems.append(f"it offers the extras {offered}, not the users' one alone, all")
    problems += [
        f"no {field}" for field in ("Summary", "Author", "Keywords") if not metadata[field]
    ]
    known = [f"Repository, {address()}"] if address() else []
    if metadata["Home-page"] or metadata.get_all("Project-URL", []) != known:
        problems.append("other addresses than that of this repository")
    return problems


def source_problems(archive: Path, names: list[str], version: str) -> list[str]:
    """Say what a source distribution lacks or has too much."""
    with tarfile.open(archive) as file:
        held = {
            member.name.removeprefix(f"attnlib-{version}/")
            for member in file.getmembers()
            if member.isfile()
        }
    wanted = package_files(names) | BESIDE
    problems = [f"the source distribution lacks {name}" for name in sorted(wanted - held)]
    surplus = {name for name in held - wanted if not MADE.fullmatch(name)}
    return problems + [f"the source distribution holds {name}" for name in sorted(surplus)]


def stated_version(root: Path = ROOT) -> str:
    """Return the version that the package states, without importing it."""
    text = (root / "attnlib" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)[1]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command, show what it says, and return it."""
    done = subprocess.run(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        # neither the clone nor the user's own packages
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        | {"PYTHONNOUSERSITE": "1"},
    )
    if done.returncode:
        message = f"{' '.join(map(str, command[:4]))} ended with {done.returncode}:\n{done.stdout}"
        raise PackageError(message)
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Make a source distribution, and from it a wheel, of what git knows."""
    repository.copy(repository.files(), folder)
    if address():
        with (folder / "pyproject.toml").open("a", encoding="utf-8") as project:
            project.write(f'\n[project.urls]\nRepository = "{address()}"\n')
        page = folder / "docs" / "package.md"
        page.write_text(with_address(page.read_text("utf-8"), address()), encoding="utf-8")
    # the versions that are installed here are pinned; those of an isolated build would not be
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", ".", cwd=folder)
    (archive,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    return archive, wheel


def extras() -> list[str]:
    """Return the packages that parts of attnlib ask for when they are used."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.split(r"\W", line)[0] for line in project["optional-dependencies"]["all"]]


def try_out(wheel: Path, folder: Path) -> list[str]:
    """Install a wheel into an empty environment and return what its examples say there."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    pinned = ["--constraint", ROOT / "requirements.txt"]
    run(*install, *pinned, wheel, cwd=folder)
    listed = run(python, "-m", "pip", "list", "--format=freeze", cwd=folder)
    others = {line.partition("==")[0] for line in listed.splitlines() if "==" in line}
    if not others <= {"attnlib", "numpy", "pip", "setuptools"}:
        raise PackageError(f"more than the wheel asks for is installed: {sorted(others)}")
    lacking = [*extras(), "IPython", "traitlets"]  # these two come with anywidget
    alone = run(python, "-W", "error", "-c", EXAMPLES, *lacking, cwd=folder)
    run(*install, *pinned, f"{wheel}[all]", cwd=folder)
    return [alone, run(python, "-c", EXAMPLES, cwd=folder)]


def main() -> int:
    """Check a release, and say what is wrong with it."""
    names, version = repository.files(), stated_version()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        try:
            archive, wheel = build(folder / "clone")
            problems = source_problems(archive, names, version)
            problems += wheel_problems(wheel, names, version)
            if problems:
                raise PackageError("\n".join(problems))
            twine = [sys.executable, "-m", "twine", "check", "--strict"]
            sys.stdout.write(run(*twine, archive, wheel, cwd=folder))
            (folder / "empty").mkdir()
            for said in try_out(wheel, folder / "empty"):
                sys.stdout.write(said)
        except PackageError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    sys.stdout.write(f"attnlib {version} may be released\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
