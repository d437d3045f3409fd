"""Every backend agrees with the model of the contract, whatever is asked of it in which order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from recollect.errors import LeaseLostError, RecollectError
from recollect.ports import Clock, Ids
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    NewMessage,
    PutMemory,
    Scope,
    Write,
)
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.plans import due_times
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.rows import ScopeRow, ThreadRow
from recollect.stores.unit_of_work import Effect
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.follower import FeedFollower
from tests.harness.store_model import StoreModel
from tests.harness.store_opener import Opener

AnswerT = TypeVar("AnswerT")

SCOPES: tuple[Scope, ...] = (("a",), ("a", "b"), ("ab",))
THREADS, MESSAGES, KEYS = ("t", "u"), ("m1", "m2", "m3"), ("k", "l")
SHORT = Debounce(quiet_s=10, max_wait_s=25)

# Most is asked of one thread of one scope, so that it meets.
scopes = st.sampled_from((*SCOPES[:1] * 6, *SCOPES[1:]))
threads = st.sampled_from((*THREADS[:1] * 2, *THREADS))
ids = st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=2)
request_keys = st.sampled_from([*[None] * 6, "r1", "r2", "r3", "r4"])
moments = st.sampled_from(
    [None, *(datetime.fromisoformat(f"2024-05-06T{h}:00Z") for h in (11, 12))]
)
messages = st.builds(
    NewMessage,
    role=st.sampled_from(["user", "assistant"]),
    text=st.sampled_from(["hello", "good bye"]),
    id=st.sampled_from(MESSAGES),
    time=moments,
    session=st.sampled_from([None, None, "s"]),
    source=st.sampled_from([None, "mail"]),
    metadata=st.sampled_from([{}, {"n": 1}]),
)
expected = st.sampled_from([None, None, 0, 1, 2])
puts = st.builds(
    PutMemory,
    type=st.just("Fact"),
    key=st.sampled_from(KEYS),
    value=st.sampled_from([{"city": "Oslo"}, {"city": "Rome", "pets": ["cat", "dog"]}]),
    expected=expected,
    valid_from=moments,
)
ends = st.builds(
    EndMemory,
    type=st.just("Fact"),
    key=st.sampled_from(KEYS),
    at=moments.filter(bool),
    expected=expected,
)
deletions = st.builds(
    DeleteMemory, type=st.just("Fact"), key=st.sampled_from(KEYS), expected=expected
)
writes = st.one_of(puts, puts, ends, deletions)
lasting = st.sampled_from([None, None, 20])
targets = st.one_of(
    st.builds(EraseScope, below=st.booleans()),
    st.builds(EraseThread, thread=threads),
    st.builds(EraseMessages, thread=st.just("t"), messages=ids),
    st.builds(EraseMessages, thread=threads, messages=ids),
    st.builds(EraseMemory, type=st.just("Fact"), key=st.sampled_from(KEYS)),
    st.builds(EraseSource, source=st.just("mail")),
)
pointers = st.lists(st.sampled_from(("/city", "/pets/0", "/pets/1", "")), unique=True, max_size=3)


class StoreMachine(RuleBasedStateMachine):
    """Asks a store and the model the same, and compares their answers."""

    leases = Bundle[Lease]("leases")
    open_empty: ClassVar[Callable[..., Store]]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = FrozenClock()
        self.model = StoreModel(self.clock)
        self.store = self.runner.run(self._opened())
        self.followers = {scope: FeedFollower(scope) for scope in SCOPES}
        self.touched = SCOPES[0]
        self.asked: list[tuple[Callable[..., None], tuple[object, ...]]] = []
        """The requests that were made under a key."""

    async def _opened(self) -> Store:
        return type(self).open_empty(self.clock, SeededIds(1))

    def teardown(self) -> None:
        """Close the store and its loop."""
        self.runner.run(self.store.aclose())
        self.runner.close()

    def ask(self, answer: Awaitable[AnswerT]) -> AnswerT | type[RecollectError]:
        """Return the store's answer, or the class of its error."""

        async def waited() -> AnswerT | type[RecollectError]:
            try:
                return await answer
            except RecollectError as error:
                return type(error)

        return self.runner.run(waited())

    def agree(
        self, scope: Scope, answer: Awaitable[AnswerT], model: Callable[[], object]
    ) -> AnswerT | type[RecollectError]:
        """Expect that the store answers as the model does."""
        self.touched = scope
        try:
            wanted = model()
        except RecollectError as error:
            wanted = type(error)
        answered = self.ask(answer)
        assert wanted == answered
        return answered

    @initialize(batch=st.lists(messages, min_size=1, max_size=2), write=puts, pointers=pointers)
    def begin(self, batch: list[NewMessage], write: Write, pointers: list[str]) -> None:
        """Begin with a scope that holds something."""
        self.append(SCOPES[0], THREADS[0], batch, None)
        self.apply(SCOPES[0], [write], None, pointers, None)

    @rule(
        scope=scopes,
        thread=threads,
        batch=st.lists(messages, min_size=1, max_size=3),
        key=request_keys,
    )
    def append(self, scope: Scope, thread: str, batch: list[NewMessage], key: str | None) -> None:
        """Append messages."""
        if key:
            self.asked.append((self.append, (scope, thread, batch, key)))
        answer = self.store.append(scope, thread, batch, idempotency_key=key, debounce=SHORT)
        self.agree(
            scope, answer, lambda: self.model.append(scope, thread, batch, key=key, debounce=SHORT)
        )

    @rule(scope=scopes, thread=threads, ids=ids)
    def remove(self, scope: Scope, thread: str, ids: list[str]) -> None:
        """Remove messages."""
        answer = self.store.remove(scope, thread, ids)
        self.agree(scope, answer, lambda: self.model.remove(scope, thread, ids))

    @rule(
        scope=scopes, thread=threads, first=st.integers(1, 4), length=st.integers(0, 3) | st.none()
    )
    def keep(self, scope: Scope, thread: str, first: int, length: int | None) -> None:
        """Keep a range of messages."""
        last = None if length is None else first + length
        answer = self.store.keep(scope, thread, first, last)
        self.agree(scope, answer, lambda: self.model.keep(scope, thread, first, last))

    @rule(scope=scopes, thread=threads, message=messages)
    def replace(self, scope: Scope, thread: str, message: NewMessage) -> None:
        """Replace a message."""
        answer = self.store.replace(scope, thread, message)
        self.agree(scope, answer, lambda: self.model.replace(scope, thread, message))

    def founded(
        self, scope: Scope, write: Write, pointers: Sequence[str], lasts_s: int | None
    ) -> Write:
        """Return *write*, resting on messages that there are, and to expire after some time."""
        if not isinstance(write, PutMemory):
            return write
        there = [each for thread in THREADS for each in self.model.messages(scope, thread)]
        evidence = {
            # Without a quote: of what is quoted, erasing lets the rest be formed anew.
            pointer: [Evidence(thread=each.thread, message=each.id)]
            for pointer, each in zip(pointers, there, strict=False)
        }
        expires_at = None if lasts_s is None else self.clock.now() + timedelta(seconds=lasts_s)
        return replace(write, evidence=evidence, expires_at=expires_at)

    @rule(
        scope=scopes,
        batch=st.lists(writes, min_size=1, max_size=3),
        key=request_keys,
        pointers=pointers,
        lasts_s=lasting,
    )
    def apply(
        self,
        scope: Scope,
        batch: list[Write],
        key: str | None,
        pointers: list[str],
        lasts_s: int | None,
    ) -> None:
        """Write memories."""
        self.write(scope, [self.founded(scope, each, pointers, lasts_s) for each in batch], key)

    def write(self, scope: Scope, founded: list[Write], key: str | None) -> None:
        """Write memories as they are given."""
        if key:
            self.asked.append((self.write, (scope, founded, key)))
        answer = self.store.apply(scope, founded, idempotency_key=key)
        self.agree(scope, answer, lambda: self.model.apply(scope, founded, key=key))

    @rule(place=st.integers(0, 5))
    def retry(self, place: int) -> None:
        """Repeat one of the last requests that were made under a key."""
        if place < len(self.asked):
            request, given = self.asked[-1 - place]
            request(*given)
            del self.asked[-1]

    @rule(scope=scopes, named=targets)
    def erase(self, scope: Scope, named: EraseTarget) -> None:
        """Erase something."""

        async def counted() -> tuple[int, int, int]:
            receipt = await self.store.erase(scope, named)
            assert self.clock.now() == receipt.erased_at
            return receipt.messages, receipt.memories, receipt.revised

        self.agree(scope, counted(), lambda: self.model.erase(scope, named))

    @rule(seconds=st.sampled_from([10, 10, 1, 5, 25, 60, 3_600]))
    def advance(self, seconds: int) -> None:
        """Advance the clock."""
        self.clock.advance(seconds)

    @rule(target=leases, owner=st.sampled_from(["v", "w"]))
    def claim(self, owner: str) -> Lease | MultipleResults[Lease]:
        """Claim what is due."""
        claimable = self.model.claimable()
        lease = self.ask(self.store.claim(owner, lease_s=20))
        assert not isinstance(lease, type)
        assert bool(claimable) == (lease is not None)
        if lease is None:
            return multiple()
        self.touched = lease.scope
        assert claimable[lease.scope] == sorted(lease.threads, key=lambda each: each.thread)
        self.model.take_claim(lease)
        return lease

    @rule(lease=leases, batch=st.lists(writes, max_size=2), whole=st.booleans())
    def commit(self, lease: Lease, batch: list[Write], *, whole: bool) -> None:
        """Commit a formation, of everything claimed or of one message a thread."""
        watermarks = {
            each.thread: each.last if whole else min(each.formed + 1, each.last)
            for each in lease.threads
        }
        formed = Formed(watermarks=watermarks)
        answer = self.store.commit(lease, batch, formed)
        self.agree(lease.scope, answer, lambda: self.model.commit(lease, batch, formed))

    @rule(lease=leases, failed=st.booleans(), retry_s=st.sampled_from([0, 5, 40]))
    def release(self, lease: Lease, *, failed: bool, retry_s: int) -> None:
        """Release a lease, with or without failure."""
        names = [each.thread for each in lease.threads] if failed else []
        answer = self.store.release(lease, failed=names, retry_s=retry_s)
        self.agree(lease.scope, answer, lambda: self.model.release(lease, names, retry_s))

    @rule(lease=leases)
    def extend(self, lease: Lease) -> None:
        """Extend a lease."""
        answer = self.store.extend(lease, lease_s=20)
        self.agree(lease.scope, answer, lambda: self.model.extend(lease, 20))

    @rule(scope=scopes, thread=threads)
    def signal(self, scope: Scope, thread: str) -> None:
        """Make a thread due."""
        answer = self.store.signal(scope, thread)
        self.agree(scope, answer, lambda: self.model.signal(scope, thread))

    @rule(scope=scopes)
    def follow(self, scope: Scope) -> None:
        """Follow the feed: the reader then has what a new one gets, and what there is."""
        follower = self.followers[scope]

        async def followed() -> list[object]:
            feed = await self.store.changes(follower.cursor)
            assert len(feed.entries) == len({entry.uid for entry in feed.entries})
            follower.take_in(feed)
            fresh = await self.store.changes(Cursor(scope=scope))
            assert {entry.uid: entry for entry in fresh.entries} == follower.entries
            chosen = [(scope, uid) for uid in follower.entries]
            found = await self.store.read(lambda snapshot: snapshot.entries(chosen))
            return [each.content for each in found]

        found = self.ask(followed())
        assert isinstance(found, list)
        here = self.model.scopes.get(scope)
        memories = here.memories.listed(self.clock.now()) if here else []
        there = [each for thread in THREADS for each in self.model.messages(scope, thread)]
        assert sorted(map(repr, [*there, *memories])) == sorted(map(repr, found))

    @invariant()
    def reads_agree(self) -> None:
        """Everything in the scope that was touched last reads as the model has it."""
        scope, now = self.touched, self.clock.now()
        here = self.model.scopes.get(scope)
        memories = here.memories.listed(now) if here else []
        history = {key: here.memories.history("Fact", key, now) if here else () for key in KEYS}
        self.agree(scope, self._read(scope), lambda: (
            [self.model.thread(scope, thread) for thread in THREADS],
            [tuple(self.model.messages(scope, thread)) for thread in THREADS],
            tuple(memories),
            history,
            [here and here.memories.get("Fact", key, now) for key in KEYS],
        ))  # fmt: skip

    async def _read(self, scope: Scope) -> tuple[object, ...]:
        return (
            [await self.store.thread(scope, thread) for thread in THREADS],
            [(await self.store.messages(scope, thread)).rows for thread in THREADS],
            (await self.store.memories(scope)).rows,
            {key: await self.store.history(scope, "Fact", key) for key in KEYS},
            await self.store.get_many(scope, [("Fact", key) for key in KEYS]),
        )


