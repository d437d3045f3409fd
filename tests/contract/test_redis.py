"""The store on a Redis server honours the contract."""

from collections.abc import AsyncIterator

import pytest

from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing import FrozenClock, SeededIds
from tests.harness.installed_servers import require_redis
from tests.harness.plan_contracts.whole_contract import WholeContract
from tests.harness.store_contracts import DurableServerContract

DATABASE = 0


@pytest.fixture
def url() -> str:
    """Return the address of a database in which nothing is kept."""
    return require_redis().emptied(DATABASE)


class TestRedisStore(WholeContract):
    """The backend in a server's memory honours the contract."""

    @pytest.fixture
    async def store(self, clock: FrozenClock, url: str) -> AsyncIterator[Store]:
        """Yield an empty store."""
        async with open_store(url, clock=clock, ids=SeededIds(1)) as store:
            yield store


class TestDurableRedisStore(DurableServerContract):
    """Acknowledged data is there when the store is reopened."""
