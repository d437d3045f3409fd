"""`FormedStore`: what was formed is found among LangGraph's items, and stays one memory."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import recollect
from recollect import SyncRecollect
from recollect.errors import UsageError
from recollect.integrations.langgraph import FormedStore

ROOT = ("app",)
ADA = ("app", "ada")


@pytest.fixture
def memory() -> Iterator[SyncRecollect]:
    """Open a memory without embedder and model."""
    with recollect.open_sync("memory:", embedder="none", worker=False) as memory:
        yield memory


def fact(place: str) -> dict[str, str]:
    """Return the value of a Fact."""
    return {"subject": "Ada", "predicate": "lives in", "object": place}


def test_what_is_no_longer_true_is_not_an_item(memory: SyncRecollect) -> None:
    """An ended fact is neither found nor gotten, and does not shorten a page."""
    for number in range(6):
        ended = datetime(2020, 1, 1, tzinfo=UTC) if number % 2 else None
        memory.put(ADA, "Fact", f"f{number}", fact(f"Place {number}"), valid_until=ended)
    store = FormedStore(memory, ROOT)

    newest = store.search(("ada",), limit=3)
    ranked = store.search(("ada", "Fact"), query="Where does Ada live?", limit=5)

    assert {"f0", "f2", "f4"} == {each.key for each in newest} == {each.key for each in ranked}
    assert store.get(("ada", "Fact"), "f1") is None
    assert store.get(("ada", "Fact"), "f2") is not None


def test_an_item_goes_before_a_memory_of_the_same_address(memory: SyncRecollect) -> None:
    """Deleting the item shows the memory again; the next deletion forgets that."""
    store = FormedStore(memory, ROOT)
    store.put(("ada", "User"), "User", {"mine": True})
    memory.put(ADA, "User", "User", {"home": "Oslo"})

    seen = []
    for _ in range(3):
        found = store.get(("ada", "User"), "User")
        seen.append(found.value if found else None)
        store.delete(("ada", "User"), "User")

    assert [{"mine": True}, {"home": "Oslo"}, None] == seen


def test_a_memory_is_revised_only_by_what_its_type_allows(memory: SyncRecollect) -> None:
    """What the type refuses is an error, and the history has what was put before."""
    memory.put(ADA, "User", "User", {"home": "Oslo"})
    store = FormedStore(memory, ROOT)

    store.put(("ada", "User"), "User", {"home": "Rome"})
    with pytest.raises(UsageError, match="no User"):
        store.put(("ada", "User"), "User", {"age": "old"})

    history = memory.history(ADA, "User", "User")
    assert [{"home": "Oslo"}, {"home": "Rome"}] == [each.value for each in history]
    assert [("ada", "User")] == store.list_namespaces()
