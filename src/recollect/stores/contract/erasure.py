"""Store contract: erase data with a receipt, and clean its bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import final

from anyio import to_thread

from recollect.ports import Clock, Ids
from recollect.records import Scope
from recollect.stores.checkpoint_threads import CheckpointThreads, copies_of, thread_of
from recollect.stores.contract.backend import Transactor
from recollect.stores.digests import keyed_digest
from recollect.stores.plans.audit import plan_unnamed
from recollect.stores.plans.erase_ledger import (
    LedgerEntry,
    entry_of,
    row_of,
    target_digests,
    threads_named,
)
from recollect.stores.plans.erase_targets import EraseReceipt, EraseTarget, check_target
from recollect.stores.plans.erasure import plan_erase, receipt_of
from recollect.stores.plans.outside_removals import plan_noting, receipts_with_removals
from recollect.stores.plans.quotations import Quotation, find_quotations
from recollect.stores.rows import ReceiptRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_scope, to_datetime
from recollect.text.word_caches import forget_words


class EraseStore(Transactor):
    """Erasing, its receipts and its ledger."""

    def __init__(self, *, clock: Clock | None = None, ids: Ids | None = None) -> None:
        super().__init__(clock=clock, ids=ids)
        self._companions: dict[object, Callable[[CheckpointThreads], None]] = {}

    @final
    async def erase(self, scope: Scope, target: EraseTarget) -> EraseReceipt:
        """
        Erase *target*, and what is derived from it alone, from values, history and index.

        On return no read finds it any more. `clean` then removes its bytes. The scope's formations
        keep their counts and the names of the memories they changed. All else is removed from
        receipts that may repeat what is erased. Erasing a whole scope also removes the actors'
        names from its audit chain.

        Graph checkpoints of every affected thread are erased first, so that a failed erase leaves
        the conversation in place and can be repeated. Entries to remove from external vector stores
        are recorded in the same transaction.

        Raises:
            VersionConflictError: The memory is not at the expected version; nothing is erased.
        """
        scope, now = check_scope(scope), self.now()
        target = check_target(target)
        copies = await self._read(partial(copies_of, scope=scope, target=target))
        if copies:
            await self._erase_checkpoints(copies)
            for erase in tuple(self._companions.values()):
                # On a worker thread: the checkpoint saver takes a lock of its own.
                await to_thread.run_sync(erase, copies)
        secret = await self._secret()
        receipt = ReceiptRow(
            id=self._ids.name(to_datetime(now)),
            target=target_digests(secret, scope, target),
            messages=0,
            memories=0,
            revised=0,
            erased_at=now,
        )
        erasing = partial(plan_erase, scope=scope, target=target, receipt=receipt, key=secret)
        noting = partial(plan_noting, plan=erasing, name=receipt.id, ids=self._ids, now=now)
        plan = partial(plan_unnamed, plan=noting, secret=secret)
        erased = await self._change("erase", scope, plan)
        forget_words()
        return receipt_of(erased)

    @final
    async def preview_erase(self, scope: Scope, target: EraseTarget) -> EraseReceipt:
        """
        Return the receipt that `erase` would give now, without erasing or storing anything.

        The counts are those of one point in time; later writes change them.

        Raises:
            VersionConflictError: The memory is not at the expected version.
        """
        scope, now = check_scope(scope), self.now()
        blank = ReceiptRow(id="", target=b"", messages=0, memories=0, revised=0, erased_at=now)
        planning = partial(plan_erase, scope=scope, target=check_target(target), receipt=blank)
        # A write transaction without effect: the plan draws a new epoch, which a reader cannot.
        row = await self._transact(lambda rows: PlannedWrite(NOTHING, planning(rows).result))
        return receipt_of(row)

    @final
    async def quotations(self, scope: Scope, target: EraseTarget) -> Sequence[Quotation]:
        """
        Return the messages that `erase` of *target* would leave and that quote what it removes.

        They are found by their words, at least four in a row or eight Chinese characters, among all
        messages of the scope; the messages that an erased memory rests on are among them. A
        paraphrase is not found, nor a user's message that the assistant repeated only later. The
        set phrases of the rule model quote nothing. Words of the user that merely resemble, without
        a whole clause, a long stretch or a code in common, are not *likely* a quotation.
        """
        scope, now = check_scope(scope), self.now()
        return await self._read(
            partial(find_quotations, scope=scope, target=check_target(target), now=now)
        )

    @final
    def accompany(self, erase: Callable[[CheckpointThreads], None]) -> Callable[[], None]:
        """
        Register *erase*: every erase calls it with the LangGraph threads that lose checkpoints.

        Use it for checkpoints held by this process only; *erase* is called on a worker thread.

        Returns:
            A function that unregisters *erase*.
        """
        token = object()
        self._companions[token] = erase
        return partial(self._companions.__delitem__, token)

    @final
    async def keyed(self, *names: str) -> str:
        """
        Return a digest of *names* that reveals nothing without the store's secret.

        Unlike `digest_of`, a restored backup or a copy into an empty store gives the same digest.
        """
        return keyed_digest(await self._digest_secret(), "names", *names).hex()

    @final
    async def receipts(self, *, unclean: bool = False) -> list[EraseReceipt]:
        """Return erase receipts by time; with *unclean*, only those whose bytes remain."""
        found = await self._read(lambda rows: rows.receipts(unclean=unclean))
        return [receipt_of(row) for row in found]

    @final
    async def ledger(self) -> list[LedgerEntry]:
        """Return every erase by time, with the key that tests whether an address was erased."""
        key = await self._secret()
        found = await self._read(lambda rows: rows.receipts(unclean=False))
        return [entry_of(row, key) for row in found]

    @final
    async def adopt(self, entries: Sequence[LedgerEntry], *, unclean: bool = False) -> int:
        """
        Add erases of another store to this store's ledger; return how many were new.

        Erases nothing here.

        Args:
            unclean: The named data was here and is deleted, but `clean` must remove its bytes.
        """

        def plan(rows: Rows) -> PlannedWrite[int]:
            known = {row.id for row in rows.receipts(unclean=False)}
            new = [row_of(each, unclean=unclean) for each in entries if each.id not in known]
            return PlannedWrite(Effect(receipts=new), len(new))

        return await self._transact(plan)

    @final
    async def erase_checkpoints(self, entries: Sequence[LedgerEntry]) -> int:
        """
        Erase the graph checkpoints of what *entries* name; return of how many threads.

        A graph may have checkpoints of a thread that is not stored. Those of a thread are erased if
        it is named, or its scope as a whole.
        """
        ids = {found: id_ for id_ in await self._checkpoint_ids() if (found := thread_of(id_))}
        named = [ids[each] for each in threads_named(entries, ids)]
        if named:
            await self._erase_checkpoints(CheckpointThreads(ids=tuple(named)))
        return len(named)

    @final
    async def clean(self) -> list[EraseReceipt]:
        """
        Remove the bytes of everything erased so far from the store's files.

        A receipt stays unclean while an external vector store still has entries of it to remove.

        Returns:
            The receipts that became clean, with their *clean_at*.

        Raises:
            StoreUnavailableError: Another process reads from the file; try again later.
        """
        # Receipts before bytes: an erase during the cleaning stays unclean until the next one.
        waiting = await self._read(lambda rows: rows.receipts(unclean=True))
        if not waiting:
            return []
        await self._clean()
        left = await self._read(receipts_with_removals)
        done = [replace(row, clean_at=self.now()) for row in waiting if row.id not in left]
        if not done:
            return []
        await self._transact(lambda _: PlannedWrite(Effect(receipts=done), None))
        return [receipt_of(row) for row in done]
