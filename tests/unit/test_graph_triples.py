"""Triples and names as models write them, read kindly, or by the letter as the original does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_community.graphs import networkx_graph as original

from recollect.graph import KG_TRIPLE_DELIMITER, KnowledgeTriple, get_entities, parse_triples

TEA = KnowledgeTriple("Sam", "likes", "tea")


@pytest.mark.parametrize(
    "text",
    [
        "(Sam, likes, tea)",
        "Output: (Sam, likes, tea)",
        "(Sam, likes, tea).",
        "(Sam, likes, tea.)",
        "(Sam,likes,tea)",
        "  ( Sam , likes , tea )  ",
        "Sam, likes, tea",
        "Output: Sam, likes, tea.",
        "('Sam', \"likes\", tea)",
        "（Sam，likes，tea）。",
        "(Sam, likes, tea)<|>(Sam, likes, tea)",
        "(Sam, likes, tea)<|>(gone)",
        "(Sam, likes, tea)<|>(, is, empty)",
        "(Sam, likes, tea",
    ],
)
def test_one_triple_is_read_however_it_is_written(text: str) -> None:
    assert [TEA] == parse_triples(text)


@pytest.mark.parametrize("text", ["", "  ", "NONE", "None.", "Output: NONE", "(NONE)", "<|>", "()"])
def test_nothing_is_read_as_nothing(text: str) -> None:
    assert [] == parse_triples(text)


def test_commas_after_the_predicate_belong_to_the_object() -> None:
    assert [("Paris", "is in", "France, EU")] == parse_triples("(Paris, is in, France, EU)")


def test_brackets_within_a_name_stay() -> None:
    text = "(Paris (Texas), is in, the US)"

    assert [("Paris (Texas)", "is in", "the US")] == parse_triples(text)


def test_several_triples_need_no_delimiter() -> None:
    text = "1. (Sam, likes, tea)\n2. (茶，产自，福建)"

    assert [TEA, ("茶", "产自", "福建")] == parse_triples(text)


def test_forty_names_are_forty() -> None:
    names = [f"Name {number}" for number in range(40)]

    assert names == get_entities(", ".join(names))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NONE", []),
        ("none.", []),
        ("", []),
        (" , ,", []),
        ("Output: Sam, Ada", ["Sam", "Ada"]),
        ("- Sam\n- Ada", ["Sam", "Ada"]),
        ("1. Sam\n2. Ada", ["Sam", "Ada"]),
        ("张伟、李娜，王芳", ["张伟", "李娜", "王芳"]),
        ("Sam, 'Sam', Dr. No", ["Sam", "Dr. No"]),
    ],
)
def test_names_are_read_however_they_are_listed(text: str, expected: list[str]) -> None:
    assert expected == get_entities(text)


ANSWERS = st.one_of(
    st.text(),
    st.text(st.sampled_from("(),. <|>ab\nNONE")),
    st.lists(st.sampled_from(["(a, b, c)", "(a,b,c)", "NONE", "(a, b)", " (a, b, c) ", ""])).map(
        KG_TRIPLE_DELIMITER.join
    ),
)


@given(ANSWERS)
def test_strictly_read_triples_are_the_originals(text: str) -> None:
    expected = [tuple(each) for each in original.parse_triples(text)]

    assert expected == parse_triples(text, strict_original=True)


@given(ANSWERS)
def test_strictly_read_names_are_the_originals(text: str) -> None:
    assert original.get_entities(text) == get_entities(text, strict_original=True)


@given(ANSWERS)
def test_a_kindly_read_triple_has_three_parts(text: str) -> None:
    assert all(all(part.strip() for part in each) for each in parse_triples(text))


@given(
    st.lists(
        st.text(st.sampled_from("abc d"), min_size=1).map(str.strip).filter(bool),
        min_size=3,
        max_size=3,
    )
)
def test_a_well_written_triple_is_read_alike_by_both(parts: list[str]) -> None:
    text = f"({parts[0]}, {parts[1]}, {parts[2]})"

    assert parse_triples(text, strict_original=True) == parse_triples(text)


def test_the_delimiter_is_the_originals() -> None:
    assert original.KG_TRIPLE_DELIMITER == KG_TRIPLE_DELIMITER
