"""The store contract as the tests of several servers pass it: how a store is opened there."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.stores.postgres.store import PostgresStore
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.contract_durability import DurableContract, Reopen
from tests.harness.plan_contracts.whole_contract import WholeContract


class PostgresContract(WholeContract):
    """The contract of a store at the fixture ``url``, whose connections are used again."""

    @pytest.fixture(scope="class")
    @classmethod
    def open_stores(cls) -> Iterator[list[PostgresStore]]:
        """Yield where a store is kept from test to test: new connections learn all tables anew."""
        open_stores: list[PostgresStore] = []
        yield open_stores
        for store in open_stores:
            asyncio.run(store.aclose())

    @pytest.fixture
    def store(
        self, clock: FrozenClock, url: str, open_stores: list[PostgresStore]
    ) -> Iterator[Store]:
        """Yield an empty store."""
        store = open_stores.pop() if open_stores else PostgresStore(url, clock=clock)
        store._clock, store._ids = clock, SeededIds(1)
        store._digests.forget()  # its database was emptied
        yield store
        if not store._turns.is_over:
            open_stores.append(store)


class DurableServerContract(DurableContract):
    """The contract of data that a server keeps at the fixture ``url``."""

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
