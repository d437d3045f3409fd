"""Memories in an archive: convert each, with its past versions, to a record and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.records import Json, JsonObject, Scope
from recollect.stores.digests import text_hash
from recollect.stores.json_pointers import is_object_list
from recollect.stores.plans.archive_fields import RecordFields, fields_of
from recollect.stores.rows import MemoryRow, RevisionRow, ScopeRow
from recollect.text.terms import encode_terms

_VERSION_FIELDS: Final = (
    "version", "text", "valid_from", "valid_until", "trust", "state", "cause",
)  # fmt: skip
_MEMORY_FIELDS: Final = (
    "type", "key", *_VERSION_FIELDS, "created_at", "updated_at", "expires_at", "said_at",
)  # fmt: skip
_REVISION_FIELDS: Final = (*_VERSION_FIELDS, "believed_from", "believed_until")


def memory_record(row: MemoryRow, past: Sequence[RevisionRow], scope: Scope) -> JsonObject:
    """Return the archive record of a memory, including its past versions."""
    return {
        "kind": "memory",
        "scope": list(scope),
        **_version_record(row, _MEMORY_FIELDS),
        "revisions": [_version_record(each, _REVISION_FIELDS) for each in past],
    }


def _version_record(row: MemoryRow | RevisionRow, names: Sequence[str]) -> dict[str, Json]:
    decoded = {"value": json.loads(row.value), "evidence": json.loads(row.evidence)}
    return {**fields_of(row, names), **decoded}


def restored_memory(
    given: RecordFields, scope: ScopeRow, uid: int, said_at: int | None
) -> MemoryRow:
    """Return the memory row described by an archive record."""
    text = given.text("text")
    return MemoryRow(
        scope_id=scope.id,
        uid=uid,
        type=given.text("type"),
        key=given.text("key"),
        **given.version(),
        created_at=given.moment("created_at"),
        updated_at=given.moment("updated_at"),
        expires_at=given.optional_moment("expires_at"),
        seq=scope.seq,
        terms=encode_terms(text, None),
        text_hash=text_hash(text),
        said_at=said_at,
    )


def restored_revisions(given: Json, memory: MemoryRow) -> list[RevisionRow]:
    """
    Return the past versions of a memory described by an archive record.

    Raises:
        UsageError: A version is malformed, or not older than the current one.
    """
    if not is_object_list(given):
        raise UsageError(f"the field 'revisions' must be a list of objects, not {given!r}")
    past = [_revision(RecordFields(each), memory) for each in given]
    versions = [each.version for each in past]
    if len(set(versions)) < len(versions) or max(versions, default=0) >= memory.version:
        raise UsageError(
            f"the past versions of {memory.type}/{memory.key} are {versions}: each must be "
            f"different, and lower than its version {memory.version}"
        )
    return past


def _revision(given: RecordFields, memory: MemoryRow) -> RevisionRow:
    return RevisionRow(
        scope_id=memory.scope_id,
        uid=memory.uid,
        **given.version(),
        believed_from=given.moment("believed_from"),
        believed_until=given.moment("believed_until"),
    )
