"""Databases on a running server that are removed after use, for the demo and benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from recollect.errors import MissingExtraError, StoreUnavailableError, UsageError

_HAS_ROLE: Final = "SELECT 1 FROM pg_roles WHERE rolname = 'recollect_app'"


@contextmanager
def made_database(url: str, purpose: str) -> Iterator[str]:
    """
    Yield the URL of a new database on the server at *url*, and remove the database afterwards.

    The role that stores on this server share is removed too, if it did not exist before.

    Raises:
        MissingExtraError: The server's driver is not installed.
        UsageError: It is no URL of a PostgreSQL server, or its user may not create a database.
        StoreUnavailableError: The server is unreachable.
    """
    try:
        import psycopg
        from psycopg import sql
    except ModuleNotFoundError as error:
        raise MissingExtraError("postgres", "psycopg") from error
    if not url.lower().startswith("postgresql:"):
        raise UsageError(f"{url!r} is no PostgreSQL server: give postgresql://user@host/database")
    name = sql.Identifier(f"recollect_{purpose}_{uuid4().hex[:12]}")
    try:
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.Error as error:
        msg = f"the server cannot be reached: {str(error).strip()}: check address and rights"
        raise StoreUnavailableError(msg) from error
    with connection:
        had_role = connection.execute(_HAS_ROLE).fetchall()
        try:
            connection.execute(sql.SQL("CREATE DATABASE ") + name)
        except psycopg.errors.InsufficientPrivilege as error:
            user = connection.info.user
            msg = f"the user {user!r} may not create a database: ALTER ROLE {user} CREATEDB"
            raise UsageError(msg) from error
    try:
        yield urlunsplit(urlsplit(url)._replace(path=f"/{name.as_string()[1:-1]}"))
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE ") + name + sql.SQL(" WITH (FORCE)"))
            if not had_role:
                # Another store may use the role by now: then it stays.
                with suppress(psycopg.errors.DependentObjectsStillExist):
                    connection.execute("DROP ROLE IF EXISTS recollect_app")


@contextmanager
def borrowed_database(url: str) -> Iterator[str]:
    """
    Yield the address of a store in the empty database at *url*, and remove the store afterwards.

    Raises:
        MissingExtraError: The server's driver is not installed.
        UsageError: It is no URL of a Redis server, or the database is not empty.
        StoreError: The server refuses, or there is none.
    """
    try:
        import redis
    except ModuleNotFoundError as error:
        raise MissingExtraError("redis", "redis") from error
    from recollect.stores.redis.driver_errors import store_errors
    from recollect.stores.redis.key_layout import PREFIX
    from recollect.stores.redis.location import location_of

    location = location_of(url)
    with redis.Redis.from_url(location.url) as client:
        with store_errors(location.name):
            kept: object = client.dbsize()
        if kept:
            raise UsageError(f"{location.name} holds {kept} keys: name a database that is empty")
        try:
            yield url
        finally:
            with store_errors(location.name):
                for key in client.scan_iter(match=f"{PREFIX}*"):
                    client.delete(key)


def temporary_database(url: str) -> AbstractContextManager[str]:
    """Return a context manager that yields a database of the demo on a server, and removes it."""
    if url.lower().startswith("redis"):
        return borrowed_database(url)
    return made_database(url, "demo")
