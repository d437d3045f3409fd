"""
`GraphSnapshot`: the facts and entities of a scope as last read, indexed by all their names.

A snapshot follows the scope's feed: each read applies the changes since the last one, and drops
what was erased.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Final

from recollect.formation.succession import holds
from recollect.graph.aliases import Aliases, aliases_of
from recollect.graph.name_equality import name_key
from recollect.graph.values import (
    ENTITY_TYPE,
    FACT_TYPE,
    Entity,
    GraphFact,
    ObjectType,
    Value,
    read_object,
)
from recollect.records import Memory, Scope
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.plans.changes import Entry
from recollect.stores.validation import to_datetime

_EVER: Final = datetime.min.replace(tzinfo=UTC)
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """A ``Fact`` memory with the keys by which it is indexed."""

    memory: Memory
    subject_key: str
    predicate_key: str
    object: Value
    object_type: ObjectType
    object_key: str | None
    """``None`` for an attribute."""

    @property
    def subject(self) -> str:
        """The subject as written in the memory."""
        return str(self.memory.value["subject"])

    @property
    def predicate(self) -> str:
        """The predicate as written in the memory."""
        return str(self.memory.value["predicate"])

    @property
    def entity_keys(self) -> tuple[str, ...]:
        """The keys of the names of its entities: the subject, and the object of a relation."""
        ends = (self.subject_key, self.object_key)
        return tuple(key for key in ends if key is not None)

    @property
    def several(self) -> bool:
        """Whether the subject can have several objects of this predicate at once."""
        return self.memory.value.get("several") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEntity:
    """An ``Entity`` memory with the keys of its names."""

    memory: Memory
    key: str
    alias_keys: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name as written in the memory."""
        return str(self.memory.value["name"])

    @property
    def aliases(self) -> tuple[str, ...]:
        """The aliases as written in the memory."""
        found = self.memory.value.get("aliases")
        return tuple(str(each) for each in found) if isinstance(found, list | tuple) else ()


def known_fact(memory: Memory) -> KnownFact | None:
    """Return a ``Fact`` memory with its keys; ``None`` if its value is not a fact."""
    value, found = memory.value, read_object(memory)
    subject, predicate = value.get("subject"), value.get("predicate")
    if found is None or not isinstance(subject, str) or not isinstance(predicate, str):
        return None
    return KnownFact(
        memory=memory,
        subject_key=name_key(subject),
        predicate_key=name_key(predicate),
        object=found[0],
        object_type=found[1],
        object_key=name_key(str(found[0])) if found[1] == "entity" else None,
    )


def known_entity(memory: Memory) -> KnownEntity | None:
    """Return an ``Entity`` memory with its keys; ``None`` if its value is not an entity."""
    name, aliases = memory.value.get("name"), memory.value.get("aliases")
    if not isinstance(name, str):
        return None
    listed = aliases if isinstance(aliases, list | tuple) else ()
    keys = tuple(name_key(each) for each in listed if isinstance(each, str))
    return KnownEntity(memory=memory, key=name_key(name), alias_keys=keys)


def in_order(memory: Memory) -> tuple[datetime, str]:
    """Return the sort key of memories: creation time, then key."""
    return memory.created_at, memory.key


