"""The backlog of formation, decision by decision."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import LeaseLostError, UsageError
from recollect.stores.in_process.store import Tables
from recollect.stores.plans.due_times import Debounce, is_due, plan_signal, thread_after_append
from recollect.stores.plans.formation import failed_thread, formed_thread, plan_claims
from recollect.stores.plans.leases import Lease, LeaseRequest, check_lease, claimed_scope, is_leased
from recollect.stores.rows import ScopeRow, ThreadRow
from recollect.stores.unit_of_work import NOTHING, Effect

S = 1_000_000
WAIT = Debounce(quiet_s=10, max_wait_s=25)
NEW = ThreadRow(scope_id=1, number=2, id="t", created_at=0)
WAITING = replace(NEW, last=3, count=3, first_pending_at=0, due=10 * S)
SCOPE = ScopeRow(id=1, segments=("a",), created_at=0, epoch=5)


def test_a_first_message_waits_for_quiet() -> None:
    """The first message is due after ``quiet_s``, and is the first that waits."""
    after = thread_after_append(NEW, 2, 100 * S, WAIT)

    assert replace(NEW, last=2, count=2, first_pending_at=100 * S, due=110 * S) == after


def test_nothing_added_signals_nothing() -> None:
    """Messages that were there already leave the thread as it is."""
    assert thread_after_append(WAITING, 0, 5 * S, WAIT) == WAITING


@pytest.mark.parametrize(("now", "due"), [(0, 10), (9, 19), (15, 25), (16, 25), (24, 25), (90, 25)])
def test_talk_postpones_up_to_the_longest_wait(now: int, due: int) -> None:
    """A message moves the due time to ``quiet_s`` later, at most ``max_wait_s`` after the first."""
    after = thread_after_append(WAITING, 1, now * S, WAIT)

    assert (due * S, 0) == (after.due, after.first_pending_at)


@pytest.mark.parametrize("now", [0, 20, 99])
def test_talk_never_shortens_a_backoff(now: int) -> None:
    """While a thread backs off, no message makes it due before."""
    backing_off = failed_thread(WAITING, 100 * S)

    after = thread_after_append(backing_off, 1, now * S, WAIT)

    assert 100 * S == max(after.due or 0, after.not_before or 0)
    assert not is_due(after, 100 * S - 1)
    assert is_due(after, 100 * S)


def test_an_endless_quiet_waits_for_a_signal() -> None:
    """With an infinite ``quiet_s`` messages wait, and are due when they are signalled."""
    after = thread_after_append(NEW, 1, 0, Debounce(quiet_s=math.inf, max_wait_s=25))

    assert (1, None) == (after.last, after.due)
    assert not is_due(after, 10**12)
    (due,) = plan_signal(after, 7).effect.threads
    assert is_due(due, 7)


@pytest.mark.parametrize(
    ("changes", "now", "due"),
    [
        ({}, 10 * S, True),
        ({}, 10 * S - 1, False),
        ({"due": None}, 99 * S, False),
        ({"formed": 3}, 99 * S, False),
        ({"formed": 2}, 99 * S, True),
        ({"state": "paused"}, 99 * S, False),
        ({"not_before": 20 * S}, 20 * S - 1, False),
        ({"not_before": 20 * S}, 20 * S, True),
        ({"not_before": 0}, 10 * S, True),
    ],
)
def test_what_is_due(changes: dict[str, object], now: int, *, due: bool) -> None:
    """What waits in an active thread is due from its due time on, and not while it backs off."""
    assert due == is_due(replace(WAITING, **changes), now)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("owner", "until", "now", "leased"),
    [
        (None, None, 0, False),
        ("w", 10, 9, True),
        ("w", 10, 10, False),
        ("w", 10, 11, False),
        (None, 10, 9, False),
    ],
)
def test_what_is_leased(owner: str | None, until: int | None, now: int, *, leased: bool) -> None:
    """A lease holds until its end, which is not part of it."""
    row = replace(SCOPE, lease_owner=owner, lease_until=until)

    assert leased == is_leased(row, now)


def test_a_claim_raises_the_fence() -> None:
    """Each claim has the next fence, the scope's epoch, and the due threads as they are."""
    row, lease = claimed_scope(SCOPE, [WAITING], owner="w", lease_s=1.5, now=S)
    again, other = claimed_scope(row, [], owner="v", lease_s=1, now=9 * S)

    assert (1, "w", 2_500_000) == (row.fence, row.lease_owner, row.lease_until)
    assert (1, 5, ("a",), "w") == (lease.fence, lease.epoch, lease.scope, lease.owner)
    assert [("t", 0, 3, 0)] == [(d.thread, d.formed, d.last, d.attempts) for d in lease.threads]
    assert (2, 2, "v") == (again.fence, other.fence, again.lease_owner)


