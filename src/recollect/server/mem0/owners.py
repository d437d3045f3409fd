"""Map mem0's owners to scopes below a key's own, and its ids to addresses; pure."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Final, TypeVar

from recollect.errors import NotFoundError
from recollect.records import Memory, Scope

# As in `recollect.importers.mem0.OWNERS`, which would load every importer with the service.
SEGMENT_OF: Final[Mapping[str, str]] = {
    "user_id": "users",
    "agent_id": "agents",
    "app_id": "apps",
    "run_id": "runs",
}
"""The segment before the owners of each kind, in the order of the scope."""
OWNER_FIELDS: Final = tuple(SEGMENT_OF)
_FIELD_OF: Final = {segment: name for name, segment in SEGMENT_OF.items()}

OwnerT = TypeVar("OwnerT")
Address = tuple[Scope, str, str]
"""Segments below the key's scope, type and key of a memory."""


def owner_text(given: OwnerT) -> OwnerT | str:
    """Convert an owner that a client wrote as a whole number to text; others stay as they are."""
    return str(given) if type(given) is int else given


def segments_of(owners: Mapping[str, str | None]) -> Scope:
    """
    Return the scope of owners, as segments below the key's own.

    >>> segments_of({"run_id": "7", "user_id": "ada"})
    ('users', 'ada', 'runs', '7')
    """
    found: list[str] = []
    for name, segment in SEGMENT_OF.items():
        if owner := owners.get(name):
            found += (segment, owner)
    return tuple(found)


def owners_of(segments: Scope) -> dict[str, str] | None:
    """
    Return the owners that segments name, ``None`` if they are not an owners' scope.

    >>> owners_of(("users", "ada", "runs", "7"))
    {'user_id': 'ada', 'run_id': '7'}
    >>> owners_of(("team", "ada")), owners_of(("runs", "7", "users", "ada")), owners_of(())
    (None, None, None)
    """
    kinds, names = segments[::2], segments[1::2]
    if not segments or len(kinds) != len(names) or not set(kinds) <= _FIELD_OF.keys():
        return None
    found = {_FIELD_OF[kind]: name for kind, name in zip(kinds, names, strict=True)}
    return found if segments_of(found) == segments else None


def id_of(memory: Memory, segments: Scope) -> str:
    """Return the id of a memory for mem0's clients: its address, encoded for a path."""
    return written_id(*segments, memory.type, memory.key)


def written_id(*parts: str | int) -> str:
    """Encode parts as one id."""
    written = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")


def parts_of(id_: str) -> list[object]:
    """Decode the parts of an id, none if it is not one of ours."""
    try:
        padded = id_ + "=" * (-len(id_) % 4)
        found = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def address_of(id_: str) -> Address:
    """
    Decode the address of a memory from its id.

    Raises:
        NotFoundError: It is not the id of a memory.
    """
    parts = [each for each in parts_of(id_) if isinstance(each, str)]
    if len(parts) < 4 or parts != parts_of(id_) or owners_of(tuple(parts[:-2])) is None:
        raise NotFoundError(unknown_memory(id_))
    return tuple(parts[:-2]), parts[-2], parts[-1]


def unknown_memory(id_: str) -> str:
    """Return the error text of an unknown id."""
    return f"there is no memory with the id {id_[:80]!r}: search or get_all return valid ids"
