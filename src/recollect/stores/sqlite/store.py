"""The store in one SQLite file: the default, for one machine, without a server."""

from __future__ import annotations

import asyncio
import os
from typing import Final, TypeVar

import apsw

from recollect.errors import StoreClosedError, StoreUnavailableError
from recollect.ports import Clock, Ids
from recollect.stores.base import Store
from recollect.stores.sqlite.connect import Durability, Location, open_file
from recollect.stores.sqlite.readers import Readers
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.writer import Errand, Writer
from recollect.stores.unit import Plan, Query

ResultT = TypeVar("ResultT")


class SQLiteStore(Store):
    """x."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        durability: Durability = "full",
        vfs: str | None = None,
    ) -> None:
        super().__init__(clock=clock, ids=ids)
        location = Location(path=os.path.abspath(path), vfs=vfs, durability=durability)
        self._path = location.path
        self._process = os.getpid()
        connection = open_file(location)
        self._key = SQLiteRows(connection).secret()
        self._writer = Writer(location, connection)
        self._readers = Readers(location)

    async def aclose(self) -> None:
        """Finish what waits, then close the file."""
        self._check_process()
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    def _close(self) -> None:
        self._readers.close()
        self._writer.close()

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        self._check_process()
        result: ResultT = await self._writer.carry_out(plan)
        return result

    async def _read(self, query: Query[ResultT]) -> ResultT:
        self._check_process()
        result: ResultT = await self._readers.run(query)
        return result

    async def _clean(self) -> None:
        self._check_process()
        await self._writer.carry_out(Errand(_clean))

    async def _secret(self) -> bytes:
        return self._key

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            msg = f"{self._path!r}: this store belongs to the process {self._process} that opened it: open another after a fork"
            raise StoreClosedError(msg)


def _clean(connection: apsw.Connection) -> None:
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
