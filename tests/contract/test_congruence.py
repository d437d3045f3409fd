"""The same history and the same questions, put to every backend: every answer is the same."""

import asyncio
from collections.abc import Callable
from random import SystemRandom

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.store_congruence import BATCH, DIFFERENT, FORGETFUL, LENGTHS, compare
from recollect.stores.in_process.store import Tables
from tests.harness.congruence import first_difference, history
from tests.harness.installed_servers import require_postgres, require_redis
from tests.harness.postgres_server import PostgresServer
from tests.harness.redis_server import RedisServer, bytes_left
from tests.harness.redis_server import empty_store as empty_redis

LANE = 9
"""The database of these histories on the shared Redis server; those before it are lanes."""


@settings(settings.get_profile("sample"), max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_all_stores_answer_alike(seed: int) -> None:
    """However a history goes, every store answers every question in the same way."""
    assert asyncio.run(first_difference(history(seed))) is None


@pytest.mark.prove
@pytest.mark.parametrize("steps", [20, 60, 150])
@settings(settings.get_profile("prove"))
@given(seed=st.integers(0, 2**32 - 1))
def test_all_stores_answer_alike_at_length(seed: int, steps: int) -> None:
    """However a history goes, every store answers every question in the same way."""
    assert asyncio.run(first_difference(history(seed, steps))) is None


@pytest.fixture
def server() -> PostgresServer:
    """Return a running server."""
    return require_postgres()


@pytest.fixture
def redis() -> RedisServer:
    """Return a running Redis server."""
    return require_redis()


@settings(settings.get_profile("sample"), max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_redis_answers_alike(seed: int) -> None:
    """However a history goes, the store on Redis answers every question as that in process."""
    server = require_redis()
    empty_redis(server.url(LANE))

    with bytes_left():
        found = asyncio.run(first_difference(history(seed), server.url(LANE)))

    assert found is None


@pytest.mark.parametrize("number", [5, pytest.param(10_000, marks=pytest.mark.prove)])
@pytest.mark.timeout(40_000)
def test_four_stores_answer_alike(server: PostgresServer, redis: RedisServer, number: int) -> None:
    """The store in process, that in a file and those on servers answer every question alike."""
    first = 0 if number > 5 else SystemRandom().randrange(2**32)

    outcome = asyncio.run(compare(server, number, first=first, redis=redis))

    assert ({}, []) == (dict(outcome.failures), outcome.reasons)
    assert number == outcome.tried


def test_a_store_among_several_that_is_wrong_is_told_apart(server: PostgresServer) -> None:
    """A count of differences is not 0 where there are some."""
    outcome = asyncio.run(compare(server, 8, FORGETFUL))

    assert outcome.failures[DIFFERENT] > 0


@pytest.mark.prove
def test_processes_put_each_history_once(server: PostgresServer, redis: RedisServer) -> None:
    """The sum of what several processes did is what one would have done."""
    number = 2 * BATCH + 1

    outcome = asyncio.run(compare(server, number, redis=redis))

    writes = sum(LENGTHS[seed % len(LENGTHS)] for seed in range(number))
    assert (number, 3 * writes, {}) == (
        outcome.tried,
        outcome.acknowledged,
        dict(outcome.failures),
    )


@pytest.mark.parametrize(
    ("method", "wrong", "likely"),
    [
        ("scopes_below", lambda *_: iter(()), 0),
        ("scopes_holding", lambda *_: iter(()), 0),
        ("last_messages", lambda *_, **__: (), 0),
        ("removed", lambda *_: (), 2),
        ("memories_resting_on", lambda *_: (), 1),
        ("idempotency", lambda *_: None, 31),
        ("keys_of", lambda *_: (), 80),
        ("due_threads_of", lambda *_: (), 1),
        ("waiting_threads", lambda *_, **__: (), 0),
        ("formations", lambda *_: (), 2),
        ("spent", lambda *_: (0, 0), 37),
        ("unembedded", lambda *_: (), 0),
        ("messages_of_source", lambda *_: (), 9),
        ("revisions", lambda *_: (), 1),
    ],
)
def test_a_store_that_is_wrong_is_told_apart(
    monkeypatch: pytest.MonkeyPatch, method: str, wrong: Callable[..., object], likely: int
) -> None:
    """A backend that reads one kind of rows wrongly answers differently before long."""
    monkeypatch.setattr(Tables, method, wrong)
    seeds = [likely, *range(60)]  # the first that showed it, lest all before it be tried again

    assert any(asyncio.run(first_difference(history(seed))) for seed in seeds)
