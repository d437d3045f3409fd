"""Cancelled requests leave connections usable, and never mix up answers."""

import asyncio
import multiprocessing
import os
import signal
from typing import Final

import pytest

from benchmarks.connection_faults import HASTY, cancel
from tests.harness.installed_servers import require_database, require_postgres
from tests.harness.postgres_server import PostgresServer

NOTICED: Final = 3
"""Exit status of a process that saw wrong answers."""
TRIED_S: Final = 120


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


def test_a_connection_given_back_too_early_is_noticed(server: PostgresServer) -> None:
    """
    A store that gives a connection back while it is at work answers wrongly, or crashes.

    Two threads on one connection may break the driver's memory, so it has a process of its own.
    """
    process = multiprocessing.get_context("fork").Process(target=_cancel_hasty, args=(server,))
    process.start()
    process.join(TRIED_S)
    if process.is_alive():
        process.kill()

    assert process.exitcode in {NOTICED, -signal.SIGSEGV, -signal.SIGABRT}


def _cancel_hasty(server: PostgresServer) -> None:
    outcome = asyncio.run(cancel(server, 600, HASTY))
    # Not by sys.exit: what it broke would complain, and threads that wait for ever be awaited.
    os._exit(NOTICED if outcome.failures.total() else 0)
