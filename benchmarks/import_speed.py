"""Records imported per second on SQLite and PostgreSQL, beside a bare COPY."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import psycopg
from anyio import to_thread
from psycopg import sql

from benchmarks.library_speed import ZipfTalk
from benchmarks.postgres_speed import own_database
from recollect.memory.facade import Recollect
from recollect.records import JsonObject, NewMessage, PutMemory, Scope
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s
from recollect.testing.temporary_databases import made_database

MESSAGES_PER_MEMORY: Final = 10
_WRITES: Final = 500
_TABLES: Final = ("thread", "message", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportShape:
    """A store to import: scopes, messages per scope, and a memory for every ten messages."""

    scopes: int
    messages: int


SHAPES: Final = (ImportShape(scopes=4, messages=3_000), ImportShape(scopes=600, messages=20))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRow:
    """Imports of one shape: records per second, and processor time per record in ms."""

    shape: ImportShape
    records: int
    sqlite_a_second: float
    sqlite_cpu_ms: float
    postgres_a_second: float
    postgres_cpu_ms: float
    copied_a_second: float
    """Rows per second by COPY into the same tables in one transaction, without our store."""


@dataclass(slots=True)
class ImportReport:
    """The medians of all turns, by shape."""

    rows: list[ImportRow] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


async def run(
    shapes: Sequence[ImportShape],
    turns: int,
    store: str | None,
    progress: Callable[[str], None] = lambda _: None,
) -> ImportReport:
    """Import every shape into each store in turn, in new databases; print nothing."""
    report = ImportReport()
    with own_database(store) as server, tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            records = await _exported(shape, Path(folder, f"{shape.scopes}.db"))
            found = []
            for turn in range(turns):
                progress(f"{len(records):,} records of {shape.scopes:,} scopes, turn {turn + 1}")
                file = str(Path(folder, f"{shape.scopes}-{turn}.db"))
                with made_database(server, "imports") as url:
                    measured = await _imported(file, records), await _imported(url, records)
                    found.append((*measured, await to_thread.run_sync(_copied_s, url)))
            report.rows.append(_row(shape, len(records), found))
    return report


async def _exported(shape: ImportShape, file: Path) -> list[JsonObject]:
    """Return the records of a store of *shape*, scope by scope."""
    talk, records = ZipfTalk(), list[JsonObject]()
    async with open_store(file) as store:
        for number in range(shape.scopes):
            scope: Scope = ("users", f"u{number}")
            said = talk.messages(shape.messages)
            for start in range(0, shape.messages, _WRITES):
                await store.append(scope, "talk", said[start : start + _WRITES])
            notes = [
                PutMemory(type="Note", key=f"n{each}", value={"content": talk.text(12)})
                for each in range(max(1, shape.messages // MESSAGES_PER_MEMORY))
            ]
            for start in range(0, len(notes), _WRITES):
                await store.apply(scope, notes[start : start + _WRITES])
            records += await store.archive(scope)
    return records


async def _imported(address: str, records: Sequence[JsonObject]) -> tuple[float, float]:
    """Return an import's duration and processor time in seconds."""
    async with Recollect(open_store(address), embedder="none") as memory:
        await memory.append(("first",), "talk", [NewMessage(role="user", text="warm")])
        began, cpu_s = timer_s(), time.process_time()
        await memory.import_records(records)
        return timer_s() - began, time.process_time() - cpu_s


def _copied_s(url: str) -> float:
    """Return the seconds that COPY takes to restore the rows of the tables."""
    with psycopg.connect(url) as connection:
        held = []
        for table in _TABLES:
            with connection.cursor().copy(_read(table)) as copy:
                held.append((table, b"".join(copy)))
            connection.execute(sql.SQL("TRUNCATE ") + sql.Identifier("recollect", table))
        connection.commit()
        began = timer_s()
        for table, rows in held:
            with connection.cursor().copy(_write(table)) as copy:
                copy.write(rows)
        connection.commit()
        return timer_s() - began


def _read(table: str) -> sql.Composed:
    # A partitioned table cannot be copied by its own name.
    rows = sql.SQL("COPY (SELECT * FROM ") + sql.Identifier("recollect", table)
    return rows + sql.SQL(") TO STDOUT (FORMAT binary)")


def _write(table: str) -> sql.Composed:
    name = sql.SQL("COPY ") + sql.Identifier("recollect", table)
    return name + sql.SQL(" FROM STDIN (FORMAT binary)")


def _row(
    shape: ImportShape,
    records: int,
    found: Sequence[tuple[tuple[float, float], tuple[float, float], float]],
) -> ImportRow:
    def median(times: Sequence[float]) -> float:
        return statistics.median(times) or 1.0

    sqlite, postgres, copied = zip(*found, strict=True)
    return ImportRow(
        shape=shape,
        records=records,
        sqlite_a_second=records / median([each for each, _ in sqlite]),
        sqlite_cpu_ms=median([cpu_s for _, cpu_s in sqlite]) * 1_000 / records,
        postgres_a_second=records / median([each for each, _ in postgres]),
        postgres_cpu_ms=median([cpu_s for _, cpu_s in postgres]) * 1_000 / records,
        copied_a_second=records / median(list(copied)),
    )
