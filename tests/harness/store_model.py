"""A model of the contract in dictionaries, with which every backend must agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from recollect.errors import (
    LeaseLostError,
    NotFoundError,
    RecollectError,
)
from recollect.ports import Clock
from recollect.records import Memory, Message, NewMessage, Scope, Thread, Write
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseScope, EraseTarget
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import DueThread, Lease
from tests.harness.scope_model import KeyedRequest, ScopeModel
from tests.harness.thread_model import ThreadModel, position_of, stored


class StoreModel:
    """
    A store as plain dictionaries, with the answers that a backend must give.

    Messages need ids. A claim is told to the model as the store answered it: which of
    several due scopes comes first is not the model's to say.
    """

    def __init__(self, clock: Clock) -> None:
        self.scopes: dict[Scope, ScopeModel] = {}
        self._clock = clock
        self._spent: dict[Scope, dict[str, KeyedRequest]] = {}
        self._epochs = count()
        self._leased: dict[tuple[Scope, int, int], int] = {}

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        before = deepcopy(self.scopes)
        try:
            yield
        except RecollectError:
            self.scopes = before
            raise

    def scope(self, scope: Scope) -> ScopeModel:
        """Return a scope, which begins to exist with this."""
        return self.scopes.setdefault(scope, ScopeModel(epoch=next(self._epochs)))

    def _thread(self, scope: Scope, thread: str) -> ThreadModel:
        found = self.scopes[scope].threads.get(thread) if scope in self.scopes else None
        if found is None:
            raise NotFoundError(thread)
        return found

    def append(
        self,
        scope: Scope,
        thread: str,
        messages: Sequence[NewMessage],
        *,
        key: str | None = None,
        debounce: Debounce,
    ) -> tuple[Message, ...]:
        """Append messages."""
        now, ids = self._clock.now(), [message.id or "" for message in messages]
        with self._all_or_nothing():
            here = self.scope(scope)
            request = ("append", thread, tuple(messages))
            if done := self._done_before(scope, key, request):
                return here.threads.get(thread, ThreadModel(created_at=now)).numbered(done.entries)
            there = here.threads.setdefault(thread, ThreadModel(created_at=now))
            before = there.last
            for id_, given in zip(ids, messages, strict=True):
                there.add(id_, given, now=now, thread=thread)
            if there.last > before:
                there.postpone(now, debounce)
            if key is not None:
                written = [there.numbers[id_] for id_ in ids]
                here.keys[key] = KeyedRequest(request=request, entries=written)
            return tuple(there.messages[id_][1] for id_ in ids)

    def remove(self, scope: Scope, thread: str, ids: Sequence[str]) -> int:
        """Remove messages."""
        there = self._thread(scope, thread)
        return there.remove(ids)

    def keep(self, scope: Scope, thread: str, first: int, last: int | None) -> int:
        """Remove all messages outside a range."""
        there = self._thread(scope, thread)
        outside = [
            id_
            for id_, (_, each) in there.messages.items()
            if each.position < first or (last is not None and each.position > last)
        ]
        return self.remove(scope, thread, outside)

    def replace(self, scope: Scope, thread: str, given: NewMessage) -> Message:
        """Replace a message."""
        there = self._thread(scope, thread)
        if given.id not in there.messages:
            raise NotFoundError(given.id)
        before, message = there.messages[given.id]
        earlier = message.time
        if before != given:
            time, session = given.time or self._clock.now(), given.session or message.session
            message = stored(given, thread, message.position, time, session)
            there.messages[given.id] = given, message
            if time != earlier:
                here = self.scopes[scope]
                here.memories.date_anew((thread, message.id), here.said_at)
        return message

    def messages(self, scope: Scope, thread: str) -> list[Message]:
        """Return the messages of a thread, by position."""
        here = self.scopes.get(scope)
        there = here.threads.get(thread) if here else None
        found = [each for _, each in there.messages.values()] if there else []
        return sorted(found, key=position_of)

    def thread(self, scope: Scope, thread: str) -> Thread | None:
        """Return a thread."""
        here = self.scopes.get(scope)
        there = here.threads.get(thread) if here else None
        return there.seen_as(scope, thread) if there else None

    def apply(
        self, scope: Scope, writes: Sequence[Write], *, key: str | None = None
    ) -> tuple[Memory | None, ...]:
        """Apply writes."""
        now = self._clock.now()
        with self._all_or_nothing():
            here = self.scope(scope)
            request = ("apply", tuple(writes))
            if self._done_before(scope, key, request):
                return tuple(here.memories.get(each.type, each.key, now) for each in writes)
            answer, numbers = here.memories.apply_numbered(scope, writes, now, here)
            if key is not None:
                here.keys[key] = KeyedRequest(request=request, entries=numbers)
            return answer

    def _done_before(self, scope: Scope, key: str | None, request: object) -> KeyedRequest | None:
        """Return the earlier request under a key, even if its scope was erased since."""
        here, spent = self.scopes[scope], self._spent.get(scope, {})
        found = here.done_before(key, request)
        if found is None and key in spent:
            here.keys[key] = spent[key]
            here.done_before(key, request)
        return found

    def erase(self, scope: Scope, target: EraseTarget) -> tuple[int, int, int]:
        """Erase; return how many messages and memories went, and how many memories lost a part."""
        whole = isinstance(target, EraseScope)
        below = isinstance(target, EraseScope) and target.below
        named = [
            each for each in self.scopes if each == scope or (below and each[: len(scope)] == scope)
        ]
        if whole:
            left = [self._dropped(each) for each in named]
            messages = sum(len(t.messages) for here in left for t in here.threads.values())
            return messages, sum(len(here.memories.versions) for here in left), 0
        if not named:
            return 0, 0, 0
        here = self.scopes[scope]
        before, numbers = (dict(here.threads), dict(here.memories.versions)), here.numbers
        has_lost = here.has_lost
        doomed, gone, revised = here.erase(target)
        if has_lost:
            here.owner = here.until = None
        if doomed or before != (here.threads, here.memories.versions):
            here.epoch, here.owner, here.until = next(self._epochs), None, None
            for each in here.keys.values():
                each.lose(numbers - here.numbers)
            if not here.threads and not here.memories.versions:
                self._dropped(scope)
        return doomed, gone, revised

    def _dropped(self, scope: Scope) -> ScopeModel:
        """Drop a scope, and remember its keys."""
        here = self.scopes.pop(scope)
        spent = {key: replace(each, is_gone=True) for key, each in here.keys.items()}
        self._spent.setdefault(scope, {}).update(spent)
        return here

    def claimable(self) -> dict[Scope, list[DueThread]]:
        """Return the scopes that can be claimed, each with its due threads by id."""
        now, found = self._clock.now(), {}
        for scope, here in self.scopes.items():
            due = [
                DueThread(thread=id_, formed=each.formed, last=each.last, attempts=each.attempts)
                for id_, each in sorted(here.threads.items())
                if each.is_due(now)
            ]
            if due and (here.until is None or here.until <= now):
                found[scope] = due
        return found

    def take_claim(self, lease: Lease) -> None:
        """Record a claim that the store granted."""
        here = self.scopes[lease.scope]
        here.fence, here.owner, here.until = lease.fence, lease.owner, lease.until
        self._leased[lease.scope, lease.fence, lease.epoch] = here.epoch

    def _held(self, lease: Lease) -> ScopeModel:
        here = self.scopes.get(lease.scope)
        epoch = self._leased[lease.scope, lease.fence, lease.epoch]
        if here is None or here.epoch != epoch or here.fence != lease.fence or not here.owner:
            raise LeaseLostError(lease.scope)
        return here

    def extend(self, lease: Lease, lease_s: float) -> Lease:
        """Extend a lease."""
        here = self._held(lease)
        here.until = self._clock.now() + timedelta(seconds=lease_s)
        return replace(lease, until=here.until)

    def release(self, lease: Lease, failed: Sequence[str], retry_s: float) -> None:
        """Release a lease."""
        here = self._held(lease)
        here.owner = here.until = None
        for thread in failed:
            here.threads[thread].fail(self._clock.now() + timedelta(seconds=retry_s))

    def commit(
        self, lease: Lease, writes: Sequence[Write], formed: Formed
    ) -> tuple[Memory | None, ...]:
        """Commit a formation."""
        with self._all_or_nothing():
            here, now = self._held(lease), self._clock.now()
            written = here.memories.apply(lease.scope, writes, now, here)
            self._move_watermarks(here, formed, now)
            return written

    def _move_watermarks(self, here: ScopeModel, formed: Formed, now: datetime) -> None:
        here.owner = here.until = None
        for thread, position in formed.watermarks.items():
            here.threads[thread].move_watermark(position, now)

    def signal(self, scope: Scope, thread: str) -> bool:
        """Make pending messages due at once."""
        there = self._thread(scope, thread)
        waits = there.formed < there.last
        if waits:
            there.due, there.not_before = self._clock.now(), None
        return waits
