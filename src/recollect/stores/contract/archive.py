"""The contract, archives: everything of a scope out as records, and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import final

from recollect.records import JsonObject, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.digests import keyed_digest
from recollect.stores.plans.archive import RECORDS_MAX, plan_restore, read_archive
from recollect.stores.plans.outside_removals import plan_noting
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_count, check_scope


class ArchiveStore(Transactor):
    """Whole scopes as records."""

    @final
    async def archive(self, scope: Scope) -> list[JsonObject]:
        """
        Return all records of exactly this scope, of one moment.

        They are its threads, each before its messages, its memories and its formations.
        """
        scope = check_scope(scope)
        return await self._read(lambda rows: list(read_archive(rows, scope)))

    @final
    async def restore(
        self, scope: Scope, records: Sequence[JsonObject], *, erased: bool = False
    ) -> int:
        """
        Put records of a scope back exactly as they were; say how many were new.

        Args:
            records: At most ``RECORDS_MAX``.
            erased: What was erased here may be among them: an audit names that as the action.

        Raises:
            ConflictError: A record differs from what stands in its place; none is stored.
            UsageError: A record is not one; none is stored.
        """
        scope = check_scope(scope)
        check_count(len(records), RECORDS_MAX, "RECORDS_MAX", "records in one call")
        plan = partial(plan_restore, scope=scope, records=records, ids=self._ids, now=self.now())
        return await self._change("restore erased" if erased else "restore", scope, plan)

    @final
    async def vacate(self, scope: Scope) -> None:
        """
        Drop all that exactly this scope holds, without a receipt, so that it can be filled anew.

        It is for the destination of a copy: what is to be forgotten is erased. What outside
        stores of vectors have to remove is noted in the same transaction.
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
        Return a digest of *names* that is always the same here, and another in any other store.

        It tells nothing of them.
        """
        return keyed_digest(await self._secret(), "names", *names).hex()
