"""Schema migrations: numbered SQL files, each applied in one transaction with its version."""

from __future__ import annotations

import re
from typing import Final

import apsw

from recollect.errors import StoreCorruptError, StoreVersionError
from recollect.stores.sqlite.checksums import row_checksum
from recollect.stores.sqlite.connections import transaction
from recollect.stores.sqlite.driver_errors import LOG
from recollect.stores.sqlite.statements import PACKAGE
from recollect.stores.statements import file_names, read_text

APPLICATION_ID: Final = 0x52434C4C
"""The application id in the header of a store's file: the letters RCLL."""

_STEP: Final = re.compile(r"(\d{4})_\w+\.sql")


def read_steps() -> tuple[str, ...]:
    """Return the steps in order; step n (from 1) brings the schema from version n-1 to n."""
    names = sorted(name for name in file_names(PACKAGE) if _STEP.fullmatch(name))
    return tuple(read_text(PACKAGE, name) for name in names)


STEPS: Final = read_steps()
SCHEMA_VERSION: Final = len(STEPS)


def check_mark(application_id: int, path: str) -> None:
    """
    Reject a database without our mark.

    Raises:
        StoreCorruptError: It belongs to another application.
    """
    if application_id != APPLICATION_ID:
        raise StoreCorruptError(
            f"{path!r} is a database of another application (application id {application_id}): "
            "it was left as it is; name another file"
        )


def schema_version(connection: apsw.Connection, path: str) -> int:
    """
    Return the schema version of the file; 0 for an empty file.

    Raises:
        StoreCorruptError: It belongs to another application.
        StoreVersionError: A later release wrote it.
    """
    application_id = int(connection.pragma("application_id"))
    version = int(connection.pragma("user_version"))
    if application_id == version == 0 and not _has_tables(connection):
        return 0
    check_mark(application_id, path)
    if version > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{path!r} has schema version {version}, this release knows up to {SCHEMA_VERSION}: "
            "install the release that wrote it, or a later one"
        )
    return version


def _has_tables(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None


def migrate(connection: apsw.Connection, path: str) -> None:
    """
    Upgrade the schema; each step is atomic.

    Several processes may do this at once: each checks the version again under the lock.

    Raises:
        StoreCorruptError: The file belongs to another application.
        StoreVersionError: A later release wrote it.
    """
    while _version_at_once(connection, path) < SCHEMA_VERSION:
        # For steps that change the columns of a row, and so its checksum.
        connection.create_scalar_function("row_checksum", row_checksum, deterministic=True)
        with transaction(connection, "BEGIN IMMEDIATE"):
            version = schema_version(connection, path)
            if version < SCHEMA_VERSION:
                connection.execute(STEPS[version])
                connection.pragma("user_version", version + 1)
                if version:
                    LOG.info(
                        "%r: the schema goes from version %d to %d", path, version, version + 1
                    )


def _version_at_once(connection: apsw.Connection, path: str) -> int:
    # Read mark and version in one transaction: another process may be creating the store.
    with transaction(connection, "BEGIN"):
        return schema_version(connection, path)
