"""The text by which messages and memories are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records import Json
from recollect.text.searchable import memory_text, message_text

PICTURE = {"type": "image", "caption": "a red kite"}


@pytest.mark.parametrize(
    ("text", "name", "content", "expected"),
    [
        ("Look!", None, None, "Look!"),
        ("Look!", "Ada", None, "Ada: Look!"),
        ("Look!", "Ada", [PICTURE], "Ada: Look! [shares a red kite]"),
        ("", "Ada", [PICTURE, PICTURE], "Ada: [shares a red kite] [shares a red kite]"),
        ("", None, [PICTURE], "[shares a red kite]"),
        ("", None, [{"type": "image"}], ""),
        ("Look!", None, ["plain", {"caption": ""}, {"caption": 7}, None], "Look!"),
    ],
)
def test_a_message_is_found_by_speaker_words_and_captions(
    text: str, name: str | None, content: list[Json] | None, expected: str
) -> None:
    """What has no caption adds nothing."""
    assert expected == message_text(text, name, content)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"city": "Oslo", "pets": ["a cat", "a dog"]}, "city: Oslo; pets: a cat, a dog"),
        ({"age": 41, "height": 1.8}, "age: 41; height: 1.8"),
        ({"married": True, "moved": False}, "married: true; moved: false"),
        ({"home": {"city": "Oslo", "floor": 3}}, "home: city Oslo, floor 3"),
        ({"empty": "", "none": None, "list": [], "object": {}}, ""),
        ({"list": [None, "a", [], {"b": None}, {"c": "d"}]}, "list: a, c d"),
        ({}, ""),
    ],
)
def test_a_memory_is_found_by_its_fields(value: dict[str, Json], expected: str) -> None:
    """Names and values stand in the order of the document; what is empty is left out."""
    assert expected == memory_text(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4))
def test_every_document_has_a_text(value: dict[str, Json]) -> None:
    """All texts in a document are part of its text, whatever its form."""
    found = memory_text(value)

    assert all(field in found for field in value.values() if isinstance(field, str))