@dataclass
class GraphSnapshot:
    """The graph of a scope at *now*; `follow` brings it up to date."""

    scope: Scope
    now: datetime = _EVER
    seq: int = 0
    epoch: int = -1
    _facts: dict[int, KnownFact] = field(default_factory=dict)
    _entities: dict[int, KnownEntity] = field(default_factory=dict)
    _by_subject: dict[str, set[int]] = field(default_factory=dict)
    _by_object: dict[str, set[int]] = field(default_factory=dict)
    _uids: dict[tuple[str, str], int] = field(default_factory=dict)
    _names_until: datetime = _NEVER

    @property
    def cursor(self) -> Cursor:
        """The feed cursor up to which the snapshot is current."""
        return Cursor(scope=self.scope, seq=self.seq, epoch=self.epoch)

    def follow(self, feed: Feed, entries: Iterable[Entry]) -> None:
        """Apply the changes since the cursor; *entries* are the changed facts and entities."""
        self.now = to_datetime(feed.now)
        if feed.reset:
            self._facts.clear()
            self._entities.clear()
            self._uids.clear()
            self._by_subject.clear()
            self._by_object.clear()
            self._renew()
        # An entity has begun, ended or expired since the names were cached.
        if self.now >= self._names_until:
            self._renew()
        for uid in feed.removed:
            self._drop(uid)
        for entry in entries:
            if isinstance(entry.content, Memory):
                self._drop(entry.uid)
                self._keep(entry.uid, entry.content)
        self.seq, self.epoch = feed.seq, feed.epoch

    def _renew(self) -> None:
        """Drop the cached names, so that they are rebuilt from the entities' memories."""
        self._names_until = _NEVER
        for name in ("aliases", "_known"):
            self.__dict__.pop(name, None)

    def _keep(self, uid: int, memory: Memory) -> None:
        if memory.type == ENTITY_TYPE and (entity := known_entity(memory)):
            self._entities[uid] = entity
            self._uids[memory.type, memory.key] = uid
            self._renew()
        if memory.type == FACT_TYPE and (fact := known_fact(memory)):
            self._facts[uid] = fact
            self._uids[memory.type, memory.key] = uid
            self._by_subject.setdefault(fact.subject_key, set()).add(uid)
            if fact.object_key is not None:
                self._by_object.setdefault(fact.object_key, set()).add(uid)

    def _drop(self, uid: int) -> None:
        entity = self._entities.pop(uid, None)
        fact = self._facts.pop(uid, None)
        for each in (entity, fact):
            # The key may belong to another memory by now, whose entry was applied before.
            if each is not None and self._uids.get((each.memory.type, each.memory.key)) == uid:
                del self._uids[each.memory.type, each.memory.key]
        if entity is not None:
            self._renew()
        if fact is None:
            return
        for index, key in (
            (self._by_subject, fact.subject_key),
            (self._by_object, fact.object_key),
        ):
            if key is not None and uid in index.get(key, ()):
                index[key].discard(uid)
                if not index[key]:
                    del index[key]

    @classmethod
    def of(cls, scope: Scope, memories: Iterable[Memory], now: datetime) -> GraphSnapshot:
        """Return a snapshot of these facts and entities at one moment, without following a feed."""
        view = cls(scope, now=now)
        for number, memory in enumerate(memories):
            view._keep(number, memory)
        return view

    # Names

    @cached_property
    def aliases(self) -> Aliases:
        """The current aliases, cached until an entity's validity changes."""
        changes = (
            each
            for known in self._entities.values()
            for each in (
                known.memory.valid_from,
                known.memory.valid_until,
                known.memory.expires_at,
            )
            if each is not None and each > self.now
        )
        self._names_until = min(changes, default=_NEVER)
        return aliases_of((each.key, each.alias_keys) for each in self.entities())

    @cached_property
    def _known(self) -> dict[str, list[KnownEntity]]:
        """The memories of each entity, oldest first."""
        found: dict[str, list[KnownEntity]] = {}
        for each in sorted(self.all_entities(), key=lambda each: in_order(each.memory)):
            found.setdefault(self.aliases.key_of(each.key), []).append(each)
        return found

    def key_of(self, name: str) -> str:
        """Return the key of the entity that *name* means."""
        return self.aliases.key_of(name_key(name))

    def name_of(self, key: str) -> str:
        """Return the name of the entity *key*, from its memory, else from its oldest fact."""
        named = (each.name for each in self.memories_of(key, self.now) if each.key == key)
        for name in named:
            return name
        facts = [
            *((each, each.subject) for each in self._indexed(self._by_subject, [key])),
            *((each, str(each.object)) for each in self._indexed(self._by_object, [key])),
        ]
        if not facts:
            return key
        return min(facts, key=lambda each: in_order(each[0].memory))[1]

    def knows(self, key: str, at: datetime) -> bool:
        """Return True if an entity has a memory or a fact that is valid at *at*."""
        return (
            bool(self.memories_of(key, at))
            or bool(self.outgoing(key, at))
            or bool(self.incoming(key, at))
        )

    # Facts and entities

    def entities(self, at: datetime | None = None) -> list[KnownEntity]:
        """Return the active entities valid at *at* (``None``: now), oldest first."""
        found = [each for each in self.all_entities() if holds(each.memory, at or self.now)]
        return sorted(found, key=lambda each: in_order(each.memory))

    def memories_of(self, key: str, at: datetime) -> list[KnownEntity]:
        """Return the memories of the entity *key* that are valid at *at*, oldest first."""
        return [each for each in self._known.get(key, ()) if holds(each.memory, at)]

    def all_entities(self) -> Iterator[KnownEntity]:
        """Yield the entities in every state, ended ones too, in any order."""
        return (each for each in self._entities.values() if self._is_there(each.memory))

    def takes(self, type_: str, address: str) -> bool:
        """Return True if a fact or entity has the key *address*, in any state."""
        return (type_, address) in self._uids

    def count(self, type_: str) -> int:
        """Return the number of memories of a type, in any state."""
        return len(self._facts if type_ == FACT_TYPE else self._entities)

    def fact_at(self, address: str) -> KnownFact | None:
        """Return the fact whose memory has the key *address*, in any state."""
        uid = self._uids.get((FACT_TYPE, address))
        return None if uid is None else self._facts[uid]

    def facts(self) -> list[KnownFact]:
        """Return the facts in every state, ended ones too, oldest first."""
        return self._sorted(self._facts.values())

    def facts_of(self, key: str) -> list[KnownFact]:
        """Return the facts with the subject *key* in every state, oldest first."""
        return self._sorted(self._indexed(self._by_subject, self.aliases.names_of(key)))

    def outgoing(self, key: str, at: datetime) -> list[KnownFact]:
        """Return the facts with the subject *key* that are valid at *at*, oldest first."""
        return [each for each in self.facts_of(key) if holds(each.memory, at)]

    def incoming(self, key: str, at: datetime) -> list[KnownFact]:
        """Return the facts with the object *key* that are valid at *at*, oldest first."""
        found = self._sorted(self._indexed(self._by_object, self.aliases.names_of(key)))
        return [each for each in found if holds(each.memory, at)]

    def _indexed(self, index: dict[str, set[int]], keys: Iterable[str]) -> Iterator[KnownFact]:
        return (self._facts[uid] for key in keys for uid in index.get(key, ()))

    def _sorted(self, facts: Iterable[KnownFact]) -> list[KnownFact]:
        there = [each for each in facts if self._is_there(each.memory)]
        return sorted(there, key=lambda each: in_order(each.memory))

    def _is_there(self, memory: Memory) -> bool:
        return memory.expires_at is None or memory.expires_at > self.now

    # Results for users

    def fact(self, known: KnownFact) -> GraphFact:
        """Return a fact with the current names of its entities."""
        memory, value = known.memory, known.object
        if known.object_key is not None:
            value = self.name_of(self.aliases.key_of(known.object_key))
        return GraphFact(
            key=memory.key,
            subject=self.name_of(self.aliases.key_of(known.subject_key)),
            predicate=known.predicate,
            object=value,
            object_type=known.object_type,
            several=known.several,
            valid_from=memory.valid_from,
            valid_until=memory.valid_until,
            evidence=memory.evidence,
            trust=memory.trust,
            state=memory.state,
        )

    def entity(self, key: str, at: datetime) -> Entity | None:
        """Return an entity as of *at*; ``None`` if nothing is known of it then."""
        if not self.knows(key, at):
            return None
        memories = self.memories_of(key, at)
        attributes: dict[str, tuple[Value, ...]] = {}
        for fact in self.outgoing(key, at):
            if fact.object_key is None:
                kept = attributes.get(fact.predicate, ())
                attributes[fact.predicate] = (*kept, fact.object)
        name = self.name_of(key)
        spelled = {
            name_key(alias): alias
            for each in reversed(memories)
            for alias in (*each.aliases, each.name)
            if self.aliases.key_of(name_key(alias)) == key
        }
        return Entity(
            name=name,
            kind=_last(memories, "kind"),
            aliases=tuple(sorted(v for k, v in spelled.items() if k != name_key(name))),
            summary=_last(memories, "summary"),
            attributes=attributes,
        )


def _last(memories: Iterable[KnownEntity], field_: str) -> str | None:
    """Return the newest value of a field among *memories* that have one."""
    ordered = sorted(memories, key=lambda each: each.memory.time, reverse=True)
    found = (each.memory.value.get(field_) for each in ordered)
    return next((str(each) for each in found if each), None)
