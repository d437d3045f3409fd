"""
Archives: export everything in a scope as plain records; `restored_records` restores them.

A record is a JSON object with a *kind* (``thread``, ``message``, ``memory``, ``side`` or
``formation``) and its scope. Terms and vectors are not included; they are recomputed. Restoring a
record that already exists changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.records import JsonObject, Scope
from recollect.stores.plans.archive_fields import fields_of
from recollect.stores.plans.lanes import lanes_of, lanes_record
from recollect.stores.plans.memory_archive import memory_record
from recollect.stores.plans.pending_messages import again_of
from recollect.stores.plans.positions import all_messages_of
from recollect.stores.plans.receipts import each_formation, formation_record
from recollect.stores.plans.side_archive import SIDE, side_archive_record
from recollect.stores.rows import ThreadRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_scope

RECORDS_MAX: Final = 1_000
RESTORE_RECORDS: Final = 500
"""Records restored in one transaction, at most."""
KINDS: Final = ("thread", "message", "memory", SIDE, "formation")
_MESSAGE_FIELDS: Final = (
    "id", "position", "role", "name", "text", "time", "session", "source", "kept_at",
)  # fmt: skip


def read_archive(rows: Rows, scope: Scope) -> Iterator[JsonObject]:
    """Yield all records of a scope, in the order in which `ArchiveStore.archive` returns them."""
    scope_row = rows.scope(scope)
    if scope_row is None:
        return
    after = None
    while page := rows.threads(scope_row.id, after, RECORDS_MAX):
        for thread in page:
            yield _thread_record(thread, scope)
            yield from _message_records(rows, thread, scope)
        after = page[-1].id
    for memory in rows.memories(scope_row.id):
        past = rows.revisions(scope_row.id, memory.uid) if memory.version > 1 else ()
        yield memory_record(memory, past, scope)
    for side in rows.side_records(scope_row.id, (), None):
        yield side_archive_record(side, scope)
    for formation in each_formation(rows, scope_row.id):
        yield formation_record(formation, scope)


def _thread_record(row: ThreadRow, scope: Scope) -> JsonObject:
    # No due time and no backoff: the store that restores a thread schedules it again.
    named = fields_of(row, ("id", "created_at", "last", "formed", "state"))
    decoded = {"again": list(again_of(row)), "settings": json.loads(row.settings)}
    lanes = lanes_record(lanes_of(row))
    record = {"kind": "thread", "scope": list(scope), **named, **decoded}
    return {**record, "lanes": lanes} if lanes else record


def _message_records(rows: Rows, thread: ThreadRow, scope: Scope) -> Iterator[JsonObject]:
    for row in all_messages_of(rows, thread):
        yield {
            "kind": "message",
            "scope": list(scope),
            "thread": thread.id,
            **fields_of(row, _MESSAGE_FIELDS),
            "content": None if row.content is None else json.loads(row.content),
            "metadata": json.loads(row.metadata),
            "digest": row.digest.hex(),
        }


def scope_of(record: JsonObject) -> Scope:
    """Return the scope that a record belongs to."""
    scope = record.get("scope")
    if not isinstance(scope, list | tuple):
        raise UsageError(f"a record has no list of segments as its scope: {str(record)[:80]!r}")
    return check_scope(scope)


def batches_of(records: Sequence[JsonObject]) -> list[tuple[Scope, list[JsonObject]]]:
    """Split *records*, in order, into batches of one scope and at most ``RESTORE_RECORDS``."""
    batches: list[tuple[Scope, list[JsonObject]]] = []
    for record in records:
        if not isinstance(record, Mapping):
            raise UsageError(f"a record is a JSON object, not {record!r}")
        scope = scope_of(record)
        if not batches or batches[-1][0] != scope or len(batches[-1][1]) >= RESTORE_RECORDS:
            batches.append((scope, []))
        batches[-1][1].append(record)
    return batches
