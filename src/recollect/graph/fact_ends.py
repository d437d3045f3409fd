"""Plan the ending of facts and entities, from a snapshot of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from recollect.formation.succession import holds_from
from recollect.graph.graph_snapshot import GraphSnapshot, KnownEntity, KnownFact
from recollect.records import EndMemory, Memory, Write


def end_of(memory: Memory, at: datetime, cause: str) -> EndMemory:
    """Return the write that ends a memory at *at*, or at its start if that is later."""
    moment = max(at, memory.valid_from) if memory.valid_from else at
    return EndMemory(
        type=memory.type, key=memory.key, at=moment, expected=memory.version, cause=cause
    )


def plan_end_of_entities(
    view: GraphSnapshot, keys: Iterable[str] | None, cause: str
) -> list[Write]:
    """Return the writes that end entities (``None``: all), and the facts that name them."""
    wanted = None if keys is None else set(keys)
    entities: list[KnownEntity] = view.entities()
    memories = [
        each.memory
        for each in entities
        if wanted is None or view.aliases.key_of(each.key) in wanted
    ]
    memories += [
        each.memory for each in view.facts() if wanted is None or _names_any(each, wanted, view)
    ]
    return [end_of(each, view.now, cause) for each in memories if holds_from(each, view.now)]


def _names_any(fact: KnownFact, keys: set[str], view: GraphSnapshot) -> bool:
    ends = [fact.subject_key, *([fact.object_key] if fact.object_key is not None else [])]
    return any(view.aliases.key_of(each) in keys for each in ends)
