"""A store whose process dies while it is written."""

from typing import TypeVar

from recollect.stores.in_process.store import InProcessStore
from recollect.stores.unit_of_work import Plan

ResultT = TypeVar("ResultT")


class StoppedError(Exception):
    """The process is killed here."""


class Stopping(InProcessStore):
    """A destination whose process dies at its *calls*-th write."""

    calls = 10**9

    async def _transact(self, plan: Plan[ResultT]) -> ResultT:
        self.calls -= 1
        if self.calls < 0:
            raise StoppedError
        return await super()._transact(plan)
