"""Contract tests for store views that can refuse, or meter, the changes of a caller."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from recollect.errors import QuotaError
from recollect.records import JsonObject, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.unit_of_work import Effect, Rows
from recollect.testing.contract_base import (
    ADA,
    BOB,
    TALK,
    Contract,
    claimed,
    fact,
    ids_in,
    said,
    tell,
)
from recollect.testing.contract_transactions import KEY
from recollect.testing.frozen_clock import FrozenClock


@dataclass
class RowCharge:
    """A charge that counts rows; its meter may refuse some."""

    meter: RowMeter
    reserved: int = 0
    end: str = ""

    def reserve(self, _: Rows, effect: Effect) -> None:
        """Count the rows that are written."""
        self.reserved = len(effect.messages) + len(effect.memories) + len(effect.sides)
        if self.reserved > self.meter.most:
            what = "rows"
            raise QuotaError(what, "most", self.meter.most, 1.0)

    def spend(self) -> None:
        """Record the commit."""
        self.end = "spent"

    def release(self) -> None:
        """Record that nothing was written."""
        self.end = "released"


@dataclass
class RowMeter:
    """A meter that counts rows."""

    most: int = 100
    charges: list[tuple[str, Scope, RowCharge]] = field(default_factory=list)

    async def charge(self, action: str, scope: Scope) -> RowCharge:
        """Return a charge, and record it."""
        counted = RowCharge(self)
        self.charges.append((action, scope, counted))
        return counted

    def found(self) -> list[tuple[str, int, str]]:
        """Return action, count and end of each charge."""
        return [(action, each.reserved, each.end) for action, _, each in self.charges]


class ViewContract(Contract):
    """A view may refuse a change in its transaction, and then nothing is written."""

    async def test_a_meter_is_asked_about_each_change(self, store: Store) -> None:
        """Return a view of this store that asks *meter* about each change, in its transaction."""
        meter = RowMeter()
        metered = store.metered(meter)

        await tell(metered, "m1", "m2")
        await tell(metered, "m1", "m2")
        await metered.apply(ADA, [fact("home")], idempotency_key="once")
        await metered.apply(ADA, [fact("home")], idempotency_key="once")
        await metered.acting(KEY).apply_each({ADA: [fact("work")], BOB: [fact("home")]})

        assert [
            ("append", 2, "spent"),
            ("append", 0, "spent"),
            ("apply", 1, "spent"),
            ("apply", 0, "spent"),
            ("apply", 2, "spent"),
        ] == meter.found()
        assert [ADA] * 5 == [scope for _, scope, _ in meter.charges]
        assert [KEY] == [each.actor for each in (await store.audit(BOB)).rows]

    async def test_what_a_meter_refuses_is_not_written(self, store: Store) -> None:
        """Changes that the meter refuses are not written."""
        meter = RowMeter(most=1)
        metered = store.metered(meter)
        await tell(metered, "m1")

        with pytest.raises(QuotaError):
            await tell(metered, "m2", "m3")
        with pytest.raises(QuotaError):
            await metered.acting(KEY).append(ADA, TALK, [said("m4")], writes=[fact("home")])
        with pytest.raises(QuotaError):
            await metered.restore(BOB, await two_facts(store))

        assert ["m1"] == await ids_in(store)
        assert () == (await store.memories(BOB)).rows
        assert ["spent", *["released"] * 3] == [end for _, _, end in meter.found()]
        assert () == (await store.memories(ADA)).rows

    async def test_what_removes_or_forms_is_not_measured(
        self, store: Store, clock: FrozenClock
    ) -> None:
        """`UNMEASURED_ACTIONS` are not metered."""
        await tell(store, "m1", "m2")
        meter = RowMeter(most=0)
        metered = store.metered(meter)

        await metered.remove(ADA, TALK, ["m1"])
        await metered.pause(ADA)
        await metered.resume(ADA)
        await metered.signal(ADA, TALK)
        await metered.release(await claimed(metered, clock))
        await metered.keep(ADA, TALK, 2)
        await metered.erase(ADA, EraseScope())

        assert [] == meter.charges
        assert await store.thread(ADA, TALK) is None

    async def test_a_view_is_the_store_that_it_is_of(self, store: Store) -> None:
        """A view has the properties of its store, and its companions."""
        heard: list[object] = []
        store.accompany(heard.append)
        views = (store.acting(KEY), store.metered(RowMeter()), store.since(ADA, 0))
        assert {store.address} == {each.address for each in views}

        for number, view in enumerate(views[:2]):
            await tell(store, f"m{number}")
            await view.erase(ADA, EraseScope())

        assert 2 == len(heard)


async def two_facts(store: Store) -> list[JsonObject]:
    """Return the records of two facts, which are erased from the store again."""
    made: Scope = ("elsewhere",)
    await store.apply(made, [fact("one"), fact("two")])
    found: list[JsonObject] = [{**each, "scope": list(BOB)} for each in await store.archive(made)]
    await store.erase(made, EraseScope())
    return found
