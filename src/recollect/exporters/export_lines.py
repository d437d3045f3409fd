"""An export line by line in the form that was asked for, and the count of what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from recollect.records import Json, JsonObject
from recollect.stores.plans.side_archive import SIDE
from recollect.wire.record_digests import END, ended

Form: TypeAlias = Literal["records", "langgraph", "mcp"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)


@dataclass(slots=True)
class Exported:
    """The result of an export: how many records were *taken*, *changed* or *refused*, and why."""

    taken: int = 0
    changed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def refuse_other(self, record: JsonObject) -> None:
        """Count a record that the form has no place for."""
        kind = record.get("kind")
        if kind == "memory" and record.get("state") != "active":
            what = f"memories that are {record.get('state')}"
        else:
            named = "side records" if kind == SIDE else f"{kind}s"
            what = f"memories of the type {record.get('type')}" if kind == "memory" else named
        self.refused[what] += 1


def is_in_force(record: JsonObject, now: int) -> bool:
    """Return True if *record* is an active memory, neither ended nor expired at *now*."""
    ends: list[Json] = [record.get("valid_until"), record.get("expires_at")]
    is_over = any(isinstance(end, int) and end <= now for end in ends)
    return record.get("kind") == "memory" and record.get("state") == "active" and not is_over


async def lines_of(records: AsyncIterator[JsonObject], told: Exported) -> AsyncIterator[JsonObject]:
    """Yield *records* as they are, and a last line that says how many they were."""
    async for record in ended(records):
        told.taken += record["kind"] != END
        yield record
