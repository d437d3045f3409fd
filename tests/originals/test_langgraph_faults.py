"""What LangGraph's stores do otherwise, seen in them, and what ours does; see differences.md."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore

import recollect
from recollect import UsageError
from recollect.integrations.langgraph import RecollectStore
from recollect.testing import FrozenClock, HashedEmbedder

SqliteStore = pytest.importorskip(
    "langgraph.store.sqlite", reason="the originals are compared with"
).SqliteStore

ADA = ("users", "ada")


def vectors_of(texts: list[str]) -> list[list[float]]:
    found = HashedEmbedder(64).embed(texts)
    return [[0.0] * 64 if each is None else each.tolist() for each in found]


INDEX: Any = {"dims": 64, "embed": vectors_of, "fields": ["text"]}


@pytest.fixture
def in_memory() -> InMemoryStore:
    return InMemoryStore(index=INDEX)


@pytest.fixture
def in_sqlite() -> Iterator[Any]:
    connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    store = SqliteStore(connection)
    store.setup()
    yield store
    connection.close()


@pytest.fixture
def ours() -> Iterator[RecollectStore]:
    with recollect.open_sync(embedder="none", worker=False, clock=FrozenClock()) as memory:
        yield RecollectStore(memory, ("app",))


def keys(store: BaseStore, **asked: Any) -> list[str]:
    return sorted(each.key for each in store.search((), **asked))


def put_mixed(*stores: BaseStore) -> None:
    values: list[Any] = [9, 10, "12", None, {"x": 1}, [1, 2], True]
    for store in stores:
        for number, value in enumerate(values):
            store.put(ADA, f"{number}", {"n": value})
        store.put(ADA, "absent", {})


def test_one_item_that_cannot_be_compared_breaks_a_search(
    in_memory: InMemoryStore, ours: RecollectStore
) -> None:
    put_mixed(in_memory, ours)

    with pytest.raises(TypeError):
        in_memory.search((), filter={"n": {"$gt": 5}})

    assert ["0", "1"] == keys(ours, filter={"n": {"$gt": 5}})


def test_a_cast_makes_numbers_of_everything(in_sqlite: Any, ours: RecollectStore) -> None:
    put_mixed(in_sqlite, ours)

    assert ["0", "1", "4", "5", "6"] == keys(in_sqlite, filter={"n": {"$lte": 10}})
    assert ["0", "1"] == keys(ours, filter={"n": {"$lte": 10}})
    assert ["6"] == keys(in_sqlite, filter={"n": 1})
    assert [] == keys(ours, filter={"n": 1})


def test_a_null_is_not_what_is_absent(
    in_memory: InMemoryStore, in_sqlite: Any, ours: RecollectStore
) -> None:
    put_mixed(in_memory, in_sqlite, ours)
    asked = {"filter": {"n": None}}

    assert ["3", "absent"] == keys(in_memory, **asked) == keys(in_sqlite, **asked)
    assert ["3"] == keys(ours, **asked)
    assert "absent" not in keys(in_sqlite, filter={"n": {"$ne": 9}})
    assert "absent" in keys(ours, filter={"n": {"$ne": 9}})


def test_an_object_is_equal_to_itself_alone(
    in_memory: InMemoryStore, in_sqlite: Any, ours: RecollectStore
) -> None:
    for store in (in_memory, in_sqlite, ours):
        store.put(ADA, "more", {"n": {"x": 1, "y": 2}})
        store.put(ADA, "same", {"n": {"x": 1}})

    assert ["more", "same"] == keys(in_memory, filter={"n": {"x": 1}})
    assert [] == keys(in_sqlite, filter={"n": {"$eq": {"x": 1}}})
    assert ["more", "same"] == keys(in_sqlite, filter={"n": {}})
    assert ["same"] == keys(ours, filter={"n": {"x": 1}})
    assert [] == keys(ours, filter={"n": {}})


def test_a_dotted_name_is_both(
    in_memory: InMemoryStore, in_sqlite: Any, ours: RecollectStore
) -> None:
    for store in (in_memory, in_sqlite, ours):
        store.put(ADA, "flat", {"a.b": 1})
        store.put(ADA, "deep", {"a": {"b": 1}})
    asked = {"filter": {"a.b": 1}}

    found = [keys(in_memory, **asked), keys(in_sqlite, **asked), keys(ours, **asked)]

    assert [["flat"], ["deep"], ["deep", "flat"]] == found


def test_what_was_returned_changes_what_is_kept(
    in_memory: InMemoryStore, ours: RecollectStore
) -> None:
    for store, expected in ((in_memory, ["a", "b"]), (ours, ["a"])):
        store.put(ADA, "k", {"tags": ["a"]})
        store.get(ADA, "k").value["tags"].append("b")  # type: ignore[union-attr]

        assert expected == store.get(ADA, "k").value["tags"]  # type: ignore[union-attr]


def test_an_update_forgets_when_an_item_was_created(
    in_memory: InMemoryStore, ours: RecollectStore
) -> None:
    def creations(store: BaseStore) -> list[Any]:
        found = []
        for number in range(2):
            store.put(ADA, "k", {"n": number})
            found.append(store.get(ADA, "k").created_at)  # type: ignore[union-attr]
        return found

    assert 2 == len(set(creations(in_memory)))
    assert 1 == len(set(creations(ours)))


def test_a_namespace_that_was_read_is_listed(
    in_memory: InMemoryStore, ours: RecollectStore
) -> None:
    for store in (in_memory, ours):
        store.get(("ghost",), "k")

    assert [("ghost",)] == in_memory.list_namespaces()
    assert [] == ours.list_namespaces()


def test_the_vector_of_an_old_text_stays(in_memory: InMemoryStore, ours: RecollectStore) -> None:
    for store in (in_memory, ours):
        store.put(ADA, "k", {"text": "green tea"})
        store.put(ADA, "k", {"text": "secret"}, index=False)

    (theirs,) = in_memory.search((), query="green tea")
    (found,) = ours.search((), query="green tea")

    assert (theirs.score or 0) > 0.9
    assert found.score is None


needs_extensions = pytest.mark.skipif(
    not hasattr(sqlite3.Connection, "enable_load_extension"),
    reason="this Python's sqlite3 loads no extensions, which SqliteStore needs for vectors",
)


@needs_extensions
def test_pages_of_a_query_end(ours: RecollectStore) -> None:
    connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    theirs = SqliteStore(connection, index=INDEX)
    theirs.setup()
    for store in (theirs, ours):
        for number in range(9):
            store.put(ADA, f"k{number}", {"text": f"tea {number}"})

    def pages(store: Any) -> list[int]:
        found = [store.search((), query="tea", limit=2, offset=at) for at in (0, 2, 4, 6, 8)]
        return [len(each) for each in found]

    assert [2, 2, 0, 0, 0] == pages(theirs)
    assert [2, 2, 2, 2, 1] == pages(ours)
    connection.close()


@pytest.mark.parametrize("page", [{"limit": -1}, {"offset": -3}])
def test_a_negative_page_is_refused(
    in_memory: InMemoryStore, in_sqlite: Any, ours: RecollectStore, page: dict[str, int]
) -> None:
    ops = [PutOp(ADA, f"k{number}", {}) for number in range(5)]
    for store in (in_memory, in_sqlite, ours):
        store.batch(ops)

    fewer: list[Any] = in_memory.search((), **page)  # type: ignore[arg-type]
    everything: list[Any] = in_sqlite.search((), **page)

    assert len(fewer) < 5 == len(everything)
    with pytest.raises(UsageError):
        ours.search((), **page)  # type: ignore[arg-type]


def test_what_has_expired_is_returned(in_sqlite: Any, ours: RecollectStore) -> None:
    """SqliteStore returns it until it is swept; a time of 0 is refused by ours alone."""
    in_sqlite.put(ADA, "k", {}, ttl=0)
    with pytest.raises(UsageError, match="above 0"):
        ours.put(ADA, "k", {}, ttl=0)
    with pytest.raises(NotImplementedError):
        InMemoryStore().put(ADA, "k", {}, ttl=1)

    assert ["k"] == keys(in_sqlite)
