"""Prolong memories that are in use: move their expiry without a new version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollect.errors import UsageError
from recollect.records import ProlongMemory, Scope
from recollect.stores.plans.memories import is_expired
from recollect.stores.rows import MemoryRow
from recollect.stores.unit_of_work import NOTHING, Effect, PlannedWrite, Rows
from recollect.stores.validation import check_id, check_position, check_time


@dataclass(frozen=True, slots=True)
class PreparedProlong:
    """A validated `ProlongMemory`."""

    type: str
    key: str
    version: int
    expires_at: int


def prepare_prolong(prolong: ProlongMemory) -> PreparedProlong:
    """
    Validate *prolong* and return its prepared form.

    Raises:
        UsageError: A field is invalid; the message names it.
    """
    if not isinstance(prolong, ProlongMemory):
        msg = f"what moves an expiry is a ProlongMemory, not {prolong!r}"
        raise UsageError(msg)
    return PreparedProlong(
        check_id(prolong.type, "a memory's type"),
        check_id(prolong.key, "a memory's key"),
        check_position(prolong.version, "a version"),
        check_time(prolong.expires_at, "expires_at"),
    )


def plan_prolong(
    rows: Rows, scope: Scope, prolongs: Sequence[PreparedProlong], *, now: int
) -> PlannedWrite[int]:
    """Move the expiry of the versions that exist and expire; the result is how many."""
    row = rows.scope(scope)
    moved: dict[int, MemoryRow] = {}
    for each in prolongs if row else ():
        found = rows.memory(row.id, each.type, each.key) if row else None
        if found is None or found.expires_at is None or is_expired(found, now):
            continue
        if found.version == each.version:
            moved[found.uid] = replace(found, expires_at=each.expires_at)
    if row is None or not moved:
        return PlannedWrite(NOTHING, 0)
    seq = row.seq + 1
    memories = [replace(each, seq=seq) for each in moved.values()]
    return PlannedWrite(Effect(scopes=[replace(row, seq=seq)], memories=memories), len(moved))
