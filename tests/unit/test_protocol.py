"""
Formation neither loses nor doubles a message: every state of a small world is visited.

Two threads of one scope, three messages, two workers that may crash, be late, fail, give a
message up or not hear an answer, a person who re-drives what was given up, and an erase at
any point. What happens in a step is decided by the store's own plans; what must hold is
checked in every state that they can reach.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

import pytest

from recollect.errors import LeaseLostError, UsageError
from recollect.records import Evidence, NewMessage, PutMemory, Scope
from recollect.stores.in_process import rows as inprocess
from recollect.stores.in_process.store import Tables
from recollect.stores.plans import erasure, formation, receipts, threads
from recollect.stores.plans.due_times import Debounce, is_due, thread_after_append
from recollect.stores.plans.erase_targets import EraseMessages, EraseScope, EraseTarget, EraseThread
from recollect.stores.plans.erasure import plan_erase
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.plans.formation import (
    Formed,
    Release,
    formed_thread,
    plan_claims,
    plan_commit,
    plan_extension,
    plan_release,
)
from recollect.stores.plans.leases import (
    DueThread,
    Lease,
    LeaseRequest,
    check_lease,
    claimed_scope,
    is_leased,
)
from recollect.stores.plans.memory_writes import plan_writes
from recollect.stores.plans.pending_messages import is_waiting
from recollect.stores.plans.prepared_writes import PreparedPut, PreparedWrite, prepare_write
from recollect.stores.plans.receipts import plan_redrive
from recollect.stores.plans.threads import Append, PreparedMessage, plan_append, prepare_message
from recollect.stores.rows import (
    FormationRow,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    ScopeRow,
    ThreadRow,
)
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Rows
from recollect.testing import NOON, CountingIds

ResultT = TypeVar("ResultT")

SCOPE, SECOND = ("ada",), 1_000_000
START = int(NOON.timestamp()) * SECOND
SAID = {"a": ("a1", "a2"), "b": ("b1",)}
WORDS = {"a1": "has a cat", "a2": "has a dog", "b1": "has a cat"}
LEASE_S, RETRY_S = 4, 3
AT_ONCE, PAUSE = Debounce(quiet_s=0, max_wait_s=0), Debounce(quiet_s=1, max_wait_s=3)
TARGETS: tuple[EraseTarget, ...] = (
    EraseMessages(thread="a", messages=["a1"]),
    EraseThread(thread="a"),
    EraseScope(),
)


class BrokenPromiseError(Exception):
    """A state that must not be."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a worker found; positions that it formed again, or gave up, are by thread."""

    writes: tuple[PreparedWrite, ...]
    watermarks: tuple[tuple[str, int], ...]
    messages: tuple[str, ...]
    again: tuple[tuple[str, tuple[int, ...]], ...] = ()
    failed: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def formed(self) -> Formed:
        """Return what is committed of it."""
        return Formed(
            watermarks=dict(self.watermarks),
            again=dict(self.again),
            failed=dict(self.failed),
            status="dead" if self.failed else "formed",
        )


Part = Sequence[tuple[DueThread, int, Sequence[MessageRow]]]
"""Threads, each with the position that it is formed up to, and the messages that are formed."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker with a lease: it is thinking while it has no result."""

    lease: Lease
    result: Result | None = None
    commits: int = 0
    is_halfway: bool = False  # through two transactions that a mutant makes of one


