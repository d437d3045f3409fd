"""Threads and messages: prepare and append messages, and read threads and their changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.errors import ConflictError, NotFoundError, UsageError
from recollect.ports import Ids
from recollect.records import Lane, Message, NewMessage, Role, Scope, Thread
from recollect.stores.digests import request_digest, text_hash
from recollect.stores.fast_records import changer_of, maker_of
from recollect.stores.plans.due_times import Debounce, thread_after_append
from recollect.stores.plans.idempotency import Idempotency, open_scope, uids_under_key, with_key
from recollect.stores.plans.lanes import lanes_of
from recollect.stores.plans.memory_writes import plan_writes
from recollect.stores.plans.pending_messages import again_of
from recollect.stores.plans.positions import all_messages_of, messages_before
from recollect.stores.plans.prepared_writes import PreparedWrite
from recollect.stores.rows import MICROSECONDS, MessageRow, ScopeRow, ThreadRow
from recollect.stores.unit_of_work import NOTHING, PlannedWrite, Rows, changed_effect
from recollect.stores.validation import (
    check_content,
    check_id,
    check_object,
    check_past,
    check_role,
    check_text,
    to_datetime,
)
from recollect.text.coded_text import with_code
from recollect.text.scope_paths import written_scope
from recollect.text.searchable import message_text
from recollect.text.terms import encode_terms
from recollect.text.token_estimate import estimated_tokens

SESSION_GAP_S: Final = 1_800
"""A longer pause between two messages of a thread begins another session."""
# `maker_of` is faster than the constructor, and a page has many of these.
_MESSAGE: Final = maker_of(Message)
_changed_scope: Final = changer_of(ScopeRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMessage:
    """A validated message, in stored form."""

    id: str
    role: Role
    name: str | None
    text: str
    content: str | None
    time: int
    session: str | None
    source: str | None
    metadata: str
    digest: bytes
    terms: bytes
    text_hash: bytes


def prepare_message(message: NewMessage, now: int, ids: Ids) -> PreparedMessage:
    """Validate *message* and return its stored form."""
    if not isinstance(message, NewMessage):
        raise UsageError(f"a message is a NewMessage, not {message!r}")
    role = check_role(message)
    text = check_text(message.text, "a message's text")
    content = check_content(message.content)
    if not text and not content and not message.metadata:
        raise UsageError(
            with_code(
                "message_empty", "a message needs text, content or metadata; this one is empty"
            )
        )
    time = now if message.time is None else check_past(message.time, now, "a message's time")
    name = None if message.name is None else check_id(message.name, "a message's name")
    searched = message_text(text, name, message.content)
    return PreparedMessage(
        id=ids.name(to_datetime(now))
        if message.id is None
        else check_id(message.id, "a message id"),
        role=role,
        name=name,
        text=text,
        content=content,
        time=time,
        session=None if message.session is None else check_id(message.session, "a session id"),
        source=None if message.source is None else check_id(message.source, "a message's source"),
        metadata=check_object(message.metadata, "a message's metadata"),
        digest=_digest_of(message, content),
        terms=encode_terms(searched, to_datetime(time)),
        text_hash=text_hash(searched),
    )


def _digest_of(message: NewMessage, content: str | None) -> bytes:
    """Return a digest of the fields that the caller gave, without those the store fills in."""
    # The default time is not one of them, so that the same message sent again is recognised.
    time = None if message.time is None else message.time.timestamp()
    given = (message.role, message.text, message.name, time, message.session, message.source)
    return request_digest(given, content, dict(message.metadata))


def existing_thread(rows: Rows, scope: Scope, thread: str) -> tuple[ScopeRow, ThreadRow]:
    """
    Return the rows of a thread that must exist.

    Raises:
        NotFoundError: The scope or the thread does not exist.
    """
    scope_row = rows.scope(scope)
    thread_row = rows.thread(scope_row.id, thread) if scope_row else None
    if not scope_row or not thread_row:
        raise NotFoundError(f"there is no thread {thread!r} in the scope {written_scope(scope)}")
    return scope_row, thread_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """A request to append messages to a thread."""

    scope: Scope
    thread: str
    messages: Sequence[PreparedMessage]
    idempotency: Idempotency | None
    debounce: Debounce
    now: int
    settings: str | None = None
    writes: Sequence[PreparedWrite] = ()


def plan_append(rows: Rows, request: Append, ids: Ids) -> PlannedWrite[tuple[Message, ...]]:
    """
    Append those of the request's messages that are new, in order, and carry out its writes.

    Raises:
        ConflictError: An id was used for other content, or the key for another request.
        GoneError: Everything stored under the key has been erased since.
        VersionConflictError: A write expected another version.
    """
    if not request.messages and not request.writes:
        return PlannedWrite(NOTHING, ())
    scope = open_scope(rows, request.scope, request.now)
    known = rows.thread(scope.id, request.thread)
    if done := _done_before(rows, scope, request):
        return done
    thread = known or ThreadRow(
        scope_id=scope.id, number=rows.new_number(), id=request.thread, created_at=request.now
    )
    wanted = [message.id for message in request.messages]
    present = {row.id: row for row in rows.messages_by_id(scope.id, thread.number, wanted)}
    # The writes may cite messages of this request, which are not stored yet.
    said = {(request.thread, each.id): each.time for each in request.messages}
    said |= {(request.thread, id_): row.time for id_, row in present.items()}
    written = plan_writes(rows, scope, request.writes, ids=ids, now=request.now, said=said).effect
    # `plan_writes` raised the seq by one too: messages and writes of an append share it.
    scope = _changed_scope(scope, seq=scope.seq + 1)
    last = next(iter(messages_before(rows, thread, None, 1)), None)
    added = _added_rows(request, scope, thread, present, last=last, ids=ids)
    present |= {row.id: row for row in added}
    result = tuple(message_of(present[id_], thread.id) for id_ in wanted)
    settings = thread.settings if request.settings is None else request.settings
    if known and not added and not request.idempotency and settings == thread.settings:
        # Nothing of the thread changes: leave its row and the scope's seq as they are.
        return PlannedWrite(written, result)
    tokens = sum(estimated_tokens(row.text) for row in added)
    if settings != thread.settings:
        thread = replace(thread, settings=settings)
    thread = thread_after_append(thread, len(added), request.now, request.debounce, tokens=tokens)
    effect = changed_effect(
        written, scopes=written.scopes or [scope], threads=[thread], messages=added
    )
    uids = [present[id_].uid for id_ in wanted] or [row.uid for row in written.memories]
    return PlannedWrite(with_key(effect, scope, request.idempotency, uids, request.now), result)


def _added_rows(
    request: Append,
    scope: ScopeRow,
    thread: ThreadRow,
    present: Mapping[str, MessageRow],
    *,
    last: MessageRow | None,
    ids: Ids,
) -> list[MessageRow]:
    """
    Return the rows of the request's messages that are not *present*; *last* is the thread's newest.

    Raises:
        ConflictError: An id is used with other content, in the thread or twice in the request.
    """
    added: dict[str, MessageRow] = {}
    for message in request.messages:
        if same := present.get(message.id) or added.get(message.id):
            _check_is_repetition(same, message, thread.id)
            continue
        # After the last position ever used, even if its message was removed since.
        position = thread.last + len(added) + 1
        last = _row_of(
            message, thread, last, position=position, scope=scope, ids=ids, now=request.now
        )
        added[last.id] = last
    return list(added.values())


def _done_before(
    rows: Rows, scope: ScopeRow, request: Append
) -> PlannedWrite[tuple[Message, ...]] | None:
    """Return the messages that the same request stored before, ``None`` if it was not made."""
    uids = uids_under_key(rows, scope, request.idempotency, request.now)
    if uids is None:
        return None
    found = rows.messages_by_uid(scope.id, uids)
    by_uid = {row.uid: message_of(row, request.thread) for row in found}
    return PlannedWrite(NOTHING, tuple(by_uid[uid] for uid in uids if uid in by_uid))


def _check_is_repetition(row: MessageRow, message: PreparedMessage, thread: str) -> None:
    if row.digest != message.digest:
        raise ConflictError(
            with_code(
                "message_exists",
                f"message {message.id!r} of thread {thread!r} exists with other content: "
                "use another id, or replace it",
                message=message.id,
                thread=thread,
            )
        )


def _row_of(
    message: PreparedMessage,
    thread: ThreadRow,
    previous: MessageRow | None,
    *,
    position: int,
    scope: ScopeRow,
    ids: Ids,
    now: int,
) -> MessageRow:
    return MessageRow(
        scope_id=scope.id,
        thread=thread.number,
        uid=ids.entry_id(),
        id=message.id,
        position=position,
        role=message.role,
        name=message.name,
        text=message.text,
        content=message.content,
        time=message.time,
        session=message.session or session_after(previous, message.time, position),
        source=message.source,
        metadata=message.metadata,
        kept_at=now,
        digest=message.digest,
        seq=scope.seq,
        terms=message.terms,
        text_hash=message.text_hash,
    )


def message_of(row: MessageRow, thread: str) -> Message:
    """Return the message stored in *row*, of the thread with the id *thread*."""
    return _MESSAGE(
        (
            thread,
            row.id,
            row.position,
            row.role,
            row.text,
            row.name,
            to_datetime(row.time),
            row.session,
            row.source,
            None if row.content is None else json.loads(row.content),
            {} if row.metadata == "{}" else json.loads(row.metadata),
        )
    )


def count_waiting(rows: Rows, thread: ThreadRow) -> int:
    """Return how many messages are pending for the type that has most of them pending."""
    places = [Lane(formed=thread.formed, again=again_of(thread)), *lanes_of(thread).values()]
    return max(_count_after(rows, thread, each.formed) + len(each.again) for each in places)


def _count_after(rows: Rows, thread: ThreadRow, position: int) -> int:
    # Positions are never reused: if no message was removed, they count messages without a query.
    if thread.last in (thread.count, position):
        return thread.last - position
    return rows.count_messages(thread.scope_id, thread.number, position)


def thread_of(rows: Rows, row: ThreadRow, scope: Scope) -> Thread:
    """Return the thread stored in *row*, with a count of its pending messages."""
    return Thread(
        scope=scope,
        id=row.id,
        created_at=to_datetime(row.created_at),
        last=row.last,
        count=row.count,
        formed=row.formed,
        due=None if row.due is None else to_datetime(max(row.due, row.not_before or 0)),
        attempts=row.attempts,
        state=row.state,
        again=again_of(row),
        settings=json.loads(row.settings),
        lanes=lanes_of(row),
        waiting=count_waiting(rows, row),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadChanges:
    """
    The changes of a thread that a reader missed; *seq* and *epoch* are its new position.

    *messages* are those appended or replaced, by position, and *count* is the thread's number of
    messages. With *reset* the reader has to start over: *messages* are all.
    """

    seq: int
    epoch: int
    reset: bool
    count: int
    messages: tuple[Message, ...]


def read_changes(rows: Rows, scope: Scope, thread: str, seen: tuple[int, int]) -> ThreadChanges:
    """Return the changes of a thread since (seq, epoch); see `ThreadChanges`."""
    scope_row = rows.scope(scope)
    thread_row = rows.thread(scope_row.id, thread) if scope_row else None
    if scope_row is None or thread_row is None:
        seq, epoch = (scope_row.seq, scope_row.epoch) if scope_row else (0, 0)
        return ThreadChanges(seq=seq, epoch=epoch, reset=True, count=0, messages=())
    after, epoch = seen
    reset = epoch != scope_row.epoch or after < scope_row.compacted
    if reset:
        found = all_messages_of(rows, thread_row)
    else:
        found = _changed_messages(rows, scope_row, thread_row, after)
    return ThreadChanges(
        seq=scope_row.seq,
        epoch=scope_row.epoch,
        reset=reset,
        count=thread_row.count,
        messages=tuple(message_of(row, thread) for row in found),
    )


def _changed_messages(
    rows: Rows, scope: ScopeRow, thread: ThreadRow, after: int
) -> Sequence[MessageRow]:
    if after == scope.seq:
        return ()
    changed = [
        each.uid for each in rows.changed(scope.id, after, None) if each.thread == thread.number
    ]
    return sorted(rows.messages_by_uid(scope.id, changed), key=lambda row: row.position)


def session_after(previous: MessageRow | None, time: int, position: int) -> str:
    """Return the session of a message that names none: the previous one's, or a new one."""
    if previous and abs(time - previous.time) <= SESSION_GAP_S * MICROSECONDS:
        return previous.session
    return f"@{position}"
