"""
Detection of changed bytes in a file, and of a foreign log.

The tests that compare every read of the API with the truth are in `test_every_read`. Here the file
layer is the one that plays power losses, which compares checksums of pages as SQLite's does; a
changed page gets the right checksum where a test is about the checksums of rows.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.durability import DAMAGED, NAMES, Known, chance, judge, put_down
from benchmarks.fault_counts import FaultOutcome
from recollect.errors import StoreError
from recollect.records import PutMemory, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.sqlite import checksums, rows
from recollect.stores.sqlite.checksums import Stored
from recollect.stores.sqlite.page_checksums import with_checksum
from recollect.stores.sqlite.store import SQLiteStore
from recollect.testing import FrozenClock, SeededIds
from tests.harness.invariants import FaultClient, contents, violations
from tests.harness.power_loss import PowerLossDisk

PAGE_BYTES = 4_096

MORE_TURNS = range(20, 28)
flips = pytest.mark.parametrize("times", [60, pytest.param(1_000, marks=pytest.mark.prove)])
SCOPES: tuple[Scope, ...] = tuple(("clients", name) for name in NAMES)


async def everything(path: Path) -> str:
    """Return everything that a store says, of all scopes."""
    with PowerLossDisk() as disk:
        async with disk.open(path, clock=FrozenClock(), ids=SeededIds(1)) as store:
            said = [
                (await store.archive(scope), repr(await store.changes(Cursor(scope=scope))))
                for scope in SCOPES
            ]
            listed = (await store.scopes()).rows
    return json.dumps([said, listed])


async def verdict(path: Path, expected: str) -> str:
    """Return how a store handles a damaged file."""
    try:
        said = await everything(path)
    except StoreError:
        return "refused"
    except DAMAGED as error:
        return f"escaped: {type(error).__name__}"
    if said == expected:
        return "right"
    with PowerLossDisk() as disk:
        return "found by a check" if violations(path, vfs=disk.vfs) else "never found"


def bytes_of(path: Path) -> bytes:
    """Return the content of a file."""
    return path.read_bytes()


def flipped(content: bytes, times: int, seed: int) -> Iterator[bytes]:
    """Yield *content* with one byte changed, *times*."""
    random = chance(seed)
    for _ in range(times):
        at, other = random.randrange(len(content)), random.randrange(1, 256)
        yield content[:at] + bytes([content[at] ^ other]) + content[at + 1 :]


def summed(content: bytes) -> bytes:
    """Return the pages of a file, each with the right checksum whatever is in it."""
    places = range(0, len(content), PAGE_BYTES)
    return b"".join(with_checksum(content[at : at + PAGE_BYTES]) for at in places)


async def flip(path: Path, times: int) -> Counter[str]:
    """
    Change one byte of a closed store's file, *times* times; count the outcomes.

    Checksums of pages are made right again: rows have to notice for themselves.
    """
    expected, found = await everything(path), Counter[str]()
    for damaged in map(summed, flipped(bytes_of(path), times, seed=1)):
        there = put_down({path.name: damaged}, path.parent / "left")
        found[await verdict(there, expected)] += 1
    return found


def versions_in(said: str) -> set[str]:
    """Return the messages, and the versions of memories, in what a store said."""
    records = [record for archived, _ in json.loads(said)[0] for record in archived]
    found = [record for record in records if record["kind"] != "thread"]
    past = [revision for record in found for revision in record.pop("revisions", ())]
    return {json.dumps(each) for each in [*found, *past]}


async def content_read_wrongly(path: Path, times: int) -> int:
    """Change one byte of a closed store's file, *times* times; count wrong reads."""
    written, wrong = versions_in(await everything(path)), 0
    for damaged in map(summed, flipped(bytes_of(path), times, seed=1)):
        there = put_down({path.name: damaged}, path.parent / "left")
        try:
            wrong += not versions_in(await everything(there)) <= written
        except StoreError:
            continue
    return wrong


@flips
async def test_no_changed_byte_is_read_as_content(times: int, filled: Path) -> None:
    """A message, or a version of a memory, comes back as it was written or not at all."""
    assert 0 == await content_read_wrongly(filled, times)


