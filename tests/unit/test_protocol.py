"""
Formation neither loses nor doubles a message: every state of a small world is visited.

Two threads of one scope, three messages, two workers that may crash, be late, fail or lose
an answer, and an erase at any point. What happens in a step is decided by the store's own
plans; what must hold is checked in every state that they can reach.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TypeVar

import pytest

from recollect.errors import LeaseLostError
from recollect.records import Evidence, NewMessage, PutMemory
from recollect.stores.inprocess import Tables
from recollect.stores.plans import formation, threads
from recollect.stores.plans.erase import (
    EraseMessages,
    EraseScope,
    EraseTarget,
    EraseThread,
    plan_erase,
)
from recollect.stores.plans.formation import (
    Debounce,
    Formed,
    Lease,
    claimed_scope,
    is_due,
    is_leased,
    plan_claim,
    plan_commit,
    plan_extension,
    plan_release,
)
from recollect.stores.plans.memories import PreparedWrite, evidence_messages, plan_writes, prepare_write
from recollect.stores.plans.threads import Append, PreparedMessage, plan_append, prepare_message
from recollect.stores.rows import MemoryRow, MessageRow, ReceiptRow, ScopeRow, ThreadRow
from recollect.stores.unit import Effect, Plan, Planned, Rows
from recollect.testing import NOON, CountingIds

ResultT = TypeVar("ResultT")

SCOPE, SECOND = ("ada",), 1_000_000
START = int(NOON.timestamp()) * SECOND
SAID = {"a": ("a1", "a2"), "b": ("b1",)}
WORDS = {"a1": "has a cat", "a2": "has a dog", "b1": "has a cat"}
WAIT = Debounce(quiet_s=1, max_wait_s=3)
LEASE_S, RETRY_S = 4, 3
TARGETS: tuple[EraseTarget, ...] = (
    EraseMessages(thread="a", messages=["a1"]),
    EraseThread(thread="a"),
    EraseScope(),
)


class BrokenPromiseError(Exception):
    """A state that must not be."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a worker found: its writes, how far it came, and the messages that it read."""

    writes: tuple[PreparedWrite, ...]
    watermarks: tuple[tuple[str, int], ...]
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker with a lease: thinking while it has no result."""

    lease: Lease
    result: Result | None = None
    commits: int = 0
    is_halfway: bool = False  # of two transactions that a mutant makes of one


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How often something may still go wrong."""

    crashes: int = 2
    expiries: int = 2
    failures: int = 1
    erases: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The rows of the store, the workers, and what only the observer knows."""

    wait: Debounce = Debounce(quiet_s=0, max_wait_s=0)
    now: int = START
    numbers: int = 0
    scope: ScopeRow | None = None
    threads: tuple[ThreadRow, ...] = ()
    messages: tuple[MessageRow, ...] = ()
    memories: tuple[MemoryRow, ...] = ()
    workers: tuple[Worker | None, ...] = (None, None)
    budget: Budget = Budget()
    said: tuple[tuple[str, int], ...] = (("a", 0), ("b", 0))
    covered: tuple[str, ...] = ()
    erased: frozenset[str] = frozenset()
    backoffs: tuple[tuple[str, int], ...] = ()
    unsignalled: tuple[str, ...] = ()
    thread_leases: tuple[tuple[str, ScopeRow], ...] = ()

    def rows(self) -> Tables:
        """Return the rows as the reference backend keeps them."""
        tables = Tables()
        tables._number = self.numbers
        scopes = [self.scope] if self.scope else []
        tables.write(
            Effect(
                scopes=scopes, threads=self.threads, messages=self.messages, memories=self.memories
            )
        )
        return tables

    def after(self, plan: Plan[ResultT]) -> tuple["World", ResultT]:
        """Run *plan* in one transaction; return the world then, and the answer."""
        tables = self.rows()
        planned = plan(tables)
        tables.write(planned.effect)
        scope = tables.scope(SCOPE)
        world = replace(
            self,
            numbers=tables._number,
            scope=scope,
            threads=tuple(tables.threads(scope.id, None, 9)) if scope else (),
            messages=tuple(tables.all_messages(scope.id)) if scope else (),
            memories=tuple(tables.memories(scope.id, None, None)) if scope else (),
        )
        return world, planned.result

    def ids(self) -> CountingIds:
        """Return ids that no entry has."""
        return CountingIds(1 + max((row.uid for row in (*self.messages, *self.memories)), default=0))

    def with_worker(self, number: int, worker: Worker | None) -> "World":
        """Return the world in which a worker is in another state."""
        workers = list(self.workers)
        workers[number] = worker
        return replace(self, workers=tuple(workers))

    def spent(self, what: str) -> "World":
        """Return the world in which one thing less may go wrong."""
        left = getattr(self.budget, what) - 1
        return replace(self, budget=replace(self.budget, **{what: left}))

    def key(self) -> tuple[object, ...]:
        """Return what decides about the future: times from now on, numbers by comparison."""
        scope = self.scope
        lease = scope and (scope.lease_owner is None, self._left(scope.lease_until))
        rows = [
            (t.id, t.last, t.formed, self._left(t.due), self._left(t.not_before), self._waited(t))
            for t in self.threads
        ]
        return (
            lease,
            tuple(rows),
            tuple((row.thread, row.position, row.id) for row in self.messages),
            tuple(sorted((row.text, row.evidence) for row in self.memories)),
            tuple(sorted(map(repr, map(self._worker_key, self.workers)))),
            self.budget,
            self.said,
            self.covered,
            self.erased,
            tuple((thread, self._left(until)) for thread, until in self.backoffs),
            self.unsignalled,
            tuple((t, r.lease_owner is None, self._left(r.lease_until)) for t, r in self.thread_leases),
        )

    def _left(self, moment: int | None) -> int | None:
        return None if moment is None else max(moment - self.now, 0)

    def _waited(self, thread: ThreadRow) -> int | None:
        longest = round(self.wait.max_wait_s * SECOND)
        first = thread.first_pending_at
        return None if first is None else min(self.now - first, longest)

    def _worker_key(self, worker: Worker | None) -> object:
        if worker is None:
            return None
        lease, scope = worker.lease, self.scope
        held = scope and (scope.epoch == lease.epoch, scope.fence == lease.fence)
        rows = dict(self.thread_leases)
        fences = [rows[t.thread].fence == lease.fence for t in lease.threads if t.thread in rows]
        spans = [(each.thread, each.formed, each.last) for each in lease.threads]
        result = worker.result and (worker.result.watermarks, worker.result.messages, [
            write.text for write in worker.result.writes if hasattr(write, "text")
        ])  # fmt: skip
        return held, fences, spans, result, worker.commits, worker.is_halfway


@cache
def prepared(message: str) -> PreparedMessage:
    """Return a message as it is kept."""
    said = NewMessage(role="user", id=message, text=WORDS[message], time=NOON)
    return prepare_message(said, START, CountingIds())


@cache
def note(message: str, thread: str, fence: int) -> PreparedWrite:
    """Return the write of what a message says."""
    evidence = {"": [Evidence(thread=thread, message=message)]}
    value = {"text": WORDS[message]}
    key = f"{message}.{fence}"
    return prepare_write(PutMemory(type="Note", key=key, value=value, evidence=evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The steps that the world can take: each is one transaction of the store, or none."""

    forms_parts: bool = False
    extends: bool = False

    def steps(self, world: World) -> Iterator[World]:
        """Yield every world that can come next."""
        for thread, count in world.said:
            if count < len(SAID[thread]):
                yield from self.append(world, thread, SAID[thread][count])
        for number, worker in enumerate(world.workers):
            if worker is None:
                yield from self.claim(world, number)
            elif worker.result is None:
                yield from self.think(world, number, worker)
            else:
                yield from self.commit(world, number, worker, worker.result)
            if worker:
                yield from self.give_up(world, number, worker)
        if world.budget.erases and world.scope:
            for target in TARGETS:
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
        world, _ = world.after(partial(plan_append, request=request, ids=world.ids()))
        said = {**dict(world.said), thread: dict(world.said)[thread] + 1}
        yield replace(world, said=tuple(said.items()))

    def claim(self, world: World, number: int) -> Iterator[World]:
        """Claim what is due."""
        world, lease = world.after(
            lambda rows: plan_claim(rows, f"worker {number}", LEASE_S, world.now)
        )
        if lease:
            yield self.claimed(world, number, lease)

    def claimed(self, world: World, number: int, lease: Lease) -> World:
        """Expect that nothing was claimed that is backing off."""
        backoffs = dict(world.backoffs)
        if any(backoffs.get(each.thread, 0) > world.now for each in lease.threads):
            msg = "early: a thread is formed before its backoff has ended"
            raise BrokenPromiseError(msg)
        return world.with_worker(number, Worker(lease))

    def think(self, world: World, number: int, worker: Worker) -> Iterator[World]:
        """Read the messages and the notes there are, and find what to write; or only a part."""
        rows, lease = world.rows(), worker.lease
        known = {row.text for row in world.memories}
        spans: list[tuple[str, int, list[MessageRow]]] = []
        for due in lease.threads:
            row = rows.thread(world.scope.id, due.thread) if world.scope else None
            read = rows.messages(
                row.scope_id, row.number, after=due.formed, until=due.last, limit=9
            ) if row else []  # fmt: skip
            spans.append((due.thread, due.last, list(read)))
        thread, _, first = spans[0]
        parts = [spans]
        if self.forms_parts and len(first) > 1:
            parts.append([(thread, first[0].position, first[:1])])
        for part in parts:
            told: dict[str, PreparedWrite] = {}
            for name, _, read in part:
                for each in read:
                    told.setdefault(each.text, note(each.id, name, lease.fence))
            writes = tuple(
                write for text, write in told.items() if f"text: {text}" not in known
            )
            result = Result(
                writes=writes,
                watermarks=tuple((name, position) for name, position, _ in part),
                messages=tuple(each.id for _, _, read in part for each in read),
            )
            yield world.with_worker(number, replace(worker, result=result))

    def commit(
        self, world: World, number: int, worker: Worker, result: Result
    ) -> Iterator[World]:
        """Commit; the answer may be lost, and the worker tries again."""
        try:
            after, _ = world.after(
                lambda rows: self.plan_commit(rows, worker.lease, result, world.now)
            )
        except LeaseLostError:
            yield world.with_worker(number, None)
            return
        yield from self.committed(after, number, worker, result)

    def plan_commit(self, rows: Rows, lease: Lease, result: Result, now: int) -> Planned[object]:
        """Plan a commit."""
        formed = Formed(watermarks=dict(result.watermarks))
        ids = CountingIds(1_000 + rows.new_number())
        return plan_commit(rows, lease, result.writes, formed, ids=ids, now=now)

    def committed(
        self, world: World, number: int, worker: Worker, result: Result
    ) -> Iterator[World]:
        """Take note of a commit, and expect that it was the first of its claim."""
        if worker.commits:
            msg = "twice: one claim was committed two times"
            raise BrokenPromiseError(msg)
        covered = tuple(sorted((*world.covered, *result.messages)))
        formed = dict(result.watermarks)
        backoffs = tuple(each for each in world.backoffs if each[0] not in formed)
        world = replace(world, covered=covered, backoffs=backoffs)
        yield world.with_worker(number, None)
        if world.budget.crashes:
            yield world.spent("crashes").with_worker(number, replace(worker, commits=1))

    def give_up(self, world: World, number: int, worker: Worker) -> Iterator[World]:
        """Crash, fail, or extend the lease."""
        if world.budget.crashes:
            yield world.spent("crashes").with_worker(number, None)
        names = [each.thread for each in worker.lease.threads]
        if world.budget.failures and worker.result is None:
            yield self.fail(world.spent("failures"), number, worker.lease, names)
        if not self.extends:
            return
        try:
            after, lease = world.after(
                lambda rows: plan_extension(rows, worker.lease, LEASE_S, world.now)
            )
        except LeaseLostError:
            return
        yield after.with_worker(number, replace(worker, lease=lease))

    def fail(self, world: World, number: int, lease: Lease, names: Sequence[str]) -> World:
        """Give the lease back after a failure."""
        try:
            world, _ = world.after(
                lambda rows: plan_release(
                    rows, lease, failed=names, retry_s=RETRY_S, now=world.now
                )
            )
        except LeaseLostError:
            return world.with_worker(number, None)
        until = world.now + RETRY_S * SECOND
        backoffs = {**dict(world.backoffs), **dict.fromkeys(names, until)}
        return replace(world, backoffs=tuple(backoffs.items())).with_worker(number, None)

    def erase(self, world: World, target: EraseTarget) -> World:
        """Erase some messages, a thread or everything."""
        receipt = ReceiptRow(
            id="r", target=b"", messages=0, memories=0, revised=0, erased_at=world.now
        )
        before = {row.id for row in world.messages}
        world, _ = world.after(
            partial(plan_erase, scope=SCOPE, target=target, receipt=receipt)
        )
        gone = before - {row.id for row in world.messages}
        there = {row.id for row in world.threads}
        return replace(
            world,
            erased=world.erased | gone,
            covered=tuple(each for each in world.covered if each not in gone),
            backoffs=tuple(each for each in world.backoffs if each[0] in there),
            unsignalled=tuple(each for each in world.unsignalled if each in there),
        )

    def tick(self, world: World) -> Iterator[World]:
        """Let time pass until something becomes due, or a lease runs out."""
        moments = [self.lease_end(world), *self.due_moments(world)]
        coming = [moment for moment in moments if moment and moment > world.now]
        if not coming:
            return
        later = replace(world, now=min(coming))
        if later.now != self.lease_end(world) or not self.is_held(world):
            yield later
        elif world.budget.expiries:
            yield later.spent("expiries")

    def due_moments(self, world: World) -> Iterator[int]:
        """Yield when what waits may be formed."""
        for thread in world.threads:
            if thread.formed < thread.last and thread.due is not None:
                yield max(thread.due, thread.not_before or 0)

    def lease_end(self, world: World) -> int | None:
        """Return when the lease on the scope runs out."""
        return world.scope.lease_until if world.scope and world.scope.lease_owner else None

    def is_held(self, world: World) -> bool:
        """Say whether the lease belongs to a worker that is alive."""
        scope = world.scope
        held = [(worker.lease.fence, worker.lease.epoch) for worker in world.workers if worker]
        return scope is not None and (scope.fence, scope.epoch) in held


