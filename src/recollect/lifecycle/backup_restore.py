"""Restore a store from a backup, without what the erase ledger lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from recollect.errors import ConflictError, NotFoundError, UsageError
from recollect.lifecycle.backup_lines import (
    LEDGER,
    check_archive,
    check_end,
    check_header,
    is_database,
    read_lines,
)
from recollect.lifecycle.backups import check_exists, replaced_atomically
from recollect.lifecycle.copy_journal import MARK, each_scope, mark_destination
from recollect.lifecycle.forgotten_memories import note_forgotten
from recollect.lifecycle.store_copy import try_clean, unknown_erases
from recollect.records import JsonObject, Scope
from recollect.side_records import KEYS_SCOPE, SERVICE_KEY, DeleteSideRecord, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.locator import file_of, open_store, put_back, put_in_place
from recollect.stores.pages import each_row
from recollect.stores.plans.archive import RESTORE_RECORDS, scope_of
from recollect.stores.plans.erase_ledger import LedgerEntry, named_in, read_entry
from recollect.stores.plans.erase_targets import EraseMemory, EraseTarget
from recollect.stores.plans.idempotency_archive import REQUEST
from recollect.wire.record_digests import END, digests_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The result of a restore."""

    form: str
    scopes: int
    records: int
    applied: int
    """Targets erased after the backup, which were not restored."""
    erases: int
    """Erases in the ledger that the backup did not have."""
    keys: int = 0
    """API keys of a service in the restored store, which are valid as they were at the backup."""


_APPLYING: Final = PutSideRecord(kind="Restore", key="ledger", value={})
"""Marks a store to which a ledger is being applied, so that a repeated call continues."""


async def read_ledger(source: str, *, backup: Path | None = None) -> list[LedgerEntry]:
    """
    Return the erase ledger in the file *source*, or of the store at that URL.

    Args:
        backup: The backup that the ledger will be applied to.

    Raises:
        NotFoundError: The file does not exist.
        UsageError: The file is no ledger, is truncated, or has an unknown version; or it is the
            backup itself, which does not know later erases.
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
    keys: bool = True,
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
        keys: Whether to restore the API keys of a service. No ledger tells which of them were
            revoked or rotated since: restored, they are valid again.

    Raises:
        ConflictError: The store holds other data, or a restore of another backup was begun.
        UsageError: The backup is malformed or of an unknown version; or its file cannot be restored
            to *url*; or the ledger lacks an erase that the backup has, so it belongs to another
            store.
        StoreCorruptError: The backup is damaged.
    """
    check_exists(path)
    if is_database(path):
        return await _restore_file(path, url, ledger, keys=keys)
    # Verified to its end before anything is restored: a truncated archive is refused whole.
    digest, kept, secret = check_archive(path)
    since = _since(ledger, kept)
    async with open_store(url) as store:
        # An emptied store has erases of its own, which a restore must not undo.
        since += await unknown_erases(store, [*kept, *since])
        if secret is not None:  # without it the restored idempotency keys would match no request
            await store.adopt_secret(secret)
        if not await mark_destination(store, f"backup {digest}"):
            raise ConflictError("the store is not empty: restore into an empty one")
        # The ledger comes first: if this is killed, the half-filled store knows what was erased.
        await store.adopt([*kept, *since])
        done = await _restore_archive(path, store, since, secret)
        done = await _with_keys(store, done, keys=keys)
        await store.vacate(MARK)
        await try_clean(store)
    return done


async def _restore_file(
    path: Path, url: str, ledger: Sequence[LedgerEntry] | None, *, keys: bool
) -> Restored:
    file = file_of(url)
    if file is None:
        raise UsageError(
            f"{str(path)!r} is a backup of a SQLite file: restore it into a file, then copy that "
            "to the other store with `recollect copy`"
        )
    with replaced_atomically(file) as made:
        put_back(path, made)
        async with open_store(made) as store:
            since = _since(ledger, await store.ledger())
            done = await _erase_named(store, since, form="file")
            done = await _with_keys(store, done, keys=keys)
            await store.clean()
        # Last: the file must not be opened before the erased data and its bytes are removed.
        put_in_place(made, file)
    return done


async def apply_ledger(url: str, ledger: Sequence[LedgerEntry], *, keys: bool = True) -> Restored:
    """
    Erase from the store at *url*, restored by other means, what *ledger* lists as erased since.

    Call it before anybody reads from the store. After an interruption the same call finishes it.
    Without *keys* the API keys of a service are removed as well; see `restore_backup`.

    Raises:
        NotFoundError: The store's file does not exist.
        UsageError: The ledger lacks an erase that the store has, so it belongs to another store.
        StoreError: The store failed.
    """
    file = file_of(url)
    if file is not None:
        check_exists(file)
    async with open_store(url) as store:
        kept = await store.ledger()
        # These erases have entries of their own, which no ledger has: only the first call checks.
        if not await store.side_record(MARK, _APPLYING.kind, _APPLYING.key):
            _since(ledger, kept)
            await store.apply(MARK, [_APPLYING])
        known = {each.id for each in kept}
        since = [each for each in ledger if each.id not in known]
        done = await _erase_named(store, since, form="store")
        done = await _with_keys(store, done, keys=keys)
        await store.apply(MARK, [DeleteSideRecord(kind=_APPLYING.kind, key=_APPLYING.key)])
        await try_clean(store)
    return done


