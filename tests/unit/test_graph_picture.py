"""Pictures, orders and paths: safe, the same each time, and refused where networkx is missing."""

import sys
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import MissingExtraError
from recollect.graph.network import load_networkx, paths_between, topological_groups
from recollect.graph.picture import LABEL_CHARACTERS_MAX, svg_of

SVG = "{http://www.w3.org/2000/svg}"
NAMES = st.one_of(st.text(), st.sampled_from(["<script>", "&amp;", "]]>", '"', "张伟", "\x00\x1b"]))


def graph_of(edges: list[tuple[str, str, str]]) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for source, relation, target in edges:
        graph.add_edge(source, target, relation=relation)
    return graph


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), max_size=6))
def test_a_picture_is_well_formed_whatever_the_names_hold(
    edges: list[tuple[str, str, str]],
) -> None:
    """Its elements are those that were drawn, and no name adds one."""
    graph = graph_of(edges)

    root = ET.fromstring(svg_of(graph))  # noqa: S314 (it is what is tested)

    kinds = {"svg", "style", "defs", "marker", "path", "g", "title", "circle", "text"}
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= kinds
    assert len(graph) == len(root.findall(f"{SVG}g"))
    assert graph.number_of_edges() == len(root.findall(f"{SVG}path"))


def test_equal_graphs_have_equal_pictures() -> None:
    edges = [("a", "to", "b"), ("b", "to", "c"), ("a", "also to", "b"), ("c", "to", "c")]

    assert svg_of(graph_of(edges), "a") == svg_of(graph_of(edges), "a")


def test_no_two_arrows_lie_on_each_other() -> None:
    edges = [("a", "1", "b"), ("b", "2", "a"), ("a", "3", "b"), ("a", "4", "a"), ("a", "5", "a")]

    root = ET.fromstring(svg_of(graph_of(edges)))  # noqa: S314 (it is what is tested)

    places = [
        (each.get("x"), each.get("y"))
        for each in root.iter(f"{SVG}text")
        if each.text in set("12345")
    ]
    assert 5 == len(set(places))


def test_a_long_name_is_cut_and_stands_in_full_in_the_title() -> None:
    name = "a" * (LABEL_CHARACTERS_MAX + 1)

    root = ET.fromstring(svg_of(graph_of([(name, "to", "b")])))  # noqa: S314 (as above)

    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert LABEL_CHARACTERS_MAX == max(map(len, texts))
    assert name in [each.text for each in root.iter(f"{SVG}title")]


@pytest.mark.parametrize("edges", [[], [("a", "to", "a")]])
def test_the_smallest_graphs_are_drawn(edges: list[tuple[str, str, str]]) -> None:
    assert svg_of(graph_of(edges)).startswith("<svg ")


NODES = st.sampled_from("abcdef")


@given(st.lists(st.tuples(NODES, st.just("to"), NODES), max_size=12))
def test_every_relation_leads_onwards_or_stays_in_its_group(
    edges: list[tuple[str, str, str]],
) -> None:
    graph = graph_of(edges)

    groups = topological_groups(graph)

    place = {name: at for at, group in enumerate(groups) for name in group}
    assert sorted(graph) == sorted(place)
    assert all(place[source] <= place[target] for source, target in graph.edges())
    assert all(
        len(group) == 1 or nx.is_strongly_connected(graph.subgraph(group)) for group in groups
    )


@given(st.lists(st.tuples(NODES, st.just("to"), NODES), max_size=12))
def test_paths_are_all_simple_paths_shortest_first(edges: list[tuple[str, str, str]]) -> None:
    graph = graph_of(edges)
    graph.add_nodes_from("ab")

    found = paths_between(graph, "a", "b", steps_max=4, limit=100)

    expected = [
        tuple(key for _, _, key in path)
        for path in nx.all_simple_edge_paths(graph, "a", "b", cutoff=4)
    ]
    assert sorted(map(len, expected))[:100] == [len(each) for each in found]


def test_without_networkx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)

    with pytest.raises(MissingExtraError, match=r"recollect\[graph\]"):
        load_networkx()