def machine_of(opener: Opener) -> type[StoreMachine]:
    """Return the machine that asks the stores which *opener* opens."""

    class OpenedMachine(StoreMachine):
        open_empty = staticmethod(opener)

    return OpenedMachine


def test_a_store_agrees_with_the_model(open_empty: Opener, examples: int) -> None:
    """Store and model agree on any sequence of calls."""
    sample = settings(settings.get_profile("sample"), max_examples=examples)
    run_state_machine_as_test(machine_of(open_empty), settings=sample)


@pytest.mark.prove
@pytest.mark.parametrize("steps", [15, 30, 60, 120])
def test_a_store_agrees_with_the_model_at_length(open_empty: Opener, steps: int) -> None:
    """Store and model agree on long sequences of calls."""
    run_state_machine_as_test(
        machine_of(open_empty),
        settings=settings(settings.get_profile("prove"), stateful_step_count=steps),
    )


def _forget_longest_wait(
    thread: ThreadRow, added: int, now: int, debounce: Debounce, *, tokens: int
) -> ThreadRow:
    due = due_times.thread_after_append(thread, added, now, debounce, tokens=tokens)
    return replace(due, due=now + 10_000_000) if added else due


def _trust_any_lease(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    if scope is None:
        raise LeaseLostError(lease)
    return scope


ADA, TALK = SCOPES[0], THREADS[0]
ONE, TWO, THREE = (NewMessage(role="user", id=id_, text="hello") for id_ in MESSAGES)
HOME = PutMemory(type="Fact", key="k", value={"city": "Oslo"})


def append_thrice(machine: StoreMachine) -> None:
    """Continue a conversation beyond the longest wait."""
    for message in (ONE, TWO, THREE):
        machine.append(ADA, TALK, [message], None)
        machine.advance(10)
    machine.reads_agree()


def be_late(machine: StoreMachine) -> None:
    """Claim twice, and commit the first."""
    machine.append(ADA, TALK, [ONE], None)
    machine.advance(10)
    late = machine.claim("v")
    machine.advance(60)
    machine.claim("w")
    machine.commit(late, [HOME], whole=True)


def remove_one(machine: StoreMachine) -> None:
    """Remove a message that a reader has seen."""
    machine.append(ADA, TALK, [ONE, TWO], None)
    machine.follow(ADA)
    machine.remove(ADA, TALK, ["m1"])
    machine.follow(ADA)


def outlive(machine: StoreMachine) -> None:
    """Write a memory again after it has expired."""
    machine.apply(ADA, [HOME], None, [], 20)
    machine.advance(60)
    machine.apply(ADA, [HOME], None, [], None)


def erase_one(machine: StoreMachine) -> None:
    """Erase a message that a memory rests on."""
    machine.append(ADA, TALK, [ONE], None)
    machine.apply(ADA, [HOME], None, ["/city"], None)
    machine.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))


