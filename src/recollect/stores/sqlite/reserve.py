"""Room that is kept on the disk so that erasing works when nothing else does."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

RESERVE_BYTES: Final = 4 << 20
"""As much as the log holds when it is due to be carried over into the file."""


class Reserve:
    """
    A file of zeros beside the store, given up when an erase meets a full disk.

    Deleting rows and carrying the log over into the file both need room at first. With
    the reserve gone the log can be carried over and begun anew, and the erase written
    into it. An erase whose changed pages exceed log and reserve together still fails:
    somebody has to make room. The reserve comes back when bytes were cleaned, or the
    store is opened, and there is room for it.
    """

    def __init__(self, store_path: str) -> None:
        self._path = Path(f"{store_path}-reserve")

    def release(self) -> bool:
        """Give the room back to the disk; say whether there was any."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True

    def fill(self) -> None:
        """Take the room, if the disk has it."""
        try:
            if self._path.exists() and self._path.stat().st_size == RESERVE_BYTES:
                return
            self._allocate()
        except OSError:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _allocate(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            else:
                os.write(descriptor, bytes(RESERVE_BYTES))
        finally:
            os.close(descriptor)
