"""Every error of the SQLite driver becomes one of ours, which says where and what to do."""

import apsw
import pytest

from recollect.errors import (
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    UsageError,
)
from recollect.stores.sqlite.driver_errors import store_errors

FILE = "/var/lib/memory.db"


@pytest.mark.parametrize(
    ("theirs", "ours", "advice"),
    [
        (apsw.BusyError, StoreUnavailableError, "try again"),
        (apsw.LockedError, StoreUnavailableError, "try again"),
        (apsw.ProtocolError, StoreUnavailableError, "try again"),
        (apsw.FullError, StoreFullError, "free some space"),
        (apsw.ReadOnlyError, StoreReadOnlyError, "the right to write"),
        (apsw.PermissionsError, StoreReadOnlyError, "the right to write"),
        (apsw.AuthError, StoreReadOnlyError, "the right to write"),
        (apsw.CantOpenError, StoreReadOnlyError, "the right to write"),
        (apsw.CorruptError, StoreCorruptError, "restore it from a backup"),
        (apsw.NotADBError, StoreCorruptError, "restore it from a backup"),
        (apsw.FormatError, StoreCorruptError, "restore it from a backup"),
        (apsw.ConnectionClosedError, StoreClosedError, "open it again"),
        (apsw.CursorClosedError, StoreClosedError, "open it again"),
        (apsw.ForkingViolationError, StoreClosedError, "open it again"),
        (apsw.IOError, StoreError, "the system's log"),
        (apsw.SQLError, StoreError, "report it"),
        (apsw.ConstraintError, StoreError, "report it"),
        (apsw.MisuseError, StoreError, "report it"),
        (apsw.NoMemError, StoreError, "report it"),
        (apsw.Error, StoreError, "report it"),
    ],
)
def test_an_error_of_the_driver_becomes_ours(
    theirs: type[apsw.Error], ours: type[StoreError], advice: str
) -> None:
    """The class tells whether to retry; the text names the file, the cause and a remedy."""
    cause = theirs("the driver's words")

    with pytest.raises(StoreError, match=advice) as caught, store_errors(FILE):
        raise cause

    assert ours is type(caught.value)
    assert cause is caught.value.__cause__
    assert repr(FILE) in str(caught.value)
    assert f"{theirs.__name__}: the driver's words" in str(caught.value)


def test_every_error_class_of_the_driver_is_caught() -> None:
    """No class of the driver's lies outside the base that is caught."""
    classes = [each for each in vars(apsw).values() if isinstance(each, type)]
    errors = [each for each in classes if issubclass(each, Exception)]

    strays = {each.__name__ for each in errors if not issubclass(each, apsw.Error)}

    assert {"ExecTraceAbort", "AbortError"} >= strays


def test_shared_memory_that_cannot_grow_is_a_full_disk() -> None:
    """SQLite calls it an I/O error when the index of the log has no room."""
    error = apsw.IOError("disk I/O error")
    error.extendedresult = apsw.SQLITE_IOERR_SHMSIZE  # type: ignore[attr-defined]

    with pytest.raises(StoreFullError), store_errors(FILE):
        raise error


@pytest.mark.parametrize(
    "value", [1 << 70, "\ud800"], ids=["a large integer", "half of a surrogate pair"]
)
def test_what_cannot_be_bound_is_the_callers_error(value: object) -> None:
    """A value that no row can hold is refused before it reaches the database."""
    connection = apsw.Connection(":memory:")

    with pytest.raises(UsageError, match="neither be stored nor looked for"), store_errors(FILE):
        connection.execute("SELECT ?", (value,))


def test_other_errors_pass() -> None:
    """What the driver did not raise is not touched."""
    with pytest.raises(KeyError), store_errors(FILE):
        raise KeyError
