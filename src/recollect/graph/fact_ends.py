"""Plan the ending of facts and entities, from a snapshot of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from recollect.formation.succession import holds_from
from recollect.graph.graph_snapshot import GraphSnapshot
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
    memories = [
        each.memory
        for each in view.entities()
        if wanted is None or view.aliases.key_of(each.key) in wanted
    ]
    memories += [
        each.memory
        for each in view.facts()
        if wanted is None or not wanted.isdisjoint(map(view.aliases.key_of, each.entity_keys))
    ]
    return [end_of(each, view.now, cause) for each in memories if holds_from(each, view.now)]
