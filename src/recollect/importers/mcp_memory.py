"""Import of the official MCP memory server's file: entities with observations, and relations."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.errors import UsageError
from recollect.importers.graph_records import entity, fact_key, observation, relation
from recollect.importers.import_entries import ImportOptions, Refused, Row, no_object, shown
from recollect.importers.json_stream import NESTED, is_nested
from recollect.importers.memory_records import FileMemory, remembered
from recollect.records import Json, JsonObject
from recollect.text.coded_text import reason_of


def is_line(value: JsonObject) -> bool:
    """Return True if *value* is a line of the server's file."""
    if value.get("type") == "entity":
        return _first(value, "name", "entityName", "id") is not None and "role" not in value
    return value.get("type") == "relation" and _first(value, "from", "from_id") is not None


def is_graph(value: JsonObject) -> bool:
    """Return True if *value* is a whole graph, as the server's tool ``read_graph`` returns it."""
    return isinstance(value.get("entities"), list) and isinstance(value.get("relations"), list)


def read_graph(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the memories of a whole graph."""
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        rows: Json = value[name]
        for number, each in enumerate(rows if isinstance(rows, list) else (), start=1):
            where = f"{place}, {kind} {number}"
            if is_nested(each):
                yield Refused(place=where, reason=NESTED)
            elif isinstance(each, dict):
                yield from read_line({**each, "type": kind}, where, reading)
            else:
                yield Refused(place=where, reason=no_object(each))


def read_line(value: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the memories of one line: an entity and its observations, or a relation."""
    del reading  # nothing in this file has a time
    read = _read_entity if value["type"] == "entity" else _read_relation
    try:
        found = read(value)
    except UsageError as error:
        yield Refused(place=place, reason=reason_of(error))
        return
    for number, each in enumerate(found):
        yield remembered(f"{place}, observation {number}" if number else place, each)


def _read_entity(value: JsonObject) -> list[FileMemory]:
    name = _first(value, "name", "entityName", "id")
    kind = _first(value, "entityType", "entity_type")
    texts = value.get("observations", [])
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise UsageError(f"its 'observations' are {shown(texts)}, not a list of texts")
    made = entity(name, kind=kind if isinstance(kind, str) else None)
    distinct = dict.fromkeys(str(each) for each in texts)
    return [made, *(observation(name, words) for words in distinct)]


def _read_relation(value: JsonObject) -> list[FileMemory]:
    fact = relation(
        _first(value, "from", "from_id"),
        _first(value, "relationType", "relation_type"),
        _first(value, "to", "to_id"),
    )
    return [FileMemory(type="Fact", key=fact_key(fact), value=fact)]


def _first(value: JsonObject, *names: str) -> Json:
    """Return the first of these fields that is present; files differ in the names they use."""
    return next((value[name] for name in names if value.get(name) is not None), None)
