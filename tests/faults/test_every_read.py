"""
Every read of the whole API over a damaged file: the right answer, or an error of ours.

Each read is compared with the truth, the answer of the undamaged file. `recollect doctor` has to
find what changed, whether or not a read met it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from shutil import copyfile
from typing import Any

import apsw
import pytest

import recollect
from benchmarks.changed_bytes import (
    PAGE_BYTES,
    DamageTally,
    Uncompared,
    WholeFile,
    flipped,
    read,
    whole_file,
)
from benchmarks.durability import chance
from benchmarks.every_read import ESCAPED, REFUSED, wrong
from recollect import (
    NewMessage,
    PutMemory,
    Recollect,
    StoreCorruptError,
)
from recollect.formation.rule_model import RuleModel
from recollect.records import Scope
from recollect.stores.locator import examine_file
from recollect.stores.plans import changes as feed
from recollect.stores.plans import positions
from recollect.stores.sqlite import connections as connect
from recollect.stores.sqlite import rows
from recollect.stores.sqlite.page_checksums import RESERVED_AT, checksum_layer, has_checksum
from recollect.stores.sqlite.store import SQLiteStore
from recollect.testing import FrozenClock, HashedEmbedder, SeededIds

_ROOTS = "SELECT name, min(pageno) - 1 AS page FROM dbstat GROUP BY name HAVING page > 0"
AT_ONCE = ("messages", "export", "feed", "recall", "past", "changes")
"""Reads of which the names end so compare what they read with counts."""

offsets = pytest.mark.parametrize(
    "count",
    [60, pytest.param(1_000, marks=[pytest.mark.prove, pytest.mark.timeout(3_600)])],
)
pages = pytest.mark.parametrize(
    "count",
    [30, pytest.param(150, marks=[pytest.mark.prove, pytest.mark.timeout(1_800)])],
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> WholeFile:
    """Return a file that tests must not change."""
    return asyncio.run(whole_file(tmp_path_factory.mktemp("whole") / "store.db"))


@offsets
async def test_a_changed_byte_gives_the_right_answer_or_an_error(
    count: int, whole: WholeFile, tmp_path: Path
) -> None:
    """None of the reads of the API is wrong, none raises anything else, and a check finds it."""
    tally = DamageTally()
    for what, damaged in flipped(whole, count):
        await tally.take(what, whole, damaged, tmp_path)

    assert ([], []) == (tally.wrong, tally.unfound), tally.found
    assert tally.found["refused"] > tally.found.total() / 2
    assert tally.found.total() > count * 0.9


async def test_reads_without_comparing_checksums_are_wrong(
    whole: WholeFile, tmp_path: Path
) -> None:
    """The mutant: where the file layer compares nothing, the test above notices."""
    tally = DamageTally()
    for what, damaged in flipped(whole, 30):
        await tally.take(what, whole, damaged, tmp_path, driver=Uncompared)

    assert tally.wrong
    assert [] == tally.unfound  # a check looks for itself


@pages
async def test_a_page_of_zeros_gives_the_right_answer_or_an_error(
    count: int, whole: WholeFile, tmp_path: Path
) -> None:
    """Zeros match their checksum, and are no page of a table or index, nor what a row was."""
    tally, random = DamageTally(), chance(2)
    for number in random.sample(range(1, whole.pages), min(count, whole.pages - 1)):
        damaged = whole.with_page(number, bytes(PAGE_BYTES))
        await tally.take(f"page {number}", whole, damaged, tmp_path)

    assert ([], []) == (tally.wrong, tally.missed), tally.found


def misplaced(whole: WholeFile, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the file with two pages in each other's place, or one in that of another as well."""
    random = chance(3)
    for turn in range(count):
        one, other = random.sample(range(1, whole.pages), 2)
        damaged = whole.with_page(one, whole.page(other))
        if turn % 2:
            at = other * PAGE_BYTES
            damaged = damaged[:at] + whole.page(one) + damaged[at + PAGE_BYTES :]
        yield f"pages {one} and {other}", damaged


def lost_lookups(wrong_reads: Sequence[str]) -> tuple[str, ...]:
    """Return the prefixes of reads whose scope or thread was not found by name."""
    names = [each.split(": ")[:2] for each in wrong_reads]
    return tuple(
        f"{what}: {name.removesuffix(end)} "
        for what, name in names
        for end in (" scope id", " number", " thread")
        if name.endswith(end)
    )


@pages
async def test_counts_notice_pages_in_the_wrong_place(
    count: int, whole: WholeFile, tmp_path: Path
) -> None:
    """
    Each such page matches its checksum: what lists messages compares them with the thread.

    A look-up by key cannot know that a row should be there. A check of the file finds that.
    """
    tally = DamageTally()
    for what, damaged in misplaced(whole, count):
        await tally.take(what, whole, damaged, tmp_path)

    counted = [each for each in tally.wrong if each.split(": ")[1].endswith(AT_ONCE)]
    lost = lost_lookups(tally.wrong)
    # What an export has beside messages (past versions, formations) is not counted.
    unread = [each for each in counted if "export" not in each and not each.startswith(lost)]
    assert ([], []) == (unread, tally.missed), tally.found
    assert [] == [each for each in tally.wrong if ESCAPED in each]


