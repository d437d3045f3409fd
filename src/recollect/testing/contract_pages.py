"""Contract tests for listings: filtered, in order, in pages, and the newest of a type."""

from __future__ import annotations

import json
from dataclasses import replace
from types import EllipsisType

import pytest

from recollect.records import Memory, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseScope, EraseThread
from recollect.stores.validation import WRITES_MAX
from recollect.testing.contract_base import ADA, TALK, Contract, fact, said, seconds, tell
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.truth_tables import FILTERS

LISTED: tuple[Scope, ...] = (
    ("a",), ("a", " "), ("a", "!"), ("a", "b"), ("a", "b", "c"), ("a", "é"), ("a", "\ue000"),
    ("a", "🙂"), ("a ",), ("a!",), ("a/b",), ("aa",), ("b", "b", "c"), ("é",),
)  # fmt: skip
"""Scopes in the order in which they are listed: segment by segment, by code point."""
TEAM: Scope = ("acme", "team")


class ListingContract(Contract):
    """Listing memories and scopes."""

    async def test_memories_are_listed(self, store: Store, clock: FrozenClock) -> None:
        """Return memories of a scope by (type, key), in every state, ended ones included."""
        await store.apply(
            ADA,
            [
                replace(fact("b"), state="rejected"),
                PutMemory(type="A", key="z", value={}, state="quarantined"),
                replace(fact("a"), valid_until=clock.now()),
                fact("B"),
                fact("é"),
            ],
        )

        page = await store.memories(ADA)

        found = [(memory.type, memory.key) for memory in page.rows]
        assert [("A", "z"), ("Fact", "B"), ("Fact", "a"), ("Fact", "b"), ("Fact", "é")] == found
        assert ["quarantined", "active", "active", "rejected", "active"] == [
            memory.state for memory in page.rows
        ]
        assert () == (await store.memories(("nobody",))).rows

    async def test_memories_of_a_type_are_listed(self, store: Store) -> None:
        """type_: Only of this type."""
        await store.apply(ADA, [fact("a"), PutMemory(type="Note", key="a", value={})])

        page = await store.memories(ADA, type_="Note")

        assert [("Note", "a")] == [(memory.type, memory.key) for memory in page.rows]
        assert () == (await store.memories(ADA, type_="note")).rows

    async def test_memories_in_a_state_are_listed(self, store: Store) -> None:
        """state: Only in this state."""
        waiting = [replace(fact(each), state="quarantined") for each in ("b", "d", "f")]
        refused = replace(fact("e"), state="rejected")
        await store.apply(ADA, [*waiting, fact("a"), fact("c"), refused])

        first = await store.memories(ADA, state="quarantined", limit=2)
        rest = await store.memories(ADA, state="quarantined", cursor=first.cursor)

        assert ["b", "d"] == [memory.key for memory in first.rows]
        assert ["f"] == [memory.key for memory in rest.rows]
        assert ["a", "c"] == [each.key for each in (await store.memories(ADA, state="active")).rows]
        assert () == (await store.memories(ADA, type_="Note", state="active")).rows

    async def test_filters_follow_the_truth_table(self, store: Store) -> None:
        """filter_: Only memories whose value matches; see `recollect.stores.filters`."""
        documents = {json.dumps(document): document for _, document, _ in FILTERS}
        keys = {text: f"d{number}" for number, text in enumerate(documents)}
        await store.apply(
            ADA, [PutMemory(type="Item", key=keys[text], value=documents[text]) for text in keys]
        )

        wrong = []
        for filter_, document, holds in FILTERS:
            page = await store.memories(ADA, filter_=filter_, limit=1_000)
            found = keys[json.dumps(document)] in [memory.key for memory in page.rows]
            if found != holds:
                wrong.append((filter_, document, holds))

        assert [] == wrong

    async def test_memories_come_in_pages(self, store: Store, clock: FrozenClock) -> None:
        """The cursor of a page continues after it, regardless of filtered rows."""
        await store.apply(ADA, [fact(key, "Oslo" if key in "ace" else "Rome") for key in "abcdef"])
        await store.apply(ADA, [replace(fact("bb"), expires_at=clock.now())])

        first = await store.memories(ADA, limit=2)
        second = await store.memories(ADA, limit=2, cursor=first.cursor)
        third = await store.memories(ADA, limit=2, cursor=second.cursor)
        filtered = await store.memories(ADA, limit=2, filter_={"city": "Oslo"})
        rest = await store.memories(ADA, limit=2, filter_={"city": "Oslo"}, cursor=filtered.cursor)

        pages = [first, second, third, filtered, rest]
        keys = [[memory.key for memory in page.rows] for page in pages]
        assert [["a", "b"], ["c", "d"], ["e", "f"], ["a", "c"], ["e"]] == keys
        assert [True, True, False, True, False] == [page.cursor is not None for page in pages]

    async def test_scopes_are_listed(self, store: Store) -> None:
        """Return non-empty scopes, ordered by their segments."""
        for scope in reversed(LISTED):
            await store.append(scope, TALK, [said("m1")])

        assert LISTED == (await store.scopes()).rows

    async def test_an_erased_scope_is_not_listed(self, store: Store) -> None:
        """A scope that was erased is not listed."""
        await tell(store, "m1")

        await store.erase(ADA, EraseScope())

        assert () == (await store.scopes()).rows
        assert await store.scope_id(ADA) is None

    async def test_an_emptied_scope_is_not_listed(self, store: Store) -> None:
        """A scope whose last thread was erased holds nothing, and is not listed."""
        await tell(store, "m1")

        await store.erase(ADA, EraseThread(thread=TALK))

        assert () == (await store.scopes()).rows
        assert await store.scope_id(ADA) is None

    @pytest.mark.parametrize(
        ("prefix", "found"),
        [
            (("a",), LISTED[:8]),
            (("a", "b"), LISTED[3:5]),
            (("a", ..., "c"), LISTED[4:5]),
            ((..., "b", "c"), (LISTED[4], LISTED[12])),
            ((..., ..., ...), (LISTED[4], LISTED[12])),
            (("A",), ()),
            (("",), ()),
            (("%",), ()),
            (("a", "b", "c", "d"), ()),
        ],
    )
    async def test_scopes_by_their_beginning(
        self, store: Store, prefix: tuple[str | EllipsisType, ...], found: tuple[Scope, ...]
    ) -> None:
        """prefix: Leading segments; ``...`` matches any one segment."""
        for scope in LISTED:
            await store.append(scope, TALK, [said("m1")])

        assert found == (await store.scopes(prefix=prefix)).rows

    async def test_scopes_of_a_type(self, store: Store, clock: FrozenClock) -> None:
        """type_: Only scopes that hold an active memory of this type that has not expired."""
        await tell(store, "m1")
        note = PutMemory(type="Note", key="a", value={})
        await store.apply(("b",), [fact("a"), note])
        await store.apply(("c",), [replace(note, expires_at=clock.now() + seconds(5))])
        await store.apply(("d",), [replace(note, state="quarantined")])
        await store.apply(("e", "f"), [note])

        before = await store.scopes(type_="Note")
        clock.advance(5)
        after = await store.scopes(type_="Note")

        assert (("b",), ("c",), ("e", "f")) == before.rows
        assert (("b",), ("e", "f")) == after.rows
        assert (("e",),) == (await store.scopes(type_="Note", prefix=("e",), depth_max=1)).rows

    @pytest.mark.parametrize("depth_max", [None, 1])
    async def test_scopes_come_in_pages(self, store: Store, depth_max: int | None) -> None:
        """The pages of a listing, put together, are the listing."""
        for scope in LISTED:
            await store.append(scope, TALK, [said("m1")])
        whole = (await store.scopes(depth_max=depth_max)).rows

        found: list[Scope] = []
        page = await store.scopes(depth_max=depth_max, limit=3)
        while page.cursor:
            found += page.rows
            assert 3 == len(page.rows)
            page = await store.scopes(depth_max=depth_max, limit=3, cursor=page.cursor)

        assert list(whole) == [*found, *page.rows]


