"""Contract tests for listing the newest memories of a type, over many scopes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.errors import UsageError
from recollect.records import Memory, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.validation import WRITES_MAX
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import fact, seconds
from recollect.testing.frozen_clock import FrozenClock

TEAM: Scope = ("acme", "team")


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

    @pytest.mark.parametrize(("limit", "offset"), [(-1, 0), (1, -1), (1 << 60, 0)])
    async def test_a_page_of_the_newest_may_be_refused(
        self, store: Store, limit: int, offset: int
    ) -> None:
        """A page has no negative part, and no number that a backend cannot compare."""
        with pytest.raises(UsageError):
            await store.newest(TEAM, "Note", limit=limit, offset=offset)

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
