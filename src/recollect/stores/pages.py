"""Build a page of rows with the cursor that continues after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

from recollect.records import Page

RowT = TypeVar("RowT")

ReadPage: TypeAlias = Callable[[str | None], Awaitable[Page[RowT]]]
"""Read the page at a cursor, the first one at ``None``."""


def page_of(rows: Sequence[RowT], limit: int, cursor: Callable[[RowT], str]) -> Page[RowT]:
    """Return the first *limit* rows as a page; an extra row means that another page follows."""
    more = len(rows) > limit
    return Page(rows=tuple(rows[:limit]), cursor=cursor(rows[limit - 1]) if more else None)


async def each_page(read: ReadPage[RowT]) -> AsyncIterator[Page[RowT]]:
    """Yield all pages of a listing; each is read when it is asked for."""
    cursor: str | None = None
    while True:
        page = await read(cursor)
        yield page
        cursor = page.cursor
        if cursor is None:
            return


async def each_row(read: ReadPage[RowT]) -> AsyncIterator[RowT]:
    """Yield the rows of all pages of a listing, in order."""
    async for page in each_page(read):
        for row in page.rows:
            yield row
