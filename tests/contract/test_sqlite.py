"""The store in a SQLite file honours the contract."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.contract_durability import DurableContract, Reopen
from tests.harness.plan_contracts.whole_contract import WholeContract

FILE = "memory.db"


class TestSQLiteStore(WholeContract):
    """The default backend honours the contract."""

    @pytest.fixture(scope="class")
    async def empty(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Return the folder of an empty store, made once: making one waits for the disk."""
        folder = tmp_path_factory.mktemp("empty")
        await open_store(folder / FILE).aclose()
        return folder

    @pytest.fixture
    async def store(self, clock: FrozenClock, empty: Path, tmp_path: Path) -> AsyncIterator[Store]:
        """Yield an empty store; what it survives is no matter here."""
        folder = shutil.copytree(empty, tmp_path / "store")
        async with open_store(
            folder / FILE, clock=clock, ids=SeededIds(1), durability="relaxed"
        ) as store:
            yield store


class TestDurableSQLiteStore(DurableContract):
    """Acknowledged data is there when the store is reopened."""

    @pytest.fixture
    async def stores(self) -> AsyncIterator[AsyncExitStack]:
        """Yield the stores that are open, to be closed at the end."""
        async with AsyncExitStack() as stores:
            yield stores

    @pytest.fixture
    async def reopen(self, clock: FrozenClock, stores: AsyncExitStack, tmp_path: Path) -> Reopen:
        """Return a function that closes the store and reopens the same file."""
        ids = SeededIds(1)

        async def reopen() -> Store:
            await stores.aclose()
            store = open_store(tmp_path / FILE, clock=clock, ids=ids)
            return await stores.enter_async_context(store)

        return reopen

    @pytest.fixture
    async def store(self, reopen: Reopen) -> Store:
        """Return an empty store."""
        return await reopen()
