"""What a graph tells over several steps, and what it gives to others."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from anyio import to_thread

from recollect.errors import NotFoundError
from recollect.graph.neighbourhood import Direction, neighbourhood
from recollect.graph.network import (
    gml_of,
    network_of,
    paths_between,
    topological_groups,
    undirected,
)
from recollect.graph.picture import svg_of
from recollect.graph.values import (
    GraphFact,
)
from recollect.memory.facade import Recollect
from recollect.sync.method_pairs import method_pair

if TYPE_CHECKING:
    from networkx import MultiDiGraph

from recollect.graph.graph_access import Following, moment_of


class GraphQueries(Following):
    """What a `KnowledgeGraph` tells of more than one fact."""

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
        Return the facts around an entity, nearest first, then oldest first; none if it is unknown.

        They are all facts of every entity nearer than *depth* steps, each once.

        Raises:
            LimitError: *depth* is more than ``DEPTH_MAX``.
        """
        view = await self.read(memory)
        found = neighbourhood(
            view, view.key_of(name), depth=depth, direction=direction, at=moment_of(at, view)
        )
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
        """Return what `about` returns as sentences: ``"Ada lives in London"``."""
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
        """Return the names of the entities within *depth* steps, nearest first, without its own."""
        view = await self.read(memory)
        found = neighbourhood(
            view, view.key_of(name), depth=depth, direction=direction, at=moment_of(at, view)
        )
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
        Return all entities in groups, so that every relation leads onwards or stays in its group.

        A group of several stands on a cycle, and has no order within.
        """
        return await to_thread.run_sync(topological_groups, await self.as_network(memory, at=at))

    topological_order, atopological_order = method_pair(_topological_order)

    # Export

    async def as_network(self, memory: Recollect, *, at: datetime | None = None) -> MultiDiGraph:
        """Return the graph for networkx, a copy of its own; see `recollect.graph.network`."""
        view = await self.read(memory)
        # On a thread, which also imports networkx: that reads files for some tenths of a second.
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
        Return a picture, as SVG, of what stands around an entity, or of the whole graph.

        Raises:
            LimitError: It would have more than ``PICTURE_NODES_MAX`` entities.
            NotFoundError: Nothing is known of the entity.
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
