"""Stubs of the exercises: what is left of a solution for the reader to fill in.

The stub comes from the cell of the solution that is tagged ``answer``: between the lines
``### BEGIN SOLUTION`` and ``### END SOLUTION`` it keeps what the reader has to give,

    ### BEGIN SOLUTION
    width = 512
    plain = math.sqrt(width)                  # the standard deviation of q·k
                                              plain = ...  # your answer


    def weights(scores):                      def weights(scores):
        \"\"\"Return the weights.\"\"\"                 \"\"\"Return the weights.\"\"\"
        return softmax(scores)                    return ...  # your answer


    ### END SOLUTION
    check("spread", plain=plain, ...)         check("spread", plain=plain, ...)

and lines outside stay as they are. Above a value, a comment says what is wanted, in the words of
the check. The markers are those of nbgrader. Its ClearSolutions is not used, as it puts the same
text, which raises, in place of each region: names and signatures would be lost, and a notebook
would stop at its first open answer.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from textwrap import wrap
from types import MappingProxyType

from nbformat import NotebookNode

from book.plain_markdown import PlainError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
YOURS = "...  # your answer"


def with_imports(source: str, chapter: NotebookNode) -> str:
    """Put above a piece of a chapter what the chapter has imported for it."""
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    modules: dict[str, list[str]] = {}
    for cell in chapter.cells:
        if cell.cell_type == "code":
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.ImportFrom):
                    names = [alias.name for alias in node.names if alias.name in used]
                    modules.setdefault(node.module or "", []).extend(names)
    lines = [
        f"from {module} import {', '.join(sorted(set(names)))}"
        for module, names in modules.items()
        if names
    ]
    return spaced(["\n".join(lines), source])


def answer_names(source: str) -> list[tuple[str, str]]:
    """Return the parts that the check of a cell takes, each with the name of its answer.

    Examples
    --------
    >>> answer_names("check('spread', plain=one, root=2 * two)")
    [('plain', 'one')]
    """
    return [
        (node.arg or "", node.value.id)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.keyword) and isinstance(node.value, ast.Name)
    ]


def comment(text: str) -> str:
    r"""Return a text as a comment, in lines that are not too long.

    Examples
    --------
    >>> comment("the largest weight")
    '# the largest weight\n'
    """
    return "".join(f"# {line}\n" for line in wrap(text, 72, break_long_words=False))


def names_stored(statement: ast.stmt) -> list[str]:
    """Return the names that a statement assigns, but not those inside of functions."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def empty_function(function: ast.FunctionDef, lines: list[str]) -> str:
    """Return a function's signature and docstring, and a body that returns no answer yet."""
    body = function.body[0]
    if body.lineno == function.lineno:
        raise PlainError(f"{function.name}: its body is in the line of its signature")
    described = ast.get_docstring(function) is not None
    last = (body.end_lineno or body.lineno) if described else body.lineno - 1
    return "\n".join([*lines[function.lineno - 1 : last], f"    return {YOURS}"])


def stub(source: str, phrases: Mapping[str, str] = MappingProxyType({})) -> str:
    r"""Return the cell that the reader fills in: the answer without the region of the solution.

    `phrases` say for each part of the answer what is wanted.

    Examples
    --------
    >>> print(stub("### BEGIN SOLUTION\na = 3\nb = a**2\n### END SOLUTION\ncheck('x', b=b)"))
    b = ...  # your answer
    <BLANKLINE>
    check('x', b=b)
    """
    lines = source.splitlines()
    if (lines.count(BEGIN), lines.count(END)) != (1, 1) or lines.index(BEGIN) > lines.index(END):
        raise PlainError(f"wanted is one line «{BEGIN}» and, below it, one «{END}»")
    begin, end = lines.index(BEGIN), lines.index(END)
    above, region, below = lines[:begin], lines[begin + 1 : end], lines[end + 1 :]
    used = {node.id for node in ast.walk(ast.parse("\n".join(below))) if isinstance(node, ast.Name)}
    comments = {
        name: comment(phrases[part]) for part, name in answer_names(source) if part in phrases
    }
    kept: dict[str, str] = {}
    for statement in ast.parse("\n".join(region)).body:
        for name in names_stored(statement):
            if name in used and isinstance(statement, ast.FunctionDef):
                kept[name] = empty_function(statement, region)
            elif name in used:
                kept[name] = f"{comments.get(name, '')}{name} = {YOURS}"
    return spaced(["\n".join(above).strip("\n"), *kept.values(), "\n".join(below).strip("\n")])


def spaced(parts: list[str]) -> str:
    """Join pieces of code: two empty lines around functions, none between stubs of values."""
    text = ""
    for part in filter(None, parts):
        if text:
            around = (ast.parse(text).body[-1:], ast.parse(part).body[:1])
            if any(isinstance(node, ast.FunctionDef) for nodes in around for node in nodes):
                text += "\n\n\n"
            else:
                text += "\n" if text.endswith(YOURS) and part.endswith(YOURS) else "\n\n"
        text += part
    return text
