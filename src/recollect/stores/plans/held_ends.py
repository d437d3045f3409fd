"""Ends of memories that wait for a review: an erase takes those that erased messages asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from recollect.records import Json
from recollect.stores.plans.receipts import each_formation, outcomes_in
from recollect.stores.proposal_names import proposed_for
from recollect.stores.rows import MemoryRange, MemoryRow
from recollect.stores.unit_of_work import Rows


def held_ends(
    rows: Rows, scope_id: int, erased: AbstractSet[tuple[str, str]]
) -> dict[int, MemoryRow]:
    """
    Return the waiting ends that the *erased* messages (thread, id) asked for, by uid.

    Such an end repeats the value and the evidence of the memory that it would end; its day is that
    of the message, which only the receipt of the formation names.
    """
    waiting = {
        (row.type, row.key): row
        for row in rows.memories(scope_id, MemoryRange(state="quarantined"))
        if row.valid_until is not None and proposed_for(row.key)
    }
    found: dict[int, MemoryRow] = {}
    # Receipts are long, and hardly ever does an end wait.
    for formation in each_formation(rows, scope_id) if waiting else ():
        for address, outcome in outcomes_in(json.loads(formation.receipt)):
            row = waiting.get(address)
            if row and outcome.get("action") == "quarantined" and erased & _asked_by(outcome):
                found[row.uid] = row
    return found


def _asked_by(outcome: Mapping[str, Json]) -> set[tuple[str, str]]:
    because = outcome.get("because")
    return {
        (str(each.get("thread")), str(each.get("message")))
        for each in (because if isinstance(because, list) else ())
        if isinstance(each, Mapping)
    }
