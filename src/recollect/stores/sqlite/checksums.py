"""
Checksums of rows: without them a byte that changed in the file could be read as content; pure.

Pages have none: SQLite's extension for them is not in the driver, and a file layer of our
own costs too much (`docs/decisions/0008-checksums-of-rows.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import itemgetter
from typing import Any, Final
from zlib import crc32

Stored = tuple[Any, ...]

_BYTES: Final = ("bytes", bytes)  # an annotation is a text where its module postpones them


class DamagedRowError(ValueError):
    """A row is not the one that was written: it does not give the checksum written with it."""


def checksum_of(row: type) -> Callable[[Stored], int]:
    """
    Return a function for the CRC-32 of a row's values, in the order of its fields.

    The *seq* of an entry is omitted: it changes alone when a vector arrives.
    """
    kept = [(at, each.type) for at, each in enumerate(fields(row)) if each.name != "seq"]
    texts = itemgetter(*(at for at, kind in kept if kind not in _BYTES))
    blobs = [at for at, kind in kept if kind in _BYTES]
    # One format of all that is no bytes: this runs for every row that is written or read.
    form = "%s\x1f" * (len(kept) - len(blobs))

    def checksum(values: Stored) -> int:
        found = crc32((form % texts(values)).encode())
        for at in blobs:
            found = crc32(values[at], found)
        return found

    return checksum


def row_checksum(*values: object) -> int:
    """
    Return the CRC-32 of a row's *values*, as `checksum_of` takes it, for the steps of the schema.

    Unlike that it knows no class: a step gives the same for ever, whatever fields a row gains.
    """
    texts = [each for each in values if not isinstance(each, bytes)]
    found = crc32("".join(f"{each}\x1f" for each in texts).encode())
    for each in values:
        if isinstance(each, bytes):
            found = crc32(each, found)
    return found


def checker_of(row: type, table: str, *key: str) -> Callable[[Stored], Stored]:
    """
    Return a function that verifies a row's checksum, its last value, and removes it.

    Args:
        row: The class of the row.
        table: Its table, for the error.
        key: The fields that identify it, for the error.
    """
    sum_of = checksum_of(row)
    places = [[each.name for each in fields(row)].index(name) for name in key]

    def checked(stored: Stored) -> Stored:
        values = stored[:-1]
        if sum_of(values) != stored[-1]:
            named = ", ".join(f"{name} {values[at]}" for name, at in zip(key, places, strict=True))
            msg = f"the row of the table {table} with {named} does not match its checksum"
            raise DamagedRowError(msg)
        return values

    return checked
