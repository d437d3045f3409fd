"""
The names of the store's keys, and the encoding of index members; pure.

No name of a scope, thread or memory is part of a key: keys contain the numbers of scopes and the
keyed hashes of audit chains; names are fields and members, which may be any bytes. All keys share
one hash tag. Members of an index have the same score and sort as bytes, which is exact, unlike
scores (doubles): a number is written in eight bytes, the most significant one first. Only the feed
and the tombstones are sorted by score, a seq, which stays far below 2**53.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.stores.rows import FormationRow, MemoryRow, MessageRow, ScopeRow, ThreadRow
from recollect.stores.scope_paths import stored_path

PREFIX: Final = "{recollect}:"
STORE: Final = f"{PREFIX}store"
NUMBER: Final = f"{PREFIX}number"
COMMITS: Final = f"{PREFIX}commits"
NAMES: Final = f"{PREFIX}names"
PATHS: Final = f"{PREFIX}paths"
LISTING: Final = f"{PREFIX}listing:v"
DUE: Final = f"{PREFIX}due"
WAITING: Final = f"{PREFIX}waiting"
RECEIPTS: Final = f"{PREFIX}receipts"
RECEIPTS_VERSION: Final = f"{PREFIX}receipts:v"
CHANNEL: Final = f"{PREFIX}bell"

KINDS: Final = (
    *("v", "row", "threads", "thread_ids", "numbers", "due", "messages", "places", "message_ids"),
    *("sources", "memories", "addresses", "revisions", "versions", "links", "rests", "vectors"),
    *("embedded", "feed", "tombstones", "keys", "key_times", "formations", "formation_places"),
    *("sides", "side_places"),
)
"""The kinds of all keys of a scope: dropping these drops the scope."""

_LARGEST: Final = (1 << 63) - 1
_BEYOND: Final = b"\xff" * 9
"""Sorts after any number of eight bytes."""


def of_scope(scope_id: int, kind: str) -> str:
    """
    Return the key of one kind of rows of a scope.

    >>> of_scope(7, "feed")
    '{recollect}:7:feed'
    """
    return f"{PREFIX}{scope_id}:{kind}"


def version_of(scope_id: int) -> str:
    """Return the key of a scope's version, which every commit in the scope changes."""
    return of_scope(scope_id, "v")


def of_chain(chain: bytes, kind: str) -> str:
    """
    Return the key of one kind of data of an audit chain; it outlives the scope.

    >>> of_chain(bytes([10, 255]), "rows")
    '{recollect}:audit:0aff:rows'
    """
    return f"{PREFIX}audit:{chain.hex()}:{kind}"


def version_of_chain(chain: bytes) -> str:
    """Return the key of an audit chain's version, which every commit in the chain changes."""
    return of_chain(chain, "v")


def number(value: int) -> bytes:
    """
    Return eight bytes that sort as the numbers do; a number beyond 63 bits becomes the nearest one.

    >>> number(-1) < number(0) < number(255) < number(256)
    True
    """
    within = max(-_LARGEST - 1, min(_LARGEST, value))
    return (within + _LARGEST + 1).to_bytes(8, "big")


def value_of(written: bytes) -> int:
    """Return the number encoded by `number`."""
    return int.from_bytes(written, "big") - _LARGEST - 1


def framed(text: str) -> bytes:
    """Return *text* with its length before it, so that no encoding is the prefix of another."""
    encoded = text.encode()
    return len(encoded).to_bytes(4, "big") + encoded


def beginning_with(prefix: bytes) -> tuple[bytes, bytes]:
    """Return the range of members that begin with *prefix*, which must not end in 0xFF."""
    return b"[" + prefix, b"(" + prefix[:-1] + bytes([prefix[-1] + 1])


def after(place: bytes) -> bytes:
    """Return the bound after all members that begin with *place*, optionally with a number."""
    return b"(" + place + _BEYOND


def address_of(type_: str, key: str) -> bytes:
    """Return an address in bytes that sort as (type, key)."""
    # A zero byte ends each part: ids have no control characters.
    return type_.encode() + b"\0" + key.encode() + b"\0"


def address_member(row: MemoryRow) -> bytes:
    """Return the member by which a memory is found at its address."""
    return address_of(row.type, row.key) + number(row.uid)


def side_member(place: Sequence[str]) -> bytes:
    """Return a side record's address, or the beginning of one, in bytes that sort as the tuple."""
    return b"".join(each.encode() + b"\0" for each in place)


def place_member(row: MessageRow) -> bytes:
    """Return the member by which a message is found by its thread and position."""
    return number(row.thread) + number(row.position) + number(row.uid)


def message_field(thread: int, id_: str) -> bytes:
    """Return the field by which a message is found by its id."""
    return number(thread) + id_.encode()


def due_members(thread: ThreadRow) -> tuple[bytes, bytes]:
    """Return the members by which a due thread is found: in the store, and in its scope."""
    place = number(thread.due or 0) + number(thread.number)
    id_ = thread.id.encode()
    return place + f"{thread.scope_id}:".encode() + id_, place + id_


def waiting_member(scope: ScopeRow, thread_id: str) -> bytes:
    """Return the member of a thread with pending messages."""
    return stored_path(scope.segments) + b"\0" + thread_id.encode()


def formation_member(row: FormationRow) -> bytes:
    """Return the member that lists a formation in order of time, fence and id."""
    return number(row.committed_at) + number(row.fence) + row.id.encode()


def link_of(thread: str, message: str) -> bytes:
    """Return the bytes that name a message as evidence."""
    return framed(thread) + framed(message)


def message_named(link: bytes, thread: str) -> str:
    """Return the message's id in a link that begins with *thread*."""
    rest = link[len(framed(thread)) :]
    return rest[4 : 4 + int.from_bytes(rest[:4], "big")].decode()
