"""Record the entries that external vector stores have to remove after a deletion; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from recollect.ports import Ids
from recollect.records import Scope
from recollect.side_records import PutSideRecord
from recollect.stores.plans.memory_writes import plan_apply
from recollect.stores.plans.prepared_writes import prepare_write
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Rows, together

OUTSIDE_SCOPE: Final[Scope] = ("recollect:outside",)
"""
The scope that records which external vector stores mirror this store, and what they must remove.

It exists once the store has been opened with one, and holds no content: only the names of external
stores, and random ids.
"""
MIRROR: Final = "OutsideStore"
"""Kind of the side records that name the external stores, by key."""
LEFT: Final = "OutsideLeft"
"""Kind of the side records that list the entries an external store still has to remove."""
UIDS_MAX: Final = 10_000
"""Ids in one such record, at most."""

ResultT = TypeVar("ResultT")


def plan_noting(
    rows: Rows, plan: Plan[ResultT], name: str, *, ids: Ids, now: int
) -> PlannedWrite[ResultT]:
    """
    Run a deletion, and record what each external vector store has to remove for it.

    Args:
        name: The id of the erase's receipt, or another id where there is none.
    """
    planned = plan(rows)
    effect = planned.effect
    if not (effect.removed or effect.memories or effect.dropped_scopes):
        return planned
    here = rows.scope(OUTSIDE_SCOPE)
    # A plan that writes in this scope itself must not be combined with another write there.
    touched = {*effect.dropped_scopes, *(row.id for row in effect.scopes)}
    if here is None or here.id in touched:
        return planned
    names = [row.key for row in rows.side_records(here.id, ("", MIRROR), None)]
    uids = sorted(set(_uids_of(rows, effect)))
    if not (names and uids):
        return planned
    writes = [
        prepare_write(_removal_record(each, name, uids[start : start + UIDS_MAX], start))
        for each in names
        for start in range(0, len(uids), UIDS_MAX)
    ]
    noted = plan_apply(rows, OUTSIDE_SCOPE, writes, None, ids=ids, now=now)
    return PlannedWrite(together((effect, noted.effect)), planned.result)


def _uids_of(rows: Rows, effect: Effect) -> Iterator[str]:
    """Yield the ids of the entries that an effect removes or rewrites, earlier removals too."""
    yield from (str(row.uid) for row in effect.removed)
    yield from (str(row.uid) for row in effect.memories)
    for scope_id in effect.dropped_scopes:
        # The tombstones are dropped with the scope, and no later look at it would find them.
        yield from map(str, rows.removed(scope_id, 0))
        yield from (str(row.uid) for row in rows.all_messages(scope_id))
        yield from (str(row.uid) for row in rows.memories(scope_id))


def _removal_record(name: str, receipt: str, uids: Sequence[str], start: int) -> PutSideRecord:
    value = {"store": name, "receipt": receipt, "uids": list(uids)}
    return PutSideRecord(kind=LEFT, key=f"{receipt}/{start}/{name}", value=value)


def receipts_with_removals(rows: Rows) -> frozenset[str]:
    """Return the ids of receipts for which an external store still has to remove entries."""
    here = rows.scope(OUTSIDE_SCOPE)
    if here is None:
        return frozenset()
    return frozenset(
        row.key.partition("/")[0] for row in rows.side_records(here.id, ("", LEFT), None)
    )
