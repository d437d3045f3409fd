"""The graph of a scope's facts: the neighbourhood of an entity, or the most connected ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query

from recollect.deferred_imports import load_modules
from recollect.records import Json
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Name, Reading
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import Time
from recollect.wire.elements import time_to_json

if TYPE_CHECKING:
    from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact

router: Final = strict_router(prefix="/v1", tags=["graph"])
NODES: Final = 100
NODES_MAX: Final = 2_000
DEPTH_MAX: Final = 5


@router.get("/graph", summary="Entities and the facts between them")
async def graph(
    reach: Reading,
    entity: Name | None = None,
    depth: Annotated[int, Query(ge=1, le=DEPTH_MAX)] = 1,
    limit: Annotated[int, Query(ge=1, le=NODES_MAX)] = NODES,
    valid_at: Time | None = None,
    known_at: Annotated[Time | None, Query(description="As it was believed at this time.")] = None,
) -> JsonAnswer:
    """
    Return the entities within *depth* steps of one, nearest first, or those with the most facts.

    *more* is true if the *limit* left some out. With *known_at* alone the facts are those that were
    believed to be true then, as in recall and the overview.
    """
    await load_modules("recollect.graph")
    from recollect.formation.succession import holds
    from recollect.graph.graph_access import moment_of, read_once, read_past
    from recollect.graph.neighbourhood import neighbourhood

    if known_at is None:
        view = await read_once(reach.memory, reach.scope)
    else:
        view = await read_past(reach.memory, reach.scope, known_at)
    at = moment_of(valid_at or known_at, view)
    if entity is None:
        facts = [each for each in view.facts() if holds(each.memory, at)]
        keys = _by_degree(view, facts)
    else:
        found = neighbourhood(view, view.key_of(entity), depth=depth, direction="both", at=at)
        keys, facts = list(found.keys), list(found.facts)
        if not facts and not view.knows(keys[0], at):
            keys = []
    shown = set(keys[:limit])
    edges = [edge for each in facts if (edge := _edge(view, each, shown)) is not None]
    nodes: list[dict[str, Json]] = []
    for key in keys[:limit]:
        known = view.entity(key, at)
        nodes.append({"id": key, "name": view.name_of(key), "kind": known.kind if known else None})
    return {"nodes": nodes, "edges": edges, "more": len(keys) > limit}


def _by_degree(view: GraphSnapshot, facts: list[KnownFact]) -> list[str]:
    """Return the entities that facts name, by number of facts."""
    degrees: dict[str, int] = {}
    for fact in facts:
        for key in _ends(view, fact):
            degrees[key] = degrees.get(key, 0) + 1
    return sorted(degrees, key=lambda key: (-degrees[key], key))


def _ends(view: GraphSnapshot, fact: KnownFact) -> list[str]:
    named = [fact.subject_key] if fact.object_key is None else [fact.subject_key, fact.object_key]
    return [view.aliases.key_of(each) for each in named]


def _edge(view: GraphSnapshot, fact: KnownFact, shown: set[str]) -> dict[str, Json] | None:
    ends = _ends(view, fact)
    if len(ends) < 2 or not shown.issuperset(ends):
        return None
    return {
        "from": ends[0],
        "to": ends[1],
        "predicate": fact.predicate,
        "fact": fact.memory.key,
        "valid_from": time_to_json(fact.memory.valid_from),
        "valid_until": time_to_json(fact.memory.valid_until),
    }
