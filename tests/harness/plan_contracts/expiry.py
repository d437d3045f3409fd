"""Contract tests for memories whose expiry is prolonged by use."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from recollect.errors import LimitError, UsageError
from recollect.records import Memory, ProlongMemory
from recollect.side_records import ProlongSideRecord, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.validation import WRITES_MAX
from recollect.testing.contract_base import (
    ADA,
    Contract,
    contents,
    fact,
    feed_after,
    feed_from_start,
    seconds,
)
from recollect.testing.frozen_clock import NOON, FrozenClock


def prolonged(key: str, expires_at: datetime, version: int = 1) -> ProlongMemory:
    """Return a write that moves the expiry of a fact."""
    return ProlongMemory(type="Fact", key=key, version=version, expires_at=expires_at)


def side(key: str) -> PutSideRecord:
    """Return a write of a side record."""
    return PutSideRecord(kind="State", key=key, value={"is": "kept"})


class ProlongContract(Contract):
    """Prolonging memories."""

    async def test_an_expiry_is_moved(self, store: Store, clock: FrozenClock) -> None:
        """Move the expiry of memories in one transaction; return how many were moved."""
        soon, late = clock.now() + seconds(10), clock.now() + seconds(20)
        await store.apply(ADA, [replace(fact(key), expires_at=soon) for key in ("a", "b", "c")])
        feed = await feed_from_start(store)

        moved = await store.prolong(ADA, [prolonged("a", late), prolonged("b", late)])
        clock.advance(10)

        assert 2 == moved
        assert ["a", "b"] == [each.key for each in (await store.memories(ADA)).rows]
        changed = await feed_after(store, feed)
        assert feed.seq + 1 == changed.seq
        assert {late} == {
            each.expires_at for each in await contents(store, changed) if isinstance(each, Memory)
        }
        clock.advance(10)
        assert () == (await store.memories(ADA)).rows

    async def test_an_expiry_is_no_version(self, store: Store, clock: FrozenClock) -> None:
        """Versions and update times do not change, and no revision is made."""
        late = clock.now() + seconds(20)
        soon = replace(fact("a"), expires_at=clock.now() + seconds(10))
        (before,) = await store.apply(ADA, [soon])
        assert before is not None
        clock.advance(5)

        await store.prolong(ADA, [prolonged("a", late)])

        assert replace(before, expires_at=late) == await store.get(ADA, "Fact", "a")
        assert 1 == len(await store.history(ADA, "Fact", "a"))

    async def test_what_is_not_prolonged(self, store: Store, clock: FrozenClock) -> None:
        """
        Skip all that cannot be prolonged.

        Memories and side records that do not exist, have expired, never expire or are at another
        version are skipped.
        """
        soon, late = clock.now() + seconds(10), clock.now() + seconds(20)
        await store.apply(
            ADA,
            [
                replace(fact("gone"), expires_at=soon),
                fact("lasting"),
                replace(fact("revised"), expires_at=late),
                replace(fact("revised"), expires_at=late),
                replace(side("gone"), expires_at=soon),
                side("lasting"),
                replace(side("revised"), expires_at=late),
                replace(side("revised"), expires_at=late),
            ],
        )
        clock.advance(10)
        feed = await feed_from_start(store)
        keys = ("absent", "gone", "lasting", "revised")
        later = late + seconds(9)
        asked = [
            ProlongSideRecord(kind="State", key=key, version=1, expires_at=later) for key in keys
        ]

        moved = await store.prolong(ADA, [*asked, *(prolonged(key, later) for key in keys)])

        assert 0 == moved
        assert 0 == await store.prolong(("nobody",), [prolonged("a", late)])
        assert feed.seq == (await feed_after(store, feed)).seq
        assert [None, late] == [each.expires_at for each in (await store.memories(ADA)).rows]
        left = [await store.side_record(ADA, "State", key) for key in ("lasting", "revised")]
        assert [None, late] == [each.expires_at for each in left if each]

    async def test_prolongs_have_a_limit(self, store: Store) -> None:
        """prolongs: At most ``WRITES_MAX``."""
        prolongs = [prolonged("a", NOON)] * (WRITES_MAX + 1)

        with pytest.raises(LimitError, match="WRITES_MAX"):
            await store.prolong(ADA, prolongs)

    @pytest.mark.parametrize(
        "given",
        [
            prolonged("", NOON),
            prolonged("a", NOON.replace(tzinfo=None)),
            prolonged("a", NOON, version=1 << 60),
        ],
    )
    async def test_a_prolong_may_be_refused(self, store: Store, given: ProlongMemory) -> None:
        """Invalid arguments are refused, and nothing is moved."""
        with pytest.raises(UsageError):
            await store.prolong(ADA, [given])
