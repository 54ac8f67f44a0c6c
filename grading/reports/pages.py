"""Pages for the instructor, each whole in one file: nothing on them runs or loads anything."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grading.names import shown
from grading.reports.feedback import visible
from grading.reports.tables import FORMULA, LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HERE = Path(__file__).resolve().parent


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
    file = io.StringIO()
    csv.writer(file).writerows([_plain(each) for each in row] for row in rows)
    return file.getvalue()


def _plain(value: object) -> object:
    """Return a value of a table; a text that a spreadsheet takes for a formula gets a sign."""
    if not isinstance(value, str):
        return value
    text = shown(value, LONGEST)
    return f"'{text}" if text.startswith(FORMULA) else text


def _safe(value: Any) -> Any:
    """Return what a template may write: text is made visible before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _pages() -> Environment:
    """Return the templates, which share the style of students' pages."""
    pages = Environment(
        loader=FileSystemLoader(HERE, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_safe,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sheets = [(HERE / name).read_text(encoding="utf-8") for name in ("feedback.css", "pages.css")]
    # the style sheets are ours
    pages.globals["style"] = Markup("\n".join(sheets))  # noqa: S704
    return pages