def roots_of(content: bytes, path: Path) -> dict[str, int]:
    """Return the first page of each table and index, from 0, by name."""
    path.write_bytes(content)
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        found: list[Any] = connection.execute(_ROOTS).fetchall()
    finally:
        connection.close()
    return dict(found)


@pytest.mark.parametrize("table", ["audit_head", "meta", "scope"])
async def test_rows_of_another_table_are_damage(
    table: str, whole: WholeFile, tmp_path: Path
) -> None:
    """Rows without a checksum: values of other kinds, or more than one, are told as damage."""
    roots = roots_of(whole.content, tmp_path / "roots.db")
    tally = DamageTally()
    for name, other in roots.items():
        if name != table:
            damaged = whole.with_page(roots[table], whole.page(other))
            await tally.take(f"{table} for {name}", whole, damaged, tmp_path)

    assert [] == tally.missed
    assert [] == [each for each in tally.wrong if ESCAPED in each]
    assert tally.found["refused"]


@pytest.mark.parametrize("length", [2, 99, 100, 4_095, 4_096, 0.1, 0.5, 0.9, 0.999])
async def test_a_file_cut_short_gives_the_right_answer_or_an_error(
    length: float, whole: WholeFile, tmp_path: Path
) -> None:
    """Wherever it ends; but for one byte or none, which is an empty file to SQLite: a new store."""
    size = int(length if length >= 1 else length * len(whole.content))
    tally = DamageTally()
    await tally.take(f"{size} bytes", whole, whole.content[:size], tmp_path)

    assert ([], []) == (tally.wrong, tally.missed), tally.found


# A log that is cut, changed or another's, and a stale index of it: see test_corruption


async def lost_message(path: Path) -> None:
    """Remove a message and its index entries from a file, as a stale page would."""
    connection = apsw.Connection(str(path), vfs=checksum_layer())
    connection.execute("DELETE FROM message WHERE id = 'talk5.1'")
    connection.close()


ADA: Scope = ("clients", "ada")


@pytest.mark.parametrize(
    "name", ["messages", "messages at once", "messages after", "last messages before", "changes"]
)
async def test_a_thread_that_lost_a_message_is_damaged(
    name: str, whole: WholeFile, tmp_path: Path
) -> None:
    """Whichever way it is listed, over the place or from the beginning."""
    path = tmp_path / "store.db"
    path.write_bytes(whole.content)
    await lost_message(path)
    _, answered = await read(path, whole.known)

    assert [] == wrong(whole.expected, {f"{ADA!r} talk {name}": answered[f"{ADA!r} talk {name}"]})
    assert REFUSED == answered[f"{ADA!r} talk messages at once"]
    assert REFUSED == answered[f"{ADA!r} export"]
    assert examine_file(path).damage


