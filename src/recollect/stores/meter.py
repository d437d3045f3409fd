"""Meter changes: a meter is asked inside each transaction and may refuse it."""

from __future__ import annotations

from typing import Final, Protocol

from recollect.records import Scope
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, ResultT, Rows

UNMEASURED_ACTIONS: Final = frozenset(
    {"erase", "remove", "keep", "prolong", "pause", "resume", "signal", "redrive", "form"}
)
"""
Actions of `Transactor._change` that are not metered.

Some remove data, which a used-up quota must not prevent. The others store nothing that the caller
supplied; a formation is counted by the calls and tokens of its receipt.
"""


class Charge(Protocol):
    """The cost of one change, from its transaction to its end."""

    def reserve(self, rows: Rows, effect: Effect) -> None:
        """
        Reserve the cost of *effect*, replacing any earlier reservation of this charge.

        Called in the transaction, on any thread, and again if the transaction is retried.

        Raises:
            QuotaError: The cost exceeds the quota; nothing is written.
        """

    def spend(self) -> None:
        """Turn the reservation into spending: the change is committed."""

    def release(self) -> None:
        """Cancel the reservation: nothing was written."""


class Meter(Protocol):
    """Meters the changes of a store."""

    async def charge(self, action: str, scope: Scope) -> Charge:
        """Return the charge for a change of *scope* that is about to begin."""


def plan_charged(rows: Rows, plan: Plan[ResultT], charge: Charge) -> PlannedWrite[ResultT]:
    """
    Run *plan* if its cost may be spent.

    Raises:
        QuotaError: The cost exceeds the quota.
    """
    planned = plan(rows)
    charge.reserve(rows, planned.effect)
    return planned
