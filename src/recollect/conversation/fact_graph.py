"""Access of a memory to its graph: ours, in any memory, or one of LangChain's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from anyio import to_thread

from recollect.conversation.entity_names import mentioned
from recollect.conversation.prompts import NOTHING
from recollect.errors import UsageError
from recollect.graph.entity_graph import EntityGraph
from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact, holds, in_order
from recollect.graph.knowledge import KnowledgeGraph
from recollect.graph.name_equality import name_key
from recollect.graph.neighbourhood import neighbourhood
from recollect.graph.triples import KG_TRIPLE_DELIMITER, KnowledgeTriple
from recollect.graph.values import FACT_TYPE, NewFact, Retraction, shown
from recollect.memory.facade import Recollect
from recollect.records import DeleteMemory, PutMemory, Scope, Write
from recollect.stores.kept_evidence import Founded
from recollect.stores.provenance import Source, source_at
from recollect.stores.validation import WRITES_MAX
from recollect.sync.facade import SyncRecollect
from recollect.sync.object_home import AnyRecollect, Home

FACTS_SHOWN_MAX: Final = 50
"""So many known facts stand in a request that asks for new ones, the newest."""
ResultT = TypeVar("ResultT")


class ForeignGraph(Protocol):
    """The methods needed of LangChain's ``NetworkxEntityGraph``."""

    def add_triple(self, knowledge_triple: KnowledgeTriple, /) -> None:
        """Add a triple."""
        ...

    def get_triples(self) -> Sequence[tuple[str, str, str]]:
        """Return all triples as (subject, object, relation)."""
        ...

    def get_entity_knowledge(self, entity: str, depth: int = 1) -> list[str]:
        """Return the facts about an entity as sentences."""
        ...

    def clear(self) -> None:
        """Remove everything."""
        ...


AnyGraph: TypeAlias = EntityGraph | ForeignGraph


def check_graph(graph: AnyGraph, memory: AnyRecollect) -> None:
    """
    Check that a conversation in *memory* can use *graph*.

    Raises:
        UsageError: The graph belongs to another memory, bound to its own event loop.
    """
    if isinstance(graph, EntityGraph):
        there = graph.home.memory
        if there is not memory and not isinstance(there, SyncRecollect):
            msg = (
                "the kg is over another Recollect than the conversation: open one for both, or "
                "the graph's with recollect.open_sync"
            )
            raise UsageError(msg)


