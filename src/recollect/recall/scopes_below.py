"""List the scopes below a prefix."""

from __future__ import annotations

from functools import partial

from recollect.records import Page, Scope
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.changes import Below
from recollect.stores.validation import PAGE_ROWS_MAX


async def scopes_below(store: Store, below: Below) -> tuple[Scope, ...]:
    """Return all scopes that *below* includes, page by page."""
    found: dict[Scope, None] = {}
    for each in below.scopes:
        read = partial(_page, store, each, below.type)
        found |= dict.fromkeys([row async for row in each_row(read)])
    return tuple(found)


async def _page(store: Store, prefix: Scope, type_: str | None, cursor: str | None) -> Page[Scope]:
    return await store.scopes(prefix=prefix, type_=type_, cursor=cursor, limit=PAGE_ROWS_MAX)
