"""When notebooks came: what the gradebook keeps of it, in a table of its own."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select

from grading.gradebook.database import RECEIPTS
from grading.late import Receipt, earliest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Row

PAGE = 500


def read(connection: Connection, assignment: str) -> dict[str, Receipt]:
    """Return what is known of a problem set, by student."""
    rows = connection.execute(select(RECEIPTS).where(RECEIPTS.c.assignment == assignment))
    return {row.student_id: _receipt(row) for row in rows}


def write(connection: Connection, receipts: Iterable[Receipt]) -> list[Receipt]:
    """Write down when notebooks came, and return those that came again unchanged, but later.

    Of them what counts is the time at which the same bytes came first.
    """
    later = []
    by_assignment: dict[str, list[Receipt]] = {}
    for each in receipts:
        by_assignment.setdefault(each.assignment, []).append(each)
    for assignment, group in by_assignment.items():
        before = read(connection, assignment)
        kept = [earliest(before.get(each.student_id), each) for each in group]
        later += [now for now, first in zip(group, kept, strict=True) if _is_later(now, first)]
        for start in range(0, len(kept), PAGE):
            page = kept[start : start + PAGE]
            same = RECEIPTS.c.student_id.in_([each.student_id for each in page])
            connection.execute(delete(RECEIPTS).where(RECEIPTS.c.assignment == assignment, same))
            connection.execute(insert(RECEIPTS), [_row(each) for each in page])
    return later


def _is_later(now: Receipt, first: Receipt) -> bool:
    """Return whether something would be later if it had not come before."""
    if now.submitted is not None and now.submitted != first.submitted:
        return True
    return now.is_late is True and first.is_late is False


def _row(receipt: Receipt) -> dict[str, Any]:
    """Return a row of the table."""
    submitted = receipt.submitted and receipt.submitted.isoformat()
    return {**vars(receipt), "submitted": submitted}


def _receipt(row: Row[Any]) -> Receipt:
    """Return what a row of the table says."""
    submitted = row.submitted and datetime.fromisoformat(row.submitted)
    return Receipt(row.assignment, row.student_id, submitted, row.is_late, row.origin, row.content)
