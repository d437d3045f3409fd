"""`KnowledgeGraph`: the facts and entities of a scope as a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from anyio import to_thread

from recollect.app import Recollect
from recollect.errors import NotFoundError, UsageError, VersionConflictError
from recollect.formation.ground import least
from recollect.graph.facts import (
    ENTITY_TYPE,
    FACT_TYPE,
    Addition,
    Entity,
    Fact,
    NewFact,
    Value,
    shown,
)
from recollect.graph.names import name_key
from recollect.graph.neighbourhood import Direction, neighbourhood
from recollect.graph.network import (
    gml_of,
    network_of,
    paths_between,
    topological_groups,
    undirected,
)
from recollect.graph.picture import svg_of
from recollect.graph.planning import (
    EntityChange,
    Planned,
    end_of,
    is_ended_by,
    plan_additions,
    plan_end_of_entities,
    plan_entity,
    plan_without_alias,
)
from recollect.graph.twins import twins
from recollect.graph.view import KnownFact, View, holds
from recollect.home import AnyRecollect, Home
from recollect.records import Evidence, Memory, Revision, Scope, Trust, Write
from recollect.stores.plans.erase import EraseMemory, EraseReceipt
from recollect.stores.plans.feed import Entry
from recollect.stores.rows import Feed
from recollect.stores.validate import check_scope, check_time

if TYPE_CHECKING:
    from networkx import MultiDiGraph

TRIES_MAX: Final = 8
"""So often a change is decided anew because somebody else wrote meanwhile."""

PlannedT = TypeVar("PlannedT")


class KnowledgeGraph:
    """
    The ``Fact`` and ``Entity`` memories of a scope as a graph of entities.

    Every method is there twice: ``add`` waits, ``aadd`` is awaited (see `Home` for which of
    them a memory has). Each reads what is stored at that moment; names are matched across
    case, width, spacing and aliases. Facts are followed by time: reads take *at*, the moment
    asked about, and mean now without it.

    A change is one transaction, decided anew when somebody else wrote meanwhile.
    """

    def __init__(self, memory: AnyRecollect, scope: Scope) -> None:
        self.home = Home(memory)
        self.scope = check_scope(scope)
        self._view = View(self.scope)
        self._turn = anyio.Lock()

    # Facts

    async def _add(
        self,
        memory: Recollect,
        subject: str,
        predicate: str,
        object: Value,  # noqa: A002 (the word for it)
        *,
        several: bool | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> Addition:
        """
        Add a fact: a relation to the entity named *object*, or an attribute if that is no text.

        A subject has one object of a predicate at a time, unless *several* says otherwise: a
        new one ends the old one, which stays as history. See `NewFact` for the arguments.

        Raises:
            UsageError: A name is empty, or an argument is outside its range.
            VersionConflictError: Others kept writing the same facts, ``TRIES_MAX`` times.
        """
        new = NewFact(
            subject=subject,
            predicate=predicate,
            object=object,
            several=several,
            since=since,
            until=until,
            evidence=evidence,
            trust=trust,
        )
        (addition,) = await self.add_facts(memory, [new])
        return addition

    add, aadd = twins(_add)

    async def add_facts(self, memory: Recollect, facts: Sequence[NewFact]) -> tuple[Addition, ...]:
        """
        Add facts in order, all or none of them, each seeing those before it.

        Args:
            facts: They and what they end are at most ``WRITES_MAX`` writes.
        """
        for each in facts:
            for name, time in (("since", each.since), ("until", each.until)):
                if time is not None:
                    check_time(time, name)

        def plan(view: View) -> tuple[list[Planned], list[Write]]:
            planned = plan_additions(view, facts)
            return planned, [write for each in planned for write in each.writes]

        planned = await self.change(memory, plan)
        view = await self.read(memory)
        return tuple(_addition(each, view) for each in planned)

    add_many, aadd_many = twins(add_facts, "add_many")

    async def _end(
        self,
        memory: Recollect,
        subject: str,
        predicate: str | None = None,
        object: Value | None = None,  # noqa: A002 (the word for it)
        *,
        at: datetime | None = None,
        trust: Trust = "user",
    ) -> tuple[Fact, ...]:
        """
        End the facts of *subject* that hold, with this predicate and object if they are given.

        They stay as history. What more trusted words than *trust* say goes on.

        Args:
            at: Since when they are true no more; now if ``None``.

        Returns:
            The facts that ended, oldest first; none if there was nothing to end.
        """
        if at is not None:
            check_time(at, "at")

        def plan(view: View) -> tuple[list[str], list[Write]]:
            moment = at or view.now
            found = [
                each.memory
                for each in _matching(view, subject, predicate, object)
                if is_ended_by(each.memory, moment)
                and least([each.memory.trust, trust]) == each.memory.trust
            ]
            return [each.key for each in found], [end_of(each, moment, "ended") for each in found]

        keys = await self.change(memory, plan)
        return _facts_at(await self.read(memory), keys)

    end, aend = twins(_end)

    async def _erase(
        self,
        memory: Recollect,
        subject: str,
        predicate: str | None = None,
        object: Value | None = None,  # noqa: A002 (the word for it)
    ) -> tuple[EraseReceipt, ...]:
        """
        Erase the facts of *subject*, ended ones included, with their history.

        See `Recollect.erase`; there is one receipt per fact.
        """
        view = await self.read(memory)
        found = _matching(view, subject, predicate, object)
        return await self._erased(memory, [each.memory for each in found])

    erase, aerase = twins(_erase)

    async def _facts(
        self,
        memory: Recollect,
        subject: str | None = None,
        predicate: str | None = None,
        object: Value | None = None,  # noqa: A002 (the word for it)
        *,
        at: datetime | None = None,
    ) -> tuple[Fact, ...]:
        """Return the facts that hold, oldest first; only those with what is given."""
        view = await self.read(memory)
        moment = _moment(at, view)
        found = _matching(view, subject, predicate, object)
        return tuple(view.fact(each) for each in found if holds(each.memory, moment))

    facts, afacts = twins(_facts)

    async def _history(
        self, memory: Recollect, subject: str | None = None, predicate: str | None = None
    ) -> tuple[Fact, ...]:
        """
        Return facts in every state, ended, waiting and rejected ones included, oldest first.

        Each has the evidence that it had when it held. For past versions of one fact see
        `revisions`.
        """
        view = await self.read(memory)
        return tuple(view.fact(each) for each in _matching(view, subject, predicate, None))

    history, ahistory = twins(_history)

    async def _revisions(self, memory: Recollect, fact: Fact) -> tuple[Revision, ...]:
        """Return all versions of a fact, oldest first; none if it was erased."""
        return await memory.history(self.scope, FACT_TYPE, fact.key)

    revisions, arevisions = twins(_revisions)

    # Entities and attributes

    async def _add_attribute(
        self,
        memory: Recollect,
        entity: str,
        attribute: str,
        value: Value,
        *,
        several: bool | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> Addition:
        """Add an attribute, of which a text *value* is a text and no entity; else as `add`."""
        new = NewFact(
            subject=entity,
            predicate=attribute,
            object=value,
            is_attribute=True,
            several=several,
            since=since,
            until=until,
            evidence=evidence,
            trust=trust,
        )
        (addition,) = await self.add_facts(memory, [new])
        return addition

    add_attribute, aadd_attribute = twins(_add_attribute)

    async def note_entity(
        self,
        memory: Recollect,
        name: str,
        *,
        kind: str | None = None,
        summary: str | None = None,
    ) -> Entity:
        """Make an entity, or change what is said of it; ``None`` leaves that as it is."""
        return await self._changed_entity(
            memory, EntityChange(name=name, kind=kind, summary=summary)
        )

    add_entity, aadd_entity = twins(note_entity, "add_entity")

    async def _add_alias(self, memory: Recollect, name: str, alias: str) -> Entity:
        """
        Say that *alias* is another name for the entity *name*; what is known of both is one's.

        It is a field of the entity's memory: `remove_alias` parts the two again. An alias
        that two different entities have is nobody's.

        Raises:
            LimitError: The entity would have more than ``ALIASES_MAX`` aliases.
        """
        return await self._changed_entity(memory, EntityChange(name=name, alias=alias))

    add_alias, aadd_alias = twins(_add_alias)

    async def _remove_alias(self, memory: Recollect, name: str, alias: str) -> Entity:
        """
        Take an alias back: from now on it is a name of its own.

        Raises:
            NotFoundError: The entity has no such alias.
        """

        def plan(view: View) -> tuple[str, list[Write]]:
            writes = plan_without_alias(view, name, alias)
            # By the alias itself the entity would not be found afterwards.
            key = view.key_of(name)
            return view.name_of(key), writes

        return await self._entity_named(memory, await self.change(memory, plan))

    remove_alias, aremove_alias = twins(_remove_alias)

    async def _entity(
        self, memory: Recollect, name: str, *, at: datetime | None = None
    ) -> Entity | None:
        """Return what is known of an entity, ``None`` if it is unknown."""
        view = await self.read(memory)
        return view.entity(view.key_of(name), _moment(at, view))

    entity, aentity = twins(_entity)

    async def _entities(
        self, memory: Recollect, *, at: datetime | None = None
    ) -> tuple[Entity, ...]:
        """Return all entities: those with a memory oldest first, then as facts name them."""
        view = await self.read(memory)
        moment = _moment(at, view)
        keys = {view.aliases.key_of(each.key): None for each in view.entities(moment)}
        for fact in view.facts():
            if holds(fact.memory, moment):
                for key in (fact.subject_key, fact.object_key):
                    if key is not None:
                        keys[view.aliases.key_of(key)] = None
        found = (view.entity(key, moment) for key in keys)
        return tuple(each for each in found if each is not None)

    entities, aentities = twins(_entities)

    async def end_named(self, memory: Recollect, name: str) -> bool:
        """End an entity, and every fact that holds and names it; say whether there was any."""

        def plan(view: View) -> tuple[bool, list[Write]]:
            writes = plan_end_of_entities(view, [view.key_of(name)], "entity ended")
            return bool(writes), writes

        return await self.change(memory, plan)

    end_entity, aend_entity = twins(end_named, "end_entity")

    async def _erase_entity(self, memory: Recollect, name: str) -> tuple[EraseReceipt, ...]:
        """Erase an entity and every fact that names it, by any of its names, with their history."""
        view = await self.read(memory)
        key = view.key_of(name)
        names = view.aliases.names_of(key)
        found = [each.memory for each in view.all_entities() if each.key in names]
        found += [each.memory for each in view.facts() if not names.isdisjoint(_keys_in(each))]
        return await self._erased(memory, found)

    erase_entity, aerase_entity = twins(_erase_entity)

    async def end_all(self, memory: Recollect) -> None:
        """End all entities and all facts; they stay as history."""

        def plan(view: View) -> tuple[None, list[Write]]:
            return None, plan_end_of_entities(view, None, "cleared")

        await self.change(memory, plan)

    clear, aclear = twins(end_all, "clear")

    # Reads over several steps

    async def _about(
        self,
        memory: Recollect,
        name: str,
        depth: int = 1,
        *,
        direction: Direction = "out",
        at: datetime | None = None,
    ) -> tuple[Fact, ...]:
        """
        Return the facts around an entity, nearest first, then oldest first; none if it is unknown.

        They are all facts of every entity nearer than *depth* steps, each once.

        Raises:
            LimitError: *depth* is more than ``DEPTH_MAX``.
        """
        view = await self.read(memory)
        found = neighbourhood(
            view, view.key_of(name), depth=depth, direction=direction, at=_moment(at, view)
        )
        return tuple(view.fact(each) for each in found.facts)

    about, aabout = twins(_about)

    async def sentences(
        self,
        memory: Recollect,
        name: str,
        depth: int = 1,
        *,
        direction: Direction = "out",
        at: datetime | None = None,
    ) -> list[str]:
        """Return what `about` returns as sentences: ``"Ada lives in London"``."""
        found = await self._about(memory, name, depth, direction=direction, at=at)
        return [str(each) for each in found]

    knowledge, aknowledge = twins(sentences, "knowledge")

    async def _neighbours(
        self,
        memory: Recollect,
        name: str,
        depth: int = 1,
        *,
        direction: Direction = "both",
        at: datetime | None = None,
    ) -> tuple[str, ...]:
        """Return the names of the entities within *depth* steps, nearest first, without its own."""
        view = await self.read(memory)
        found = neighbourhood(
            view, view.key_of(name), depth=depth, direction=direction, at=_moment(at, view)
        )
        return tuple(view.name_of(key) for key in found.keys[1:])

    neighbours, aneighbours = twins(_neighbours)

    async def _paths(
        self,
        memory: Recollect,
        source: str,
        target: str,
        *,
        steps_max: int = 4,
        limit: int = 10,
        directed: bool = False,
        at: datetime | None = None,
    ) -> tuple[tuple[Fact, ...], ...]:
        """
        Return ways between two entities, each as its facts in turn, shortest first.

        There is none from an entity to itself, or to one that is unknown.

        Args:
            steps_max: A way has at most so many facts, up to ``DEPTH_MAX``.
            limit: At most so many ways, up to ``PATHS_MAX``.
            directed: Follow facts only from subject to object.

        Raises:
            MissingExtraError: networkx is not installed.
        """
        view = await self.read(memory)
        names = view.name_of(view.key_of(source)), view.name_of(view.key_of(target))
        facts = {each.memory.key: view.fact(each) for each in view.facts()}
        network = network_of(view, _moment(at, view))

        def find() -> list[tuple[str, ...]]:
            walked = network if directed else undirected(network)
            return paths_between(walked, *names, steps_max=steps_max, limit=limit)

        found = await to_thread.run_sync(find)
        return tuple(tuple(facts[key] for key in path) for path in found)

    paths, apaths = twins(_paths)

    async def _topological_order(
        self, memory: Recollect, *, at: datetime | None = None
    ) -> tuple[tuple[str, ...], ...]:
        """
        Return all entities in groups, so that every relation leads onwards or stays in its group.

        A group of several stands on a cycle, and has no order within.
        """
        return await to_thread.run_sync(topological_groups, await self.as_network(memory, at=at))

    topological_order, atopological_order = twins(_topological_order)

    # Export

    async def as_network(self, memory: Recollect, *, at: datetime | None = None) -> MultiDiGraph:
        """Return the graph for networkx, a copy of its own; see `recollect.graph.network`."""
        view = await self.read(memory)
        return network_of(view, _moment(at, view))

    network, anetwork = twins(as_network, "network")

    async def _gml(self, memory: Recollect, *, at: datetime | None = None) -> str:
        """Return the graph in the Graph Modelling Language."""
        return await to_thread.run_sync(gml_of, await self.as_network(memory, at=at))

    gml, agml = twins(_gml)

    async def _svg(
        self,
        memory: Recollect,
        name: str | None = None,
        depth: int = 1,
        *,
        direction: Direction = "both",
        at: datetime | None = None,
    ) -> str:
        """
        Return a picture, as SVG, of what stands around an entity, or of the whole graph.

        Raises:
            LimitError: It would have more than ``PICTURE_NODES_MAX`` entities.
            NotFoundError: Nothing is known of the entity.
        """
        view = await self.read(memory)
        moment = _moment(at, view)
        if name is None:
            return await to_thread.run_sync(svg_of, network_of(view, moment))
        key = view.key_of(name)
        if not view.knows(key, moment):
            msg = f"nothing is known of {name!r}: give the name of an entity of the graph"
            raise NotFoundError(msg)
        found = neighbourhood(view, key, depth=depth, direction=direction, at=moment)
        network = network_of(view, moment, found.facts)
        center = view.name_of(key)
        network.add_node(center)
        return await to_thread.run_sync(svg_of, network, center)

    svg, asvg = twins(_svg)

    # What all of them do, also for what is built on the graph

    async def read(self, memory: Recollect) -> View:
        """Return the graph as it is stored now. It is used before anything else is awaited."""
        async with self._turn:
            fed: list[Feed] = []

            def choose(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
                fed[:] = feeds
                return [
                    (self.scope, each.uid)
                    for feed in feeds
                    for each in feed.entries
                    if each.type in {FACT_TYPE, ENTITY_TYPE}
                ]

            entries: list[Entry] = await memory.store.consult([self._view.cursor], choose)
            self._view.follow(fed[0], entries)
            return self._view

    async def change(
        self, memory: Recollect, plan: Callable[[View], tuple[PlannedT, Sequence[Write]]]
    ) -> PlannedT:
        """Read, decide and write; again, if somebody else has written what was decided on."""
        for attempt in range(1, TRIES_MAX + 1):
            planned, writes = plan(await self.read(memory))
            try:
                if writes:
                    await memory.apply(self.scope, writes)
            except VersionConflictError:
                if attempt == TRIES_MAX:
                    raise
            else:
                return planned
        msg = f"TRIES_MAX is {TRIES_MAX}: a change needs one try at least"
        raise UsageError(msg)

    async def _changed_entity(self, memory: Recollect, change: EntityChange) -> Entity:
        await self.change(memory, lambda view: (None, plan_entity(view, change)))
        return await self._entity_named(memory, change.name)

    async def _entity_named(self, memory: Recollect, name: str) -> Entity:
        found = await self._entity(memory, name)
        if found is None:
            msg = f"the entity {name!r} was ended by somebody else meanwhile"
            raise NotFoundError(msg)
        return found

    async def _erased(self, memory: Recollect, found: Sequence[Memory]) -> tuple[EraseReceipt, ...]:
        receipts = [
            await memory.erase(self.scope, EraseMemory(type=each.type, key=each.key))
            for each in found
        ]
        await self.read(memory)
        return tuple(receipts)


def _moment(at: datetime | None, view: View) -> datetime:
    if at is None:
        return view.now
    check_time(at, "at")
    return at


def _matching(
    view: View, subject: str | None, predicate: str | None, object_: Value | None
) -> list[KnownFact]:
    """Return the facts, in every state, that have what is given, oldest first."""
    found = view.facts() if subject is None else view.facts_of(view.key_of(subject))
    if predicate is not None:
        key = name_key(predicate)
        found = [each for each in found if each.predicate_key == key]
    return found if object_ is None else [each for each in found if _has(each, object_, view)]


def _has(fact: KnownFact, object_: Value, view: View) -> bool:
    if fact.object_key is None:
        return shown(fact.object) == shown(object_)
    return isinstance(object_, str) and view.aliases.key_of(fact.object_key) == view.key_of(object_)


def _keys_in(fact: KnownFact) -> set[str]:
    return {fact.subject_key} | ({fact.object_key} if fact.object_key is not None else set())


def _facts_at(view: View, keys: Sequence[str]) -> tuple[Fact, ...]:
    """Return the facts at some addresses, in the order of these."""
    found = (view.fact_at(key) for key in keys)
    return tuple(view.fact(each) for each in found if each is not None)


def _addition(planned: Planned, view: View) -> Addition:
    fact = _facts_at(view, [planned.key] if planned.key else [])
    return Addition(
        action=planned.action,
        fact=fact[0] if fact else None,
        ended=_facts_at(view, planned.ended),
        reason=planned.reason,
    )
