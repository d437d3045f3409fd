"""Pages of a listing, and the cursors that continue after them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar

from recollect.errors import UsageError
from recollect.records import Page, Scope
from recollect.stores.validation import check_id, check_list, check_scope

RowT = TypeVar("RowT")
PlaceT = TypeVar("PlaceT")

ReadPage: TypeAlias = Callable[[str | None], Awaitable[Page[RowT]]]
"""Reads the page at a cursor, the first page at ``None``."""


def page_of(rows: Sequence[RowT], limit: int, cursor: Callable[[RowT], str]) -> Page[RowT]:
    """Return the first *limit* rows as a page; an extra row means that another page follows."""
    more = len(rows) > limit
    return Page(rows=tuple(rows[:limit]), cursor=cursor(rows[limit - 1]) if more else None)


def read_cursor(cursor: str | None, place_of: Callable[[object], PlaceT]) -> PlaceT | None:
    """
    Return the place after which a listing continues, ``None`` to begin at the start.

    Args:
        place_of: Checks and converts the JSON value that *cursor* contains.

    Raises:
        UsageError: *cursor* was not returned by this listing.
    """
    if cursor is None:
        return None
    try:
        return place_of(json.loads(cursor))
    except (TypeError, ValueError) as error:
        raise wrong_cursor(cursor) from error


def wrong_cursor(cursor: str) -> UsageError:
    """Return the error for a cursor that the listing did not return."""
    return UsageError(
        f"{cursor!r} is not a cursor of this listing: pass on what the last page returned"
    )


def named_place(given: object) -> tuple[Scope, str]:
    """Return the (scope, name) in the cursor of a listing ordered by scope, then by name."""
    scope, name = check_list(given, "element")
    return check_scope(tuple(check_list(scope, "segment"))), check_id(name, "a cursor's name")


async def each_page(read: ReadPage[RowT]) -> AsyncIterator[Page[RowT]]:
    """Yield all pages of a listing, reading each only when it is requested."""
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
