"""The contract, consulting: choosing entries from the feeds of some scopes in one reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.errors import StoreCorruptError
from recollect.records import DeleteMemory, Memory, Message, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below
from recollect.stores.rows import Cursor, Feed, ReadMoment
from recollect.stores.validation import to_datetime
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import (
    ADA,
    BOB,
    TALK,
    fact,
    feed_from_start,
    keep_facts,
    name_of,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

NOBODY: Scope = ("acme", "users", "nobody")


def from_start(scopes: Sequence[Scope]) -> list[Cursor]:
    """Return the cursors of a reader who has read nothing of *scopes*."""
    return [Cursor(scope=scope) for scope in scopes]


class ChoiceError(Exception):
    """A choice went wrong."""


class ConsultContract(Contract):
    """Consulting: picking entries."""

    async def test_a_choice_is_returned(self, store: Store) -> None:
        """Read the changes of some scopes, let *choose* pick entries, and return those."""
        await tell(store, "m1", "m2")

        def choose(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            return [(ADA, feeds[0].entries[-1].uid)]

        (entry,) = await store.consult([Cursor(scope=ADA)], choose)

        last = (await feed_from_start(store)).entries[-1]
        listed = (await store.messages(ADA, TALK)).rows
        assert (last.uid, ADA) == (entry.uid, entry.scope)
        assert entry.content in listed

    async def test_a_choice_sees_every_write(self, store: Store) -> None:
        """In one read transaction *choose* sees every earlier write, and entries are read."""
        await keep_facts(store, "Oslo")
        cursor = Cursor(scope=ADA)
        seen: list[Feed] = []

        def everything(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            seen.extend(feeds)
            return [(ADA, entry.uid) for feed in feeds for entry in feed.entries]

        memory = await keep_facts(store, "Rome")
        (entry,) = await store.consult([cursor], everything)

        assert memory == entry.content
        assert await feed_from_start(store) == seen[0]

    async def test_a_choice_is_given_the_feeds(self, store: Store, clock: FrozenClock) -> None:
        """choose: Gets one feed per cursor, in order; returns (scope, uid) of wanted entries."""
        await tell(store, "m1")
        await store.append(BOB, TALK, [said("m1")])
        start = await feed_from_start(store)
        await tell(store, "m2")
        seen: list[Feed] = []

        def look(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            seen.extend(feeds)
            return []

        cursors = [
            Cursor(scope=BOB),
            Cursor(scope=ADA, seq=start.seq, epoch=start.epoch),
            Cursor(scope=NOBODY),
            Cursor(scope=ADA),
        ]
        assert [] == await store.consult(cursors, look)

        assert [await store.changes(cursor) for cursor in cursors] == seen

    async def test_the_last_choice_counts(self, store: Store) -> None:
        """It may be called more than once; the last call counts."""
        await tell(store, "m1")
        start = await feed_from_start(store)
        seen: list[Feed] = []

        def latest(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            seen.append(feeds[0])
            entries = feeds[0].entries or start.entries
            return [(ADA, entry.uid) for entry in entries]

        cursor = Cursor(scope=ADA, seq=start.seq, epoch=start.epoch)
        unchanged = await store.consult([cursor], latest)
        before = seen[-1]
        await tell(store, "m2")
        changed = await store.consult([cursor], latest)

        assert ["m1"] == [name_of(each.content) for each in unchanged]
        assert ["m2"] == [name_of(each.content) for each in changed]
        assert ((), await store.changes(cursor)) == (before.entries, seen[-1])

    async def test_a_choice_that_fails_harms_nothing(self, store: Store) -> None:
        """It runs on the store's thread and must not block."""
        await tell(store, "m1")

        def fail(_: Sequence[Feed]) -> list[tuple[Scope, int]]:
            msg = "no choice"
            raise ChoiceError(msg)

        with pytest.raises(ChoiceError):
            await store.consult([Cursor(scope=ADA)], fail)

        await tell(store, "m2")
        assert 2 == len((await feed_from_start(store)).entries)

    async def test_a_choice_can_be_restricted(self, store: Store) -> None:
        """filter_: Restricts ``Feed.eligible``."""
        await store.append(
            ADA, TALK, [replace(said("m1"), metadata={"city": "Oslo"}), said("m2", "Oslo")]
        )
        await store.apply(ADA, [fact("home"), fact("work", "Rome")])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="work")])

        def eligible(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            assert 3 == len(feeds[0].entries)
            return [(ADA, uid) for uid in feeds[0].eligible or ()]

        found = await store.consult([Cursor(scope=ADA)], eligible, filter_={"city": "Oslo"})

        assert ["home", "m1"] == sorted(name_of(each.content) for each in found)

    async def test_the_eligible_are_of_the_whole_scope(self, store: Store) -> None:
        """Entries that did not change since the cursor are eligible too."""
        await keep_facts(store, "Oslo")
        feed = await feed_from_start(store)
        found: list[Feed] = []

        def look(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            found.extend(feeds)
            return []

        cursor = Cursor(scope=ADA, seq=feed.seq, epoch=feed.epoch)
        await store.consult([cursor, Cursor(scope=NOBODY)], look, filter_={})

        assert frozenset({feed.entries[0].uid}) == found[0].eligible
        assert () == found[0].entries
        assert not found[1].eligible

    async def test_of_a_known_moment_no_feed_is_read(self, store: Store) -> None:
        """is_latest: True for a moment when nothing has changed: *choose* then gets no feeds."""
        await tell(store, "m1")
        start = await feed_from_start(store)
        wanted = [(ADA, start.entries[0].uid)]
        cursor = Cursor(scope=ADA, seq=start.seq, epoch=start.epoch)
        seen: list[int] = []
        moments: list[ReadMoment] = []

        def choose(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            seen.append(len(feeds))
            return wanted

        def is_latest(moment: ReadMoment) -> bool:
            moments.append(moment)
            return len(moments) > 1

        for _ in range(2):
            (entry,) = await store.consult([cursor], choose, is_latest=is_latest)
            assert "m1" == name_of(entry.content)

        assert [1, 0] == seen if store.names_moments else seen == [1, 1] and not moments

    async def test_a_write_begins_another_moment(self, store: Store) -> None:
        """Whoever reads twice at the same moment reads the same."""
        found: list[ReadMoment] = []

        def note(moment: ReadMoment) -> bool:
            found.append(moment)
            return False

        numbers: list[int] = []
        for name in ("m1", "m2", "m3"):
            await tell(store, name)
            before = set(found)
            for _ in range(3):
                await store.consult([], lambda _: [], is_latest=note)
            numbers.append(len(set(found) - before))
            assert before.isdisjoint(found[-3:])

        assert all(numbers) is store.names_moments

    async def test_scopes_below_are_consulted(self, store: Store) -> None:
        """Like `consult`, for all scopes that *below* includes at that moment."""
        await keep_facts(store, "Oslo")
        await store.apply(("acme",), [replace(fact("home"), type="Note")])
        await store.apply(("other", "ada"), [fact("home")])
        seen: list[Feed] = []

        def all_of(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            seen.extend(feeds)
            return [(feed.scope, entry.uid) for feed in feeds for entry in feed.entries]

        for below, scopes in (
            (Below((("acme",),)), [("acme",), ADA]),
            (Below((("acme",), ADA), "Fact"), [ADA]),
            (Below((("acme",), ("other",)), "Fact"), [ADA, ("other", "ada")]),
            (Below((NOBODY,)), []),
        ):
            seen.clear()
            found = await store.consult_below(below, from_start, all_of)
            assert scopes == [feed.scope for feed in seen] == [each.scope for each in found]
            assert seen == [await feed_from_start(store, scope) for scope in scopes]

    async def test_what_has_expired_is_not_below(self, store: Store, clock: FrozenClock) -> None:
        """A scope whose memories of the type are ended by time holds none of it."""
        expires_at = to_datetime(store.now()) + timedelta(hours=1)
        await store.apply(ADA, [replace(fact("home"), expires_at=expires_at)])
        await store.apply(BOB, [replace(fact("home"), state="rejected")])
        clock.advance(7_200)
        given: list[Scope] = []

        def note(scopes: Sequence[Scope]) -> list[Cursor]:
            given.extend(scopes)
            return from_start(scopes)

        await store.consult_below(Below((ADA[:1],), "Fact"), note, lambda _: [])
        assert [] == given

        await store.consult_below(Below((ADA[:1],)), note, lambda _: [])
        assert {ADA, BOB} == set(given)

    async def test_cursors_are_asked_for_in_the_transaction(self, store: Store) -> None:
        """*cursors_of* gets these scopes in the same transaction, and returns their cursors."""
        names = ("b", "a", "\uffff", "a b", "A", "\U0001f600")
        for name in names:
            await store.apply(("acme", name), [fact("home")])
        await keep_facts(store, "Oslo")
        start = await feed_from_start(store)
        given: list[Scope] = []
        read: list[int] = []

        def latest(scopes: Sequence[Scope]) -> list[Cursor]:
            given.extend(scopes)
            return [
                Cursor(scope=each, seq=start.seq, epoch=start.epoch)
                if each == ADA
                else Cursor(scope=each)
                for each in scopes
            ]

        def count(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
            read.extend(len(feed.entries) for feed in feeds)
            return []

        await store.consult_below(Below((("acme",),), "Fact"), latest, count)

        assert sorted([*(("acme", name) for name in names), ADA]) == given
        assert [0 if scope == ADA else 1 for scope in given] == read

    async def test_of_a_known_moment_no_scope_is_listed(self, store: Store) -> None:
        """It is not called if *is_latest* returns True."""
        await keep_facts(store, "Oslo")
        uid = (await feed_from_start(store)).entries[0].uid
        asked: list[Scope] = []

        def note(scopes: Sequence[Scope]) -> list[Cursor]:
            asked.extend(scopes)
            return from_start(scopes)

        (entry,) = await store.consult_below(
            Below((ADA,)), note, lambda _: [(ADA, uid)], is_latest=lambda _: True
        )

        assert "home" == name_of(entry.content)
        assert [] == asked if store.names_moments else [ADA] == asked

    async def test_a_type_says_which_scopes(self, store: Store) -> None:
        """Messages of a scope that holds a memory of the type may be chosen as well."""
        await tell(store, "m1")
        await keep_facts(store, "Oslo")

        found = await store.consult_below(
            Below((ADA,), "Fact"),
            from_start,
            lambda feeds: [(ADA, entry.uid) for feed in feeds for entry in feed.entries],
        )

        assert [Message, Memory] == [type(each.content) for each in found]

    async def test_what_exists_is_returned(self, store: Store) -> None:
        """The chosen entries that exist, in the order chosen."""
        await tell(store, "m1", "m2")
        await store.append(BOB, TALK, [said("b1")])
        ada, bob = await feed_from_start(store), await feed_from_start(store, BOB)
        await store.remove(ADA, TALK, ["m2"])
        uids = {entry.position: entry.uid for entry in ada.entries}
        wanted = [
            (BOB, bob.entries[0].uid),
            (ADA, uids[2]),
            (ADA, bob.entries[0].uid),
            (NOBODY, uids[1]),
            (ADA, uids[1]),
            (ADA, 0),
            (BOB, bob.entries[0].uid),
        ]

        found = await store.consult([], lambda _: wanted)

        assert ["b1", "m1", "b1"] == [name_of(each.content) for each in found]
        assert [BOB, ADA, BOB] == [each.scope for each in found]

    async def test_what_an_index_lists_is_there(self, store: Store) -> None:
        """are_indexed: *choose* picks only listed entries: a missing one means damage."""
        await tell(store, "m1")

        with pytest.raises(StoreCorruptError, match="recollect doctor"):
            await store.consult([Cursor(scope=ADA)], lambda _: [(ADA, 7)], are_indexed=True)

    @pytest.mark.parametrize("first", [0, 1, 2, 3])
    async def test_messages_and_memories_are_returned(self, store: Store, first: int) -> None:
        """Those entries that exist, in the order chosen: of several scopes and both kinds, whichever is first."""  # noqa: E501
        wanted: list[tuple[str, tuple[Scope, int]]] = []
        for scope in (ADA, BOB):
            await store.append(scope, TALK, [said("m1")])
            await store.apply(scope, [fact("home", "Oslo")])
            entries = (await feed_from_start(store, scope)).entries
            wanted += [(each.kind, (scope, each.uid)) for each in entries]
        wanted = wanted[first:] + wanted[:first]

        found = await store.consult([], lambda _: [place for _, place in wanted])

        names = {"message": "m1", "memory": "home"}
        assert [names[kind] for kind, _ in wanted] == [name_of(each.content) for each in found]
        assert [place for _, place in wanted] == [(each.scope, each.uid) for each in found]
