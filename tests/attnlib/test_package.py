"""What the package promises as a whole: light to import, annotated, documented."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest

import attnlib

PACKAGE = Path(attnlib.__file__).parent
FUNCTIONS = sorted(n for n in attnlib.__all__ if inspect.isfunction(getattr(attnlib, n)))
SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples")
# Modules whose public names are the package's, and those that are imported by name.
FLAT = {
    "attention",
    "blockwise",
    "diagnose",
    "gradients",
    "initialization",
    "online",
    "saturation",
    "scores",
    "softmax",
}
NAMESPACES = {"scaling"}
FIRST_HAND = {"__future__", "attnlib", "numpy", *sys.stdlib_module_names}
HEAVY = ("scipy", "matplotlib", "ipywidgets", "traitlets", "IPython", "pandas", "mpmath")

pytestmark = pytest.mark.not_for_mutants


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules a fresh interpreter has loaded after the statement."""
    program = f"{statement}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    return set(result.stdout.split())


def test_importing_the_package_loads_numpy_and_nothing_else():
    beyond_numpy = modules_after("import attnlib") - modules_after("import numpy")
    assert not beyond_numpy & set(HEAVY)
    third_party = beyond_numpy - sys.stdlib_module_names - {"attnlib"}
    # what a virtual environment's own .pth files load is loaded by `import numpy` as well
    assert not third_party


def test_plots_load_no_scipy():
    assert "matplotlib" in modules_after("import attnbook.plots")
    assert "scipy" not in modules_after("import attnbook.plots")


def constants_first(name: str) -> tuple[bool, str]:
    """Order names as Ruff does."""
    return not name.isupper(), name


def test_the_public_names_are_those_of_the_modules():
    assert list(attnlib.__all__) == sorted(attnlib.__all__, key=constants_first)
    listed = set()
    for path in PACKAGE.glob("*.py"):
        if path.stem in FLAT:
            module = sys.modules[f"attnlib.{path.stem}"]
            assert list(module.__all__) == sorted(module.__all__, key=constants_first)
            defined = {
                node.name
                for node in ast.parse(path.read_text("utf-8")).body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))
                and not node.name.startswith("_")
            }
            constants = {name for name in module.__all__ if name.isupper()}
            assert set(module.__all__) == defined | constants
            listed |= defined | constants
    assert set(attnlib.__all__) == listed | {"ScalingRule"}


def test_every_module_is_flat_private_or_a_namespace_of_its_own():
    stems = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_")}
    assert stems == FLAT | NAMESPACES


def sections(docstring: str) -> dict[str, str]:
    """Split a numpydoc docstring at its underlined headings."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(docstring), flags=re.MULTILINE)
    assert len(set(parts[1::2])) == len(parts[1::2]), "a section occurs twice"
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_documented(name):
    function = getattr(attnlib, name)
    parts = sections(function.__doc__)
    assert [part for part in SECTIONS if part in parts] == list(parts)[1:], "order or unknown name"
    assert {"Parameters", "Returns", "Examples"} <= set(parts)
    summary = parts[""].splitlines()[0]
    assert summary.endswith(".")
    assert len(summary) <= 100
    described = {
        word.strip()
        for line in re.findall(r"^(?! )([\w, ]+?)(?: : .*)?$", parts["Parameters"], re.MULTILINE)
        for word in line.split(",")
    }
    assert described == set(inspect.signature(function).parameters)
    assert ">>> " in parts["Examples"]
    assert parts["Returns"].strip()


@pytest.mark.parametrize("stem", sorted(FLAT | NAMESPACES))
def test_a_module_names_the_chapter(stem):
    said = ast.get_docstring(ast.parse((PACKAGE / f"{stem}.py").read_text("utf-8")))
    assert re.search(r"\bchapters?\b", said)  # test_docstrings.py has it that the chapter exists


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_annotated(name):
    function = getattr(attnlib, name)
    hints = typing.get_type_hints(function)
    assert set(hints) == {*inspect.signature(function).parameters, "return"}


def test_results_are_of_a_type():
    """``Any`` is the result of functions alone whose overloads say more."""
    for path in PACKAGE.glob("[!_]*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        overloaded = {
            node.name for node in functions if "overload" in map(ast.unparse, node.decorator_list)
        }
        loose = {node.name for node in functions if ast.unparse(node.returns) == "Any"}
        assert {name for name in loose if not name.startswith("_")} <= overloaded, path.name


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["effective_positions", "entropy", "jacobian_norm_squared"])
def test_a_row_gives_a_number_and_rows_an_array(name, dtype):
    function = getattr(attnlib, name)
    number, array = typing.get_args(typing.get_type_hints(function)["return"])
    row = np.full(4, 0.25, dtype)
    assert isinstance(function(row), number)
    assert isinstance(function([row, row]), array)


@pytest.mark.parametrize("function", [attnlib.score_pdf, attnlib.score_sf])
def test_overloads_tell_a_number_from_an_array(function):
    for_number, for_array = map(typing.get_type_hints, typing.get_overloads(function))
    for number in (1.5, np.float32(1.5), np.int64(1)):
        assert isinstance(number, for_number["z"])
        assert isinstance(function(number, 4), for_number["return"])
    assert isinstance(function([1.5, 2.5], 4), for_array["return"])


def test_randomness_is_always_an_argument():
    for name in FUNCTIONS:
        parameters = inspect.signature(getattr(attnlib, name)).parameters
        assert name.startswith("sample_") == ("rng" in parameters)
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                assert "np.random." not in ast.unparse(node.func), f"{path.name}: {node.lineno}"


def test_scipy_is_imported_where_it_is_needed():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                named = [alias.name for alias in node.names]
                roots = [getattr(node, "module", None) or name for name in named]
                assert {root.split(".")[0] for root in roots} <= FIRST_HAND, path.name
