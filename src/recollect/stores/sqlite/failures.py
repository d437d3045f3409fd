"""Where the driver's errors stop: each becomes one of ours, with the file and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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

# In the order of the checks: the first that fits says what became of the call.
_KINDS: Final[tuple[tuple[tuple[type[apsw.Error], ...], type[StoreError], str], ...]] = (
    (
        (apsw.BusyError, apsw.LockedError, apsw.ProtocolError),
        StoreUnavailableError,
        "another connection kept it locked: try again",
    ),
    (
        (apsw.FullError,),
        StoreFullError,
        "there is no room left and nothing was written: free some space, then try again",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError),
        StoreReadOnlyError,
        "it may not be written: give this user the right to write the file and its folder",
    ),
    (
        (apsw.CantOpenError,),
        StoreReadOnlyError,
        "the file, or one that SQLite keeps beside it, cannot be opened for writing: "
        "check that the folder exists and may be written",
    ),
    (
        (apsw.CorruptError, apsw.NotADBError, apsw.FormatError),
        StoreCorruptError,
        "it is damaged or not a database: restore it from a backup",
    ),
    (
        (apsw.ConnectionClosedError, apsw.CursorClosedError, apsw.ForkingViolationError),
        StoreClosedError,
        "the store was closed: open it again",
    ),
    (
        (apsw.IOError,),
        StoreError,
        "reading or writing failed: check the disk and the system's log",
    ),
)


@contextmanager
def store_errors(path: str) -> Iterator[None]:
    """
    Let no error of the driver escape: it becomes the cause of one of ours.

    Raises:
        StoreError: SQLite failed; the class says how.
        UsageError: A value was given that no stored row can have.
    """
    try:
        yield
    except apsw.Error as error:
        raise store_error(path, error) from error
    except (OverflowError, UnicodeEncodeError) as error:
        msg = f"a value of the request cannot be stored nor looked for: {error}"
        raise UsageError(msg) from error


def store_error(path: str, error: apsw.Error) -> StoreError:
    """Return what *error* means for the store in the file *path*."""
    if _is_lack_of_room(error):
        error_class, advice = StoreFullError, _KINDS[1][2]
    else:
        error_class, advice = next(
            ((ours, advice) for theirs, ours, advice in _KINDS if isinstance(error, theirs)),
            (StoreError, "SQLite refused: this is a fault of the store, please report it"),
        )
    return error_class(f"{path!r}: {advice} ({type(error).__name__}: {error})")


def _is_lack_of_room(error: apsw.Error) -> bool:
    # The shared-memory file could not grow: SQLite reports it as an I/O error.
    return isinstance(error, apsw.IOError) and error.extendedresult == apsw.SQLITE_IOERR_SHMSIZE
