"""JSON pointers are read strictly and name exactly one place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import NotFoundError, UsageError
from recollect.records import Json
from recollect.stores.json_pointers import (
    covers,
    join_pointer,
    leaves,
    parse_pointer,
    shown,
    value_at,
)

STEPS = st.lists(st.text(st.sampled_from("a~/01 \u6e29\n"), max_size=4), max_size=4)
# The example document of RFC 6901, section 5, in part.
DOCUMENT: Json = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, " ": 7, "in": {"ner": None}}


@given(STEPS)
def test_a_pointer_comes_back_from_its_steps(steps: list[str]) -> None:
    """Joining and parsing are each other's opposite, whatever the names are."""
    assert tuple(steps) == parse_pointer(join_pointer(steps))


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/m~0n", 8),
        ("/ ", 7),
        ("/in/ner", None),
    ],
)
def test_a_pointer_names_a_place(pointer: str, value: Json) -> None:
    assert value == value_at(DOCUMENT, pointer)


@pytest.mark.parametrize(
    ("pointer", "error", "words"),
    [
        ("foo", UsageError, "begin it with '/'"),
        ("#/foo", UsageError, "begin it with '/'"),
        ("/a~", UsageError, "'~0' for '~'"),
        ("/a~2b", UsageError, "'~0' for '~'"),
        (5, UsageError, "not 5"),
        (None, UsageError, "not null"),
        ("/fo", NotFoundError, "has no field 'fo'; it has 'foo'"),
        ("/in/x", NotFoundError, "the value at '/in' has no field 'x'"),
        ("/foo/2", NotFoundError, "has the elements 0 to 1, not 2"),
        ("/foo/-", NotFoundError, "after the last element"),
        ("/foo/00", UsageError, "without leading zeros"),
        ("/foo/01", UsageError, "without leading zeros"),
        ("/foo/-1", UsageError, "count from 0"),
        ("/foo/+1", UsageError, "count from 0"),
        ("/foo/1.0", UsageError, "count from 0"),
        ("/foo/\u0661", UsageError, "count from 0"),
        ("/foo/" + "9" * 5_000, UsageError, "count from 0"),
        ("/foo/0/x", NotFoundError, "is text: nothing is inside it"),
        ("/in/ner/x", NotFoundError, "is null: nothing is inside it"),
    ],
)
def test_a_pointer_to_nothing_is_refused(pointer: str, error: type[Exception], words: str) -> None:
    """The error says what is there instead, or how a pointer is written."""
    with pytest.raises(error) as raised:
        value_at(DOCUMENT, pointer)

    assert words in str(raised.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
        max_leaves=20,
    )
)
def test_each_leaf_stands_where_its_pointer_says(value: Json) -> None:
    """The leaves are all the scalars, in their order, each at its own pointer."""
    found = list(leaves(value))

    assert [leaf for _, leaf in found] == [value_at(value, pointer) for pointer, _ in found]
    assert len({pointer for pointer, _ in found}) == len(found)
    assert all(covers("", pointer) for pointer, _ in found)


def test_leaves_of_any_depth_are_found() -> None:
    """Nothing recurses: a value of 5,000 levels has its one leaf."""
    value: Json = "deep"
    for _ in range(5_000):
        value = [value]

    (found,) = [leaf for pointer, leaf in leaves(value) if len(pointer) == 10_000]

    assert "deep" == found


@pytest.mark.parametrize(
    ("pointer", "other", "is_covered"),
    [
        ("", "", True),
        ("", "/a", True),
        ("/a", "/a", True),
        ("/a", "/a/0/b", True),
        ("/a", "/ab", False),
        ("/a/0", "/a", False),
        ("/a", "", False),
        ("/a", "/a~1b", False),
    ],
)
def test_a_pointer_covers_what_is_inside_it(pointer: str, other: str, is_covered: bool) -> None:  # noqa: FBT001
    assert is_covered == covers(pointer, other)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "'x'"),
        ("a\x1b[31m", r"'a\x1b[31m'"),
        ("x" * 61, "'" + "x" * 60 + "'… (61 characters)"),
        (None, "null"),
        (True, "true"),
        pytest.param(10**5_000, "a number of 16610 bits", id="5000 digits"),
        ({}, "an empty object"),
        ([1, 2], "a list of 2 elements"),
    ],
)
def test_values_are_shown_short_and_harmless(value: Json, words: str) -> None:
    assert words == shown(value)
    assert json.dumps(shown(value))
