"""Decisions on the backlog: when messages are due, a signal, and notifications."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from recollect.errors import ConflictError, LimitError, NotFoundError, UsageError
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import LEASE_S_MAX
from recollect.stores.plans.pending_messages import (
    RECKONED_MESSAGES_MAX,
    SETTINGS_BYTES_MAX,
    WAIT_S_MAX,
)
from recollect.testing.contract_base import (
    ADA,
    SOON,
    TALK,
    Contract,
    claimed,
    existing,
    said,
    tell,
)
from recollect.testing.frozen_clock import FrozenClock


class BacklogPlanContract(Contract):
    """When messages become due."""

    async def test_the_stores_clock_decides(self, store: Store, clock: FrozenClock) -> None:
        """Times are the store's."""
        await tell(store, "m1")

        clock.advance(SOON.quiet_s - 0.001)
        assert await store.claim("worker") is None
        clock.advance(0.001)
        assert await store.claim("worker") is not None

    async def test_talk_postpones_what_is_due(self, store: Store, clock: FrozenClock) -> None:
        """A message moves the due time of its thread, up to ``max_wait_s`` after the first."""
        start = clock.now()
        dues = []
        for number in range(9):
            await tell(store, f"m{number}")
            thread = existing(await store.thread(ADA, TALK))
            assert thread.due is not None
            dues.append((thread.due - start).total_seconds())
            clock.advance(8)

        assert [10, 18, 26, 34, 42, 50, 58, 60, 60] == dues

    async def test_a_longest_wait_may_be_endless(self, store: Store, clock: FrozenClock) -> None:
        """With an infinite ``max_wait_s``, new messages postpone formation without limit."""
        endless = Debounce(quiet_s=10, max_wait_s=math.inf)

        for number in range(9):
            await store.append(ADA, TALK, [said(f"m{number}")], debounce=endless)
            clock.advance(9)

        assert await store.claim("worker") is None
        clock.advance(1)
        assert await store.claim("worker") is not None

    @pytest.mark.parametrize("wait_s", [math.nan, -1.0, 1e12, WAIT_S_MAX + 1])
    async def test_a_wait_may_be_refused(
        self, store: Store, clock: FrozenClock, wait_s: float
    ) -> None:
        """A wait that is negative, no number, or ends after all time is refused."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError):
            await store.append(ADA, "new", [said("m1")], debounce=Debounce(quiet_s=wait_s))
        with pytest.raises(UsageError):
            await store.append(ADA, "new", [said("m1")], debounce=Debounce(max_wait_s=wait_s))
        with pytest.raises(UsageError):
            await store.release(lease, failed=[TALK], retry_s=wait_s)

        assert await store.thread(ADA, "new") is None
        await store.release(lease)

    @pytest.mark.parametrize("enough", [{"messages": 3}, {"tokens": 12}], ids=str)
    @pytest.mark.parametrize("quiet_s", [10, math.inf])
    async def test_enough_is_due_at_once(
        self, store: Store, enough: dict[str, int], quiet_s: float
    ) -> None:
        """Messages are due at once when their number or their estimated tokens reach a limit."""
        debounce = Debounce(quiet_s=quiet_s, **enough)
        four_tokens = "x" * 16

        for id_ in ("m1", "m2"):
            await store.append(ADA, TALK, [said(id_, four_tokens)], debounce=debounce)
            assert await store.claim("worker") is None
        await store.append(ADA, TALK, [said("m3", four_tokens)], debounce=debounce)
        lease = await store.claim("worker")

        assert lease is not None
        assert (0, 3) == (lease.threads[0].formed, lease.threads[0].last)

    async def test_enough_ends_no_backoff(self, store: Store, clock: FrozenClock) -> None:
        """However much waits, it is not due before a backoff has ended."""
        await tell(store, "m1")
        await store.release(await claimed(store, clock), failed=[TALK], retry_s=100)

        await store.append(ADA, TALK, [said("m2")], debounce=Debounce(messages=1, tokens=1))

        clock.advance(99)
        assert await store.claim("worker") is None
        clock.advance(1)
        assert await store.claim("worker") is not None

    @pytest.mark.parametrize("count", [2, RECKONED_MESSAGES_MAX + 5])
    async def test_what_was_formed_counts_no_more(
        self, store: Store, clock: FrozenClock, count: int
    ) -> None:
        """The tokens that wait are those of the messages after the watermark."""
        talk = [said(f"m{number}", "x" * 40) for number in range(1, count + 1)]
        await store.append(ADA, TALK, [said("m0", "x" * 40), *talk], debounce=SOON)
        lease = await claimed(store, clock)
        await store.commit(lease, [], Formed(watermarks={TALK: 1}))
        await store.release(await claimed(store, clock), postponed=[TALK], retry_s=0)
        enough = Debounce(quiet_s=9, tokens=10 * count + 11)

        await store.append(ADA, TALK, [said("more", "x" * 40)], debounce=enough)
        assert await store.claim("worker") is None
        await store.append(ADA, TALK, [said("last", "x" * 4)], debounce=enough)

        assert await store.claim("worker") is not None

    async def test_what_was_removed_waits_no_more(self, store: Store) -> None:
        """The tokens of removed messages do not make others due."""
        debounce = Debounce(tokens=12)
        await store.append(ADA, TALK, [said("m1", "x" * 40)], debounce=debounce)
        await store.remove(ADA, TALK, ["m1"])

        await store.append(ADA, TALK, [said("m2", "x" * 40)], debounce=debounce)

        assert await store.claim("worker") is None

    @pytest.mark.parametrize("count", [0, -1, 1.5, True, "3"])
    def test_enough_is_a_number(self, count: int) -> None:
        """The threshold is an integer of at least 1."""
        with pytest.raises(UsageError, match="messages"):
            Debounce(messages=count)
        with pytest.raises(UsageError, match="tokens"):
            Debounce(tokens=count)

    async def test_settings_are_part_of_a_request(self, store: Store) -> None:
        """A request under a key that was used for other settings is another request."""
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k", settings={"n": 1})
        await store.append(ADA, TALK, [said("m1")], idempotency_key="k", settings={"n": 1})

        with pytest.raises(ConflictError):
            await store.append(ADA, TALK, [said("m1")], idempotency_key="k", settings={"n": 2})

    async def test_settings_have_a_limit(self, store: Store) -> None:
        """Settings are an object of at most ``SETTINGS_BYTES_MAX``."""
        with pytest.raises(LimitError, match="SETTINGS_BYTES_MAX"):
            await store.append(ADA, TALK, [said("m1")], settings={"n": "x" * SETTINGS_BYTES_MAX})
        with pytest.raises(UsageError, match="settings"):
            await store.append(ADA, TALK, [said("m1")], settings=["n"])  # type: ignore[arg-type]

        assert await store.thread(ADA, TALK) is None

    async def test_a_signal_ends_a_backoff(self, store: Store, clock: FrozenClock) -> None:
        """A signal makes pending messages due, even during a backoff."""
        await tell(store, "m1")
        lease = await claimed(store, clock)
        await store.release(lease, failed=[TALK], retry_s=3_600)

        await store.signal(ADA, TALK)

        assert await store.claim("worker") is not None

    async def test_only_a_thread_can_be_signalled(self, store: Store) -> None:
        """A thread that does not exist cannot be signalled."""
        with pytest.raises(NotFoundError, match=TALK):
            await store.signal(ADA, TALK)

    @pytest.mark.parametrize("lease_s", [0, -1, LEASE_S_MAX + 1, float("nan"), float("inf")])
    async def test_a_lease_has_a_limit(
        self, store: Store, clock: FrozenClock, lease_s: float
    ) -> None:
        """A lease lasts more than 0 and at most ``LEASE_S_MAX`` seconds."""
        await tell(store, "m1")
        lease = await claimed(store, clock)

        with pytest.raises(UsageError, match="lease"):
            await store.claim("worker", lease_s=lease_s)
        with pytest.raises(UsageError, match="lease"):
            await store.extend(lease, lease_s=lease_s)

        assert lease == await store.extend(replace(lease), lease_s=60)
