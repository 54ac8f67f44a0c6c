"""Find what a cell needs of the cells above it, so that nothing else runs before it.

A page has no time for what takes long and no Matplotlib: of the cells above, only the statements
run that bind what the cell uses, and what these use in turn. It goes by names alone, as they are in
the text. Generators of random numbers are called `rng` in this book; drawing from one changes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from symtable import SymbolTable, symtable


def used(code: str) -> set[str]:
    """Return the names of the page that code reads, in its functions as well."""

    def read(table: SymbolTable) -> Iterator[str]:
        at_top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (at_top or symbol.is_global()):
                yield symbol.get_name()
        for inner in table.get_children():
            yield from read(inner)

    return set(read(symtable(code, "cell", "exec")))


def imported(alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    symbols = symtable(ast.unparse(statement), "cell", "exec").get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def owner(node: ast.AST) -> str:
    """Return the name whose item, attribute or method this is, or nothing."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def changed(statement: ast.stmt) -> Iterator[str]:
    """Yield names whose value a statement may change without binding them."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield owner(node)
        elif isinstance(node, ast.Call):
            if isinstance(statement, ast.Expr) and isinstance(node.func, ast.Attribute):
                yield owner(node.func)
            given = [node.func, *node.args, *(keyword.value for keyword in node.keywords)]
            yield from (name for name in map(owner, given) if "rng" in name)


def replaces(statement: ast.stmt) -> bool:
    """Say whether what a statement binds no longer depends on what it was."""
    kinds = ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef
    return isinstance(statement, kinds | ast.Import | ast.ImportFrom)


def only(statement: ast.stmt, wanted: set[str]) -> ast.stmt:
    """Return an import of the wanted names alone, and any other statement as it is."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        statement.names = [alias for alias in statement.names if imported(alias) in wanted]
    return statement


def needed(above: list[str], code: str) -> str:
    r"""Return the statements of the cells above that a cell needs, in their order.

    Examples
    --------
    >>> above = ["import math, os", "a = math.pi\nprint(a)", "b = 2\nc = 3"]
    >>> print(needed(above, "a + b"))
    import math
    a = math.pi
    b = 2
    """
    wanted = used(code)
    kept = []
    for statement in reversed([one for cell in above for one in ast.parse(cell).body]):
        if wanted.isdisjoint([*bound(statement), *changed(statement)]):
            continue
        kept.append(ast.unparse(only(statement, wanted)))
        if replaces(statement):
            wanted -= bound(statement)
        wanted |= used(kept[-1])
    return "\n".join(reversed(kept))
