"""Convert the graph to networkx, which is imported at first use, and run its algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Final

from recollect.errors import LimitError, MissingExtraError, UsageError
from recollect.formation.succession import holds
from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact
from recollect.graph.neighbourhood import check_steps
from recollect.graph.values import value_text

if TYPE_CHECKING:
    from networkx import DiGraph, MultiDiGraph

PATHS_MAX: Final = 100


def load_networkx() -> ModuleType:
    """
    Return networkx.

    Raises:
        MissingExtraError: networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError("graph", "networkx") from error
    found: ModuleType = nx
    return found


def network_of(
    view: GraphSnapshot, at: datetime, facts: Iterable[KnownFact] | None = None
) -> MultiDiGraph:
    """
    Return the graph as of *at*: a node per entity, an edge per relation, oldest first.

    Nodes are the entities' names, with ``kind``, ``summary`` and ``aliases`` if known, and
    ``attributes`` by name, as texts. Edges have the fact's key as key, and ``relation``, ``trust``,
    ``valid_from`` and ``valid_until``.

    Args:
        facts: Only these facts and their entities, instead of all.
    """
    graph: MultiDiGraph = load_networkx().MultiDiGraph()
    chosen = [each for each in view.facts() if holds(each.memory, at)] if facts is None else facts
    keys: dict[str, None] = {}
    if facts is None:
        keys.update((view.aliases.key_of(each.key), None) for each in view.entities(at))
    listed = list(chosen)
    for fact in listed:
        keys.update((view.aliases.key_of(key), None) for key in fact.entity_keys)
    names = {key: view.name_of(key) for key in keys}
    for key, name in names.items():
        graph.add_node(name, **_node_fields(view, key, at))
    for fact in listed:
        source = names[view.aliases.key_of(fact.subject_key)]
        if fact.object_key is None:
            kept = graph.nodes[source].setdefault("attributes", {})
            kept.setdefault(fact.predicate, []).append(value_text(fact.object))
        else:
            target = names[view.aliases.key_of(fact.object_key)]
            graph.add_edge(source, target, key=fact.memory.key, **_edge_fields(fact))
    return graph


def _node_fields(view: GraphSnapshot, key: str, at: datetime) -> dict[str, object]:
    entity = view.entity(key, at) if view.memories_of(key, at) else None
    if entity is None:
        return {}
    fields = {"kind": entity.kind, "summary": entity.summary, "aliases": list(entity.aliases)}
    return {name: each for name, each in fields.items() if each}


def _edge_fields(fact: KnownFact) -> dict[str, str]:
    memory = fact.memory
    times = {"valid_from": memory.valid_from, "valid_until": memory.valid_until}
    return {
        "relation": fact.predicate,
        "trust": memory.trust,
        **{name: each.isoformat() for name, each in times.items() if each is not None},
    }


def topological_groups(graph: MultiDiGraph | DiGraph) -> tuple[tuple[str, ...], ...]:
    """
    Return the entities in groups in topological order.

    A group of several entities is a cycle, which has no order. Ties are broken by age, oldest
    first.
    """
    nx = load_networkx()
    place = {name: at for at, name in enumerate(graph)}
    groups = [
        sorted(each, key=place.__getitem__) for each in nx.strongly_connected_components(graph)
    ]
    groups.sort(key=lambda group: place[group[0]])
    condensed = nx.condensation(nx.DiGraph(graph), scc=groups)
    return tuple(tuple(groups[at]) for at in nx.lexicographical_topological_sort(condensed))


def paths_between(
    graph: MultiDiGraph, source: str, target: str, *, steps_max: int, limit: int
) -> list[tuple[str, ...]]:
    """
    Return the paths from *source* to *target* along relations, as keys of facts, shortest first.

    Raises:
        UsageError: *limit* or *steps_max* is not a valid number.
        LimitError: *limit* is more than ``PATHS_MAX``, or *steps_max* than ``DEPTH_MAX``.
    """
    check_steps(steps_max, "steps_max")
    if isinstance(limit, bool) or limit < 1:
        raise UsageError(f"limit is {limit!r}: give a number of paths from 1")
    if limit > PATHS_MAX:
        raise LimitError("paths asked for", limit, PATHS_MAX, "PATHS_MAX")
    if source not in graph or target not in graph or source == target:
        return []
    return list(islice(_by_length(graph, source, target, steps_max), limit))


def _by_length(
    graph: MultiDiGraph, source: str, target: str, steps_max: int
) -> Iterator[tuple[str, ...]]:
    nx = load_networkx()
    simple = nx.DiGraph(graph)
    if not nx.has_path(simple, source, target):
        return
    # Find paths of entities, shortest first; several facts can join each pair of entities.
    for nodes in nx.shortest_simple_paths(simple, source, target):
        if len(nodes) > steps_max + 1:
            return
        yield from _keys_along(graph, nodes)


def _keys_along(graph: MultiDiGraph, nodes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the facts along *nodes*, as all combinations."""
    if len(nodes) < 2:
        yield ()
        return
    for key in graph[nodes[0]][nodes[1]]:
        yield from ((key, *rest) for rest in _keys_along(graph, nodes[1:]))


def undirected(graph: MultiDiGraph) -> MultiDiGraph:
    """Return the graph with each relation in both directions, under the same key."""
    both: MultiDiGraph = graph.copy()
    both.add_edges_from([(v, u, key) for u, v, key in graph.edges(keys=True)])
    return both


def writable(graph: MultiDiGraph) -> MultiDiGraph:
    """Return a copy that GML can represent, with attributes as a list of names and values."""
    plain: MultiDiGraph = load_networkx().MultiDiGraph()
    for name, fields in graph.nodes(data=True):
        attributes = [
            {"name": attribute, "value": value}
            for attribute, values in fields.get("attributes", {}).items()
            for value in values
        ]
        kept = {key: each for key, each in fields.items() if key != "attributes"}
        plain.add_node(name, **kept, **({"attribute": attributes} if attributes else {}))
    plain.add_edges_from(graph.edges(keys=True, data=True))
    return plain


def gml_of(graph: MultiDiGraph) -> str:
    """Return the graph in the Graph Modelling Language."""
    return "\n".join(load_networkx().generate_gml(writable(graph))) + "\n"
