"""Contract tests for the rows themselves: what no answer of a store shows, or only much later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as changed

import pytest

from recollect.records import DeleteMemory
from recollect.side_records import DeleteSideRecord, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.plans import upkeep
from recollect.stores.plans.audit import chain_of
from recollect.stores.plans.erase_targets import EraseMemory, EraseScope
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.idempotency_archive import TAKEN_OVER
from recollect.stores.plans.upkeep import KEY_S
from recollect.stores.rows import NO_SCOPE, MemoryRow, MessageRow, ScopeRow
from recollect.stores.unit_of_work import Effect, PlannedWrite, Query, Removal, Rows
from recollect.testing.contract_base import (
    ADA,
    BOB,
    EMBEDDER,
    TALK,
    Contract,
    FoundT,
    claimed,
    existing,
    fact,
    keep_facts,
    resting,
    said,
    tell,
)
from recollect.testing.contract_vectors import batch_of, embed
from recollect.testing.frozen_clock import FrozenClock


async def read(store: Store, query: Query[FoundT]) -> FoundT:
    """Return the result of *query* in one read transaction."""
    return await store._read(query)  # noqa: SLF001 (what a backend implements)


async def scope_row(store: Store) -> ScopeRow:
    """Return the row of Ada's scope."""
    return existing(await read(store, lambda rows: rows.scope(ADA)))


async def keys_kept(store: Store, scope_id: int) -> list[str]:
    """Return the digests of the idempotency keys of a scope."""
    return [each.key for each in await read(store, lambda rows: rows.keys_of(scope_id))]


async def write(store: Store, effect: Effect) -> None:
    """Write *effect* in a transaction of its own."""

    def plan(rows: Rows) -> PlannedWrite[None]:
        rows.scope(ADA)  # locks it
        return PlannedWrite(effect, None)

    await store._transact(plan)  # noqa: SLF001 (what a backend implements)


async def message_rows(store: Store) -> Sequence[MessageRow]:
    """Return the messages of Ada's scope."""
    row = await scope_row(store)
    return await read(store, lambda rows: list(rows.all_messages(row.id)))


async def memory_row(store: Store) -> MemoryRow:
    """Return the row of the fact ``home``."""
    row = await scope_row(store)
    return existing(await read(store, lambda rows: rows.memory(row.id, "Fact", "home")))


