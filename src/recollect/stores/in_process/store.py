"""The in-memory store: the reference implementation of the contract, gone with its process."""

from __future__ import annotations

import secrets
from threading import Lock
from typing import TypeVar

from recollect.errors import StoreClosedError
from recollect.ports import Clock, Ids
from recollect.stores.contract.base import Store
from recollect.stores.in_process.tables import Tables
from recollect.stores.unit_of_work import Plan, Query

ResultT = TypeVar("ResultT")


class InProcessStore(Store):
    """A store that lives as long as this object: for tests, experiments and short programs."""

    answers_in_place = True

    def __init__(self, *, clock: Clock | None = None, ids: Ids | None = None) -> None:
        super().__init__(clock=clock, ids=ids)
        self._tables: Tables | None = Tables()
        self._turn = Lock()
        self._key = secrets.token_bytes(32)

    async def aclose(self) -> None:
        """Drop all data."""
        self._tables = None

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        # Atomic without an undo: a plan that raises has written nothing, and `write` cannot fail.
        with self._turn:
            tables = self._open()
            planned = plan(tables)
            tables.write(planned.effect)
        return planned.result

    async def _read(self, query: Query[ResultT]) -> ResultT:
        with self._turn:
            return query(self._open())

    async def _clean(self) -> None:
        """Do nothing: removed rows are already gone from memory."""

    async def _secret(self) -> bytes:
        return self._key

    def _open(self) -> Tables:
        if self._tables is None:
            raise StoreClosedError("this store was closed: open another")
        return self._tables