async def _erase_named(store: Store, since: Sequence[LedgerEntry], *, form: str) -> Restored:
    """Erase the targets in *since*, add them to the store's ledger, and return the counts."""
    # A graph's checkpoints need no thread of the store: they are not found by its records.
    copies = await store.erase_checkpoints(since)
    scopes = records = applied = 0
    async for scope in each_scope(store):
        found = await store.archive(scope)
        targets = named_in(since, found)
        await _erase_each(store, scope, targets)
        left = len(await store.archive(scope)) if targets else len(found)
        applied += len(targets)
        scopes, records = scopes + bool(left), records + left
    # Last, because an entry that the store has is not applied again after an interruption.
    await store.adopt(since, unclean=bool(copies))
    return Restored(form=form, scopes=scopes, records=records, applied=applied, erases=len(since))


async def _erase_each(store: Store, scope: Scope, targets: Sequence[EraseTarget]) -> None:
    """Erase *targets*; memories are not formed again from messages of the backup, either."""
    # Memories first: an erase of their messages may leave less of them to note.
    for target in sorted(targets, key=lambda each: not isinstance(each, EraseMemory)):
        if isinstance(target, EraseMemory):
            await note_forgotten(store, scope, target)
        await store.erase(scope, target)


async def _with_keys(store: Store, done: Restored, *, keys: bool) -> Restored:
    """Return *done* with the number of API keys in the store; remove them first without *keys*."""
    if not keys and (gone := len(await store.archive(KEYS_SCOPE))):
        await store.vacate(KEYS_SCOPE)
        done = replace(done, scopes=done.scopes - 1, records=done.records - gone)
    rows = each_row(
        lambda cursor: store.side_records(KEYS_SCOPE, SERVICE_KEY, cursor=cursor, limit=500)
    )
    return replace(done, keys=len([each async for each in rows]))


def _check_is_other(ledger: Path, backup: Path) -> None:
    if backup.exists() and ledger.samefile(backup):
        raise UsageError(
            f"{str(ledger)!r} is the backup itself, which does not know what was erased since: "
            "name the ledger, or the store that was in use"
        )


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
        raise UsageError(
            f"the ledger lacks {lacking} of the {len(known)} erases in the backup: it is from "
            "another store, or older than the backup; name that of the store that was in use"
        )
    return [each for each in ledger if each.id not in known]


async def _restore_archive(
    path: Path, store: Store, since: Sequence[LedgerEntry], secret: bytes | None
) -> Restored:
    with closing(read_lines(path)) as lines:
        next(lines)  # the header
        return await _restore_lines(lines, store, since, secret)


async def _restore_lines(
    lines: Iterator[JsonObject],
    store: Store,
    since: Sequence[LedgerEntry],
    secret: bytes | None,
) -> Restored:
    scopes = records = applied = 0
    spent: list[JsonObject] = []
    for scope, group in groupby(_content(lines, spent), scope_of):
        part = _ArchivedScope(scope, group)
        targets = named_in(since, part.records)
        applied += len(targets)
        if targets:
            spent += await part.erase(targets, secret)
        await _make_equal(store, scope, part.records)
        await store.adopt_requests(scope, part.requests)
        scopes, records = scopes + bool(part.records), records + len(part.records)
    await store.adopt_requests(None, spent)
    return Restored(
        form="archive", scopes=scopes, records=records, applied=applied, erases=len(since)
    )


def _content(lines: Iterator[JsonObject], spent: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the lines of scopes; append the keys of scopes that were erased whole to *spent*."""
    for line in lines:
        if line["kind"] == REQUEST and line["scope"] is None:
            spent.append(line)
        elif line["kind"] != END and scope_of(line) != MARK:
            yield line


class _ArchivedScope:
    """One scope of an archive: its records, and the idempotency keys that were used in it."""

    def __init__(self, scope: Scope, lines: Iterable[JsonObject]) -> None:
        found = list(lines)
        self.scope = scope
        self.records = [each for each in found if each["kind"] != REQUEST]
        self.requests = [each for each in found if each["kind"] == REQUEST]

    async def erase(self, targets: Sequence[EraseTarget], secret: bytes | None) -> list[JsonObject]:
        """Apply erase *targets*; return the idempotency keys that outlive the erased scope."""
        async with open_store("memory:") as beside:
            if secret is not None:  # the digests of erased memories are made with it
                await beside.adopt_secret(secret)
            await _restore_all(beside, self.records)
            await beside.adopt_requests(self.scope, self.requests)
            await _erase_each(beside, self.scope, targets)
            self.records = await beside.archive(self.scope)
            self.requests = await beside.requests(self.scope)
            return await beside.requests(None)


async def _make_equal(store: Store, scope: Scope, records: Sequence[JsonObject]) -> None:
    """Make a scope contain exactly *records*, also after an interrupted restore."""
    wanted, there = digests_of(records), digests_of(await store.archive(scope))
    if (there - wanted).total():
        await store.vacate(scope)
    if there != wanted:
        await _restore_all(store, records)


async def _restore_all(store: Store, records: Sequence[JsonObject]) -> None:
    for start in range(0, len(records), RESTORE_RECORDS):
        part = records[start : start + RESTORE_RECORDS]
        await store.restore(scope_of(part[0]), part)
