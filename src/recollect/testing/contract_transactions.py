"""Contract tests for transactions: concurrent callers, settings stamps, a closed store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Final, TypeAlias

import anyio
import pytest

from recollect.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RecollectError,
    StaleReadError,
    StoreClosedError,
    VersionConflictError,
)
from recollect.records import DeleteMemory
from recollect.side_records import SCOPE_SETTINGS, DeleteSideRecord, PutSideRecord
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.unit_of_work import Rows
from recollect.testing.contract_base import (
    ADA,
    BOB,
    SOON,
    TALK,
    Contract,
    claimed,
    fact,
    feed_from_start,
    ids_in,
    keep_facts,
    said,
    tell,
)
from recollect.testing.follower import FeedFollower
from recollect.testing.frozen_clock import NOON, FrozenClock

TASKS = 20

Call = Callable[[], Coroutine[object, object, object]]
KEY: Final = "key-1"
_Change: TypeAlias = Callable[[Store], Awaitable[object]]


async def together(*calls: Call) -> None:
    """Make all of *calls* concurrently, each in its own task."""
    async with anyio.create_task_group() as group:
        for call in calls:
            group.start_soon(call)


class TransactionContract(Contract):
    """Isolation of concurrent calls."""

    async def test_a_refused_write_leaves_no_trace(self, store: Store, clock: FrozenClock) -> None:
        """Every public method is one atomic transaction."""
        await tell(store, "m1", "m2")
        await keep_facts(store, "Oslo")
        lease = await claimed(store, clock)
        before = await store.archive(ADA), await store.threads(ADA), await feed_from_start(store)
        stale, formed = fact("home", expected=7), Formed(watermarks={TALK: 2})
        records = [*before[0], {"kind": "secret"}]

        for refused in (
            store.append(ADA, TALK, [said("m3"), said("m1", "other words")]),
            store.append(ADA, "new", [said("m1"), said("")]),
            store.apply(ADA, [fact("work"), stale]),
            store.commit(lease, [fact("work"), stale], formed),
            store.restore(BOB, records),
        ):
            with pytest.raises(RecollectError):
                await refused

        after = await store.archive(ADA), await store.threads(ADA), await feed_from_start(store)
        assert before == after
        assert await store.scope_id(BOB) is None

    async def test_appends_of_many_tasks_line_up(self, store: Store) -> None:
        """Many tasks may call methods at once; *seq* orders the writes of a scope."""

        def appending(number: int) -> Call:
            return lambda: store.append(ADA, TALK, [said(f"m{number}")])

        await together(*(appending(number) for number in range(TASKS)))

        rows = (await store.messages(ADA, TALK)).rows
        entries = (await feed_from_start(store)).entries
        assert list(range(1, TASKS + 1)) == [message.position for message in rows]
        assert list(range(1, TASKS + 1)) == [entry.seq for entry in entries]
        assert list(range(1, TASKS + 1)) == [entry.position for entry in entries]

    async def test_one_of_many_wins(self, store: Store) -> None:
        """Of many tasks that expect the same version, one writes and the others get an error."""
        await keep_facts(store, "Oslo")
        outcomes: list[str] = []

        async def write() -> None:
            try:
                await store.apply(ADA, [fact("home", "Rome", expected=1)])
                outcomes.append("written")
            except VersionConflictError:
                outcomes.append("refused")

        await together(*[write] * TASKS)

        assert ["refused"] * (TASKS - 1) + ["written"] == sorted(outcomes)
        assert 2 == len(await store.history(ADA, "Fact", "home"))

    async def test_one_of_many_claims(self, store: Store, clock: FrozenClock) -> None:
        """Of many workers that claim at once, one gets the scope."""
        await tell(store, "m1")
        clock.advance(SOON.quiet_s)
        leases: list[Lease | None] = []

        async def claim() -> None:
            leases.append(await store.claim("worker"))

        await together(*[claim] * TASKS)

        assert 1 == len([lease for lease in leases if lease])

    async def test_a_repeated_request_may_meet_itself(self, store: Store) -> None:
        """Concurrent requests under one key are carried out once."""

        async def write() -> None:
            await store.append(ADA, TALK, [said("m1")], idempotency_key="append")
            await store.apply(ADA, [fact("home")], idempotency_key="apply")

        await together(*[write] * TASKS)

        assert 1 == len((await store.messages(ADA, TALK)).rows)
        assert 1 == len(await store.history(ADA, "Fact", "home"))

    async def test_one_failure_fails_one_caller(self, store: Store) -> None:
        """Of many writes at once, those that conflict are refused, and all others are stored."""
        await tell(store, "taken")
        refused: list[int] = []

        def appending(number: int) -> Call:
            id_ = "taken" if number % 3 == 0 else f"m{number}"

            async def append() -> None:
                try:
                    await store.append(ADA, TALK, [said(f"n{number}"), said(id_, "other words")])
                except ConflictError:
                    refused.append(number)

            return append

        await together(*(appending(number) for number in range(TASKS)))

        stored = [number for number in range(TASKS) if number % 3]
        ids = {message.id for message in (await store.messages(ADA, TALK)).rows}
        assert sorted(refused) == [number for number in range(TASKS) if number % 3 == 0]
        assert {"taken", *(f"m{n}" for n in stored), *(f"n{n}" for n in stored)} == ids

    async def test_a_follower_misses_nothing(self, store: Store) -> None:
        """A reader that follows the feed during writes ends with the current entries."""
        follower = FeedFollower(ADA)

        async def follow() -> None:
            for _ in range(TASKS):
                follower.take_in(await store.changes(follower.cursor))
                await anyio.lowlevel.checkpoint()

        def writing(number: int) -> Call:
            async def write() -> None:
                await store.append(ADA, TALK, [said(f"m{number}")])
                await store.apply(ADA, [fact(f"f{number}")])
                await store.remove(ADA, TALK, [f"m{number}"])
                await store.apply(ADA, [DeleteMemory(type="Fact", key=f"f{number - 1}")])

            return write

        await together(follow, *(writing(number) for number in range(5)), follow)
        follower.take_in(await store.changes(follower.cursor))

        everything = (await feed_from_start(store)).entries
        assert {entry.uid: entry for entry in everything} == follower.entries

    async def test_a_closed_store_is_not_used(self, store: Store) -> None:
        """Close the store; later calls raise `StoreClosedError`."""
        await tell(store, "m1")

        await store.aclose()

        with pytest.raises(StoreClosedError):
            await tell(store, "m2")
        with pytest.raises(StoreClosedError):
            await store.thread(ADA, TALK)
        with pytest.raises(StoreClosedError):
            await store.changes(Cursor(scope=ADA))
        with pytest.raises(StoreClosedError):
            await store.erase(ADA, EraseScope())
        with pytest.raises(StoreClosedError):
            await store.past(ADA, NOON)

    async def test_closing_twice_is_closing(self, store: Store) -> None:
        """A store that is closed may be closed again, by hand or by its block."""
        async with store:
            await tell(store, "m1")

        await store.aclose()

        with pytest.raises(StoreClosedError):
            await store.scopes()

    async def test_now_is_the_clocks(self, store: Store, clock: FrozenClock) -> None:
        """Return the store's current time, in microseconds since 1970."""
        before = store.now()

        clock.advance(1.5)

        assert before + 1_500_000 == store.now()
        assert int(NOON.timestamp()) * 1_000_000 == before


