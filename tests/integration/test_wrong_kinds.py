"""What is given in the wrong kind is refused by an error that says what to give, everywhere."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recollect
from recollect import NewMessage, UsageError
from recollect.records import Attachment, PutMemory

ADA = ("users", "ada")
SAID: Any = NewMessage(role="user", text="hello", id="m1")
PUT: Any = PutMemory(type="Own", key="k", value={})
FILE: Any = Attachment(name="a", media_type="text/plain", data=b"x")


@pytest.fixture(scope="module")
def memory() -> Iterator[Any]:
    with recollect.open_sync(embedder="none", worker=False) as memory:
        yield memory


# Each forgets a list, or gives a text, a dict or a number for something else.
WRONG: dict[str, Callable[[Any], object]] = {
    "no messages": lambda m: m.append(ADA, "t", None),
    "a number for messages": lambda m: m.append(ADA, "t", 5),
    "numbers for messages": lambda m: m.append(ADA, "t", [5]),
    "a message as a dict without a role": lambda m: m.append(ADA, "t", {"text": "hello"}),
    "a message alone of a store": lambda m: m.call(
        lambda memory: memory.store.append(ADA, "t", SAID)
    ),
    "a write alone beside messages": lambda m: m.append(ADA, "t", [SAID], writes=PUT),
    "a text as state": lambda m: m.append(ADA, "t", [SAID], state="good"),
    "an attachment alone": lambda m: m.append(ADA, "t", [SAID], attachments=FILE),
    "a text as settings": lambda m: m.append(ADA, "t", [SAID], settings="quick"),
    "a number as debounce": lambda m: m.append(ADA, "t", [SAID], debounce=5),
    "a write alone": lambda m: m.apply(ADA, PUT),
    "no writes": lambda m: m.apply(ADA, None),
    "writes as dicts": lambda m: m.apply(ADA, [{"type": "Own", "key": "k"}]),
    "writes without scopes": lambda m: m.apply_each([PUT]),
    "a write alone of a scope": lambda m: m.apply_each({ADA: PUT}),
    "a text as value": lambda m: m.put(ADA, "Own", "k", "value"),
    "a message's id alone": lambda m: m.remove(ADA, "t", "m1"),
    "a number for ids": lambda m: m.remove(ADA, "t", 5),
    "a number to replace": lambda m: m.replace(ADA, "t", 5),
    "one attachment": lambda m: m.attach(ADA, "t", FILE),
    "a text as attachment": lambda m: m.attach(ADA, "t", ["a.txt"]),
    "a text as named state": lambda m: m.set_state(ADA, "t", "good"),
    "a dict as where": lambda m: m.recall(ADA, "hello", where={"types": ["Own"]}),
    "a text as limit": lambda m: m.recall(ADA, "hello", limit="3"),
    "a text as budget": lambda m: m.recall(ADA, "hello", budget_tokens="3"),
    "an unknown state": lambda m: m.memories(ADA, state="forgotten"),
    "a record alone": lambda m: m.import_records({"kind": "message"}),
    "a text to erase": lambda m: m.erase(ADA, "t"),
}


@pytest.mark.parametrize("what", WRONG)
def test_it_is_refused(what: str, memory: Any) -> None:
    """With a `UsageError`; nothing is written."""
    with pytest.raises(UsageError):
        WRONG[what](memory)

    assert () == memory.scopes().rows


def test_the_error_says_what_to_give(memory: Any) -> None:
    with pytest.raises(UsageError, match=r"not a list: give each write as an element.*\[\.\.\.\]"):
        memory.apply(ADA, PUT)
