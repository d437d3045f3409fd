"""Back up a store, and restore it without what the erase ledger lists."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final, TextIO, TypeAlias

from recollect.errors import ConflictError, NotFoundError, UsageError
from recollect.lifecycle.backup_lines import (
    HEADER,
    LEDGER,
    VERSION,
    check_archive,
    check_end,
    check_header,
    is_database,
    read_lines,
)
from recollect.lifecycle.copy_journal import MARK, each_scope, mark_destination
from recollect.lifecycle.store_copy import try_clean
from recollect.records import DeleteSideRecord, JsonObject, PutSideRecord, Scope
from recollect.stores.contract.base import Store
from recollect.stores.locator import back_up_file, file_of, open_store, put_back, put_in_place
from recollect.stores.plans.archive import RESTORE_RECORDS, scope_of
from recollect.stores.plans.erase_ledger import LedgerEntry, entry_record, named_in, read_entry
from recollect.stores.plans.erase_targets import EraseTarget
from recollect.stores.plans.key_transfer import REQUEST
from recollect.wire.record_digests import END, Digest, digests_of

Named: TypeAlias = Callable[[Sequence[LedgerEntry], Sequence[JsonObject]], list[EraseTarget]]
"""Function that returns the erased targets among a scope's records, according to a ledger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A finished backup: a SQLite *file*, or an archive with its numbers of records and scopes."""

    form: str
    erases: int
    scopes: int | None = None
    records: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of a restore, with how many ledger entries applied to the backup."""

    form: str
    scopes: int
    records: int
    applied: int
    """Addresses that were erased after the backup, and of which nothing was put back."""
    erases: int
    """Erases that the ledger has and the backup had not."""


_APPLYING: Final = PutSideRecord(kind="Restore", key="ledger", value={})
"""Mark of a store to which a ledger is being applied."""


async def back_up(url: str, path: Path) -> BackedUp:
    """
    Write everything that the store at *url* holds to *path*; the store may be in use.

    A file of SQLite's is copied as of one moment; of another store an archive is written, each
    scope as of one moment. *path* must not exist, and is there whole or not at all.

    Raises:
        UsageError: *path* exists, or its folder does not.
        StoreError: The store failed.
    """
    with _made_beside(path) as made:
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
    """Write the erase ledger of the store at *url* to *path*, replacing it; say how many erases."""
    file = file_of(url)
    if file is not None:
        _check_exists(file)
    async with open_store(url) as store:
        entries = await store.ledger()
    lines: list[JsonObject] = [{"kind": LEDGER, "version": VERSION}]
    lines += [entry_record(entry) for entry in entries]
    lines.append({"kind": END, "count": len(entries)})
    made = path.with_name(f".{path.name}.made")
    made.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    made.chmod(0o600)
    made.replace(path)
    return len(entries)


async def read_ledger(source: str, *, backup: Path | None = None) -> list[LedgerEntry]:
    """
    Return the erase ledger in the file *source*, or of the store at that URL.

    Args:
        backup: What the ledger is to be applied to.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: The file is no ledger, is cut off, or is of an unknown version; or it is the
            backup itself, which cannot say what was erased since.
    """
    file = file_of(source)
    if file is not None and not file.exists():
        msg = f"there is no ledger or store at {str(file)!r}: name the store that was in use"
        raise NotFoundError(msg)
    if file is not None and backup is not None:
        _check_is_other(file, backup)
    if file is None or is_database(file):
        async with open_store(source) as store:
            return await store.ledger()
    lines = list(read_lines(file))
    check_header(lines[0], LEDGER, file)
    check_end(lines, file)
    return [read_entry(line) for line in lines[1:-1]]


async def restore_backup(
    path: Path,
    url: str,
    ledger: Sequence[LedgerEntry] | None,
    *,
    named: Named = named_in,
) -> Restored:
    """
    Restore the backup at *path* into *url*, without what *ledger* lists as erased since.

    The store must be empty; a file must not exist, and appears complete, with the ledger applied,
    or not at all. Erased data is not written to the store, or its bytes are removed before the
    store can be opened. A store that was emptied has a ledger of its own, which is applied too. An
    archive is restored scope by scope: after an interruption, the same call finishes it, even with
    a later ledger. Until then the store is marked as being filled, and `copy_store` refuses it as a
    source.

    Args:
        ledger: The ledger of the store that was in use, ``None`` if nothing was erased since.

    Raises:
        ConflictError: The store holds other data, or a restore of another backup was begun.
        UsageError: The backup is malformed or of an unknown version; or its file cannot be restored
            to *url*; or the ledger lacks an erase that the backup has, so it belongs to another
            store.
        StoreCorruptError: The backup is damaged.
    """
    _check_exists(path)
    if is_database(path):
        return await _restore_file(path, url, ledger, named)
    digest, kept, secret = check_archive(path)
    since = _since(ledger, kept)
    async with open_store(url) as store:
        since += await _erased_there(store, [*kept, *since])
        if secret is not None:  # or the keys that were used cannot be known again
            await store.adopt_secret(secret)
        if not await mark_destination(store, f"backup {digest}"):
            msg = "the store holds something already: restore into an empty one"
            raise ConflictError(msg)
        # The ledger first: if this is killed, the half-filled store knows what was erased.
        await store.adopt([*kept, *since])
        done = await _restore_archive(path, store, since, named)
        await store.vacate(MARK)
        await try_clean(store)
    return done


async def _restore_file(
    path: Path, url: str, ledger: Sequence[LedgerEntry] | None, named: Named
) -> Restored:
    file = file_of(url)
    if file is None:
        msg = (
            f"{str(path)!r} is a backup of a file: restore it into a file, then `recollect copy` "
            "that to the other store"
        )
        raise UsageError(msg)
    with _made_beside(file) as made:
        put_back(path, made)
        async with open_store(made) as store:
            since = _since(ledger, await store.ledger())
            done = await _erase_named(store, since, named, form="file")
            await store.clean()
        put_in_place(made, file)
    return done


async def apply_ledger(
    url: str, ledger: Sequence[LedgerEntry], *, named: Named = named_in
) -> Restored:
    """
    Erase from the store at *url*, restored by other means, what *ledger* lists as erased since.

    Call it before anybody reads from the store. After an interruption the same call finishes it.

    Raises:
        NotFoundError: The store's file does not exist.
        UsageError: The ledger lacks an erase that the store has, so it belongs to another store.
        StoreError: The store failed.
    """
    file = file_of(url)
    if file is not None:
        _check_exists(file)
    async with open_store(url) as store:
        kept = await store.ledger()
        # These erases have entries of their own, which no ledger has: only the first call checks.
        if not await store.side_record(MARK, _APPLYING.kind, _APPLYING.key):
            _since(ledger, kept)
            await store.apply(MARK, [_APPLYING])
        known = {each.id for each in kept}
        since = [each for each in ledger if each.id not in known]
        done = await _erase_named(store, since, named, form="store")
        await store.apply(MARK, [DeleteSideRecord(kind=_APPLYING.kind, key=_APPLYING.key)])
        await try_clean(store)
    return done


async def _erase_named(
    store: Store, since: Sequence[LedgerEntry], named: Named, *, form: str
) -> Restored:
    """Erase what *since* names, then add it to the store's ledger; return what is left."""
    scopes = records = applied = 0
    async for scope in each_scope(store):
        found = await store.archive(scope)
        targets = named(since, found)
        for target in targets:
            await store.erase(scope, target)
        left = len(await store.archive(scope)) if targets else len(found)
        applied += len(targets)
        scopes, records = scopes + bool(left), records + left
    # Last, because an entry that the store has is not applied again after an interruption.
    await store.adopt(since)
    return Restored(form=form, scopes=scopes, records=records, applied=applied, erases=len(since))


