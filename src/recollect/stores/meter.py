"""What measures the changes of a store, and may refuse them: asked inside each transaction."""

from __future__ import annotations

from typing import Final, Protocol

from recollect.records import Scope
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, ResultT, Rows

UNMEASURED_ACTIONS: Final = frozenset(
    {"erase", "remove", "keep", "prolong", "pause", "resume", "signal", "redrive", "form"}
)
"""
Actions of `Transactor._change` that no meter is asked about.

They remove something, which a full account must not prevent, or write nothing that a caller
brought: what is formed is counted by the calls and tokens of its receipt.
"""


class Charge(Protocol):
    """The cost of one change, from its transaction to its end."""

    def reserve(self, rows: Rows, effect: Effect) -> None:
        """
        Reserve what *effect* costs, in place of what was reserved before.

        It is called in the transaction, on any thread, and again if the transaction is.

        Raises:
            QuotaError: It is more than may be spent; nothing is written then.
        """

    def spend(self) -> None:
        """Turn what was reserved into spent: it is committed."""

    def release(self) -> None:
        """Give back what was reserved: nothing was written."""


class Meter(Protocol):
    """Measures the changes of a store."""

    async def charge(self, action: str, scope: Scope) -> Charge:
        """Return the charge of a change of *scope* that is about to begin."""


def plan_charged(rows: Rows, plan: Plan[ResultT], charge: Charge) -> PlannedWrite[ResultT]:
    """
    Carry out *plan* if what it writes may be spent.

    Raises:
        QuotaError: It may not.
    """
    planned = plan(rows)
    charge.reserve(rows, planned.effect)
    return planned
