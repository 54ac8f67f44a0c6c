"""Pages for the instructor, each whole in one file: nothing on them runs or loads anything."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment
from markupsafe import Markup

from grading.reports.feedback import HERE, environment
from grading.reports.tables import as_csv
from grading.safe_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def render(name: str, **values: Any) -> str:
    """Return the page of a template beside this module, with its values filled in.

    All text is escaped, and what hides or turns the direction of writing is named.
    """
    return str(_pages().get_template(name).render(**values))


def rows_as_csv(rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table as CSV; no spreadsheet takes a text in it for a formula.

    Examples
    --------
    >>> rows_as_csv([("student", "alike"), ("=1+1", 0.5)])
    "student,alike\r\n'=1+1,0.5\r\n"
    """
    return as_csv(
        [plain_text(each) if isinstance(each, str) else each for each in row] for row in rows
    )


@cache
def _pages() -> Environment:
    """Return the templates, which share the style of students' pages."""
    pages = environment()
    sheets = [(HERE / name).read_text(encoding="utf-8") for name in ("feedback.css", "pages.css")]
    # the style sheets are ours
    pages.globals["style"] = Markup("\n".join(sheets))  # noqa: S704
    return pages
