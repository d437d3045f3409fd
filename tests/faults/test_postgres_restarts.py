"""The server ends and starts again while many work: nothing acknowledged is lost or doubled."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.postgres_restarts import TORN, UNSYNCED, Load, restart
from recollect.errors import StoreUnavailableError
from recollect.records import NewMessage, PutMemory
from recollect.stores.postgres.store import PostgresStore
from tests.harness.installed_servers import require_programs
from tests.harness.postgres_server import PostgresServer

WRITERS = 4
ROUNDS = 10


@pytest.fixture
def binaries() -> Path:
    """Return the folder of a server's programs."""
    return require_programs()


@pytest.fixture
def server(binaries: Path) -> Iterator[PostgresServer]:
    """Yield a server that may be ended."""
    server = PostgresServer(binaries)
    server.start()
    yield server
    server.remove()


async def write_through(server: PostgresServer, restarts: int) -> list[tuple[int, list[str]]]:
    """Return, per writer, the version of its memory and the ids of its messages at the end."""
    done = 0

    async def write(store: PostgresStore, writer: int) -> None:
        nonlocal done
        scope, number, is_acknowledged = (f"writer {writer}",), 0, True
        # An error leaves open whether it was written: only what was acknowledged can be counted.
        while done < restarts or number < ROUNDS or not is_acknowledged:
            said = [NewMessage(role="user", text="hello", id=f"m{number}")]
            put = [PutMemory(type="Fact", key="k", value={"n": number})]
            try:
                await store.append(scope, "talk", said)
                await store.apply(scope, put, idempotency_key=f"put {number}")
            except StoreUnavailableError:
                is_acknowledged = False
                await asyncio.sleep(0.01)
                continue
            number, is_acknowledged = number + 1, True
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
            assert [f"m{number}" for number in range(counts[writer])] == ids
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


SAMPLE = Load(messages=100, threads=20, restarts=2, processes=2, lease_s=2)


@pytest.mark.usefixtures("binaries")
@pytest.mark.parametrize("load", [SAMPLE, pytest.param(Load(), marks=pytest.mark.prove)])
@pytest.mark.timeout(3_600)
def test_restarts_lose_and_double_no_formation(load: Load) -> None:
    """Processes that form meanwhile make one memory of each message; errors say to try again."""
    outcome = asyncio.run(restart(load))

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert load.messages == outcome.acknowledged


@pytest.mark.usefixtures("binaries")
def test_a_commit_in_two_parts_is_noticed() -> None:
    """A formation whose effect and watermark are two transactions has effects twice."""
    outcome = asyncio.run(restart(replace(SAMPLE, control=TORN)))

    assert outcome.failures["memory doubled"] > 0


@pytest.mark.usefixtures("binaries")
def test_commits_that_are_not_written_are_noticed() -> None:
    """A server that acknowledges what is not in its log loses it in a crash."""
    outcome = asyncio.run(restart(replace(SAMPLE, control=UNSYNCED)))

    assert outcome.failures["message lost"] > 0
