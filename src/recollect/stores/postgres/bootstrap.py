"""Open a database: check that it is suitable, and create the schema in a new one."""

from __future__ import annotations

from typing import Final

from recollect.errors import StoreError, StoreReadOnlyError, StoreVersionError
from recollect.stores.postgres.connections import PatientConnection, close_quietly, connect
from recollect.stores.postgres.driver_errors import store_errors
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.migrations import (
    SCHEMA_VERSION,
    STEPS,
    Steps,
    migrate,
    schema_version,
)
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection

SERVER_VERSION_MIN: Final = 150_000
"""PostgreSQL 15, in the notation of ``server_version_num``."""


def open_database(location: PostgresLocation) -> tuple[PatientConnection, bytes]:
    """
    Connect, and create or upgrade the schema if necessary.

    Returns:
        The connection, and the random secret of the store.

    Raises:
        StoreVersionError: The server is too old, or a later release made the schema.
        StoreReadOnlyError: The server is a replica, or the user lacks a right.
        StoreUnavailableError: No server answers, or it accepts no more connections.
        StoreError: PostgreSQL failed otherwise.
    """
    with store_errors(location.name):
        connection = connect(location)
        try:
            _check_server(connection, location.name)
            if schema_version(connection, location.name).version < SCHEMA_VERSION:
                migrate(connection, location.name)
            _check_rights(connection, location.name)
            found = connection.execute(SESSION["secret"]).fetchone()
        except BaseException:
            close_quietly(connection)
            raise
    return connection, bytes(found[0]) if found else b""


def finish_upgrade(location: PostgresLocation, steps: Steps = STEPS) -> int:
    """
    Apply the migration steps that break older releases; return how many there were.

    Raises:
        StoreError: As for `open_database`, or the schema was changed by hand.
    """
    with store_errors(location.name):
        connection, _ = open_database(location)
        try:
            before = schema_version(connection, location.name, steps).requires
            migrate(connection, location.name, post=True, steps=steps)
            after = schema_version(connection, location.name, steps).requires
        finally:
            close_quietly(connection)
    return sum(before < number <= after for number in steps.post)


def _check_server(connection: Connection, name: str) -> None:
    version = connection.info.server_version
    if version < SERVER_VERSION_MIN:
        raise StoreVersionError(
            f"{name} is PostgreSQL {version // 10_000}: this release needs "
            f"{SERVER_VERSION_MIN // 10_000} or later; upgrade the server"
        )
    is_replica, encoding, _ = connection.execute(SESSION["state"]).fetchone() or (False, "", False)
    if is_replica:
        raise StoreReadOnlyError(f"{name} is a replica, which cannot be written: name the primary")
    if encoding != "UTF8":
        msg = f"{name} keeps text in {encoding}: create a database with the encoding UTF8"
        raise StoreError(msg)


def _check_rights(connection: Connection, name: str) -> None:
    ((may_enter,),) = connection.execute(SESSION["may_enter"]).fetchall()
    if not may_enter:
        user = connection.info.user
        msg = f"{name}: the user {user!r} may not use the store: GRANT recollect_app TO {user}"
        raise StoreReadOnlyError(msg)
