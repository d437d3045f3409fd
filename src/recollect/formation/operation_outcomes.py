"""Outcomes of operations, and the writes that carry them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, Literal, TypeAlias

from recollect.formation.attribution import Exhibits
from recollect.formation.evidence import evidence_of
from recollect.formation.grounding.grounds import Grounds
from recollect.formation.offer import Offer
from recollect.formation.operations import Citation, Operation
from recollect.formation.told_times import ToldTimes
from recollect.formation.types import MemoryType
from recollect.formation.window import Window
from recollect.records import (
    Evidence,
    EvidenceMap,
    FormationAction,
    JsonObject,
    Memory,
    MemoryAddress,
    MemoryState,
    PutMemory,
    Trust,
    Write,
)

Refused: TypeAlias = Literal["rejected", "erased"]

CHANGES: Final = "it would change what more trusted words say"
ENDS: Final = "it would end what more trusted words say"
CHANGES_NEWER: Final = "it would change what was written after its words"
ENDS_NEWER: Final = "it would end what was written after its words"
"""Why an operation waits for a person, as receipts say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """An operation with its grounds; with doubts it waits for a person."""

    operation: Operation
    grounds: Grounds


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationOutcome:
    """
    The outcome of one operation: *action*, address, reason, and write.

    It is *stale* if it was refused because its target has changed. *said* are the (thread, message)
    pairs that the operation cites.

    >>> OperationOutcome(action="refused", type="User", key="User", reason="nobody said so").stale
    False
    """

    action: FormationAction
    type: str
    key: str
    reason: str = ""
    write: Write | None = None
    stale: bool = False
    said: tuple[tuple[str, str], ...] = ()

    @property
    def uncited(self) -> tuple[tuple[str, str], ...]:
        """The messages because of which it was written, but which its evidence does not name."""
        if self.write is None:
            return ()
        evidence = self.write.evidence if isinstance(self.write, PutMemory) else {}
        cited = {(each.thread, each.message) for found in evidence.values() for each in found}
        return tuple(each for each in self.said if each not in cited)


@dataclass(frozen=True, kw_only=True)
class Present:
    """
    The state that reconciliation depends on, read before it starts.

    *at* holds the memories at the addresses of `addresses_of`, *forgotten* the times at which such
    memories were erased, and *stored* when the lines of the window dated after such a time were
    stored, by number. *rivals* are, by call, the active memories that a single-valued new one
    may replace (see `rival_type`). *seen* are further memories that the model may have seen.
    *told* has the times at which what the operations would replace was said, if that may be after
    their own words. *finding* is the evidence of operations that rest on an agent's finding, not on
    messages.
    """

    window: Window
    offer: Offer
    now: datetime
    new_key: Callable[[], str]
    at: Mapping[MemoryAddress, Memory] = field(default_factory=dict)
    forgotten: Mapping[MemoryAddress, datetime] = field(default_factory=dict)
    stored: Mapping[int, datetime] = field(default_factory=dict)
    rivals: Mapping[str, Sequence[Memory]] = field(default_factory=dict)
    seen: Sequence[Memory] = ()
    told: Mapping[MemoryAddress, ToldTimes] = field(default_factory=dict)
    finding: Evidence | None = None

    def evidence_of(self, because: Sequence[Citation]) -> EvidenceMap:
        """Return the evidence by pointer: the finding, or messages of the window."""
        return {"": (self.finding,)} if self.finding else evidence_of(because, self.window)

    def said_at(self, because: Iterable[Citation]) -> datetime | None:
        """Return when the newest of the cited messages was said; ``None`` if they cite none."""
        lines = (self.window.line(each.message) for each in because)
        return max((line.message.time for line in lines if line is not None), default=None)

    @cached_property
    def exhibits(self) -> Exhibits:
        """Return everything the model was shown."""
        return Exhibits(self.window, [*self.offer.known.values(), *self.seen])

    def refused(self, type_: str, key: str, because: Iterable[Citation]) -> Refused | None:
        """
        Return how the value at an address was rejected or erased, ``None`` if it was not.

        An erased value is refused only if its evidence was said or stored before the erase: the
        clock of who said it may be ahead.
        """
        standing = self.at.get((type_, key))
        if standing is not None and standing.state == "rejected":
            return "rejected"
        erased_at = self.forgotten.get((type_, key))
        if erased_at is None:
            return None
        lines = [self.window.line(each.message) for each in because]
        is_older = all(
            min(line.message.time, self.stored.get(line.number, line.message.time)) <= erased_at
            for line in lines
            if line
        )
        return "erased" if is_older else None


def new_memory(
    type_: MemoryType,
    key: str,
    value: JsonObject,
    grounds: Grounds,
    *,
    evidence: EvidenceMap,
    now: datetime,
    expected: int | None = 0,
    since: datetime | None = None,
    until: datetime | None = None,
) -> OperationOutcome:
    """Return the outcome that stores a new memory; one in doubt is quarantined."""
    state: MemoryState = "quarantined" if grounds.doubts else "active"
    write = PutMemory(
        type=type_.name,
        key=key,
        value=value,
        expected=expected,
        valid_from=since,
        valid_until=until,
        expires_at=expiry_of(type_, now),
        evidence=evidence,
        trust=grounds.trust,
        state=state,
        cause="; ".join(grounds.doubts or ("formed", *grounds.remarks))[:500],
    )
    return OperationOutcome(
        action="quarantined" if grounds.doubts else "stored",
        type=type_.name,
        key=key,
        reason="; ".join((*grounds.doubts, *grounds.remarks, *grounds.notes)),
        write=write,
    )


def revision(
    memory: Memory,
    value: JsonObject,
    *,
    cause: str,
    trust: Trust | None = None,
    evidence: EvidenceMap | None = None,
    state: MemoryState | None = None,
) -> PutMemory:
    """Return the write of the next version of *memory*; arguments left out keep their values."""
    return PutMemory(
        type=memory.type,
        key=memory.key,
        value=value,
        expected=memory.version,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        expires_at=memory.expires_at,
        evidence=memory.evidence if evidence is None else evidence,
        trust=trust or memory.trust,
        state=state or memory.state,
        cause=cause,
    )


def expiry_of(type_: MemoryType, now: datetime) -> datetime | None:
    """Return when a memory of this type is forgotten if it is formed now."""
    return None if type_.expires_after_s is None else now + timedelta(seconds=type_.expires_after_s)


def refusal(type_: str, key: str, how: Refused, pointer: str = "") -> OperationOutcome:
    """Return the outcome for a value that was rejected or erased before."""
    reason = f"this value was {how}{f' for {pointer}' if pointer else ''}"
    return OperationOutcome(action="refused", type=type_, key=key, reason=reason)
