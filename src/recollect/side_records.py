"""Side records: JSON objects beside messages and memories, and the kinds that are in use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from recollect.records import JsonObject, Scope

STATE: Final = "State"
"""Kind of the side records that hold a thread's state, by name."""
ATTACHMENT: Final = "Attachment"
"""Kind of the side records with the metadata of a thread's attachments, by file name."""
ATTACHMENT_PART: Final = "AttachmentPart"
"""Kind of the side records with a part of an attachment's bytes."""
LIFETIME: Final = "Lifetime"
"""Kind of the side records with an item's lifetime since its last use (sliding expiry)."""
LIFETIME_OF: Final = "Item"
"""Type of the memories that have a lifetime."""
SCOPE_SETTINGS: Final = "ScopeSettings"
"""Kind and key of the side record with the formation settings of a scope and those below it."""
TYPES_SETTING: Final = "types"
"""Name of the memory types in the settings of a scope, and in those of its threads."""
FORGOTTEN: Final = "Forgotten"
"""
Kind of the side records that mark an erased memory, by a keyed digest of its content.

Formation looks them up, so that it does not form the memory again.
"""
UNDONE_MESSAGE: Final = "UndoneMessage"
"""
Kind of the side records that mark a message as taken back, by a digest of its address.

An undo looks them up, so that it does not bring back what the message said.
"""
KEYS_SCOPE: Final[Scope] = ("recollect:service", "keys")
"""The scope that holds the API keys of a service."""
SERVICE_KEY: Final = "ServiceKey"
"""Kind of the side records with the digest of an API key, by its id."""
SERVICE_KEY_USE: Final = "ServiceKeyUse"
"""Kind of the side records with the time an API key was last used, by its id."""
SERVICE_USAGE: Final = "ServiceUsage"
"""Kind of the side records with a scope's usage on one day."""
SETTING_KINDS: Final = frozenset({SCOPE_SETTINGS, SERVICE_KEY, SERVICE_KEY_USE})
"""Kinds that every request reads, and that are therefore cached; see `Store.settings_stamp`."""


def lifetime_key(key: str) -> str:
    """Return the key of an item's lifetime record, a digest that does not reveal the item's key."""
    return blake2b(key.encode(), digest_size=16).hexdigest()


def undone_key(thread: str, message: str) -> str:
    """Return the key of the mark of a message that was taken back, a digest of its address."""
    return blake2b(f"{len(thread)} {thread} {message}".encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRecord:
    """
    A JSON object beside messages and memories, at the address (scope, thread, kind, key).

    No recall, feed or listing of memories shows it. *thread* is the thread that it is erased
    with, ``None`` if it belongs to the scope alone. *version* counts from 1 with each
    put; past versions are not kept. After *expires_at* no read returns it.
    """

    scope: Scope
    thread: str | None
    kind: str
    key: str
    value: JsonObject
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutSideRecord:
    """
    Create a side record, or replace the one at its address.

    *expected* is the version that the caller read, 0 if there was none; ``None`` writes
    unconditionally.
    """

    kind: str
    key: str
    value: JsonObject
    thread: str | None = None
    expected: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSideRecord:
    """Remove a side record; a missing one is not an error."""

    kind: str
    key: str
    thread: str | None = None
    expected: int | None = None


class SideAddress(NamedTuple):
    """The address of a side record in its scope."""

    kind: str
    key: str
    thread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProlongSideRecord:
    """Move the expiry of exactly this *version* of a side record without creating a new one."""

    kind: str
    key: str
    version: int
    expires_at: datetime
    thread: str | None = None


SideWrite: TypeAlias = PutSideRecord | DeleteSideRecord
"""A write of a side record: what Recollect and its integrations keep beside memories."""
