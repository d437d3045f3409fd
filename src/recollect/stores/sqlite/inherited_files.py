"""Files that a parent process had open at a fork, which a child must not open again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from recollect.errors import StoreClosedError
from recollect.stores.sqlite.file_identity import number_of


@dataclass(frozen=True, eq=False, slots=True)
class OpenedFile:
    """A file that a process opened, by its device and inode numbers."""

    process: int
    number: tuple[int, int] | None


_OPENED: Final[dict[OpenedFile, None]] = {}
"""The files that are open, and in a child those that were open at the fork."""


def check_not_inherited(path: str) -> None:
    """
    Raise if the file was open in the parent process at the fork of this one.

    A fork copies SQLite's list of the locks that the process holds, and not the locks. A connection
    of the child to such a file then relies on locks that nobody holds, and the parent, when it
    closes the file, deletes the log with the child's newest commits.

    Raises:
        StoreClosedError: It was open.
    """
    number, process = number_of(path), os.getpid()
    for each in tuple(_OPENED):
        if each.process != process and each.number == number is not None:
            raise StoreClosedError(
                f"{path!r}: process {each.process} had this file open when it forked process "
                f"{process}, in which SQLite would lose writes: open the file after the fork, in "
                "each process, or start processes with 'spawn' or 'forkserver'"
            )


def note_opened(path: str) -> OpenedFile:
    """Record that this process has the file at *path* open, until `note_closed`."""
    opened = OpenedFile(os.getpid(), number_of(path))
    _OPENED[opened] = None
    return opened


def note_closed(opened: OpenedFile) -> None:
    """Record that a file was closed; idempotent. In a child, its parent still has it open."""
    if opened.process == os.getpid():
        _OPENED.pop(opened, None)
