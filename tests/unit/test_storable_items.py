"""What frameworks give is stored with as little loss as a store allows."""

import json
import pkgutil
from typing import Any

import pytest

import recollect
from recollect import integrations
from recollect.errors import UsageError
from recollect.integrations.storable_items import (
    ITEM_KINDS,
    TOO_DEEP,
    ItemForm,
    storable_json,
    storable_message,
)

FORM = ItemForm("smolagents", text_part=lambda text: {"text": text})
PICTURE = "data:image/png;base64," + "iVBOR/w0" * 150_000


def kept_of(item: Any, form: ItemForm = FORM) -> Any:
    """Return the item that is stored, having stored it."""
    message = storable_message("tool", "words", item, form)
    with recollect.open_sync(embedder="none", worker=False) as memory:
        memory.append("ada", "one", [message])
        (kept,) = memory.messages("ada", "one").rows
    return kept.metadata.get(form.kind)


@pytest.mark.parametrize("item", [{"a": [1, None, True, 0.5, "words"]}, "words", [], None])
def test_what_a_store_accepts_is_unchanged(item: Any) -> None:
    assert item == kept_of(item)


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        ({"a\0": ["b\0", "c\ud83d"]}, {"a\ufffd": ["b\ufffd", "c\ufffd"]}),
        ({"a": float("nan"), "b": float("-inf")}, {"a": None, "b": None}),
        ({"a": 1 << 70, "b": -(1 << 63)}, {"a": str(1 << 70), "b": str(-(1 << 63))}),
        ({"a": (1 << 63) - 1}, {"a": (1 << 63) - 1}),
    ],
)
def test_characters_and_numbers_that_no_store_accepts_are_replaced(item: Any, kept: Any) -> None:
    assert kept == kept_of(item)


def test_levels_that_no_store_accepts_are_left_out() -> None:
    deep: Any = "words"
    for _ in range(2_000):
        deep = [deep]

    kept = kept_of({"at": deep})

    assert TOO_DEEP in json.dumps(kept)
    assert storable_json(kept) == kept


def test_of_a_picture_it_is_said_what_it_was() -> None:
    """The words beside it stay whole."""
    words = "No picture. " * 9_000
    kept = kept_of({"parts": [{"text": words}, {"media_type": "image/png", "url": PICTURE}]})

    said = f"(image/png of {len(PICTURE)} characters, which was not kept)"
    assert {"parts": [{"text": words}, {"text": said}]} == kept


def test_texts_that_are_too_long_are_cut() -> None:
    """All of an item to one length; the text of the message is longer."""
    item = {"role": "tool", "output": "y " * 600_000, "also": "z" * 99_000}
    message = storable_message("tool", "y " * 600_000, item, FORM)

    kept = kept_of(item)

    assert ("tool", 99_000) == (kept["role"], len(kept["also"]))
    assert kept["output"].startswith("y y y")
    assert 100_004 == len(kept["output"])
    assert 1_000_000 == len(message.text)


def test_an_item_that_cannot_be_read_back_is_left_out() -> None:
    """Only one that was changed: what the framework itself made it reads."""

    def read(item: Any) -> None:
        raise ValueError(item)

    strict = ItemForm("smolagents", read=read)

    assert kept_of({"a": "b\0"}, strict) is None
    assert {"a": "b"} == kept_of({"a": "b"}, strict)


@pytest.mark.parametrize("item", [{"a": object()}, {"a": {1: 2}}, b"a", {"a": {2}}])
def test_what_is_not_json_is_refused(item: Any) -> None:
    with pytest.raises(UsageError):
        storable_message("tool", "words", item, FORM)


def test_every_framework_that_stores_items_is_known() -> None:
    """Their names are those of the adapters' packages."""
    names = {each.name for each in pkgutil.iter_modules(integrations.__path__) if each.ispkg}

    assert ITEM_KINDS <= names
    assert {"anthropic_memory", "crewai", "langchain", "langgraph", "search"} == names - ITEM_KINDS
