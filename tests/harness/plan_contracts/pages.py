"""Decisions on listings: filtered, in order, in pages, and the newest of a type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recollect.errors import UsageError
from recollect.records import JsonObject
from recollect.stores.contract.base import Store
from recollect.testing.contract_base import ADA, TALK, Contract, fact, said, tell
from recollect.testing.contract_pages import LISTED, TEAM
from recollect.testing.truth_tables import hour
from tests.harness.truth_tables import ILLEGAL_FILTERS, VALIDITIES


class ListingPlanContract(Contract):
    """Listing memories and scopes."""

    @pytest.mark.parametrize("filter_", ILLEGAL_FILTERS, ids=lambda each: ascii(each)[:30])
    async def test_a_filter_may_be_refused(self, store: Store, filter_: JsonObject) -> None:
        """A filter that cannot be answered is refused, in every reading that takes one."""
        with pytest.raises(UsageError):
            await store.memories(ADA, filter_=filter_)
        with pytest.raises(UsageError):
            await store.read(lambda snapshot: snapshot.feeds([], filter_=filter_))
        with pytest.raises(UsageError):
            await store.past(ADA, hour(0), filter_=filter_)

    @pytest.mark.parametrize(("begins", "ends", "at", "holds"), VALIDITIES)
    async def test_memories_true_then_are_listed(
        self, store: Store, begins: float | None, ends: float | None, at: float, *, holds: bool
    ) -> None:
        """valid_at: Only memories true in the world at this time."""
        put = replace(
            fact("home"),
            valid_from=None if begins is None else hour(begins),
            valid_until=None if ends is None else hour(ends),
        )
        await store.apply(ADA, [put])

        page = await store.memories(ADA, valid_at=hour(at))

        assert holds == bool(page.rows)

    @pytest.mark.parametrize("cursor", ["", "nonsense", "[]", "7", '["a"]'])
    async def test_a_cursor_may_be_refused(self, store: Store, cursor: str) -> None:
        """An invalid cursor for memories is refused."""
        with pytest.raises(UsageError, match="cursor"):
            await store.memories(ADA, cursor=cursor)

    @pytest.mark.parametrize("cursor", ["nonsense", "7", "{"])
    async def test_a_cursor_of_scopes_may_be_refused(self, store: Store, cursor: str) -> None:
        """An invalid cursor for scopes is refused."""
        await tell(store, "m1")

        with pytest.raises(UsageError, match="cursor"):
            await store.scopes(cursor=cursor)

    async def test_scopes_by_their_end(self, store: Store) -> None:
        """suffix: Trailing segments."""
        for scope in LISTED:
            await store.append(scope, TALK, [said("m1")])

        ending = await store.scopes(suffix=("b", "c"))
        both = await store.scopes(prefix=("a",), suffix=(..., "c"))

        assert (LISTED[4], LISTED[12]) == ending.rows
        assert (LISTED[4],) == both.rows

    async def test_scopes_can_be_cut(self, store: Store) -> None:
        """depth_max: Cut scopes to this many segments, at least 1, without duplicates."""
        for scope in LISTED:
            await store.append(scope, TALK, [said("m1")])

        cut = await store.scopes(depth_max=1)
        below = await store.scopes(prefix=("a",), depth_max=2)

        assert (("a",), ("a ",), ("a!",), ("a/b",), ("aa",), ("b",), ("é",)) == cut.rows
        assert (*LISTED[:4], *LISTED[5:8]) == below.rows

    @pytest.mark.parametrize("depth_max", [0, -1])
    async def test_scopes_are_cut_to_a_segment_at_least(self, store: Store, depth_max: int) -> None:
        """A scope cannot be cut to zero segments."""
        with pytest.raises(UsageError):
            await store.scopes(depth_max=depth_max)

    async def test_a_number_in_a_prefix_is_its_digits(self, store: Store) -> None:
        """An integer segment of a prefix is its decimal text, as in a scope."""
        numeric: Any = ("users", 42)
        await store.append(numeric, TALK, [said("m1")])

        page = await store.scopes(prefix=numeric)

        assert (("users", "42"),) == page.rows


class NewestPlanContract(Contract):
    """Listing the newest memories."""

    @pytest.mark.parametrize(("limit", "offset"), [(-1, 0), (1, -1), (1 << 60, 0)])
    async def test_a_page_of_the_newest_may_be_refused(
        self, store: Store, limit: int, offset: int
    ) -> None:
        """A page has no negative part, and no number that a backend cannot compare."""
        with pytest.raises(UsageError):
            await store.newest(TEAM, "Note", limit=limit, offset=offset)