async def test_messages_without_their_counts_would_be_read(
    whole: WholeFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a count that is not compared lets a listing without a message pass."""
    path = tmp_path / "store.db"
    path.write_bytes(whole.content)
    await lost_message(path)
    monkeypatch.setattr(positions, "_check", lambda *_: None)
    _, answered = await read(path, whole.known)

    assert wrong(whole.expected, {each: answered[each] for each in [f"{ADA!r} talk messages"]})


async def removed_from(table: str, index: str, path: Path) -> None:
    """Remove a row from an index of a table, as a stale page would."""
    copy = path.with_name("copy.db")
    copyfile(path, copy)
    connection = apsw.Connection(str(copy), vfs=checksum_layer())
    row = f"SELECT min(uid) FROM {table}"  # noqa: S608 (one of two names)
    connection.execute(f"DELETE FROM {table} WHERE uid = ({row})")  # noqa: S608
    ((root,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (index,))
    connection.close()
    old, new = path.read_bytes(), copy.read_bytes()
    at = (root - 1) * PAGE_BYTES
    assert has_checksum(new[at : at + PAGE_BYTES])
    path.write_bytes(old[:at] + new[at : at + PAGE_BYTES] + old[at + PAGE_BYTES :])


async def few(path: Path) -> None:
    """Write so little that every index is one page."""
    async with SQLiteStore(path, ids=SeededIds(1), clock=FrozenClock()) as store:
        said = [NewMessage(role="user", id=f"m{n}", text=f"boat number {n}") for n in range(6)]
        await store.append(ADA, "talk", said)
        await store.apply(
            ADA,
            [PutMemory(type="Note", key=f"n{n}", value={"text": f"boat {n}"}) for n in range(6)],
        )


@pytest.mark.parametrize("table", ["message", "memory"])
async def test_an_index_that_lost_a_row_is_damaged(table: str, tmp_path: Path) -> None:
    """The feed reads by one index, and counts by another: recall finds all, or says why not."""
    path = tmp_path / "store.db"
    await few(path)
    await removed_from(table, f"{table}_seq", path)
    async with recollect.open(str(path), embedder="none", worker=False) as memory:
        with pytest.raises(StoreCorruptError, match=f"table {table} with scope_id"):
            await memory.recall(ADA, "boat")

    assert examine_file(path).damage


@pytest.mark.parametrize("table", ["message", "memory"])
async def test_an_index_whose_rows_nobody_counts_is_caught(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: without the count recall finds less, and says nothing."""
    path = tmp_path / "store.db"
    await few(path)
    await removed_from(table, f"{table}_seq", path)
    monkeypatch.setattr(rows.SQLiteRows, "_check_count", lambda *_: None)
    async with recollect.open(str(path), embedder="none", worker=False) as memory:
        found = await memory.recall(ADA, "boat", limit=50)

    assert 11 == found.searched


@pytest.mark.parametrize("mutant", ["", "unchecked"])
async def test_an_entry_that_the_feed_lists_has_to_be_there(
    mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What recall chose and cannot fetch is damage; the mutant leaves it out."""
    path = tmp_path / "store.db"
    await few(path)
    await removed_from("message", "message_uid", path)
    monkeypatch.setattr(rows.SQLiteRows, "_check_count", lambda *_: None)
    if mutant:
        monkeypatch.setattr(feed, "_check_expired", lambda *_: None)
    async with recollect.open(str(path), embedder="none", worker=False) as memory:
        if mutant:
            assert 11 == len((await memory.recall(ADA, "boat", limit=50)).entries)
        else:
            with pytest.raises(StoreCorruptError, match="that an index lists are missing"):
                await memory.recall(ADA, "boat", limit=50)


# Rows that cannot be decoded, in a file whose pages have no checksums


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a file as drivers without the extension make it."""
    monkeypatch.setattr(connect, "checksum_layer", lambda: None)
    return tmp_path / "store.db"


SAID = [NewMessage(role="user", id="m", text="I moved to Oslo in a boat")]
SPOILT: dict[str, tuple[str, Callable[[Recollect], Awaitable[object]]]] = {
    "thread": ("UPDATE thread SET settings = '{\"a'", lambda memory: memory.threads(ADA)),
    "thread again": (
        "UPDATE thread SET again = 'x', formed = last",
        lambda memory: memory.pending(ADA),
    ),
    "formation": (
        "UPDATE formation SET receipt = ''",
        lambda memory: memory.formations(ADA),
    ),
    "idempotency": (
        "UPDATE idempotency SET result = '['",
        lambda memory: memory.append(ADA, "t", SAID, idempotency_key="key"),
    ),
    "scope": ("UPDATE scope SET path = x'c32800'", lambda memory: memory.scopes()),
    "audit": ("UPDATE audit SET subject = 'x'", lambda memory: memory.audit(ADA)),
    "vector": ("UPDATE vector SET data = x'0102'", lambda memory: memory.recall(ADA, "boat")),
    "message": ("UPDATE message SET terms = x'01'", lambda memory: memory.recall(ADA, "boat")),
    "memory": ("UPDATE memory SET value = '{'", lambda memory: memory.memories(ADA)),
    "revision": (
        "UPDATE revision SET evidence = '{'",
        lambda memory: memory.history(ADA, "Note", "n"),
    ),
    "side_record": (
        "UPDATE side_record SET value = '{'",
        lambda memory: memory.state(ADA, "t"),
    ),
}
"""How a row of each table is spoilt, and what reads it."""


async def one_of_each(path: Path) -> None:
    """Write a row into each of those tables."""
    async with recollect.open(
        str(path), embedder=HashedEmbedder(64), model=RuleModel(), worker=False
    ) as memory:
        acting = memory.acting("a key")
        await acting.append(ADA, "t", SAID, idempotency_key="key")
        for content in ("one", "two"):
            await acting.put(ADA, "Note", "n", {"context": "x", "content": content})
        await acting.set_state(ADA, "t", {"city": "Oslo"})
        await memory.form(ADA)
        await memory.settled(ADA)


@pytest.mark.parametrize("what", SPOILT)
async def test_a_row_that_cannot_be_decoded_is_named(what: str, plain: Path) -> None:
    """Whatever decoding raises is an error of ours, with the table, the row and what to do."""
    await one_of_each(plain)
    assert 0 == plain.read_bytes()[RESERVED_AT]
    spoil, asking = SPOILT[what]
    connection = apsw.Connection(str(plain))
    connection.execute(spoil)
    connection.close()
    table = what.partition(" ")[0]

    async with recollect.open(str(plain), embedder=HashedEmbedder(64), worker=False) as memory:
        with pytest.raises(StoreCorruptError, match=f"restore it from a backup.*{table}"):
            await asking(memory)

    assert any(table in each for each in examine_file(plain).damage)


async def test_an_error_that_no_row_caused_stays_as_it_is(tmp_path: Path) -> None:
    """A fault of ours, or of a caller's function, is not called damage."""

    def fail(_: object) -> None:
        raise TypeError("not the file's fault")

    async with SQLiteStore(tmp_path / "store.db") as store:
        await store.append(ADA, "t", SAID)
        with pytest.raises(TypeError, match="not the file's fault"):
            await store.read(fail)
