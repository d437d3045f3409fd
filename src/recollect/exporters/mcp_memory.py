"""Export a scope's entities as a file of the official MCP memory server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from recollect.exporters.export_lines import Exported, is_in_force
from recollect.graph.name_equality import name_key
from recollect.importers.graph_records import OBSERVATION
from recollect.records import Json, JsonObject

NAMELESS_KIND = "unknown"


@dataclass(slots=True)
class _Known:
    """An entity of the file."""

    name: str
    kind: str = NAMELESS_KIND
    observations: dict[str, None] = field(default_factory=dict)


async def graph_of(
    records: AsyncIterator[JsonObject], told: Exported, *, now: int
) -> AsyncIterator[JsonObject]:
    """
    Yield entities with their observations, then relations; all are held until the last is read.

    An attribute becomes an observation; what the file has no place for is counted.
    """
    entities: dict[str, _Known] = {}
    relations: dict[tuple[str, str, str], None] = {}
    async for record in records:
        value: Any = record.get("value")
        if not is_in_force(record, now) or record["type"] not in {"Entity", "Fact"}:
            told.refuse_other(record)
        elif record["type"] == "Entity":
            _take_entity(value, entities, told)
        else:
            _take_fact(value, entities, relations, told)
    for known in entities.values():
        yield {
            "type": "entity",
            "name": known.name,
            "entityType": known.kind,
            "observations": list(known.observations),
        }
    for source, predicate, target in relations:
        yield {"type": "relation", "from": source, "to": target, "relationType": predicate}


def _entity(name: Json, entities: dict[str, _Known]) -> _Known:
    return entities.setdefault(name_key(str(name)), _Known(str(name)))


def _take_entity(value: JsonObject, entities: dict[str, _Known], told: Exported) -> None:
    told.taken += 1
    known = _entity(value.get("name"), entities)
    known.kind = str(value.get("kind") or known.kind)
    if value.get("summary"):
        known.observations[str(value["summary"])] = None
        told.changed["entities have their summary as an observation"] += 1
    if value.get("aliases"):
        told.changed["entities lost their aliases"] += 1


def _take_fact(
    value: JsonObject,
    entities: dict[str, _Known],
    relations: dict[tuple[str, str, str], None],
    told: Exported,
) -> None:
    told.taken += 1
    source = _entity(value.get("subject"), entities)
    predicate, object_ = str(value.get("predicate")), value.get("object")
    if isinstance(object_, str) and value.get("object_type") is None:
        target = _entity(object_, entities)
        relations[source.name, predicate, target.name] = None
        return
    words = str(object_).lower() if isinstance(object_, bool) else str(object_)
    if predicate != OBSERVATION:
        words = f"{predicate}: {words}"
        told.changed["attributes became observations"] += 1
    source.observations[words] = None
