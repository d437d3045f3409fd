"""Those who wait for a change are woken by one look for all of them."""

from collections.abc import Sequence
from contextlib import ExitStack

import anyio
import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import NewMessage, Scope
from recollect.server.http import change_watch as watching
from recollect.server.http.change_watch import Watch
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")
FAR_LONGER_S = 30
READERS = 200


class Readers:
    """Some who wait, and who of them were woken."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.woken: dict[str, anyio.Event] = {}

    async def wait(self, store: Store, scope: Scope, *names: str) -> ExitStack:
        """Wait under some names for a change in a scope."""
        (place,) = await store.places([scope])
        waiting = ExitStack()
        for name in names:
            self.woken[name] = anyio.Event()
            waiting.enter_context(self._watch.waking(place, self.woken[name].set))
        return waiting

    def who_woke(self) -> list[str]:
        """Return the names of those who were woken."""
        return [name for name, event in self.woken.items() if event.is_set()]


@pytest.fixture
def store() -> Store:
    """Return an empty store."""
    return InProcessStore()


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK_EVERY_S", 0.01)


async def say(store: Store, scope: Scope) -> None:
    """Change a scope."""
    await store.append(scope, "talk", [NewMessage(role="user", text="hello")])


async def test_who_follows_a_changed_scope_is_woken(store: Store) -> None:
    """A change wakes all who follow its scope, and nobody else."""
    watch = Watch(store, stopping := anyio.Event())
    readers = Readers(watch)
    with await readers.wait(store, ADA, "ada 1", "ada 2"), await readers.wait(store, BOB, "bob"):
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run)
            await say(store, ADA)
            with anyio.fail_after(FAR_LONGER_S):
                await readers.woken["ada 1"].wait()
                await readers.woken["ada 2"].wait()
            found = readers.who_woke()
            stopping.set()

    assert ["ada 1", "ada 2"] == found


async def test_what_changed_before_the_wait_is_not_missed(store: Store) -> None:
    """Who stands elsewhere already when the wait begins is woken by the next look."""
    watch = Watch(store, stopping := anyio.Event())
    woken = anyio.Event()
    await say(store, ADA)
    with watch.waking(Cursor(scope=ADA, seq=0, epoch=0), woken.set):
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run)
            with anyio.fail_after(FAR_LONGER_S):
                await woken.wait()
            stopping.set()


async def test_one_look_is_for_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many wait, the store is asked once a look, and for each scope once."""
    asked: list[Sequence[Scope]] = []
    places = store.places

    asked_often = anyio.Event()

    async def counted(scopes: Sequence[Scope]) -> list[Cursor]:
        asked.append(scopes)
        if len(asked) == 3:
            asked_often.set()
        return await places(scopes)

    watch = Watch(store, stopping := anyio.Event())
    readers = Readers(watch)
    names = [f"reader {number}" for number in range(READERS)]
    with await readers.wait(store, ADA, *names), await readers.wait(store, BOB, "bob"):
        monkeypatch.setattr(store, "places", counted)
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run)
            with anyio.fail_after(FAR_LONGER_S):
                await asked_often.wait()
            stopping.set()

    assert all(each == [ADA, BOB] for each in asked)


async def test_a_store_that_is_away_is_asked_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is woken while the store is away; afterwards they are."""
    places, failed = store.places, anyio.Event()

    async def away_once(scopes: Sequence[Scope]) -> list[Cursor]:
        if not failed.is_set():
            failed.set()
            raise StoreUnavailableError("away")
        return await places(scopes)

    watch = Watch(store, stopping := anyio.Event())
    readers = Readers(watch)
    with await readers.wait(store, ADA, "ada"):
        await say(store, ADA)
        monkeypatch.setattr(store, "places", away_once)
        async with anyio.create_task_group() as group:
            group.start_soon(watch.run)
            with anyio.fail_after(FAR_LONGER_S):
                await readers.woken["ada"].wait()
            stopping.set()

    assert failed.is_set()


async def test_all_are_woken_when_the_service_stops(store: Store) -> None:
    """A stream ends at once when the service stops, and does not wait for a change."""
    watch = Watch(store, stopping := anyio.Event())
    readers = Readers(watch)
    with await readers.wait(store, ADA, "ada"):
        stopping.set()
        await watch.run()

    assert ["ada"] == readers.who_woke()
