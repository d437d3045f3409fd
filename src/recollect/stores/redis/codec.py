"""Encode rows as bytes: a JSON array of their fields, followed by their binary fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from recollect.stores.rows import (
    AuditRow,
    FormationRow,
    IdempotencyRow,
    MemoryRow,
    MessageRow,
    ReceiptRow,
    RevisionRow,
    ScopeRow,
    SideRow,
    ThreadRow,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RowT = TypeVar("RowT", bound="DataclassInstance")

_END: Final = b"\n"


class DamagedError(Exception):
    """The content of a key is malformed."""


class Codec(Generic[RowT]):
    """Encodes and decodes the rows of one class."""

    def __init__(self, row: type[RowT]) -> None:
        self._row: Callable[..., RowT] = row
        self._name: Final = row.__name__
        described = fields(row)
        self._names: Final = tuple(field.name for field in described)
        self._values: Final = attrgetter(*self._names)
        self._binary: Final = tuple(
            index for index, field in enumerate(described) if field.type in ("bytes", bytes)
        )

    def encode(self, row: RowT) -> bytes:
        """Return *row* as bytes."""
        values = list(self._values(row))
        binary: list[bytes] = []
        for index in self._binary:
            binary.append(values[index])
            values[index] = len(values[index])
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
        return b"".join((text, _END, *binary)) if self._binary else text

    def decode(self, stored: bytes, **changed: object) -> RowT:
        """Return the row encoded in *stored*, with some fields *changed*."""
        text, _, binary = stored.partition(_END)
        try:
            values = json.loads(text)
            at = 0
            for index in self._binary:
                end = at + values[index]
                values[index] = binary[at:end]
                at = end
            named = dict(zip(self._names, values, strict=True))
        except (ValueError, TypeError, IndexError) as error:
            raise DamagedError(f"{text[:40]!r} is not a {self._name}") from error
        if at != len(binary):
            raise DamagedError(f"a {self._name} has {len(binary)} binary bytes instead of {at}")
        return self._row(**{**named, **changed})


THREADS: Final = Codec(ThreadRow)
MESSAGES: Final = Codec(MessageRow)
MEMORIES: Final = Codec(MemoryRow)
REVISIONS: Final = Codec(RevisionRow)
SIDES: Final = Codec(SideRow)
KEYS: Final = Codec(IdempotencyRow)
FORMATIONS: Final = Codec(FormationRow)
RECEIPTS: Final = Codec(ReceiptRow)
_SCOPES: Final = Codec(ScopeRow)
_AUDITED: Final = Codec(AuditRow)


def encode_scope(row: ScopeRow) -> bytes:
    """Return a scope as bytes."""
    return _SCOPES.encode(row)


def decode_scope(stored: bytes, epoch_min: int = 0) -> ScopeRow:
    """Return the scope encoded in *stored*, with an epoch of at least *epoch_min*."""
    row = _SCOPES.decode(stored)
    return replace(row, segments=tuple(row.segments), epoch=max(row.epoch, epoch_min))


def encode_audited(row: AuditRow) -> bytes:
    """Return an audit row as bytes, without its chain and its actor's name."""
    # The chain is in the key, and the names are in a key of their own, which an erase drops.
    return _AUDITED.encode(replace(row, chain=b"", actor=None))


def decode_audited(stored: bytes, chain: bytes) -> AuditRow:
    """Return the audit row encoded in *stored*, without its actor's name."""
    return _AUDITED.decode(stored, chain=chain)


def encode_head(row: AuditRow) -> bytes:
    """Return the head of a chain as bytes: the number and hash of its last row."""
    return b"%d\n%s" % (row.n, row.hash)


def decode_head(stored: bytes) -> tuple[int, bytes]:
    """Return number and hash of the last row of a chain."""
    number, _, digest = stored.partition(_END)
    if not number.isdigit():
        raise DamagedError(f"{stored[:40]!r} is not the head of an audit chain")
    return int(number), digest


def encode_vector(text_hash: bytes, vector: bytes) -> bytes:
    """Return a vector with the hash of its text before it."""
    return bytes([len(text_hash)]) + text_hash + vector


def decode_vector(stored: bytes) -> tuple[bytes, bytes]:
    """Return the hash of a vector's text, and the vector."""
    end = 1 + stored[0]
    return stored[1:end], stored[end:]
