"""The store in a SQLite file honours the contract."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.stores.base import Store
from recollect.stores.open import open_store
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.store_contract import StoreContract

pytest.importorskip("recollect.stores.sqlite.store")


class TestSQLiteStore(StoreContract):
    """The default backend honours the contract."""

    @pytest.fixture(scope="class")
    async def empty(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Return the folder of an empty store, made once: making one waits for the disk."""
        folder = tmp_path_factory.mktemp("empty")
        await open_store(folder / "memory.db").aclose()
        return folder

    @pytest.fixture
    async def store(self, clock: FrozenClock, empty: Path, tmp_path: Path) -> AsyncIterator[Store]:
        """Yield an empty store."""
        folder = shutil.copytree(empty, tmp_path / "store")
        async with open_store(
            folder / "memory.db", clock=clock, ids=SeededIds(1), durability="relaxed"
        ) as store:
            yield store
