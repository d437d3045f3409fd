"""A scope, as the contract's model keeps it: threads, memories, keys, and a lease."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from recollect.errors import ConflictError
from recollect.provenance import NO_WORDS, Words, quoted, words_of
from recollect.records import Evidence
from recollect.stores.plans.erase import (
    EraseMemory,
    EraseMessages,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.testing.memory_model import MemoryModel
from recollect.testing.thread_model import ThreadModel


@dataclass(slots=True, kw_only=True)
class ScopeModel:
    """A scope: its threads, memories and keys, and its lease."""

    epoch: int
    threads: dict[str, ThreadModel] = field(default_factory=dict)
    memories: MemoryModel = field(default_factory=MemoryModel)
    keys: dict[str, object] = field(default_factory=dict)
    fence: int = 0
    owner: str | None = None
    until: datetime | None = None

    def is_repeated(self, key: str | None, request: object) -> bool:
        """Say whether *request* was made before under *key*; remember it if not."""
        if key is None:
            return False
        if key in self.keys and self.keys[key] != request:
            raise ConflictError(key)
        return self.keys.setdefault(key, request) is not request

    def said(self, evidence: Evidence) -> Words:
        """Return the words of the message that evidence names, and of its quote."""
        there = self.threads.get(evidence.thread)
        held = there.messages.get(evidence.message) if there else None
        return quoted(evidence) | (words_of(held[1].text) if held else NO_WORDS)

    def erase(self, target: EraseTarget) -> tuple[int, int, int]:
        """Erase a part; say how many messages and memories went, and how many lost a part."""
        if isinstance(target, EraseMemory):
            found = self.memories.versions.pop((target.type, target.key), None)
            return 0, 1 if found else 0, 0
        doomed = {
            (thread, id_)
            for thread, there in self.threads.items()
            for id_, (given, _) in there.messages.items()
            if _is_named(target, thread, id_, given.source)
        }
        for thread, id_ in doomed:
            del self.threads[thread].messages[id_]
        named = set(doomed)
        if isinstance(target, EraseThread):
            self.threads.pop(target.thread, None)
            named |= self.memories.evidence_in(target.thread)
        if isinstance(target, EraseMessages):
            named |= {(target.thread, id_) for id_ in target.messages}
        return len(doomed), *self.memories.lose(named)


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
