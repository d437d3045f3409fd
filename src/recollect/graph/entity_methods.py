"""The methods of `KnowledgeGraph` that create, name, end and erase entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.errors import LimitError, NotFoundError
from recollect.formation.operation_outcomes import revision
from recollect.formation.succession import holds
from recollect.formation.value_identity import content_key
from recollect.graph.fact_ends import plan_end_of_entities
from recollect.graph.graph_access import GraphAccess, moment_of
from recollect.graph.graph_snapshot import GraphSnapshot
from recollect.graph.name_equality import clean_name, name_key, numbered
from recollect.graph.values import ENTITY_TYPE, Entity
from recollect.memory.facade import Recollect
from recollect.records import Json, JsonObject, PutMemory, Write
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.sync.method_pairs import method_pair

ALIASES_MAX: Final = 100
"""Aliases of an entity, at most."""


class EntityMethods(GraphAccess):
    """The methods of `KnowledgeGraph` for entities."""

    async def note_entity(
        self,
        memory: Recollect,
        name: str,
        *,
        kind: str | None = None,
        summary: str | None = None,
    ) -> Entity:
        """Create or update an entity; ``None`` leaves a field unchanged."""
        return await self._changed_entity(
            memory, EntityChange(name=name, kind=kind, summary=summary)
        )

    add_entity, aadd_entity = method_pair(note_entity, "add_entity")

    async def _add_alias(self, memory: Recollect, name: str, alias: str) -> Entity:
        """
        Add *alias* as another name of the entity *name*; facts of both are joined.

        The alias is a field of the entity's memory, so `remove_alias` separates the two again. An
        alias of two different entities belongs to neither.

        Raises:
            LimitError: The entity would have more than ``ALIASES_MAX`` aliases.
        """
        return await self._changed_entity(memory, EntityChange(name=name, alias=alias))

    add_alias, aadd_alias = method_pair(_add_alias)

    async def _remove_alias(self, memory: Recollect, name: str, alias: str) -> Entity:
        """
        Remove an alias, which becomes a separate name.

        Raises:
            NotFoundError: The entity does not have this alias.
        """

        def plan(view: GraphSnapshot) -> tuple[str, list[Write]]:
            writes = plan_without_alias(view, name, alias)
            # *name* may be the removed alias, by which the entity is not found afterwards.
            key = view.key_of(name)
            return view.name_of(key), writes

        return await self._entity_named(memory, await self.change(memory, plan))

    remove_alias, aremove_alias = method_pair(_remove_alias)

    async def _entity(
        self, memory: Recollect, name: str, *, at: datetime | None = None
    ) -> Entity | None:
        """Return an entity; ``None`` if it is unknown."""
        view = await self.read(memory)
        return view.entity(view.key_of(name), moment_of(at, view))

    entity, aentity = method_pair(_entity)

    async def _entities(
        self, memory: Recollect, *, at: datetime | None = None
    ) -> tuple[Entity, ...]:
        """Return all entities: those with a memory, oldest first, then those in facts only."""
        view = await self.read(memory)
        moment = moment_of(at, view)
        keys = {view.aliases.key_of(each.key): None for each in view.entities(moment)}
        for fact in view.facts():
            if holds(fact.memory, moment):
                keys.update((view.aliases.key_of(key), None) for key in fact.entity_keys)
        found = (view.entity(key, moment) for key in keys)
        return tuple(each for each in found if each is not None)

    entities, aentities = method_pair(_entities)

    async def end_named(self, memory: Recollect, name: str) -> bool:
        """End an entity and the valid facts that name it; return True if there were any."""

        def plan(view: GraphSnapshot) -> tuple[bool, list[Write]]:
            writes = plan_end_of_entities(view, [view.key_of(name)], "entity ended")
            return bool(writes), writes

        return await self.change(memory, plan)

    end_entity, aend_entity = method_pair(end_named, "end_entity")

    async def _erase_entity(self, memory: Recollect, name: str) -> tuple[EraseReceipt, ...]:
        """Erase an entity and all facts that have any of its names, with their history."""
        view = await self.read(memory)
        key = view.key_of(name)
        names = view.aliases.names_of(key)
        found = [each.memory for each in view.all_entities() if each.key in names]
        found += [each.memory for each in view.facts() if not names.isdisjoint(each.entity_keys)]
        return await self.erased(memory, found)

    erase_entity, aerase_entity = method_pair(_erase_entity)

    async def end_all(self, memory: Recollect) -> None:
        """End all entities and all facts; they stay as history."""

        def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
            return None, plan_end_of_entities(view, None, "cleared")

        await self.change(memory, plan)

    clear, aclear = method_pair(end_all, "clear")

    async def _changed_entity(self, memory: Recollect, change: EntityChange) -> Entity:
        await self.change(memory, lambda view: (None, plan_entity(view, change)))
        return await self._entity_named(memory, change.name)

    async def _entity_named(self, memory: Recollect, name: str) -> Entity:
        found = await self._entity(memory, name)
        if found is None:
            raise NotFoundError(f"the entity {name!r} was ended by another writer meanwhile")
        return found


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
