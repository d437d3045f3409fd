"""Erasure: the rows that an erase removes, with everything derived from them, and its receipt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain

from recollect.records import Scope
from recollect.side_records import FORGOTTEN, UNDONE_MESSAGE
from recollect.stores.plans.derived_rows import (
    Named,
    cause_after,
    encoded_remainder,
    end_before_merge,
    is_merged,
    lost_places,
    reduced_memory,
    reinstated_memory,
    replaced_by,
    resting_on,
    row_remainder,
    version_names,
)
from recollect.stores.plans.doomed_rows import DoomedRows, doomed_rows
from recollect.stores.plans.erase_ledger import named_digests
from recollect.stores.plans.erase_targets import EraseExpired, EraseReceipt, EraseScope, EraseTarget
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.plans.held_ends import held_ends
from recollect.stores.plans.idempotency import blanked_keys, spent_keys
from recollect.stores.plans.memories import optional_time, revision_row
from recollect.stores.plans.receipts import Erasure, blanked_formations
from recollect.stores.plans.reformation import Waiting, find_messages_to_form, reschedule_threads
from recollect.stores.plans.said_times import SaidTimes
from recollect.stores.plans.thread_edits import thread_without
from recollect.stores.plans.upkeep import old_before
from recollect.stores.reader_quotes import without_reader_quote
from recollect.stores.remainder import REDUCED, Remainder
from recollect.stores.rows import (
    NO_SCOPE,
    MemoryRange,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    RevisionRow,
    ScopeRow,
    ThreadRow,
)
from recollect.stores.unit_of_work import Effect, PlannedWrite, Removal, Rows, together
from recollect.stores.validation import to_datetime
from recollect.text.searchable import memory_text


def receipt_of(row: ReceiptRow) -> EraseReceipt:
    """Return the receipt that *row* stores."""
    return EraseReceipt(
        id=row.id,
        messages=row.messages,
        memories=row.memories,
        revised=row.revised,
        erased_at=to_datetime(row.erased_at),
        clean_at=optional_time(row.clean_at),
    )


def plan_erase(
    rows: Rows, scope: Scope, target: EraseTarget, *, receipt: ReceiptRow, key: bytes = b""
) -> PlannedWrite[ReceiptRow]:
    """
    Erase *target* from *scope*, with everything derived from it alone.

    Every affected scope gets a new epoch, so that no formation, index or cursor started before can
    bring anything back. Formation receipts that may repeat what is erased are blanked: only their
    counts stay, and which memories they changed. If there is nothing to erase, the receipt's counts
    are zero. With the *key* of the ledger, what only the rows tell of the target is added to the
    digests of the receipt.
    """
    if isinstance(target, EraseScope | EraseExpired) and target.below:
        found = list(rows.scopes_below(scope, None))
    else:
        found = [row for row in [rows.scope(scope)] if row]
    parts = []
    for row in found:
        doomed = doomed_rows(rows, row, target, receipt.erased_at)
        part, receipt = _effect_of(rows, row, doomed, receipt)
        found_there = named_digests(key, row.segments, *doomed.found)
        receipt = replace(receipt, target=receipt.target + found_there)
        parts.append(part)
    is_void = not (
        receipt.messages or receipt.memories or any(each.dropped_sides for each in parts)
    )
    if isinstance(target, EraseExpired) and is_void:
        # Run periodically, mostly with nothing to do: receipts of that would only pile up.
        return PlannedWrite(Effect(), replace(receipt, clean_at=receipt.erased_at))
    return PlannedWrite(replace(together(parts), receipts=[receipt]), receipt)


def _effect_of(
    rows: Rows, scope: ScopeRow, doomed: DoomedRows, receipt: ReceiptRow
) -> tuple[Effect, ReceiptRow]:
    """Return the effect of an erase in one scope, and the receipt with its counts added."""
    counted = replace(
        receipt,
        messages=receipt.messages + len(doomed.messages),
        memories=receipt.memories + len(doomed.memories),
    )
    if doomed.all_of_scope:
        newest = _newest_time(rows, scope, doomed, Effect())
        counted = replace(counted, erased_at=max(counted.erased_at, newest))
        return _dropped(rows, scope, receipt.erased_at), counted
    # A new epoch ends every cursor, lease and index that began before the erase.
    was, scope = scope, _begun_anew(rows, scope)
    revised, waiting, names = _revised(rows, scope, doomed)
    back = _back_in_force(rows, scope, doomed, revised, receipt.erased_at)
    gone: list[MessageRow | MemoryRow] = [*doomed.messages, *doomed.memories]
    # Blank receipts even if no entry is left: they may quote messages removed earlier.
    blanked = blanked_formations(rows, scope.id, _erasure_of(rows, scope, doomed, revised, names))
    taken = gone or doomed.threads or doomed.sides or _changes_anything(revised)
    unquoted = [] if doomed.is_sweep and not taken else _unquoted(rows, scope, revised, back)
    # Without a change the epoch stays as well: an erase of nothing must not end the cursors and
    # indexes of others.
    if not (taken or unquoted):
        released = [] if doomed.is_sweep else _released(rows, was)
        return Effect(scopes=released, formations=blanked), counted
    counted = replace(
        counted,
        memories=counted.memories + len(revised.removed),
        revised=counted.revised + len(revised.memories),
        erased_at=max(counted.erased_at, _newest_time(rows, scope, doomed, revised)),
    )
    erased = {each.uid for each in (*gone, *revised.removed)}
    effect = Effect(
        scopes=[scope],
        threads=_threads_after(rows, scope, doomed, waiting, receipt.erased_at),
        dropped_threads=doomed.threads,
        removed=[_removal(scope, row) for row in gone],
        idempotency=blanked_keys(rows, scope.id, erased, receipt.erased_at),
        formations=blanked,
        memories=[row for row in unquoted if row.uid not in erased],
        dropped_sides=doomed.sides,
    )
    effect = together((effect, revised, back))
    if _is_emptied(rows, scope, effect):
        return _dropped(rows, scope, receipt.erased_at), counted
    return effect, counted


def _newest_time(rows: Rows, scope: ScopeRow, doomed: DoomedRows, revised: Effect) -> int:
    """
    Return the newest time of what an erase takes, in µs; 0 if it takes nothing.

    An erase is no earlier than that, even if the clock was set back since: imports and restores
    take what is newer than an erase for something else.
    """
    taken = rows.memories_by_uid(scope.id, [each.uid for each in revised.removed])
    return max(
        chain(
            # Rows of other programs are imported with the time at which they were said alone.
            (max(each.kept_at, each.time) for each in doomed.messages),
            (each.created_at for each in doomed.threads),
            (each.updated_at for each in (*doomed.memories, *taken, *revised.memories)),
            (each.updated_at for each in doomed.sides),
        ),
        default=0,
    )


def _unquoted(rows: Rows, scope: ScopeRow, revised: Effect, back: Effect) -> list[MemoryRow]:
    """
    Return the waiting memories that quote what a second reader was shown, without the quote.

    The quote may repeat erased words even if the memory rests on others. Memories that the erase
    rewrites anyway are left out.
    """
    rewritten = {row.uid for row in (*revised.memories, *back.memories)}
    found = []
    for row in rows.memories(scope.id, MemoryRange(state="quarantined")):
        cause = without_reader_quote(row.cause)
        if cause != row.cause and row.uid not in rewritten:
            found.append(replace(row, cause=cause, seq=scope.seq))
    return found


def _begun_anew(rows: Rows, scope: ScopeRow) -> ScopeRow:
    # Its lease is of no use in the new epoch: what is left may be formed at once.
    released = replace(scope, lease_owner=None, lease_until=None)
    return replace(released, seq=scope.seq + 1, epoch=rows.new_number())


def _dropped(rows: Rows, scope: ScopeRow, now: int) -> Effect:
    """
    Drop a scope with its name.

    Its idempotency keys move outside of any scope, so that a late retry is not carried out again.
    """
    return Effect(
        dropped_scopes=[scope.id],
        idempotency=spent_keys(rows, scope.id, now),
        old_keys=[(NO_SCOPE, old_before(now))],
    )


def _released(rows: Rows, scope: ScopeRow) -> list[ScopeRow]:
    """
    Return the scope without its lease, if it has one and something was ever removed from it.

    The erase may name what was removed, and the formation may have read it before.
    """
    lost = scope.lease_owner and (scope.compacted or rows.removed(scope.id, 0))
    return [replace(scope, lease_owner=None, lease_until=None)] if lost else []


def _changes_anything(revised: Effect) -> bool:
    return bool(
        revised.removed or revised.memories or revised.revisions or revised.dropped_revisions
    )


def _is_emptied(rows: Rows, scope: ScopeRow, effect: Effect) -> bool:
    """
    Return True if *effect* leaves the scope empty, so that its name is deleted as well.

    Side records of the kinds `FORGOTTEN`, digests of erased values, and `UNDONE_MESSAGE`, marks of
    messages, do not keep a scope alive.
    """
    dropped = {row.id for row in effect.dropped_threads}
    # One more than are dropped suffices to find a thread that stays.
    # Messages need no look of their own: each belongs to a thread.
    threads = rows.threads(scope.id, None, len(dropped) + 1)
    if any(row.id not in dropped for row in threads):
        return False
    removed = {each.uid for each in effect.removed}
    dropped_sides = {row.uid for row in effect.dropped_sides}
    if any(row.uid not in removed for row in rows.memories(scope.id)):
        return False
    return all(
        row.uid in dropped_sides or row.kind in {FORGOTTEN, UNDONE_MESSAGE}
        for row in rows.side_records(scope.id, (), None)
    )


def _removal(scope: ScopeRow, row: MessageRow | MemoryRow) -> Removal:
    return Removal(scope_id=scope.id, uid=row.uid, seq=scope.seq)


def _threads_after(
    rows: Rows, scope: ScopeRow, doomed: DoomedRows, waiting: Waiting, now: int
) -> list[ThreadRow]:
    """Return threads that lose messages but stay, and threads with messages to form again."""
    shortened = {row.id: row for row in _shortened(rows, scope, doomed)}
    gone = {row.id for row in doomed.threads}
    left = {thread: types for thread, types in waiting.items() if thread not in gone}
    again = {row.id: row for row in reschedule_threads(rows, scope.id, shortened, left, now)}
    return list({**shortened, **again}.values())


def _shortened(rows: Rows, scope: ScopeRow, doomed: DoomedRows) -> list[ThreadRow]:
    """Return the rows of threads that lose messages but stay."""
    dropped = {row.number for row in doomed.threads}
    lost: dict[int, list[MessageRow]] = {}
    for row in doomed.messages:
        lost.setdefault(row.thread, []).append(row)
    ids = rows.thread_ids(scope.id, [number for number in lost if number not in dropped])
    found = [rows.thread(scope.id, id_) for id_ in ids.values()]
    return [thread_without(row, lost[row.number]) for row in found if row]


def _erasure_of(
    rows: Rows, scope: ScopeRow, doomed: DoomedRows, revised: Effect, names: Named
) -> Erasure:
    """Return what an erase removes, as receipts name it."""
    taken = rows.memories_by_uid(scope.id, [each.uid for each in revised.removed])
    gone = {(row.type, row.key) for row in (*doomed.memories, *taken)}
    return Erasure(
        names=names, addresses=gone | set(doomed.addresses), threads=frozenset(doomed.gone_threads)
    )


def _revised(rows: Rows, scope: ScopeRow, doomed: DoomedRows) -> tuple[Effect, Waiting, Named]:
    """
    Return the effect on memories and revisions whose evidence is erased, and what to form again.

    The third part names all that is erased, and the versions of memories that lose content.

    After the erase of a memory nothing is formed again, or the memory might come back.
    """
    ids = rows.thread_ids(scope.id, sorted({row.thread for row in doomed.messages}))
    erased = {(ids[row.thread], row.id) for row in doomed.messages} | set(doomed.named)
    # What was derived from a memory cites its versions, as it would cite messages.
    erased |= {name for row in doomed.memories for name in version_names(row)}
    if not erased:
        return Effect(), {}, set()
    doomed_uids = {row.uid for row in doomed.memories}
    ends = held_ends(rows, scope.id, erased)
    resting = resting_on(rows, scope.id, erased, doomed_uids | ends.keys())
    asked = [_removal(scope, row) for uid, row in ends.items() if uid not in doomed_uids]
    unlinked = Effect(
        dropped_evidence=[(scope.id, *pair) for pair in sorted(erased)], removed=asked
    )
    times = SaidTimes(rows, scope.id)
    changed = [
        _memory_effect(scope, each, rows.revisions(scope.id, each.uid), erased, times)
        for each in resting
    ]
    waiting = {} if doomed.memories else find_messages_to_form(resting, erased)
    return together([unlinked, *changed]), waiting, erased


def _back_in_force(
    rows: Rows, scope: ScopeRow, doomed: DoomedRows, revised: Effect, now: int
) -> Effect:
    """Reinstate the memories that only an erased memory had replaced."""
    taken = rows.memories_by_uid(scope.id, [each.uid for each in revised.removed])
    left_out = {row.uid for row in (*taken, *doomed.memories)}
    rewritten = {row.uid: row for row in revised.memories}
    back = []
    for row in replaced_by(rows, taken):
        if row.uid in left_out:
            continue
        if row.uid in rewritten:
            # Its earlier content was erased with the evidence: keep no revision of it.
            end = end_before_merge(rows, row)
            again = replace(rewritten[row.uid], valid_until=end, cause=REDUCED)
            back.append(Effect(memories=[again]))
        else:
            again = reinstated_memory(rows, row, scope.seq, now)
            back.append(Effect(memories=[again], revisions=[revision_row(row, now)]))
    return together(back)


def _memory_effect(
    scope: ScopeRow,
    memory: MemoryRow,
    past: Sequence[RevisionRow],
    erased: set[tuple[str, str]],
    times: SaidTimes,
) -> Effect:
    """Return how a memory and its past versions change without the *erased* evidence."""
    left = row_remainder(memory, erased)
    if left is None:
        return Effect(removed=[_removal(scope, memory)])
    places = lost_places([*past, memory], erased)
    revisions = [(row, row_remainder(row, erased)) for row in past if _rests(row, erased)]
    named = [
        row for row in past if not _rests(row, erased) and cause_after(row, places) != row.cause
    ]
    changed = Effect(
        revisions=[
            *(_revision_with(row, rest, places) for row, rest in revisions if rest),
            *(replace(row, cause=cause_after(row, places)) for row in named),
        ],
        dropped_revisions=[
            (scope.id, row.uid, row.version) for row, rest in revisions if rest is None
        ],
    )
    if not _rests(memory, erased):
        cause = cause_after(memory, places)
        unnamed = [replace(memory, cause=cause, seq=scope.seq)] if cause != memory.cause else []
        return replace(changed, memories=unnamed)
    # It replaces the row without a revision, which would keep the erased words.
    rewritten = reduced_memory(
        memory,
        left,
        times=times,
        cause=memory.cause if is_merged(memory) else REDUCED,
        updated_at=memory.updated_at,
        seq=scope.seq,
    )
    return replace(changed, memories=[rewritten])


def _rests(row: MemoryRow | RevisionRow, erased: set[tuple[str, str]]) -> bool:
    return not erased.isdisjoint(evidence_messages(row.evidence))


def _revision_with(row: RevisionRow, left: Remainder, places: Collection[str]) -> RevisionRow:
    value, evidence = encoded_remainder(left)
    return replace(
        row,
        value=value,
        evidence=evidence,
        text=memory_text(left.value),
        cause=cause_after(row, places, left),
    )
