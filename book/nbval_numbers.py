"""Let nbval check the numbers in the text too, with the kernel that runs a notebook's cells.

``pytest --nbval -p book.nbval_numbers`` fails at a notebook's last cell if a numeral of its text
is wrong or not bound.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest
from nbval.plugin import IPyNbCell

from book.numbers import Binding, Notebook, evaluated_text, problems

if TYPE_CHECKING:
    from nbval.plugin import IPyNbFile

READ = pytest.StashKey[Notebook]()
VALUES = pytest.StashKey[dict[Binding, str]]()


def evaluate(page: IPyNbFile, bindings: list[Binding]) -> dict[Binding, str]:
    """Evaluate what waits for the cell that has just run."""
    asked = {str(i): binding.expression for i, binding in enumerate(bindings)}
    client = page.kernel.kc
    sent = client.execute("", silent=True, store_history=False, user_expressions=asked)
    reply = client.get_shell_msg(timeout=60)
    while reply["parent_header"].get("msg_id") != sent:
        reply = client.get_shell_msg(timeout=60)
    answers = reply["content"]["user_expressions"]
    return {binding: evaluated_text(answers[str(i)]) for i, binding in enumerate(bindings)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a cell, then evaluate what is bound to it, and compare all at the last one."""
    result = yield
    if isinstance(item, IPyNbCell):
        page = item.parent
        if READ not in page.stash:
            page.stash[READ] = Notebook(page.nb)
        notebook = page.stash[READ]
        position = next(i for i, cell in enumerate(page.nb.cells) if cell is item.cell)
        values = page.stash.setdefault(VALUES, {})
        if bindings := notebook.schedule.get(position):
            values |= evaluate(page, bindings)
        if position == notebook.before(len(page.nb.cells)) and (
            found := problems(notebook, values)
        ):
            pytest.fail("\n".join(map(str, found)), pytrace=False)
    return result
