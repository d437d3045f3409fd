"""A scope, as the contract's model keeps it: threads, memories, keys, and a lease."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from recollect.errors import ConflictError, GoneError
from recollect.records import Evidence
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.provenance import NO_WORDS, Words, quoted, words_of
from tests.harness.memory_model import PredictedMemories
from tests.harness.thread_model import ThreadModel


@dataclass(slots=True, kw_only=True)
class KeyedRequest:
    """A request made under a key, and the numbers of the entries it wrote."""

    request: object
    entries: list[int]
    is_gone: bool = False

    def lose(self, erased: Collection[int]) -> None:
        """Record an erase."""
        left = [each for each in self.entries if each not in erased]
        self.is_gone |= bool(self.entries) and not left
        self.entries = left


@dataclass(slots=True, kw_only=True)
class ScopeModel:
    """A scope: its threads, memories and keys, and its lease."""

    epoch: int
    threads: dict[str, ThreadModel] = field(default_factory=dict)
    memories: PredictedMemories = field(default_factory=PredictedMemories)
    keys: dict[str, KeyedRequest] = field(default_factory=dict)
    fence: int = 0
    owner: str | None = None
    until: datetime | None = None
    was_erased: bool = False

    @property
    def has_lost(self) -> bool:
        """Whether a message or memory was ever removed: an erase may name it even so."""
        threads = self.threads.values()
        return self.was_erased or self.memories.has_lost or any(each.has_lost for each in threads)

    def done_before(self, key: str | None, request: object) -> KeyedRequest | None:
        """Return the earlier *request* made under *key*, if any."""
        found = None if key is None else self.keys.get(key)
        if found and found.request != request:
            raise ConflictError(key)
        if found and found.is_gone:
            raise GoneError(key)
        return found

    @property
    def numbers(self) -> set[int]:
        """Return the numbers of all entries."""
        messages = {each for there in self.threads.values() for each in there.numbers.values()}
        return messages | set(self.memories.numbers.values())

    def said(self, evidence: Evidence) -> Words:
        """Return the words of the message that evidence names, and of its quote."""
        there = self.threads.get(evidence.thread)
        held = there.messages.get(evidence.message) if there else None
        return quoted(evidence) | (words_of(held[1].text) if held else NO_WORDS)

    def erase(self, target: EraseTarget) -> tuple[int, int, int]:
        """Erase a part; return how many messages and memories went, and how many lost a part."""
        if isinstance(target, EraseMemory):
            return 0, int(self.memories.drop((target.type, target.key))), 0
        doomed = {
            (thread, id_)
            for thread, there in self.threads.items()
            for id_, (given, _) in there.messages.items()
            if _is_named(target, thread, id_, given.source)
        }
        self.was_erased |= self.has_lost or bool(doomed)
        for thread, id_ in doomed:
            self.threads[thread].remove([id_])
        named = set(doomed)
        if isinstance(target, EraseThread):
            self.threads.pop(target.thread, None)
            named |= self.memories.evidence_in(target.thread)
        if isinstance(target, EraseMessages):
            named |= {(target.thread, id_) for id_ in target.messages}
        return len(doomed), *self.memories.lose(named, self.said_at)

    def said_at(self, cited: AbstractSet[tuple[str, str]]) -> datetime | None:
        """Return when the newest of the messages *cited* was said, of those that are there."""
        messages = (
            self.threads[thread].messages.get(id_)
            for thread, id_ in cited
            if thread in self.threads
        )
        return max((each[1].time for each in messages if each), default=None)


def _is_named(target: EraseTarget, thread: str, id_: str, source: str | None) -> bool:
    match target:
        case EraseThread():
            return thread == target.thread
        case EraseMessages():
            return thread == target.thread and id_ in target.messages
        case EraseSource():
            return source == target.source
        case _:
            return False
