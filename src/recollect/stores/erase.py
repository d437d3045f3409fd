"""The contract, erasing: what is gone, with a receipt, and when its bytes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import final

from recollect.records import Scope
from recollect.stores.plans.erase import (
    EraseReceipt,
    EraseTarget,
    check_target,
    plan_erase,
    receipt_of,
)
from recollect.stores.plans.ledger import LedgerEntry, entry_of, row_of, target_digests
from recollect.stores.rows import ReceiptRow
from recollect.stores.transactor import Transactor
from recollect.stores.unit import Effect, Planned, Rows
from recollect.stores.validate import check_scope, to_datetime


class EraseStore(Transactor):
    """The way out."""

    @final
    async def erase(self, scope: Scope, target: EraseTarget) -> EraseReceipt:
        """
        Erase *target*, and what rests on it alone, from values, history and index.

        It is gone from every read when this returns. `clean` then removes its bytes. Of the
        scope's formations the counts stay; what their receipts say goes.
        """
        scope, now = check_scope(scope), self.now()
        target = check_target(target)
        receipt = ReceiptRow(
            id=self._ids.name(to_datetime(now)),
            target=target_digests(await self._secret(), scope, target),
            messages=0,
            memories=0,
            revised=0,
            erased_at=now,
        )
        plan = partial(plan_erase, scope=scope, target=target, receipt=receipt)
        return receipt_of(await self._transact(plan))

    @final
    async def receipts(self, *, unclean: bool = False) -> list[EraseReceipt]:
        """Return erase receipts by time; with *unclean* those whose bytes are not gone yet."""
        found = await self._read(lambda rows: rows.receipts(unclean=unclean))
        return [receipt_of(row) for row in found]

    @final
    async def ledger(self) -> list[LedgerEntry]:
        """Return every erase by time, with the key that tells whether an address was erased."""
        key = await self._secret()
        found = await self._read(lambda rows: rows.receipts(unclean=False))
        return [entry_of(row, key) for row in found]

    @final
    async def adopt(self, entries: Sequence[LedgerEntry]) -> int:
        """
        Keep erases of another store in this one's ledger; say how many were new.

        Nothing is erased by it.
        """

        def plan(rows: Rows) -> Planned[int]:
            known = {row.id for row in rows.receipts(unclean=False)}
            new = [row_of(entry) for entry in entries if entry.id not in known]
            return Planned(Effect(receipts=new), len(new))

        return await self._transact(plan)

    @final
    async def clean(self) -> list[EraseReceipt]:
        """
        Remove the bytes of everything erased so far from the store's files.

        Returns:
            The receipts that became clean, with their *clean_at*.

        Raises:
            StoreUnavailableError: Another process reads from the file; try again later.
        """
        waiting = await self._read(lambda rows: rows.receipts(unclean=True))
        if not waiting:
            return []
        await self._clean()
        done = [replace(row, clean_at=self.now()) for row in waiting]
        await self._transact(lambda _: Planned(Effect(receipts=done), None))
        return [receipt_of(row) for row in done]
