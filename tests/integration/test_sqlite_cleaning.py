"""What is erased is gone from every byte of the files of a SQLite store, and nothing else is."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import apsw
import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import DeleteMemory, Evidence, NewMessage, PutMemory, Scope
from recollect.stores.plans.erase_targets import EraseMemory, EraseMessages, EraseScope, EraseThread
from recollect.stores.sqlite import store as store_module
from recollect.stores.sqlite import vacuum as cleaning
from recollect.stores.sqlite.connections import SqliteLocation, connect
from recollect.stores.sqlite.free_pages import free_pages, gap_of
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.sqlite.store import SQLiteStore
from recollect.testing import FrozenClock, SeededIds

SOURCE = Path(__file__).parents[2] / "src"
ADA = ("users", "ada")
CANARY = re.compile(rb"canary[0-9a-f]{12}")
SEEDS = range(3)

# Long ones overflow their page, short ones share one that is split again and again.
SIZES = (0, 0, 20, 50, 300, 2_000, 9_000, 40_000)


@dataclass
class History:
    """A random history of one store: what lives, and what was erased."""

    store: SQLiteStore
    random: Random
    live: dict[tuple[object, ...], list[str]] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)

    def canary(self) -> str:
        """Return a word that stands nowhere else."""
        return f"canary{self.random.getrandbits(48):012x}"

    def long(self, canary: str) -> str:
        """Return a text of some length with *canary* in its middle."""
        half = "x" * (self.random.choice(SIZES) // 2)
        return f"{half}{canary}{half}"

    async def take_a_step(self) -> None:
        """Do something to one of a few threads or memories."""
        scope, thread = ("a", f"u{self.random.randrange(5)}"), f"t{self.random.randrange(4)}"
        (act,) = self.random.choices(
            [self.append, self.revise, self.erase_some, self.erase_more], [55, 15, 20, 5]
        )
        await act(scope, thread)

    async def append(self, scope: Scope, thread: str) -> None:
        """Append a few messages with a canary in every field."""
        for _ in range(self.random.randint(1, 5)):
            word = self.canary()
            message = NewMessage(
                role="user",
                id=word,
                text=self.long(word),
                name=word,
                source=word,
                session=word,
                metadata={word: word},
                content=[{"text": self.long(word)}],
            )
            await self.store.append(scope, thread, [message], idempotency_key=word)
            self.live.setdefault((scope, thread), []).append(word)

    async def revise(self, scope: Scope, thread: str) -> None:
        """Write a version of a memory that rests on nothing, and one that rests on a message."""
        word, key = self.canary(), f"k{self.random.randrange(4)}"
        put = PutMemory(type="Fact", key=key, value={word: self.long(word)}, cause=word)
        await self.store.apply(scope, [put], idempotency_key=word)
        self.live.setdefault((scope, "Fact", key), []).append(word)
        for message in self.live.get((scope, thread), [])[:1]:
            said = Evidence(thread=thread, message=message, quote=self.long(message))
            address = f"of {thread}"
            resting = PutMemory(
                type="Rests", key=address, value={"said": message}, evidence={"": [said]}
            )
            await self.store.apply(scope, [resting])

    async def erase_some(self, scope: Scope, thread: str) -> None:
        """Erase half of a thread's messages, or a memory."""
        words = self.live.get((scope, thread), [])
        taken = self.random.sample(words, (len(words) + 1) // 2)
        await self.store.erase(scope, EraseMessages(thread=thread, messages=taken))
        self.erased += taken
        self.live[scope, thread] = [word for word in words if word not in taken]
        key = f"k{self.random.randrange(4)}"
        await self.store.erase(scope, EraseMemory(type="Fact", key=key))
        self.erased += self.live.pop((scope, "Fact", key), [])

    async def erase_more(self, scope: Scope, thread: str) -> None:
        """Erase a thread, or now and then everything of a scope."""
        everything = self.random.random() < 0.3
        await self.store.erase(scope, EraseScope() if everything else EraseThread(thread=thread))
        gone = [key for key in self.live if key[0] == scope and (everything or key[1] == thread)]
        for key in gone:
            self.erased += self.live.pop(key)


def canaries_in(folder: Path) -> set[str]:
    """Return all canaries that stand anywhere in the files of *folder*."""
    found: set[str] = set()
    for path in folder.iterdir():
        # By another process: closing the file here would drop the store's locks on it.
        content = subprocess.run(["cat", str(path)], capture_output=True, check=True).stdout
        found.update(match.decode() for match in CANARY.findall(content))
    return found


async def lived(folder: Path, seed: int, prepare: Callable[[SQLiteStore], None]) -> set[str]:
    """Live a random history, clean, and return what of the erased is still in the files."""
    file = folder / "memory.db"
    ids, clock = SeededIds(seed), FrozenClock()
    async with SQLiteStore(file, ids=ids, clock=clock, durability="relaxed") as store:
        prepare(store)
        history = History(store, Random(seed))  # noqa: S311 (a test is repeatable)
        for _ in range(250):
            await history.take_a_step()
        await store.clean()
        standing = canaries_in(folder)
        living = {word for words in history.live.values() for word in words}
        assert living <= standing, "a canary that lives must be found, or the scan sees nothing"
    connection = apsw.Connection(str(file), vfs=checksum_layer())
    assert "ok" == connection.pragma("integrity_check")
    assert len(history.erased) > 100
    return standing & set(history.erased)


@pytest.mark.parametrize(
    "seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.prove) for seed in range(3, 100))]
)
async def test_no_byte_of_what_was_erased_is_left(seed: int, tmp_path: Path) -> None:
    """After `clean` no file holds a word of what was erased, whatever its history."""
    assert set() == await lived(tmp_path, seed, lambda _: None)


def without_zeroing(store: SQLiteStore) -> None:
    """Let SQLite leave deleted bytes where they are."""
    store._writer._connected().pragma("secure_delete", "OFF")


async def test_deleting_without_zeroing_would_be_noticed(tmp_path: Path) -> None:
    """The mutant: without ``secure_delete`` deleted rows still stand in their pages."""
    assert set() != await lived(tmp_path, SEEDS[0], without_zeroing)


async def test_leaving_the_log_would_be_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: without cleaning, old pages stand in the log."""
    monkeypatch.setattr(store_module, "remove_deleted_bytes", lambda _: None)

    assert set() != await lived(tmp_path, SEEDS[0], lambda _: None)


async def moved_about(store: SQLiteStore) -> set[str]:
    """Fill pages with memories in random order, and delete half of them; return which."""
    random = Random(1)  # noqa: S311 (a test is repeatable)
    words = [f"canary{random.getrandbits(48):012x}" for _ in range(2_000)]
    values = [{"text": "x" * random.randrange(300)} for _ in words]
    facts = [PutMemory(type="Fact", key=word, value=values[at]) for at, word in enumerate(words)]
    for at in range(0, len(facts), 500):
        await store.apply(ADA, facts[at : at + 500])
    gone = random.sample(words, 1_000)
    for at in range(0, len(gone), 500):
        await store.apply(ADA, [DeleteMemory(type="Fact", key=key) for key in gone[at : at + 500]])
    return set(gone)


async def test_no_byte_is_left_where_rows_were_moved_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that were moved between pages leave nothing; the mutant only cuts the log."""
    async with SQLiteStore(tmp_path / "memory.db", durability="relaxed") as store:
        gone = await moved_about(store)

        with monkeypatch.context() as mutant:
            mutant.setattr(cleaning, "_zero_pages", lambda *_: None)
            await store._clean()
        before = canaries_in(tmp_path) & gone
        await store._clean()
        after = canaries_in(tmp_path)

    assert set() != before
    assert 1_000 == len(after)
    assert after.isdisjoint(gone)


async def test_free_pages_of_a_hasty_erase_are_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an erase on a full disk leaves in free pages, cleaning zeroes there."""

    def sparing(store: SQLiteStore) -> None:
        store._writer._connected().pragma("secure_delete", "FAST")

    assert set() == await lived(tmp_path, SEEDS[1], sparing)

    monkeypatch.setattr(cleaning, "free_pages", lambda _: frozenset())
    left = set[str]()
    for seed in range(1, 7):  # which pages are used again depends on when the log was cut
        mutant = tmp_path / f"mutant {seed}"
        mutant.mkdir()
        left |= await lived(mutant, seed, sparing)
        if left:
            break
    assert set() != left


class LateCutter:
    """A connection that cuts the log, and that lets another one write first."""

    def __init__(self, own: apsw.Connection, other: apsw.Connection) -> None:
        self._own, self._other = own, other
        self.is_late = False

    def wal_checkpoint(self, *, mode: int) -> tuple[int, int]:
        """Rewrite every page of memories, then cut the log as asked."""
        if self.is_late:
            self._other.execute("UPDATE memory SET updated_at = updated_at + 1")
        return self._own.wal_checkpoint(mode=mode)

    def close(self) -> None:
        """Close the connection."""
        self._own.close()


@pytest.mark.parametrize("sign", [cleaning._SIGN_OF_LIFE, "SELECT 1"], ids=["kept", "mutant"])
async def test_nothing_comes_back_from_a_cache(
    sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    A connection that read pages just before they were cleaned does not write them back.

    The mutant does without the commit that makes every other connection read them again.
    """
    zero_pages = cleaning._zero_pages
    async with SQLiteStore(tmp_path / "memory.db", durability="relaxed") as store:
        gone = await moved_about(store)
        other = connect(store._location)
        cutter = LateCutter(connect(store._location), other)
        connections = iter([connect(store._location), cutter])

        def zero_after_a_look(location: SqliteLocation, first: int, end: int) -> None:
            assert "ok" == other.pragma("integrity_check")
            zero_pages(location, first, end)
            cutter.is_late = True

        monkeypatch.setattr(cleaning, "_SIGN_OF_LIFE", sign)
        monkeypatch.setattr(cleaning, "connect", lambda _: next(connections))
        monkeypatch.setattr(cleaning, "_zero_pages", zero_after_a_look)
        await store._clean()
        back = canaries_in(tmp_path) & gone
        other.close()

    assert (sign == "SELECT 1") == bool(back), back


async def test_a_reader_elsewhere_defers_the_cleaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another connection reads, what was erased is not said to be clean; later it is."""
    monkeypatch.setattr(cleaning, "CLEAN_WAIT_S", 0.05)
    file = tmp_path / "memory.db"
    async with SQLiteStore(file) as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="canary000000000001")])
        reader = apsw.Connection(str(file), vfs=checksum_layer())
        reader.execute("BEGIN; SELECT count(*) FROM message")
        await store.erase(ADA, EraseScope())

        with pytest.raises(StoreUnavailableError):
            await store.clean()
        unclean = await store.receipts(unclean=True)
        reader.close()
        cleaned = await store.clean()

        assert [each.id for each in unclean] == [each.id for each in cleaned]
        assert set() == canaries_in(tmp_path)


# Writes, reads and erases in its own scope while others do, and says so if anything is amiss.
BUSY = """
import asyncio, sys
from recollect.records import NewMessage
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.sqlite.store import SQLiteStore

file, name, rounds = sys.argv[1:]

async def act():
    scope = ("users", name)
    async with SQLiteStore(file, durability="relaxed") as store:
        for number in range(int(rounds)):
            said = [
                NewMessage(role="user", id=f"{number}-{each}", text=f"{name} " * (7 * each + 1))
                for each in range(12)
            ]
            await store.append(scope, "talk", said)
            gone = [f"{number}-{each}" for each in range(0, 12, 2)]
            await store.erase(scope, EraseMessages(thread="talk", messages=gone))
            found = [each.id for each in (await store.messages(scope, "talk", limit=1000)).rows]
            wanted = [f"{n}-{each}" for n in range(number + 1) for each in range(1, 12, 2)]
            assert found == wanted, (found, wanted)

asyncio.run(act())
"""


@pytest.mark.parametrize(
    "rounds", [20, pytest.param(150, marks=pytest.mark.prove)], ids=["few", "many"]
)
async def test_cleaning_disturbs_nobody(rounds: int, tmp_path: Path) -> None:
    """While other processes write, read and erase, cleaning leaves every live row as it is."""
    file = tmp_path / "memory.db"
    store = SQLiteStore(file, durability="relaxed")
    busy = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", BUSY, str(file), f"name{number}", str(rounds)),
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stderr=subprocess.PIPE,
        )
        for number in range(3)
    ]
    ending = asyncio.gather(*(each.communicate() for each in busy))

    cleanings = 0
    while not ending.done():
        await store._clean()
        cleanings += 1
    errors = [error.decode() for _, error in await ending]
    await store.aclose()

    assert [""] * 3 == errors
    assert cleanings > 1
    connection = apsw.Connection(str(file), vfs=checksum_layer())
    assert "ok" == connection.pragma("integrity_check")


def test_cleaning_in_pieces_reaches_every_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many pieces a file is cleaned in, no gap of it keeps anything."""
    monkeypatch.setattr(cleaning, "_CHUNK_PAGES", 7)
    monkeypatch.setattr(cleaning, "_READ_PAGES", 3)

    assert set() == asyncio.run(lived(tmp_path, SEEDS[2], lambda _: None))


def test_a_gap_lies_between_pointers_and_cells(tmp_path: Path) -> None:
    """For every page of a real file the gap is what SQLite's own count says is unallocated."""
    file = tmp_path / "memory.db"
    asyncio.run(lived(tmp_path, SEEDS[0], lambda _: None))
    connection = apsw.Connection(str(file), vfs=checksum_layer())
    unused = "SELECT pageno, pagetype, unused FROM dbstat"
    counted = {row[0] - 1: row[1:] for row in connection.execute(unused)}
    pages = [file.read_bytes()[at : at + 4_096] for at in range(0, file.stat().st_size, 4_096)]

    gaps = {number: len(gap_of(page, number)) for number, page in enumerate(pages)}
    free = free_pages(pages.__getitem__)

    assert all(gaps[number] <= counted[number][1] for number in counted)
    assert all(gaps[number] == 0 for number, (kind, _) in counted.items() if kind == "overflow")
    assert set(counted).isdisjoint(free)
    assert connection.pragma("freelist_count") == len(pages) - len(counted)
    assert free <= set(range(len(pages))) - set(counted)
