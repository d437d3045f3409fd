"""Large documents in part: which fields a model is shown."""

import json

from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.document_excerpts import hidden_fields, shown_value
from recollect.records import Json

WORDS = st.sampled_from(["boat", "garden", "violin", "tax"])
DOCUMENTS = st.dictionaries(WORDS, st.text(max_size=60) | st.lists(WORDS, max_size=20), max_size=4)


def size(value: object) -> int:
    """Return the bytes of *value* as JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode())


def test_what_the_talk_is_about_is_shown_first() -> None:
    """By the words that a field shares with it, its own name among them."""
    value: dict[str, Json] = {name: f"{name} " * 10 for name in ("boat", "garden", "violin")}

    hidden = hidden_fields(value, "The garden needs water, the garden!", 100)

    assert {"boat", "violin"} == hidden


def test_a_small_document_is_shown_whole() -> None:
    """And any, where there is no limit."""
    value: dict[str, Json] = {"boat": "x" * 500}

    assert frozenset() == hidden_fields(value, "", 10_000) == hidden_fields(value, "", None)


def test_a_hidden_field_is_named_with_its_size() -> None:
    """So that the model knows that it exists, and nothing of what it says."""
    shown = shown_value({"boat": "secret", "home": "Bergen"}, frozenset({"boat"}))

    assert {"boat": "(not shown: 8 bytes)", "home": "Bergen"} == shown


@given(DOCUMENTS, st.text(max_size=30), st.integers(1, 200))
def test_what_is_shown_has_room(value: dict[str, Json], words: str, bytes_max: int) -> None:
    """Every field is either shown or hidden, and the shown ones keep within the limit."""
    hidden = hidden_fields(value, words, bytes_max)

    shown = {name: each for name, each in value.items() if name not in hidden}
    assert hidden <= value.keys()
    assert not hidden or sum(size({name: each}) for name, each in shown.items()) <= bytes_max
    assert shown == {n: e for n, e in shown_value(value, hidden).items() if n not in hidden}


@given(DOCUMENTS, st.integers(1, 200))
def test_the_order_of_fields_decides_nothing(value: dict[str, Json], bytes_max: int) -> None:
    """Equal documents are shown alike."""
    turned = dict(reversed(value.items()))

    assert hidden_fields(value, "boat", bytes_max) == hidden_fields(turned, "boat", bytes_max)
