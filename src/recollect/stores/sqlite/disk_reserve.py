"""Disk space kept in reserve, so that erasing works on a full disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from recollect.observability.logs import kind_of
from recollect.stores.sqlite.driver_errors import LOG

RESERVE_BYTES: Final = 4 << 20
"""The size of a log when it is due for a checkpoint."""


class Reserve:
    """
    A file of zeros beside the store, released when an erase meets a full disk.

    Deleting rows writes their pages to the log, and a checkpoint may grow the file: both need space
    at first. With the reserve released, the log can be checkpointed and restarted, and the erase
    written to it. An erase that changes more pages than log and reserve hold together still fails
    until space is freed. The reserve is allocated with the first write after opening, and again
    after cleaning, if the disk has space.
    """

    def __init__(self, store_path: str) -> None:
        self._file = Path(f"{store_path}-reserve")

    def release(self) -> bool:
        """Delete the file to release its space; return True if there was one."""
        try:
            self._file.unlink()
        except OSError:
            return False
        return True

    def fill(self) -> None:
        """Allocate the space if it is missing; log a warning if the disk is too full."""
        try:
            if not self._file.exists() or self._file.stat().st_size < RESERVE_BYTES:
                self._allocate()
        except OSError as error:
            LOG.warning(
                "%s: no space can be reserved for erasing on a full disk: %s",
                *(self._file, kind_of(error)),
            )
            with suppress(OSError):
                self._file.unlink(missing_ok=True)

    def _allocate(self) -> None:
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            else:
                os.write(descriptor, bytes(RESERVE_BYTES))
        finally:
            os.close(descriptor)
