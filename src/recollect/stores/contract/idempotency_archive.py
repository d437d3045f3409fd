"""Store contract: idempotency keys in a backup or a copy of the store."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, final

from recollect.records import JsonObject, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.plans.idempotency_archive import plan_requests, plan_secret, read_requests
from recollect.stores.validation import check_scope

_TOGETHER: Final = 500


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
