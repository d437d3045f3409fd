"""
pytest fixtures for programs that use a memory; see docs/testing.md.

pytest imports this module in every run of an environment that has Recollect, so it imports
nothing of ours until a fixture is used.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

if TYPE_CHECKING:
    from recollect import Recollect, SyncRecollect
    from recollect.testing import FrozenClock, ScriptedModel

_NO_RUNNER: Final = (
    "recollect_memory works in async tests run by AnyIO or pytest-asyncio: mark the "
    "test with @pytest.mark.anyio or @pytest.mark.asyncio, or use recollect_sync_memory"
)

OpenOptions: TypeAlias = dict[str, Any]
"""Arguments of `recollect.open`, by name."""


@pytest.fixture
def recollect_clock() -> FrozenClock:
    """Return a clock frozen at 2024-05-06 12:00 UTC; `advance` moves it."""
    from recollect.testing import FrozenClock

    return FrozenClock()


@pytest.fixture
def recollect_model() -> ScriptedModel:
    """Return a scripted model without answers: add them with `then`."""
    from recollect.testing import ScriptedModel

    return ScriptedModel([])


@pytest.fixture
def recollect_options(recollect_clock: FrozenClock, recollect_model: ScriptedModel) -> OpenOptions:
    """
    Return the arguments of `recollect.open` for the memories of the other fixtures.

    An in-process store, recall by words, no background worker: nothing is formed until a test
    calls `form`. Override it in a ``conftest.py`` to test with other memory types or an embedder.
    """
    return {
        "url": "memory:",
        "embedder": "none",
        "model": recollect_model,
        "worker": False,
        "clock": recollect_clock,
    }


@pytest.fixture
def recollect_memory(request: pytest.FixtureRequest) -> Recollect:
    """Return an open memory in the event loop of the test; it is closed when the test ends."""
    if "anyio_backend" in request.fixturenames:
        found: Recollect = request.getfixturevalue("_recollect_memory")
    elif request.node.get_closest_marker("asyncio"):
        found = request.getfixturevalue("_recollect_asyncio_memory")
    else:
        pytest.fail(_NO_RUNNER, pytrace=False)
    return found


@pytest.fixture
def recollect_sync_memory(recollect_options: OpenOptions) -> Iterator[SyncRecollect]:
    """Return an open memory without ``await``; it is closed when the test ends."""
    import recollect

    with recollect.open_sync(**recollect_options) as memory:
        yield memory


async def _opened(recollect_options: OpenOptions) -> AsyncIterator[Recollect]:
    import recollect

    # Not `async with`: a runner may set a fixture up in one task and tear it down in another, and
    # AnyIO's task group must be left by the task that entered it. `open` has a task of its own.
    memory = await recollect.open(**recollect_options).open()
    yield memory
    await memory.close()


_recollect_memory = pytest.fixture(name="_recollect_memory")(_opened)


def pytest_configure(config: pytest.Config) -> None:
    """Register the fixture for pytest-asyncio, if that is in use."""
    # All plugins are imported by now, so `sys.modules` answers without importing one.
    if plugin := sys.modules.get("pytest_asyncio"):
        config.pluginmanager.register(_asyncio_fixtures(plugin), "recollect-asyncio")


def _asyncio_fixtures(plugin: Any) -> ModuleType:
    """Return a plugin with an async fixture made by pytest-asyncio, which runs no others."""

    async def opened(recollect_options: OpenOptions) -> AsyncIterator[Recollect]:
        async for memory in _opened(recollect_options):
            yield memory

    # pytest looks for fixtures in modules and classes, not in the attributes of an object.
    found = ModuleType("recollect_asyncio_fixtures")
    vars(found)["memory"] = plugin.fixture(name="_recollect_asyncio_memory")(opened)
    return found
