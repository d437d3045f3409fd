"""`EntityGraph` behaves as the original where it is asked to, and better where it is not."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_community.graphs.networkx_graph import KnowledgeTriple as OriginalTriple
from langchain_community.graphs.networkx_graph import NetworkxEntityGraph

import recollect
from recollect import NotFoundError, Recollect, SyncRecollect, VersionConflictError
from recollect.formation.value_identity import content_key
from recollect.graph import EntityGraph, KnowledgeGraph, KnowledgeTriple, NewFact
from recollect.graph.fact_plans import ComparableFact, GraphDraft, plan_additions

NAMES = st.sampled_from(["a", "A", "b", "c", "d", "", " a", "张伟", "<b>"])
DEPTHS = st.integers(1, 3)
NODE_STEPS = ["add_node", "remove_node", "has_node", "get_neighbors"]
EDGE_STEPS = ["remove_edge", "has_edge"]
WHOLE_STEPS = ["clear_edges", "clear", "get_topological_sort", "get_number_of_nodes"]
STEPS = st.one_of(
    *[st.tuples(st.just("add_triple"), NAMES, NAMES, NAMES)] * 3,
    st.tuples(st.just("delete_triple"), NAMES, NAMES, NAMES),
    st.tuples(st.sampled_from(NODE_STEPS), NAMES),
    st.tuples(st.sampled_from(EDGE_STEPS), NAMES, NAMES),
    st.tuples(st.just("get_entity_knowledge"), NAMES, DEPTHS),
    st.tuples(st.sampled_from(WHOLE_STEPS)),
)


def outcome(graph: EntityGraph | NetworkxEntityGraph, step: tuple[object, ...]) -> object:
    """Take one step and return what it returned, or the error it raised."""
    name, *arguments = step
    if name in {"add_triple", "delete_triple"}:
        triple = OriginalTriple if isinstance(graph, NetworkxEntityGraph) else KnowledgeTriple
        arguments = [triple(*map(str, arguments))]
    try:
        found = getattr(graph, str(name))(*arguments)
    except (nx.NetworkXError, nx.NetworkXUnfeasible) as error:
        return type(error)
    return list(found) if isinstance(found, Iterator) else found


@settings(max_examples=60)
@given(st.lists(STEPS, max_size=25))
def test_the_strict_graph_answers_as_the_original(steps: list[tuple[object, ...]]) -> None:
    """Whatever is done: the same results, in the same order, and the same errors."""
    theirs, ours = NetworkxEntityGraph(), EntityGraph(strict_original=True)

    for step in steps:
        assert outcome(theirs, step) == outcome(ours, step), step
        assert theirs.get_triples() == ours.get_triples(), step
        assert theirs.get_number_of_nodes() == ours.get_number_of_nodes()
    if not nx.dag.has_cycle(theirs._graph):
        assert theirs.get_topological_sort() == ours.get_topological_sort()


def test_every_method_of_the_original_is_there_with_its_parameters() -> None:
    for name, method in inspect.getmembers(NetworkxEntityGraph, inspect.isfunction):
        if name.startswith("_"):
            continue
        wanted = list(inspect.signature(method).parameters.values())
        for face in (name, f"a{name}"):
            given_ = list(inspect.signature(getattr(EntityGraph, face)).parameters.values())
            assert [each.name for each in wanted] == [each.name for each in given_[: len(wanted)]]
            assert [e.default for e in wanted] == [e.default for e in given_[: len(wanted)]]


@pytest.mark.parametrize("strict", [True, False])
def test_gml_goes_both_ways_between_ours_and_the_original(tmp_path: Path, *, strict: bool) -> None:
    path = str(tmp_path / "graph.gml")
    ours = EntityGraph(strict_original=strict)
    ours.add_triple(KnowledgeTriple("张伟", "住在", "上海"))
    ours.add_triple(KnowledgeTriple('"Sam" & <Ada>', "like", "tea"))
    ours.write_to_gml(path)

    back = EntityGraph.from_gml(path, strict_original=strict)

    assert ours.get_triples() == back.get_triples()
    if strict:
        theirs = NetworkxEntityGraph.from_gml(path)
        assert ours.get_triples() == theirs.get_triples()
        theirs.write_to_gml(path)
        assert ours.get_triples() == EntityGraph.from_gml(path).get_triples()


def test_a_graph_of_networkx_is_copied_and_anything_else_refused() -> None:
    given_ = nx.DiGraph()
    given_.add_edge("a", "b", relation="to")
    given_.add_node("c")

    graph = EntityGraph(given_)

    assert ([("a", "b", "to")], 3) == (graph.get_triples(), graph.get_number_of_nodes())
    with pytest.raises(ValueError, match="not of correct shape"):
        EntityGraph(nx.Graph())


@pytest.fixture
def graph() -> EntityGraph:
    return EntityGraph(single_valued=["lives in"])


def told(graph: EntityGraph, *triples: tuple[str, str, str]) -> None:
    for each in triples:
        graph.add_triple(KnowledgeTriple(*each))


def test_two_names_have_several_predicates(graph: EntityGraph) -> None:
    """Of which the original keeps the last; deleting one leaves the other."""
    told(graph, ("Sam", "likes", "Ada"), ("Sam", "works with", "Ada"))
    assert [("Sam", "Ada", "likes"), ("Sam", "Ada", "works with")] == graph.get_triples()

    graph.delete_triple(KnowledgeTriple("sam", "Likes", "ada"))

    assert ["Sam works with Ada"] == graph.get_entity_knowledge("SAM")


def test_what_can_be_several_stays_and_what_cannot_is_replaced(graph: EntityGraph) -> None:
    told(graph, ("Nolan", "directed", "Inception"), ("Nolan", "directed", "Tenet"))
    told(graph, ("Nolan", "lives in", "London"), ("nolan", "lives in", "Paris"))

    assert [
        "Nolan directed Inception",
        "Nolan directed Tenet",
        "Nolan lives in Paris",
    ] == graph.get_entity_knowledge("nolan")


def test_edges_to_what_was_met_before_are_known_too(graph: EntityGraph) -> None:
    told(graph, ("a", "to", "b"), ("a", "to", "c"), ("b", "to", "d"), ("c", "to", "d"))

    assert 4 == len(graph.get_entity_knowledge("a", 2))


def test_the_better_graph_has_the_methods_of_the_original(
    graph: EntityGraph, tmp_path: Path
) -> None:
    told(graph, ("a", "to", "b"), ("b", "to", "c"), ("c", "to", "b"))

    assert ["b"] == list(graph.get_neighbors("A"))
    assert [] == list(graph.get_neighbors("nobody"))
    assert (True, False) == (graph.has_edge("a", "B"), graph.has_edge("b", "a"))
    assert ["a", "b", "c"] == graph.get_topological_sort()
    graph.remove_edge("c", "b")
    with pytest.raises(NotFoundError, match="edge c-b not in graph"):
        graph.remove_edge("c", "b")
    graph.add_node("d")
    graph.clear_edges()
    assert (4, []) == (graph.get_number_of_nodes(), graph.get_triples())
    graph.remove_node("d")
    assert (True, False) == (graph.has_node("A"), graph.has_node("d"))
    graph.draw_graphviz(path=str(tmp_path / "graph.svg"), prog="dot")
    assert (tmp_path / "graph.svg").read_text("utf-8").startswith("<svg ")
    graph.clear()
    assert 0 == graph.get_number_of_nodes()


def test_the_graph_outlives_its_object(tmp_path: Path) -> None:
    """And the process: it is in the file, with its history."""
    path = tmp_path / "memory.db"
    scope = ("users", "ada")
    for strict in (True, False):
        with recollect.open_sync(str(path), embedder="none", worker=False) as memory:
            graph = EntityGraph(KnowledgeGraph(memory, scope), strict_original=strict)
            told(graph, ("Sam", "likes", "tea"))
    with recollect.open_sync(str(path), embedder="none", worker=False) as memory:
        known = KnowledgeGraph(memory, scope)

        assert ["Sam likes tea"] == EntityGraph(known).get_entity_knowledge("sam")


async def test_the_graph_is_awaited_over_an_awaited_memory(tmp_path: Path) -> None:
    async with recollect.open(embedder="none", worker=False) as memory:
        graph = EntityGraph(KnowledgeGraph(memory, ("users", "ada")))
        await graph.aadd_triple(KnowledgeTriple("a", "to", "b"))
        await graph.awrite_to_gml(str(tmp_path / "graph.gml"))
        read = await EntityGraph.afrom_gml(
            str(tmp_path / "graph.gml"), KnowledgeGraph(memory, ("users", "bob"))
        )

        assert [("a", "b", "to")] == await read.aget_triples()


def public(owner: type) -> set[str]:
    found = inspect.getmembers(owner, inspect.isroutine)
    return {name for name, _ in found if not name.startswith("_")}


@pytest.mark.parametrize(
    ("owner", "inner"),
    [
        (EntityGraph, set()),
        (
            KnowledgeGraph,
            {
                "read",
                "change",
                "erased",
                "add_facts",
                "sentences",
                "as_network",
                "end_named",
                "end_all",
                "note_entity",
                "take",
            },
        ),
    ],
)
def test_each_method_has_both_faces(owner: type, inner: set[str]) -> None:
    """With the same parameters: one awaited, one not."""
    names = public(owner) - inner
    waiting = {name for name in names if f"a{name}" in names}

    assert names == waiting | {f"a{name}" for name in waiting}
    for name in waiting:
        one, other = getattr(owner, name), getattr(owner, f"a{name}")
        assert inspect.signature(one) == inspect.signature(other)
        assert (False, True) == tuple(map(inspect.iscoroutinefunction, (one, other)))
        assert (name, f"a{name}") == (one.__name__, other.__name__)
        assert (one.__doc__ or "").strip()


def test_both_faces_reach_one_graph() -> None:
    import asyncio

    memory: SyncRecollect | Recollect
    with recollect.open_sync(embedder="none", worker=False) as memory:
        graph = KnowledgeGraph(memory, ("users", "ada"))
        graph.add("Sam", "likes", "tea")

        assert ["Sam likes tea"] == asyncio.run(graph.aknowledge("Sam"))
        assert ["Sam likes tea"] == graph.knowledge("Sam")


def test_the_comparison_with_the_original_sees_each_difference() -> None:
    """The better graph, put in the strict one's place, is told from the original by each case."""
    cases: list[list[tuple[object, ...]]] = [
        [("add_triple", "a", "r", "b"), ("add_triple", "a", "s", "b")],
        [("add_triple", "a", "r", "b"), ("add_triple", "A", "s", "c")],
        [("add_triple", "a", "r", "b"), ("delete_triple", "a", "s", "b")],
        [("add_triple", "a", "r", "b"), ("delete_triple", "a", "r", "b"), ("has_node", "a")],
    ]

    for steps in cases:
        theirs, ours = NetworkxEntityGraph(), EntityGraph()
        answers = [(outcome(theirs, step), outcome(ours, step)) for step in steps]

        assert any(one != other for one, other in answers) or (
            theirs.get_triples() != ours.get_triples()
        )


async def rivals_meet() -> bool:
    """Decide on two rivals from what both writers read before, and say whether one is refused."""
    async with recollect.open(embedder="none", worker=False) as memory:
        graphs = [KnowledgeGraph(memory, ("users", "ada")) for _ in range(2)]
        views = [await each.read(memory) for each in graphs]
        towns = ["Oslo", "Rome"]
        rivals = [NewFact(subject="Sam", predicate="lives in", object=town) for town in towns]
        one, other = (
            plan_additions(view, [rival])[0] for view, rival in zip(views, rivals, strict=True)
        )
        await memory.apply(("users", "ada"), one.writes)
        try:
            await memory.apply(("users", "ada"), other.writes)
        except VersionConflictError:
            return True
        return False


async def test_rivals_written_at_once_meet_at_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under keys made of the whole fact, as formation's are, both would stand."""
    assert await rivals_meet()

    def by_content(_: GraphDraft, proposal: ComparableFact, *, several: bool) -> str:
        return content_key(proposal.value(several=several))

    monkeypatch.setattr(GraphDraft, "free_key", by_content)

    assert not await rivals_meet()
