"""JSON is read strictly: what another reader could take for something else is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.strict_json import (
    NUMBER_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    NotJsonError,
    read_json,
)
from recollect.records import Json
from recollect.stores.validation import JSON_DEPTH_MAX

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(value=VALUES, escaped=st.booleans())
def test_what_is_json_is_read_as_it_is(value: Json, *, escaped: bool) -> None:
    """Whatever it holds, escaped or not."""
    assert value == read_json(json.dumps(value, ensure_ascii=escaped))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is no JSON"),
        ("{", "it is no JSON"),
        ("{} {}", "it is no JSON"),
        ("[1,]", "it is no JSON"),
        ("{'a': 1}", "it is no JSON"),
        ("01", "it is no JSON"),
        ("\ufeff{}", "it is no JSON"),
        ('"\t"', "it is no JSON"),
        ('"\x00"', "it is no JSON"),
        ("NaN", "it contains NaN"),
        ("[Infinity]", "it contains Infinity"),
        ('{"a": -Infinity}', "it contains -Infinity"),
        ("1e999", "too large"),
        ("-1e999", "too large"),
        ("9" * 5_000, "a number of 5000 characters"),
        ("0." + "1" * 5_000, "a number of 5002 characters"),
        ('{"a": 1, "a": 1}', "the field 'a' twice"),
        ('{"a": 1, "\\u0061": 2}', "the field 'a' twice"),
        ('[{"b": {"a": 1, "a": 2}}]', "the field 'a' twice"),
        ('"\\u0000"', "a NUL"),
        ('{"\\u0000": 1}', "a NUL"),
        ('"\\ud800"', "half of a surrogate pair"),
        ('"\\udc00\\ud800"', "half of a surrogate pair"),
        ('["\ud800"]', "half of a surrogate pair"),
        ('{"\\udfff": 1}', "half of a surrogate pair"),
        ("[" * 100_000 + "]" * 100_000, "levels deep"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "levels deep"),
        (" " * (TEXT_CHARACTERS_MAX + 1), "characters; at most"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(text: str, reason: str) -> None:
    """With what is wrong."""
    with pytest.raises(NotJsonError, match=reason):
        read_json(text)


def test_the_deepest_and_the_longest_are_read() -> None:
    """A limit is the last that is allowed."""
    deepest = "[" * JSON_DEPTH_MAX + "]" * JSON_DEPTH_MAX
    longest = "1" * NUMBER_CHARACTERS_MAX

    assert deepest == json.dumps(read_json(deepest))
    assert int(longest) == read_json(longest)
    with pytest.raises(NotJsonError):
        read_json(f"[{deepest}]")
    with pytest.raises(NotJsonError):
        read_json(longest + "1")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\\u0000"', r"\u0000"),
        (r'"[[[[\"{{{{"', '[[[["{{{{'),
        (r'"\ud83d\ude42"', "🙂"),
        ("1e-999", 0.0),
        ("-0", 0),
    ],
)
def test_what_only_looks_wrong_is_read(text: str, value: Json) -> None:
    """Brackets in text are no levels, and an escaped backslash begins no escape."""
    assert value == read_json(text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """With nothing but the one error, and no value that was not meant."""
    try:
        value = read_json(text)
    except NotJsonError:
        return
    assert json.loads(text) == value
