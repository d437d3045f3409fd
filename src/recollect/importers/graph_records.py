"""Entities and facts as our graph keeps them, for the files of other programs' graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

from recollect.formation.value_identity import content_key
from recollect.graph.name_equality import clean_name, name_key
from recollect.importers.import_entries import ImportOptions
from recollect.importers.memory_records import FileMemory, moment_in
from recollect.records import Json, JsonObject

OBSERVATION: Final = "observation"
"""The predicate of what is only said of an entity, in words."""


def entity(
    name: object,
    *,
    kind: str | None = None,
    summary: str | None = None,
    created_at: int | None = None,
) -> FileMemory:
    """Return an entity; equal names are one."""
    called = clean_name(name, "an entity's name")
    said: dict[str, Json] = {"name": called}
    if kind:
        said["kind"] = kind
    if summary:
        said["summary"] = summary
    key = content_key({"name": name_key(called)})
    return FileMemory(type="Entity", key=key, value=said, created_at=created_at)


def relation(subject: object, predicate: object, object_: object) -> dict[str, Json]:
    """Return a fact between two entities; there may be several such objects."""
    return {
        "subject": clean_name(subject, "a fact's subject"),
        "predicate": clean_name(predicate, "a fact's predicate"),
        "object": clean_name(object_, "a fact's object"),
        "several": True,
    }


def observation(subject: object, words: str) -> FileMemory:
    """Return an observation about an entity as an attribute."""
    said: dict[str, Json] = {
        "subject": clean_name(subject, "an entity's name"),
        "predicate": OBSERVATION,
        "object": words,
        "object_type": "text",
        "several": True,
    }
    return FileMemory(type="Fact", key=fact_key(said), value=said)


def fact_key(said: JsonObject, *more: str) -> str:
    """Return the key of a fact: as our graph makes it, with *more* where there are several."""
    words = [name_key(str(said["subject"])), name_key(str(said["predicate"]))]
    return content_key({"fact": [*words, str(said["object"]), *more]})


class EdgeTimes(TypedDict):
    """When an edge was noted, and when it was true, in microseconds since 1970."""

    created_at: int | None
    valid_from: int | None
    valid_until: int | None


def times_of(row: Mapping[str, Json], reading: ImportOptions) -> EdgeTimes:
    """Return when an edge of Graphiti's was noted, and when it was true."""
    until = moment_in(row, "invalid_at", reading)
    return {
        "created_at": moment_in(row, "created_at", reading),
        "valid_from": moment_in(row, "valid_at", reading),
        "valid_until": moment_in(row, "expired_at", reading) if until is None else until,
    }
