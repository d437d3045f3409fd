"""Changes that rest on what was read before: on settings, or on what a scope held; pure."""

from __future__ import annotations

from typing import TypeVar

from recollect.errors import RecollectError, StaleReadError
from recollect.records import SETTING_KINDS, Scope
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Proviso, Rows

ResultT = TypeVar("ResultT")


def plan_under_stamp(rows: Rows, plan: Plan[ResultT], stamp: int) -> PlannedWrite[ResultT]:
    """
    Carry out *plan* if the store's settings are still those of *stamp*.

    Raises:
        StaleReadError: They are not, or the store keeps no stamp.
    """
    if rows.settings_stamp != stamp:
        msg = (
            f"settings were read under the stamp {stamp}, and have {rows.settings_stamp} now: "
            "read them again"
        )
        raise StaleReadError(msg)
    return plan(rows)


def plan_provided(rows: Rows, plan: Plan[ResultT], proviso: Proviso) -> PlannedWrite[ResultT]:
    """
    Carry out *plan* if *proviso* raises nothing.

    It is asked last, as late as can be: also because on Redis the first scope that is read
    settles for whom a writer waits. What *plan* refuses tells nothing to whom *proviso* refuses.
    """
    try:
        planned = plan(rows)
    except RecollectError:
        proviso(rows)
        raise
    proviso(rows)
    return planned


def plan_since(rows: Rows, plan: Plan[ResultT], scope: Scope, epoch: int) -> PlannedWrite[ResultT]:
    """
    Carry out *plan* if nothing was erased in *scope* since it had *epoch*.

    Raises:
        StaleReadError: Something was.
    """
    found = rows.scope(scope)
    if (found.epoch if found else 0) != epoch:
        msg = f"something was erased in {scope!r} since it was read: read it again"
        raise StaleReadError(msg)
    return plan(rows)


def changes_settings(effect: Effect) -> bool:
    """Return True if an effect may change a setting: one too often rather than one too few."""
    if effect.dropped_scopes:
        return True
    return any(row.kind in SETTING_KINDS for row in (*effect.sides, *effect.dropped_sides))
