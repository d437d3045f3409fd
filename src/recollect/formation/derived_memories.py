"""Derived memories: the writes that create, undo and invalidate them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from recollect.errors import UsageError
from recollect.formation.attribution import CARRIED_MAX
from recollect.formation.consolidation import Combination
from recollect.formation.grounding.passage_trust import least
from recollect.formation.operation_outcomes import OperationOutcome
from recollect.formation.similarity_groups import address_of
from recollect.formation.succession import end_of, holds
from recollect.formation.value_identity import content_key, same_text
from recollect.records import (
    EndMemory,
    Evidence,
    Json,
    JsonObject,
    Memory,
    MemoryAddress,
    PutMemory,
    Revision,
    Scope,
    Write,
)
from recollect.stores.remainder import (
    MEMORY_THREAD,
    MERGED,
    merged_into,
    named_version,
    version_name,
)
from recollect.stores.validation import ID_CHARACTERS_MAX
from recollect.text.searchable import memory_text

MemoryVersion: TypeAlias = tuple[str, str, int]
"""A version of a memory: type, key, version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedChange:
    """
    The effect of one combination: the new memory at (type, key), and the writes.

    *sources* are the versions it was made from; it replaces those at *ended*.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     red = memory.remember("ada", "The boat is red.")
    ...     called = memory.remember("ada", "The boat is called Ida.")
    ...     (change,) = memory.migrate_type("ada", "Note", "patch").changes
    >>> change.action, change.type, len(change.sources), len(change.ended)
    ('merged', 'Note', 2, 2)
    """

    action: Literal["merged", "derived", "refused"]
    type: str
    key: str
    sources: tuple[MemoryVersion, ...] = ()
    ended: tuple[MemoryAddress, ...] = ()
    reason: str = ""
    writes: tuple[Write, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveMemories:
    """
    The active memories by address, and others that were looked up.

    *refused* are addresses of values that a person refused, *erased* of values that were erased
    since their sources were written, *taken* those of any memory.
    """

    now: datetime
    new_key: Callable[[], str]
    in_force: Mapping[MemoryAddress, Memory]
    refused: AbstractSet[MemoryAddress] = frozenset()
    erased: AbstractSet[MemoryAddress] = frozenset()
    taken: AbstractSet[MemoryAddress] = frozenset()
    derived: Sequence[Memory] = field(default_factory=tuple)


def sources_of(memory: Memory) -> list[MemoryVersion]:
    """Return the versions of memories that one was derived from."""
    named = [
        named_version(each.message)
        for found in memory.evidence.values()
        for each in found
        if each.thread == MEMORY_THREAD
    ]
    return list(dict.fromkeys(each for each in named if each is not None))


def can_be_source(memory: Memory, now: datetime) -> bool:
    """
    Return True if a memory is active, has no end, and can be named as a source.

    An agent's finding cannot: merged with a user's words, it would replace them.
    """
    name = version_name(memory.type, memory.key, memory.version + 1_000)
    return (
        holds(memory, now)
        and memory.trust != "agent"
        and memory.valid_until is None
        and len(name) <= ID_CHARACTERS_MAX
    )


def planned(combinations: Sequence[Combination], standing: ActiveMemories) -> list[DerivedChange]:
    """Plan the change for each combination, in order; no memory is written twice."""
    changes: list[DerivedChange] = []
    written: set[MemoryAddress] = set()
    for each in combinations:
        change = _change(each, standing, written)
        if not written.isdisjoint(change.ended):
            change = _refused(each, "one of these memories is merged in another call")
        if change.writes:
            written |= {(change.type, change.key), *change.ended}
        changes.append(change)
    return changes


def _change(
    made: Combination, standing: ActiveMemories, written: AbstractSet[MemoryAddress]
) -> DerivedChange:
    type_, key = made.group.type, content_key(made.value)
    if (type_, key) in standing.refused:
        return _refused(made, "this value was rejected")
    if (type_, key) in standing.erased:
        return _refused(made, "this value was erased")
    equal = [
        each
        for address, each in standing.in_force.items()
        if address[0] == type_ and same_text(each.value, made.value)
    ]
    if any(each not in made.sources or not made.is_merge for each in equal):
        return _refused(made, "it is remembered already")
    if (type_, key) in standing.taken or (type_, key) in written:
        key = standing.new_key()
    older = [] if made.is_merge else _outdone(made, standing)
    replaced = [*made.sources, *older] if made.is_merge else older
    sources = [*made.sources, *older, *(each for each in made.besides if each not in older)]
    expires_at = min((e.expires_at for e in sources if e.expires_at), default=None)
    # Ended, it would be lost as soon as what replaced it expires.
    if any(each.expires_at != expires_at for each in replaced):
        return _refused(made, "it would expire before a memory that it replaces")
    cause = merged_into(type_, key)
    put = PutMemory(
        type=type_,
        key=key,
        value=made.value,
        expected=0,
        valid_from=max((e.valid_from for e in sources if e.valid_from), default=None),
        expires_at=expires_at,
        evidence={"": _evidence(sources)},
        trust=least([each.trust for each in sources]),
        cause="consolidated",
    )
    ends = [
        EndMemory(
            type=each.type,
            key=each.key,
            at=end_of(each, standing.now),
            expected=each.version,
            cause=cause,
        )
        for each in replaced
    ]
    return DerivedChange(
        action="merged" if made.is_merge else "derived",
        type=type_,
        key=key,
        sources=tuple((each.type, each.key, each.version) for each in sources),
        ended=tuple(address_of(each) for each in replaced),
        writes=(put, *ends),
    )


def made_by(change: DerivedChange, scope: Scope, now: datetime) -> Memory | None:
    """Return the memory that *change* will store, ``None`` if it stores none."""
    puts = [each for each in change.writes if isinstance(each, PutMemory)]
    if not puts:
        return None
    return Memory(
        scope=scope,
        type=puts[0].type,
        key=puts[0].key,
        value=puts[0].value,
        text=memory_text(puts[0].value),
        version=1,
        created_at=now,
        updated_at=now,
        valid_from=puts[0].valid_from,
        valid_until=None,
        expires_at=puts[0].expires_at,
        evidence=puts[0].evidence,
        trust=puts[0].trust,
        state="active",
    )


def _refused(made: Combination, reason: str) -> DerivedChange:
    return DerivedChange(
        action="refused", type=made.group.type, key=content_key(made.value), reason=reason
    )


def _outdone(made: Combination, standing: ActiveMemories) -> list[Memory]:
    """Return earlier derived memories whose sources are a subset of this one's."""
    mine = {address_of(each) for each in made.sources}
    return [
        each
        for each in standing.derived
        if each.type == made.group.type
        and {(type_, key) for type_, key, _ in sources_of(each)} <= mine
    ]


def _evidence(sources: Sequence[Memory]) -> list[Evidence]:
    """Return evidence that names the sources, followed by the sources' own evidence."""
    named = [
        Evidence(thread=MEMORY_THREAD, message=version_name(e.type, e.key, e.version))
        for e in sources
    ]
    carried = [
        replace(each, group=0)
        for source in sources
        for found in source.evidence.values()
        for each in found
        if each.thread != MEMORY_THREAD
    ]
    return [*named, *list(dict.fromkeys(carried))[:CARRIED_MAX]]


def outcomes_of(changes: Sequence[DerivedChange]) -> list[OperationOutcome]:
    """Return the outcomes of changes for the receipt, as in any formation."""
    made = [
        OperationOutcome(
            action="refused" if each.action == "refused" else "stored",
            type=each.type,
            key=each.key,
            reason=each.reason or each.action,
        )
        for each in changes
    ]
    ended = [
        OperationOutcome(
            action="ended", type=type_, key=key, reason=f"merged into {each.type}/{each.key}"
        )
        for each in changes
        for type_, key in each.ended
    ]
    return made + ended


def change_record(change: DerivedChange) -> JsonObject:
    """Return a change as a receipt keeps it, so that it can be undone."""
    return {
        "action": change.action,
        "type": change.type,
        "key": change.key,
        "sources": [list(each) for each in change.sources],
        "ended": [list(each) for each in change.ended],
        "reason": change.reason,
    }


def changes_in(receipt: JsonObject) -> list[DerivedChange]:
    """
    Return the changes that `change_record` put into the receipt of a consolidation.

    Raises:
        UsageError: It tells of none: it is no such receipt, or was blanked by an erase.
    """
    consolidation = receipt.get("consolidation")
    kept = consolidation.get("changes") if isinstance(consolidation, Mapping) else None
    if not isinstance(kept, list):
        msg = (
            "its receipt tells of no changes: it is no consolidation, or something was erased "
            "since, and what it said with it"
        )
        raise UsageError(msg)
    return [_read_change(each) for each in kept if isinstance(each, Mapping)]


def _read_change(record: Mapping[str, Json]) -> DerivedChange:
    listed = {name: record.get(name) for name in ("sources", "ended")}
    sources, ended = (
        [tuple(each) for each in found if isinstance(each, list)] if isinstance(found, list) else []
        for found in listed.values()
    )
    action = record.get("action")
    return DerivedChange(
        action="merged" if action == "merged" else "derived" if action == "derived" else "refused",
        type=str(record.get("type")),
        key=str(record.get("key")),
        sources=tuple((str(t), str(k), int(str(v))) for t, k, v in sources),
        ended=tuple((str(t), str(k)) for t, k in ended),
    )


def before_end(memory: Memory, history: Sequence[Revision], *, cause: str) -> list[Write]:
    """Return the write that makes the previous version current again."""
    past = [each for each in history if each.version < memory.version]
    if not past:
        return []
    last = past[-1]
    return [
        PutMemory(
            type=memory.type,
            key=memory.key,
            value=last.value,
            text=last.text,
            expected=memory.version,
            valid_from=last.valid_from,
            valid_until=last.valid_until,
            expires_at=memory.expires_at,
            evidence=last.evidence,
            trust=last.trust,
            state=last.state,
            cause=cause,
        )
    ]


def holds_no_more(version: int, history: Sequence[Revision]) -> bool:
    """
    Return True if a source changed so that memories derived from *version* are outdated.

    It has if its value is another, or if it ended for another reason than being merged. Where
    that version is gone from the history, an erase has left what it could.
    """
    if not history:
        return True
    present = history[-1]
    cited = [each for each in history if each.version == version]
    is_other = bool(cited) and cited[0].value != present.value
    was_open = bool(cited) and cited[0].valid_until is None
    has_ended = present.valid_until is not None and not present.cause.startswith(MERGED)
    return is_other or (was_open and has_ended) or present.state != "active"