async def test_without_checksums_changed_bytes_are_read_as_content(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above notices if nobody looks at the checksums."""
    for name in ("_CHECKED_MESSAGE", "CHECKED_MEMORY", "_CHECKED_REVISION"):
        monkeypatch.setattr(checksums, name, lambda stored: stored[:-1])

    assert 3 < await content_read_wrongly(filled, 60)


@flips
async def test_damage_is_reported_as_damage(times: int, filled: Path) -> None:
    """Whatever reading a damaged file raises is a `StoreError`."""
    found = await flip(filled, times)

    assert [] == [what for what in found if what.startswith("escaped")], found


@flips
async def test_a_check_finds_what_reading_does_not(times: int, filled: Path) -> None:
    """Where reading misses a changed byte (in an index, a count), a check of the file finds it."""
    found = await flip(filled, times)

    assert times == found.total()
    assert found["right"] > times / 4
    assert found["never found"] <= times / 200


def without_its_sum(stored: Stored) -> Stored:
    """Drop the checksum of a row without verifying it."""
    return stored[:-1]


async def put_elsewhere(path: Path) -> Path:
    """Return a file whose only memory says another city than was put, by a byte that changed."""
    async with SQLiteStore(path) as store:
        await store.apply(SCOPES[0], [PutMemory(type="Fact", key="home", value={"city": "Oslo"})])
    path.write_bytes(summed(bytes_of(path).replace(b'"Oslo"', b'"Osla"')))
    return path


async def test_a_filter_passes_over_no_damaged_row(tmp_path: Path) -> None:
    """A changed value that no longer satisfies a filter is damage, and no absence."""
    path = await put_elsewhere(tmp_path / "store.db")
    async with SQLiteStore(path) as store:
        for asked in (store.newest, store.memories):
            with pytest.raises(StoreError):
                await asked(SCOPES[0], type_="Fact", filter_={"city": "Oslo"})


async def test_a_filter_that_checks_no_sums_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: it finds nothing, and says so."""
    path = await put_elsewhere(tmp_path / "store.db")
    for module in (checksums, rows):
        monkeypatch.setattr(module, "CHECKED_MEMORY", without_its_sum)
    async with SQLiteStore(path) as store:
        assert [] == await store.newest(SCOPES[0], "Fact", filter_={"city": "Oslo"})


@pytest.fixture
async def logged(filled: Path) -> tuple[dict[str, bytes], Known]:
    """Return file and log of a store at work, and every state that its scopes were in."""
    lock, known = asyncio.Lock(), {}
    with PowerLossDisk() as disk:
        async with disk.open(filled, clock=FrozenClock(), ids=SeededIds(2)) as store:
            for name in NAMES:
                client = FaultClient(name, forming=lock)
                states = [contents(filled, client.scope, vfs=disk.vfs)]
                for turn in MORE_TURNS:
                    taken = client.take(store, turn)
                    states += [contents(filled, client.scope, vfs=disk.vfs) async for _ in taken]
                known[client.scope] = list(enumerate(states))
            files = disk.survivors("everything", chance(1))
    return files, known


def log_of(files: dict[str, bytes]) -> str:
    """Return the name of the log among *files*."""
    return next(name for name in files if name.endswith("-wal"))


async def states_left(files: dict[str, bytes], known: Known, folder: Path) -> FaultOutcome:
    """Open *files*; count the scopes that are in no state that they ever were in."""
    outcome = FaultOutcome()
    with PowerLossDisk() as disk:
        await judge(disk, put_down(files, folder), known, 0, outcome)
    return outcome


@pytest.mark.parametrize("times", [40, pytest.param(200, marks=pytest.mark.prove)])
async def test_a_log_cut_short_leaves_an_earlier_state(
    times: int, logged: tuple[dict[str, bytes], Known], tmp_path: Path
) -> None:
    """Wherever the log ends, every scope is as it was after some call, none is half done."""
    files, known = logged
    name, random = log_of(files), chance(1)
    for length in [0, 1, 31, 32, 33, *(random.randrange(len(files[name])) for _ in range(times))]:
        cut = {**files, name: files[name][:length]}

        outcome = await states_left(cut, known, tmp_path / "left")

        assert [] == outcome.reasons, f"a log of {length} bytes"


@pytest.mark.parametrize("times", [40, pytest.param(200, marks=pytest.mark.prove)])
async def test_a_changed_byte_in_the_log_leaves_an_earlier_state(
    times: int, logged: tuple[dict[str, bytes], Known], tmp_path: Path
) -> None:
    """Frames of the log have checksums: from the changed one on they do not count."""
    files, known = logged
    name = log_of(files)
    for damaged in flipped(files[name], times, seed=2):
        outcome = await states_left({**files, name: damaged}, known, tmp_path / "left")

        assert [] == outcome.reasons


@pytest.mark.parametrize("index", [None, b"", b"\xff" * 32_768, b"\0" * 32_768])
async def test_the_index_of_the_log_is_made_anew(
    index: bytes | None, logged: tuple[dict[str, bytes], Known], tmp_path: Path
) -> None:
    """Whether there is none beside the file, or a stale one, the last state is there."""
    files, known = logged
    last = {scope: [(0, state)] for scope, (*_, (_, state)) in known.items()}
    beside = {} if index is None else {"store.db-shm": index}
    path, outcome = put_down({**files, **beside}, tmp_path / "left"), FaultOutcome()

    with PowerLossDisk() as disk:
        await judge(disk, path, last, 0, outcome)

    assert [] == outcome.reasons


async def test_the_log_of_another_store_is_refused(filled: Path, tmp_path: Path) -> None:
    """A file beside which another store's log was put gives right answers, or none."""
    expected, content, found = await everything(filled), bytes_of(filled), Counter[str]()
    (tmp_path / "other").mkdir()
    with PowerLossDisk() as disk:
        async with disk.open(tmp_path / "other" / "store.db", ids=SeededIds(3)) as store:
            client = FaultClient("ada", forming=asyncio.Lock())
            for turn in range(9):
                async for _ in client.take(store, turn):
                    log = log_of(files := disk.survivors("everything", chance(1)))
                    mixed = {filled.name: content, f"{filled.name}-wal": files[log]}
                    path = put_down(mixed, tmp_path / "left")
                    found[await verdict(path, expected)] += 1

    assert found.total() == found["right"] + found["refused"], found