class RowLimitContract(Contract):
    """A reading with a limit: a page of a large scope costs a page, and not the scope."""

    @pytest.mark.parametrize(
        "reading",
        [
            lambda rows, row, _: rows.threads(row.id, None, 2),
            lambda rows, row, _: rows.messages(
                row.id, rows.thread(row.id, TALK).number, after=0, until=None, limit=2
            ),
            lambda rows, row, _: rows.last_messages(
                row.id, rows.thread(row.id, TALK).number, before=None, limit=2
            ),
            lambda rows, _, now: rows.due_threads(now, 2),
            lambda rows, row, now: rows.due_threads_of(row.id, now, 2),
            lambda rows, _, __: rows.waiting_threads((), below=True, after=None, limit=2),
            lambda rows, row, _: rows.unembedded(row.id, 0, EMBEDDER, 2),
            lambda rows, _, __: rows.unembedded_scopes(EMBEDDER, 2),
        ],
        ids=[
            "threads", "messages", "last messages", "due threads", "due threads of a scope",
            "waiting threads", "entries to embed", "scopes to embed",
        ],
    )  # fmt: skip
    async def test_a_limit_holds(
        self,
        store: Store,
        clock: FrozenClock,
        reading: Callable[[Rows, ScopeRow, int], Sequence[object]],
    ) -> None:
        """No more rows than asked for are returned, however many there are."""
        for thread in (TALK, "a", "b", "c"):
            await tell(store, "m1", "m2", "m3", "m4", thread=thread)
        for segment in ("b", "c", "d"):
            await store.append((segment,), TALK, [said("m1")])
        clock.advance(3_600)
        row, now = await scope_row(store), store.now()

        found = await read(store, lambda rows: list(reading(rows, row, now)))

        assert 2 == len(found)

    async def test_formations_and_audited_changes_have_a_limit(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Those of a scope grow without end, and are read page by page."""
        for number in range(1, 4):
            await tell(store, f"m{number}")
            lease = await claimed(store, clock)
            await store.acting("worker").commit(lease, [], Formed(watermarks={TALK: number}))
        row, chain = await scope_row(store), chain_of(await store.digest_secret(), ADA)

        formations = await read(store, lambda rows: rows.formations(row.id, None, None, 2))
        audited = await read(store, lambda rows: rows.audit(chain, 1, 1))

        assert 2 == len(formations)
        assert [2] == [each.n for each in audited]

    async def test_messages_are_read_up_to_a_position(self, store: Store) -> None:
        """The last position counts, the first one does not, and no later message is returned."""
        await tell(store, "m1", "m2", "m3", "m4")
        row = await scope_row(store)

        def positions(rows: Rows, until: int | None) -> list[int]:
            number = existing(rows.thread(row.id, TALK)).number
            found = rows.messages(row.id, number, after=1, until=until, limit=9)
            return [each.position for each in found]

        assert [2, 3] == await read(store, lambda rows: positions(rows, 3))
        assert [] == await read(store, lambda rows: positions(rows, 1))
        assert [2, 3, 4] == await read(store, lambda rows: positions(rows, None))


class RowOrderContract(Contract):
    """Rows in the order in which plans rely on them."""

    async def test_past_versions_come_oldest_first(self, store: Store) -> None:
        """Return them by version, whichever was written last."""
        await keep_facts(store, *("Oslo", "Rome", "Lima", "Bonn"))
        row, memory = await scope_row(store), await memory_row(store)
        first, second, third = await read(store, lambda rows: rows.revisions(row.id, memory.uid))
        drop = [(row.id, memory.uid, each.version) for each in (first, second)]
        await write(store, Effect(dropped_revisions=drop))

        await write(store, Effect(revisions=[second, first]))

        found = await read(store, lambda rows: rows.revisions(row.id, memory.uid))
        assert [first, second, third] == list(found)

    async def test_a_row_written_again_replaces_the_former(self, store: Store) -> None:
        """A message, a memory or a past version is as it was written last, in every field."""
        await tell(store, "m1")
        await keep_facts(store, "Oslo", "Rome")
        row, (message,), memory = (
            await scope_row(store), await message_rows(store), await memory_row(store)
        )  # fmt: skip
        (past,) = await read(store, lambda rows: rows.revisions(row.id, memory.uid))
        message = changed(
            message, role="assistant", name="Ida", text="other", content="[1]", time=1,
            session="s", source="mail", kept_at=2, digest=b"other", seq=8, text_hash=b"h",
        )  # fmt: skip
        written = changed(
            memory, value="[1]", text="other", valid_from=1, valid_until=2, version=9,
            updated_at=3, expires_at=4, state="rejected",
        )  # fmt: skip
        past = changed(
            past, value="[1]", text="other", valid_from=1, valid_until=2, evidence='{"":[]}',
            trust="user", state="rejected", believed_from=5,
        )  # fmt: skip

        await write(store, Effect(messages=[message], memories=[written], revisions=[past]))

        assert [message] == list(await message_rows(store))
        assert written == await memory_row(store)
        assert [past] == list(await read(store, lambda rows: rows.revisions(row.id, memory.uid)))

    async def test_a_thread_written_again_replaces_the_former(self, store: Store) -> None:
        """Its progress and its backlog are as they were written last, in every field."""
        await tell(store, "m1", "m2")
        row = await scope_row(store)
        thread = existing(await read(store, lambda rows: rows.thread(row.id, TALK)))
        thread = changed(
            thread, created_at=1, formed=1, first_pending_at=2, due=3, not_before=4, attempts=5,
            state="paused", waiting_tokens=6, again="[1]",
        )  # fmt: skip

        await write(store, Effect(threads=[thread]))

        assert thread == await read(store, lambda rows: rows.thread(row.id, TALK))

    async def test_messages_of_a_scope_come_by_thread(self, store: Store) -> None:
        """Return them by thread number and position, however their writes were interleaved."""
        for number in range(1, 4):
            for thread in (TALK, "a"):
                await tell(store, f"{thread} {number}", thread=thread)

        found = [each.id for each in await message_rows(store)]

        assert [f"{thread} {n}" for thread in (TALK, "a") for n in (1, 2, 3)] == found

    async def test_receipts_of_one_moment_come_by_id(self, store: Store) -> None:
        """Return receipts by time; those of one moment by id, whichever was written first."""
        await store.apply(ADA, [fact("home"), fact("work")])
        first = await store.erase(ADA, EraseMemory(type="Fact", key="home"))
        await store.erase(ADA, EraseMemory(type="Fact", key="work"))
        row = next(
            each
            for each in await read(store, lambda rows: rows.receipts(unclean=False))
            if each.id == first.id
        )
        smaller = [changed(row, id=f"0-{each}") for each in "ba"]

        await write(store, Effect(receipts=smaller))

        found = await read(store, lambda rows: rows.receipts(unclean=False))
        order = [(each.erased_at, each.id) for each in found]
        assert ["0-a", "0-b"] == [id_ for _, id_ in order[:2]]
        assert sorted(order) == order


class RowRemovalContract(Contract):
    """Removed and outdated rows are dropped: they neither come back nor take up room."""

    async def test_expired_keys_are_dropped(self, store: Store, clock: FrozenClock) -> None:
        """A keyed request drops the keys of its scope that have expired."""
        for number in range(3):
            await store.apply(ADA, [fact("home")], idempotency_key=f"k{number}")
        row = await scope_row(store)
        old = await keys_kept(store, row.id)
        clock.advance(KEY_S + 1)

        await store.apply(ADA, [fact("home", "Rome")], idempotency_key="new")

        left = await keys_kept(store, row.id)
        assert (3, 1) == (len(old), len(left))
        assert set(old).isdisjoint(left)

    async def test_keys_are_dropped_by_their_last_use(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A key used again stays, and shields no key that was used before it."""
        await store.apply(ADA, [fact("home")], idempotency_key="again")
        row = await scope_row(store)
        (again,) = await read(store, lambda rows: rows.keys_of(row.id))
        await store.apply(ADA, [fact("home")], idempotency_key="once")
        clock.advance(KEY_S + 1)
        await write(store, Effect(idempotency=[changed(again, kept_at=store.now())]))

        await write(store, Effect(old_keys=[(row.id, store.now())]))

        assert [again.key] == await keys_kept(store, row.id)

    async def test_expired_keys_of_erased_scopes_are_dropped(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """A later erase drops those that outlived their scope; the adopted secret stays."""
        await store.adopt_secret(b"s" * 32)
        await store.apply(ADA, [fact("home")], idempotency_key="k")
        await store.erase(ADA, EraseScope())
        outlived = await keys_kept(store, NO_SCOPE)
        await store.apply(BOB, [fact("home")])
        clock.advance(KEY_S + 1)

        await store.erase(BOB, EraseScope())

        left = await keys_kept(store, NO_SCOPE)
        assert 1 == len(set(outlived) - {TAKEN_OVER})
        assert {TAKEN_OVER} == set(outlived).intersection(left)

    async def test_old_tombstones_are_dropped(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A compaction drops tombstones up to and including its seq, and no others."""
        monkeypatch.setattr(upkeep, "CHANGES_FOLLOWED_MAX", 3)
        for number in range(8):
            await store.apply(ADA, [fact("home"), DeleteMemory(type="Fact", key="home")])
            await tell(store, f"m{number}")
            await store.remove(ADA, TALK, [f"m{number}"])
        row = await scope_row(store)

        everything = await read(store, lambda rows: rows.removed(row.id, 0))
        above = await read(store, lambda rows: rows.removed(row.id, row.compacted))

        assert row.compacted > 0
        assert sorted(above) == sorted(everything)
        assert 0 < len(above)

    @pytest.mark.parametrize("kind", ["message", "memory"])
    async def test_a_removed_entry_leaves_no_vector(self, store: Store, kind: str) -> None:
        """Its vector, of which words can be guessed, goes with it, and with no other entry."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo")
        await embed(store, await batch_of(store))
        row, (message, *_) = await scope_row(store), await message_rows(store)
        memory = await memory_row(store)
        removed = memory if kind == "memory" else message
        gone = Removal(scope_id=row.id, uid=removed.uid, seq=row.seq + 1)

        await write(store, Effect(scopes=[changed(row, seq=row.seq + 1)], removed=[gone]))
        # No vector is found without its entry: written again, the entry shows what was left.
        is_memory = removed is memory
        again = Effect(memories=[memory]) if is_memory else Effect(messages=[message])
        await write(store, again)

        feed = await read(store, lambda rows: rows.changed(row.id, 0, EMBEDDER))
        without = [each.uid for each in feed if each.vector is None]
        assert (3, [removed.uid]) == (len(feed), without)

    async def test_a_removal_stays_in_its_scope(self, store: Store) -> None:
        """Rows of another scope that have the same numbers, names and keys stay as they are."""
        for scope in (ADA, BOB):
            await store.append(scope, TALK, [said("m1"), said("m2")])
            await store.apply(scope, [resting("home", "m1"), resting("home", "m2", city="Rome")])
            await store.apply(scope, [PutSideRecord(kind="Setting", key="k", value={})])
        other = existing(await read(store, lambda rows: rows.scope(BOB)))
        cited = {other.id: [(TALK, "m1"), (TALK, "m2")]}
        kept = await store.archive(BOB), await read(store, lambda rows: rows.citations(cited))

        await store.remove(ADA, TALK, ["m1"])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])
        await store.apply(ADA, [DeleteSideRecord(kind="Setting", key="k")])

        left = await store.archive(BOB), await read(store, lambda rows: rows.citations(cited))
        assert kept == left
        assert 2 == len(kept[1])

    async def test_a_removed_memory_leaves_nothing_behind(self, store: Store) -> None:
        """Neither its past versions nor its citations are found."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1"), resting("home", "m2", city="Rome")])
        row, memory = await scope_row(store), await memory_row(store)
        cited = [(TALK, "m1"), (TALK, "m2")]
        before = await read(store, lambda rows: rows.citations({row.id: cited}))

        await store.apply(ADA, [DeleteMemory(type="Fact", key="home")])

        assert 2 == len(before)
        assert () == tuple(await read(store, lambda rows: rows.citations({row.id: cited})))
        assert () == tuple(await read(store, lambda rows: rows.revisions(row.id, memory.uid)))

    async def test_dropped_evidence_is_unlinked(self, store: Store) -> None:
        """Its message is no longer found by who cites it; those of others are."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [resting("home", "m1", "m2")])
        row, memory = await scope_row(store), await memory_row(store)

        await write(store, Effect(dropped_evidence=[(row.id, TALK, "m1")]))

        cited = {row.id: [(TALK, "m1"), (TALK, "m2")]}
        found = await read(store, lambda rows: rows.citations(cited))
        assert [(row.id, memory.uid, TALK, "m2")] == list(found)

    async def test_a_dropped_version_cites_nothing(self, store: Store) -> None:
        """The citations of a version go with it, if it is dropped with a part of its evidence."""
        await tell(store, "m1", "m2", "m3")
        before = resting("home", "m1", "m2")
        await store.apply(ADA, [before, resting("home", "m3", city="Rome")])
        row, memory = await scope_row(store), await memory_row(store)
        links = [(row.id, TALK, "m1")]

        version = (row.id, memory.uid, 1)
        await write(store, Effect(dropped_evidence=links, dropped_revisions=[version]))

        cited = {row.id: [(TALK, each) for each in ("m1", "m2", "m3")]}
        found = await read(store, lambda rows: rows.citations(cited))
        assert [(row.id, memory.uid, TALK, "m3")] == list(found)
        assert () == tuple(await read(store, lambda rows: rows.revisions(row.id, memory.uid)))

    async def test_evidence_in_a_thread_is_of_that_thread(self, store: Store) -> None:
        """Messages of another thread are not among those that are cited in this one."""
        await tell(store, "m1")
        await tell(store, "o1", thread="other")
        await store.apply(ADA, [resting("home", "m1"), resting("work", "o1", thread="other")])
        row = await scope_row(store)

        found = await read(store, lambda rows: rows.evidence_in(row.id, TALK))

        assert ["m1"] == list(found)