def setting(city: str) -> PutSideRecord:
    """Return the write of a setting."""
    return PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"city": city})


def refuse_without_setting(rows: Rows) -> None:
    """Refuse changes while Bob's scope has no setting."""
    if rows.setting(BOB, SCOPE_SETTINGS, SCOPE_SETTINGS) is None:
        raise ForbiddenError("there is no setting")


CHANGES: Final[Mapping[str, _Change]] = {
    "put": lambda store: store.apply(ADA, [setting("Rome")]),
    "put elsewhere": lambda store: store.apply(BOB, [setting("Rome")]),
    "append with it": lambda store: store.append(ADA, TALK, [], writes=[setting("Rome")]),
    "delete": lambda store: store.apply(
        ADA, [DeleteSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS)]
    ),
    "erase of all": lambda store: store.erase(ADA, EraseScope()),
}


class StampContract(Contract):
    """Refusing changes based on outdated settings, or by a check of settings."""

    @pytest.mark.parametrize("change", sorted(CHANGES))
    async def test_a_change_has_another_stamp(self, store: Store, change: str) -> None:
        """Return a number that differs after any change of a setting (`SETTING_KINDS`)."""
        await store.apply(ADA, [setting("Oslo")])
        await tell(store, "m1")
        before = store.settings_stamp()

        await CHANGES[change](store)

        after = store.settings_stamp()
        assert before is None or before != after

    async def test_what_was_read_holds_under_its_stamp(self, store: Store) -> None:
        """Settings read after taking the stamp hold for a change under it (see `acting`)."""
        await store.apply(ADA, [setting("Oslo")])
        stamp = store.settings_stamp()
        if stamp is None:
            return
        await tell(store.acting(KEY, stamp=stamp), "m1")

        await store.apply(ADA, [setting("Rome")])

        with pytest.raises(StaleReadError):
            await tell(store.acting(KEY, stamp=stamp), "m2")
        assert ["m1"] == await ids_in(store)

    async def test_a_change_under_another_stamp_is_refused(self, store: Store) -> None:
        """stamp: Raise `StaleReadError` unless `settings_stamp` still has this value."""
        await store.apply(ADA, [setting("Oslo")])
        kept = await store.side_record(ADA, SCOPE_SETTINGS, SCOPE_SETTINGS)
        acting = store.acting(KEY, stamp=-7)

        with pytest.raises(StaleReadError, match="read them again"):
            await acting.append(ADA, TALK, [said("m1")])
        with pytest.raises(StaleReadError):
            await acting.apply(ADA, [setting("Rome")])

        assert kept == await store.side_record(ADA, SCOPE_SETTINGS, SCOPE_SETTINGS)
        assert await store.thread(ADA, TALK) is None

    async def test_who_acts_has_the_stamp_of_the_store(self, store: Store) -> None:
        """``None`` if the store has no stamp, or nothing was written recently."""
        await store.apply(ADA, [setting("Oslo")])

        assert store.settings_stamp() in {None, store.acting(KEY).settings_stamp()}

    async def test_a_proviso_is_asked_in_each_transaction(self, store: Store) -> None:
        """proviso: A check run in each transaction; it raises to prevent the change."""
        acting = store.acting(KEY, proviso=refuse_without_setting)
        await store.apply(BOB, [setting("Rome")])
        await tell(acting, "m1")

        await store.apply(BOB, [DeleteSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS)])

        with pytest.raises(ForbiddenError):
            await tell(acting, "m2")
        with pytest.raises(ForbiddenError):
            await acting.apply(ADA, [fact("home")])
        with pytest.raises(ForbiddenError):
            await acting.erase(ADA, EraseScope())
        assert ["m1"] == await ids_in(store)
        assert 1 == len((await store.audit(ADA)).rows)

    async def test_whom_a_proviso_refuses_is_told_nothing_else(self, store: Store) -> None:
        """A proviso's error replaces that of the plan."""
        await tell(store, "m1")
        missing = said("m9", "not there")

        with pytest.raises(ForbiddenError):
            await store.acting(KEY, proviso=refuse_without_setting).replace(ADA, TALK, missing)
        await store.apply(BOB, [setting("Rome")])
        with pytest.raises(NotFoundError):
            await store.acting(KEY, proviso=refuse_without_setting).replace(ADA, TALK, missing)
