"""A connection that is lost at COMMIT loses nothing and doubles nothing."""

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.connection_faults import GUESSED, cut, url_through
from recollect.errors import StoreUnavailableError
from recollect.records import NewMessage, PutMemory
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.stores.postgres.store import PostgresStore
from tests.harness.faulty_proxy import Cut, FaultyProxy
from tests.harness.installed_servers import require_empty_database, require_postgres
from tests.harness.postgres_server import (
    PostgresServer,
)

ADA = ("users", "ada")
CUTS: tuple[Cut, ...] = ("before", "after")


@pytest.fixture
def server() -> PostgresServer:
    """Return a server with an empty store."""
    require_empty_database()
    return require_postgres()


@pytest.fixture
def proxy(server: PostgresServer) -> Iterator[FaultyProxy]:
    """Yield a proxy before the server."""
    with FaultyProxy(server.socket) as proxy:
        yield proxy


@pytest.mark.parametrize("number", [20, pytest.param(1_000, marks=pytest.mark.prove)])
def test_a_lost_commit_is_settled_by_its_key(server: PostgresServer, number: int) -> None:
    """Whatever was cut, each request under a key is carried out once, and its caller knows."""
    outcome = asyncio.run(cut(server, number))

    assert ({}, number) == (dict(outcome.failures), outcome.acknowledged)


def test_a_repeated_guess_is_noticed(server: PostgresServer) -> None:
    """A store that runs it again without a key writes twice what had been committed."""
    assert {"doubled": 5} == asyncio.run(cut(server, 10, GUESSED)).failures


def test_a_lost_commit_without_a_key_is_told(proxy: FaultyProxy) -> None:
    """Without a key nobody guesses: the caller hears that it is unknown; none happens twice."""

    async def write() -> tuple[int, int]:
        errors = 0
        async with PostgresStore(url_through(proxy)) as store:
            for number in range(10):
                proxy.cuts.append(CUTS[number % 2])
                try:
                    await store.apply(ADA, [PutMemory(type="Fact", key="k", value={"n": number})])
                except StoreUnavailableError:
                    errors += 1
            found = await store.get(ADA, "Fact", "k")
        assert found is not None
        return found.version, errors

    assert (5, 10) == asyncio.run(write())


def test_a_lost_erase_is_not_guessed_at(proxy: FaultyProxy) -> None:
    """It writes keys of others, and has none by which to find out: receipts keep their counts."""

    async def erase() -> tuple[list[int], int]:
        errors = 0
        async with PostgresStore(url_through(proxy)) as store:
            for number in range(6):
                message = NewMessage(role="user", text="hello", id=f"m{number}")
                await store.append(ADA, "talk", [message], idempotency_key=f"k{number}")
                proxy.cuts.append(CUTS[number % 2])
                try:
                    await store.erase(
                        ADA, EraseMessages(thread="talk", messages=[message.id or ""])
                    )
                except StoreUnavailableError:
                    errors += 1
            return [each.messages for each in await store.receipts()], errors

    assert ([1, 1, 1], 6) == asyncio.run(erase())


def test_messages_without_a_key_are_repeated_by_their_ids(proxy: FaultyProxy) -> None:
    """A caller that appends again with the same ids has each message once."""

    async def append() -> list[str]:
        async with PostgresStore(url_through(proxy)) as store:
            for number in range(10):
                proxy.cuts.append(CUTS[number % 2])
                message = NewMessage(role="user", text="hello", id=f"m{number}")
                with pytest.raises(StoreUnavailableError):
                    await store.append(ADA, "talk", [message])
                await store.append(ADA, "talk", [message])
            page = await store.messages(ADA, "talk")
        return [each.id for each in page.rows]

    assert [f"m{number}" for number in range(10)] == asyncio.run(append())


def test_a_connection_lost_between_transactions_is_replaced(proxy: FaultyProxy) -> None:
    """What a server or firewall closed while nobody used it is no error for anybody."""

    async def read() -> int:
        async with PostgresStore(url_through(proxy)) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            proxy.cut_all()
            return len((await store.messages(ADA, "talk")).rows)

    assert 1 == asyncio.run(read())


def test_an_answer_that_never_comes_is_not_waited_for(proxy: FaultyProxy) -> None:
    """A server that falls silent is unavailable after a while, and usable when it speaks again."""

    async def read() -> int:
        async with PostgresStore(url_through(proxy), answer_s=0.1) as store:
            await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            proxy.is_silent = True
            with pytest.raises(StoreUnavailableError):
                await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
            proxy.is_silent = False
            return len((await store.messages(ADA, "talk")).rows)

    assert 1 == asyncio.run(read())