@dataclass(frozen=True, slots=True)
class Budget:
    """How often something may still go wrong."""

    crashes: int = 2
    expiries: int = 2
    failures: int = 0
    erases: int = 0
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of the store."""

    numbers: int = 0
    scope: ScopeRow | None = None
    threads: tuple[ThreadRow, ...] = ()
    messages: tuple[MessageRow, ...] = ()
    memories: tuple[MemoryRow, ...] = ()
    formations: tuple[FormationRow, ...] = ()

    def tables(self) -> Tables:
        """Return them as the reference backend keeps them."""
        tables = Tables()
        tables._number = self.numbers
        if self.scope:
            names = ("threads", "messages", "memories", "formations")
            rows = {name: getattr(self, name) for name in names}
            tables.write(Effect(scopes=[self.scope], **rows))
        return tables

    def after(self, plan: Plan[ResultT]) -> tuple["Kept", ResultT]:
        """Run *plan* in one transaction; return the rows then, and the answer."""
        tables = self.tables()
        planned = plan(tables)
        tables.write(planned.effect)
        scope = tables.scope(SCOPE)
        if scope is None:
            return Kept(tables._number), planned.result
        kept = Kept(
            tables._number,
            scope,
            tuple(tables.threads(scope.id, None, 9)),
            tuple(tables.all_messages(scope.id)),
            tuple(tables.memories(scope.id)),
            tuple(tables.formations(scope.id, None, None, 99)),
        )
        return kept, planned.result

    def dead(self) -> Iterator[FormationRow]:
        """Yield the formations that can be re-driven."""
        return (row for row in self.formations if row.status == "dead")

    def given_up(self) -> Iterator[str]:
        """Yield the messages that wait for that."""
        numbers = {row.id: row.number for row in self.threads}
        failed = [each for row in self.dead() for each in json.loads(row.failed).items()]
        places = [(numbers.get(thread), at) for thread, positions in failed for at in positions]
        return (r.id for at in places for r in self.messages if (r.thread, r.position) == at)

    def ids(self) -> CountingIds:
        """Return ids that no entry has."""
        used = [row.uid for row in self.messages] + [row.uid for row in self.memories]
        # A formation that was stored is never forgotten, so no other gets its id.
        return CountingIds(1 + max(used, default=0) + 100 * len(self.formations))


@dataclass(frozen=True, slots=True)
class Observed:
    """What only the observer knows: how the past went."""

    said: tuple[tuple[str, int], ...] = (("a", 0), ("b", 0))
    covered: tuple[str, ...] = ()  # by formations that were committed
    erased: frozenset[str] = frozenset()
    backoffs: tuple[tuple[str, int], ...] = ()
    unsignalled: tuple[str, ...] = ()
    leases: tuple[tuple[str, ScopeRow], ...] = ()  # of threads, by a mutant


@dataclass(frozen=True, slots=True)
class World:
    """The rows, the workers, the time, and what the observer knows."""

    kept: Kept = Kept()
    workers: tuple[Worker | None, Worker | None] = (None, None)
    budget: Budget = Budget()
    observed: Observed = Observed()
    now: int = START
    wait: Debounce = AT_ONCE

    def with_worker(self, number: int, worker: Worker | None) -> "World":
        """Return the world in which a worker is in another state."""
        first, second = self.workers
        return replace(self, workers=(first, worker) if number else (worker, second))

    def spent(self, what: str) -> "World":
        """Return the world in which one thing less may go wrong."""
        left = getattr(self.budget, what) - 1
        return replace(self, budget=replace(self.budget, **{what: left}))

    def key(self) -> tuple[object, ...]:
        """Return all that decides about the future: times from now on, numbers by comparison."""
        scope, seen = self.kept.scope, self.observed
        one, other = map(self._worker_key, self.workers)  # which is which does not matter
        return (
            scope and (scope.lease_owner is None, self._left(scope.lease_until)),
            tuple([
                (t.id, t.last, t.formed, t.again, self._left(t.due), self._left(t.not_before),
                 self._waited(t))
                for t in self.kept.threads
            ]),
            tuple([(row.thread, row.position, row.id) for row in self.kept.messages]),
            tuple(sorted([(row.text, row.evidence) for row in self.kept.memories])),
            tuple(sorted([row.failed for row in self.kept.dead()])),
            (one, other) if hash(one) < hash(other) else (other, one),
            self.budget, seen.said, seen.covered, seen.erased, seen.unsignalled,
            tuple([(thread, self._left(until)) for thread, until in seen.backoffs]),
            tuple([(thread, row.lease_owner is None) for thread, row in seen.leases]),
        )  # fmt: skip

    def _left(self, moment: int | None) -> int | None:
        return None if moment is None else max(moment - self.now, 0)

    def _waited(self, thread: ThreadRow) -> int | None:
        first, longest = thread.first_pending_at, round(self.wait.max_wait_s * SECOND)
        return None if first is None else min(self.now - first, longest)

    def _worker_key(self, worker: Worker | None) -> object:
        if worker is None:
            return None
        lease, scope, result = worker.lease, self.kept.scope, worker.result
        return (
            scope and (scope.epoch == lease.epoch, scope.fence == lease.fence),
            lease.threads, worker.commits, worker.is_halfway,
            result and (result.watermarks, result.messages, tuple(map(_text, result.writes)),
                        result.again, result.failed),
        )  # fmt: skip


def _text(write: PreparedWrite) -> str:
    return write.text if isinstance(write, PreparedPut) else ""


@cache
def prepared(message: str) -> PreparedMessage:
    """Return a message as it is kept."""
    said = NewMessage(role="user", id=message, text=WORDS[message], time=NOON)
    return prepare_message(said, START, CountingIds())


@cache
def note(message: str, thread: str, fence: int) -> PreparedWrite:
    """Return the write of what a message says."""
    evidence = {"": [Evidence(thread=thread, message=message)]}
    put = PutMemory(
        type="Note", key=f"{message} {fence}", value={}, text=WORDS[message], evidence=evidence
    )
    return prepare_write(put)


@cache
def messages_in(evidence: str) -> frozenset[str]:
    """Return the messages that a note rests on."""
    return frozenset(message for _, message in evidence_messages(evidence))


@dataclass(frozen=True, slots=True)
class Protocol:
    """The steps that the world can take: each is one transaction of the store, or none."""

    forms_parts: bool = False
    extends: bool = False
    targets: tuple[EraseTarget, ...] = TARGETS
    refusals: tuple[type[Exception], ...] = (LeaseLostError,)

    def steps(self, world: World) -> Iterator[World]:
        """Yield every world that can come next."""
        for thread, count in world.observed.said:
            if count < len(SAID[thread]):
                yield from self.append(world, thread, SAID[thread][count])
        for number, worker in enumerate(world.workers):
            if worker is None:
                yield from self.claim(world, number)
                continue
            if worker.result is None:
                yield from self.think(world, number, worker)
            else:
                yield from self.commit(world, number, worker, worker.result)
            yield from self.give_up(world, number, worker)
        yield from self.redrive(world)
        if world.budget.erases and world.kept.scope:
            for target in self.targets:
                yield self.erase(world.spent("erases"), target)
        yield from self.tick(world)

    def append(self, world: World, thread: str, message: str) -> Iterator[World]:
        """Append the next message of a thread."""
        request = Append(
            scope=SCOPE,
            thread=thread,
            messages=[prepared(message)],
            idempotency=None,
            debounce=world.wait,
            now=world.now,
        )
        kept, _ = world.kept.after(partial(plan_append, request=request, ids=world.kept.ids()))
        said = {**dict(world.observed.said), thread: dict(world.observed.said)[thread] + 1}
        yield replace(world, kept=kept, observed=replace(world.observed, said=tuple(said.items())))

    def claim(self, world: World, number: int) -> Iterator[World]:
        """Claim what is due, and expect that it is not backing off."""
        claim = LeaseRequest(owner=f"worker {number}", lease_s=LEASE_S, now=world.now)
        kept, (lease,) = world.kept.after(partial(plan_claims, requests=[claim]))
        backoffs = dict(world.observed.backoffs)
        if lease is None:
            return
        if any(backoffs.get(each.thread, 0) > world.now for each in lease.threads):
            msg = "early: a thread is formed before its backoff has ended"
            raise BrokenPromiseError(msg)
        yield replace(world, kept=kept).with_worker(number, Worker(lease))

    def think(self, world: World, number: int, worker: Worker) -> Iterator[World]:
        """Read what is to be formed and the notes there are; find what to write, or a part."""
        numbers = {row.id: row.number for row in world.kept.threads}
        spans = [
            (due, due.last, [
                row
                for row in world.kept.messages
                if row.thread == numbers.get(due.thread)
                and (due.formed < row.position <= due.last or row.position in due.again)
            ])
            for due in worker.lease.threads
        ]  # fmt: skip
        parts: list[Part] = [spans]
        due, _, rows = spans[0]
        first = [(due, max(due.formed, row.position), [row]) for row in rows[:1]]
        if self.forms_parts and len(rows) > 1:
            parts.append(first)
        for part in parts:
            result = found(part, worker.lease.fence, {row.text for row in world.kept.memories})
            yield world.with_worker(number, replace(worker, result=result))
        if first and world.budget.deaths:
            dying = replace(worker, result=given_up(first))
            yield world.spent("deaths").with_worker(number, dying)

    def commit(self, world: World, number: int, worker: Worker, result: Result) -> Iterator[World]:
        """Commit; where the answer is lost, the worker tries again."""
        plan = partial(
            plan_commit, lease=worker.lease, writes=result.writes, formed=result.formed(),
            now=world.now, ids=world.kept.ids(),
        )  # fmt: skip
        try:
            kept, _ = world.kept.after(plan)
        except self.refusals:
            yield world.with_worker(number, None)
            return
        if worker.commits:
            msg = "twice: one claim was committed two times"
            raise BrokenPromiseError(msg)
        world = replace(world, kept=kept, observed=after_commit(world.observed, result))
        yield world.with_worker(number, None)
        if world.budget.crashes:
            yield world.spent("crashes").with_worker(number, replace(worker, commits=1))

    def give_up(self, world: World, number: int, worker: Worker) -> Iterator[World]:
        """Crash, fail, or extend the lease."""
        if world.budget.crashes:
            yield world.spent("crashes").with_worker(number, None)
        if world.budget.failures and worker.result is None:
            for kind in ("failed", "postponed"):
                yield self.fail(world.spent("failures"), number, worker.lease, kind)
        if self.extends:
            plan = partial(plan_extension, lease=worker.lease, lease_s=LEASE_S, now=world.now)
            try:
                kept, lease = world.kept.after(plan)
            except LeaseLostError:
                return
            yield replace(world, kept=kept).with_worker(number, replace(worker, lease=lease))

    def redrive(self, world: World) -> Iterator[World]:
        """Let what a formation gave up wait again."""
        for row in world.kept.dead():
            plan = partial(receipts.plan_redrive, scope=SCOPE, formation_id=row.id, now=world.now)
            yield replace(world, kept=world.kept.after(plan)[0])

    def fail(self, world: World, number: int, lease: Lease, kind: str) -> World:
        """Give the lease back after a failure of all its threads, or of no fault of theirs."""
        names = [each.thread for each in lease.threads]
        release = Release(**{kind: names}, retry_s=RETRY_S)  # type: ignore[arg-type]
        ids = world.kept.ids()
        plan = partial(plan_release, lease=lease, release=release, ids=ids, now=world.now)
        world = world.with_worker(number, None)
        try:
            kept, _ = world.kept.after(plan)
        except LeaseLostError:
            return world
        ends = dict.fromkeys(names, world.now + RETRY_S * SECOND)
        backoffs = tuple({**dict(world.observed.backoffs), **ends}.items())
        return replace(world, kept=kept, observed=replace(world.observed, backoffs=backoffs))

    def erase(self, world: World, target: EraseTarget) -> World:
        """Erase a message, a thread or everything."""
        receipt = ReceiptRow(
            id="r", target=b"", messages=0, memories=0, revised=0, erased_at=world.now
        )
        plan = partial(plan_erase, scope=SCOPE, target=target, receipt=receipt)
        kept, _ = world.kept.after(plan)
        gone = {row.id for row in world.kept.messages} - {row.id for row in kept.messages}
        there, seen = {row.id for row in kept.threads}, world.observed
        observed = replace(
            seen,
            erased=seen.erased | gone,
            covered=tuple(each for each in seen.covered if each not in gone),
            backoffs=tuple(each for each in seen.backoffs if each[0] in there),
            unsignalled=tuple(each for each in seen.unsignalled if each in there),
        )
        return replace(world, kept=kept, observed=observed)

    def tick(self, world: World) -> Iterator[World]:
        """Let time pass until something becomes due, or a lease runs out."""
        end = self.lease_end(world)
        coming = [moment for moment in (end, *due_moments(world)) if moment and moment > world.now]
        if not coming:
            return
        later = replace(world, now=min(coming))
        if later.now != end or not is_held(world):
            yield later
        elif world.budget.expiries:
            yield later.spent("expiries")

    def lease_end(self, world: World) -> int | None:
        """Return when the lease on the scope runs out."""
        scope = world.kept.scope
        return scope.lease_until if scope and scope.lease_owner else None


def found(part: Part, fence: int, known: set[str]) -> Result:
    """Return what a worker makes of some messages, given the notes that it knows."""
    told: dict[str, PreparedWrite] = {}
    for due, _, rows in part:
        for row in rows:
            if row.text not in known:
                told.setdefault(row.text, note(row.id, due.thread, fence))
    messages = tuple(row.id for _, _, rows in part for row in rows)
    return Result(tuple(told.values()), _watermarks(part), messages, _again(part))


def given_up(part: Part) -> Result:
    """Return what a worker makes of messages that it gives up."""
    failed = tuple((due.thread, tuple(row.position for row in rows)) for due, _, rows in part)
    return Result((), _watermarks(part), (), _again(part), failed)


def _watermarks(part: Part) -> tuple[tuple[str, int], ...]:
    return tuple((due.thread, position) for due, position, _ in part)


def _again(part: Part) -> tuple[tuple[str, tuple[int, ...]], ...]:
    read = ((due, tuple(row.position for row in rows)) for due, _, rows in part)
    named = ((due.thread, tuple(p for p in places if p in due.again)) for due, places in read)
    return tuple((thread, places) for thread, places in named if places)


def after_commit(observed: Observed, result: Result) -> Observed:
    """Return what the observer knows after a commit."""
    formed = dict(result.watermarks)
    backoffs = tuple(each for each in observed.backoffs if each[0] not in formed)
    covered = tuple(sorted((*observed.covered, *result.messages)))
    return replace(observed, covered=covered, backoffs=backoffs)


def due_moments(world: World) -> Iterator[int]:
    """Yield when what waits may be formed."""
    for row in world.kept.threads:
        if is_waiting(row) and row.due is not None:
            yield max(row.due, row.not_before or 0)


def is_held(world: World) -> bool:
    """Return True if the lease belongs to a worker that is alive."""
    scope = world.kept.scope
    held = [(worker.lease.fence, worker.lease.epoch) for worker in world.workers if worker]
    return scope is not None and (scope.fence, scope.epoch) in held


def check(world: World) -> None:
    """Expect of a state what must hold in every one."""
    covered, erased = world.observed.covered, world.observed.erased
    if len(set(covered)) < len(covered):
        msg = f"doubled: a message was formed twice: {covered}"
        raise BrokenPromiseError(msg)
    given = list(world.kept.given_up())
    if len({*covered, *given}) < len(covered) + len(given):
        msg = f"doubled: a message was given up twice, or formed as well: {given}, {covered}"
        raise BrokenPromiseError(msg)
    texts = [row.text for row in world.kept.memories]
    if len(set(texts)) < len(texts):
        msg = f"two notes of one fact: {texts}"
        raise BrokenPromiseError(msg)
    if any(messages_in(row.evidence) & erased for row in world.kept.memories):
        msg = f"resurrected: a note rests on one of {erased}, which were erased"
        raise BrokenPromiseError(msg)


def check_end(world: World) -> None:
    """Expect that nothing is left undone where nothing can happen any more."""
    live = {row.id for row in world.kept.messages}
    behind = [row.id for row in world.kept.threads if is_waiting(row)]
    if behind or live != {*world.observed.covered, *world.kept.given_up()}:
        msg = f"lost: of {live} only {world.observed.covered} were formed; {behind} are behind"
        raise BrokenPromiseError(msg)


def is_at_end(world: World, protocol: Protocol) -> bool:
    """Return True if all is said, all workers are idle, and neither they nor time can do more."""
    return (
        world.workers == (None, None)
        and all(count == len(SAID[thread]) for thread, count in world.observed.said)
        and not list(protocol.claim(world, 0))
        and not list(protocol.tick(world))
    )


def explore(protocol: Protocol, start: World) -> tuple[int, int]:
    """Visit every state that can be reached; return how many there are, and how many ends."""
    seen, waiting, ends = {start.key()}, deque([start]), 0
    while waiting:
        world = waiting.popleft()
        check(world)
        if is_at_end(world, protocol):
            check_end(world)
            ends += 1
        for following in protocol.steps(world):
            key = following.key()
            if key not in seen:
                seen.add(key)
                waiting.append(following)
    return len(seen), ends


FULL = Protocol(forms_parts=True, extends=True)
MESSAGE, THREAD, EVERYTHING = (Protocol(targets=(target,)) for target in TARGETS)
SOME, ALL = Budget(1, 1, 0, 1), Budget(2, 2, 0, 1)
CASES = {
    "crashes and late workers": (FULL, World(wait=PAUSE), 10_000),
    "failures and backoffs": (FULL, World(wait=PAUSE, budget=Budget(1, 1, 1)), 10_000),
    "an erase of a message": (MESSAGE, World(budget=SOME), 3_000),
    "an erase of a thread": (THREAD, World(budget=SOME), 3_000),
    "an erase of everything": (EVERYTHING, World(budget=SOME), 3_000),
    "a message given up": (Protocol(), World(budget=Budget(1, 1, 0, 0, 1)), 3_000),
    "a message given up, an erase": (MESSAGE, World(budget=Budget(0, 0, 0, 1, 1)), 1_000),
}
LONG_CASES = {
    "messages given up": (FULL, World(wait=PAUSE, budget=Budget(0, 1, 1, 0, 1)), 5_000),
    "messages given up, erases": (Protocol(), World(budget=Budget(1, 0, 0, 1, 2)), 5_000),
    "an erase of a message": (MESSAGE, World(budget=ALL), 15_000),
    "an erase of a thread": (THREAD, World(budget=ALL), 15_000),
    "an erase of everything": (EVERYTHING, World(budget=ALL), 15_000),
    "an erase, failures": (Protocol(), World(budget=Budget(2, 1, 1, 1)), 100_000),
    "an erase, failures, pauses": (FULL, World(wait=PAUSE, budget=Budget(1, 1, 1, 1)), 100_000),
}


@pytest.mark.parametrize("name", CASES)
def test_no_message_is_lost_or_doubled(name: str) -> None:
    """In every state that can be reached, each message is formed once, and none that is erased."""
    protocol, start, states_min = CASES[name]

    states, ends = explore(protocol, start)

    assert states > states_min
    assert ends > 10


@pytest.mark.prove
@pytest.mark.parametrize("name", LONG_CASES)
def test_no_message_is_lost_or_doubled_at_length(name: str) -> None:
    """In every state that can be reached, each message is formed once, and none that is erased."""
    protocol, start, states_min = LONG_CASES[name]

    states, ends = explore(protocol, start)

    assert states > states_min
    assert ends > 10


def no_fence(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    """Trust every lease of the present epoch."""
    return check_lease(scope and replace(scope, fence=lease.fence), lease)


def no_epoch(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    """Trust a lease from before an erase."""
    row = check_lease(scope and replace(scope, epoch=lease.epoch), lease)
    return replace(row, epoch=scope.epoch) if scope else row


def still_leased(rows: Rows, scope: ScopeRow) -> ScopeRow:
    """Begin the epoch of an erase without releasing the lease."""
    return replace(scope, seq=scope.seq + 1, epoch=rows.new_number())


def no_owner(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    """Trust a lease that was given back."""
    return check_lease(scope and replace(scope, lease_owner=lease.owner), lease)


def insert_or_ignore(thread: ThreadRow, *how: Any, tokens: int) -> ThreadRow:
    """Signal as a queue does that has one row a thread: a second one is ignored."""
    signal = thread_after_append(thread, *how, tokens=tokens)
    return signal if thread.due is None else replace(signal, due=thread.due)


def delete_row(thread: ThreadRow, position: int, now: int) -> ThreadRow:
    """Acknowledge as a queue does: the row goes, whatever came meanwhile."""
    return replace(formed_thread(thread, position, now), due=None)


def skip_ahead(thread: ThreadRow, position: int, now: int) -> ThreadRow:
    """Take what came during the formation for formed."""
    return formed_thread(thread, thread.last if position else position, now)


def no_signal(thread: ThreadRow, *how: Any, tokens: int) -> ThreadRow:
    """Append, and leave the signal to another transaction."""
    appended = thread_after_append(thread, *how, tokens=tokens)
    return replace(appended, due=thread.due, first_pending_at=thread.first_pending_at)


def impatient(thread: ThreadRow, added: int, now: int, *how: Any, tokens: int) -> ThreadRow:
    """Let a new message end a backoff."""
    return replace(
        thread_after_append(thread, added, now, *how, tokens=tokens), due=now, not_before=None
    )


def unnoted_redrive(rows: Rows, scope: Scope, formation_id: str, now: int) -> PlannedWrite[int]:
    """Redrive a formation, and leave it dead."""
    planned = plan_redrive(rows, scope, formation_id, now)
    return replace(planned, effect=replace(planned.effect, formations=()))


def redrive_at_once(rows: Rows, scope: Scope, formation_id: str, now: int) -> PlannedWrite[int]:
    """Redrive a formation, and let that end a backoff."""
    planned = plan_redrive(rows, scope, formation_id, now)
    due = [replace(row, due=now, not_before=None) for row in planned.effect.threads]
    return replace(planned, effect=replace(planned.effect, threads=due))


class SignalLater(Protocol):
    """Signals in a second transaction, before which a process may crash."""

    def append(self, world: World, thread: str, message: str) -> Iterator[World]:
        """Append; the signal is still to come."""
        for following in super().append(world, thread, message):
            waiting = (*following.observed.unsignalled, thread)
            yield replace(following, observed=replace(following.observed, unsignalled=waiting))

    def tick(self, world: World) -> Iterator[World]:
        """Signal, or crash before it, or let time pass."""
        yield from super().tick(world)
        for thread in world.observed.unsignalled[:1]:
            observed = replace(world.observed, unsignalled=world.observed.unsignalled[1:])
            kept, _ = world.kept.after(partial(self.signal, thread=thread, now=world.now))
            yield replace(world, kept=kept, observed=observed)
            if world.budget.crashes:
                yield replace(world, observed=observed).spent("crashes")

    def signal(self, rows: Rows, thread: str, now: int) -> PlannedWrite[None]:
        """Make a thread due."""
        scope = rows.scope(SCOPE)
        row = rows.thread(scope.id, thread) if scope else None
        due = [replace(row, due=now, first_pending_at=now)] if row else []
        return PlannedWrite(Effect(threads=due), None)


class AcknowledgeLater(Protocol):
    """Stores what was found in one transaction, and the watermark in another."""

    def commit(self, world: World, number: int, worker: Worker, result: Result) -> Iterator[World]:
        """Commit the first half, then the second."""
        if worker.is_halfway:
            for following in super().commit(world, number, worker, replace(result, writes=())):
                yield replace(following, observed=world.observed)
            return
        plan = partial(self.store, worker=worker, result=result, now=world.now)
        try:
            kept, _ = world.kept.after(plan)
        except LeaseLostError:
            yield world.with_worker(number, None)
            return
        observed = after_commit(world.observed, result)
        halfway = replace(worker, is_halfway=True)
        yield replace(world, kept=kept, observed=observed).with_worker(number, halfway)

    def store(self, rows: Rows, worker: Worker, result: Result, now: int) -> PlannedWrite[object]:
        """Store what was found, and nothing else."""
        scope = check_lease(rows.scope(SCOPE), worker.lease)
        ids = CountingIds(1_000 + rows.new_number())
        return plan_writes(rows, scope, result.writes, ids=ids, now=now)


class LeaseThreads(Protocol):
    """Leases each thread for itself, so that two of one scope are formed at once."""

    def claim(self, world: World, number: int) -> Iterator[World]:
        """Claim one thread that is due."""
        scope, leases = world.kept.scope, dict(world.observed.leases)
        if scope is None:
            return
        for row in world.kept.threads:
            unleased = replace(scope, fence=0, lease_owner=None, lease_until=None)
            lease_row = leases.get(row.id, unleased)
            if is_due(row, world.now) and not is_leased(lease_row, world.now):
                leased, lease = claimed_scope(
                    lease_row, [row], owner="w", lease_s=LEASE_S, now=world.now
                )
                held = tuple({**leases, row.id: leased}.items())
                observed = replace(world.observed, leases=held)
                yield replace(world, observed=observed).with_worker(number, Worker(lease))

    def commit(self, world: World, number: int, worker: Worker, result: Result) -> Iterator[World]:
        """Commit under the lease of the thread."""
        scope, leases = world.kept.scope, dict(world.observed.leases)
        leased = leases.pop(worker.lease.threads[0].thread)
        fields = {name: getattr(leased, name) for name in ("fence", "lease_owner", "lease_until")}
        kept = replace(world.kept, scope=replace(scope, **fields)) if scope else world.kept
        observed = replace(world.observed, leases=tuple(leases.items()))
        yield from super().commit(
            replace(world, kept=kept, observed=observed), number, worker, result
        )


CHECK, SIGNALLED = (formation, "check_lease"), (threads, "thread_after_append")
FORMED = (formation, "formed_thread")
SOUND, DEATH = Protocol(), Budget(0, 0, 0, 0, 1)
Wrong = dict[tuple[object, str], Callable[..., object]]
MUTANTS: dict[str, tuple[Protocol, Wrong, Budget, str]] = {
    "no fence is checked": (
        Protocol(refusals=(LeaseLostError, UsageError)), {CHECK: no_fence}, Budget(0, 2), "doubled",
    ),
    "the epoch is ignored": (
        SOUND, {CHECK: no_epoch, (erasure, "_begun_anew"): still_leased}, ALL, "resurrected",
    ),
    "a lease given back is good": (SOUND, {CHECK: no_owner}, ALL, "twice"),
    "a queue with insert or ignore": (
        SOUND, {SIGNALLED: insert_or_ignore, FORMED: delete_row}, Budget(0, 0), "lost",
    ),
    "the watermark skips ahead": (SOUND, {FORMED: skip_ahead}, Budget(0, 0), "lost"),
    "the watermark in a second transaction": (AcknowledgeLater(), {}, Budget(1, 0), "doubled"),
    "the signal in a second transaction": (
        SignalLater(), {SIGNALLED: no_signal}, Budget(1, 0), "lost",
    ),
    "a lease for each thread": (LeaseThreads(), {}, Budget(0, 0), "two notes of one fact"),
    "a message ends a backoff": (SOUND, {SIGNALLED: impatient}, Budget(0, 0, 1), "early"),
    "what was postponed comes at once": (
        SOUND, {(formation, "postponed_thread"): lambda row, _: row}, Budget(0, 0, 1), "early",
    ),
    "what was re-driven is forgotten": (
        SOUND, {FORMED: lambda *how: replace(formed_thread(*how), again="[]")}, DEATH, "lost",
    ),
    "what was formed again waits again": (
        SOUND, {(formation, "without_again"): lambda row, _: row}, DEATH, "doubled",
    ),
    "what was re-driven is never due": (
        SOUND, {(inprocess, "is_due"): lambda row, now: is_due(replace(row, again="[]"), now)},
        DEATH, "lost",
    ),
    "a redrive is not noted": (
        SOUND, {(receipts, "plan_redrive"): unnoted_redrive}, DEATH, "doubled",
    ),
    "a redrive ends a backoff": (
        SOUND, {(receipts, "plan_redrive"): redrive_at_once}, Budget(0, 0, 1, 0, 1), "early",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_weaker_protocol_breaks_a_promise(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whatever is left out of the protocol, some state that can be reached shows it."""
    protocol, wrong, budget, promise = MUTANTS[name]
    for (module, function), mutant in wrong.items():
        monkeypatch.setattr(module, function, mutant)

    with pytest.raises(BrokenPromiseError, match=f"^{promise}: "):
        explore(protocol, World(budget=budget))
