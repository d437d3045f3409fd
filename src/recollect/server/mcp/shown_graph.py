"""The graph of a scope as the official MCP memory server shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from recollect.exporters.mcp_memory import NAMELESS_KIND
from recollect.formation.succession import is_valid_at
from recollect.graph.name_equality import name_key
from recollect.importers.graph_records import OBSERVATION
from recollect.importers.memory_records import FileMemory
from recollect.records import Json, Memory, MemoryAddress

Triple: TypeAlias = tuple[str, str, str]
"""Source, type and target of a relation, normalised for comparison."""


@dataclass(slots=True, kw_only=True)
class ShownEntity:
    """An entity: its memories, and its observations with the memories behind each."""

    name: str
    kind: str = NAMELESS_KIND
    memories: list[MemoryAddress] = field(default_factory=list)
    observations: dict[str, list[MemoryAddress]] = field(default_factory=dict)

    def record(self) -> dict[str, Json]:
        """Return the entity in the official server's form."""
        return {
            "name": self.name,
            "entityType": self.kind,
            "observations": list(self.observations),
        }

    def has(self, words: str) -> bool:
        """Return True if its name, type or an observation contains *words*."""
        texts = (self.name, self.kind, *self.observations)
        return any(words in each.casefold() for each in texts)


@dataclass(slots=True, kw_only=True)
class ShownRelation:
    """A relation between two entities, and the memories behind it."""

    source: str
    target: str
    kind: str
    memories: list[MemoryAddress] = field(default_factory=list)

    def record(self) -> dict[str, Json]:
        """Return the relation in the official server's form."""
        return {"from": self.source, "to": self.target, "relationType": self.kind}


class GraphView:
    """
    The graph of the *memories* with the types ``Entity`` and ``Fact`` that hold at *now*.

    An entity that only a fact names has the type ``unknown``. An attribute, such as an age, is an
    observation.
    """

    def __init__(self, memories: Iterable[Memory], now: datetime) -> None:
        self.entities: dict[str, ShownEntity] = {}
        self.relations: dict[Triple, ShownRelation] = {}
        self._held_back: set[tuple[str, ...]] = set()
        for each in memories:
            if each.state != "active" or not is_valid_at(each, now):
                self._held_back.add((each.type, each.key))
                if each.state == "rejected":  # under which key it ever is
                    self._held_back.add(_statement_of(each))
            elif each.type == "Entity":
                self._take_entity(each)
            elif each.type == "Fact":
                self._take_fact(each)

    def entity(self, name: str) -> ShownEntity | None:
        """Return the entity of a name, ``None`` if there is none."""
        return self.entities.get(name_key(name))

    def holds_back(self, made: FileMemory) -> bool:
        """Return True if it is there and not in force, or was rejected."""
        return not self._held_back.isdisjoint([(made.type, made.key), _statement_of(made)])

    def record(self, wanted: Callable[[ShownEntity], bool] = lambda _: True) -> dict[str, Json]:
        """Return the *wanted* entities, and the relations of at least one of them."""
        kept = {key: each for key, each in self.entities.items() if wanted(each)}
        return {
            "entities": [each.record() for each in kept.values()],
            "relations": [
                each.record()
                for (source, _, target), each in self.relations.items()
                if source in kept or target in kept
            ],
        }

    def said_of(self, keys: Collection[str]) -> list[MemoryAddress]:
        """Return the memories of the entities with these keys, and of their relations."""
        found: dict[MemoryAddress, None] = {}
        for key in keys:
            entity = self.entities[key]
            found |= dict.fromkeys(entity.memories)
            for each in entity.observations.values():
                found |= dict.fromkeys(each)
        for (source, _, target), known in self.relations.items():
            if source in keys or target in keys:
                found |= dict.fromkeys(known.memories)
        return list(found)

    def _named(self, name: Json) -> ShownEntity:
        return self.entities.setdefault(name_key(str(name)), ShownEntity(name=str(name)))

    def _take_entity(self, memory: Memory) -> None:
        value = memory.value
        entity = self._named(value.get("name"))
        entity.kind = str(value.get("kind") or entity.kind)
        entity.memories.append((memory.type, memory.key))
        if value.get("summary"):
            entity.observations.setdefault(str(value["summary"]), []).append(entity.memories[-1])

    def _take_fact(self, memory: Memory) -> None:
        value, address = memory.value, (memory.type, memory.key)
        source, predicate = self._named(value.get("subject")), str(value.get("predicate"))
        object_ = value.get("object")
        if isinstance(object_, str) and value.get("object_type") is None:
            target = self._named(object_)
            triple = triple_of(source.name, predicate, target.name)
            made = ShownRelation(source=source.name, target=target.name, kind=predicate)
            self.relations.setdefault(triple, made).memories.append(address)
            return
        words = str(object_).lower() if isinstance(object_, bool) else str(object_)
        if predicate != OBSERVATION:
            words = f"{predicate}: {words}"
        source.observations.setdefault(words, []).append(address)


def _statement_of(memory: Memory | FileMemory) -> tuple[str, ...]:
    """Return what a memory says, normalised for comparison; of an entity, its name."""
    value = memory.value
    if memory.type == "Entity":
        return ("names", name_key(str(value.get("name", ""))))
    parts = [value.get(name) for name in ("subject", "predicate", "object", "object_type")]
    return ("says", *("" if each is None else name_key(str(each)) for each in parts))


def triple_of(source: str, kind: str, target: str) -> Triple:
    """Return a relation, normalised for comparison."""
    return name_key(source), name_key(kind), name_key(target)


def keys_of(names: Sequence[str]) -> list[str]:
    """Return the distinct names, normalised for comparison."""
    return list(dict.fromkeys(map(name_key, names)))
