"""Move the expiry of memories and side records that are in use, without a new version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.errors import UsageError
from recollect.records import ProlongMemory, Scope
from recollect.side_records import ProlongSideRecord, SideAddress
from recollect.stores.plans.memories import is_expired
from recollect.stores.plans.side_records import is_side_expired, side_place
from recollect.stores.rows import MemoryRow, SidePlace, SideRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_id, check_position, check_time


@dataclass(frozen=True, slots=True)
class PreparedProlong:
    """A validated `ProlongMemory`."""

    type: str
    key: str
    version: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class PreparedSideProlong:
    """A validated `ProlongSideRecord`."""

    place: SidePlace
    version: int
    expires_at: int


def prepare_prolong(
    prolong: ProlongMemory | ProlongSideRecord,
) -> PreparedProlong | PreparedSideProlong:
    """Validate *prolong* and return its prepared form."""
    if isinstance(prolong, ProlongSideRecord):
        return PreparedSideProlong(
            side_place(SideAddress(prolong.kind, prolong.key, prolong.thread)),
            check_position(prolong.version, "a version"),
            check_time(prolong.expires_at, "expires_at"),
        )
    if not isinstance(prolong, ProlongMemory):
        raise UsageError(f"give a ProlongMemory or a ProlongSideRecord, not {prolong!r}")
    return PreparedProlong(
        check_id(prolong.type, "a memory's type"),
        check_id(prolong.key, "a memory's key"),
        check_position(prolong.version, "a version"),
        check_time(prolong.expires_at, "expires_at"),
    )


def plan_prolong(
    rows: Rows,
    scope: Scope,
    prolongs: Sequence[PreparedProlong | PreparedSideProlong],
    *,
    now: int,
) -> PlannedWrite[int]:
    """Move the expiry of the versions that exist and expire; the result is how many."""
    row = rows.scope(scope)
    if row is None:
        return PlannedWrite(NOTHING, 0)
    moved = _moved(rows, row.id, [e for e in prolongs if isinstance(e, PreparedProlong)], now)
    sides = _moved_sides(
        rows, row.id, [e for e in prolongs if isinstance(e, PreparedSideProlong)], now
    )
    if not (moved or sides):
        return PlannedWrite(NOTHING, 0)
    seq = row.seq + 1
    memories = [replace(each, seq=seq) for each in moved]
    effect = Effect(scopes=[replace(row, seq=seq)], memories=memories, sides=sides)
    return PlannedWrite(effect, len(moved) + len(sides))


def _moved(
    rows: Rows, scope_id: int, prolongs: Sequence[PreparedProlong], now: int
) -> list[MemoryRow]:
    moved: dict[int, MemoryRow] = {}
    for each in prolongs:
        found = rows.memory(scope_id, each.type, each.key)
        if found is None or found.expires_at is None or is_expired(found, now):
            continue
        if found.version == each.version:
            moved[found.uid] = replace(found, expires_at=each.expires_at)
    return list(moved.values())


def _moved_sides(
    rows: Rows, scope_id: int, prolongs: Sequence[PreparedSideProlong], now: int
) -> list[SideRow]:
    wanted = {each.place: each for each in prolongs}
    return [
        replace(row, expires_at=wanted[row.place].expires_at)
        for row in (rows.side_records_at(scope_id, list(wanted)) if wanted else ())
        if row.expires_at is not None and not is_side_expired(row, now)
        if row.version == wanted[row.place].version
    ]
