"""What `recollect doctor` reads of a SQLite file itself: its library, schema and soundness."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FINDINGS_MAX: Final = 5
_BESIDE: Final = ("-wal", "-shm", "-reserve")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A store's file: its size with and without what stands beside it, its schema, its damage."""

    path: Path
    size_bytes: int
    beside_bytes: int
    schema: int
    damage: tuple[str, ...]


def library_version() -> str:
    """Return the version of the SQLite library in use."""
    import apsw

    return apsw.sqlite_lib_version()


def read_file_state(path: Path) -> FileState:
    """
    Read every page of the file, and compare its indexes with its tables; nothing is written.

    Damage that keeps SQLite from reading the file at all is told like any other.
    """
    import apsw

    beside = (path.with_name(path.name + suffix) for suffix in _BESIDE)
    schema, damage = 0, []
    try:
        # Not opened for reading alone: such a connection leaves the log and its index behind.
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.pragma("query_only", True)  # noqa: FBT003
            schema = int(connection.pragma("user_version"))
            rows = connection.execute(f"PRAGMA integrity_check({_FINDINGS_MAX})").fetchall()
            damage = [str(said) for (said,) in rows if said != "ok"]
        finally:
            connection.close()
    except apsw.Error as error:
        damage.append(f"{type(error).__name__}: {error}")
    return FileState(
        path=path,
        size_bytes=path.stat().st_size,
        beside_bytes=sum(each.stat().st_size for each in beside if each.exists()),
        schema=schema,
        damage=tuple(damage),
    )
