"""Translate errors of the driver (APSW) into ours, with the file and advice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import apsw

from recollect.errors import (
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    UsageError,
)
from recollect.observability.logs import package_logger
from recollect.stores.damage_log import note_failure
from recollect.stores.sqlite.checksums import DamagedRowError
from recollect.stores.sqlite.page_checksums import is_checksum_error

LOG: Final = package_logger("recollect.stores.sqlite")


@dataclass(frozen=True, slots=True)
class _Failure:
    """The error class and the advice for some errors of the driver."""

    errors: tuple[type[apsw.Error], ...]
    ours: type[StoreError]
    advice: str


_FULL: Final = _Failure(
    (apsw.FullError,),
    StoreFullError,
    "there is no room left and nothing was written: free some space, then try again",
)
_MISMATCH: Final = _Failure(
    (apsw.IOError,),
    StoreCorruptError,
    "a page does not match its checksum: it is damaged, or another program wrote to the file: "
    "run `recollect doctor`, which tells the two apart, or restore it from a backup",
)
_FAILURES: Final = (
    _FULL,
    _Failure(
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        StoreUnavailableError,
        "another connection kept it locked: try again",
    ),
    _Failure(
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        StoreReadOnlyError,
        "it may not be written: give this user the right to write the file and its folder",
    ),
    _Failure(
        (apsw.CantOpenError,),
        StoreReadOnlyError,
        "it, or its log, cannot be opened for writing: give this user the right to write the file "
        "and its folder",
    ),
    _Failure(
        (apsw.CorruptError, apsw.NotADBError, apsw.FormatError),
        StoreCorruptError,
        "it is damaged, or not a database: restore it from a backup",
    ),
    _Failure(
        (apsw.ConnectionClosedError, apsw.CursorClosedError, apsw.ForkingViolationError),
        StoreClosedError,
        "the store was closed: open it again",
    ),
    _Failure(
        (apsw.IOError,),
        StoreError,
        "reading or writing failed: look into the system's log, then try again",
    ),
    _Failure((apsw.Error,), StoreError, "SQLite refused, which is a fault of the store: report it"),
)


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """
    Translate every error of the driver into one of ours, with the original as its cause.

    Raises:
        StoreError: SQLite failed, or a stored row is damaged; the class tells why.
        UsageError: A value was given that SQLite cannot store.
    """
    try:
        yield
    except apsw.Error as error:
        raise note_failure(LOG, path, error, store_error(path, error)) from error
    except (UnicodeDecodeError, DamagedRowError) as error:
        msg = f"{path!r}: it is damaged: restore it from a backup ({error})"
        raise note_failure(LOG, path, error, StoreCorruptError(msg)) from error
    except (OverflowError, UnicodeEncodeError) as error:
        msg = f"a value of the request can neither be stored nor looked for: {error}"
        raise UsageError(msg) from error


def is_mismatch(error: BaseException | None) -> bool:
    """Return True if *error* was raised for a page that does not match its checksum."""
    return isinstance(error, StoreCorruptError) and is_checksum_error(error.__cause__)


def store_error(path: str, error: apsw.Error) -> StoreError:
    """Return our error for the driver's *error* on the file *path*."""
    failure = next(each for each in _FAILURES if isinstance(error, each.errors))
    # On a full disk the log's index (-shm) cannot grow, which SQLite reports as an I/O error.
    if getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE:
        failure = _FULL
    if is_checksum_error(error):
        failure = _MISMATCH
    return failure.ours(f"{path!r}: {failure.advice} ({type(error).__name__}: {error})")
