"""The audit on a Redis server: one chain however many write, and nothing in it that was said."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import anyio
import pytest

from recollect.errors import StoreCorruptError, StoreFullError
from recollect.stores.plans import audit
from recollect.stores.plans.audit import AuditVerdict, chain_of, first_previous, hash_of
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.redis import commit as committing
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis import unit_runner as work
from recollect.stores.redis.codec import decode_audited, encode_audited
from recollect.stores.redis.optimistic_reads import Client, OptimisticReads
from recollect.stores.redis.store import RedisStore
from recollect.stores.rows import AuditRow
from recollect.stores.unit_of_work import Effect, PlannedWrite, Rows
from recollect.testing.contract_audit import FIRST, KEY, four_changes
from recollect.testing.contract_base import ADA, TALK, keep_facts, tell
from tests.harness.installed_servers import require_redis
from tests.harness.redis_server import RedisServer, open_server

DATABASE = 6
STORES = 4
WRITES = 8


@pytest.fixture
def server() -> RedisServer:
    """Return a server with an empty database."""
    found = require_redis()
    found.emptied(DATABASE)
    return found


@pytest.fixture
def client(server: RedisServer) -> Iterator[Client]:
    """Yield a client of the database."""
    with server.client(DATABASE) as found:
        yield found


@pytest.fixture
def url(server: RedisServer) -> str:
    """Return the address of the database, in which four changes were audited."""
    url = server.url(DATABASE)

    async def fill() -> None:
        async with RedisStore(url) as store:
            await four_changes(store)

    anyio.run(fill)
    return url


async def verdict_on(url: str) -> AuditVerdict:
    """Open a store and verify Ada's audit."""
    async with RedisStore(url) as store:
        return await store.verify_audit(ADA)


def chain_key(client: Client, kind: str) -> str:
    """Return the key of the one chain that there is."""
    (found,) = client.keys(f"{keys.PREFIX}audit:*:{kind}")
    return str(found.decode())


def rewritten(client: Client, place: int, **change: object) -> None:
    """Write one row anew, with some fields changed."""
    key = chain_key(client, "rows")
    row = decode_audited(client.lindex(key, place), b"")
    client.lset(key, place, encode_audited(replace(row, **change)))  # type: ignore[arg-type]


def without(client: Client, place: int) -> None:
    """Take a row away."""
    key = chain_key(client, "rows")
    client.lrem(key, 1, client.lindex(key, place))


def copied(client: Client, place: int) -> None:
    """Add a row that is there once more."""
    key = chain_key(client, "rows")
    client.rpush(key, client.lindex(key, place))


