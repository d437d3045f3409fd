"""The methods of `KnowledgeGraph` that query several steps of the graph, or export it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from anyio import to_thread

from recollect.errors import NotFoundError
from recollect.graph.graph_access import GraphAccess, moment_of
from recollect.graph.graph_snapshot import GraphSnapshot
from recollect.graph.neighbourhood import Direction, Neighbourhood, neighbourhood
from recollect.graph.network import (
    gml_of,
    network_of,
    paths_between,
    topological_groups,
    undirected,
)
from recollect.graph.picture import svg_of
from recollect.graph.values import GraphFact
from recollect.memory.facade import Recollect
from recollect.sync.method_pairs import method_pair

if TYPE_CHECKING:
    from networkx import MultiDiGraph


class GraphQueries(GraphAccess):
    """The methods of `KnowledgeGraph` that read more than one fact."""

    async def _about(
        self,
        memory: Recollect,
        name: str,
        depth: int = 1,
        *,
        direction: Direction = "out",
        at: datetime | None = None,
    ) -> tuple[GraphFact, ...]:
        """
        Return the facts around an entity, nearest first, then oldest first; empty if unknown.

        These are all facts of every entity nearer than *depth* steps, once each.

        Raises:
            LimitError: *depth* is more than ``DEPTH_MAX``.
        """
        view = await self.read(memory)
        found = _around(view, name, depth, direction, at)
        return tuple(view.fact(each) for each in found.facts)

    about, aabout = method_pair(_about)

    async def sentences(
        self,
        memory: Recollect,
        name: str,
        depth: int = 1,
        *,
        direction: Direction = "out",
        at: datetime | None = None,
    ) -> list[str]:
        """Return the facts of `about` as sentences: ``"Ada lives in London"``."""
        found = await self._about(memory, name, depth, direction=direction, at=at)
        return [str(each) for each in found]

    knowledge, aknowledge = method_pair(sentences, "knowledge")

    async def _neighbours(
        self,
        memory: Recollect,
        name: str,
        depth: int = 1,
        *,
        direction: Direction = "both",
        at: datetime | None = None,
    ) -> tuple[str, ...]:
        """Return the names of the other entities within *depth* steps, nearest first."""
        view = await self.read(memory)
        found = _around(view, name, depth, direction, at)
        return tuple(view.name_of(key) for key in found.keys[1:])

    neighbours, aneighbours = method_pair(_neighbours)

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
    ) -> tuple[tuple[GraphFact, ...], ...]:
        """
        Return paths between two entities as sequences of facts, shortest first.

        There is no path from an entity to itself or to an unknown one.

        Args:
            steps_max: The most facts of a path, up to ``DEPTH_MAX``.
            limit: The most paths, up to ``PATHS_MAX``.
            directed: Follow facts only from subject to object.

        Raises:
            MissingExtraError: networkx is not installed.
        """
        view = await self.read(memory)
        names = view.name_of(view.key_of(source)), view.name_of(view.key_of(target))
        facts = {each.memory.key: view.fact(each) for each in view.facts()}
        moment = moment_of(at, view)

        def find() -> list[tuple[str, ...]]:
            network = network_of(view, moment)
            walked = network if directed else undirected(network)
            return paths_between(walked, *names, steps_max=steps_max, limit=limit)

        found = await to_thread.run_sync(find)
        return tuple(tuple(facts[key] for key in path) for path in found)

    paths, apaths = method_pair(_paths)

    async def _topological_order(
        self, memory: Recollect, *, at: datetime | None = None
    ) -> tuple[tuple[str, ...], ...]:
        """
        Return all entities in groups in topological order.

        A group of several entities is a cycle, which has no order.
        """
        return await to_thread.run_sync(topological_groups, await self.as_network(memory, at=at))

    topological_order, atopological_order = method_pair(_topological_order)

    # Export

    async def as_network(self, memory: Recollect, *, at: datetime | None = None) -> MultiDiGraph:
        """Return a copy of the graph for networkx; see `recollect.graph.network`."""
        view = await self.read(memory)
        # In a thread, as the first import of networkx takes some tenths of a second.
        return await to_thread.run_sync(network_of, view, moment_of(at, view))

    network, anetwork = method_pair(as_network, "network")

    async def _gml(self, memory: Recollect, *, at: datetime | None = None) -> str:
        """Return the graph in the Graph Modelling Language."""
        return await to_thread.run_sync(gml_of, await self.as_network(memory, at=at))

    gml, agml = method_pair(_gml)

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
        Return a picture as SVG of an entity's neighbourhood, or of the whole graph.

        Raises:
            LimitError: The picture would have more than ``PICTURE_NODES_MAX`` entities.
            NotFoundError: The entity is unknown.
        """
        view = await self.read(memory)
        moment = moment_of(at, view)
        if name is None:
            return await to_thread.run_sync(svg_of, await self.as_network(memory, at=at))
        key = view.key_of(name)
        if not view.knows(key, moment):
            msg = f"nothing is known of {name!r}: give the name of an entity of the graph"
            raise NotFoundError(msg)
        found = neighbourhood(view, key, depth=depth, direction=direction, at=moment)
        network = await to_thread.run_sync(network_of, view, moment, found.facts)
        center = view.name_of(key)
        network.add_node(center)
        return await to_thread.run_sync(svg_of, network, center)

    svg, asvg = method_pair(_svg)


def _around(
    view: GraphSnapshot, name: str, depth: int, direction: Direction, at: datetime | None
) -> Neighbourhood:
    key, moment = view.key_of(name), moment_of(at, view)
    return neighbourhood(view, key, depth=depth, direction=direction, at=moment)
