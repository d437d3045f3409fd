"""Plan the writes of an entity's memory: its kind, its summary, and its list of aliases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recollect.errors import LimitError, NotFoundError
from recollect.formation.operation_outcomes import revision
from recollect.formation.value_identity import content_key
from recollect.graph.graph_snapshot import GraphSnapshot
from recollect.graph.name_equality import clean_name, name_key, numbered
from recollect.graph.values import ENTITY_TYPE
from recollect.records import Json, JsonObject, PutMemory, Write

ALIASES_MAX: Final = 100
"""Aliases of an entity, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChange:
    """A change to an entity: ``None`` leaves a field unchanged."""

    name: str
    kind: str | None = None
    summary: str | None = None
    alias: str | None = None


def plan_entity(view: GraphSnapshot, change: EntityChange) -> list[Write]:
    """
    Return the write that creates or changes an entity's memory; none if nothing changes.

    Raises:
        LimitError: The entity would have more than ``ALIASES_MAX`` aliases.
    """
    name = clean_name(change.name, "an entity's name")
    key, own = view.key_of(name), name_key(name)
    memories = view.memories_of(key, view.now)
    known = next((each for each in memories if each.key == own), None)
    known = known or next((each for each in memories if each.key == key), None)
    fields: Mapping[str, Json] = known.memory.value if known else {"name": name}
    value = {**fields, **_set_fields(change)}
    if change.alias is not None:
        aliases = [] if known is None else list(known.aliases)
        alias = clean_name(change.alias, "an alias")
        if name_key(alias) not in {own, known.key if known else own, *map(name_key, aliases)}:
            aliases.append(alias)
        if len(aliases) > ALIASES_MAX:
            raise LimitError(f"aliases of {name!r}", len(aliases), ALIASES_MAX, "ALIASES_MAX")
        if aliases:
            value["aliases"] = aliases
    if known is None:
        return [_new_entity(view, value, own)]
    return [] if value == fields else [revision(known.memory, value, cause="changed")]


def _set_fields(change: EntityChange) -> dict[str, Json]:
    fields = {"kind": change.kind, "summary": change.summary}
    return {name: each for name, each in fields.items() if each is not None}


def _new_entity(view: GraphSnapshot, value: JsonObject, own: str) -> PutMemory:
    # The key depends on the name alone, so that concurrent writers of one entity conflict, and one
    # of them retries.
    keys = numbered(content_key({"name": own}))
    key = next(each for each in keys if not view.takes(ENTITY_TYPE, each))
    return PutMemory(type=ENTITY_TYPE, key=key, value=value, expected=0, cause="added")


def plan_without_alias(view: GraphSnapshot, name: str, alias: str) -> list[Write]:
    """
    Return the writes that remove an alias.

    Raises:
        NotFoundError: The entity has no such alias.
    """
    unwanted = name_key(alias)
    writes: list[Write] = []
    for each in view.memories_of(view.key_of(name), view.now):
        left = [kept for kept in each.aliases if name_key(kept) != unwanted]
        if len(left) < len(each.aliases):
            value = {**each.memory.value, "aliases": left}
            writes.append(revision(each.memory, value, cause="alias taken back"))
    if not writes:
        raise NotFoundError(f"{name!r} has no alias {alias!r}: see the aliases of its entity")
    return writes
