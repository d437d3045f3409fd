"""Messages and threads as JSON, with pending formation, and the receipts of formations."""

from __future__ import annotations

from datetime import datetime

from recollect.records import Formation, Json, JsonObject, Lane, Message, NewMessage, Thread
from recollect.wire.elements import (
    Fields,
    ScopeNaming,
    record_from_json,
    record_to_json,
    scope_to_json,
    time_to_json,
)


def thread_to_json(
    thread: Thread, now: datetime, scope_of: ScopeNaming = scope_to_json
) -> dict[str, Json]:
    """Encode a thread; *due_in_s* is the time from *now* until it is due, at least 0."""
    return {
        "scope": scope_of(thread.scope),
        "id": thread.id,
        "created_at": time_to_json(thread.created_at),
        "last": thread.last,
        "count": thread.count,
        "formed": thread.formed,
        "due": time_to_json(thread.due),
        "due_in_s": seconds_until(thread.due, now),
        "attempts": thread.attempts,
        "state": thread.state,
        "again": list(thread.again),
        "settings": thread.settings,
        "lanes": {name: lane_to_json(each) for name, each in thread.lanes.items()},
        "waiting": thread.waiting,
    }


def thread_from_json(fields: Fields) -> Thread:
    """Decode the result of `thread_to_json`."""
    lanes = {name: lane_from_json(each) for name, each in fields["lanes"].items()}
    return record_from_json(Thread, fields, lanes=lanes)


def lane_to_json(lane: Lane) -> dict[str, Json]:
    """Encode the formation progress of a type with its own schedule."""
    return record_to_json(lane)


def lane_from_json(fields: Fields) -> Lane:
    """Decode the result of `lane_to_json`."""
    return record_from_json(Lane, fields)


def pending_to_json(
    thread: Thread, now: datetime, scope_of: ScopeNaming = scope_to_json
) -> dict[str, Json]:
    """Encode a thread with its number of pending messages, and the reason why they wait."""
    reason = "paused" if thread.state == "paused" else "failed" if thread.attempts else "talk"
    return {
        **thread_to_json(thread, now, scope_of),
        "thread": thread.id,
        "messages": thread.waiting,
        "reason": reason,
    }


def seconds_until(time: datetime | None, now: datetime) -> float | None:
    """Return the seconds until a time, at least 0; ``None`` without one."""
    return None if time is None else max(0.0, round((time - now).total_seconds(), 3))


def formation_to_json(
    formation: Formation, scope_of: ScopeNaming = scope_to_json, *, whole: bool = True
) -> dict[str, Json]:
    """Encode a formation; only a *whole* one has prompts and answers."""
    return {
        **record_to_json(formation),
        "scope": scope_of(formation.scope),
        "watermarks": dict(formation.watermarks),
        "failed": {thread: list(each) for thread, each in formation.failed.items()},
        "receipt": formation.receipt if whole else short_receipt(formation.receipt),
    }


def short_receipt(receipt: JsonObject) -> JsonObject:
    """
    Return a receipt without prompts, answers and refused records.

    The refused records are counted in ``refused_left_out``, as in a list that was cut.
    """
    refused = receipt.get("refused")
    count = len(refused) if isinstance(refused, list | tuple) else 0
    left_out = ("exchanges", "refused")
    short = {name: each for name, each in receipt.items() if name not in left_out}
    if not count:
        return short
    known = receipt.get("refused_left_out")
    return {**short, "refused_left_out": count + (known if isinstance(known, int) else 0)}


def formation_from_json(fields: Fields) -> Formation:
    """Decode the result of `formation_to_json`."""
    failed = {thread: tuple(each) for thread, each in fields["failed"].items()}
    return record_from_json(Formation, fields, failed=failed)


def message_to_json(message: Message) -> dict[str, Json]:
    """Encode a stored message."""
    return {
        "thread": message.thread,
        "id": message.id,
        "position": message.position,
        "role": message.role,
        "name": message.name,
        "text": message.text,
        "time": time_to_json(message.time),
        "session": message.session,
        "source": message.source,
        "content": message.content,
        "metadata": message.metadata,
    }


def message_from_json(fields: Fields) -> Message:
    """Decode the result of `message_to_json`."""
    return record_from_json(Message, fields)


def new_message_to_json(message: NewMessage) -> dict[str, Json]:
    """Encode a message to store; omitted fields are left to the store."""
    written: dict[str, Json] = {
        "role": message.role,
        "text": message.text,
        "id": message.id,
        "name": message.name,
        "time": time_to_json(message.time),
        "session": message.session,
        "source": message.source,
        "content": message.content,
        "metadata": message.metadata,
    }
    return {name: value for name, value in written.items() if value is not None}
