"""How quick the SQLite store is, beside a control of the same run; meant for a quiet machine."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import apsw
import pytest

from recollect.records import NewMessage, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.plans.due_times import Debounce
from recollect.stores.rows import ScopeRow, ThreadRow
from recollect.stores.sqlite.connections import SqliteLocation, connect
from recollect.stores.sqlite.effects import write_effect
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.store import SQLiteStore
from recollect.stores.unit_of_work import Effect

pytestmark = pytest.mark.prove

TWENTY_WORDS = (
    "yesterday we walked along the river with the children and later Anna cooked "
    "a soup of pumpkin for all of us"
)
EMBEDDER = "figures/1"
VECTOR_BYTES = 388
APPENDS_A_SECOND_MIN = 3_000
ALONE_EXTRA_MS_MAX = 1.0
FEED_MS_MAX = {600: 10, 10_000: 100}
DUE_MS_MAX = 5
NOW = 1_000_000_000


def location(file: Path) -> SqliteLocation:
    """Return where *file* is, as the store has it."""
    return SqliteLocation(path=str(file), vfs=None, durability="full", lock_wait_s=30.0)


def bare_commits_a_second(file: Path, count: int) -> float:
    """Return how many commits of one row a bare connection makes in a second."""
    connection = apsw.Connection(str(file), vfs=checksum_layer())
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "FULL")
    connection.execute("CREATE TABLE said (text)")
    start = time.perf_counter()
    for _ in range(count):
        connection.execute("INSERT INTO said VALUES (?)", (TWENTY_WORDS,))
    return count / (time.perf_counter() - start)


async def appends_a_second(file: Path, callers: int, count: int) -> float:
    """Return how many appends are acknowledged in a second, to *callers* that each wait for it."""

    async def call(store: SQLiteStore, number: int) -> None:
        message = NewMessage(role="user", text=f"{TWENTY_WORDS} {number}")
        for _ in range(count // callers):
            await store.append(("users", str(number)), "talk", [message])

    async with SQLiteStore(file) as store:
        await call(store, 0)
        start = time.perf_counter()
        await asyncio.gather(*(call(store, number) for number in range(callers)))
        return count / (time.perf_counter() - start)


def shortest_ms(act: Callable[[], object], times: int = 7) -> float:
    """Return how long *act* takes when nothing disturbs it."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        durations.append(time.perf_counter() - start)
    return 1_000 * min(durations)


async def test_many_callers_are_served_quickly(tmp_path: Path) -> None:
    """64 callers get 3,000 appends a second; one alone waits hardly longer than the disk takes."""
    bare = bare_commits_a_second(tmp_path / "bare.db", 1_000)
    alone = await appends_a_second(tmp_path / "alone.db", 1, 1_000)
    together = await appends_a_second(tmp_path / "together.db", 64, 12_800)

    figures = f"bare {bare:.0f}/s, 1 caller {alone:.0f}/s, 64 callers {together:.0f}/s"
    assert together >= APPENDS_A_SECOND_MIN, figures
    assert 1_000 / alone <= 1_000 / bare + ALONE_EXTRA_MS_MAX, figures


async def fill(store: SQLiteStore, scope: Scope, entries: int) -> None:
    """Append *entries* messages to a scope, and keep a vector of each."""
    random = Random(1)  # noqa: S311 (a test is repeatable)
    for begin in range(0, entries, 200):
        some = range(begin, min(entries, begin + 200))
        said = [NewMessage(role="user", text=f"{TWENTY_WORDS} {number}") for number in some]
        await store.append(scope, f"talk {begin // 1_000}", said)
    scope_id = await store.scope_id(scope)
    assert scope_id is not None
    while batch := await store.unembedded(scope_id, EMBEDDER):
        vectors = [(uid, hash_, random.randbytes(VECTOR_BYTES)) for uid, hash_, _ in batch.entries]
        await store.keep_vectors(batch, EMBEDDER, vectors)


