"""Check imported records of internal kinds: only what a direct write could make is accepted."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from recollect.errors import UsageError
from recollect.formation.config import Assistants
from recollect.formation.scope_types import TYPES, types_in, types_in_force
from recollect.formation.types.memory_type import check_types_change
from recollect.lifecycle.copy_journal import JOURNAL, MARK
from recollect.records import Json, JsonObject, Scope
from recollect.side_records import (
    ATTACHMENT,
    ATTACHMENT_PART,
    FORGOTTEN,
    LIFETIME,
    SCOPE_SETTINGS,
    STATE,
    UNDONE_MESSAGE,
    SideAddress,
    undone_key,
)
from recollect.stores.contract.base import Store
from recollect.stores.json_pointers import is_number
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.side_archive import SIDE, address_in
from recollect.stores.validation import ATTACHMENT_BYTES_MAX, ATTACHMENT_PART_BYTES
from recollect.text.scope_paths import written_scope

OWN_PREFIX: Final = "recollect:"
"""Prefix of the first segment of scopes with internal data of a store or service."""
_DIGEST: Final = re.compile("[0-9a-f]{32}")


def check_reserved(record: JsonObject, scope: Scope) -> None:
    """
    Reject a record of an internal kind or scope that no direct write could have made.

    Raises:
        UsageError: The record is rejected; the message says why.
    """
    if scope[0].startswith(OWN_PREFIX) or scope in (MARK, JOURNAL):
        raise UsageError(
            f"the scope {written_scope(scope)} holds internal data of a store or service, which an "
            "import cannot write: move a whole store with `recollect copy` or `recollect restore`"
        )
    if record.get("kind") == SIDE:
        _check_side(record)


async def check_scope_settings(
    record: JsonObject, scope: Scope, store: Store, assistants: Assistants, *, depth: int
) -> None:
    """
    Reject settings of a scope that could not be set there directly.

    Raises:
        UsageError: They are invalid, or change a type in a way that needs a migration.
    """
    if record.get("kind") != SIDE or record.get("side_kind") != SCOPE_SETTINGS:
        return
    value = record["value"]
    new = types_in(value) if isinstance(value, Mapping) else None
    check_types_change(await types_in_force(store, scope, assistants, depth=depth), new or ())


async def check_attachment_parts(records: Sequence[JsonObject], scope: Scope, store: Store) -> None:
    """
    Reject parts of files beyond those that *records* or the store describe.

    Otherwise a file whose description is refused would leave bytes that no listing shows.

    Raises:
        UsageError: A part is rejected; the message names its file.
    """
    sides = [(address_in(each), each) for each in records if each.get("kind") == SIDE]
    files = {_file_of(each) for each, _ in sides if each.kind == ATTACHMENT_PART}
    if not files:
        return
    described = {each: record["value"] for each, record in sides if each.kind == ATTACHMENT}
    elsewhere = sorted(files - described.keys())
    for file, found in zip(elsewhere, await store.side_records_at(scope, elsewhere), strict=True):
        described[file] = found.value if found else None
    for each, _ in sides:
        if each.kind == ATTACHMENT_PART and not _has_part(described[_file_of(each)], each.key):
            raise UsageError(
                f"the side record {each.kind}/{each.key} is no part of an attachment that is here:"
                " its description was refused, or is not in the import"
            )


def _file_of(part: SideAddress) -> SideAddress:
    """Return the address of the description of the attachment that has *part*."""
    return SideAddress(ATTACHMENT, part.key.rpartition("/")[0] or part.key, part.thread)


def _has_part(description: Json, key: str) -> bool:
    """Return True if the attachment with *description* has the part at *key*."""
    number = key.rpartition("/")[2]
    parts = description["parts"] if isinstance(description, Mapping) else 0
    return isinstance(parts, int) and number.isdecimal() and int(number) < parts


def _check_side(record: JsonObject) -> None:
    kind, key, thread = address_in(record)
    if (check := _SIDE_CHECKS.get(kind)) is None:
        raise UsageError(f"side records of the kind {kind!r} cannot be imported")
    if complaint := check(key, thread, record.get("value")):
        raise UsageError(f"the side record {kind}/{key} is invalid: {complaint}")


def _of_settings(key: str, thread: str | None, value: Json) -> str | None:
    if key != SCOPE_SETTINGS or not isinstance(value, Mapping) or set(value) != {TYPES}:
        return f"it must have the key {SCOPE_SETTINGS!r}, and hold {TYPES!r} alone"
    if thread is not None:
        return _A_THREAD
    try:
        found = types_in(value)
    except UsageError as error:
        return str(error)
    return None if found else f"{TYPES!r} must be a list of memory types"


def _of_state(_: str, thread: str | None, value: Json) -> str | None:
    if not isinstance(value, Mapping) or set(value) != {"value"}:
        return "it must hold 'value' alone"
    return _NO_THREAD if thread is None else None


def _of_attachment(_: str, thread: str | None, value: Json) -> str | None:
    if not isinstance(value, Mapping) or set(value) != {"media_type", "bytes", "parts"}:
        return "it must hold 'media_type', 'bytes' and 'parts' alone"
    size, parts = value["bytes"], value["parts"]
    if not isinstance(value["media_type"], str) or not isinstance(size, int):
        return "its 'media_type' must be text, and 'bytes' a whole number"
    if not 0 <= size <= ATTACHMENT_BYTES_MAX:
        return (
            f"it has {size} bytes; allowed are 0 to {ATTACHMENT_BYTES_MAX} (ATTACHMENT_BYTES_MAX)"
        )
    if parts != math.ceil(size / ATTACHMENT_PART_BYTES):
        return f"it has {parts} parts; {size} bytes take {math.ceil(size / ATTACHMENT_PART_BYTES)}"
    return _NO_THREAD if thread is None else None


def _of_part(_: str, thread: str | None, value: Json) -> str | None:
    data = value.get("data") if isinstance(value, Mapping) else None
    try:
        size = len(base64.b64decode(data, validate=True)) if isinstance(data, str) else None
    except ValueError:
        size = None
    if size is None:
        return "its 'data' must be text in base64"
    if size > ATTACHMENT_PART_BYTES:
        return f"it has {size} bytes; allowed are {ATTACHMENT_PART_BYTES}"
    return _NO_THREAD if thread is None else None


def _of_lifetime(_: str, thread: str | None, value: Json) -> str | None:
    minutes = value.get("minutes") if isinstance(value, Mapping) else None
    if not (is_number(minutes) and math.isfinite(minutes) and minutes > 0):
        return "its 'minutes' must be a positive number"
    return None if thread is None else _A_THREAD


def _of_forgotten(key: str, thread: str | None, value: Json) -> str | None:
    if not _DIGEST.fullmatch(key) or value:
        return "its key must be a keyed digest, and its value empty"
    return None if thread is None else _A_THREAD


def _of_undone(key: str, thread: str | None, value: Json) -> str | None:
    if not isinstance(value, Mapping) or set(value) != {"thread", "message", "at", "passed"}:
        return "it must hold 'thread', 'message', 'at' and 'passed' alone"
    if key != undone_key(str(value["thread"]), str(value["message"])):
        return "its key must be the digest of its thread and message"
    RecordFields(value).moment("at")  # raises if it is no time
    passed = value["passed"]
    if not isinstance(passed, list) or not all(map(_is_passed, passed)):
        return "its 'passed' must be a list of versions of memories, each with its messages"
    return None if thread is None else _A_THREAD


def _is_passed(each: Json) -> bool:
    match each:
        case {"type": str(), "key": str(), "version": int(), "because": [*because]}:
            return all(
                isinstance(one, list) and len(one) == 2 and all(isinstance(e, str) for e in one)
                for one in because
            )
    return False


_SideCheck = Callable[[str, str | None, Json], str | None]
_NO_THREAD: Final = "it must belong to a thread"
_A_THREAD: Final = "it must not belong to a thread"
_SIDE_CHECKS: Final[Mapping[str, _SideCheck]] = {
    SCOPE_SETTINGS: _of_settings,
    STATE: _of_state,
    ATTACHMENT: _of_attachment,
    ATTACHMENT_PART: _of_part,
    LIFETIME: _of_lifetime,
    FORGOTTEN: _of_forgotten,
    UNDONE_MESSAGE: _of_undone,
}
