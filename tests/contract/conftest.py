"""Settings for the generated contract tests, and the backends they run on."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from recollect.memory.facade import Recollect
from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing import FrozenClock, SeededIds
from tests.harness.installed_servers import require_database, require_empty_database, require_redis
from tests.harness.redis_server import empty_store as empty_redis
from tests.harness.store_opener import Opener

# A step may wait for the disk, so that no figure of time says anything of the store.
_QUIET = settings(
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("sample", _QUIET, max_examples=100, stateful_step_count=30)
settings.register_profile("prove", _QUIET, max_examples=300, stateful_step_count=50)
# A mutant has to be found, not to be explained.
settings.register_profile(
    "mutant",
    _QUIET,
    max_examples=600,
    stateful_step_count=40,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
)

OTHER_DATABASE = 1
EXAMPLES = {"memory": 100, "sqlite": 100, "postgres": 6, "redis": 6}
"""How many histories are sampled on each backend."""


@pytest.fixture(params=EXAMPLES)
def backend(request: pytest.FixtureRequest) -> str:
    """Return the name of a backend that can be had here."""
    name = str(request.param)
    if name == "postgres":
        require_database()
    if name == "redis":
        require_redis()
    return name


@pytest.fixture
def examples(backend: str) -> int:
    """Return the number of sampled histories per backend."""
    return EXAMPLES[backend]


@pytest.fixture
def open_empty(backend: str, tmp_path: Path) -> Opener:
    """Return a function that opens a new empty store of one backend."""
    numbers = count()

    def open_empty(clock: Clock, ids: Ids) -> Store:
        url = "memory:" if backend == "memory" else str(tmp_path / f"{next(numbers)}.db")
        if backend == "postgres":
            url = require_empty_database()
        elif backend == "redis":
            url = require_redis().url(OTHER_DATABASE)
            empty_redis(url)
        return open_store(url, clock=clock, ids=ids, durability="relaxed")

    return open_empty


@pytest.fixture
async def memory(open_empty: Opener, clock: FrozenClock) -> AsyncIterator[Recollect]:
    """Yield a memory over an empty store, without an embedder and a worker."""
    async with Recollect(open_empty(clock, SeededIds(1)), embedder="none", worker=False) as memory:
        yield memory
