"""
Undo of one message: take back everything that its formation did, in one set of writes.

Each memory that the message changed gets what stands without it, and without the messages that were
taken back before: the others are replayed in the order in which they were said. Memories that the
message ended or rejected do not cite it: the receipt of the formation names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeAlias

from recollect.errors import ConflictError, StaleReadError, VersionConflictError
from recollect.formation.config import Assistants
from recollect.formation.derived_memories import sources_of
from recollect.formation.rivals import are_rivals, is_single
from recollect.formation.scope_types import type_in_force
from recollect.formation.succession import NEWER_VALUE
from recollect.memory.history_replay import (
    NOBODY,
    Handover,
    Replayed,
    ReplayInputs,
    changes_beside_evidence,
    new_messages,
    replayed,
    standing_version,
)
from recollect.memory.review import existing_memory
from recollect.memory.undone_messages import UndoneMessages, read_undone, undone_mark
from recollect.memory.version_remainder import Messages, messages_of
from recollect.records import (
    DeleteMemory,
    Formation,
    Memory,
    MemoryAddress,
    MessageAddress,
    PutMemory,
    Revision,
    Scope,
    Write,
)
from recollect.side_records import SideWrite
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.undo import UNDONE
from recollect.stores.validation import to_datetime
from recollect.text.coded_text import with_code
from recollect.worker.formation_input import read_rivals

FORMATIONS_A_PAGE: Final = 20
"""Few at a time: each receipt may hold a whole prompt."""
Histories: TypeAlias = dict[MemoryAddress, tuple[Memory, Sequence[Revision]]]
Rivals: TypeAlias = Mapping[MemoryAddress, Sequence[Memory]]
Because: TypeAlias = Mapping[tuple[MemoryAddress, datetime], Messages]
"""The messages because of which a memory was written at a time, without citing them."""


async def message_undo_writes(
    store: Store,
    scope: Scope,
    said: MessageAddress,
    versions: Mapping[MemoryAddress, int],
    assistants: Assistants,
) -> list[Write | SideWrite]:
    """
    Return the writes that take back what the message *said* (thread, id) did to memories.

    What the messages said that were not taken back stands afterwards; a value that rests on words
    of several messages together goes with any of them. The last write marks the message, so that no
    other undo brings back what it said. There are no writes if nothing comes from it.

    Args:
        versions: The memories to revert, with their current versions. Those that the same
            formations changed because of the message are reverted as well.
        assistants: They tell of which types only one value can hold at a time.

    Raises:
        NotFoundError: A named memory does not exist.
        VersionConflictError: A named memory is not at its version.
        StaleReadError: The receipt of a formation no longer tells what the message ended.
        ConflictError: It ended a memory, and a later message that stands replaced what it said.
    """
    read: Histories = {}
    for (type_, key), version in versions.items():
        memory = await existing_memory(store, scope, type_, key, version)
        read[type_, key] = memory, await _history(store, scope, memory)
    undone = await read_undone(store, scope)
    named, _ = await _receipts_at(store, scope, _formed_at(read, said), said)
    passed = {(type_, key) for (type_, key, _), who in undone.passed.items() if said in who}
    for address in (named | passed) - read.keys():
        found = await store.get(scope, *address)
        if found is not None:
            read[address] = found, await _history(store, scope, found)
    _, because = await _receipts_at(store, scope, _unexplained_at(read), None)
    rivals = await _rivals_of_ended(store, scope, read, assistants)
    # Not before the versions that it takes back, even if the clock was set back since.
    now = max([to_datetime(store.now()), *(each.updated_at for each, _ in read.values())])
    return _MessageUndo(read, rivals, because, undone, said, now).writes()


async def _history(store: Store, scope: Scope, memory: Memory) -> Sequence[Revision]:
    """Return the versions of *memory* up to the current one, oldest first."""
    revisions = await store.history(scope, memory.type, memory.key)
    if not revisions or revisions[-1].version != memory.version:
        named = f"{memory.type}/{memory.key}"
        raise VersionConflictError(named, memory.version, revisions[-1].version if revisions else 0)
    return revisions


async def _rivals_of_ended(
    store: Store, scope: Scope, read: Histories, assistants: Assistants
) -> Rivals:
    """Return for each ended memory those that cannot hold at the same time, in no order."""
    found: dict[MemoryAddress, Sequence[Memory]] = {}
    ended = [each for each, _ in read.values() if each.valid_until is not None]
    for name in dict.fromkeys(each.type for each in ended):
        type_ = await type_in_force(store, scope, assistants, name)
        if type_ is None or not type_.single_valued:
            continue
        values = {each.key: each.value for each in ended if each.type == name}
        for key, others in (await read_rivals(store, scope, type_, values)).items():
            found[name, key] = [
                other
                for other in others
                if is_single(type_, other.value) and are_rivals(type_, other.value, values[key])
            ]
    return found


def _formed_at(read: Histories, said: MessageAddress) -> frozenset[datetime]:
    """Return the times of the formations by which a message may have changed the memories."""
    found = set()
    for _, revisions in read.values():
        citing = [
            version.believed_from
            for before, version in _pairs(revisions)
            if said in new_messages(version, before)
        ]
        # One that does not cite the message may be ended because of it, by its newest version.
        found |= set(citing) or {revisions[-1].believed_from}
    return frozenset(found)


def _unexplained_at(read: Histories) -> frozenset[datetime]:
    """Return the times of versions whose changes only a receipt explains."""
    return frozenset(
        version.believed_from
        for _, revisions in read.values()
        for before, version in _pairs(revisions)
        if version.cause != UNDONE and changes_beside_evidence(version, before)
    )


def _pairs(revisions: Sequence[Revision]) -> Iterator[tuple[Revision | None, Revision]]:
    yield from zip([None, *revisions], revisions, strict=False)


async def _receipts_at(
    store: Store, scope: Scope, times: frozenset[datetime], said: MessageAddress | None
) -> tuple[set[MemoryAddress], dict[tuple[MemoryAddress, datetime], Messages]]:
    """
    Return the memories in the receipts of the formations at *times*, and why they were written.

    Raises:
        StaleReadError: *said* is given, and a receipt lacks what may have been ended because of it.
    """
    found: set[MemoryAddress] = set()
    reasons: dict[tuple[MemoryAddress, datetime], Messages] = {}
    if not times:
        return found, reasons
    async for formation in each_row(
        lambda cursor: store.formations(scope, cursor=cursor, limit=FORMATIONS_A_PAGE)
    ):
        if formation.at < min(times):
            break
        if formation.at in times:
            if said is not None:
                _check_complete(formation, said)
            for address, because in _outcomes_of(formation):
                found.add(address)
                at = address, formation.at
                reasons[at] = reasons.get(at, NOBODY) | because
    return found, reasons


def _check_complete(formation: Formation, said: MessageAddress) -> None:
    """Raise if a receipt no longer tells what its formation ended, and it may have ended some."""
    receipt: Any = formation.receipt
    counts = receipt.get("counts")
    is_whole = "outcomes" in receipt and not receipt.get("outcomes_left_out")
    if not is_whole and (not counts or counts.get("ended")):
        msg = with_code(
            "undo_forgotten",
            f"what the message {said[1]!r} of the thread {said[0]!r} ended is no longer recorded: "
            "it cannot be taken back as a whole; correct or restore the memories one by one",
        )
        raise StaleReadError(msg)


def _outcomes_of(formation: Formation) -> Iterator[tuple[MemoryAddress, Messages]]:
    """Yield the memories in a receipt, each with the messages that it names as the reason."""
    outcomes: Any = formation.receipt.get("outcomes", ())
    for each in outcomes:
        because = ((cited["thread"], cited["message"]) for cited in each.get("because", ()))
        yield (each["type"], each["key"]), frozenset(because)


@dataclass(frozen=True, slots=True)
class _MessageUndo:
    """The undo of the message *said*: the memories it may have changed, with their histories."""

    read: Histories
    rivals: Rivals
    because: Because
    undone: UndoneMessages
    said: MessageAddress
    now: datetime

    def writes(self) -> list[Write | SideWrite]:
        """Return the writes of the undo, none if nothing comes from the message."""
        made: list[Write | SideWrite] = []
        passed: dict[tuple[str, str, int], list[MessageAddress]] = {}
        ends: list[str] = []
        without = replace(self.undone, at={**self.undone.at, self.said: self.now})
        for address in _derived_first({each: memory for each, (memory, _) in self.read.items()}):
            memory, revisions = self.read[address]
            if not self._comes_from_it(address, revisions):
                continue
            found = self._replayed(address, without)
            write = _standing(memory, revisions, found, without)
            if write is None:
                continue
            made.append(write)
            if isinstance(write, PutMemory) and found.handover is not None:
                passed[*address, memory.version + 1] = sorted(found.handover.because)
            elif isinstance(write, PutMemory) and _holds_again(memory, write, revisions):
                ends.append(f"{memory.type}/{memory.key}")
        if ends and (later := self._overtaken_by(without)):
            raise ConflictError(_told_overtaken(ends, min(later)))
        return [*made, undone_mark(self.said, self.now, passed)] if made else []

    def _comes_from_it(self, address: MemoryAddress, revisions: Sequence[Revision]) -> bool:
        """Return True if a version was written because of the message, and not taken back yet."""
        taken_back = self.undone.at.get(self.said)
        return any(
            self.said in new_messages(version, before) | self._reasons(address, version)
            for before, version in _pairs(revisions)
            if taken_back is None or version.believed_from > taken_back
        )

    def _reasons(self, address: MemoryAddress, version: Revision) -> Messages:
        if version.cause == UNDONE:
            return self.undone.passed.get((*address, version.version), NOBODY)
        return self.because.get((address, version.believed_from), NOBODY)

    def _replayed(self, address: MemoryAddress, undone: UndoneMessages) -> Replayed:
        _, revisions = self.read[address]
        inputs = ReplayInputs(
            gone_at=undone.gone_at,
            reasons=lambda version: self._reasons(address, version),
            heir=lambda: self._heir(address, undone),
        )
        return replayed(revisions, inputs)

    def _heir(self, address: MemoryAddress, undone: UndoneMessages) -> Handover | None:
        """
        Return how a memory stays ended although what ended it is taken back.

        The first value that stands, began later, and cannot hold beside it ends it then.
        """
        memory, _ = self.read[address]
        began = memory.valid_from or memory.created_at
        found: list[Handover] = []
        for rival in self.rivals.get(address, ()):
            since = rival.valid_from or rival.created_at
            because = messages_of(rival.evidence) - undone.at.keys()
            if since > began and because and self._stands(rival, undone):
                found.append(Handover(since, because))
        return min(found, key=lambda each: each.until, default=None)

    def _stands(self, memory: Memory, undone: UndoneMessages) -> bool:
        address = memory.type, memory.key
        return address not in self.read or bool(self._replayed(address, undone).value)

    def _overtaken_by(self, undone: UndoneMessages) -> set[MessageAddress]:
        """Return the messages that stand and replaced a part of what the message had said."""
        found: set[MessageAddress] = set()
        for address, (_, revisions) in self.read.items():
            for before, version in _pairs(revisions):
                if before is not None:
                    found.update(self._overtakers(address, before, version))
        return {each for each in found if each not in undone.at}

    def _overtakers(
        self, address: MemoryAddress, before: Revision, version: Revision
    ) -> Iterator[MessageAddress]:
        new = new_messages(version, before) | self._reasons(address, version)
        lost = self.said in messages_of(before.evidence) - messages_of(version.evidence)
        was_ended = before.valid_until is None and version.valid_until is not None
        if lost or (was_ended and self.said in messages_of(before.evidence)):
            yield from new - {self.said}


def _derived_first(memories: Mapping[MemoryAddress, Memory]) -> list[MemoryAddress]:
    """
    Return the addresses of *memories*, each before those of the memories that it was derived from.

    Deleting a source changes what was derived from it, which a later write would not expect.
    """
    sources = {at: {each[:2] for each in sources_of(memories[at])} for at in memories}
    ordered: dict[MemoryAddress, None] = {}

    def add(address: MemoryAddress, above: frozenset[MemoryAddress]) -> None:
        for derived in sorted(sources.keys() - ordered.keys() - above - {address}):
            if address in sources[derived]:
                add(derived, above | {address})
        ordered.setdefault(address)

    for each in sorted(memories):
        add(each, frozenset())
    return list(ordered)


def _told_overtaken(ends: Sequence[str], later: MessageAddress) -> str:
    return with_code(
        "undo_overtaken",
        f"the message ended {', '.join(ends)}, and {later[1]!r} of the thread {later[0]!r} replaced"
        " what it said since: take that message back first",
        memory=ends[0],
        thread=later[0],
        message=later[1],
    )


def _holds_again(memory: Memory, write: PutMemory, revisions: Sequence[Revision]) -> bool:
    """
    Return True if a memory that had ended, or was rejected, is in force again.

    Not where a newer value had ended it: which one does now is known without any message's words.
    """
    if memory.state == "rejected" and write.state != "rejected":
        return True
    if memory.valid_until is None or write.valid_until == memory.valid_until:
        return False
    ended = next(each for each in revisions if each.valid_until == memory.valid_until)
    return ended.cause not in {NEWER_VALUE, UNDONE}


def _standing(
    memory: Memory, revisions: Sequence[Revision], found: Replayed, undone: UndoneMessages
) -> Write | None:
    """Return the write that leaves what stands of a memory, ``None`` if it stays rejected."""
    state = found.attributes["state"]
    if memory.state == "rejected" and state == "rejected":
        return None  # a person's refusal outlives what it refuses, or it would be formed again
    if not found.value:
        return DeleteMemory(type=memory.type, key=memory.key, expected=memory.version)
    same, evidence = standing_version(found, revisions, frozenset(undone.at))
    return PutMemory(
        type=memory.type,
        key=memory.key,
        value=found.value,
        text=same.text if same else None,
        expected=memory.version,
        valid_from=found.attributes["valid_from"],
        valid_until=found.attributes["valid_until"],
        expires_at=memory.expires_at,
        evidence=evidence,
        trust=found.attributes["trust"],
        state=state,
        cause=UNDONE,
    )