def held() -> tuple[ScopeRow, Lease]:
    """Return a scope that was claimed, and the lease."""
    return claimed_scope(SCOPE, [WAITING], owner="w", lease_s=1, now=S)


def test_the_last_claim_is_good() -> None:
    """The last claim is good, also when it ran out long ago."""
    row, lease = held()

    assert row == check_lease(row, lease)
    assert check_lease(replace(row, lease_until=0), lease).fence == lease.fence


@pytest.mark.parametrize(
    "changes",
    [
        {"fence": 2},
        {"fence": 0},
        {"epoch": 6},
        {"epoch": 4},
        {"lease_owner": None, "lease_until": None},
        {"epoch": 6, "fence": 2},
    ],
    ids=str,
)
def test_another_claim_is_not(changes: dict[str, object]) -> None:
    """A lease is lost when the fence, the epoch or the owner is another, or the scope is gone."""
    row, lease = held()

    with pytest.raises(LeaseLostError):
        check_lease(replace(row, **changes), lease)  # type: ignore[arg-type]
    with pytest.raises(LeaseLostError):
        check_lease(None, lease)


def test_a_formed_thread_waits_for_nothing() -> None:
    """A thread formed to its end has no due time, no backoff and no failures."""
    after = formed_thread(failed_thread(WAITING, 99 * S), 3, 20 * S)

    assert replace(WAITING, formed=3, first_pending_at=None, due=None) == after


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_part_formed_leaves_the_rest_due(position: int) -> None:
    """What comes after the position keeps its due time, and waits since now."""
    after = formed_thread(WAITING, position, 20 * S)

    assert replace(WAITING, formed=position, first_pending_at=20 * S) == after
    assert is_due(after, 20 * S)


@pytest.mark.parametrize("position", [-1, 1, 4])
def test_a_watermark_stays_within_its_thread(position: int) -> None:
    """A watermark goes neither back nor past the end, and the message tells where both are."""
    with pytest.raises(UsageError, match="formed up to 2 and ends at 3"):
        formed_thread(replace(WAITING, formed=2), position, 0)


def test_a_failure_counts_and_backs_off() -> None:
    """Each failure is one attempt more, and is not due before its backoff ends."""
    once = failed_thread(WAITING, 50 * S)
    twice = failed_thread(once, 90 * S)

    assert (1, 2) == (once.attempts, twice.attempts)
    assert [False, True] == [is_due(twice, moment) for moment in (90 * S - 1, 90 * S)]


def test_a_signal_is_for_what_waits() -> None:
    """A signal ends quiet and backoff; in a thread without waiting messages it does nothing."""
    answer = plan_signal(failed_thread(WAITING, 99 * S), 7)
    idle = plan_signal(replace(WAITING, formed=3, due=None), 7)

    assert answer.result is True
    assert is_due(answer.effect.threads[0], 7)
    assert (NOTHING, False) == (idle.effect, idle.result)


@given(
    threads=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=8),
    workers=st.integers(1, 6),
)
def test_claims_together_are_claims_one_after_the_other(
    threads: list[tuple[int, int]], workers: int
) -> None:
    """Whatever is due, several claims at once get the leases that each alone would have got."""
    alone, together = Tables(), Tables()
    for tables in (alone, together):
        for number, (scope_id, due) in enumerate(threads):
            scope = replace(SCOPE, id=scope_id, segments=(str(scope_id),))
            thread = replace(WAITING, scope_id=scope_id, number=number, id=f"t{number}", due=due)
            tables.write(Effect(scopes=[scope], threads=[thread]))
    claims = [LeaseRequest(owner=f"w{number}", lease_s=60, now=2) for number in range(workers)]

    one_by_one: list[Lease | None] = []
    for claim in claims:
        planned = plan_claims(alone, [claim])
        alone.write(planned.effect)
        one_by_one += planned.result

    assert one_by_one == plan_claims(together, claims).result
