"""The state of a SQLite file, read while no store has it open."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final

import apsw

from recollect.stores.file_state import FINDINGS_MAX, FileState
from recollect.stores.sqlite.connections import open_alone
from recollect.stores.sqlite.examination import examine
from recollect.stores.sqlite.index_files import size_beside
from recollect.stores.sqlite.page_checksums import VERIFYING
from recollect.stores.sqlite.page_repairs import keeps_checksums, mismatching_pages

_BESIDE: Final = ("-wal", "-shm", "-reserve", "-rewrites")


def read_file_state(path: Path) -> FileState:
    """
    Examine every page and row of the file, and the references between rows; nothing is written.

    Damage that keeps SQLite from reading the file at all is reported like any other. If pages do
    not match their checksums, the rest is examined without verifying checksums.
    """
    beside = (path.with_name(path.name + suffix) for suffix in _BESIDE)
    schema, damage, mismatched = 0, list[str](), list[int]()
    has_page_checksums = False
    try:
        has_page_checksums = keeps_checksums(str(path))
        mismatched = mismatching_pages(str(path))
        schema, damage = _examined(path, are_compared=not mismatched)
    except (apsw.Error, ValueError) as error:
        damage.append(f"{type(error).__name__}: {error}")
    index_files, index_bytes = size_beside(path)
    return FileState(
        path=path,
        size_bytes=path.stat().st_size,
        beside_bytes=index_bytes + sum(each.stat().st_size for each in beside if each.exists()),
        index_files=index_files,
        index_bytes=index_bytes,
        schema=schema,
        has_page_checksums=has_page_checksums,
        mismatched=tuple(mismatched),
        damage=tuple(damage),
    )


def _examined(path: Path, *, are_compared: bool) -> tuple[int, list[str]]:
    """Return the schema version of the file, and the first findings of its examination."""
    connection = open_alone(path)
    try:
        connection.pragma("query_only", True)  # noqa: FBT003
        if not are_compared:
            connection.pragma(VERIFYING, False)  # noqa: FBT003
        schema = int(connection.pragma("user_version"))
        connection.execute("BEGIN")
        return schema, list(islice(examine(connection), FINDINGS_MAX))
    finally:
        connection.close()