def check(world: World) -> None:
    """Expect of a state what must hold in every one."""
    if len(set(world.covered)) < len(world.covered):
        msg = f"doubled: a message was formed twice: {world.covered}"
        raise BrokenPromiseError(msg)
    texts = [row.text for row in world.memories]
    if len(set(texts)) < len(texts):
        msg = f"double note: {texts}"
        raise BrokenPromiseError(msg)
    sources = {pair[1] for row in world.memories for pair in evidence_messages(row.evidence)}
    if sources & world.erased:
        msg = f"resurrected: a note rests on an erased message: {sources & world.erased}"
        raise BrokenPromiseError(msg)


def check_end(world: World) -> None:
    """Expect that nothing is left undone where nothing can happen any more."""
    live = [row.id for row in world.messages]
    behind = [row.id for row in world.threads if row.formed != row.last]
    if behind or sorted(live) != sorted(set(live) & set(world.covered)):
        msg = f"lost: {live} are there, formed were {world.covered}; behind are {behind}"
        raise BrokenPromiseError(msg)


def is_at_end(world: World, protocol: Protocol) -> bool:
    """Say whether all is said, all workers are idle, and neither they nor time can do more."""
    return (
        all(count == len(SAID[thread]) for thread, count in world.said)
        and not any(world.workers)
        and not list(protocol.claim(world, 0))
        and not list(protocol.tick(world))
    )


def explore(protocol: Protocol, start: World) -> tuple[int, int]:
    """Visit every state that can be reached; return how many there are, and how many ends."""
    seen = {start.key()}
    waiting, ends = deque([start]), 0
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


def test_no_message_is_lost_or_doubled() -> None:
    """In every state that can be reached each message is formed once, and what is erased stays so."""
    states, ends = explore(Protocol(), World())

    assert states > 3_000
    assert ends > 100

