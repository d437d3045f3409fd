"""Preconditions: refuse a change if the data that it is based on has changed since; pure."""

from __future__ import annotations

from typing import TypeVar

from recollect.errors import RecollectError, StaleReadError
from recollect.records import Scope
from recollect.side_records import SETTING_KINDS
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Proviso, Rows
from recollect.text.scope_paths import written_scope

ResultT = TypeVar("ResultT")


def plan_under_stamp(rows: Rows, plan: Plan[ResultT], stamp: int) -> PlannedWrite[ResultT]:
    """
    Run *plan* if the store's settings still have this *stamp*.

    Raises:
        StaleReadError: The settings have changed, or the store has no stamp.
    """
    if rows.settings_stamp != stamp:
        raise StaleReadError(
            f"settings have changed since they were read (stamp {stamp}, now "
            f"{rows.settings_stamp}): read them again"
        )
    return plan(rows)


def plan_provided(rows: Rows, plan: Plan[ResultT], proviso: Proviso) -> PlannedWrite[ResultT]:
    """
    Run *plan* if *proviso* does not raise.

    If it raises, its error replaces an error of *plan*, which could reveal data.
    """
    # The proviso runs as late as possible, and after the plan because on Redis the first scope that
    # is read decides which writers to wait for.
    try:
        planned = plan(rows)
    except RecollectError:
        proviso(rows)
        raise
    proviso(rows)
    return planned


def plan_since(
    rows: Rows, plan: Plan[ResultT], scope: Scope, epoch: int, seq: int | None = None
) -> PlannedWrite[ResultT]:
    """
    Run *plan* if nothing was erased in *scope* since *epoch*, and no memory changed since *seq*.

    Raises:
        StaleReadError: Something was erased since, or a memory was changed.
    """
    found = rows.scope(scope)
    if (found.epoch if found else 0) != epoch:
        raise StaleReadError(
            f"something was erased in {written_scope(scope)} since it was read: read it again"
        )
    if found and seq is not None and _has_changed_memory(rows, found, seq):
        raise StaleReadError(
            f"a memory in {written_scope(scope)} was changed since it was read: read it again"
        )
    return plan(rows)


def _has_changed_memory(rows: Rows, scope: ScopeRow, seq: int) -> bool:
    """Return True if a memory of *scope* was written after *seq*; spare the read if nothing was."""
    # Messages raise the sequence number as well, but contradict no decision about memories.
    return scope.seq != seq and any(
        each.kind == "memory" for each in rows.changed(scope.id, seq, None)
    )


def changes_settings(effect: Effect) -> bool:
    """Return True if an effect may change a setting; false positives are allowed."""
    if effect.dropped_scopes:
        return True
    return any(row.kind in SETTING_KINDS for row in (*effect.sides, *effect.dropped_sides))
