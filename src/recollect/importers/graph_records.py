"""Entities and facts of other programs' graphs, as the memories that our graph keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

from recollect.formation.value_identity import content_key
from recollect.graph.name_equality import clean_name, name_key
from recollect.importers.import_entries import ImportOptions
from recollect.importers.memory_records import FileMemory, moment_in
from recollect.records import Json, JsonObject

OBSERVATION: Final = "observation"
"""The predicate of a fact that states an entity's observation as free text."""


def entity(
    name: object,
    *,
    kind: str | None = None,
    summary: str | None = None,
    created_at: int | None = None,
) -> FileMemory:
    """Return an entity; its key depends only on its name, so equal names are one entity."""
    cleaned = clean_name(name, "an entity's name")
    value: dict[str, Json] = {"name": cleaned}
    if kind:
        value["kind"] = kind
    if summary:
        value["summary"] = summary
    key = content_key({"name": name_key(cleaned)})
    return FileMemory(type="Entity", key=key, value=value, created_at=created_at)


def relation(subject: object, predicate: object, object_: object) -> dict[str, Json]:
    """Return the value of a fact between two entities; its predicate may have several objects."""
    return {
        "subject": clean_name(subject, "a fact's subject"),
        "predicate": clean_name(predicate, "a fact's predicate"),
        "object": clean_name(object_, "a fact's object"),
        "several": True,
    }


def observation(subject: object, words: str) -> FileMemory:
    """Return a fact that states the observation *words* about the entity *subject*."""
    value: dict[str, Json] = {
        "subject": clean_name(subject, "an entity's name"),
        "predicate": OBSERVATION,
        "object": words,
        "object_type": "text",
        "several": True,
    }
    return FileMemory(type="Fact", key=fact_key(value), value=value)


def fact_key(value: JsonObject, *more: str) -> str:
    """Return the key that our graph gives a fact; *more* tells facts with equal parts apart."""
    names = [name_key(str(value["subject"])), name_key(str(value["predicate"]))]
    return content_key({"fact": [*names, str(value["object"]), *more]})


class EdgeTimes(TypedDict):
    """The times of an edge, in microseconds since 1970: when it was noted, and when it was true."""

    created_at: int | None
    valid_from: int | None
    valid_until: int | None


def times_of(row: Mapping[str, Json], reading: ImportOptions) -> EdgeTimes:
    """Return the times of an edge of Graphiti; it ends when invalid or, without that, expired."""
    until = moment_in(row, "invalid_at", reading)
    return {
        "created_at": moment_in(row, "created_at", reading),
        "valid_from": moment_in(row, "valid_at", reading),
        "valid_until": moment_in(row, "expired_at", reading) if until is None else until,
    }