def pause(machine: StoreMachine) -> None:
    """Append after a pause."""
    machine.append(ADA, TALK, [ONE], None)
    machine.advance(3_600)
    machine.append(ADA, TALK, [TWO], None)


def claim_twice(machine: StoreMachine) -> None:
    """Claim what is claimed."""
    machine.append(ADA, TALK, [ONE], None)
    machine.advance(10)
    machine.claim("v")
    machine.claim("w")


def retry_erased(machine: StoreMachine) -> None:
    """Retry what was erased, alone and with its scope."""
    machine.append(ADA, TALK, [ONE], "r1")
    machine.append(ADA, TALK, [TWO], None)
    machine.erase(ADA, EraseMessages(thread=TALK, messages=["m1"]))
    machine.retry(0)
    machine.erase(ADA, EraseScope())
    machine.retry(0)


Mutant = tuple[str, object, Callable[[StoreMachine], None]]
MUTANTS: dict[str, Mutant] = {
    "the longest wait is forgotten": (
        "plans.threads.thread_after_append", _forget_longest_wait, append_thrice,
    ),
    "any lease is trusted": ("plans.formation.check_lease", _trust_any_lease, be_late),
    "removals are not fed": ("in_process.store.Tables.removed", lambda *_: (), remove_one),
    "expiry is not seen": ("plans.memory_writes.is_expired", lambda *_: False, outlive),
    "evidence is not followed": (
        "plans.erasure._revised", lambda *_: (Effect(), {}, set()), erase_one
    ),
    "sessions never end": ("plans.threads.session_after", lambda *_: "@1", pause),
    "what was erased is not gone": ("plans.erasure.blanked_keys", lambda *_: [], retry_erased),
    "keys go with their scope": ("plans.erasure.spent_keys", lambda *_: [], retry_erased),
    "every claim is granted": ("in_process.rows.is_leased", lambda *_: False, claim_twice),
}  # fmt: skip


def open_in_memory(clock: Clock, ids: Ids) -> Store:
    """Open a store in memory."""
    return open_store("memory:", clock=clock, ids=ids)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_store_that_is_wrong_disagrees(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A store that breaks one promise of the contract is told from the model in a few steps."""
    function, wrong, history = MUTANTS[name]
    machine = machine_of(open_in_memory)
    sound, broken = machine(), machine()

    history(sound)
    monkeypatch.setattr(f"recollect.stores.{function}", wrong)
    with pytest.raises(AssertionError):
        history(broken)

    sound.teardown()
    broken.teardown()


@pytest.mark.prove
@pytest.mark.parametrize("name", MUTANTS)
def test_a_store_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A store that breaks one promise of the contract is told from the model by chance too."""
    function, wrong, _ = MUTANTS[name]
    monkeypatch.setattr(f"recollect.stores.{function}", wrong)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            machine_of(open_in_memory), settings=settings.get_profile("mutant")
        )
