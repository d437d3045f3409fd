"""Side records in an archive: convert each to a record, and back."""

from __future__ import annotations

import json
from typing import Final

from recollect.records import JsonObject, Scope
from recollect.side_records import SideAddress
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.side_records import side_place
from recollect.stores.rows import SideRow
from recollect.stores.validation import check_id, check_object

SIDE: Final = "side"
"""The kind of an archive record that holds a side record."""


def side_archive_record(row: SideRow, scope: Scope) -> JsonObject:
    """Return the archive record of a side record."""
    return {
        "kind": SIDE,
        "scope": list(scope),
        "thread": row.thread or None,
        "side_kind": row.kind,
        "key": row.key,
        "version": row.version,
        "value": json.loads(row.value),
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "expires_at": row.expires_at,
    }


def address_in(record: JsonObject) -> SideAddress:
    """Return the address in the archive record of a side record."""
    kind, key, thread = (record.get(name) for name in ("side_kind", "key", "thread"))
    return SideAddress(
        check_id(kind, "a side record's kind"),
        check_id(key, "a side record's key"),
        None if thread is None else check_id(thread, "a thread id"),
    )


def restored_side(given: RecordFields, scope_id: int, uid: int) -> SideRow:
    """Return the side record described by an archive record."""
    thread, kind, key = side_place(address_in(given.record))
    return SideRow(
        scope_id=scope_id,
        uid=uid,
        thread=thread,
        kind=kind,
        key=key,
        version=given.count("version", 1),
        value=check_object(given.record["value"], "a side record's value"),
        created_at=given.moment("created_at"),
        updated_at=given.moment("updated_at"),
        expires_at=given.optional_moment("expires_at"),
    )
