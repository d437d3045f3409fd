"""
Idempotency keys in a backup or a copy: convert each to a record and back.

Keys are stored as digests made with a secret. A store that is filled from another one adopts its
secret, and so recognises the keys used there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.records import Json, JsonObject, Scope
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.idempotency import GONE, uids_of
from recollect.stores.plans.scopes import holds_anything
from recollect.stores.plans.upkeep import is_old
from recollect.stores.rows import NO_SCOPE, IdempotencyRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_id, check_list

REQUEST: Final = "request"
"""The kind of a record of a key."""
TAKEN_OVER: Final = "secret"
"""The key, not a digest, under which an adopted secret is stored."""
_FOR_EVER: Final = 1 << 62
"""A *kept_at* so late that the secret never expires with the keys."""


def read_secret(rows: Rows) -> bytes | None:
    """Return the secret adopted from another store, ``None`` if there is none."""
    found = rows.idempotency([NO_SCOPE], TAKEN_OVER)
    return found.digest if found else None


def plan_secret(rows: Rows, secret: bytes) -> PlannedWrite[bool]:
    """Adopt *secret* if the store is empty; the result is True if the store uses it now."""
    if (adopted := read_secret(rows)) is not None:
        return PlannedWrite(NOTHING, adopted == secret)
    # With another secret, keys that were stored before would no longer be recognised.
    if next(rows.scopes_below((), None), None) or rows.keys_of(NO_SCOPE):
        return PlannedWrite(NOTHING, result=False)
    row = IdempotencyRow(
        scope_id=NO_SCOPE, key=TAKEN_OVER, digest=secret, result="[]", kept_at=_FOR_EVER
    )
    return PlannedWrite(Effect(idempotency=[row]), result=True)


def read_requests(rows: Rows, scope: Scope | None, now: int) -> Iterator[JsonObject]:
    """
    Yield a record per key of a scope; with ``None``, per key of scopes that no archive contains.

    Those scopes were erased whole or emptied. Without their keys, a restored store would carry out
    their requests a second time.
    """
    if scope is None:
        yield from _records_of(rows, NO_SCOPE, None, now)
        for row in rows.scopes_below((), None):
            if not holds_anything(rows, row):
                yield from _records_of(rows, row.id, None, now)
    elif found := rows.scope(scope):
        yield from _records_of(rows, found.id, scope, now)


def _records_of(rows: Rows, scope_id: int, scope: Scope | None, now: int) -> Iterator[JsonObject]:
    for row in rows.keys_of(scope_id):
        if row.key != TAKEN_OVER and not is_old(row, now):
            wrote = None if row.result == GONE else _names_of(rows, scope_id, row.result)
            yield {
                "kind": REQUEST,
                "scope": None if scope is None else list(scope),
                "key": row.key,
                "digest": row.digest.hex(),
                "kept_at": row.kept_at,
                "wrote": wrote,
            }


def _names_of(rows: Rows, scope_id: int, result: str) -> list[Json]:
    """Return the entries that a request wrote, as [thread, message id] or [type, key, "memory"]."""
    uids = uids_of(json.loads(result))
    messages = {row.uid: row for row in rows.messages_by_uid(scope_id, uids)} if uids else {}
    memories = {row.uid: row for row in rows.memories_by_uid(scope_id, uids)} if uids else {}
    threads = rows.thread_ids(scope_id, sorted({row.thread for row in messages.values()}))
    names: list[Json] = []
    for uid in uids:
        if message := messages.get(uid):
            names.append([threads[message.thread], message.id])
        elif memory := memories.get(uid):
            names.append([memory.type, memory.key, "memory"])
    return names


def requests_among(
    requests: Iterable[JsonObject], records: Iterable[JsonObject]
) -> list[JsonObject]:
    """
    Return the *requests* whose entries are among *records*, an archive that was read before them.

    The others were made in between. Without what they wrote their keys would be worse than none: a
    retry would be answered as done, and write nothing.
    """
    names = {_name_of(each) for each in records}
    return [
        each
        for each in requests
        if all(
            tuple(name) in names
            for name in check_list(each["wrote"] or [], "name")
            if isinstance(name, list)
        )
    ]


def _name_of(record: JsonObject) -> tuple[Json, ...]:
    """Return the name of a message or memory in an archive, as a request's record has it."""
    if record["kind"] == "memory":
        return record["type"], record["key"], "memory"
    return record.get("thread"), record.get("id")


def plan_requests(
    rows: Rows, scope: Scope | None, records: Sequence[JsonObject]
) -> PlannedWrite[int]:
    """
    Store the records of `read_requests`; the result is how many of the keys this store knows now.

    Keys marked as gone here stay so. For a scope that does not exist here, only keys marked as gone
    are stored: the others would name entries that are missing.
    """
    found = None if scope is None else rows.scope(scope)
    scope_id = found.id if found else NO_SCOPE
    made = [_row_of(rows, scope_id, record) for record in records]
    wanted = [row for row in made if found or scope is None or row.result == GONE]
    gone = {row.key for row in rows.keys_of(scope_id) if row.result == GONE} if wanted else set()
    new = [row for row in wanted if row.key not in gone]
    return PlannedWrite(Effect(idempotency=new) if new else NOTHING, len(wanted))


def _row_of(rows: Rows, scope_id: int, record: JsonObject) -> IdempotencyRow:
    given = RecordFields(record)
    try:
        given.one_of("kind", (REQUEST,))
        wrote = record["wrote"]
        return IdempotencyRow(
            scope_id=scope_id,
            key=check_id(given.text("key"), "a key's digest"),
            digest=bytes.fromhex(given.text("digest")),
            result=GONE if wrote is None else json.dumps(list(_uids_of(rows, scope_id, wrote))),
            kept_at=given.moment("kept_at"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"a record of a request lacks or distorts a field: {error!r}") from error


def _uids_of(rows: Rows, scope_id: int, wrote: Json) -> Iterable[int]:
    for name in check_list(wrote, "name"):
        match name:
            case [str(type_), str(key), "memory"]:
                if memory := rows.memory(scope_id, type_, key):
                    yield memory.uid
            case [str(thread_id), str(message_id)]:
                if thread := rows.thread(scope_id, thread_id):
                    found = rows.messages_by_id(scope_id, thread.number, [message_id])
                    yield from (row.uid for row in found)
            case _:
                raise UsageError(f"{name!r} names no message or memory")
