"""Contract tests for derived memories: what is erased with their sources, or reactivated."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from recollect.errors import UsageError, VersionConflictError
from recollect.records import DeleteMemory, EndMemory, Evidence, MemoryState, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages
from recollect.stores.remainder import MEMORY_THREAD, merged_into, version_name
from recollect.testing.contract_base import ADA, BOB, TALK, Contract, said, tell
from recollect.testing.frozen_clock import FrozenClock
from tests.harness.plan_contracts.erasure_table import DERIVATIONS, DerivationCase, Fate

NOTES: Final = ("tea", "cake", "milk", "both", "trend")
SETTLED: Final[dict[str, Fate]] = {
    "tea": "ended", "cake": "ended", "milk": "in force", "both": "in force", "trend": "in force"
}  # fmt: skip


def note(key: str, *messages: str, sources: tuple[tuple[str, int], ...] = ()) -> PutMemory:
    """Return a note that cites messages and was derived from versions of other notes."""
    found = [Evidence(thread=TALK, message=each, quote=f"words of {each}") for each in messages]
    found += [
        Evidence(thread=MEMORY_THREAD, message=version_name("Note", name, version))
        for name, version in sources
    ]
    return PutMemory(type="Note", key=key, value={"content": key}, evidence={"": found})


def merged(key: str, into: str, clock: FrozenClock) -> EndMemory:
    """Return the write that ends a note because another one replaces it."""
    return EndMemory(type="Note", key=key, at=clock.now(), cause=merged_into("Note", into))


async def settle(store: Store, clock: FrozenClock) -> None:
    """Store three notes, a merge of two of them, and a note derived from the merge."""
    await tell(store, "m1", "m2", "m3")
    both = note("both", "m1", "m2", sources=(("tea", 1), ("cake", 1)))
    await store.apply(ADA, [note("tea", "m1"), note("cake", "m2"), note("milk", "m3", "m1")])
    clock.advance(60)
    await store.apply(ADA, [both, merged("tea", "both", clock), merged("cake", "both", clock)])
    await store.apply(ADA, [note("trend", "m1", "m2", "m3", sources=(("both", 1), ("milk", 1)))])
    clock.advance(60)


async def fates(store: Store, clock: FrozenClock) -> dict[str, Fate]:
    """Return what happened to each note."""
    found: dict[str, Fate] = {}
    for key in NOTES:
        memory = await store.get(ADA, "Note", key)
        if memory is None:
            found[key] = "gone"
        elif memory.state == "rejected":
            found[key] = "rejected"
        else:
            is_open = memory.valid_until is None or memory.valid_until > clock.now()
            found[key] = "in force" if is_open else "ended"
    return found


class DerivedContract(Contract):
    """Derived memories and their sources."""

    @pytest.mark.parametrize("case", DERIVATIONS, ids=lambda case: case.name)
    async def test_derived_memories_follow_their_sources(
        self, store: Store, clock: FrozenClock, case: DerivationCase
    ) -> None:
        """A derived memory is removed with any source; memories that it replaced are reinstated."""
        await settle(store, clock)

        if isinstance(case.happens, PutMemory | EndMemory | DeleteMemory):
            await store.apply(ADA, [case.happens])
        else:
            await store.erase(ADA, case.happens)

        assert {**SETTLED, **case.fates} == await fates(store, clock)

    async def test_what_comes_back_is_as_it_was(self, store: Store, clock: FrozenClock) -> None:
        """A reinstated source has its former value; its history has the reason."""
        await settle(store, clock)
        before = (await store.history(ADA, "Note", "cake"))[0]

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        after = await store.get(ADA, "Note", "cake")
        versions = await store.history(ADA, "Note", "cake")
        assert after is not None
        assert (3, before.value, before.text) == (after.version, after.value, after.text)
        assert (None, before.evidence) == (after.valid_until, after.evidence)
        assert ["put", "merged into Note/both"] == [each.cause for each in versions[:2]]
        assert "in force again" in versions[2].cause

    @pytest.mark.parametrize("is_rewritten", [False, True])
    async def test_what_was_to_end_ends_when_it_comes_back(
        self, store: Store, clock: FrozenClock, *, is_rewritten: bool
    ) -> None:
        """A reinstated source ends when it would have, also where it lost a part itself."""
        end = clock.now() + timedelta(days=5)
        await tell(store, "m1", "m2", "m3")
        cake = replace(note("cake", "m2"), valid_until=end)
        if is_rewritten:
            value = {"first": "tea", "then": "cake"}
            found = {
                f"/{each}": note("", m).evidence[""]
                for each, m in zip(value, ("m1", "m2"), strict=True)
            }
            cake = replace(cake, value=value, evidence=found)
        await store.apply(ADA, [note("tea", "m1"), cake])
        clock.advance(60)
        both = note("both", "m1", "m2", sources=(("tea", 1), ("cake", 1)))
        await store.apply(ADA, [both, merged("tea", "both", clock), merged("cake", "both", clock)])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        after = await store.get(ADA, "Note", "cake")
        assert after is not None
        assert end == after.valid_until

    async def test_a_source_comes_back_with_its_end_when_another_is_deleted(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """The same holds where a source was deleted, and not erased."""
        end = clock.now() + timedelta(days=5)
        await tell(store, "m1", "m2", "m3")
        await store.apply(ADA, [note("tea", "m1"), replace(note("cake", "m2"), valid_until=end)])
        clock.advance(60)
        both = note("both", "m1", "m2", sources=(("tea", 1), ("cake", 1)))
        await store.apply(ADA, [both, merged("tea", "both", clock), merged("cake", "both", clock)])

        await store.apply(ADA, [DeleteMemory(type="Note", key="tea")])

        after = await store.get(ADA, "Note", "cake")
        assert after is not None
        assert end == after.valid_until

    async def test_what_was_changed_since_stays(self, store: Store, clock: FrozenClock) -> None:
        """A source that was written since it was merged is not reinstated."""
        await settle(store, clock)
        await store.apply(ADA, [EndMemory(type="Note", key="cake", at=clock.now())])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert "ended" == (await fates(store, clock))["cake"]

    @pytest.mark.parametrize("state", ["rejected", "quarantined"])
    async def test_a_running_summary_does_not_go_with_itself(
        self, store: Store, state: MemoryState
    ) -> None:
        """One that cites its earlier versions stays where a person rejects it, as any memory."""
        await tell(store, "m1", "m2")
        first, second = note("trend", "m1"), note("trend", "m2", sources=(("trend", 1),))
        await store.apply(ADA, [first])
        await store.apply(ADA, [second])

        await store.apply(ADA, [replace(second, state=state)])

        found = await store.get(ADA, "Note", "trend")
        assert found is not None
        cited = [each.message for each in found.evidence[""]]
        assert (3, state) == (found.version, found.state)
        assert ["m2", version_name("Note", "trend", 1)] == cited
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        assert await store.get(ADA, "Note", "trend") is None

    async def test_a_source_loses_a_part(self, store: Store, clock: FrozenClock) -> None:
        """A derived memory is removed when an erase removes a part of the cited version."""
        await tell(store, "m1", "m2")
        parts = {
            "/content": [Evidence(thread=TALK, message="m1")],
            "/taste": [Evidence(thread=TALK, message="m2")],
        }
        whole = PutMemory(
            type="Note", key="tea", value={"content": "tea", "taste": "mild"}, evidence=parts
        )
        await store.apply(ADA, [whole, note("cake", "m1")])
        await store.apply(
            ADA,
            [note("both", "m1", sources=(("tea", 1), ("cake", 1))), merged("tea", "both", clock)],
        )

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        left = await store.get(ADA, "Note", "tea")
        assert await store.get(ADA, "Note", "both") is None
        assert left is not None
        assert ({"content": "tea"}, None) == (left.value, left.valid_until)
        assert "mild" not in repr(await store.history(ADA, "Note", "tea"))

    async def test_a_past_version_takes_what_cites_it(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """Memories derived from a past version go with it, but not those citing a later one."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [note("tea", "m1"), note("old", sources=(("tea", 1),))])
        await store.apply(ADA, [note("tea", "m2"), note("new", sources=(("tea", 2),))])

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))

        assert await store.get(ADA, "Note", "old") is None
        assert await store.get(ADA, "Note", "new") is not None

    async def test_a_rewritten_version_is_still_a_source(self, store: Store) -> None:
        """A source that an erase gave another number takes along what cites the old one."""
        await tell(store, "m1", "m2")
        await store.apply(ADA, [note("tea", "m1", "m2"), note("new", sources=(("tea", 1),))])
        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
        kept = await store.get(ADA, "Note", "new")

        await store.erase(ADA, EraseMessages(thread=TALK, messages=["m2"]))

        assert kept is not None
        assert await store.get(ADA, "Note", "new") is None

    async def test_a_source_must_be_there(self, store: Store) -> None:
        """A memory cannot be derived from one that is erased, rejected, or of a later version."""
        await store.apply(ADA, [note("tea")])
        await store.apply(ADA, [PutMemory(type="Note", key="no", value={}, state="rejected")])
        await store.apply(BOB, [note("cake")])

        for source in (("cake", 1), ("tea", 2), ("no", 1)):
            with pytest.raises(VersionConflictError):
                await store.apply(ADA, [note("new", sources=(source,))])
        wrong = {"": [Evidence(thread=MEMORY_THREAD, message="m1")]}
        with pytest.raises(UsageError, match="names no version"):
            await store.apply(ADA, [PutMemory(type="Note", key="n", value={}, evidence=wrong)])

        assert await store.get(ADA, "Note", "new") is None

    async def test_no_talk_has_the_thread_of_memories(self, store: Store) -> None:
        """The thread under which evidence names memories cannot be talked in."""
        with pytest.raises(UsageError, match="memory:"):
            await store.append(ADA, MEMORY_THREAD, [said("m1")])

        assert [] == list((await store.threads(ADA)).rows)

    async def test_derived_memories_are_restored(self, store: Store, clock: FrozenClock) -> None:
        """An archive keeps the sources of a memory, which is removed with them after a restore."""
        await settle(store, clock)
        records = await store.archive(ADA)
        moved = [{**each, "scope": list(BOB)} for each in records]
        await store.restore(BOB, moved)

        await store.erase(BOB, EraseMemory(type="Note", key="tea"))

        left = [each.key for each in (await store.memories(BOB, valid_at=clock.now())).rows]
        assert ["cake", "milk"] == left

    async def test_an_idle_scope_can_be_leased(self, store: Store) -> None:
        """idle: Lease *scope* even if nothing in it is due."""
        await store.apply(ADA, [note("tea")])

        lease = await store.claim("worker", scope=ADA, idle=True)

        assert lease is not None
        assert () == lease.threads
        assert await store.claim("other", scope=ADA, idle=True) is None
        assert await store.claim("other", scope=BOB, idle=True) is None
