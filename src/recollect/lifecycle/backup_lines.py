"""Read and verify the lines of a backup archive and of an erase ledger."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from recollect.errors import UsageError
from recollect.records import JsonObject
from recollect.stores.plans.erase_ledger import LedgerEntry, read_entry
from recollect.wire.record_digests import END, Digest

VERSION: Final = 1
HEADER: Final = "export"
LEDGER: Final = "ledger"
_MAGIC: Final = b"SQLite format 3\0"


def is_database(path: Path) -> bool:
    """Return True if a file is a SQLite database."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_archive(path: Path) -> tuple[str, list[LedgerEntry], bytes | None]:
    """
    Read the archive to its end; return its digest, its ledger, and the secret of its digests.

    Raises:
        UsageError: It is truncated or was changed.
    """
    digest = Digest()
    last: JsonObject = {}
    with closing(read_lines(path)) as lines:
        header = next(lines)
        check_header(header, HEADER, path)
        kept, secret = _ledger_in(header, path), _secret_in(header, path)
        for last in lines:
            if last.get("kind") != END:
                digest.add([last])
    recorded = last.get("count"), last.get("digest")
    if last.get("kind") != END or recorded != (digest.count, str(digest)):
        raise UsageError(f"{str(path)!r} is truncated or was changed: restore another backup")
    return str(digest), kept, secret


def _ledger_in(header: JsonObject, path: Path) -> list[LedgerEntry]:
    ledger = header["ledger"]
    entries = ledger if isinstance(ledger, list) else [ledger]
    found = [each for each in entries if isinstance(each, Mapping)]
    if not isinstance(ledger, list) or len(found) < len(entries):
        # Skipping an entry would let the data that it names come back.
        raise UsageError(f"{str(path)!r} has a malformed erase ledger: restore another backup")
    return [read_entry(each) for each in found]


def _secret_in(header: JsonObject, path: Path) -> bytes | None:
    secret = header.get("secret")
    try:
        return None if secret is None else bytes.fromhex(str(secret))
    except ValueError:
        raise UsageError(f"{str(path)!r} has a malformed secret: restore another backup") from None


def check_header(header: JsonObject, kind: str, path: Path) -> None:
    """Raise `UsageError` if a first line has another *kind*, or an unknown version."""
    if header.get("kind") != kind or (kind == HEADER and "ledger" not in header):
        what = "backup" if kind == HEADER else "erase ledger"
        raise UsageError(f"{str(path)!r} is no {what}: `recollect backup` writes one")
    if header.get("version") != VERSION:
        raise UsageError(
            f"{str(path)!r} has version {header.get('version')!r}, which this release cannot "
            "read: use a later release of Recollect"
        )


def check_end(lines: Sequence[JsonObject], path: Path) -> None:
    """Raise `UsageError` if the last line does not confirm the number of lines of a ledger."""
    if lines[-1] != {"kind": END, "count": len(lines) - 2}:
        msg = f"{str(path)!r} is a ledger that is truncated or was changed: write it again"
        raise UsageError(msg)


def read_lines(path: Path) -> Generator[JsonObject]:
    """
    Yield the lines of a file, each a JSON object.

    Raises:
        UsageError: It is empty, or a line is not a JSON object.
    """
    number = 0
    with path.open("rb") as file:
        for line in file:
            number += 1
            yield _line(line, number, path)
    if not number:
        raise UsageError(f"{str(path)!r} is empty: it is no backup")


def _line(line: bytes, number: int, path: Path) -> JsonObject:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise UsageError(f"{str(path)!r}, line {number}: the file is truncated, or is no backup")