CHANGES: dict[str, Callable[[Client], object]] = {
    "an action is changed": partial(rewritten, place=1, action="x"),
    "a time is changed": partial(rewritten, place=1, at=1),
    "an actor is changed": lambda client: client.hset(chain_key(client, "actors"), "2", "eve"),
    "a row is gone": partial(without, place=1),
    "the last row is gone": partial(without, place=3),
    "all rows are gone": lambda client: client.delete(chain_key(client, "rows")),
    "the head is an earlier one": lambda client: client.set(chain_key(client, "head"), b"3\nx"),
    "the head is gone": lambda client: client.delete(chain_key(client, "head")),
    "a row is added": partial(copied, place=3),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_keys_are_noticed(url: str, client: Client, change: str) -> None:
    """Whatever is done to the keys of a chain alone, it is not whole."""
    assert anyio.run(verdict_on, url).ok

    CHANGES[change](client)

    assert not anyio.run(verdict_on, url).ok


def test_an_unreadable_head_is_damage(url: str, client: Client) -> None:
    """What is no head at all is told as what it is, with the store's name."""
    client.set(chain_key(client, "head"), b"nonsense")

    with pytest.raises(StoreCorruptError, match="is not the head of an audit chain"):
        anyio.run(verdict_on, url)


def kept(client: Client) -> bytes:
    """Return all keys of the audit with all that they hold."""
    found = list(client.scan_iter(match=f"{keys.PREFIX}audit:*"))
    read = {b"list": lambda each: client.lrange(each, 0, -1), b"hash": client.hgetall}
    return repr([(each, read.get(client.type(each), client.get)(each)) for each in found]).encode()


def test_nothing_said_is_in_the_audit_of_a_server(url: str, client: Client) -> None:
    """No key holds a word, an id that a caller chose, or the name of the scope."""
    assert url

    told = kept(client).lower()

    assert b"append" in told
    above = ADA[:-1]  # digests are hexadecimal, and may spell "ada"
    words = ("words of", "oslo", "rome", FIRST, "home", TALK, *above)
    assert [] == [word for word in words if word.encode() in told]


def test_an_erased_scope_leaves_no_actors_name_on_the_server(url: str, client: Client) -> None:
    """After the erase no key holds the name of whoever acted, and the chain is whole."""

    async def erase() -> None:
        async with RedisStore(url) as store:
            await store.erase(ADA, EraseScope())

    assert KEY.encode() in kept(client)

    anyio.run(erase)

    assert KEY.encode() not in kept(client)
    verdict = anyio.run(verdict_on, url)
    assert (True, 4) == (verdict.ok, verdict.rows)


def test_a_scope_in_which_nobody_acted_leaves_no_chain(server: RedisServer, client: Client) -> None:
    """Erasing it makes no key by which its name could be looked for."""

    async def use() -> None:
        async with RedisStore(server.url(DATABASE)) as store:
            await tell(store, "m1")
            await store.erase(ADA, EraseScope())

    anyio.run(use)

    assert [] == client.keys(f"{keys.PREFIX}audit:*")


def next_row(rows: Rows, chain: bytes) -> PlannedWrite[None]:
    """Add a row to a chain, and change no scope: nothing but the chain is compared."""
    number, previous = rows.audit_head(chain) or (0, first_previous(chain))
    row = AuditRow(
        chain=chain,
        n=number + 1,
        at=number,
        actor=None,
        actor_key=b"k",
        action="x",
        subject="{}",
        digest=b"d",
        previous=previous,
        hash=b"",
    )
    return PlannedWrite(Effect(audit=[replace(row, hash=hash_of(row))]), None)


async def chained_at_once(url: str) -> AuditVerdict:
    """Add to one chain from several stores at once."""
    async with AsyncExitStack() as exit_:
        stores = [await exit_.enter_async_context(RedisStore(url)) for _ in range(STORES)]
        plan = partial(next_row, chain=chain_of(await stores[0]._secret(), ADA))

        async def write(store: RedisStore) -> None:
            for _ in range(WRITES):
                await store._transact(plan)

        await asyncio.gather(*(write(store) for store in stores))
        return await stores[0].verify_audit(ADA)


def test_a_chain_never_forks(server: RedisServer) -> None:
    """Each row of each store follows the one before it."""
    verdict = asyncio.run(chained_at_once(server.url(DATABASE)))

    assert (True, STORES * WRITES) == (verdict.ok, verdict.rows), verdict.reason


def test_a_chain_without_versions_would_fork(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a commit that gives the chain no new version lets another one follow the same."""

    def scopes_alone(effect: Effect, reading: OptimisticReads) -> list[str]:
        found = committing.written_by(replace(effect, audit=(), unnamed=()), reading)
        return found or [keys.LISTING]

    monkeypatch.setattr(work, "written_by", scopes_alone)

    assert not asyncio.run(chained_at_once(server.url(DATABASE))).ok


async def names_after_erasing_at_once(url: str) -> list[tuple[bool, int]]:
    """Act from one store while another one erases; say of each round if what is left is whole."""
    found = []
    async with RedisStore(url) as one, RedisStore(url) as other:
        for _ in range(WRITES):
            await asyncio.gather(
                *(keep_facts(one.acting(KEY), str(each)) for each in range(4)),
                other.erase(ADA, EraseScope()),
            )
            await other.erase(ADA, EraseScope())
            rows = (await one.audit(ADA)).rows
            named = sum(each.actor is not None for each in rows)
            found.append(((await one.verify_audit(ADA)).ok, named))
    return found


def test_no_name_is_written_into_a_chain_behind_an_erase(server: RedisServer) -> None:
    """Whoever acts while the scope is erased comes before it or after it."""
    found = asyncio.run(names_after_erasing_at_once(server.url(DATABASE)))

    assert [(True, 0)] * WRITES == found


def test_a_full_server_erases_for_an_actor() -> None:
    """What is erased in somebody's name is removed and noted, though the server takes no more."""
    require_redis()

    async def erase(server: RedisServer) -> tuple[str | None, int]:
        async with RedisStore(server.url()) as store:
            acting = await four_changes(store)
            with server.client() as client:
                used = int(client.info("memory")["used_memory"])
                client.config_set("maxmemory", str(used // 2))
            with pytest.raises(StoreFullError, match="no memory left"):
                await tell(acting, "more")
            await acting.erase(ADA, EraseScope())
            rows = (await store.audit(ADA)).rows
            return rows[0].actor, len(rows)

    with open_server() as server:
        assert (None, 5) == asyncio.run(erase(server))


def test_the_hash_is_that_of_every_store() -> None:
    """What a row says does not depend on how it is kept."""
    row = AuditRow(
        chain=b"c",
        n=1,
        at=2,
        actor=KEY,
        actor_key=b"\n\0k",
        action="append",
        subject='{"messages":["1"]}',
        digest=b"\n" * 32,
        previous=b"p\n",
        hash=b"h\xff",
    )

    found = decode_audited(encode_audited(row), row.chain)

    assert replace(row, actor=None) == found
    assert audit.hash_of(row) == audit.hash_of(found)
