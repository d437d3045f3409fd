"""Access of a conversation memory to its knowledge graph, ours or LangChain's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from anyio import to_thread

from recollect.conversation.entity_names import mentioned
from recollect.conversation.prompts import NOTHING
from recollect.errors import UsageError
from recollect.formation.succession import holds
from recollect.graph.entity_graph import EntityGraph
from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact, in_order
from recollect.graph.knowledge import KnowledgeGraph
from recollect.graph.name_equality import name_key
from recollect.graph.neighbourhood import neighbourhood
from recollect.graph.triples import KG_TRIPLE_DELIMITER, KnowledgeTriple
from recollect.graph.values import FACT_TYPE, NewFact, Retraction, value_text
from recollect.memory.facade import Recollect
from recollect.records import DeleteMemory, PutMemory, Scope, Write
from recollect.stores.field_evidence import each_evidence
from recollect.stores.kept_evidence import Founded
from recollect.stores.provenance import Source, source_at
from recollect.stores.validation import WRITES_MAX
from recollect.sync.facade import SyncRecollect
from recollect.sync.object_home import AnyRecollect, Home

FACTS_SHOWN_MAX: Final = 50
"""Known facts in a prompt that asks for new ones, at most; the newest are kept."""
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
        UsageError: The graph uses another asynchronous memory, which is bound to its event loop.
    """
    if isinstance(graph, EntityGraph):
        there = graph.home.memory
        if there is not memory and not isinstance(there, SyncRecollect):
            raise UsageError(
                "the kg and the conversation use different memories: open one for both, or open "
                "the graph's with recollect.open_sync"
            )


