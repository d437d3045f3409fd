"""The rows of a scope that an erase targets, before what rests on them is known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.errors import VersionConflictError
from recollect.records import INSTRUCTIONS, INSTRUCTIONS_PROPOSAL
from recollect.side_records import LIFETIME, LIFETIME_OF, UNDONE_MESSAGE, lifetime_key, undone_key
from recollect.stores.json_pointers import leaves
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseQuotedMemory,
    EraseScope,
    EraseSource,
    EraseTarget,
)
from recollect.stores.plans.evidence import findings_from, quoted_in, source_link
from recollect.stores.plans.memories import is_expired
from recollect.stores.plans.positions import all_messages_of
from recollect.stores.plans.side_records import expired_sides
from recollect.stores.proposal_names import is_named, proposed_for, target_name
from recollect.stores.rows import MemoryRange, MemoryRow, MessageRow, ScopeRow, SideRow, ThreadRow
from recollect.stores.unit_of_work import Rows
from recollect.text.scope_paths import written_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class DoomedRows:
    """
    The rows of a scope that an erase targets.

    *named* are (thread, message) pairs that evidence may cite, even if no such message exists. A
    sweep names nothing: it takes what has expired. *addresses* are those of the memories that are
    named, even if none is there. *found* names what only the rows tell, for the erase ledger.
    """

    messages: Sequence[MessageRow] = ()
    threads: Sequence[ThreadRow] = ()
    memories: Sequence[MemoryRow] = ()
    sides: Sequence[SideRow] = ()
    named: Sequence[tuple[str, str]] = ()
    gone_threads: Sequence[str] = ()
    addresses: Sequence[tuple[str, str]] = ()
    all_of_scope: bool = False
    is_sweep: bool = False
    found: Sequence[EraseTarget] = ()


def doomed_rows(rows: Rows, scope: ScopeRow, target: EraseTarget, now: int) -> DoomedRows:
    """Return the rows of a scope that *target* names."""
    match target:
        case EraseScope():
            messages = list(rows.all_messages(scope.id))
            memories = list(rows.memories(scope.id))
            return DoomedRows(messages=messages, memories=memories, all_of_scope=True)
        case EraseMemory():
            return _memory_rows(rows, scope, target)
        case EraseExpired(types=types):
            return _expired_rows(rows, scope, types, now)
        case EraseSource(source=source):
            messages = list(rows.messages_of_source(scope.id, source))
            ids = rows.thread_ids(scope.id, sorted({each.thread for each in messages}))
            said = [(ids[each.thread], each.id) for each in messages]
            return DoomedRows(
                messages=messages,
                named=_named_from(rows, scope.id, source),
                sides=_marks_of(rows, scope, said),
            )
        case EraseMessages(thread=thread, messages=ids):
            row = rows.thread(scope.id, thread)
            live = rows.messages_by_id(scope.id, row.number, ids) if row else ()
            named_ids = [(thread, each) for each in ids]
            sides = _marks_of(rows, scope, named_ids)
            return DoomedRows(messages=live, named=named_ids, sides=sides)
    return _doomed_thread(rows, scope, target.thread)


def _memory_rows(rows: Rows, scope: ScopeRow, target: EraseMemory) -> DoomedRows:
    type_, key, expected = target.type, target.key, target.expected
    memory = rows.memory(scope.id, type_, key)
    if expected is not None and memory and memory.version != expected:
        address = f"{type_}/{key} in {written_scope(scope.segments)}"
        raise VersionConflictError(address, expected, memory.version)
    named = [memory] if memory else []
    doomed = DoomedRows(
        memories=[
            *named,
            *_proposals_for(rows, scope, type_, key),
            *_proposed_instructions(rows, scope, type_, key),
            *(each for row in named for each in _refusals_of(rows, row)),
        ],
        sides=_lifetime_of(rows, scope, type_, key),
        addresses=[(type_, key)],
    )
    if memory is None or not isinstance(target, EraseQuotedMemory):
        return doomed
    return _with_quotes(rows, scope, doomed, memory, target.thread)


def _with_quotes(
    rows: Rows, scope: ScopeRow, doomed: DoomedRows, memory: MemoryRow, thread: str
) -> DoomedRows:
    """Add the messages of *thread* that any version of *memory* quotes to the *doomed* rows."""
    past = (row.evidence for row in rows.revisions(scope.id, memory.uid))
    ids = sorted({each for text in (memory.evidence, *past) for each in quoted_in(text, thread)})
    target = EraseMessages(thread=thread, messages=ids)
    quotes = doomed_rows(rows, scope, target, memory.updated_at)
    return replace(
        doomed,
        messages=quotes.messages,
        named=quotes.named,
        sides=[*doomed.sides, *quotes.sides],
        found=[target],
    )


def _expired_rows(rows: Rows, scope: ScopeRow, types: Sequence[str], now: int) -> DoomedRows:
    memories = [
        row
        for row in rows.memories(scope.id)
        if is_expired(row, now) and (row.type in types or not types)
    ]
    return DoomedRows(
        memories=memories,
        sides=expired_sides(rows, scope.id, now),
        is_sweep=True,
        # A backup may hold a memory from before it was given an expiry: without its name, a
        # restore would put it in force again.
        found=[EraseMemory(type=row.type, key=row.key) for row in memories],
    )


def _proposals_for(rows: Rows, scope: ScopeRow, type_: str, key: str) -> Iterator[MemoryRow]:
    """Yield the changes of a memory that wait or were rejected: they repeat what it says."""
    prefix = f"{target_name(key)}~"
    for row in rows.memories(scope.id, MemoryRange(type=type_, after=(type_, prefix))):
        if not row.key.startswith(prefix):
            return  # listed by key: the others of the type are not read
        proposed = proposed_for(row.key)
        if proposed and row.state != "active" and is_named(proposed[0], key):
            yield row


def _proposed_instructions(
    rows: Rows, scope: ScopeRow, type_: str, key: str
) -> Iterator[MemoryRow]:
    """
    Yield the proposals for an agent's instructions, decided or not: each repeats all their rules.

    Accepting one after the erase would bring the rules back.
    """
    if type_ != INSTRUCTIONS:
        return
    for row in rows.memories(scope.id, MemoryRange(type=INSTRUCTIONS_PROPOSAL)):
        if json.loads(row.value).get("agent") == key:
            yield row


def _refusals_of(rows: Rows, memory: MemoryRow) -> Iterator[MemoryRow]:
    """
    Yield what was rejected of a memory, under a key of its own: it repeats what the memory said.

    That is a memory of the same value, or one of a field, with the entry that it belongs to.
    """
    past = (each.value for each in rows.revisions(memory.scope_id, memory.uid))
    said = [json.loads(each) for each in (memory.value, *past)]
    fields = [leaf for value in said for _, leaf in leaves(value)]
    entry = None if memory.key == memory.type else memory.key
    for row in rows.memories(memory.scope_id, MemoryRange(type=memory.type, state="rejected")):
        if row.uid == memory.uid or proposed_for(row.key):
            continue
        value = json.loads(row.value)
        is_field = value.keys() - {"entry"} == {"pointer", "value"} and value.get("entry") == entry
        if value in said or (is_field and value["value"] in fields):
            yield row


def _marks_of(
    rows: Rows, scope: ScopeRow, messages: Sequence[tuple[str, str]]
) -> Sequence[SideRow]:
    places = [("", UNDONE_MESSAGE, undone_key(*each)) for each in messages]
    return rows.side_records_at(scope.id, places) if places else ()


def _lifetime_of(rows: Rows, scope: ScopeRow, type_: str, key: str) -> Sequence[SideRow]:
    """Return the record of a memory's lifetime, whose key is a digest of the memory's."""
    if type_ != LIFETIME_OF:
        return ()
    return rows.side_records_at(scope.id, [("", LIFETIME, lifetime_key(key))])


def _named_from(rows: Rows, scope_id: int, source: str) -> list[tuple[str, str]]:
    """Return the findings from a source, with the link under which the store lists them."""
    link = source_link(source)
    found: set[tuple[str, str]] = set()
    for row in rows.memories_resting_on(scope_id, [link]):
        found |= findings_from(source, row.evidence)
        # An earlier version may rest on findings that the current one no longer cites.
        for past in rows.revisions(scope_id, row.uid):
            found |= findings_from(source, past.evidence)
    return [*sorted(found), link] if found else []


def _doomed_thread(rows: Rows, scope: ScopeRow, thread: str) -> DoomedRows:
    # Messages that were removed earlier are still cited as evidence: erase their words as well.
    named = [(thread, each) for each in rows.evidence_in(scope.id, thread)]
    marks = rows.side_records(scope.id, ("", UNDONE_MESSAGE), None)
    sides = [
        *rows.side_records(scope.id, (thread,), None),
        # A program may have written a mark without a thread: no erase fails for that.
        *(each for each in marks if json.loads(each.value).get("thread") == thread),
    ]
    row = rows.thread(scope.id, thread)
    if row is None:
        return DoomedRows(named=named, gone_threads=[thread], sides=sides)
    live = all_messages_of(rows, row)
    return DoomedRows(messages=live, threads=[row], named=named, gone_threads=[thread], sides=sides)
