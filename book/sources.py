"""What code depends on: the modules of this repository that it imports, and their syntax trees.

A package's ``__init__`` often does no more than hand names on. Code that imports such a name from
the package depends on the module that defines it, and not on all the others that ``__init__``
imports. This holds because no module of the repository alters another when it is imported.
"""

from __future__ import annotations

import ast
import hashlib
import json
import pickle
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from book.files import atomic_write

ALL = "*"
BEGINS = "…"
Need = tuple[str, str]
"""A module and a name in it: ALL for whatever it has, BEGINS for the modules that begin so.

What stands behind BEGINS is how their names end.
"""
DOTTED = re.compile(r"\b(\w+)\.(\w+)")
IMPORTERS = {"import_module", "__import__"}


def tree_digest(source: str) -> str:
    r"""Return sixteen digits of a module's syntax tree without docstrings.

    Comments and layout do not matter, nor does which version of Python reads the module.

    Examples
    --------
    >>> half = tree_digest('def half(x):\n    "Return a half."\n    return x / 2')
    >>> half == tree_digest("def half( x ):  # again\n    return (x / 2)")
    True
    >>> half == tree_digest("def half(x):\n    return x / 3")
    False
    """
    return _hashed(repr(_shape(ast.parse(source))))


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_texts(source: str, nodes: Iterable[ast.AST]) -> str:
    """Return a module's source without the lines of its docstrings."""
    texts = [node for node in nodes if _is_text(node)]
    left_out = {line for text in texts for line in range(text.lineno, text.end_lineno + 1)}
    lines = enumerate(source.splitlines(), start=1)
    return "\n".join(line for number, line in lines if number not in left_out)


def _shape(part: object) -> object:
    """Return a part of a syntax tree as nested lists, without what is empty."""
    if isinstance(part, list):
        return [_shape(one) for one in part if not _is_text(one)]
    if not isinstance(part, ast.AST):
        return repr(part)
    held = [(name, value) for name, value in ast.iter_fields(part) if value not in (None, [])]
    return [type(part).__name__, *((name, _shape(value)) for name, value in held)]


def _is_text(part: object) -> bool:
    """Say whether a statement is a mere text: a docstring, or what is said of a constant."""
    held = part.value if isinstance(part, ast.Expr) else None
    return isinstance(held, ast.Constant) and isinstance(held.value, str)


