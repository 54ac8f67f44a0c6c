"""The modeling files of a release, read out of its wheel."""

from __future__ import annotations

import ast
import hashlib
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

MODELING = re.compile(r"transformers/models/(\w+)/modeling_(?!tf_|flax_)\w+\.py")
CONFIGURATION = re.compile(r"transformers/models/(\w+)/configuration_\w+\.py")


class Source:
    """A file of Python as a syntax tree, without its docstrings."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.tree = ast.parse(text)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
                node, clean=False
            ):
                node.body = node.body[1:] or [ast.Pass()]
        self.classes = {
            node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)
        }
        self.functions = {
            node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)
        }

    def bases(self, name: str) -> list[ast.ClassDef]:
        """Return a class and those of this file that it inherits from, nearest first."""
        found: list[ast.ClassDef] = []
        names = [name]
        while names:
            node = self.classes.get(names.pop(0))
            if node is not None and node not in found:
                found.append(node)
                names += [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        return found

    @cache  # noqa: B019 - a source lives as long as the census
    def text(self, name: str) -> str:
        """Return the code of a class with those it inherits from, without comments."""
        return "\n".join(map(ast.unparse, self.bases(name)))

    def reach(self, name: str) -> str:
        """Return the code of a class with all of this file that it names, directly or not."""
        found: dict[str, str] = {}
        names = [name]
        while names:
            here = names.pop()
            if here not in found and (here in self.classes or here in self.functions):
                node = self.functions.get(here)
                found[here] = ast.unparse(node) if node is not None else self.text(here)
                names += re.findall(r"\w+", found[here])
        return "\n".join(found[here] for here in sorted(found))

    def digest(self, name: str) -> str:
        """Return ten digits that change with the code that a class reaches in its file."""
        return hashlib.sha256(self.reach(name).encode()).hexdigest()[:10]


def fields(sources: list[Source], wanted: str = "") -> dict[str, Any]:
    """Return the defaults of a configuration, or those on which all of a folder agree.

    A class of the configuration gives them as attributes, or as defaults of ``__init__``.
    """
    found: dict[str, list[Any]] = {}
    for source in sources:
        names = [wanted] if wanted in source.classes else [] if wanted else list(source.classes)
        for name in names:
            own: dict[str, Any] = {}
            for node in source.bases(name):
                for key, value in reversed(list(_defaults(node))):
                    own.setdefault(key, value)
            for key, value in own.items():
                if value not in found.setdefault(key, []):
                    found[key].append(value)
    return {key: values[0] for key, values in found.items() if len(values) == 1}


def _defaults(node: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    for item in node.body:
        pairs: list[tuple[str, ast.expr | None]] = []
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            pairs = [(item.target.id, item.value)]
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
            pairs = [(item.targets[0].id, item.value)]
        elif isinstance(item, ast.FunctionDef) and item.name == "__init__":
            arguments = item.args.args[len(item.args.args) - len(item.args.defaults) :]
            pairs = [(a.arg, b) for a, b in zip(arguments, item.args.defaults, strict=True)]
            pairs += [
                (a.arg, b) for a, b in zip(item.args.kwonlyargs, item.args.kw_defaults, strict=True)
            ]
        for key, value in pairs:
            try:
                yield key, ast.literal_eval(value) if value is not None else None
            except (ValueError, TypeError):
                continue


class Release:
    """One wheel of transformers: its folders of models."""

    def __init__(self, path: Path) -> None:
        self.version = path.name.split("-")[1]
        self._wheel = zipfile.ZipFile(path)
        self._names = self._wheel.namelist()
        self.modeling: dict[str, list[str]] = {}
        self.configuration: dict[str, list[str]] = {}
        for name in sorted(self._names):
            for pattern, kept in ((MODELING, self.modeling), (CONFIGURATION, self.configuration)):
                if found := pattern.fullmatch(name):
                    kept.setdefault(found[1], []).append(name)

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return self._wheel.read(name).decode("utf-8")

    def sources(self, names: list[str]) -> list[Source]:
        """Return files as syntax trees."""
        return [Source(name, self.read(name)) for name in names]
