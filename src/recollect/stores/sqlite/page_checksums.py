"""
Page checksums: each page of a new file ends with one, verified on every read.

SQLite's VFS ``cksumvfs`` (https://www.sqlite.org/cksumvfs.html), included in the driver's wheels,
computes and verifies them. A mismatched page is not read: the driver raises an I/O error with the
code ``SQLITE_IOERR_DATA``. The log has its own checksums.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    import numpy as np

LAYER: Final = "cksmvfs"
"""The name of the VFS once it is loaded; the extension that contains it has another name."""
RESERVED_BYTES: Final = 8
"""Bytes at the end of each page that hold its checksum."""
RESERVED_AT: Final = 20
"""Offset in the file header of the number of bytes reserved in each page."""
VERIFYING: Final = "checksum_verification"
"""The pragma that only this VFS answers."""
_EXTENSION: Final = "cksumvfs"
_WORD_BYTES: Final = 4

_loading: Final = Lock()
_coefficients: Final[dict[int, tuple[np.ndarray, np.ndarray]]] = {}


def checksum_layer() -> str | None:
    """
    Return the name of SQLite's VFS with page checksums, after loading it if necessary.

    ``None`` if this build of the driver does not contain it. Other connections of the process keep
    their default VFS.
    """
    with _loading:
        if LAYER in apsw.vfs_names():
            return LAYER
        return LAYER if _load() else None


def _load() -> bool:
    try:
        from apsw import sqlite_extra
    except ImportError:
        return False
    default, connection = apsw.vfs_names()[0], apsw.Connection(":memory:")
    try:
        sqlite_extra.load(connection, _EXTENSION)
    except (sqlite_extra.NotAvailable, LookupError, AttributeError, apsw.Error):
        return False
    finally:
        connection.close()
        # Loading makes it the default of the whole process, for other libraries too.
        apsw.set_default_vfs(default)
    return LAYER in apsw.vfs_names()


def are_compared(connection: apsw.Connection) -> bool:
    """Return True if the VFS of *connection* computes and verifies checksums."""
    return connection.pragma(VERIFYING) is not None


def is_checksum_error(error: BaseException | None) -> bool:
    """Return True if the driver raised *error* for a page that does not match its checksum."""
    code = getattr(error, "extendedresult", None)
    return isinstance(error, apsw.IOError) and code == apsw.SQLITE_IOERR_DATA


def page_checksum(page: bytes) -> bytes:
    """
    Return the checksum of a page as ``cksumvfs`` computes it, of all bytes but the last eight.

    It consists of two sums of the page's words, each word multiplied by a number for its place.

    >>> page_checksum(bytes(4_096)).hex()
    '0000000000000000'
    """
    import numpy as np

    count = (len(page) - RESERVED_BYTES) // _WORD_BYTES
    words = np.frombuffer(page, dtype="<u4", count=count)
    sums = [int((words * each).sum(dtype=np.uint32)) for each in _coefficients_of(count)]
    return b"".join(each.to_bytes(_WORD_BYTES, "little") for each in sums)


def with_checksum(page: bytes) -> bytes:
    """Return *page* with its checksum in its last eight bytes."""
    return page[:-RESERVED_BYTES] + page_checksum(page)


def has_checksum(page: bytes) -> bool:
    """Return True if *page* ends with its checksum."""
    return page[-RESERVED_BYTES:] == page_checksum(page)


def _coefficients_of(count: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the factors of *count* words in the two sums of a checksum.

    ``cksumvfs`` adds the words in pairs (x, y): first += x + second, then second += y + first. So a
    pair is multiplied by a power of the matrix [[1, 1], [1, 2]], modulo 2**32.
    """
    # With the factors numpy computes a page at once; a loop over its words takes far longer.
    if count not in _coefficients:
        sums: tuple[list[int], list[int]] = ([], [])
        a, b, c, d = 1, 0, 0, 1
        for _ in range(count // 2):
            sums[0].extend((b, a + b))
            sums[1].extend((d, c + d))
            a, b, c, d = (each & 0xFFFF_FFFF for each in (a + b, a + 2 * b, c + d, c + 2 * d))
        first, second = (_reversed_words(each) for each in sums)
        _coefficients[count] = first, second
    return _coefficients[count]


def _reversed_words(numbers: Sequence[int]) -> np.ndarray:
    import numpy as np

    return np.array([each & 0xFFFF_FFFF for each in reversed(numbers)], dtype=np.uint32)
