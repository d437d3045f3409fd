"""Identity of an opened file, to notice when its name points elsewhere; and its disk."""

from __future__ import annotations

import os

from recollect.errors import StoreUnavailableError


class Identity:
    """
    The device and inode numbers of the file and its log when the store was opened.

    A file deleted or renamed while open can still be written through its descriptor, and writes
    acknowledged then would be lost. No other process removes the log while the store is open.
    """

    def __init__(self, path: str) -> None:
        self._file = path
        self._log = f"{path}-wal"
        self._numbers = self._current_identity()

    def check(self) -> None:
        """
        Raise if the names no longer lead to the files that were opened.

        Raises:
            StoreUnavailableError: The file or its log was moved, replaced or deleted.
        """
        if self._current_identity() != self._numbers:
            raise StoreUnavailableError(
                f"{self._file!r}, or the log beside it, was moved, replaced or deleted while "
                "it was open: put it back, or close this store and open the right file"
            )

    def _current_identity(self) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        return number_of(self._file), number_of(self._log)


def is_on_read_only_disk(path: str) -> bool:
    """Return True if the disk is mounted read only, as after a fault; unknown is False."""
    if os.name != "posix":
        return False
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def number_of(path: str) -> tuple[int, int] | None:
    """Return the device and inode numbers of the file at *path*, ``None`` if there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 (at every transaction: a Path takes twice as long)
    except OSError:
        return None
    return found.st_dev, found.st_ino
