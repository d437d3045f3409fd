"""Translate psycopg's errors into store errors that name the database and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg

from recollect.errors import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    UsageError,
)
from recollect.observability.logs import package_logger
from recollect.stores.damage_log import note_failure

LOG: Final = package_logger("recollect.stores.postgres")


@dataclass(frozen=True, slots=True)
class _Failure:
    """Maps SQLSTATEs, or classes of them, to an error class and advice."""

    states: tuple[str, ...]
    ours: type[StoreError]
    advice: str


AGAIN: Final = ("40001", "40P01")
"""Serialisation failure and deadlock: a retry of the transaction may succeed."""

READ_ONLY: Final = "25006"
"""Read-only transaction: the server is a replica, perhaps since a failover."""

_FAILURES: Final = (
    _Failure(
        AGAIN, StoreUnavailableError, "others wrote in the same place again and again: try again"
    ),
    _Failure(
        ("53300",),
        StoreUnavailableError,
        "the server takes no more connections: try again, put a pooler before it, or raise "
        "max_connections",
    ),
    _Failure(
        ("53100", "53200", "54"),
        StoreFullError,
        "the server has no room left and nothing was written: free some space, then try again",
    ),
    _Failure(("55P03",), StoreUnavailableError, "another transaction kept it locked: try again"),
    _Failure(
        ("57014",),
        StoreUnavailableError,
        "the server took too long and nothing was written: try again when it is less busy",
    ),
    _Failure(
        (READ_ONLY,),
        StoreReadOnlyError,
        "it may not be written: it is a replica, or was set to read only; name the primary",
    ),
    _Failure(
        ("28",),
        StoreError,
        "the server refuses this user or password: correct the address",
    ),
    _Failure(("3D000",), StoreError, "there is no such database: create it, then try again"),
    _Failure(
        ("42501",),
        StoreReadOnlyError,
        "this user lacks a right: grant it recollect_app, or connect as the schema's owner",
    ),
    _Failure(
        ("XX001", "XX002", "42P01", "42703", "3F000"),
        StoreCorruptError,
        "it is damaged, or its schema was changed by hand: restore it from a backup",
    ),
    _Failure(
        ("08", "57P", "53", "58"),
        StoreUnavailableError,
        "the server cannot be reached, or is stopping: try again",
    ),
)
_LOST: Final = _FAILURES[-1]
_OTHER: Final = _Failure(
    (), StoreError, "PostgreSQL refused, which is a fault of the store: report it"
)
# The driver reports no SQLSTATE for a refused connection, only the message.
_REFUSED: Final = (
    ("password authentication failed", "28P01"),
    ("no password supplied", "28P01"),
    ("authentication failed", "28000"),
    ("no pg_hba.conf entry", "28000"),
    ("does not exist", "3D000"),
    ("no such database", "3D000"),
    ("too many clients", "53300"),
    ("remaining connection slots", "53300"),
    ("too many connections", "53300"),
    ("no more connections allowed", "53300"),
)


@contextmanager
def store_errors(name: str) -> Iterator[None]:
    """
    Translate errors of the driver in this block; the original is the cause.

    Raises:
        StoreError: PostgreSQL failed; the class says how.
        UsageError: A value cannot be stored, such as text with a zero byte.
    """
    try:
        yield
    except (psycopg.DataError, UnicodeEncodeError, OverflowError) as error:
        msg = f"a value of the request can neither be stored nor looked for: {error}"
        raise UsageError(msg) from error
    except psycopg.Error as error:
        raise note_failure(LOG, name, error, store_error(name, error)) from error
    except UnicodeDecodeError as error:
        msg = f"{name}: it is damaged: restore it from a backup ({error})"
        raise note_failure(LOG, name, error, StoreCorruptError(msg)) from error


def store_error(name: str, error: psycopg.Error) -> StoreError:
    """Return the store error for *error*; *name* is the database."""
    failure = _failure_of(error)
    return failure.ours(
        f"{name}: {failure.advice} ({type(error).__name__}: {_server_message(error)})"
    )


def _failure_of(error: psycopg.Error) -> _Failure:
    state = error.sqlstate or _refusal(error)
    if state is None:
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return _LOST if lost else _OTHER
    fitting = (each for each in _FAILURES if state.startswith(each.states))
    return next(fitting, _OTHER)


def _refusal(error: psycopg.Error) -> str | None:
    if not isinstance(error, psycopg.OperationalError):
        return None
    said = str(error)
    return next((state for part, state in _REFUSED if part in said), None)


def _server_message(error: psycopg.Error) -> str:
    """Return the message without the statement and the private values that the server quotes."""
    first = error.diag.message_primary or str(error)
    return " ".join(first.split())
