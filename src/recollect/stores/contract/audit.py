"""Store contract: read and verify the audit of a scope."""

from __future__ import annotations

from functools import partial
from typing import final

from recollect.records import Page, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.pages import wrong_cursor
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
    """The audited changes, one hash chain per scope; see `Store.acting`."""

    @final
    async def audit(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """
        Return the audited changes of exactly this scope, newest first.

        Audit rows outlive erased data, but keep neither its names nor its content.
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
        Verify a scope's hash chain from its first row to its last.

        Detects rows that were changed, removed, inserted or cut off the end. Who can write to the
        files can forge a whole chain: keep a recent hash elsewhere.

        Args:
            noted: Number and hash of a row kept elsewhere, which the chain must still contain.
        """
        scope, secret = check_scope(scope), await self._secret()
        chain = chain_of(secret, scope)
        query = partial(read_verdict, chain=chain, secret=secret, noted=noted)
        return await self._read(query)


def _read_cursor(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal()):
        raise wrong_cursor(cursor)
    return int(cursor)