class KeptFacts:
    """The knowledge graph of a conversation whose memory is *home*'s."""

    def __init__(self, graph: AnyGraph, home: Home) -> None:
        self._graph = graph
        self._home = home

    async def add_triples(self, triples: Sequence[KnowledgeTriple]) -> None:
        """Add triples one by one, by the graph's own method."""
        for each in triples:
            await self._call("add_triple", each)

    async def sentences(self, name: str) -> list[str]:
        """Return the facts about *name* as sentences, by the graph's own method."""
        found: list[str] = await self._call("get_entity_knowledge", name)
        return found

    async def take(
        self,
        memory: Recollect,
        statements: Sequence[NewFact | Retraction],
        scope: Scope,
        beside: PutMemory,
    ) -> None:
        """
        Add and end facts, and write *beside* in *scope*; atomically if the graph is in *scope*.

        In another scope or memory the facts are written first, so that none is skipped, and without
        evidence, as an erase does not reach across scopes. LangChain's graphs take no retractions.
        """
        graph = self._knowledge
        if graph is None:
            added = [each for each in statements if isinstance(each, NewFact)]
            await self.add_triples([_triple_of(each) for each in added])
        elif graph.home.memory is self._home.memory and graph.scope == scope:
            await graph.take(memory, statements, [beside])
            return
        else:
            bare = [
                replace(each, evidence=()) if isinstance(each, NewFact) else each
                for each in statements
            ]
            await self._run_on_memory(memory, graph, lambda there: graph.take(there, bare))
        await memory.apply(scope, [beside])

    async def about(
        self, memory: Recollect, names: Sequence[str], depth: int
    ) -> dict[str, list[str]]:
        """Return the facts about *names* by name, each fact under the first name that has it."""
        if self._knowledge is None:
            return {name: await self.sentences(name) for name in names}
        view = await self._view(memory, self._knowledge)
        shown_before: set[str] = set()
        found: dict[str, list[str]] = {}
        for name in names:
            near = neighbourhood(
                view, view.key_of(name), depth=depth, direction="both", at=view.now
            )
            facts = [str(view.fact(each)) for each in near.facts]
            found[name] = [each for each in dict.fromkeys(facts) if each not in shown_before]
            shown_before.update(facts)
        return found

    async def mentioned(self, memory: Recollect, text: str) -> list[str]:
        """Return the names in the graph that *text* mentions."""
        if self._knowledge is None:
            triples: Sequence[tuple[str, str, str]] = await self._call("get_triples")
            names = [name for source, target, _ in triples for name in (source, target)]
        else:
            names = _names_in(await self._view(memory, self._knowledge))
        return _once(mentioned(dict.fromkeys(names), text))

    async def written(self, memory: Recollect, text: str) -> str:
        """Return the known facts about names in *text*, in the format of the model's answers."""
        if self._knowledge is None:
            return NOTHING
        view, newest = await self._near(memory, self._knowledge, text)
        lines = (view.fact(each) for each in newest)
        triples = (
            f"({each.subject}, {each.predicate}, {value_text(each.object)})" for each in lines
        )
        return KG_TRIPLE_DELIMITER.join(triples) or NOTHING

    async def known(self, memory: Recollect, text: str) -> list[Source]:
        """Return the facts of `written` as sources of words, newest first."""
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
        """Return the newest facts about names in *text*, oldest first, and their snapshot."""
        names = await self.mentioned(memory, text)
        view = await self._view(memory, graph)
        facts: dict[str, KnownFact] = {}
        for name in names:
            key = view.key_of(name)
            for each in (*view.outgoing(key, view.now), *view.incoming(key, view.now)):
                facts[each.memory.key] = each
        found = sorted(facts.values(), key=lambda each: in_order(each.memory))
        return view, found[-FACTS_SHOWN_MAX:]

    async def clear(self) -> None:
        """Remove everything, by the graph's own method."""
        await self._call("clear")

    async def forget_thread(self, memory: Recollect, thread: str) -> None:
        """Delete the facts whose evidence is in *thread* alone."""
        graph = self._knowledge
        if graph is None:
            return

        def plan(view: GraphSnapshot) -> tuple[None, list[Write]]:
            gone = [each.memory for each in view.facts() if _threads_of(each) == {thread}]
            return None, [DeleteMemory(type=e.type, key=e.key) for e in gone[:WRITES_MAX]]

        # One write deletes at most WRITES_MAX facts: repeat until the count no longer falls.
        before = -1
        while (count := (await graph.read(memory)).count(FACT_TYPE)) != before:
            before = count
            await graph.change(memory, plan)

    @property
    def _knowledge(self) -> KnowledgeGraph | None:
        """The graph whose facts have times and trust; ``None`` for LangChain's kind."""
        if isinstance(self._graph, EntityGraph) and not self._graph.strict_original:
            return self._graph.graph
        return None

    async def _view(self, memory: Recollect, graph: KnowledgeGraph) -> GraphSnapshot:
        return await self._run_on_memory(memory, graph, graph.read)

    async def _run_on_memory(
        self,
        memory: Recollect,
        graph: KnowledgeGraph,
        work: Callable[[Recollect], Awaitable[ResultT]],
    ) -> ResultT:
        """Run *work* on the graph's own memory."""
        if graph.home.memory is self._home.memory:
            return await work(memory)
        return await graph.home.visit(work)

    async def _call(self, method: str, *arguments: object) -> Any:
        """Call a method of the graph: its async variant, or in a worker thread."""
        if isinstance(self._graph, EntityGraph):
            return await getattr(self._graph, f"a{method}")(*arguments)
        return await to_thread.run_sync(getattr(self._graph, method), *arguments)


def _triple_of(fact: NewFact) -> KnowledgeTriple:
    return KnowledgeTriple(fact.subject, fact.predicate, value_text(fact.object))


def _names_in(view: GraphSnapshot) -> list[str]:
    names = [name for each in view.entities() for name in (each.name, *each.aliases)]
    for fact in view.facts():
        if holds(fact.memory, view.now):
            names.append(fact.subject)
            if fact.object_key is not None:
                names.append(str(fact.object))
    return names


def _once(names: Sequence[str]) -> list[str]:
    """Return *names* without other spellings of an earlier name."""
    return list({name_key(each): each for each in reversed(names)}.values())[::-1]


def _threads_of(fact: KnownFact) -> set[str]:
    return {each.thread for each in each_evidence(fact.memory.evidence)}
