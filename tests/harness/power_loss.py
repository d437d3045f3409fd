"""A disk that can lose power: it knows what was synced, and gives every state that may be left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import count
from os import PathLike
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, get_args
from unittest.mock import patch

import apsw

from recollect.ports import Clock, Ids
from recollect.stores.contract.durability import Durability
from recollect.stores.sqlite.free_pages import page_size
from recollect.stores.sqlite.page_checksums import (
    RESERVED_AT,
    RESERVED_BYTES,
    VERIFYING,
    has_checksum,
    with_checksum,
)
from recollect.stores.sqlite.store import SQLiteStore

SECTOR_BYTES: Final = 512
"""The unit that a disk writes atomically."""

Survival: TypeAlias = Literal["nothing", "some", "torn", "everything"]
"""
The fate of writes that were not synced when the power fails.

``"nothing"`` and ``"everything"`` of them is on the disk; ``"some"`` writes are and others
are not, in no order; ``"torn"`` lets each sector of each write decide for itself. Bytes
outside of a write are never harmed.
"""

SURVIVALS: Final[tuple[Survival, ...]] = get_args(Survival)

Kind: TypeAlias = Literal["create", "write", "truncate", "sync", "delete"]

_HEADER_BYTES: Final = 100
_SYNC_FOLDER: Final = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """
    One thing that was done to a file.

    *file* tells apart the files that had one name after the other. *at* is an offset, or
    the new size. *folder* says that names given or taken before are on the disk as well.
    A sync that *failed* leaves open for good what it was to make certain.
    """

    kind: Kind
    path: str
    file: int
    at: int = 0
    content: bytes = b""
    folder: bool = False
    failed: bool = False


class PowerLossDisk:
    """
    A file layer for SQLite that keeps a record from which any power loss can be played.

    Files stand at their own paths and are read and written there; nothing waits for the
    real disk. Enter it, `open` stores on it, work. Every write, truncate, sync, create and
    delete is one of *operations*. Whatever was acknowledged when *operations* had length n
    must be in each state that `survivors` returns for the moment n, whatever survives
    of the rest. Other connections of the process use it by naming *vfs*.

    A disk that is not *honest* confirms a sync and does nothing: what any store loses on
    it shows that a test would notice. All stores on it are closed before it is left.
    """

    _numbers: ClassVar[Iterator[int]] = count(1)

    def __init__(self, *, honest: bool = True) -> None:
        self.vfs = f"power-loss-{next(self._numbers)}"
        self.operations: list[Operation] = []
        self._honest = honest
        self._bases: dict[int, tuple[str, bytes]] = {}
        self._live: dict[str, int] = {}
        self._files = count(1)
        self._stops_at: int | None = None
        self._fails_at: int | None = None
        self._layer: _Layer | None = None

    def __enter__(self) -> Self:
        self._layer = _Layer(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._layer:
            self._layer.unregister()
            self._layer = None

    def open(
        self,
        path: str | PathLike[str],
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        durability: Durability = "full",
    ) -> SQLiteStore:
        """Open a store whose file, log and journal are on this disk; see `SQLiteStore`."""
        return SQLiteStore(path, clock=clock, ids=ids, durability=durability, vfs=self.vfs)

    @property
    def moment(self) -> int:
        """Return how many operations were done so far."""
        return len(self.operations)

    @property
    def counts(self) -> Mapping[Kind, int]:
        """Return how many operations of each kind were done so far."""
        return Counter(operation.kind for operation in self.operations)

    def stop_at(self, moment: int) -> None:
        """Let the power fail within the operation that makes *moment*, and so all later ones."""
        self._stops_at = moment

    def fail_at(self, moment: int) -> None:
        """
        Let the operation that makes *moment* fail, and only that one.

        A sync that fails never makes certain what was written before it, however often it
        is repeated, as on systems that drop what they could not write.
        """
        self._fails_at = moment

    def survivors(
        self, survival: Survival, random: Random, moment: int | None = None
    ) -> dict[str, bytes]:
        """
        Return the files, by path, as they may be after the power failed.

        Args:
            survival: What becomes of the writes that were not synced.
            random: Decides which, where that is left to chance.
            moment: After how many operations; all that were done if ``None``.
        """
        images = {file: _Image(base) for file, (_, base) in self._bases.items()}
        names = [
            _Name(path=path, file=file, certain=True) for file, (path, _) in self._bases.items()
        ]
        for operation in self.operations[:moment]:
            _record(operation, images, names)
        lot = _Lot(survival, random)
        standing: dict[str, int] = {}
        for name in names:
            if name.certain or lot.survives():
                if name.is_given:
                    standing[name.path] = name.file
                else:
                    standing.pop(name.path, None)
        return {path: images[file].bytes_left(lot) for path, file in standing.items()}

    def lose_power(self, survival: Survival, random: Random) -> None:
        """
        Put in place what survives, and begin a new record from there; the power is back.

        Every store on this disk was closed before; where the power is off its closing
        changes nothing any more.
        """
        left = self.survivors(survival, random)
        for path in self._live.keys() | left.keys():
            Path(path).unlink(missing_ok=True)
            Path(f"{path}-shm").unlink(missing_ok=True)
        for path, content in left.items():
            Path(path).write_bytes(content)
        self.operations, self._bases, self._live = [], {}, {}
        self._stops_at = self._fails_at = None

    # What the layer reports

    def opened(self, path: str) -> int:
        """Record that the file at *path* is about to be opened; return its number."""
        if path not in self._live:
            self._live[path] = file = next(self._files)
            if Path(path).exists():
                self._bases[file] = path, Path(path).read_bytes()
            else:
                self.done(Operation(kind="create", path=path, file=file))
        return self._live[path]

    def deleted(self, path: str, *, folder: bool) -> None:
        """Record that the name *path* is about to be taken from its file."""
        file = self._live.pop(path, None)
        if file is not None:
            folder = folder and self._honest
            self.done(Operation(kind="delete", path=path, file=file, folder=folder))

    def done(self, operation: Operation) -> None:
        """
        Take note of what is about to be done.

        Raises:
            apsw.IOError: The power is off, or this one fails.
        """
        self.check_power()
        moment = self.moment + 1
        fails, stops = moment == self._fails_at, moment == self._stops_at
        if fails or stops or (operation.kind == "sync" and not self._honest):
            operation = replace(operation, folder=False, failed=True)
        self.operations.append(operation)
        if fails or stops:
            msg = f"operation {moment} failed: {operation.kind} {operation.path}"
            raise apsw.IOError(msg)

    def check_power(self) -> None:
        """Raise if the power is off."""
        if self._stops_at is not None and self.moment >= self._stops_at:
            msg = f"the power is off since operation {self._stops_at}"
            raise apsw.IOError(msg)


class _Layer(apsw.VFS):
    """The file layer, as SQLite calls it."""

    # A connection that nobody closed may be collected together with this layer, and closes its
    # file after the layer's own fields are gone.
    _disk: PowerLossDisk | None = None

    def __init__(self, disk: PowerLossDisk) -> None:
        super().__init__(disk.vfs, base="")
        self._disk = disk

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        if name is None or self._disk is None:
            return apsw.VFSFile("", name, flags)
        self._disk.check_power()
        path = name if isinstance(name, str) else name.filename()
        number = self._disk.opened(path)
        return _File(self._disk, name, flags, Operation(kind="sync", path=path, file=number))

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802, FBT001
        if self._disk is not None:
            self._disk.check_power()
            self._disk.deleted(filename, folder=syncdir)
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    """An open file, as SQLite calls it; of the store's own it keeps the checksums of pages."""

    def __init__(
        self,
        disk: PowerLossDisk,
        name: str | apsw.URIFilename,
        flags: list[int],
        operation: Operation,
    ) -> None:
        self._disk, self._any = disk, operation
        self._answers = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        self._checked_bytes = 0
        """How large pages with checksums are, 0 as far as there are none."""
        self._is_locked = False
        # SQLite syncs the folder with the first sync of a journal or log that it may create.
        self._syncs_folder = bool(flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _SYNC_FOLDER)
        super().__init__("", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._disk.check_power()
        found = super().xRead(amount, offset)
        self._note_header(found, offset)
        # Who takes no lock looks at the bytes as they are.
        is_page = self._is_locked and 0 < len(found) == self._checked_bytes
        if is_page and not has_checksum(found):
            error = apsw.IOError(f"the page at {offset} does not match its checksum")
            # The driver passes it on to SQLite, which knows no other kind of checksum error.
            vars(error)["extendedresult"] = apsw.SQLITE_IOERR_DATA
            raise error
        return found

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        content = bytes(data)
        self._note_header(content, offset)
        if 0 < len(content) == self._checked_bytes:
            content = with_checksum(content)
        self._done("write", at=offset, content=content)
        super().xWrite(content, offset)

    def xLock(self, level: int) -> None:  # noqa: N802
        self._is_locked = True
        super().xLock(level)

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        if op == apsw.SQLITE_FCNTL_PRAGMA and self._answers:
            pragma = apsw.VFSFcntlPragma(ptr)
            if pragma.name == VERIFYING:
                pragma.result = str(int(bool(self._checked_bytes)))
                return True
        return super().xFileControl(op, ptr)

    def _note_header(self, content: bytes, offset: int) -> None:
        if self._answers and offset == 0 and len(content) >= _HEADER_BYTES:
            is_checked = content[RESERVED_AT] == RESERVED_BYTES
            self._checked_bytes = page_size(content) if is_checked else 0

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._done("truncate", at=newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._done("sync", folder=self._syncs_folder)
        self._syncs_folder = False

    def _done(self, kind: Kind, **what: Any) -> None:
        self._disk.done(replace(self._any, kind=kind, **what))


@dataclass(slots=True)
class _Lot:
    """Decides by chance what survives, as often as it is asked."""

    survival: Survival
    random: Random
    share: float = field(init=False)

    def __post_init__(self) -> None:
        self.share = self.random.choice((0.1, 0.5, 0.9))

    def survives(self) -> bool:
        if self.survival in {"nothing", "everything"}:
            return self.survival == "everything"
        return self.random.random() < self.share

    def parts(self, at: int, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield what survives of a write: offset and bytes."""
        if self.survival != "torn":
            if self.survives():
                yield at, content
            return
        start = 0
        while start < len(content):
            end = start + SECTOR_BYTES - (at + start) % SECTOR_BYTES
            if self.survives():
                yield at + start, content[start:end]
            start = end


class _Image:
    """The first content of a file, and every change to it since, certain or not."""

    def __init__(self, base: bytes = b"") -> None:
        self._base = base
        self._changes: list[Operation] = []
        self._certain: list[bool] = []

    def change(self, operation: Operation) -> None:
        """Add a change; the next sync settles it."""
        self._changes.append(operation)

    def sync(self, *, failed: bool) -> None:
        """Settle the changes since the last sync: for certain, or in doubt for good."""
        unsettled = self._changes[len(self._certain) :]
        self._certain += [not (failed or change.failed) for change in unsettled]

    def bytes_left(self, lot: _Lot) -> bytes:
        """Return what the file holds after the power failed."""
        content = bytearray(self._base)
        for at, change in enumerate(self._changes):
            is_certain = at < len(self._certain) and self._certain[at]
            if change.kind == "truncate":
                if is_certain or lot.survives():
                    del content[change.at :]
                    _put(content, change.at, b"")
            elif is_certain:
                _put(content, change.at, change.content)
            else:
                for start, part in lot.parts(change.at, change.content):
                    _put(content, start, part)
        return bytes(content)


def _put(content: bytearray, at: int, part: bytes) -> None:
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    content[at : at + len(part)] = part


@dataclass(slots=True, kw_only=True)
class _Name:
    """A name that was given to a file or taken from it, and whether the folder says so."""

    path: str
    file: int
    is_given: bool = True
    certain: bool = False


def _record(operation: Operation, images: dict[int, _Image], names: list[_Name]) -> None:
    """Play one operation."""
    path, file = operation.path, operation.file
    image = images.setdefault(file, _Image())
    match operation.kind:
        case "create":
            names.append(_Name(path=path, file=file))
        case "delete":
            names.append(_Name(path=path, file=file, is_given=False))
        case "sync":
            image.sync(failed=operation.failed)
        case _:
            image.change(operation)
    if operation.folder:
        for name in names:
            name.certain |= Path(name.path).parent == Path(path).parent


def driver_with(**pragmas: str) -> type[apsw.Connection]:
    """Return a driver whose *pragmas* are these, whatever it is told."""

    class Stubborn(apsw.Connection):
        def pragma(self, name: str, *value: Any, schema: str | None = None) -> Any:
            stubborn = [pragmas.get(name, each) for each in value]
            return super().pragma(name, *stubborn, schema=schema)

    return Stubborn


class Impatient(apsw.Connection):
    """A driver that waits for nobody: a busy timeout of 0."""

    def set_busy_handler(self, *_: object) -> None:
        """Do nothing."""


class Uncut(apsw.Connection):
    """A driver that carries the log over into the file, and says it was cut."""

    def wal_checkpoint(self, *_: object, **__: object) -> tuple[int, int]:
        """Do half of it."""
        super().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return 0, 0


def driven_by(driver: type[apsw.Connection]) -> AbstractContextManager[object]:
    """Let the stores that are opened meanwhile have such connections: mutants to be caught."""
    return patch.object(apsw, "Connection", driver)
