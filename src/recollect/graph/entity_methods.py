"""The methods of `KnowledgeGraph` that create, name, end and erase entities."""

from __future__ import annotations

from datetime import datetime

from recollect.errors import NotFoundError
from recollect.graph.entity_plans import EntityChange, plan_entity, plan_without_alias
from recollect.graph.fact_ends import plan_end_of_entities
from recollect.graph.graph_access import GraphAccess, moment_of
from recollect.graph.graph_snapshot import GraphSnapshot, holds
from recollect.graph.values import Entity
from recollect.memory.facade import Recollect
from recollect.records import Write
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.sync.method_pairs import method_pair


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
