"""Back up a store, or its erase ledger."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from recollect.errors import NotFoundError, UsageError
from recollect.lifecycle.backup_lines import HEADER, LEDGER, VERSION
from recollect.lifecycle.copy_journal import each_scope
from recollect.records import JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.locator import back_up_file, file_of, open_store, put_in_place
from recollect.stores.plans.erase_ledger import entry_record
from recollect.stores.plans.idempotency_archive import requests_among
from recollect.wire.record_digests import END, Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A finished backup: a SQLite *file*, or an archive with its numbers of records and scopes."""

    form: str
    erases: int
    scopes: int | None = None
    records: int | None = None


async def back_up(url: str, path: Path) -> BackedUp:
    """
    Write everything in the store at *url* to *path*; the store may be in use.

    A SQLite file is copied as of one point in time; any other store is written as an archive, each
    scope as of one point in time. *path* must not exist, and appears complete or not at all.

    Raises:
        UsageError: *path* exists, or its folder does not.
        StoreError: The store failed.
    """
    with replaced_atomically(path) as made:
        if back_up_file(url, made):
            async with open_store(url) as store:
                done = BackedUp(form="file", erases=len(await store.ledger()))
        else:
            async with open_store(url) as store:
                with made.open("x", encoding="utf-8") as file:
                    done = await _write_archive(store, file)
        put_in_place(made, path)
    return done


async def write_ledger(url: str, path: Path) -> int:
    """Write the erase ledger of the store at *url* to *path*; return the number of erases."""
    file = file_of(url)
    if file is not None:
        check_exists(file)
    async with open_store(url) as store:
        entries = await store.ledger()
    lines: list[JsonObject] = [{"kind": LEDGER, "version": VERSION}]
    lines += [entry_record(entry) for entry in entries]
    lines.append({"kind": END, "count": len(entries)})
    made = path.with_name(f".{path.name}.made")
    made.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    made.chmod(0o600)
    made.replace(path)  # atomic: a crash leaves the old ledger, never half of a new one
    return len(entries)


async def _write_archive(store: Store, file: TextIO) -> BackedUp:
    ledger = await store.ledger()
    digest, scopes, records = Digest(), 0, 0
    header: JsonObject = {
        "kind": HEADER,
        "version": VERSION,
        "at": store.now(),
        "secret": (await store.digest_secret()).hex(),
        "ledger": [entry_record(entry) for entry in ledger],
    }
    file.write(json.dumps(header) + "\n")
    async for scope in each_scope(store):
        found = await store.archive(scope)
        scopes, records = scopes + 1, records + len(found)
        requests = requests_among(await store.requests(scope), found)
        _write_lines(file, digest, [*found, *requests])
    _write_lines(file, digest, await store.requests(None))
    file.write(json.dumps(digest.end_record()) + "\n")
    return BackedUp(form="archive", erases=len(ledger), scopes=scopes, records=records)


def _write_lines(file: TextIO, digest: Digest, lines: Sequence[JsonObject]) -> None:
    digest.add(lines)
    file.writelines(json.dumps(line) + "\n" for line in lines)


def check_exists(path: Path) -> None:
    """
    Raise if nothing is at *path*.

    Raises:
        NotFoundError: It does not exist.
    """
    if not path.exists():
        raise NotFoundError(f"there is no backup or store at {str(path)!r}: check the path")


@contextmanager
def replaced_atomically(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside *path*, from which a complete file is renamed to *path*."""
    if path.exists():
        raise UsageError(f"{str(path)!r} exists: name a file that does not")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {str(path.parent)!r}: create it first")
    # In the same folder, so on the same file system: only there is a rename atomic.
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        yield Path(folder, path.name)
