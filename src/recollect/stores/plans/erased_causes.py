"""Causes of versions after an erase: they may name or quote what is erased."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from recollect.stores.json_pointers import covers
from recollect.stores.plans.derived_rows import row_sources
from recollect.stores.remainder import MERGED, REDUCED, Remainder, unfounded_places
from recollect.stores.rows import MemoryRow, RevisionRow


def lost_places(
    versions: Sequence[MemoryRow | RevisionRow], erased: AbstractSet[tuple[str, str]]
) -> set[str]:
    """Return the pointers in *versions* of a memory whose values go with the *erased* messages."""
    return {at for each in versions for at in unfounded_places(row_sources(each), erased)}


def cause_after(
    row: MemoryRow | RevisionRow, places: Collection[str], left: Remainder | None = None
) -> str:
    """
    Return the cause of a version after an erase of the values at *places* in the memory.

    *left* is what remains of the version, if it rests on what is erased. The version after a
    rejected field rests on nothing of it any more, but its cause names the field, which may be
    somebody's name.
    """
    if row.cause.startswith(MERGED):
        return row.cause
    _, _, pointer = row.cause.partition(" ")
    is_named = pointer.startswith("/") and any(
        covers(at, pointer) or covers(pointer, at) for at in places
    )
    # A doubt may quote erased words, even if other words support the value.
    may_quote = left is not None and (
        row.state == "quarantined" or left.value != json.loads(row.value)
    )
    return REDUCED if is_named or may_quote else row.cause
