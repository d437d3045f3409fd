"""
Schema migrations: numbered SQL files, each one transaction with its version.

A step ``NNNN_pre_name.sql`` only adds: it is applied when a release that needs it opens the
database, and the previous release keeps working. A step ``NNNN_post_name.sql`` removes what no
release from its number on needs: it is applied by an operator once no older release is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, LiteralString

import psycopg

from recollect.errors import StoreCorruptError, StoreVersionError, UsageError
from recollect.stores.postgres.driver_errors import AGAIN, LOG
from recollect.stores.postgres.statements import PACKAGE, SESSION
from recollect.stores.postgres.transaction import Connection
from recollect.stores.statements import file_names, read_text

_STEP: Final = re.compile(r"(\d{4})_(pre|post)_\w+\.sql")

PARTITIONS_MAX: Final = 1_024
"""Most partitions of a table: each costs memory in every session."""
_PARTED: Final = " PARTITION BY HASH (scope_id)"

TRIES_MAX: Final = 5
"""Attempts at a migration that deadlocks with concurrent work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The migration steps by number, and the schema they lead to."""

    pre: Mapping[int, LiteralString]
    post: Mapping[int, LiteralString]
    schema: Sequence[str]

    @property
    def version(self) -> int:
        """Return the schema version that this release needs."""
        return max(self.pre)


def read_steps() -> Steps:
    """Read the steps and the expected schema from the folder ``sql``."""
    found: dict[str, dict[int, LiteralString]] = {"pre": {}, "post": {}}
    for name in sorted(file_names(PACKAGE)):
        if step := _STEP.fullmatch(name):
            found[step[2]][int(step[1])] = read_text(PACKAGE, name)
    return Steps(
        pre=found["pre"],
        post=found["post"],
        schema=read_text(PACKAGE, "expected_schema.txt").splitlines(),
    )


STEPS: Final = read_steps()
SCHEMA_VERSION: Final = STEPS.version


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """The version of a database's schema, and the oldest release that can use it."""

    version: int
    requires: int


def schema_version(connection: Connection, name: str, steps: Steps = STEPS) -> SchemaVersion:
    """
    Return the version of the schema, zeros if there is none yet.

    Raises:
        StoreCorruptError: The schema ``recollect`` belongs to another application.
        StoreVersionError: A later release changed it so that this one cannot use it.
    """
    if not _one(connection, "state")[2]:
        return SchemaVersion(0, 0)
    format_, version, requires = _one(connection, "version")
    if format_ != "recollect":
        raise StoreCorruptError(
            f"{name} has a schema 'recollect' of another application (format {format_!r}): it was "
            "left as it is; name another database"
        )
    if requires > steps.version:
        raise StoreVersionError(
            f"{name} requires schema version {requires}, this release knows up to {steps.version}: "
            "install the release that changed it, or a later one"
        )
    return SchemaVersion(version, requires)


def migrate(connection: Connection, name: str, *, post: bool = False, steps: Steps = STEPS) -> None:
    """
    Upgrade the schema and compare it with the expected one, in one transaction.

    Several programs may do this at once: a lock serialises them, and later ones find it done.
    Deadlocks with concurrent work are retried.

    Args:
        post: Also apply the steps that break older releases.

    Raises:
        StoreCorruptError: The schema is another application's, or was changed by hand.
        StoreVersionError: A later release changed it so that this one cannot use it.
        psycopg.Error: PostgreSQL refused a step.
    """
    for tried in range(1, TRIES_MAX + 1):
        try:
            _migrate_once(connection, name, post=post, steps=steps)
        except psycopg.Error as error:
            if error.sqlstate not in AGAIN or tried == TRIES_MAX:
                raise
        else:
            LOG.info("%s: the schema is at version %d", name, steps.version)
            return


def _migrate_once(connection: Connection, name: str, *, post: bool, steps: Steps) -> None:
    with transaction(connection):
        connection.execute(SESSION["lock_schema"])
        # Read under the lock: another program may have applied the steps while this one waited.
        found = schema_version(connection, name, steps)
        is_plain = not _partitions(connection, name)
        for number, text in sorted(steps.pre.items()):
            if number > found.version:
                connection.execute(text.replace(_PARTED, "") if is_plain else text)
        # Never lowered: a later release may have upgraded this database already.
        version = max(found.version, steps.version)
        requires = max(found.requires, *steps.post, 0) if post else found.requires
        for number, text in sorted(steps.post.items()):
            if post and number > found.requires:
                connection.execute(text)
        connection.execute(SESSION["set_version"], (version, requires))
        if version == steps.version:  # the schema of a later release is not known here
            check_schema(connection, name, steps)


def _partitions(connection: Connection, name: str) -> int:
    """
    Return how many partitions new tables get by the database's settings; 0 means plain tables.

    Raises:
        UsageError: The setting is not such a number.
    """
    (chosen,) = _one(connection, "partitions")
    if not chosen.isdecimal() or int(chosen) > PARTITIONS_MAX:
        raise UsageError(
            f"{name}: the setting recollect.partitions is {chosen!r}: set it to a number up to "
            f"{PARTITIONS_MAX}, or reset it (ALTER DATABASE … RESET recollect.partitions)"
        )
    return int(chosen)


def check_schema(connection: Connection, name: str, steps: Steps = STEPS) -> None:
    """
    Compare the database's schema with the expected one.

    Raises:
        StoreCorruptError: They differ; the error names up to three differences.
    """
    if found := differences(connection, steps):
        raise StoreCorruptError(
            f"{name}: the schema is not what its version says: undo what was changed by hand, or "
            f"restore it from a backup ({'; '.join(found[:3])}; {len(found)} in all)"
        )


def differences(connection: Connection, steps: Steps = STEPS) -> list[str]:
    """Return the parts of the schema that are missing or unexpected."""
    actual = schema_lines(connection)
    missing = [f"missing: {line}" for line in steps.schema if line not in actual]
    return missing + [f"unexpected: {line}" for line in actual if line not in steps.schema]


def schema_lines(connection: Connection) -> list[str]:
    """Describe the schema, one line for each part."""
    with transaction(connection):
        # With this path the server qualifies every name, regardless of the user's search path.
        connection.execute("SELECT set_config('search_path', 'pg_catalog', true)")
        return [" ".join(line.split()) for (line,) in connection.execute(SESSION["schema"])]


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Run a block in a transaction: commit it, or roll back if it raises."""
    with connection.transaction():
        yield


def _one(connection: Connection, name: str) -> tuple[Any, ...]:
    found = connection.execute(SESSION[name]).fetchone()
    return found or ()
