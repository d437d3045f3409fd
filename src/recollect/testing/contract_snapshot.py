"""Contract tests for snapshots: feeds and entries of several scopes in one transaction."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from recollect.errors import StoreCorruptError, UsageError
from recollect.records import DeleteMemory, Memory, Message, Scope
from recollect.stores.change_feed import (
    NO_SUMMARIES,
    PRIMARY,
    Cursor,
    Feed,
    MemorySummaries,
    ReadMoment,
)
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below, Entry
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.validation import to_datetime
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    fact,
    feed_from_start,
    keep_facts,
    name_of,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock

NOBODY: Scope = ("acme", "users", "nobody")


class QueryError(Exception):
    """A query failed."""


def all_below(snapshot: StoreSnapshot, below: Below) -> tuple[list[Feed], list[Entry]]:
    """Return the feeds and all entries of the scopes below some."""
    feeds = snapshot.feeds([Cursor(scope=each) for each in snapshot.scopes(below)])
    places = [(feed.scope, entry.uid) for feed in feeds for entry in feed.entries]
    return feeds, snapshot.entries(places)


class SnapshotContract(Contract):
    """Consistent reads of a store at one point in time."""

    async def test_a_query_returns_what_it_read(self, store: Store) -> None:
        """Run *query* on the store as it is at one moment, in one read transaction."""
        await tell(store, "m1", "m2")

        def read(snapshot: StoreSnapshot) -> list[Entry]:
            (feed,) = snapshot.feeds([Cursor(scope=ADA)])
            return snapshot.entries([(ADA, feed.entries[-1].uid)])

        (entry,) = await store.read(read)

        last = (await feed_from_start(store)).entries[-1]
        listed = (await store.messages(ADA, TALK)).rows
        assert (last.uid, ADA) == (entry.uid, entry.scope)
        assert entry.content in listed

    async def test_a_stale_read_without_replicas_is_the_stores_own(self, store: Store) -> None:
        """Otherwise, and where there are no replicas, the primary answers; so do views."""
        await tell(store, "m1", "m2")
        cursors = [Cursor(scope=ADA)]

        for view in (store, store.acting("sam")):
            found, origin = await view.read_stale(
                lambda snapshot: snapshot.feeds(cursors), cursors, stale_s_max=0
            )
            assert await store.read(lambda snapshot: snapshot.feeds(cursors)) == found
            assert origin == PRIMARY
        with pytest.raises(UsageError, match="stale_s_max is -1"):
            await store.read_stale(lambda _: None, cursors, stale_s_max=-1)

    async def test_summaries_are_those_of_the_feed(self, store: Store, clock: FrozenClock) -> None:
        """Return all memories of *scope* for a listing, and the cursor up to which they are."""
        await tell(store, "m1")
        until = clock.now() + timedelta(hours=2)
        home = replace(fact("home"), valid_from=clock.now(), valid_until=until, expires_at=until)
        await store.apply(ADA, [home, replace(fact("doubtful"), state="quarantined")])
        await store.apply(ADA, [fact("gone")])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="gone")])

        cursor, found = await store.read(lambda snapshot: snapshot.summaries(ADA))

        feed = await feed_from_start(store)
        listed = [each for each in feed.entries if each.kind == "memory"]
        fed = [tuple(getattr(each, name) for name in MemorySummaries._fields) for each in listed]
        assert 2 == len(fed)
        assert sorted(fed) == sorted(zip(*found, strict=True))
        assert Cursor(scope=ADA, seq=feed.seq, epoch=feed.epoch) == cursor
        nothing = await store.read(lambda snapshot: snapshot.summaries(NOBODY))
        assert (Cursor(scope=NOBODY, seq=0, epoch=0), NO_SUMMARIES) == nothing

    async def test_a_query_sees_every_write(self, store: Store) -> None:
        """It sees every write acknowledged before."""
        await keep_facts(store, "Oslo")

        memory = await keep_facts(store, "Rome")
        feeds, (entry,) = await store.read(lambda snapshot: all_below(snapshot, Below((ADA,))))

        assert memory == entry.content
        assert await feed_from_start(store) == feeds[0]

    async def test_a_query_is_given_the_feeds(self, store: Store) -> None:
        """Return what changed since each of *cursors*, in order; see `Feed`."""
        await tell(store, "m1")
        await store.append(BOB, TALK, [said("m1")])
        start = await feed_from_start(store)
        await tell(store, "m2")
        cursors = [
            Cursor(scope=BOB),
            Cursor(scope=ADA, seq=start.seq, epoch=start.epoch),
            Cursor(scope=NOBODY),
            Cursor(scope=ADA),
        ]

        seen = await store.read(lambda snapshot: snapshot.feeds(cursors))

        assert [await store.changes(cursor) for cursor in cursors] == seen

    async def test_the_last_run_counts(self, store: Store) -> None:
        """It may be run more than once; what the last run returns counts."""
        await tell(store, "m1")
        start = await feed_from_start(store)
        cursor = Cursor(scope=ADA, seq=start.seq, epoch=start.epoch)

        def latest(snapshot: StoreSnapshot) -> tuple[Feed, list[Entry]]:
            (feed,) = snapshot.feeds([cursor])
            entries = feed.entries or start.entries
            return feed, snapshot.entries([(ADA, entry.uid) for entry in entries])

        before, unchanged = await store.read(latest)
        await tell(store, "m2")
        after, changed = await store.read(latest)

        assert ["m1"] == [name_of(each.content) for each in unchanged]
        assert ["m2"] == [name_of(each.content) for each in changed]
        assert ((), await store.changes(cursor)) == (before.entries, after)

    async def test_a_query_of_feeds_alone_is_of_the_latest(self, store: Store) -> None:
        """It sees every write acknowledged before, also where it asks for no entry."""
        await tell(store, "m1")
        start = await feed_from_start(store)
        cursor = Cursor(scope=ADA, seq=start.seq, epoch=start.epoch)
        assert [()] == [
            each.entries for each in await store.read(lambda snapshot: snapshot.feeds([cursor]))
        ]

        await tell(store, "m2")
        (feed,) = await store.read(lambda snapshot: snapshot.feeds([cursor]))

        assert await store.changes(cursor) == feed
        assert 1 == len(feed.entries)

    async def test_feeds_are_read_after_entries(self, store: Store) -> None:
        """Everything that a store held at one moment, in whichever order it is asked for."""
        await tell(store, "m1")
        start = await feed_from_start(store)
        cursor = Cursor(scope=ADA, seq=start.seq, epoch=start.epoch)
        place = (ADA, start.entries[0].uid)

        def read(snapshot: StoreSnapshot) -> tuple[list[Feed], list[Entry], list[Feed]]:
            first = snapshot.feeds([cursor])
            found = snapshot.entries([place])
            return first, found, snapshot.feeds([Cursor(scope=ADA)])

        first, (entry,), again = await store.read(read)

        assert [()] == [each.entries for each in first]
        assert "m1" == name_of(entry.content)
        assert [start] == again

    async def test_a_query_that_fails_harms_nothing(self, store: Store) -> None:
        """It runs on the store's thread, and must not block."""
        await tell(store, "m1")

        def fail(snapshot: StoreSnapshot) -> None:
            snapshot.feeds([Cursor(scope=ADA)])
            raise QueryError

        with pytest.raises(QueryError):
            await store.read(fail)

        await tell(store, "m2")
        assert 2 == len((await feed_from_start(store)).entries)

    async def test_feeds_can_be_restricted(self, store: Store) -> None:
        """Vectors are those by *embedder*; *filter_* restricts ``Feed.eligible``."""
        await store.append(
            ADA, TALK, [replace(said("m1"), metadata={"city": "Oslo"}), said("m2", "Oslo")]
        )
        await store.apply(ADA, [fact("home"), fact("work", "Rome")])
        await store.apply(ADA, [DeleteMemory(type="Fact", key="work")])

        def eligible(snapshot: StoreSnapshot) -> list[Entry]:
            (feed,) = snapshot.feeds([Cursor(scope=ADA)], filter_={"city": "Oslo"})
            assert 3 == len(feed.entries)
            return snapshot.entries([(ADA, uid) for uid in feed.eligible or ()])

        found = await store.read(eligible)

        assert ["home", "m1"] == sorted(name_of(each.content) for each in found)

    async def test_the_eligible_are_of_the_whole_scope(self, store: Store) -> None:
        """Entries that did not change since the cursor are eligible too."""
        await keep_facts(store, "Oslo")
        feed = await feed_from_start(store)
        cursors = [Cursor(scope=ADA, seq=feed.seq, epoch=feed.epoch), Cursor(scope=NOBODY)]

        found = await store.read(lambda snapshot: snapshot.feeds(cursors, filter_={}))

        assert frozenset({feed.entries[0].uid}) == found[0].eligible
        assert () == found[0].entries
        assert not found[1].eligible

    async def test_a_moment_lasts_until_a_write(self, store: Store) -> None:
        """Whoever reads twice at the same moment reads the same; a write begins another one."""
        found: list[ReadMoment | None] = []
        numbers: list[int] = []
        for name in ("m1", "m2", "m3"):
            await tell(store, name)
            before = set(found) - {None}
            for _ in range(3):
                found.append(await store.read(lambda snapshot: snapshot.moment))  # noqa: PERF401
            numbers.append(len(set(found) - before - {None}))
            assert before.isdisjoint(found[-3:])

        assert all(numbers) or not any(numbers)  # a store names its moments, or does not

    async def test_scopes_below_are_listed(self, store: Store) -> None:
        """Return the scopes that *below* stands for, each once, in the order of their segments."""
        await keep_facts(store, "Oslo")
        await store.apply(("acme",), [replace(fact("home"), type="Note")])
        await store.apply(("other", "ada"), [fact("home")])

        for below, scopes in (
            (Below((("acme",),)), [("acme",), ADA]),
            (Below((("acme",), ADA), "Fact"), [ADA]),
            (Below((("acme",), ("other",)), "Fact"), [ADA, ("other", "ada")]),
            (Below((NOBODY,)), []),
        ):
            read = partial(all_below, below=below)
            feeds, found = await store.read(read)
            assert scopes == [feed.scope for feed in feeds] == [each.scope for each in found]
            assert feeds == [await feed_from_start(store, scope) for scope in scopes]

    async def test_what_has_expired_is_not_below(self, store: Store, clock: FrozenClock) -> None:
        """A scope whose memories of the type are ended by time holds none of it."""
        expires_at = to_datetime(store.now()) + timedelta(hours=1)
        await store.apply(ADA, [replace(fact("home"), expires_at=expires_at)])
        await store.apply(BOB, [replace(fact("home"), state="rejected")])
        clock.advance(7_200)

        of_type = await store.read(lambda snapshot: snapshot.scopes(Below((ADA[:1],), "Fact")))
        of_any = await store.read(lambda snapshot: snapshot.scopes(Below((ADA[:1],))))

        assert [] == of_type
        assert {ADA, BOB} == set(of_any)

    @pytest.mark.parametrize("type_", [None, "Fact"])
    async def test_cursors_are_where_feeds_end(self, store: Store, type_: str | None) -> None:
        """Return the current feed cursor of each scope that *below* includes."""
        await tell(store, "m1")
        await keep_facts(store, "Oslo")
        await store.apply(BOB, [fact("home")])
        below = Below((ADA[:1],), type_)

        feeds, _ = await store.read(partial(all_below, below=below))
        found = await store.read(lambda snapshot: snapshot.cursors(below))

        assert 2 == len(found)
        assert found == [Cursor(scope=e.scope, seq=e.seq, epoch=e.epoch) for e in feeds]

    async def test_scopes_are_in_the_order_of_their_segments(self, store: Store) -> None:
        """Return the scopes that *below* stands for, each once, in the order of their segments."""
        names = ("b", "a", "\uffff", "a b", "A", "\U0001f600")
        for name in names:
            await store.apply(("acme", name), [fact("home")])
        await keep_facts(store, "Oslo")

        found = await store.read(lambda snapshot: snapshot.scopes(Below((("acme",),), "Fact")))

        assert sorted([*(("acme", name) for name in names), ADA]) == found

    async def test_a_type_says_which_scopes(self, store: Store) -> None:
        """Messages of a scope that holds a memory of the type may be read as well."""
        await tell(store, "m1")
        await keep_facts(store, "Oslo")

        _, found = await store.read(partial(all_below, below=Below((ADA,), "Fact")))

        assert [Message, Memory] == [type(each.content) for each in found]

    async def test_what_exists_is_returned(self, store: Store) -> None:
        """Return the entries at *places* that exist, in the order given."""
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

        found = await store.read(lambda snapshot: snapshot.entries(wanted))

        assert ["b1", "m1", "b1"] == [name_of(each.content) for each in found]
        assert [BOB, ADA, BOB] == [each.scope for each in found]

    async def test_what_an_index_lists_is_there(self, store: Store) -> None:
        """StoreCorruptError: They *are_indexed*, and one is missing."""
        await tell(store, "m1")

        with pytest.raises(StoreCorruptError, match="recollect doctor"):
            await store.read(lambda snapshot: snapshot.entries([(ADA, 7)], are_indexed=True))

    @pytest.mark.parametrize("are_memories", [False, True])
    @pytest.mark.parametrize("first", [0, 1, 2, 3])
    async def test_messages_and_memories_are_returned(
        self, store: Store, first: int, *, are_memories: bool
    ) -> None:
        """Those that exist, in the order given: of several scopes and both kinds, whichever is first."""  # noqa: E501
        wanted: list[tuple[str, tuple[Scope, int]]] = []
        for scope in (ADA, BOB):
            await store.append(scope, TALK, [said("m1")])
            await store.apply(scope, [fact("home", "Oslo")])
            entries = (await feed_from_start(store, scope)).entries
            wanted += [(each.kind, (scope, each.uid)) for each in entries]
        wanted = wanted[first:] + wanted[:first]
        places = [place for _, place in wanted]

        found = await store.read(
            lambda snapshot: snapshot.entries(places, are_memories=are_memories)
        )

        names = {"message": "m1", "memory": "home"}
        assert [names[kind] for kind, _ in wanted] == [name_of(each.content) for each in found]
        assert places == [(each.scope, each.uid) for each in found]
