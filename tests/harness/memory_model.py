"""The memories of one scope, as the contract's model keeps them: lists of versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeAlias

from recollect.errors import NotFoundError, UsageError, VersionConflictError
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    EvidenceMap,
    Memory,
    PutMemory,
    Revision,
    Scope,
    Write,
)
from recollect.stores.kept_evidence import Founded, as_statement, is_statement, kept_evidence
from recollect.stores.plans.evidence import decode_evidence, encode_evidence
from recollect.stores.provenance import Said, Words
from recollect.stores.remainder import ORIGIN_QUOTE, remainder_of
from recollect.text.searchable import memory_text
from tests.harness.thread_model import NUMBERS

SaidAt: TypeAlias = Callable[[AbstractSet[tuple[str, str]]], datetime | None]
"""When the newest of some messages was said."""


class Talks(Protocol):
    """The messages of a scope, as its predicted memories need them."""

    def said(self, evidence: Evidence, /) -> Words:
        """Return the words of a message, and of its quote."""

    def said_at(self, cited: AbstractSet[tuple[str, str]], /) -> datetime | None:
        """Return when the newest of some messages was said."""


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A version of a memory, and until when it was believed."""

    memory: Memory
    cause: str
    until: datetime | None = None

    @property
    def messages(self) -> set[tuple[str, str]]:
        """The messages that it names as evidence, by thread and id."""
        return {(e.thread, e.message) for found in self.memory.evidence.values() for e in found}

    @property
    def stating(self) -> set[tuple[str, str]]:
        """Those of its messages that are not only the origin of some words."""
        cited = (each for found in self.memory.evidence.values() for each in found)
        return {(each.thread, each.message) for each in cited if each.quote != ORIGIN_QUOTE}

    def rests_on(self, erased: AbstractSet[tuple[str, str]]) -> bool:
        """Return True if it names one of *erased* as evidence."""
        return not self.messages.isdisjoint(erased)

    def without(self, erased: AbstractSet[tuple[str, str]]) -> ModelVersion | None:
        """Return what remains of it without *erased*, ``None`` if nothing."""
        stored = json.loads(encode_evidence(self.memory.evidence))
        sources = {pointer: tuple(map(tuple, found)) for pointer, found in stored.items()}
        left = remainder_of(self.memory.value, sources, erased)
        if left is None:
            return None
        evidence = decode_evidence(json.dumps(left.evidence))
        text = memory_text(left.value)
        memory = replace(self.memory, value=left.value, evidence=evidence, text=text)
        # A cause may quote erased words: it goes with what they stated.
        cause = self.cause if left.value == self.memory.value else "erase"
        return replace(self, memory=memory, cause=cause)


