"""Encode request parameters: erase targets and recall filters."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

from recollect.client.response_records import written
from recollect.errors import UsageError
from recollect.recall.query import Where
from recollect.stores.plans.erasure import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)


def target_sent(target: EraseTarget) -> dict[str, Any]:
    """
    Return a target as it is sent.

    Raises:
        UsageError: The service erases no such target.
    """
    match target:
        case EraseScope(below=below):
            return {"scope": True, "below": below}
        case EraseThread(thread=thread):
            return {"thread": thread}
        case EraseMessages(thread=thread, messages=[message]):
            return {"message": {"thread": thread, "id": message}}
        case EraseMemory(type=type_, key=key, expected=None):
            return {"memory": {"type": type_, "key": key}}
        case EraseSource(source=source):
            return {"source": source}
    msg = (
        f"{type(target).__name__} as it is given is not erased over HTTP: give a scope, a thread, "
        "one message, a memory or a source"
    )
    raise UsageError(msg)


def where_sent(where: Where) -> dict[str, Any]:
    """Return a recall filter as request parameters."""
    valid_at = where.valid_at
    return {
        "roles": None if where.messages else [],
        "types": None if where.types is None else list(where.types),
        "threads": None if where.threads is None else list(where.threads),
        "filter": where.filter,
        "since": written(where.since),
        "until": written(where.until),
        "valid_at": written(valid_at) if isinstance(valid_at, datetime) else valid_at,
        "known_at": written(where.known_at),
    }


def made_key() -> dict[str, str]:
    """Return the header by which the service knows all attempts of one call for one request."""
    return {"idempotency-key": uuid4().hex}


def expecting(expected: int | None) -> dict[str, str]:
    """Return the header that names the version that the caller read."""
    if expected is None:
        return {}
    return {"if-match": f'"{expected}"'} if expected else {"if-none-match": "*"}
