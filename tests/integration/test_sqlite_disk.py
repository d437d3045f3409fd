"""The SQLite store on a full disk, and with its file taken away."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import StoreError, StoreFullError, StoreUnavailableError
from recollect.records import NewMessage, Scope
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.sqlite.disk_reserve import RESERVE_BYTES, Reserve
from recollect.stores.sqlite.file_identity import Identity
from recollect.stores.sqlite.store import SQLiteStore

ADA = ("users", "ada")
BOB = ("users", "bob")
DISK = "12m"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Yield the folder of a small disk."""
    if os.getuid() != 0:
        pytest.skip("only root may mount a small disk")
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0700", "tmpfs", str(tmp_path)]
    if subprocess.run(mounted, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def words(number: int, size: int) -> NewMessage:
    """Return a message of some length that can be told from all others."""
    return NewMessage(role="user", id=f"m{number}", text=f"canary{number:05} " + "word " * size)


async def fill_up(store: SQLiteStore, scopes: list[Scope], size: int) -> dict[Scope, list[str]]:
    """Append to *scopes* in turn until the disk is full; return the ids that were acknowledged."""
    kept: dict[Scope, list[str]] = {scope: [] for scope in scopes}
    number = 0
    while True:
        scope = scopes[number % len(scopes)]
        try:
            await store.append(scope, "talk", [words(number, size)])
        except StoreFullError:
            return kept
        kept[scope].append(f"m{number}")
        number += 1


async def ids_in(store: SQLiteStore, scope: Scope) -> list[str]:
    """Return the ids of all messages of a scope's talk."""
    found: list[str] = []
    after = 0
    while True:
        page = await store.messages(scope, "talk", after=after, limit=1_000)
        found += [each.id for each in page.rows]
        if page.cursor is None:
            return found
        after = int(page.cursor)


def residue(folder: Path, canary: str) -> list[str]:
    """Return the files in which *canary* still stands."""
    # Read by another process: closing the file here would drop the store's locks on it.
    command = ["grep", "--files-with-matches", "--text", "-r", canary, str(folder)]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("size", [pytest.param(20, marks=pytest.mark.prove), 300, 4_000])
async def test_a_full_disk_loses_nothing(disk: Path, size: int) -> None:
    """What was acknowledged is there, reading goes on, and with room so does writing."""
    async with SQLiteStore(disk / "memory.db") as store:
        kept = await fill_up(store, [ADA, BOB], size)
        found = {scope: await ids_in(store, scope) for scope in kept}
        (disk / "memory.db-reserve").unlink()
        again = await store.append(ADA, "talk", [words(99_999, size)])

    async with SQLiteStore(disk / "memory.db") as store:
        reopened = {scope: await ids_in(store, scope) for scope in kept}

    assert kept == found
    assert 1 == len(again)
    assert {ADA: [*kept[ADA], "m99999"], BOB: kept[BOB]} == reopened


@pytest.mark.parametrize("size", [pytest.param(20, marks=pytest.mark.prove), 300, 4_000])
async def test_a_full_disk_can_be_erased_from(disk: Path, size: int) -> None:
    """An erase succeeds from the reserve, its bytes go, and then there is room for others."""
    async with SQLiteStore(disk / "memory.db") as store:
        kept = await fill_up(store, [ADA, BOB], size)
        canary = f"canary{int(kept[ADA][-1][1:]):05}"
        before = residue(disk, canary)

        receipt = await store.erase(ADA, EraseScope())
        cleaned = await store.clean()
        after = residue(disk, canary)
        await store.append(BOB, "talk", [words(99_999, size)])
        left = await ids_in(store, BOB)

    assert [] != before
    assert len(kept[ADA]) == receipt.messages
    assert [receipt.id] == [each.id for each in cleaned]
    assert [] == after
    assert [*kept[BOB], "m99999"] == left
    assert RESERVE_BYTES == (disk / "memory.db-reserve").stat().st_size


async def test_without_a_reserve_a_full_disk_keeps_what_it_has(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: without the reserve the same erase has no room."""
    monkeypatch.setattr(Reserve, "fill", lambda _: None)
    async with SQLiteStore(disk / "memory.db") as store:
        await fill_up(store, [ADA, BOB], 300)

        with pytest.raises(StoreFullError):
            await store.erase(ADA, EraseScope())


async def test_a_store_on_a_full_disk_can_be_opened_and_erased_from(disk: Path) -> None:
    """What SQLite keeps beside an open file finds room in the reserve."""
    async with SQLiteStore(disk / "memory.db") as store:
        kept = await fill_up(store, [ADA, BOB], 300)
    ballast = disk / "ballast"
    _fill(ballast)

    async with SQLiteStore(disk / "memory.db") as store:
        receipt = await store.erase(ADA, EraseScope())
        left = await ids_in(store, BOB)

    assert len(kept[ADA]) == receipt.messages
    assert kept[BOB] == left


def _fill(file: Path) -> None:
    """Take all the room that a disk has left."""
    with file.open("wb", buffering=0) as ballast:
        for size in (1 << 20, 4_096, 1):
            try:
                while ballast.write(b"x" * size) == size:
                    pass
            except OSError:
                continue


async def say(store: SQLiteStore, text: str) -> None:
    """Append one message to Ada's talk."""
    await store.append(ADA, "talk", [NewMessage(role="user", text=text)])


@pytest.mark.parametrize("name", ["memory.db", "memory.db-wal"])
@pytest.mark.parametrize("instead", [None, b""], ids=["gone", "replaced"])
async def test_a_file_that_was_taken_away_is_noticed(
    name: str, instead: bytes | None, tmp_path: Path
) -> None:
    """Writing into a file, or a log, that nobody will find again is never acknowledged."""
    taken, away = tmp_path / name, tmp_path / "away"
    async with SQLiteStore(tmp_path / "memory.db") as store:
        await say(store, "before")
        taken.rename(away)
        if instead is not None:
            taken.write_bytes(instead)

        for call in (say(store, "while"), store.thread(ADA, "talk")):
            with pytest.raises(StoreUnavailableError, match="moved, replaced or deleted"):
                await call

        away.rename(taken)
        await say(store, "after")
        found = await store.messages(ADA, "talk")

    assert ["before", "after"] == [each.text for each in found.rows]


async def test_a_loss_would_go_unnoticed_without_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: without the look at the file a message is acknowledged, and gone."""
    monkeypatch.setattr(Identity, "check", lambda _: None)
    file = tmp_path / "memory.db"
    async with SQLiteStore(file) as store:
        await say(store, "before")
        file.unlink()
        await say(store, "while")

    with pytest.raises(StoreError):
        await texts_again(file)


async def texts_again(file: Path) -> list[str]:
    """Return what Ada's talk says in the store in *file*, opened anew."""
    async with SQLiteStore(file) as store:
        found = [each.text for each in (await store.messages(ADA, "talk")).rows]
    if "while" not in found:
        msg = "an acknowledged message is missing"
        raise StoreError(msg)
    return found
