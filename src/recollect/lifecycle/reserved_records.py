"""Records of what is Recollect's own, as they may come from outside: as a direct write has them."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping
from typing import Final, cast

from recollect.errors import UsageError
from recollect.formation.config import Assistants
from recollect.formation.scope_types import TYPES, types_in, types_in_force
from recollect.formation.types.memory_type import check_types_change
from recollect.lifecycle.copy_journal import MARK, NOTES
from recollect.records import (
    ATTACHMENT,
    ATTACHMENT_PART,
    FORGOTTEN,
    LIFETIME,
    SCOPE_SETTINGS,
    STATE,
    Json,
    JsonObject,
    Scope,
)
from recollect.stores.contract.base import Store
from recollect.stores.json_pointers import is_number
from recollect.stores.plans.side_archive import SIDE, address_in
from recollect.stores.validation import ATTACHMENT_BYTES_MAX, ATTACHMENT_PART_BYTES

OWN_PREFIX: Final = "recollect:"
"""So the first segments of scopes begin that hold what a store or a service knows of itself."""
_DIGEST: Final = re.compile("[0-9a-f]{32}")


def check_reserved(record: JsonObject, scope: Scope) -> None:
    """
    Reject a record that no direct write would have made, of types and scopes that are our own.

    Raises:
        UsageError: It is one; the message tells why.
    """
    if scope[0].startswith(OWN_PREFIX) or scope in (MARK, NOTES):
        msg = (
            f"the scope {list(scope)!r} holds what a store or a service knows of itself, which no "
            "import writes: `recollect copy` or `recollect restore` moves a whole store"
        )
        raise UsageError(msg)
    if record.get("kind") == SIDE:
        _check_side(record)


async def check_scope_settings(
    record: JsonObject, scope: Scope, store: Store, assistants: Assistants, *, depth: int
) -> None:
    """
    Reject settings of a scope that could not be set there directly.

    Raises:
        UsageError: They are wrong, or change a type in a way that needs a migration.
    """
    if record.get("kind") != SIDE or record.get("side_kind") != SCOPE_SETTINGS:
        return
    new = types_in(cast("JsonObject", record["value"]))
    check_types_change(await types_in_force(store, scope, assistants, depth=depth), new or ())


def _check_side(record: JsonObject) -> None:
    kind, key, thread = address_in(record)
    if (check := _SIDE_CHECKS.get(kind)) is None:
        msg = f"side records of the kind {kind!r} are kept by the service itself, or by nobody"
        raise UsageError(msg)
    if complaint := check(key, thread, record.get("value")):
        msg = f"{kind}/{key} is none that was written here: {complaint}"
        raise UsageError(msg)


def _of_settings(key: str, thread: str | None, value: Json) -> str | None:
    if key != SCOPE_SETTINGS or not isinstance(value, Mapping) or set(value) != {TYPES}:
        return f"it is at the key {SCOPE_SETTINGS!r}, and holds {TYPES!r} alone"
    if thread is not None:
        return _A_THREAD
    try:
        found = types_in(value)
    except UsageError as error:
        return str(error)
    return None if found else f"{TYPES!r} is a list of memory types"


def _of_state(_: str, thread: str | None, value: Json) -> str | None:
    if not isinstance(value, Mapping) or set(value) != {"value"}:
        return "it holds a value, and nothing else"
    return _NO_THREAD if thread is None else None


def _of_attachment(_: str, thread: str | None, value: Json) -> str | None:
    if not isinstance(value, Mapping) or set(value) != {"media_type", "bytes", "parts"}:
        return "its value has a media_type, bytes and parts"
    size, parts = value["bytes"], value["parts"]
    if not isinstance(value["media_type"], str) or not isinstance(size, int):
        return "its media_type is text, and its bytes are a whole number"
    if not 0 <= size <= ATTACHMENT_BYTES_MAX:
        return f"it has 0 to {ATTACHMENT_BYTES_MAX} bytes (ATTACHMENT_BYTES_MAX), not {size}"
    if parts != math.ceil(size / ATTACHMENT_PART_BYTES):
        return "its parts are as many as its bytes need"
    return _NO_THREAD if thread is None else None


def _of_part(_: str, thread: str | None, value: Json) -> str | None:
    data = value.get("data") if isinstance(value, Mapping) else None
    try:
        size = len(base64.b64decode(cast("str", data), validate=True))
    except (TypeError, ValueError, binascii.Error):
        return "its data is text in base64"
    if size > ATTACHMENT_PART_BYTES:
        return f"it has at most {ATTACHMENT_PART_BYTES} bytes"
    return _NO_THREAD if thread is None else None


def _of_lifetime(_: str, thread: str | None, value: Json) -> str | None:
    minutes = value.get("minutes") if isinstance(value, Mapping) else None
    if not (is_number(minutes) and math.isfinite(minutes) and minutes > 0):
        return "its value has the minutes of a life, a positive number"
    return None if thread is None else _A_THREAD


def _of_forgotten(key: str, thread: str | None, value: Json) -> str | None:
    if not _DIGEST.fullmatch(key) or value:
        return "it is a keyed digest, and says nothing"
    return None if thread is None else _A_THREAD


_SideCheck = Callable[[str, str | None, Json], str | None]
_NO_THREAD: Final = "it goes with a thread"
_A_THREAD: Final = "it goes with no thread"
_SIDE_CHECKS: Final[Mapping[str, _SideCheck]] = {
    SCOPE_SETTINGS: _of_settings,
    STATE: _of_state,
    ATTACHMENT: _of_attachment,
    ATTACHMENT_PART: _of_part,
    LIFETIME: _of_lifetime,
    FORGOTTEN: _of_forgotten,
}
