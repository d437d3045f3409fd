"""The semantics of LangChain's ``NetworkxEntityGraph``: one edge per pair of exact names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from recollect.formation.grounding.passage_trust import least
from recollect.formation.succession import holds
from recollect.graph.fact_ends import end_of
from recollect.graph.graph_snapshot import GraphSnapshot, KnownEntity, KnownFact
from recollect.graph.network import load_networkx
from recollect.graph.triples import KnowledgeTriple
from recollect.graph.values import ENTITY_TYPE, FACT_TYPE
from recollect.records import Evidence, JsonObject, Memory, PutMemory, Trust, Write
from recollect.stores.remainder import MEMORY_THREAD, version_name
from recollect.stores.validation import ID_CHARACTERS_MAX

if TYPE_CHECKING:
    from networkx import DiGraph

TRIPLES_AT_ONCE_MAX: Final = 300
"""Triples per transaction, at most, as each is up to one edge and two nodes."""
CITED_MAX: Final = 100
"""Facts that the memory of a node cites, at most."""

_NUMBERED: Final = re.compile(r"(?:node|edge)-(\d{12})")
_UNTIMED: Final = datetime.min.replace(tzinfo=UTC)
_Place: TypeAlias = tuple[int, datetime, str]


def graph_order(memory: Memory) -> _Place:
    """Return the sort key of nodes and edges: other writers' first, then this graph's in order."""
    is_ours = _NUMBERED.fullmatch(memory.key) is not None
    # Order this graph's by the number in the key, which does not depend on the clock.
    return (1, _UNTIMED, memory.key) if is_ours else (0, memory.created_at, memory.key)


def digraph_of(view: GraphSnapshot) -> DiGraph:
    """Return the valid relations as a graph with one edge per pair of names, as written."""
    graph: DiGraph = load_networkx().DiGraph()
    nodes = sorted(view.entities(), key=lambda each: graph_order(each.memory))
    graph.add_nodes_from(each.name for each in nodes)
    edges = (
        each
        for each in view.facts()
        if each.object_key is not None and holds(each.memory, view.now)
    )
    for each in sorted(edges, key=lambda each: graph_order(each.memory)):
        graph.add_edge(each.subject, str(each.object), relation=each.predicate)
    return graph


class Changes:
    """Planned writes, each of which sees those before it."""

    def __init__(self, view: GraphSnapshot) -> None:
        self._view = view
        self._nodes: dict[str, PutMemory] = {}
        self._edges: dict[tuple[str, str], PutMemory] = {}
        self._numbers = {ENTITY_TYPE: 0, FACT_TYPE: 0}

    def writes(self) -> list[Write]:
        """Return the writes, nodes first."""
        return [*self._nodes.values(), *self._edges.values()]

    def add_node(self, name: str, evidence: Sequence[Evidence] = (), trust: Trust = "user") -> None:
        """Add a node that exists without edges too, unless it does already."""
        if name in self._nodes or node_at(self._view, name):
            return
        key = self._free_key(ENTITY_TYPE, "node")
        self._nodes[name] = PutMemory(
            type=ENTITY_TYPE,
            key=key,
            value={"name": name},
            expected=0,
            evidence={"": evidence} if evidence else {},
            trust=trust,
            cause="added",
        )

    def add_triple(
        self, triple: KnowledgeTriple, evidence: Sequence[Evidence] = (), trust: Trust = "user"
    ) -> None:
        """Add an edge and its nodes; an existing edge between the two gets the new relation."""
        subject, predicate, object_ = map(str, triple)
        self.add_node(subject, evidence, trust)
        self.add_node(object_, evidence, trust)
        value: JsonObject = {
            "subject": subject,
            "predicate": predicate,
            "object": object_,
            "several": True,
        }
        stored = edge_between(self._view, subject, object_)
        planned = self._edges.get((subject, object_))
        if planned is not None:
            key, expected = planned.key, planned.expected
        elif stored is not None:
            key, expected = stored.memory.key, stored.memory.version
        else:
            key, expected = self._free_key(FACT_TYPE, "edge"), 0
        self._edges[subject, object_] = PutMemory(
            type=FACT_TYPE,
            key=key,
            value=value,
            expected=expected,
            evidence={"": evidence} if evidence else {},
            trust=trust,
            cause="added",
        )

    def _free_key(self, type_: str, kind: str) -> str:
        number = self._numbers[type_] or self._view.count(type_)
        key = f"{kind}-{number + 1:012}"
        while self._view.takes(type_, key):
            number += 1
            key = f"{kind}-{number + 1:012}"
        self._numbers[type_] = number + 1
        return key


def support_of_node(view: GraphSnapshot, name: str) -> tuple[list[Evidence], Trust]:
    """Return the versions of the facts that name a node, with which it goes, and its trust."""
    key = view.key_of(name)
    facts = [*view.outgoing(key, view.now), *view.incoming(key, view.now)]
    names = {
        version_name(FACT_TYPE, each.memory.key, each.memory.version)
        for each in facts
        if len(each.memory.key) <= ID_CHARACTERS_MAX // 2
    }
    cited = [Evidence(thread=MEMORY_THREAD, message=each) for each in sorted(names)[:CITED_MAX]]
    return cited, least([each.memory.trust for each in facts])


def node_at(view: GraphSnapshot, name: str) -> KnownEntity | None:
    """Return the entity with exactly this name."""
    found = view.memories_of(view.key_of(name), view.now)
    return next((each for each in found if each.name == name), None)


def edges_at(view: GraphSnapshot, name: str) -> list[KnownFact]:
    """Return the relations that start or end at exactly this name."""
    key = view.key_of(name)
    found = [*view.outgoing(key, view.now), *view.incoming(key, view.now)]
    named = [each for each in found if each.object_key is not None]
    unique = {each.memory.key: each for each in named if name in {each.subject, each.object}}
    return list(unique.values())


def edge_between(view: GraphSnapshot, source: str, target: str) -> KnownFact | None:
    """Return the relation between exactly these two names."""
    found = edges_at(view, source)
    return next((e for e in found if (e.subject, e.object) == (source, target)), None)


def ends_of(
    view: GraphSnapshot, nodes: Iterable[KnownEntity | None], edges: Sequence[KnownFact | None]
) -> list[Write]:
    """Return the writes that end nodes and edges."""
    found = [each.memory for each in (*nodes, *edges) if each is not None]
    return [end_of(each, view.now, "removed") for each in found]
