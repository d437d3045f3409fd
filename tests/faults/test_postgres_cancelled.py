"""Cancelled requests leave connections usable, and never mix up answers."""

import asyncio
import gc

import pytest

from benchmarks.connection_faults import HASTY, cancel
from tests.harness.installed_servers import require_database, require_postgres
from tests.harness.postgres_server import PostgresServer


@pytest.fixture
def server() -> PostgresServer:
    """Return a server with a store."""
    require_database()
    return require_postgres()


@pytest.mark.parametrize("number", [150, pytest.param(10_000, marks=pytest.mark.prove)])
def test_cancelled_requests_disturb_nobody(server: PostgresServer, number: int) -> None:
    """Every answer is to its own question; no connection leaks, or stays in a transaction."""
    outcome = asyncio.run(cancel(server, number))

    assert {} == outcome.failures
    assert number <= outcome.tried
    assert outcome.acknowledged > number / 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_connection_given_back_too_early_is_noticed(server: PostgresServer) -> None:
    """A store that gives a connection back while it is at work answers wrongly."""
    outcome = asyncio.run(cancel(server, 600, HASTY))
    gc.collect()  # what it broke complains here, and not in another test

    assert outcome.failures.total() > 0
