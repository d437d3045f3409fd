"""The schema, step by step: numbered SQL files, each one transaction with its version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from recollect.errors import StoreCorruptError, StoreVersionError
from recollect.stores.sqlite.checksums import row_checksum
from recollect.stores.sqlite.driver_errors import LOG
from recollect.stores.sqlite.statements import PACKAGE
from recollect.stores.statements import file_names, read_text

APPLICATION_ID: Final = 0x52434C4C
"""Marks the file as ours, in its header: the letters RCLL."""

_STEP: Final = re.compile(r"(\d{4})_\w+\.sql")


def read_steps() -> tuple[str, ...]:
    """Return the steps in their order; the n-th brings the schema from version n-1 to n."""
    names = sorted(name for name in file_names(PACKAGE) if _STEP.fullmatch(name))
    return tuple(read_text(PACKAGE, name) for name in names)


STEPS: Final = read_steps()
SCHEMA_VERSION: Final = len(STEPS)


def check_mark(application_id: int, path: str) -> None:
    """
    Reject a database that does not bear our mark.

    Raises:
        StoreCorruptError: It is another application's.
    """
    if application_id != APPLICATION_ID:
        msg = (
            f"{path!r} is a database of another application (application id {application_id}): "
            "it was left as it is; name another file"
        )
        raise StoreCorruptError(msg)


def schema_version(connection: apsw.Connection, path: str) -> int:
    """
    Return the schema version of the file; 0 if nothing is in it yet.

    Raises:
        StoreCorruptError: It is another application's.
        StoreVersionError: A later release wrote it.
    """
    application_id = int(connection.pragma("application_id"))
    version = int(connection.pragma("user_version"))
    if application_id == version == 0 and not _has_tables(connection):
        return 0
    check_mark(application_id, path)
    if version > SCHEMA_VERSION:
        msg = (
            f"{path!r} has schema version {version}, this release knows up to {SCHEMA_VERSION}: "
            "install the release that wrote it, or a later one"
        )
        raise StoreVersionError(msg)
    return version


def _has_tables(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None


def migrate(connection: apsw.Connection, path: str) -> None:
    """
    Bring the schema up to date; each step is atomic.

    Several processes may do this at once; later ones find the step done.

    Raises:
        StoreCorruptError: The file belongs to another application.
        StoreVersionError: A later release wrote it.
    """
    while _version_at_once(connection, path) < SCHEMA_VERSION:
        # A step that changes what a row holds has to take its checksum anew.
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
    # Mark and version in one transaction, or another process could make the store between.
    with transaction(connection, "BEGIN"):
        return schema_version(connection, path)


@contextmanager
def transaction(connection: apsw.Connection, begin: str) -> Iterator[None]:
    """Commit what happens inside, or roll it back if that raises."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
