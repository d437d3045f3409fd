"""The store in memory honours the contract."""

from collections.abc import AsyncIterator

import pytest

from recollect.stores.in_process.store import InProcessStore
from recollect.testing import FrozenClock, SeededIds
from tests.harness.plan_contracts.whole_contract import WholeContract


class TestInProcessStore(WholeContract):
    """The reference backend honours the contract."""

    @pytest.fixture
    async def store(self, clock: FrozenClock) -> AsyncIterator[InProcessStore]:
        """Yield an empty store."""
        async with InProcessStore(clock=clock, ids=SeededIds(1)) as store:
            yield store