class Code:
    """What a module or a notebook imports, and which names of it.

    The text of a notebook holds expressions beside its code, so what looks like an attribute
    anywhere in it counts as used.
    """

    def __init__(self, text: str, package: str, is_notebook: bool) -> None:
        trees = [ast.parse(code) for code in _codes(text, is_notebook)]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        self.tree = _hashed(repr(_shape(trees)))
        """A digest of the syntax trees."""
        self.text = self.tree if is_notebook else _hashed(self.tree + _without_texts(text, nodes))
        """A digest that counts comments and layout as well."""
        said = {id(node.value) for node in nodes if _is_text(node)}
        constants = (node for node in nodes if isinstance(node, ast.Constant))
        texts = {node.value for node in constants if id(node) not in said}
        self.strings = {text for text in texts if isinstance(text, str) and "\n" not in text}
        names = [node for node in nodes if isinstance(node, ast.Name)]
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        asked = [node for node in attributes if isinstance(node.value, ast.Name)]
        owners = {id(node.value) for node in asked}
        self.names = {node.id for node in names} | {node.attr for node in attributes}
        self.loaded = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        self.defined = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        self.defined |= {
            node.name
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        used = {(node.value.id, node.attr) for node in asked}
        used |= {(node.id, ALL) for node in names if id(node) not in owners}
        used |= set(DOTTED.findall(text)) if is_notebook else set()
        self._used: dict[str, set[str]] = {}
        for owner, name in used:
            self._used.setdefault(owner, set()).add(name)
        self._imports = {one for node in nodes for one in _imports(node, package)}
        self._computed = {one for node in nodes for one in _computed(node, package)}

    def needs(self, own: bool = False) -> set[Need]:
        """Return what the code needs, or only what it needs beside handing names on."""
        needs = set(self._computed)
        for name, need, module in self._imports:
            if not own or name in {*self.loaded, ALL}:
                uses = self._used.get(name, ())
                needs |= {need, *((module, used) for used in uses)}
                needs |= {(f"{module}.{used}", ALL) for used in uses}
        return needs

    def handed_on(self, name: str) -> set[Need]:
        """Return what stands behind a name that the code imports for others."""
        return {
            one
            for bound, need, module in self._imports
            if bound == name
            for one in (need, (module, ALL))
        }


def _codes(text: str, is_notebook: bool) -> list[str]:
    """Return the code of a module, or of each cell of a notebook."""
    if not is_notebook:
        return [text]
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def _imports(node: ast.AST, package: str) -> Iterator[tuple[str, Need, str]]:
    """Yield each name that a statement imports, what it needs and which module it may be."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield alias.asname or first, (alias.name, ""), alias.name if alias.asname else first
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        module = ".".join([*above * bool(node.level), *[node.module] * bool(node.module)])
        for alias in node.names:
            yield alias.asname or alias.name, (module, alias.name), f"{module}.{alias.name}"


def _computed(node: ast.AST, package: str) -> Iterator[Need]:
    """Yield the modules that a call may import: by what the name begins with, or those beside."""
    if not isinstance(node, ast.Call):
        return
    if getattr(node.func, "id", getattr(node.func, "attr", "")) in IMPORTERS:
        match node.args:
            case [ast.Constant(str(name)), *_] if name[:1] != ".":
                yield name, ALL
            case [ast.JoinedStr([ast.Constant(str(head)), *_, ast.Constant(str(tail))]), *_] if (
                head[:1] != "."
            ):
                yield head, f"{BEGINS}{tail}"
            case [ast.JoinedStr([ast.Constant(str(head)), *_]), *_] if head[:1] != ".":
                yield head, BEGINS
            case _:
                yield f"{package}.", BEGINS


def read(path: Path, root: Path) -> Code:
    """Return what a file of a repository imports, and what it is."""
    content, package = path.read_bytes(), _package(path, root)
    key = hashlib.sha256(b"\0".join([_method(), package.encode(), content])).hexdigest()
    if key not in READ:
        found = LOADED.get(key) or Code(content.decode(), package, path.suffix == ".ipynb")
        READ[key] = found
    return READ[key]


READ: dict[str, Code] = {}
"""The files that were read, by a digest of all that counts for them."""
LOADED: dict[str, Code] = {}
"""Those that an earlier process has read."""


@cache
def _method() -> bytes:
    return hashlib.sha256(Path(__file__).read_bytes()).digest()


def load(path: Path) -> None:
    """Take up what an earlier process kept, since to read a hundred files takes a second."""
    if path.is_file():
        LOADED.update(pickle.loads(path.read_bytes()))  # noqa: S301 - our own file


def keep(path: Path) -> None:
    """Keep what this process has read for later ones."""
    if READ.keys() - LOADED.keys():
        atomic_write(path, pickle.dumps(READ))


def _package(path: Path, root: Path) -> str:
    """Return the dotted name of the folder that a module is in."""
    return "" if path.suffix == ".ipynb" else ".".join(path.parent.relative_to(root).parts)


def _answer(need: Need, root: Path) -> tuple[Path | None, set[Need]]:
    """Return the file that a need leads to, if it is in the repository, and what it needs more."""
    module, name = need
    holder, _, last = module.rpartition(".")
    if name.startswith(BEGINS):
        ending = name.removeprefix(BEGINS).replace(".", "/")
        paths = root.joinpath(*holder.split(".")).glob(f"{last}*{ending}.py")
        parts = (path.relative_to(root).with_suffix("").parts for path in paths)
        return None, {(".".join(names), ALL) for names in parts}
    folder = root.joinpath(*module.split("."))
    above = {(holder, "")} if holder else set()
    if folder.with_suffix(".py").is_file():
        return folder.with_suffix(".py"), above
    part = {(f"{module}.{name}", "")} if name else set()
    init = folder / "__init__.py"
    if not init.is_file():
        return None, above | part if folder.is_dir() else set()
    code = read(init, root)
    if name and name != ALL:
        known = code.handed_on(name) or name in code.defined or _exists(folder / name)
        more = part | code.handed_on(name) if known else code.needs()
    else:
        more = code.needs(own=not name)
    return init, above | more | {(module, "")}


def _exists(folder: Path) -> bool:
    """Say whether there is a module of a name."""
    return folder.is_dir() or folder.with_suffix(".py").is_file()


class Imports:
    """The imports of a repository's files: what one search finds out serves the next."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ours = {path.stem for path in root.iterdir()}
        self._answers: dict[Need, tuple[Path | None, set[Need]]] = {}
        self._found: dict[Path, set[str]] = {}

    def direct(self, path: Path) -> set[str]:
        """Return the files that a file imports, and those that packages import on its behalf."""
        if path not in self._found:
            files, seen = set(), set()
            waiting = self._inside(
                {(_package(path, self.root), ""), *read(path, self.root).needs()}
            )
            while waiting:
                need = waiting.pop()
                seen.add(need)
                if need not in self._answers:
                    file, more = _answer(need, self.root)
                    self._answers[need] = file, self._inside(more)
                file, more = self._answers[need]
                files |= {file} if file else set()
                waiting |= more - seen
            self._found[path] = {file.relative_to(self.root).as_posix() for file in files}
        return self._found[path]

    def closure(self, paths: Iterable[str]) -> set[str]:
        """Return files with all that they import, directly or not."""
        found = set(paths)
        waiting = list(found)
        while waiting:
            new = self.direct(self.root / waiting.pop()) - found
            found |= new
            # what a package imports for others is found with them
            waiting += [name for name in new if not name.endswith("__init__.py")]
        return found

    def _inside(self, needs: set[Need]) -> set[Need]:
        """Return those needs that may lead to a file of the repository."""
        return {need for need in needs if need[0].split(".")[0] in self._ours}


def imported_modules(path: Path, root: Path) -> set[str]:
    """Return the files of a repository that a module or a notebook imports, from the root.

    They include the packages' ``__init__``, and what these import on behalf of the file.

    Examples
    --------
    >>> from book.model import ROOT
    >>> found = imported_modules(ROOT / "attnbook/puzzle/plots.py", ROOT)
    >>> {"attnbook/__init__.py", "attnbook/drawing/plot_style.py"} <= found
    True
    """
    return Imports(root).direct(path)


def closure(paths: Iterable[str], root: Path) -> set[str]:
    """Return files of a repository with all that they import, directly or not.

    Examples
    --------
    >>> from book.model import ROOT
    >>> sorted(closure(["attnlib/softmax.py"], ROOT))
    ['attnlib/__init__.py', 'attnlib/_checks.py', 'attnlib/_porting.py', 'attnlib/softmax.py']
    """
    return Imports(root).closure(paths)
