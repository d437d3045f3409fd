"""The contract, audit: who changed what in a scope, and whether that record is whole."""

from __future__ import annotations

from functools import partial
from typing import final

from recollect.errors import UsageError
from recollect.records import Page, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.plans.audit import (
    AuditEntry,
    AuditVerdict,
    chain_of,
    read_entries,
    read_verdict,
)
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_page, check_scope


class AuditStore(Transactor):
    """The changes that somebody answers for, a hash chain a scope; see `Store.acting`."""

    @final
    async def audit(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """
        Return the audited changes of exactly this scope, the newest first.

        They outlive what they tell of: of what was erased they keep no name and no content.
        """
        scope, limit, before = check_scope(scope), check_page(limit), _read_cursor(cursor)
        chain = chain_of(await self._secret(), scope)

        def query(rows: Rows) -> Page[AuditEntry]:
            found, more = read_entries(rows, scope, chain, before=before, limit=limit)
            return Page(rows=tuple(found), cursor=str(found[-1].n) if found and more else None)

        return await self._read(query)

    @final
    async def verify_audit(
        self, scope: Scope, *, noted: tuple[int, str] | None = None
    ) -> AuditVerdict:
        """
        Follow a scope's chain from its first row to its last, and say whether it is whole.

        A row that was changed, removed, inserted or cut off the end is found. Who may write to
        the store's files could write a whole chain anew: against that, keep a head elsewhere.

        Args:
            noted: Number and hash of a row as they once were; the chain must still hold it.
        """
        scope, secret = check_scope(scope), await self._secret()
        chain = chain_of(secret, scope)
        query = partial(read_verdict, chain=chain, secret=secret, noted=noted)
        return await self._read(query)


def _read_cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal()):
        msg = f"{cursor!r} is not a cursor of this listing: pass on what the last page returned"
        raise UsageError(msg)
    return int(cursor)
