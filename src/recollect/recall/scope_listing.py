"""The scopes below some, listed page by page."""

from __future__ import annotations

from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below
from recollect.stores.validation import PAGE_ROWS_MAX


async def scopes_below(store: Store, below: Below) -> tuple[Scope, ...]:
    """Return the scopes that *below* stands for, page by page."""
    found: dict[Scope, None] = {}
    for prefix in below.scopes:
        cursor: str | None = None
        while True:
            page = await store.scopes(
                prefix=prefix, type_=below.type, cursor=cursor, limit=PAGE_ROWS_MAX
            )
            found |= dict.fromkeys(page.rows)
            cursor = page.cursor
            if cursor is None:
                break
    return tuple(found)
