"""`EntityGraph`: a replacement of LangChain's ``NetworkxEntityGraph``, stored in a memory."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

import anyio
from anyio import to_thread

from recollect.errors import NotFoundError, UsageError
from recollect.formation.succession import holds_from
from recollect.graph.fact_ends import end_of
from recollect.graph.graph_snapshot import GraphSnapshot
from recollect.graph.knowledge import KnowledgeGraph
from recollect.graph.name_equality import name_key
from recollect.graph.network import load_networkx, network_of, topological_groups, writable
from recollect.graph.networkx_entity_graph import (
    TRIPLES_AT_ONCE_MAX,
    Changes,
    digraph_of,
    edge_between,
    edges_at,
    ends_of,
    node_at,
    support_of_node,
)
from recollect.graph.picture import svg_of
from recollect.graph.triples import KnowledgeTriple
from recollect.graph.values import NewFact
from recollect.memory.cited_messages import citing
from recollect.memory.facade import Recollect
from recollect.records import Evidence, Trust, Write
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import private_memory

if TYPE_CHECKING:
    from networkx import DiGraph, MultiDiGraph

PRIVATE_SCOPE: Final = "entity graph"


class EntityGraph:
    """
    A graph of triples with the methods of LangChain's ``NetworkxEntityGraph``.

    Each method exists twice: ``add_triple`` blocks, ``aadd_triple`` is awaited. Removed triples end
    and stay as history of the memory; see `KnowledgeGraph` for more methods.

    Args:
        graph: A `KnowledgeGraph`, which is changed; or a ``networkx.DiGraph``, which is copied
            into a memory in this process; ``None`` for an empty one there.
        single_valued: Predicates with one object per subject at a time: a new triple ends the old
            one.
        strict_original: Behave exactly like LangChain's class: one edge per pair of names, which
            are compared exactly; knowledge by a depth-first search; its errors. Texts that no store
            can hold (with a NUL) are still refused.

    Raises:
        ValueError: *graph* is of another type.
    """

    def __init__(
        self,
        graph: KnowledgeGraph | DiGraph | None = None,
        *,
        single_valued: Collection[str] = (),
        strict_original: bool = False,
    ) -> None:
        if isinstance(graph, KnowledgeGraph):
            self.graph = graph
        else:
            scope = (PRIVATE_SCOPE, str(uuid.uuid4()))
            self.graph = KnowledgeGraph(private_memory(), scope)
        self.home = self.graph.home
        self.strict_original = strict_original
        self._single = frozenset(map(name_key, single_valued))
        if graph is not None and not isinstance(graph, KnowledgeGraph):
            self.add_graph(_checked(graph))

    @classmethod
    def from_gml(
        cls,
        gml_path: str,
        graph: KnowledgeGraph | None = None,
        *,
        strict_original: bool = False,
    ) -> Self:
        """Return a graph with the content of a GML file, added to *graph* if one is given."""
        read = load_networkx().read_gml(gml_path)
        made = cls(graph, strict_original=strict_original)
        made.add_graph(_checked(read))
        return made

    @classmethod
    async def afrom_gml(
        cls,
        gml_path: str,
        graph: KnowledgeGraph | None = None,
        *,
        strict_original: bool = False,
    ) -> Self:
        """Async variant of `from_gml`."""
        read = await to_thread.run_sync(lambda: load_networkx().read_gml(gml_path))
        made = cls(graph, strict_original=strict_original)
        await made.aadd_graph(_checked(read))
        return made

    async def _add_graph(self, memory: Recollect, graph: DiGraph | MultiDiGraph) -> None:
        """Add the nodes of a networkx graph, and its edges by their attribute ``relation``."""
        for name in graph.nodes:
            await self._add_node(memory, str(name))
        triples = [
            KnowledgeTriple(str(source), str(fields.get("relation", "")), str(target))
            for source, target, fields in graph.edges(data=True)
        ]
        for at in range(0, len(triples), TRIPLES_AT_ONCE_MAX):
            await self._add_triples(memory, triples[at : at + TRIPLES_AT_ONCE_MAX])

    add_graph, aadd_graph = method_pair(_add_graph)

    async def _add_triple(
        self,
        memory: Recollect,
        knowledge_triple: KnowledgeTriple,
        *,
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> None:
        """Add a triple, beside other relations of the two, or replacing a single-valued one."""
        await self._add_triples(memory, [knowledge_triple], evidence=evidence, trust=trust)

    add_triple, aadd_triple = method_pair(_add_triple)

    async def _add_triples(
        self,
        memory: Recollect,
        knowledge_triples: Sequence[KnowledgeTriple],
        *,
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> None:
        """Add triples in order, atomically up to ``TRIPLES_AT_ONCE_MAX``."""
        if self.strict_original:

            def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
                changes = Changes(view)
                for each in knowledge_triples:
                    changes.add_triple(each, evidence, trust)
                return None, changes.writes()

            change = partial(self.graph.change, plan=plan)
            await citing(memory, self.graph.scope, evidence, change)
            return
        facts = [
            NewFact(
                subject=each.subject,
                predicate=each.predicate,
                object=each.object_,
                several=name_key(each.predicate) not in self._single,
                evidence=evidence,
                trust=trust,
            )
            for each in knowledge_triples
        ]
        await self.graph.add_facts(memory, facts)

    add_triples, aadd_triples = method_pair(_add_triples)

    async def _delete_triple(self, memory: Recollect, knowledge_triple: KnowledgeTriple) -> None:
        """
        End a triple, if it exists.

        With *strict_original*, end the relation between the two whatever its predicate, as
        LangChain does.
        """
        subject, predicate, object_ = knowledge_triple
        kept = None if self.strict_original else predicate
        await self._end_between(memory, subject, object_, kept)

    delete_triple, adelete_triple = method_pair(_delete_triple)

    async def _get_triples(self, memory: Recollect) -> list[tuple[str, str, str]]:
        """Return all triples as (subject, object, relation)."""
        graph = await self._networkx(memory)
        return [(u, v, fields["relation"]) for u, v, fields in graph.edges(data=True)]

    get_triples, aget_triples = method_pair(_get_triples)

    async def _get_entity_knowledge(
        self, memory: Recollect, entity: str, depth: int = 1
    ) -> list[str]:
        """Return an entity's facts as sentences, up to *depth* steps; empty if it is unknown."""
        if not self.strict_original:
            return await self.graph.sentences(memory, entity, depth)
        graph = await self._networkx(memory)
        if not graph.has_node(entity):
            return []
        steps = load_networkx().dfs_edges(graph, entity, depth_limit=depth)
        return [f"{u} {graph[u][v]['relation']} {v}" for u, v in steps]

    get_entity_knowledge, aget_entity_knowledge = method_pair(_get_entity_knowledge)

    async def _clear(self, memory: Recollect) -> None:
        """End all nodes and edges."""
        await self.graph.end_all(memory)

    clear, aclear = method_pair(_clear)

    async def _clear_edges(self, memory: Recollect) -> None:
        """End all edges; the nodes stay."""

        def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
            found = [
                each
                for each in view.facts()
                if each.object_key is not None and holds_from(each.memory, view.now)
            ]
            nodes = Changes(view)
            # A node that only facts name would vanish with them: give it a memory.
            for name in self._graph_of(view):
                nodes.add_node(name, *support_of_node(view, name))
            ends = [end_of(each.memory, view.now, "removed") for each in found]
            return None, [*nodes.writes(), *ends]

        await to_thread.run_sync(load_networkx)  # the plan runs on the loop
        await self.graph.change(memory, plan)

    clear_edges, aclear_edges = method_pair(_clear_edges)

    async def _add_node(self, memory: Recollect, node: str) -> None:
        """Add a node, unless it exists."""

        def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
            changes = Changes(view)
            changes.add_node(node)
            return None, changes.writes()

        if self.strict_original:
            await self.graph.change(memory, plan)
        else:
            await self.graph.note_entity(memory, node)

    add_node, aadd_node = method_pair(_add_node)

    async def _remove_node(self, memory: Recollect, node: str) -> None:
        """End a node and its edges, if it exists."""

        def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
            return None, ends_of(view, [node_at(view, node)], edges_at(view, node))

        if self.strict_original:
            await self.graph.change(memory, plan)
        else:
            await self.graph.end_named(memory, node)

    remove_node, aremove_node = method_pair(_remove_node)

    async def _has_node(self, memory: Recollect, node: str) -> bool:
        """Return True if the node exists."""
        view = await self.graph.read(memory)
        if self.strict_original:
            return node_at(view, node) is not None or bool(edges_at(view, node))
        return view.knows(view.key_of(node), view.now)

    has_node, ahas_node = method_pair(_has_node)

    async def _remove_edge(
        self, memory: Recollect, source_node: str, destination_node: str
    ) -> None:
        """
        End all relations from one node to another.

        Raises:
            NotFoundError: There is none; with *strict_original* ``networkx.NetworkXError``.
        """
        if not await self._end_between(memory, source_node, destination_node, None):
            msg = f"The edge {source_node}-{destination_node} not in graph."
            if self.strict_original:
                raise (await to_thread.run_sync(load_networkx)).NetworkXError(msg)
            raise NotFoundError(msg)

    remove_edge, aremove_edge = method_pair(_remove_edge)

    async def _has_edge(self, memory: Recollect, source_node: str, destination_node: str) -> bool:
        """Return True if a relation leads from one node to another."""
        view = await self.graph.read(memory)
        if self.strict_original:
            return edge_between(view, source_node, destination_node) is not None
        target = view.key_of(destination_node)
        found = view.outgoing(view.key_of(source_node), view.now)
        keys = (each.object_key for each in found)
        return any(key is not None and view.aliases.key_of(key) == target for key in keys)

    has_edge, ahas_edge = method_pair(_has_edge)

    async def _get_neighbors(self, memory: Recollect, node: str) -> Iterable[str]:
        """
        Return the nodes to which relations of *node* lead; empty if it is unknown.

        With *strict_original*, return an iterator, and raise ``networkx.NetworkXError`` for an
        unknown node.
        """
        graph = await self._networkx(memory)
        if self.strict_original:
            found: Iterator[str] = graph.neighbors(node)
            return found
        view = await self.graph.read(memory)
        name = view.name_of(view.key_of(node))
        return list(graph.neighbors(name)) if name in graph else []

    get_neighbors, aget_neighbors = method_pair(_get_neighbors)

    async def _get_number_of_nodes(self, memory: Recollect) -> int:
        """Return the number of nodes."""
        return len(await self._networkx(memory))

    get_number_of_nodes, aget_number_of_nodes = method_pair(_get_number_of_nodes)

    async def _get_topological_sort(self, memory: Recollect) -> list[str]:
        """
        Return the nodes in topological order, except for relations within a cycle.

        With *strict_original*, raise ``networkx.NetworkXUnfeasible`` if there is a cycle.
        """
        graph = await self._networkx(memory)
        if self.strict_original:
            return list(load_networkx().topological_sort(graph))
        return [name for group in topological_groups(graph) for name in group]

    get_topological_sort, aget_topological_sort = method_pair(_get_topological_sort)

    async def _write_to_gml(self, memory: Recollect, path: str) -> None:
        """Write the graph to a GML file."""
        graph = await self._networkx(memory)
        plain = graph if self.strict_original else writable(graph)
        await to_thread.run_sync(load_networkx().write_gml, plain, path)

    write_to_gml, awrite_to_gml = method_pair(_write_to_gml)

    async def _draw_graphviz(self, memory: Recollect, /, **kwargs: Any) -> None:
        """
        Write a picture of the graph as SVG to the file *path*, ``graph.svg`` by default.

        Graphviz is not needed; its argument *prog* is accepted and ignored.
        """
        graph = await self._networkx(memory)
        picture = await to_thread.run_sync(svg_of, graph)
        await anyio.Path(kwargs.get("path", "graph.svg")).write_text(picture, "utf-8")

    draw_graphviz, adraw_graphviz = method_pair(_draw_graphviz)

    async def _networkx(self, memory: Recollect) -> DiGraph | MultiDiGraph:
        # In a thread, as the first import of networkx takes some tenths of a second.
        return await to_thread.run_sync(self._graph_of, await self.graph.read(memory))

    def _graph_of(self, view: GraphSnapshot) -> DiGraph | MultiDiGraph:
        return digraph_of(view) if self.strict_original else network_of(view, view.now)

    async def _end_between(
        self, memory: Recollect, source: str, target: str, predicate: str | None
    ) -> bool:
        """End the relations between two nodes; return True if there were any."""

        def plan(view: GraphSnapshot) -> tuple[bool, list[Write]]:
            if self.strict_original:
                edge = edge_between(view, source, target)
                return edge is not None, ends_of(view, [], [edge])
            ends = view.key_of(target)
            found = [
                each
                for each in view.outgoing(view.key_of(source), view.now)
                if each.object_key is not None
                and view.aliases.key_of(each.object_key) == ends
                and (predicate is None or each.predicate_key == name_key(predicate))
            ]
            return bool(found), ends_of(view, [], found)

        return await self.graph.change(memory, plan)


def _checked(graph: DiGraph | MultiDiGraph) -> DiGraph | MultiDiGraph:
    if not isinstance(graph, load_networkx().DiGraph):
        raise UsageError("Passed in graph is not of correct shape")
    return graph
