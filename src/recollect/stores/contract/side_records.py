"""Store contract: read side records, the JSON objects beside memories that `apply` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import final

from recollect.records import Page, Scope
from recollect.side_records import SideAddress, SideRecord
from recollect.stores.contract.backend import Transactor
from recollect.stores.contract.memories import BRIEF_ADDRESSES_MAX
from recollect.stores.pages import named_place, page_of, read_cursor
from recollect.stores.plans.side_records import (
    live_side_records,
    read_nearest,
    read_side_records,
    side_place,
    side_record_of,
)
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_id, check_page, check_scope


class SideRecordStore(Transactor):
    """Side records by address (scope, thread, kind, key); only the current version is kept."""

    @final
    async def side_record(
        self, scope: Scope, kind: str, key: str, *, thread: str | None = None
    ) -> SideRecord | None:
        """Return the side record at an address, ``None`` if there is none or it has expired."""
        (found,) = await self.side_records_at(scope, [SideAddress(kind, key, thread)])
        return found

    @final
    async def side_records_at(
        self, scope: Scope, addresses: Sequence[SideAddress]
    ) -> list[SideRecord | None]:
        """Return one result per address, in order, all read at one point in time."""
        scope, now = check_scope(scope), self.now()
        places = [side_place(each) for each in addresses]
        query = partial(read_side_records, scope=scope, places=places, now=now)
        if len(places) <= BRIEF_ADDRESSES_MAX:
            return await self._read_brief(query)
        return await self._read(query)

    @final
    async def nearest_side_record(
        self, scope: Scope, kind: str, key: str, *, depth: int = 1
    ) -> SideRecord | None:
        """
        Return the side record of the scope, or of its nearest ancestor with one.

        Ancestors of fewer than *depth* segments are left out. An expired record is skipped.
        """
        place = side_place(SideAddress(kind, key))
        query = partial(
            read_nearest, scope=check_scope(scope), place=place, depth=depth, now=self.now()
        )
        return await self._read_brief(query)

    @final
    async def side_records(
        self,
        scope: Scope,
        kind: str,
        *,
        thread: str | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[SideRecord]:
        """Return the side records of a kind by key: those of *thread*, or those without one."""
        scope, limit, now = check_scope(scope), check_page(limit), self.now()
        within = side_place(SideAddress(kind, "any", thread))[:2]
        after = None if cursor is None else (*within, check_id(cursor, "a cursor of this listing"))

        def query(rows: Rows) -> list[SideRecord]:
            row = rows.scope(scope)
            found = live_side_records(rows, row.id, within, after, now) if row else ()
            return [side_record_of(each, scope) for each in islice(found, limit + 1)]

        return page_of(await self._read(query), limit, lambda each: each.key)

    @final
    async def side_records_below(
        self, prefix: Scope, kind: str, *, cursor: str | None = None, limit: int = 100
    ) -> Page[SideRecord]:
        """
        Return the side records of a kind in *prefix* and all scopes below it, by scope and key.

        Side records of threads are left out. An empty *prefix* covers the whole store.
        """
        prefix, limit, now = check_scope(prefix) if prefix else (), check_page(limit), self.now()
        within = side_place(SideAddress(kind, "any"))[:2]
        after = read_cursor(cursor, named_place)

        def each(rows: Rows) -> Iterator[SideRecord]:
            # The rest of the scope in which the last page ended, then the scopes after it.
            first = rows.scope(after[0]) if after else None
            if after and first:
                rest = live_side_records(rows, first.id, within, (*within, after[1]), now)
                yield from (side_record_of(row, after[0]) for row in rest)
            for scope in rows.scopes_below(prefix, after[0] if after else None):
                found = live_side_records(rows, scope.id, within, None, now)
                yield from (side_record_of(row, scope.segments) for row in found)

        found = await self._read(lambda rows: list(islice(each(rows), limit + 1)))
        return page_of(found, limit, lambda each: json.dumps([each.scope, each.key]))