@dataclass(slots=True)
class PredictedMemories:
    """Memories by address, each as its versions, oldest first."""

    versions: dict[tuple[str, str], list[ModelVersion]] = field(default_factory=dict)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    """By address, what tells a memory from any that is written there later."""
    has_lost: bool = False
    """Whether a memory was ever removed."""

    def get(self, type_: str, key: str, now: datetime) -> Memory | None:
        """Return a memory."""
        found = self.versions.get((type_, key))
        memory = found[-1].memory if found else None
        expires = memory.expires_at if memory else None
        return None if expires is not None and expires <= now else memory

    def listed(self, now: datetime) -> list[Memory]:
        """Return all memories, by address."""
        found = [self.get(*address, now) for address in sorted(self.versions)]
        return [memory for memory in found if memory]

    def history(self, type_: str, key: str, now: datetime) -> tuple[Revision, ...]:
        """Return all versions of a memory."""
        if self.get(type_, key, now) is None:
            return ()
        return tuple(_revision(each) for each in self.versions[type_, key])

    def apply(
        self, scope: Scope, writes: Sequence[Write], now: datetime, here: Talks
    ) -> tuple[Memory | None, ...]:
        """Carry out *writes*; one that fails may leave some of them done."""
        return tuple(self._carry_out(scope, write, now, here) for write in writes)

    def apply_numbered(
        self, scope: Scope, writes: Sequence[Write], now: datetime, here: Talks
    ) -> tuple[tuple[Memory | None, ...], list[int]]:
        """Like `apply`, but also return the numbers of the written memories."""
        answer, numbers = [], []
        for write in writes:
            answer.append(self._carry_out(scope, write, now, here))
            if answer[-1]:
                numbers.append(self.numbers[write.type, write.key])
        return tuple(answer), numbers

    def _carry_out(self, scope: Scope, write: Write, now: datetime, here: Talks) -> Memory | None:
        address = write.type, write.key
        current = self.get(*address, now)
        if current is None:
            self.drop(address)
        version = current.version if current else 0
        if write.expected not in (None, version):
            raise VersionConflictError(str(address), write.expected or 0, version)
        if isinstance(write, DeleteMemory):
            self.drop(address)
            return None
        if isinstance(write, EndMemory):
            if current is None:
                raise NotFoundError(str(address))
            if current.valid_from is not None and write.at < current.valid_from:
                raise UsageError(str(address))
            after = replace(current, valid_until=write.at, version=version + 1, updated_at=now)
        else:
            after = _made(scope, write, version + 1, now)
            past = self.versions.get(address, [])
            after = _following(past, after, here.said) if current else after
            rests_on = (each for found in after.evidence.values() for each in found)
            after = replace(
                after,
                trust="agent" if any(each.is_finding for each in rests_on) else after.trust,
                said_at=here.said_at(ModelVersion(after, "").stating),
            )
        past = self.versions.setdefault(address, [])
        self.numbers.setdefault(address, next(NUMBERS))
        if past:
            past[-1] = replace(past[-1], until=now)
        past.append(ModelVersion(after, write.cause))
        return after

    def drop(self, address: tuple[str, str]) -> bool:
        """Drop a memory; return True if there was one."""
        self.numbers.pop(address, None)
        is_gone = self.versions.pop(address, None) is not None
        self.has_lost |= is_gone
        return is_gone

    def evidence_in(self, thread: str) -> set[tuple[str, str]]:
        """Return the messages of a thread that any version rests on."""
        found = {
            pair for each in self.versions.values() for version in each for pair in version.messages
        }
        return {pair for pair in found if pair[0] == thread}

    def date_anew(self, moved: tuple[str, str], said_at: SaidAt) -> None:
        """Update the times of memories that cite a message with a new time."""
        for *past, present in list(self.versions.values()):
            if present.rests_on({moved}):
                dated = replace(present.memory, said_at=said_at(present.stating))
                address = dated.type, dated.key
                self.versions[address] = [*past, replace(present, memory=dated)]

    def lose(self, erased: AbstractSet[tuple[str, str]], said_at: SaidAt) -> tuple[int, int]:
        """Remove what depends on *erased*; return how many memories went, and lost a part."""
        gone = revised = 0
        for address, (*past, present) in list(self.versions.items()):
            left = present.without(erased) if present.rests_on(erased) else present
            if left is None:
                self.drop(address)
                gone += 1
                continue
            if left is not present:
                revised += 1
                memory = replace(
                    left.memory,
                    version=left.memory.version + 1,
                    said_at=said_at(left.stating),
                )
                left = replace(left, memory=memory, cause="erase")
            kept = [each.without(erased) if each.rests_on(erased) else each for each in past]
            self.versions[address] = [*(each for each in kept if each), left]
        return gone, revised


def _following(versions: Sequence[ModelVersion], after: Memory, said: Said) -> Memory:
    """Return *after* as the next of *versions*: with the evidence of what it keeps."""
    before, kept = versions[-1].memory, after.evidence
    is_again = any(
        (each.memory.value, each.memory.evidence) == (after.value, after.evidence)
        for each in versions
    )
    if before.evidence and not is_again:
        old = Founded(before.value, before.evidence)
        past = [Founded(e.memory.value, e.memory.evidence) for e in reversed(versions[:-1])]
        kept = kept_evidence(old, Founded(after.value, after.evidence), said, lambda: past)
        if not after.evidence and is_statement(before.type, before.key, old):
            kept = as_statement(kept)
    return replace(after, created_at=before.created_at, evidence=_frozen(kept))


def _made(scope: Scope, put: PutMemory, version: int, now: datetime) -> Memory:
    return Memory(
        scope=scope,
        type=put.type,
        key=put.key,
        value=put.value,
        text=memory_text(put.value) if put.text is None else put.text,
        version=version,
        created_at=now,
        updated_at=now,
        valid_from=put.valid_from,
        valid_until=put.valid_until,
        expires_at=put.expires_at,
        evidence=_frozen(put.evidence),
        trust=put.trust,
        state=put.state,
    )


def _frozen(evidence: EvidenceMap) -> dict[str, tuple[Evidence, ...]]:
    return {pointer: tuple(found) for pointer, found in evidence.items()}


def _revision(version: ModelVersion) -> Revision:
    names = ("version", "value", "text", "valid_from", "valid_until", "evidence", "trust", "state")
    return Revision(
        **{name: getattr(version.memory, name) for name in names},
        cause=version.cause,
        believed_from=version.memory.updated_at,
        believed_until=version.until,
    )
