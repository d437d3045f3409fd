"""The forms of exports, the counts of an export, and the export in Recollect's own form."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from recollect.records import Json, JsonObject
from recollect.stores.plans.side_archive import SIDE
from recollect.wire.record_digests import END, ended

Form: TypeAlias = Literal["records", "langgraph", "mcp"]


@dataclass(slots=True)
class Exported:
    """The counts of an export: records *taken*, and by reason those *changed* and *refused*."""

    taken: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def refuse_other(self, record: JsonObject) -> None:
        """Count a record that the form cannot hold, by its kind, or a memory's state or type."""
        kind = record.get("kind")
        if kind == "memory" and record.get("state") != "active":
            what = f"memories that are {record.get('state')}"
        else:
            named = "side records" if kind == SIDE else f"{kind}s"
            what = f"memories of the type {record.get('type')}" if kind == "memory" else named
        self.refused[what] += 1


def is_in_force(record: JsonObject, now: int) -> bool:
    """Return True if *record* is an active memory, neither ended nor expired at *now* (in µs)."""
    ends: list[Json] = [record.get("valid_until"), record.get("expires_at")]
    is_over = any(isinstance(end, int) and end <= now for end in ends)
    return record.get("kind") == "memory" and record.get("state") == "active" and not is_over


async def lines_of(
    records: AsyncIterator[JsonObject], counts: Exported
) -> AsyncIterator[JsonObject]:
    """Yield *records* unchanged, then a last line with their number; count them in *counts*."""
    async for record in ended(records):
        counts.taken += record["kind"] != END
        yield record
