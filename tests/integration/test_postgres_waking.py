"""A worker on PostgreSQL hears of what another process makes due, and finds it unheard as well."""

import asyncio
from collections.abc import Callable

import pytest

import recollect
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.records import NewMessage
from recollect.stores.plans.due_times import Debounce
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.remote.notifications import Bell, Listener
from recollect.worker import loop
from tests.harness.installed_servers import require_empty_database

ADA = ("users", "ada")
NEVER_S = 3_600.0
FAR_LONGER_S = 60.0
AT_ONCE = Debounce(quiet_s=0)


@pytest.fixture
def url() -> str:
    """Return the address of an empty store."""
    return require_empty_database()


async def formed_elsewhere(url: str) -> object:
    """Append in one store, and return what the worker of another one forms of it."""
    settings = FormationSettings(debounce=AT_ONCE)
    formed = asyncio.Event()
    async with (
        PostgresStore(url) as there,
        recollect.open(url, embedder="none", model=RuleModel(), formation=settings) as here,
    ):
        assert here.worker is not None
        here.worker._notice = lambda *_: formed.set()
        assert await here.get(ADA, "User", "User") is None  # meanwhile its worker has begun
        assert isinstance(here.store, PostgresStore)
        (listener,) = here.store._listeners._all
        async with asyncio.timeout(FAR_LONGER_S):
            await asyncio.to_thread(listener.is_ready.wait, FAR_LONGER_S)
            said = NewMessage(role="user", text="I live in Bergen.")
            await there.append(ADA, "talk", [said], debounce=AT_ONCE)
            await formed.wait()
        found = await here.get(ADA, "User", "User")
    return found and found.value


def test_a_worker_is_woken_by_another_process(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one process makes due is formed by another one long before that would look by itself."""
    monkeypatch.setattr(loop, "POLL_S", NEVER_S)

    assert {"home": "Bergen"} == asyncio.run(formed_elsewhere(url))


def silent(*_: object) -> bool:
    """Call nobody."""
    return False


def deaf(listener: Listener) -> None:
    """Hear nothing of what is called."""
    del listener


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [(Bell, "rings", silent), (Listener, "hear", deaf)],
)
def test_a_call_that_is_lost_loses_nothing(
    url: str,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    mutant: Callable[..., object],
) -> None:
    """Where nobody calls, or nobody hears, the worker finds the same by looking."""
    monkeypatch.setattr(owner, name, mutant)
    monkeypatch.setattr(loop, "POLL_S", 0.01)

    assert {"home": "Bergen"} == asyncio.run(formed_elsewhere(url))


def test_a_worker_that_is_woken_while_it_looks_looks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call between a look that found nothing and the rest after it is not slept through."""
    monkeypatch.setattr(loop, "POLL_S", NEVER_S)

    async def looks() -> int:
        async with recollect.open(embedder="none", model=RuleModel(), worker=False) as memory:
            worker, looked = memory.worker, asyncio.Event()
            assert worker is not None
            count = 0

            async def run_once() -> None:
                nonlocal count
                count += 1
                if count == 1:
                    worker.wake()
                else:
                    looked.set()

            monkeypatch.setattr(worker, "run_once", run_once)
            monkeypatch.setattr(worker, "_concurrency", 1)
            running = asyncio.create_task(worker.run())
            async with asyncio.timeout(FAR_LONGER_S):
                await looked.wait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            return count

    assert asyncio.run(looks()) == 2
