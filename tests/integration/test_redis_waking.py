"""A store on Redis hears of what another process makes due, before and after a restart."""

import asyncio
from collections.abc import Iterator

import pytest

from recollect.records import NewMessage
from recollect.stores.plans.due_times import Debounce
from recollect.stores.redis.store import RedisStore
from tests.harness.installed_servers import open_own_redis
from tests.harness.redis_server import RedisServer

ADA = ("users", "ada")
FAR_LONGER_S = 60.0
AT_ONCE = Debounce(quiet_s=0)


@pytest.fixture
def server() -> Iterator[RedisServer]:
    """Yield a server that may be restarted."""
    with open_own_redis() as server:
        yield server


async def heard_after(server: RedisServer, *, restarted: bool) -> bool:
    """Append in one store, and return True if another one heard of it."""
    called, loop = asyncio.Event(), asyncio.get_running_loop()

    def heard() -> None:
        loop.call_soon_threadsafe(called.set)

    async with RedisStore(server.url()) as there, RedisStore(server.url()) as here:
        listener = here.listen(heard)
        await asyncio.to_thread(listener.is_ready.wait, FAR_LONGER_S)
        if restarted:
            listener.is_ready.clear()
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            await asyncio.to_thread(listener.is_ready.wait, FAR_LONGER_S)
        await called.wait()  # who begins to listen looks for himself
        called.clear()
        said = NewMessage(role="user", text="hello")
        await there.append(ADA, "talk", [said], debounce=AT_ONCE)
        async with asyncio.timeout(FAR_LONGER_S):
            await called.wait()
    return called.is_set()


@pytest.mark.parametrize("restarted", [False, True])
def test_who_listens_hears(server: RedisServer, *, restarted: bool) -> None:
    """What one process makes due is heard by another one, after a restart of the server too."""
    assert asyncio.run(heard_after(server, restarted=restarted))
