"""Store contract: export scopes and their idempotency keys as records, and restore them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, final

from recollect.records import JsonObject, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.digests import keyed_digest
from recollect.stores.plans.archive import RECORDS_MAX, read_archive
from recollect.stores.plans.idempotency_archive import plan_requests, plan_secret, read_requests
from recollect.stores.plans.outside_removals import plan_noting
from recollect.stores.plans.restored_records import plan_restore
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_count, check_scope

_TOGETHER: Final = 500


class ArchiveStore(Transactor):
    """Export and restore of whole scopes."""

    @final
    async def archive(self, scope: Scope) -> list[JsonObject]:
        """
        Return all records of exactly this scope, read at one point in time.

        The order is: threads, each followed by its messages; memories; side records; formations.
        """
        scope = check_scope(scope)
        return await self._read(lambda rows: list(read_archive(rows, scope)))

    @final
    async def restore(
        self, scope: Scope, records: Sequence[JsonObject], *, erased: bool = False
    ) -> int:
        """
        Restore records of a scope exactly as they were; return how many were new.

        Args:
            records: At most ``RECORDS_MAX``.
            erased: Restore data that was erased here as well; the audit names that as the action.

        Raises:
            ConflictError: A record differs from the stored one at its address; nothing is stored.
            UsageError: A record is malformed; nothing is stored.
        """
        scope = check_scope(scope)
        check_count(len(records), RECORDS_MAX, "RECORDS_MAX", "records in one call")
        plan = partial(plan_restore, scope=scope, records=records, ids=self._ids, now=self.now())
        return await self._change("restore erased" if erased else "restore", scope, plan)

    @final
    async def vacate(self, scope: Scope) -> None:
        """
        Delete everything in exactly this scope, without a receipt, so that it can be refilled.

        Use it for the destination of a copy only; to forget data, erase it. Entries to remove from
        external vector stores are recorded in the same transaction.
        """
        scope, now = check_scope(scope), self.now()

        def plan(rows: Rows) -> PlannedWrite[None]:
            row = rows.scope(scope)
            return PlannedWrite(Effect(dropped_scopes=[row.id]) if row else NOTHING, None)

        noting = partial(plan_noting, plan=plan, name=self.new_name(), ids=self._ids, now=now)
        await self._transact(noting)

    @final
    async def digest_of(self, *names: str) -> str:
        """
        Return a keyed digest of *names*: stable in this store, different in any other.

        It reveals nothing about *names*.
        """
        return keyed_digest(await self._secret(), "names", *names).hex()


class IdempotencyArchiveStore(Transactor):
    """Archives idempotency keys, and adopts those of another store."""

    @final
    async def digest_secret(self) -> bytes:
        """Return the secret used for digests of keys and of erased names."""
        return await self._digest_secret()

    @final
    async def adopt_secret(self, secret: bytes) -> bool:
        """
        Adopt another store's secret if this store is empty; return True if both use it now.

        Other processes that have the store open keep the old secret until they reopen it.
        """
        if secret == await self._digest_secret():
            return True
        is_adopted = await self._transact(partial(plan_secret, secret=secret))
        self._digests.forget()
        return is_adopted

    @final
    async def requests(self, scope: Scope | None) -> list[JsonObject]:
        """
        Return a record for each valid idempotency key of a scope.

        ``None`` returns the keys of scopes that were erased whole or are empty.
        """
        now, within = self.now(), None if scope is None else check_scope(scope)
        return await self._read(lambda rows: list(read_requests(rows, within, now)))

    @final
    async def adopt_requests(self, scope: Scope | None, records: Sequence[JsonObject]) -> int:
        """
        Add keys of another store with the same secret; return how many are known.

        The entries they wrote are looked up here by name. Keys marked as gone here stay so.

        Raises:
            UsageError: A record is malformed.
        """
        within, known = None if scope is None else check_scope(scope), 0
        for start in range(0, len(records), _TOGETHER):
            part = records[start : start + _TOGETHER]
            known += await self._transact(partial(plan_requests, scope=within, records=part))
        return known
