"""Build a page of rows with the cursor that continues after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.records import Page

RowT = TypeVar("RowT")


def page_of(rows: Sequence[RowT], limit: int, cursor: Callable[[RowT], str]) -> Page[RowT]:
    """Return the first *limit* rows as a page; an extra row means that another page follows."""
    more = len(rows) > limit
    return Page(rows=tuple(rows[:limit]), cursor=cursor(rows[limit - 1]) if more else None)
