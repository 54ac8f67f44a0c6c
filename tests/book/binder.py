"""Follow the Binder configuration to the letter in a clean environment and run every notebook.

`follow` copies what git knows of the repository into an empty folder, makes an environment with the
Python version that the configuration states, installs what it lists, runs its ``postBuild``, and
makes sure that JupyterLab opens the landing page. What it has written for readers runs in
``test_jupyterlab.py``. `run_chapters` runs, with nbval beside the list, the landing page and every
chapter, with the numbers of their texts. nbval is in a folder beside the
environment, which stays Binder's.

pip is not asked for packages that the environment of the tests has in the pinned version: their
files are linked. That pip installs the list where nothing else is, ``make`` shows whenever it fills
that environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

from book.repository import copy, files

FOLDERS = ("binder", ".binder")
# What repo2docker would also read; a file that this check does not follow must not be there.
KNOWN = {"postBuild", "requirements.txt", "runtime.txt"}
OLDEST = (3, 11)
FIRST = "notebooks/index.ipynb"
TESTING = ("coverage", "iniconfig", "nbval", "pluggy", "pytest")
"""Packages that only this check takes."""
BRISK = {
    # what has no work sleeps instead of spinning, and adds up the same
    "OPENBLAS_THREAD_TIMEOUT": "4",
    # memory that is given back comes as new pages, which take longer than to fill with numbers
    "MALLOC_MMAP_THRESHOLD_": f"{2**30}",
    "MALLOC_TRIM_THRESHOLD_": f"{2**32}",
}
"""What kernels are told here, so that they take less time beside others."""


class Home(NamedTuple):
    """What Binder has made of the configuration."""

    repository: Path
    programs: Path
    variables: dict[str, str]

    def run(self, *command: str | Path) -> str:
        """Run a command in the repository, and return what it printed."""
        return run([self.programs / command[0], *command[1:]], self.repository, self.variables)


class BinderError(Exception):
    """The Binder configuration cannot be followed."""


def configuration_folder(root: Path) -> Path:
    """Return the folder that repo2docker reads."""
    found = [root / name for name in FOLDERS if (root / name).is_dir()]
    if len(found) != 1:
        raise BinderError(f"one of {', '.join(FOLDERS)} is wanted, found {len(found)}")
    return found[0]


def check_files(folder: Path) -> None:
    """Make sure that the configuration holds exactly the files that are followed here."""
    names = {path.name for path in folder.iterdir()}
    if names != KNOWN:
        raise BinderError(
            f"{folder.name} holds {sorted(names)}, this check follows {sorted(KNOWN)}"
        )
    if not os.access(folder / "postBuild", os.X_OK):
        raise BinderError("postBuild is not executable")
    if not (folder / "postBuild").read_text(encoding="utf-8").startswith("#!"):
        raise BinderError("postBuild names no interpreter in its first line")


def stated_version(runtime: str) -> tuple[int, int]:
    """Return the Python version that a ``runtime.txt`` states.

    Examples
    --------
    >>> stated_version("python-3.12")
    (3, 12)
    """
    kind, _, version = runtime.strip().partition("-")
    parts = version.split(".")
    if kind != "python" or len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise BinderError(f"runtime.txt says {runtime.strip()!r}, wanted is python-MAJOR.MINOR")
    stated = int(parts[0]), int(parts[1])
    if stated < OLDEST:
        raise BinderError(f"Python {version} is older than the package's oldest, {OLDEST}")
    return stated


def interpreter(version: tuple[int, int]) -> str:
    """Return the stated Python if this machine has it, and otherwise the running one."""
    name = f"python{version[0]}.{version[1]}"
    if sys.version_info[:2] == version:
        return sys.executable
    return shutil.which(name) or sys.executable


def run(command: list[str | Path], folder: Path, environment: dict[str, str]) -> str:
    """Run one step and return what it printed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        step = " ".join(map(str, command))
        raise BinderError(f"{step}\nended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def clean_environment(binaries: Path) -> dict[str, str]:
    """Return the environment of a fresh container: nothing of this one's Python and its BLAS."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV", "COVERAGE", "OPENBLAS"))
    }
    # pip need not compile what no notebook imports; Python compiles the rest when it is imported
    return kept | {"PATH": f"{binaries}{os.pathsep}{kept['PATH']}", "PIP_COMPILE": "0"}


def pins(requirements: Path) -> list[str]:
    """Return the packages of a list that this Python takes, and of the lists that it includes."""
    found = []
    for line in requirements.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found += pins(requirements.parent / line[3:].strip())
        elif line and not line.startswith("#"):
            pin = Requirement(line)
            if pin.marker is None or pin.marker.evaluate():
                found.append(f"{pin.name}{pin.specifier}")
    return found


def site_packages(environment: Path) -> Path:
    """Return where an environment of this Python has its packages."""
    return environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)


def link(package: Distribution, environment: Path) -> None:
    """Put the files of an installed package into another environment of the same Python."""
    here, there = site_packages(Path(sys.prefix)), site_packages(environment)
    for file in package.files or ():
        source, target = here / file, Path(os.path.normpath(there / file))
        if not source.is_file():  # what pip lists and Python has not compiled
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        content = source.read_bytes() if target.parent == binaries(environment) else b""
        if content.startswith(b"#!"):
            _, _, program = content.partition(b"\n")
            target.write_bytes(b"#!%s\n%s" % (os.fsencode(target.with_name("python")), program))
            target.chmod(0o755)
            continue
        try:
            os.link(source, target)
        except OSError:  # another disk
            shutil.copy2(source, target)


def install(requirements: Path, environment: Path, variables: dict[str, str]) -> None:
    """Install a list of packages from this environment, and with pip what it does not have so."""
    command = [binaries(environment) / "python", "-m", "pip", "install", "--quiet"]
    if not site_packages(environment).is_dir():  # another Python
        run([*command, "--requirement", requirements], requirements.parent, variables)
        return
    missing = []
    for pin in pins(requirements):
        name, _, version = pin.partition("==")
        try:
            package = distribution(name)
        except PackageNotFoundError:
            package = None
        if package is None or package.version != version:
            missing.append(pin)
        else:
            link(package, environment)
    if missing:
        run([*command, "--no-deps", *missing], requirements.parent, variables)


def binaries(environment: Path) -> Path:
    """Return the folder of an environment's programs."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def follow(work: Path) -> Home:
    """Follow the configuration inside an empty folder."""
    repository = work / "repository"
    repository.mkdir()
    copy(files(new=True), repository)
    folder = configuration_folder(repository)
    check_files(folder)
    version = stated_version((folder / "runtime.txt").read_text(encoding="utf-8"))
    environment = work / "environment"
    programs = binaries(environment)
    home = Home(repository, programs, clean_environment(programs))
    run([interpreter(version), "-m", "venv", environment], work, home.variables)
    install(folder / "requirements.txt", environment, home.variables)
    run([folder / "postBuild"], repository, home.variables)
    if FIRST not in home.run("jupyter-lab", "--show-config-json"):
        raise BinderError(f"JupyterLab would not open {FIRST} first")
    # Outside the repository, so that only the installed package can be found.
    run([programs / "python", "-c", "import attnlib"], work, home.variables)
    return home


def run_chapters(home: Home, extra: Mapping[str, str]) -> str:
    """Run all chapters, and return the test runner's last line.

    The chapters run with `extra` environment variables, such as OPENBLAS_CORETYPE.
    """
    beside = home.programs.parent.with_name("testing")
    for name in TESTING:
        link(distribution(name), beside)
    pytest = ["-m", "pytest", "-c", os.devnull, f"--rootdir={home.repository}"]
    nbval = ["-p", "no:cacheprovider", "--nbval", "--nbval-current-env", "-p", "book.nbval_numbers"]
    paths = {"PYTHONPATH": str(site_packages(beside))}
    home = home._replace(variables=home.variables | paths | extra)
    return home.run("python", *pytest, *nbval, "index.ipynb", "chapters").splitlines()[-1]