@pytest.mark.parametrize("entries", FEED_MS_MAX)
async def test_a_feed_is_read_quickly(entries: int, tmp_path: Path) -> None:
    """A whole feed with its vectors comes in time, whether the scope is alone or one of 1,000."""
    took_ms = {}
    for others in (0, 1_000):
        file = tmp_path / f"{others}.db"
        async with SQLiteStore(file, durability="relaxed") as store:
            for number in range(others):
                message = NewMessage(role="user", text=f"{TWENTY_WORDS} {number}")
                await store.append(("others", str(number)), "talk", [message] * 10)
            await fill(store, ("users", "ada"), entries)
            cursor = Cursor(scope=("users", "ada"))
            feed = await store.changes(cursor, embedder=EMBEDDER)
            assert entries == sum(entry.vector is not None for entry in feed.entries)
        rows = SQLiteRows(connect(location(file), for_reading=True))
        scope = rows.scope(("users", "ada"))
        assert scope is not None
        took_ms[others] = shortest_ms(lambda: rows.changed(scope.id, 0, EMBEDDER))  # noqa: B023

    figures = f"{entries} entries: {took_ms[1_000]:.1f} ms; alone {took_ms[0]:.1f} ms"
    assert took_ms[1_000] <= FEED_MS_MAX[entries], figures
    assert took_ms[1_000] <= 1.5 * took_ms[0] + 1, figures


async def test_who_is_due_is_known_quickly(tmp_path: Path) -> None:
    """Among 10,000 due threads, as many that wait and 5,000 leased scopes, the next is found."""
    file = tmp_path / "memory.db"
    await SQLiteStore(file).aclose()
    connection = connect(location(file))
    kinds = {  # how many scopes, due since, not before, leased until
        "leased": (5_000, 3, None, NOW + 1),
        "backing off": (5_000, 2, NOW + 1, None),
        "due": (10_000, 1, None, None),
        "not due": (10_000, -1, None, None),
    }
    scopes: list[ScopeRow] = []
    threads: list[ThreadRow] = []
    for kind, (count, since, not_before, lease_until) in kinds.items():
        for each in range(count):
            number = len(scopes) + 1
            scopes.append(
                ScopeRow(
                    id=number,
                    segments=(kind, str(each)),
                    created_at=0,
                    epoch=number,
                    lease_owner="worker" if lease_until else None,
                    lease_until=lease_until,
                )
            )
            threads.append(
                ThreadRow(
                    scope_id=number,
                    number=number,
                    id="talk",
                    created_at=0,
                    last=1,
                    count=1,
                    due=NOW - since,
                    not_before=not_before,
                )
            )
    with connection:
        write_effect(connection, Effect(scopes=scopes, threads=threads))
    rows = SQLiteRows(connection)

    one = shortest_ms(lambda: rows.due_threads(NOW, 1))
    hundred = shortest_ms(lambda: rows.due_threads(NOW, 100))

    assert [("due", "0")] == [scope.segments for scope, _ in rows.due_threads(NOW, 1)]
    assert max(one, hundred) <= DUE_MS_MAX, f"one {one:.2f} ms, a hundred {hundred:.2f} ms"


async def test_claims_do_not_slow_down_with_the_backlog(tmp_path: Path) -> None:
    """A claim among 2,000 due scopes takes no longer than three times one among a few."""
    took_ms = {}
    for scopes in (5, 2_000):
        file = tmp_path / f"{scopes}.db"
        async with SQLiteStore(file, durability="relaxed") as store:
            message = NewMessage(role="user", text=TWENTY_WORDS)
            soon = Debounce(quiet_s=0, max_wait_s=0)
            for number in range(scopes):
                await store.append(("users", str(number)), "talk", [message], debounce=soon)
            start = time.perf_counter()
            for _ in range(5):
                assert await store.claim("worker") is not None
            took_ms[scopes] = 200 * (time.perf_counter() - start)

    assert took_ms[2_000] <= 3 * took_ms[5], took_ms
