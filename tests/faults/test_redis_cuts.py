"""A connection that is lost at a commit loses nothing and doubles nothing on Redis."""

import asyncio
from collections.abc import Iterator

import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import NewMessage, PutMemory
from recollect.stores.redis.commit import Commit
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.scripts import DIGESTS
from recollect.stores.redis.store import RedisStore
from tests.harness.faulty_proxy import Cut, FaultyProxy
from tests.harness.installed_servers import require_redis
from tests.harness.redis_server import RedisServer, empty_store

ADA = ("users", "ada")
CUTS: tuple[Cut, ...] = ("before", "after")
DATABASE = 2


@pytest.fixture
def server() -> RedisServer:
    """Return a server with an empty store."""
    found = require_redis()
    empty_store(found.url(DATABASE))
    return found


@pytest.fixture
def proxy(server: RedisServer) -> Iterator[FaultyProxy]:
    """Yield a proxy before the server that knows a commit when it passes."""
    with FaultyProxy(server.socket, DIGESTS["commit"].encode()) as proxy:
        yield proxy


def url_through(proxy: FaultyProxy) -> str:
    """Return the address of the store behind *proxy*."""
    return f"redis://127.0.0.1:{proxy.port}/{DATABASE}?durability=relaxed"


async def write_cut(proxy: FaultyProxy, number: int) -> int:
    """Write one memory so often, each commit cut off once; return its version."""
    async with RedisStore(url_through(proxy)) as store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
        for each in range(number):
            proxy.cuts.append(CUTS[each % 2])
            await store.apply(ADA, [PutMemory(type="Fact", key="k", value={"n": each})])
        found = await store.get(ADA, "Fact", "k")
    assert found is not None
    assert not proxy.cuts
    return found.version


@pytest.mark.parametrize("number", [6, pytest.param(1_000, marks=pytest.mark.prove)])
@pytest.mark.timeout(1_800)
def test_a_lost_commit_is_settled_without_a_key(proxy: FaultyProxy, number: int) -> None:
    """Whatever was cut, each write is carried out once, and its caller hears so."""
    assert number == asyncio.run(write_cut(proxy, number))


def test_a_plan_that_is_run_again_instead_doubles(
    proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a lost answer is taken for a commit that did not happen."""
    send = Commit.send

    def forgetful(self: Commit, server: RedisConnections, late_at: float) -> str:
        object.__setattr__(self, "is_writing", False)
        return send(self, server, late_at)

    monkeypatch.setattr(Commit, "send", forgetful)

    assert asyncio.run(write_cut(proxy, 6)) > 6


def test_a_connection_lost_between_units_is_replaced(proxy: FaultyProxy) -> None:
    """What a server or firewall closed while nobody used it is no error for anybody."""

    async def read() -> int:
        async with RedisStore(url_through(proxy)) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            proxy.cut_all()
            return len((await store.messages(ADA, "talk")).rows)

    assert 1 == asyncio.run(read())


def test_an_answer_that_never_comes_is_not_waited_for(proxy: FaultyProxy) -> None:
    """A server that falls silent is unavailable after a while, and usable when it speaks again."""

    async def read() -> int:
        async with RedisStore(url_through(proxy), answer_s=0.1, patience_s=0.2) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            proxy.is_silent = True
            with pytest.raises(StoreUnavailableError):
                await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            proxy.is_silent = False
            return len((await store.messages(ADA, "talk")).rows)

    assert asyncio.run(read()) in {1, 2}