def note(key: str, number: int = 0) -> PutMemory:
    """Return a write of the note *key*."""
    return PutMemory(type="Note", key=key, value={"n": number})


def addresses(found: list[Memory]) -> list[tuple[Scope, str]]:
    """Return scope and key of each memory, in order."""
    return [(memory.scope, memory.key) for memory in found]


class NewestContract(Contract):
    """Listing the newest memories."""

    async def test_the_newest_are_listed(self, store: Store, clock: FrozenClock) -> None:
        """
        List by type and prefix.

        Return the active memories of a type in *prefix* and all scopes below, newest first.
        """
        await store.apply(TEAM, [note("old"), fact("home"), note("ends")])
        await store.apply(("acme", "teams"), [note("elsewhere")])
        await store.apply((*TEAM, "%"), [replace(note("doubtful"), state="quarantined")])
        clock.advance(1)
        await store.apply(
            (*TEAM, "a", "b"), [note("deep"), replace(note("x"), expires_at=clock.now())]
        )
        clock.advance(1)
        await store.apply(TEAM, [note("ends", 2)])

        found = await store.newest(TEAM, "Note")

        assert [(TEAM, "ends"), ((*TEAM, "a", "b"), "deep"), (TEAM, "old")] == addresses(found)
        assert {"n": 2} == found[0].value
        assert [] == await store.newest(("acme", "tea"), "Note")

    async def test_ties_of_the_newest_are_broken(self, store: Store) -> None:
        """Ordered by last update; ties by scope and key."""
        await store.apply((*TEAM, "b"), [note("a")])
        await store.apply((*TEAM, "a"), [note("z"), note("b")])
        await store.apply(TEAM, [note("y")])

        found = await store.newest(TEAM, "Note")

        below_a = (*TEAM, "a")
        expected = [(TEAM, "y"), (below_a, "b"), (below_a, "z"), ((*TEAM, "b"), "a")]
        assert expected == addresses(found)

    async def test_the_newest_of_a_filter(self, store: Store) -> None:
        """filter_: Only memories whose value matches; see `recollect.stores.filters`."""
        await store.apply(TEAM, [note(f"n{number}", number) for number in range(5)])

        found = await store.newest(TEAM, "Note", filter_={"n": {"$gte": 2}}, limit=2, offset=1)

        assert ["n3", "n4"] == [memory.key for memory in found]

    async def test_a_filter_looks_behind_the_newest(self, store: Store, clock: FrozenClock) -> None:
        """Matching memories are found behind any number of others, in every scope, in order."""
        below = (*TEAM, "below")
        for scope, number in ((TEAM, 7), (below, 8), (TEAM, 9)):
            await store.apply(scope, [note(f"n{number}", number)])
            clock.advance(1)
        ends = replace(note("ends", 8), expires_at=clock.now() + seconds(1))
        await store.apply(TEAM, [ends, replace(note("doubtful", 8), state="quarantined")])
        clock.advance(1)
        for scope in (TEAM, below):
            await store.apply(scope, [note(f"other {number}") for number in range(40)])

        found = await store.newest(TEAM, "Note", filter_={"n": {"$gt": 7}}, limit=5)

        assert [(TEAM, "n9"), (below, "n8")] == addresses(found)

    async def test_as_many_of_the_newest_as_wanted(self, store: Store) -> None:
        """limit: Most memories to return; there is no upper bound."""
        await store.apply(TEAM, [note(f"n{number:04}") for number in range(WRITES_MAX)])
        await store.apply(TEAM, [note("one more")])

        assert WRITES_MAX + 1 == len(await store.newest(TEAM, "Note", limit=1 << 40))
        assert [] == await store.newest(TEAM, "Note", limit=0)
        assert 100 == len(await store.newest(TEAM, "Note"))

    async def test_the_newest_of_one_scope(self, store: Store, clock: FrozenClock) -> None:
        """below: Whether to include the scopes below."""
        await store.apply(TEAM, [note("own")])
        clock.advance(1)
        await store.apply((*TEAM, "a"), [note("deep")])

        found = await store.newest(TEAM, "Note", limit=1, below=False)

        assert [(TEAM, "own")] == addresses(found)
        assert [] == await store.newest(("acme", "tea"), "Note", below=False)

    async def test_the_newest_come_in_pages(self, store: Store, clock: FrozenClock) -> None:
        """offset: How many of the first to skip."""
        for number in range(7):
            await store.apply((*TEAM, str(number % 3)), [note(f"n{number}")])
            clock.advance(number % 2)
        whole = await store.newest(TEAM, "Note")

        pages = [await store.newest(TEAM, "Note", limit=3, offset=at) for at in (0, 3, 6, 9)]

        assert whole == [memory for page in pages for memory in page]
        assert [3, 3, 1, 0] == [len(page) for page in pages]

    async def test_the_newest_are_one_updated_last(self, store: Store, clock: FrozenClock) -> None:
        """A memory created first and updated last comes first."""
        await store.apply(TEAM, [note("first")])
        clock.advance(1)
        await store.apply(TEAM, [note("second")])
        clock.advance(1)
        await store.apply(TEAM, [note("first", 2)])

        first, second = await store.newest(TEAM, "Note")

        assert ("first", "second") == (first.key, second.key)
        assert seconds(2) == first.updated_at - first.created_at
