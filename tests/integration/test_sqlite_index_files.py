"""Files beside a SQLite store: they count while the store names them, and go with their words."""

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

import apsw
import pytest
from anyio import from_thread, to_thread

from recollect.errors import StoreError
from recollect.records import DeleteMemory, Evidence, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor, IndexFile, IndexFileDraft
from recollect.stores.plans import lost_words
from recollect.stores.plans.erase_targets import (
    EraseExpired,
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.plans.undo import UndoLog
from recollect.stores.sqlite import index_files
from recollect.stores.sqlite.index_files import IndexFiles, folder_beside, size_beside
from recollect.stores.sqlite.statements import WRITES
from recollect.stores.sqlite.store import SQLiteStore
from recollect.testing import NOON, FrozenClock, SeededIds

ADA: Final[Scope] = ("users", "ada")
BOB: Final[Scope] = ("users", "bob")
CANARY: Final = b"canary of a file"
Deed: TypeAlias = Callable[[SQLiteStore], Coroutine[Any, Any, object]]


def said(id_: str, text: str = "my red boat") -> NewMessage:
    return NewMessage(role="user", id=id_, text=text, time=NOON, source=f"mail/{id_}")


def note(key: str, text: str, **more: object) -> PutMemory:
    return PutMemory(type="Note", key=key, value={"content": text}, **more)  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the place of a store."""
    return tmp_path / "memory.db"


@pytest.fixture
async def store(path: Path, clock: FrozenClock) -> AsyncIterator[SQLiteStore]:
    """Return a store with messages and memories of two scopes."""
    async with SQLiteStore(path, clock=clock, ids=SeededIds(1)) as opened:
        for scope in (ADA, BOB):
            await opened.append(scope, "talk", [said("m1"), said("m2")])
            await opened.append(scope, "other", [said("m3")])
            rests = {"/content": (Evidence(message="m3", thread="other", quote="red"),)}
            await opened.apply(
                scope,
                [
                    note("boat", "a red boat", evidence=rests),
                    note("brief", "it rains", expires_at=NOON + timedelta(days=1)),
                ],
            )
        yield opened


async def draft_of(
    store: SQLiteStore, scope: Scope, write: Callable[[BinaryIO], bytes] | None = None
) -> IndexFileDraft:
    """Return a file of *scope* as it is now."""
    (cursor,) = await store.places([scope])

    def written(file: BinaryIO) -> bytes:
        file.write(CANARY)
        return b"digest"

    return IndexFileDraft(
        cursor=cursor, embedder="", form="test", size_bytes=10, write=write or written
    )


async def kept(store: SQLiteStore, scope: Scope) -> IndexFile | None:
    """Write a file for *scope*."""
    return await to_thread.run_sync(store.keep_index_file, await draft_of(store, scope))


async def found(store: SQLiteStore, scope: Scope) -> list[IndexFile]:
    """Return the files of *scope* that the store names."""

    def look(snapshot: StoreSnapshot) -> list[IndexFile]:
        return list(snapshot.index_files(scope))

    return await store.read(look)


def on_disk(path: Path) -> int:
    """Return how many files hold the canary."""
    files = [each for each in path.parent.rglob("*") if each.is_file()]
    return sum(CANARY in each.read_bytes() for each in files)


async def test_a_file_is_named_by_the_store_and_readable_by_its_owner_alone(
    store: SQLiteStore, path: Path
) -> None:
    """It is found as it was written, with the place in the feed that it reaches."""
    file = await kept(store, ADA)
    (place,) = await store.places([ADA])

    assert file is not None
    assert [file] == await found(store, ADA)
    assert [] == await found(store, BOB)
    assert (place.epoch, place.seq) == (file.row.epoch, file.row.seq)
    assert CANARY == Path(file.path).read_bytes()
    modes = [each.stat().st_mode & 0o777 for each in (Path(file.path), *Path(file.path).parents)]
    assert [0o600, 0o700, 0o700] == modes[:3]
    assert folder_beside(path) == Path(file.path).parents[1]
    assert (1, len(CANARY)) == size_beside(path)


def erase(target: EraseTarget, scope: Scope = ADA) -> Deed:
    return lambda store: store.erase(scope, target)


async def expire(store: SQLiteStore) -> None:
    clock = store._clock
    assert isinstance(clock, FrozenClock)
    clock.advance(2 * 24 * 3_600)
    await store.erase(ADA, EraseExpired())


async def undo(store: SQLiteStore) -> None:
    log = UndoLog()
    await store.noting(log).apply(ADA, [note("cat", "a cat")])
    assert await kept(store, ADA)
    assert log.last is not None
    await store.undo(ADA, log.last)


LOSSES: Final[dict[str, Deed]] = {
    "a scope": erase(EraseScope()),
    "scopes below": erase(EraseScope(below=True), ("users",)),
    "a thread": erase(EraseThread(thread="talk")),
    "messages": erase(EraseMessages(thread="talk", messages=["m1"])),
    "a memory": erase(EraseMemory(type="Note", key="boat")),
    "a source": erase(EraseSource(source="mail/m1")),
    "what expired": expire,
    "removed messages": lambda store: store.remove(ADA, "talk", ["m1"]),
    "all but some messages": lambda store: store.keep(ADA, "talk", 2),
    "a deleted memory": lambda store: store.apply(ADA, [DeleteMemory(type="Note", key="boat")]),
    "a replaced message": lambda store: store.replace(ADA, "talk", said("m1", "my blue boat")),
    "a vacated scope": lambda store: store.vacate(ADA),
}


async def left_after(store: SQLiteStore, path: Path, deed: Deed) -> list[str]:
    """Do *deed*, and return what is left of a file of its scope that it should have taken."""
    assert await kept(store, ADA)
    assert 1 == on_disk(path)
    await deed(store)
    left = ["a row"] if await found(store, ADA) else []
    return left + ["a file"] * on_disk(path)


@pytest.mark.parametrize("deed", LOSSES.values(), ids=LOSSES)
async def test_what_takes_words_away_takes_the_file(
    deed: Deed, store: SQLiteStore, path: Path
) -> None:
    """Nothing has to be cleaned: the file is gone when the call returns."""
    assert [] == await left_after(store, path, deed)


async def test_what_an_undo_takes_back_takes_the_file(store: SQLiteStore, path: Path) -> None:
    """The text that is taken back is nowhere else."""
    await undo(store)

    assert ([], 0) == (await found(store, ADA), on_disk(path))


async def test_a_message_removed_earlier_takes_the_file_by_its_name(
    store: SQLiteStore, path: Path
) -> None:
    """Only a memory that rested on it changes, and the epoch."""
    await store.remove(ADA, "other", ["m3"])

    deed = erase(EraseMessages(thread="other", messages=["m3"]))
    assert [] == await left_after(store, path, deed)


KEEPERS: Final[dict[str, Deed]] = {
    "an append": lambda store: store.append(ADA, "talk", [said("m9", "more")]),
    "a new memory": lambda store: store.apply(ADA, [note("cat", "a cat")]),
    "a revision": lambda store: store.apply(ADA, [note("boat", "a blue boat")]),
    "an erase elsewhere": erase(EraseScope(), BOB),
    "nothing to erase": erase(EraseThread(thread="none")),
}


@pytest.mark.parametrize("deed", KEEPERS.values(), ids=KEEPERS)
async def test_what_takes_no_words_away_leaves_the_file(
    deed: Deed, store: SQLiteStore, path: Path
) -> None:
    """Otherwise a scope in use would have none."""
    assert ["a row", "a file"] == await left_after(store, path, deed)


MUTANTS: Final[dict[str, tuple[Any, str, Callable[..., object]]]] = {
    "erasing does not unlink": (IndexFiles, "unlink", lambda *_: None),
    "erasing forgets no row": (IndexFiles, "forget_lost_words", lambda *_: set()),
    "shrinking is not seen": (lost_words, "_scopes_that_shrink", lambda _: set()),
}


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS)
async def test_a_file_that_is_left_would_be_noticed(
    mutant: tuple[Any, str, Callable[..., object]],
    store: SQLiteStore,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control: with these faults something is left after one of the losses."""
    monkeypatch.setattr(*mutant)

    removed = LOSSES["removed messages"]
    assert await left_after(store, path, removed)


async def test_a_new_epoch_without_removals_would_be_noticed(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: dropped links and the epoch both tell of an erase that only revises."""
    await store.remove(ADA, "other", ["m3"])
    monkeypatch.setattr(lost_words, "_scopes_that_shrink", lambda _: set())
    deed = erase(EraseMessages(thread="other", messages=["m3"]))

    assert [] == await left_after(store, path, deed)


async def test_an_older_file_goes_when_a_newer_one_is_there(store: SQLiteStore, path: Path) -> None:
    """A scope has one."""
    await kept(store, ADA)
    newer = await kept(store, ADA)

    assert ([newer], 1) == (await found(store, ADA), on_disk(path))


async def test_no_file_is_begun_for_a_place_that_has_passed(store: SQLiteStore, path: Path) -> None:
    """Words may have gone since, which the index still has."""
    draft = await draft_of(store, ADA)
    await store.remove(ADA, "talk", ["m1"])

    assert await to_thread.run_sync(store.keep_index_file, draft) is None
    assert 0 == on_disk(path)


async def outcome_of_racing(store: SQLiteStore, path: Path, deed: Deed) -> list[str]:
    """Do *deed* while a file is written; return what it left."""

    def write(file: BinaryIO) -> bytes:
        file.write(CANARY)
        file.flush()
        from_thread.run(deed, store)
        return b"digest"

    draft = await draft_of(store, ADA, write)
    file = await to_thread.run_sync(store.keep_index_file, draft)
    return [
        *(["a file is told of"] if file else []),
        *(["a row"] if await found(store, ADA) else []),
        *["a file"] * on_disk(path),
    ]


@pytest.mark.parametrize("name", ["messages", "removed messages", "a scope", "a replaced message"])
async def test_a_file_is_given_up_when_words_go_while_it_is_written(
    name: str, store: SQLiteStore, path: Path
) -> None:
    """Whoever writes it has words that the store has no more."""
    assert [] == await outcome_of_racing(store, path, LOSSES[name])


async def test_a_file_that_was_not_given_up_would_be_noticed(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: who finishes does not look whether its row is still there."""
    again = "INSERT OR REPLACE INTO index_file VALUES (?3, ?4, {}, 1, '', 'test', ?1, ?2)"

    async def erase_and_learn(store: SQLiteStore) -> None:
        await LOSSES["messages"](store)
        (place,) = await store.places([ADA])
        finish = {**WRITES, "finish_index_file": again.format(place.epoch)}
        monkeypatch.setattr(index_files, "WRITES", finish)

    assert await outcome_of_racing(store, path, erase_and_learn)


async def test_words_that_come_while_a_file_is_written_do_no_harm(
    store: SQLiteStore, path: Path
) -> None:
    """The file reaches to where it was begun."""

    async def append(store: SQLiteStore) -> None:
        await store.append(ADA, "talk", [said("m9")])

    assert ["a file is told of", "a row", "a file"] == await outcome_of_racing(store, path, append)


async def test_a_file_that_cannot_be_deleted_keeps_its_receipt_unclean(
    store: SQLiteStore,
    path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The erase is done, no search finds the file, and cleaning says what it cannot do."""
    await kept(store, ADA)

    plain = Path.unlink

    def refuse(file: Path, *, missing_ok: bool = False) -> None:
        if file.is_relative_to(folder_beside(path)):
            raise PermissionError
        plain(file, missing_ok=missing_ok)

    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(Path, "unlink", refuse)
        receipt = await store.erase(ADA, EraseThread(thread="talk"))
        assert [] == await found(store, ADA)
        with pytest.raises(StoreError, match="cannot be deleted"):
            await store.clean()
        assert [receipt] == await store.receipts(unclean=True)
    assert "could not be deleted" in caplog.text

    await store.clean()
    assert (0, []) == (on_disk(path), await store.receipts(unclean=True))


async def left_of_a_folder_put_back(path: Path, *, erased: bool) -> list[str]:
    """Copy the folder, erase, put it back with its row, open anew; return what is found."""
    async with SQLiteStore(path) as store:
        await store.append(ADA, "talk", [said("m1"), said("m2")])
        file = await kept(store, ADA)
        assert file is not None
        if erased:
            await store.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))
    if erased:
        Path(file.path).parent.mkdir(parents=True)
        Path(file.path).write_bytes(CANARY)
        row = file.row
        values = (row.scope_id, row.name, row.epoch, row.seq, "", "test", 16, row.digest)
        with apsw.Connection(str(path)) as connection:
            connection.execute("INSERT INTO index_file VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    async with SQLiteStore(path) as store:
        return [*(["a row"] if await found(store, ADA) else []), *["a file"] * on_disk(path)]


async def test_a_file_of_an_older_epoch_is_not_found_and_is_deleted(path: Path) -> None:
    """Whoever puts folder and row back brings no erased word back."""
    assert ["a row", "a file"] == await left_of_a_folder_put_back(path, erased=False)
    path.unlink()
    assert [] == await left_of_a_folder_put_back(path, erased=True)


async def test_an_older_epoch_that_counts_would_be_noticed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: neither the search nor the opening compares the epoch."""
    monkeypatch.setattr(
        IndexFiles,
        "find",
        lambda _, rows, name: [
            IndexFile(path="", row=row) for row in rows.index_files(rows.scope(name).id)
        ],
    )
    monkeypatch.setattr(IndexFiles, "try_sweep", lambda _: None)

    assert ["a row", "a file"] == await left_of_a_folder_put_back(path, erased=True)


async def test_opening_deletes_what_a_crash_left(store: SQLiteStore, path: Path) -> None:
    """Neither a file that was being written nor one of no scope stays."""
    file = await kept(store, ADA)
    assert file is not None
    Path(file.path).with_name("ab12" * 8).write_bytes(CANARY)
    stray = folder_beside(path) / "999"
    stray.mkdir()
    (stray / ("cd34" * 8)).write_bytes(CANARY)

    async with SQLiteStore(path) as second:
        assert ([file], 1) == (await found(second, ADA), on_disk(path))
    assert not stray.exists()


async def test_what_is_not_ours_is_left_alone(path: Path) -> None:
    """Somebody may have a folder of that name, or a file, and cleaning goes on."""
    others = folder_beside(path) / "999" / "letter.txt", folder_beside(path) / "a" / ("ab12" * 8)
    for each in others:
        each.parent.mkdir(parents=True)
        each.write_bytes(b"mine")

    async with SQLiteStore(path) as store:
        await store.append(ADA, "talk", [said("m1")])
        await store.erase(ADA, EraseScope())
        assert len(await store.clean()) == 1

    assert [True, True] == [each.exists() for each in others]


async def test_a_file_in_the_place_of_the_folder_keeps_nobody_from_cleaning(path: Path) -> None:
    """Then there are no index files."""
    folder_beside(path).write_bytes(b"mine")
    async with SQLiteStore(path) as store:
        await store.append(ADA, "talk", [said("m1")])
        await store.erase(ADA, EraseScope())
        assert len(await store.clean()) == 1
    assert b"mine" == folder_beside(path).read_bytes()


async def test_a_store_that_keeps_no_files_deletes_them_all_the_same(path: Path) -> None:
    """Another program may have written them."""
    async with SQLiteStore(path) as store, SQLiteStore(path, index_files=False) as without:
        await store.append(ADA, "talk", [said("m1"), said("m2")])
        await kept(store, ADA)

        assert (True, False) == (store.keeps_index_files, without.keeps_index_files)
        assert [] == await found(without, ADA)
        assert await kept(without, ADA) is None
        await without.erase(ADA, EraseMessages(thread="talk", messages=["m1"]))
        assert ([], 0) == (await found(store, ADA), on_disk(path))


async def test_a_folder_that_cannot_be_written_costs_the_file_alone(
    store: SQLiteStore, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One line says so, and the store goes on."""
    folder_beside(path).write_bytes(b"no folder")

    with caplog.at_level(logging.WARNING):
        assert await kept(store, ADA) is None

    assert 1 == caplog.text.count("no index file was written")
    await store.append(ADA, "talk", [said("m9")])


async def left_by_a_full_disk(store: SQLiteStore, path: Path) -> int:
    """Return how many files are left of one that the disk had no room for."""

    def write(file: BinaryIO) -> bytes:
        file.write(CANARY)
        file.flush()
        raise OSError(28, "No space left on device")

    draft = await draft_of(store, ADA, write)
    assert await to_thread.run_sync(store.keep_index_file, draft) is None
    assert [] == await found(store, ADA)
    return on_disk(path)


async def test_a_disk_that_fills_while_a_file_is_written_costs_the_file_alone(
    store: SQLiteStore, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What was written is deleted, and the row of it."""
    with caplog.at_level(logging.WARNING):
        assert 0 == await left_by_a_full_disk(store, path)

    assert 1 == caplog.text.count("no index file was written")
    await store.append(ADA, "talk", [said("m9")])


async def test_what_a_full_disk_leaves_would_be_noticed(
    store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant keeps what it began to write."""
    monkeypatch.setattr(IndexFiles, "_discard_unfinished", lambda *_: None)

    assert 1 == await left_by_a_full_disk(store, path)


async def test_a_disk_without_room_to_spare_gets_no_file(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The room that is left belongs to what users write."""
    monkeypatch.setattr(index_files, "SPARE_BYTES", 1 << 62)

    with caplog.at_level(logging.WARNING):
        assert await kept(store, ADA) is None

    assert "no index file was written" in caplog.text


async def test_a_cursor_of_no_scope_gets_no_file(store: SQLiteStore) -> None:
    """There is nothing to hold."""
    draft = await draft_of(store, ("nobody",))

    assert await to_thread.run_sync(store.keep_index_file, draft) is None
    assert Cursor(scope=("nobody",), seq=0, epoch=0) == draft.cursor
