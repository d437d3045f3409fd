"""Edits of a thread: remove messages, keep only some, replace one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.errors import NotFoundError
from recollect.records import Message, Scope
from recollect.stores.plans.idempotency import Idempotency, open_scope, uids_under_key, with_key
from recollect.stores.plans.lanes import lanes_without
from recollect.stores.plans.pending_messages import idle_if_done, without_again
from recollect.stores.plans.positions import all_messages_of
from recollect.stores.plans.said_times import redated_memories
from recollect.stores.plans.threads import PreparedMessage, existing_thread, message_of
from recollect.stores.plans.upkeep import compacted
from recollect.stores.rows import MessageRow, ScopeRow, ThreadRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Removal, Rows
from recollect.text.scope_paths import written_scope
from recollect.text.token_estimate import estimated_tokens


def plan_removal(rows: Rows, scope: Scope, thread: str, ids: Sequence[str]) -> PlannedWrite[int]:
    """Remove those of *ids* that exist; the other messages keep their positions."""
    scope_row, thread_row = existing_thread(rows, scope, thread)
    found = rows.messages_by_id(scope_row.id, thread_row.number, ids)
    return _removed(scope_row, thread_row, found)


def plan_keeping(
    rows: Rows, scope: Scope, thread: str, first: int, last: int | None
) -> PlannedWrite[int]:
    """Remove all messages outside the positions *first* to *last*; the result is how many."""
    scope_row, thread_row = existing_thread(rows, scope, thread)
    everything = all_messages_of(rows, thread_row)
    outside = [
        row
        for row in everything
        if row.position < first or (last is not None and row.position > last)
    ]
    return _removed(scope_row, thread_row, outside)


def _removed(scope: ScopeRow, thread: ThreadRow, found: Sequence[MessageRow]) -> PlannedWrite[int]:
    if not found:
        return PlannedWrite(NOTHING, 0)
    scope = replace(scope, seq=scope.seq + 1)
    thread = thread_without(thread, found)
    gone = [Removal(scope_id=scope.id, uid=row.uid, seq=scope.seq) for row in found]
    scope, old = compacted(scope)
    effect = Effect(scopes=[scope], threads=[thread], removed=gone, compacted=old)
    return PlannedWrite(effect, len(found))


def thread_without(thread: ThreadRow, gone: Sequence[MessageRow]) -> ThreadRow:
    """Return the thread without the messages *gone*, which are no longer pending."""
    waited = [estimated_tokens(row.text) for row in gone if row.position > thread.formed]
    shorter = replace(
        thread,
        count=thread.count - len(gone),
        waiting_tokens=max(0, thread.waiting_tokens - sum(waited)),
    )
    positions = [row.position for row in gone]
    return idle_if_done(lanes_without(without_again(shorter, positions), positions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A request to replace the message that has the same id."""

    scope: Scope
    thread: str
    message: PreparedMessage
    idempotency: Idempotency | None
    now: int


def plan_replacement(rows: Rows, request: Replacement) -> PlannedWrite[Message]:
    """
    Replace the message with the same id.

    Raises:
        NotFoundError: The message does not exist.
        ConflictError: The key was used for another request.
        GoneError: The message replaced under the key has been erased since.
    """
    scope, thread, message, now = request.scope, request.thread, request.message, request.now
    # The key before the thread: a repetition after an erase is a GoneError, not a NotFoundError.
    here = open_scope(rows, scope, now) if request.idempotency else None
    is_done = here and uids_under_key(rows, here, request.idempotency, now) is not None
    scope_row, thread_row = existing_thread(rows, scope, thread)
    found = rows.messages_by_id(scope_row.id, thread_row.number, [message.id])
    if not found:
        raise NotFoundError(
            f"there is no message {message.id!r} in thread {thread!r} of "
            f"{written_scope(scope)} to replace"
        )
    (row,) = found
    if is_done:
        return PlannedWrite(NOTHING, message_of(row, thread))
    kept = with_key(Effect(), scope_row, request.idempotency, [row.uid], now)
    if row.digest == message.digest:
        return PlannedWrite(kept, message_of(row, thread))
    scope_row = replace(scope_row, seq=scope_row.seq + 1)
    changed = _changed_row(row, message, seq=scope_row.seq, now=now)
    # Memories are dated by the messages they rest on: move them along with this one.
    moved = {(thread, row.id): changed.time} if changed.time != row.time else {}
    dated = redated_memories(rows, scope_row.id, moved) if moved else []
    effect = replace(
        kept,
        scopes=[scope_row],
        messages=[changed],
        memories=[replace(each, seq=scope_row.seq) for each in dated],
    )
    return PlannedWrite(effect, message_of(changed, thread))


def _changed_row(row: MessageRow, message: PreparedMessage, *, seq: int, now: int) -> MessageRow:
    """Return the row of a message with its new content; id, position and uid stay."""
    return replace(
        row,
        role=message.role,
        name=message.name,
        text=message.text,
        content=message.content,
        time=message.time,
        session=message.session or row.session,
        source=message.source,
        metadata=message.metadata,
        digest=message.digest,
        terms=message.terms,
        text_hash=message.text_hash,
        kept_at=now,
        seq=seq,
    )
