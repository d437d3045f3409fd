"""Export of a scope's entities and facts as a file of the official MCP memory server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from recollect.exporters.export_lines import Exported, is_in_force
from recollect.graph.name_equality import name_key
from recollect.importers.graph_records import OBSERVATION
from recollect.records import Json, JsonObject

NAMELESS_KIND = "unknown"
"""The type of an entity without a kind: the file requires one."""


@dataclass(slots=True)
class _Known:
    """An entity of the file, with its observations as an ordered set."""

    name: str
    kind: str = NAMELESS_KIND
    observations: dict[str, None] = field(default_factory=dict)


async def graph_of(
    records: AsyncIterator[JsonObject], counts: Exported, *, now: int
) -> AsyncIterator[JsonObject]:
    """
    Yield entities with their observations, then relations, after reading all records.

    An attribute becomes an observation. Counts in *counts* what is changed or left out.
    """
    entities: dict[str, _Known] = {}
    relations: dict[tuple[str, str, str], None] = {}
    async for record in records:
        value = record.get("value")
        is_exported = is_in_force(record, now) and record["type"] in {"Entity", "Fact"}
        if not is_exported or not isinstance(value, Mapping):
            counts.refuse_other(record)
        elif record["type"] == "Entity":
            _add_entity(value, entities, counts)
        else:
            _add_fact(value, entities, relations, counts)
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


def _add_entity(value: JsonObject, entities: dict[str, _Known], counts: Exported) -> None:
    counts.taken += 1
    known = _entity(value.get("name"), entities)
    known.kind = str(value.get("kind") or known.kind)
    if value.get("summary"):
        known.observations[str(value["summary"])] = None
        counts.changed["entities have their summary as an observation"] += 1
    if value.get("aliases"):
        counts.changed["entities lost their aliases"] += 1


def _add_fact(
    value: JsonObject,
    entities: dict[str, _Known],
    relations: dict[tuple[str, str, str], None],
    counts: Exported,
) -> None:
    counts.taken += 1
    source = _entity(value.get("subject"), entities)
    predicate, object_ = str(value.get("predicate")), value.get("object")
    if isinstance(object_, str) and value.get("object_type") is None:
        target = _entity(object_, entities)
        relations[source.name, predicate, target.name] = None
        return
    # JSON's true and false, not Python's True and False.
    words = str(object_).lower() if isinstance(object_, bool) else str(object_)
    if predicate != OBSERVATION:
        words = f"{predicate}: {words}"
        counts.changed["attributes became observations"] += 1
    source.observations[words] = None