class KeptFacts:
    """The graph of a conversation whose own memory lives in *home*."""

    def __init__(self, graph: AnyGraph, home: Home) -> None:
        self._graph = graph
        self._home = home

    async def add_triples(self, memory: Recollect, triples: Sequence[KnowledgeTriple]) -> None:
        """Add triples one by one, as the graph's own method does."""
        for each in triples:
            await self._asked("add_triple", each)

    async def sentences(self, memory: Recollect, name: str) -> list[str]:
        """Return the facts about *name* as sentences, as the graph's own method does."""
        found: list[str] = await self._asked("get_entity_knowledge", name)
        return found

    async def take(
        self,
        memory: Recollect,
        statements: Sequence[NewFact | Retraction],
        scope: Scope,
        beside: PutMemory,
    ) -> None:
        """
        Add and end facts, and write *beside* in *scope*: where both are one place, together.

        Elsewhere the facts come first, so that none is skipped, and have no evidence: an erase does
        not reach across scopes. A graph of the original kind takes no retractions.
        """
        graph = self._knowledge
        if graph is None:
            added = [each for each in statements if isinstance(each, NewFact)]
            await self.add_triples(memory, [_triple_of(each) for each in added])
        elif graph.home.memory is self._home.memory and graph.scope == scope:
            await graph.take(memory, statements, [beside])
            return
        else:
            bare = [
                replace(each, evidence=()) if isinstance(each, NewFact) else each
                for each in statements
            ]
            await self._there(memory, graph, lambda there: graph.take(there, bare))
        await memory.apply(scope, [beside])

    async def about(
        self, memory: Recollect, names: Sequence[str], depth: int
    ) -> dict[str, list[str]]:
        """Return the facts about *names* by name: each fact once, from both of its ends."""
        if self._knowledge is None:
            return {name: await self.sentences(memory, name) for name in names}
        view = await self._view(memory, self._knowledge)
        told: set[str] = set()
        found: dict[str, list[str]] = {}
        for name in names:
            near = neighbourhood(
                view, view.key_of(name), depth=depth, direction="both", at=view.now
            )
            facts = [str(view.fact(each)) for each in near.facts]
            found[name] = [each for each in dict.fromkeys(facts) if each not in told]
            told.update(facts)
        return found

    async def mentioned(self, memory: Recollect, text: str) -> list[str]:
        """Return the names in the graph that *text* has as words."""
        if self._knowledge is None:
            triples: Sequence[tuple[str, str, str]] = await self._asked("get_triples")
            names = [name for source, target, _ in triples for name in (source, target)]
        else:
            names = _names_in(await self._view(memory, self._knowledge))
        return _once(mentioned(dict.fromkeys(names), text))

    async def written(self, memory: Recollect, text: str) -> str:
        """Return the known facts about names in *text*, as a model writes facts."""
        if self._knowledge is None:
            return NOTHING
        view, newest = await self._near(memory, self._knowledge, text)
        lines = (view.fact(each) for each in newest)
        triples = (f"({each.subject}, {each.predicate}, {shown(each.object)})" for each in lines)
        return KG_TRIPLE_DELIMITER.join(triples) or NOTHING

    async def known(self, memory: Recollect, text: str) -> list[Source]:
        """Return the facts of `written` as sources of words, the newest first."""
        if self._knowledge is None:
            return []
        _, newest = await self._near(memory, self._knowledge, text)
        return [
            source_at(pointer, leaf, found)
            for each in reversed(newest)
            for pointer, leaf, found in Founded(each.memory.value, each.memory.evidence).leaves()
        ]

    async def _near(
        self, memory: Recollect, graph: KnowledgeGraph, text: str
    ) -> tuple[GraphSnapshot, list[KnownFact]]:
        """Return the newest facts about names in *text*."""
        names = await self.mentioned(memory, text)
        view = await self._view(memory, graph)
        facts: dict[str, KnownFact] = {}
        for name in names:
            key = view.key_of(name)
            for each in (*view.outgoing(key, view.now), *view.incoming(key, view.now)):
                facts[each.memory.key] = each
        found = sorted(facts.values(), key=lambda each: in_order(each.memory))
        return view, found[-FACTS_SHOWN_MAX:]

    async def clear(self, memory: Recollect) -> None:
        """Remove everything, as the graph's own method does."""
        await self._asked("clear")

    async def forget_thread(self, memory: Recollect, thread: str) -> None:
        """Delete the facts that rest on messages of *thread* alone."""
        graph = self._knowledge
        if graph is None:
            return

        def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
            gone = [each.memory for each in view.facts() if _threads_of(each) == {thread}]
            return None, [DeleteMemory(type=e.type, key=e.key) for e in gone[:WRITES_MAX]]

        before = -1
        while (count := (await graph.read(memory)).count(FACT_TYPE)) != before:
            before = count
            await graph.change(memory, plan)

    @property
    def _knowledge(self) -> KnowledgeGraph | None:
        """The graph whose facts have times and trust; ``None`` for one of the original kind."""
        if isinstance(self._graph, EntityGraph) and not self._graph.strict_original:
            return self._graph.graph
        return None

    async def _view(self, memory: Recollect, graph: KnowledgeGraph) -> GraphSnapshot:
        return await self._there(memory, graph, graph.read)

    async def _there(
        self,
        memory: Recollect,
        graph: KnowledgeGraph,
        work: Callable[[Recollect], Awaitable[ResultT]],
    ) -> ResultT:
        """Await *work* where the graph lives."""
        if graph.home.memory is self._home.memory:
            return await work(memory)
        return await graph.home.visit(work)

    async def _asked(self, method: str, *arguments: object) -> Any:
        """Call a method of the graph, awaited or in a thread."""
        if isinstance(self._graph, EntityGraph):
            return await getattr(self._graph, f"a{method}")(*arguments)
        return await to_thread.run_sync(getattr(self._graph, method), *arguments)


def _triple_of(fact: NewFact) -> KnowledgeTriple:
    return KnowledgeTriple(fact.subject, fact.predicate, shown(fact.object))


def _names_in(view: GraphSnapshot) -> list[str]:
    names = [name for each in view.entities() for name in (each.name, *each.aliases)]
    for fact in view.facts():
        if holds(fact.memory, view.now):
            names.append(fact.subject)
            if fact.object_key is not None:
                names.append(str(fact.object))
    return names


def _once(names: Sequence[str]) -> list[str]:
    """Return *names* without those that differ from one before in their writing alone."""
    return list({name_key(each): each for each in reversed(names)}.values())[::-1]


def _threads_of(fact: KnownFact) -> set[str]:
    return {said.thread for each in fact.memory.evidence.values() for said in each}