def _check_is_other(ledger: Path, backup: Path) -> None:
    if backup.exists() and ledger.samefile(backup):
        msg = (
            f"{str(ledger)!r} is the backup itself, which cannot say what was erased since: name "
            "the ledger, or the store that was in use"
        )
        raise UsageError(msg)


def _since(ledger: Sequence[LedgerEntry] | None, kept: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """
    Return the entries of *ledger* that are not among *kept*, those of the backup.

    Raises:
        UsageError: The ledger lacks an entry that the backup has.
    """
    if ledger is None:
        return []
    known = {each.id for each in kept}
    lacking = len(known - {each.id for each in ledger})
    if lacking:
        msg = (
            f"the ledger lacks {lacking} of the {len(known)} erases that the backup has: it is of "
            "another store, or older than the backup; name the one of the store that was in use"
        )
        raise UsageError(msg)
    return [each for each in ledger if each.id not in known]


async def _erased_there(store: Store, known: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Return the erases of an empty store's own ledger: what it erased does not come back."""
    ids = {each.id for each in known}
    return [each for each in await store.ledger() if each.id not in ids]


async def _restore_archive(
    path: Path, store: Store, since: Sequence[LedgerEntry], named: Named
) -> Restored:
    with closing(read_lines(path)) as lines:
        next(lines)  # the header
        return await _restore_lines(lines, store, since, named)


async def _restore_lines(
    lines: Iterator[JsonObject], store: Store, since: Sequence[LedgerEntry], named: Named
) -> Restored:
    scopes = records = applied = 0
    spent: list[JsonObject] = []
    for scope, group in groupby(_content(lines, spent), scope_of):
        part = _Part(scope, group)
        targets = named(since, part.records)
        applied += len(targets)
        if targets:
            spent += await part.erase(targets)
        await _put_back(store, scope, part.records)
        await store.adopt_requests(scope, part.requests)
        scopes, records = scopes + bool(part.records), records + len(part.records)
    await store.adopt_requests(None, spent)
    return Restored(
        form="archive", scopes=scopes, records=records, applied=applied, erases=len(since)
    )


def _content(lines: Iterator[JsonObject], spent: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the lines of scopes; keys of scopes that were erased whole are added to *spent*."""
    for line in lines:
        if line["kind"] == REQUEST and line["scope"] is None:
            spent.append(line)
        elif line["kind"] != END and scope_of(line) != MARK:
            yield line


class _Part:
    """One scope of an archive: its records, and the idempotency keys that were used in it."""

    def __init__(self, scope: Scope, lines: Iterable[JsonObject]) -> None:
        found = list(lines)
        self.scope = scope
        self.records = [each for each in found if each["kind"] != REQUEST]
        self.requests = [each for each in found if each["kind"] == REQUEST]

    async def erase(self, targets: Sequence[EraseTarget]) -> list[JsonObject]:
        """Apply erase *targets*; return the keys that the scope does not keep."""
        async with open_store("memory:") as beside:
            await _restore_all(beside, self.records)
            await beside.adopt_requests(self.scope, self.requests)
            for target in targets:
                await beside.erase(self.scope, target)
            self.records = await beside.archive(self.scope)
            self.requests = await beside.requests(self.scope)
            return await beside.requests(None)


async def _put_back(store: Store, scope: Scope, records: Sequence[JsonObject]) -> None:
    """Make a scope hold exactly *records*, whatever an interrupted restore left there."""
    wanted, there = digests_of(records), digests_of(await store.archive(scope))
    if (there - wanted).total():
        await store.vacate(scope)
    if there != wanted:
        await _restore_all(store, records)


async def _restore_all(store: Store, records: Sequence[JsonObject]) -> None:
    for start in range(0, len(records), RESTORE_RECORDS):
        part = records[start : start + RESTORE_RECORDS]
        await store.restore(scope_of(part[0]), part)


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
        _write_lines(file, digest, [*found, *await store.requests(scope)])
    _write_lines(file, digest, await store.requests(None))
    file.write(json.dumps(digest.end_record()) + "\n")
    return BackedUp(form="archive", erases=len(ledger), scopes=scopes, records=records)


def _write_lines(file: TextIO, digest: Digest, lines: Sequence[JsonObject]) -> None:
    digest.add(lines)
    file.writelines(json.dumps(line) + "\n" for line in lines)


def _check_exists(path: Path) -> None:
    if not path.exists():
        msg = f"there is no backup or store at {str(path)!r}"
        raise NotFoundError(msg)


@contextmanager
def _made_beside(path: Path) -> Iterator[Path]:
    """Yield a place beside *path* for a file that gets its name when it is whole."""
    if path.exists():
        msg = f"{str(path)!r} exists: name a file that does not"
        raise UsageError(msg)
    if not path.parent.is_dir():
        msg = f"there is no folder {str(path.parent)!r}: make it first"
        raise UsageError(msg)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        yield Path(folder, path.name)
