"""LangGraph's store over ours: one meaning for every operation, on every backend."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)

import recollect
from recollect import SyncRecollect, UsageError
from recollect.errors import StoreFullError
from recollect.integrations.langgraph import RecollectStore, store_reads
from recollect.records import EndMemory, Memory, ProlongMemory, PutMemory
from recollect.side_records import SideRecord
from recollect.stores.plans import memory_writes as plans
from recollect.stores.plans.erase_targets import EraseMemory, EraseScope
from recollect.stores.rows import ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.testing import FrozenClock, HashedEmbedder

ROOT = ("app",)
ADA = ("users", "ada")


@pytest.fixture(params=["memory:", "sqlite"])
def memory(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock
) -> Iterator[SyncRecollect]:
    url = "memory:" if request.param == "memory:" else f"sqlite:///{tmp_path}/store.db"
    with recollect.open_sync(url, embedder=HashedEmbedder(), worker=False, clock=clock) as memory:
        yield memory


@pytest.fixture
def store(memory: SyncRecollect) -> RecollectStore:
    return RecollectStore(memory, ROOT)


def keys(found: list[SearchItem]) -> list[str]:
    return [each.key for each in found]


def test_an_item_is_put_got_and_deleted(store: RecollectStore) -> None:
    store.put(ADA, "tea", {"likes": ["green", {"hot": True}], "n": 1.5})
    item = store.get(ADA, "tea")
    store.delete(ADA, "tea")
    store.delete(ADA, "tea")

    assert item is not None
    assert {"likes": ["green", {"hot": True}], "n": 1.5} == item.value
    assert (ADA, "tea") == (item.namespace, item.key)
    assert store.get(ADA, "tea") is None
    assert store.get(("nobody",), "tea") is None


def test_an_item_is_a_memory(store: RecollectStore, memory: SyncRecollect) -> None:
    """It stands at the address (root and namespace, Item, key), with a history of its own."""
    store.put(ADA, "tea", {"likes": "green"})
    store.put(ADA, "tea", {"likes": "black"})

    kept = memory.get((*ROOT, *ADA), "Item", "tea")
    history = memory.history((*ROOT, *ADA), "Item", "tea")

    assert kept is not None
    assert {"likes": "black"} == kept.value
    assert [{"likes": "green"}, {"likes": "black"}] == [each.value for each in history]
    assert "likes: black" == memory.recall(ROOT, "black", below=True).entries[0].text


def test_an_item_that_was_ended_is_not_told_as_true(
    store: RecollectStore, memory: SyncRecollect, clock: FrozenClock
) -> None:
    """As in every other door, until it is put anew; an end that is to come ends nothing yet."""
    for key in ("tea", "cake", "jam"):
        store.put(ADA, key, {"likes": key})
    end = EndMemory(type="Item", key="tea", at=clock.now())
    later = EndMemory(type="Item", key="jam", at=clock.now() + timedelta(days=1))
    memory.apply((*ROOT, *ADA), [end, later])
    clock.advance(1)

    assert store.get(ADA, "tea") is None
    assert store.get(ADA, "jam") is not None
    for query in (None, "likes"):
        assert ["cake", "jam"] == sorted(keys(store.search(ADA, query=query)))
        assert 1 == len(store.search(ADA, query=query, limit=1, offset=1))
    store.put(ADA, "tea", {"likes": "black tea"})
    assert ["cake", "jam", "tea"] == sorted(keys(store.search(ADA)))


def test_what_is_returned_is_a_copy(store: RecollectStore) -> None:
    value = {"tags": ["a"]}
    store.put(ADA, "k", value)
    value["tags"].append("b")
    got, found = store.get(ADA, "k"), store.search(ADA)[0]
    assert got is not None
    got.value["tags"].append("c")
    found.value["tags"].append("d")

    again = store.get(ADA, "k")

    assert again is not None
    assert {"tags": ["a"]} == again.value


def test_an_update_keeps_when_it_was_created(store: RecollectStore, clock: FrozenClock) -> None:
    store.put(ADA, "k", {"n": 1})
    clock.advance(5)
    store.put(ADA, "k", {"n": 2})

    item = store.get(ADA, "k")

    assert item is not None
    assert timedelta(seconds=5) == item.updated_at - item.created_at


def test_a_search_without_a_query_lists_the_newest_first(
    store: RecollectStore, clock: FrozenClock
) -> None:
    """Its pages, put together, are the listing; those of one moment come by address."""
    for number in range(9):
        store.put(("users", str(number % 3)), f"k{number}", {"n": number})
        clock.advance(number % 2)
    store.put(("users", "0"), "k0", {"n": "again"})

    whole = store.search(("users",), limit=100)
    pages = [store.search(("users",), limit=4, offset=at) for at in (0, 4, 8, 12)]

    assert "k0" == whole[0].key
    times = [each.updated_at for each in whole]
    assert sorted(times, reverse=True) == times
    assert whole == [each for page in pages for each in page]
    assert [4, 4, 1, 0] == [len(page) for page in pages]
    assert {None} == {each.score for each in whole}


def test_a_search_with_a_query_ranks(store: RecollectStore, memory: SyncRecollect) -> None:
    """By words at once; its pages, put together, are the ranking, once all vectors are there."""
    drinks = ("green tea", "black tea", "coffee", "water", "tea with milk")
    for number, text in enumerate(drinks):
        store.put(("users", str(number)), f"k{number}", {"text": text})

    at_once = store.search(("users",), query="who likes tea?", limit=3)
    memory.settled(ROOT, below=True)
    whole = store.search(("users",), query="who likes tea?", limit=100)
    pages = [
        store.search(("users",), query="who likes tea?", limit=2, offset=at) for at in (0, 2, 4)
    ]

    assert {"k0", "k1", "k4"} == set(keys(at_once)) == set(keys(whole)[:3])
    assert whole == [each for page in pages for each in page]
    scores = [each.score for each in whole if each.score is not None]
    assert len(whole) == len(scores)
    assert sorted(scores, reverse=True) == scores


@pytest.mark.parametrize("query", [None, "", " \n"])
def test_an_empty_query_is_none(store: RecollectStore, query: str | None) -> None:
    store.put(ADA, "k", {"n": 1})

    assert [None] == [each.score for each in store.search(ADA, query=query)]


@pytest.mark.parametrize("query", ["tea " * 10_000, "tea\0", "tea\ud83d", "tea " + "x" * 1_200_000])
def test_any_text_may_be_a_query(store: RecollectStore, query: str) -> None:
    """As in LangGraph's stores: agents search for what was said, whatever that is."""
    store.put(ADA, "drink", {"text": "green tea"})
    store.put(ADA, "city", {"text": "Oslo"})

    found = store.search(ADA, query=query)

    assert ["drink", "city"] == keys(found)
    assert found[0].score is not None


def test_a_query_finds_by_meaning_and_no_vector_is_stale(
    store: RecollectStore, memory: SyncRecollect
) -> None:
    """An update takes the old words and vector away, also one that is not to be searched."""
    scope = (*ROOT, *ADA)
    store.put(ADA, "drink", {"text": "espresso machines"})
    store.put(ADA, "sport", {"text": "rowing regatta"})
    memory.settled(scope)
    assert "drink" == store.search(ADA, query="espressos")[0].key

    store.put(ADA, "drink", {"text": "rowing boats"})
    memory.settled(scope)
    store.put(ADA, "sport", {"text": "espresso machines"}, index=False)

    found = store.search(ADA, query="espresso machines")
    assert [("drink", True), ("sport", False)] == [
        (each.key, each.score is not None) for each in found
    ]


def test_what_is_not_indexed_comes_last(store: RecollectStore) -> None:
    """However well its words would fit, and over the borders of pages."""
    for number in range(30):
        store.put(ADA, f"hidden{number}", {"text": "tea"}, index=False)
    for number in range(3):
        store.put(ADA, f"shown{number}", {"text": f"glass {number}"})

    first = store.search(ADA, query="tea", limit=5)
    rest = store.search(ADA, query="tea", limit=100, offset=5)

    assert [f"shown{number}" for number in (0, 1, 2)] == sorted(keys(first)[:3])
    assert 33 == len({*keys(first), *keys(rest)})
    assert [None] * 2 == [each.score for each in first[3:]]


def test_fields_say_what_is_searched(memory: SyncRecollect) -> None:
    """Those of the store, or an item's own; a path may go into lists and choose by name."""
    store = RecollectStore(memory, ROOT, index={"fields": ["title", "parts[*].text"]})
    value = {"title": "Tea", "parts": [{"text": "leaves"}, {"text": "water"}], "secret": "poison"}
    store.put(ADA, "default", value)
    store.put(ADA, "own", value, index=["secret", "parts[-1].text"])

    texts = {
        key: memory.get((*ROOT, *ADA), "Item", key).text  # type: ignore[union-attr]
        for key in ("default", "own")
    }

    assert {"default": "Tea\nleaves\nwater", "own": "poison\nwater"} == texts


FILTERED: dict[str, dict[str, Any]] = {
    "nine": {"n": 9},
    "ten": {"n": 10},
    "text": {"n": "12"},
    "null": {"n": None},
    "object": {"n": {"x": 1}},
    "list": {"n": [1, 2]},
    "true": {"n": True},
    "absent": {},
}


@pytest.mark.parametrize(
    ("filter_", "found"),
    [
        ({"n": {"$gt": 5}}, "nine ten"),
        ({"n": {"$lte": 10}}, "nine ten"),
        ({"n": {"$gt": 9, "$lt": 11}}, "ten"),
        ({"n": None}, "null"),
        ({"n": {"$ne": 9}}, "ten text null object list true absent"),
        ({"n": {"x": 1}}, "object"),
        ({"n": {"$eq": {"x": 1}}}, "object"),
        ({"n": {"$eq": [1, 2]}}, "list"),
        ({"n": [1, 2]}, "list"),
        ({"n": {}}, ""),
        ({"n": 1}, ""),
        ({"n": True}, "true"),
        ({"n": "12"}, "text"),
        ({"n": 12}, ""),
        ({"n.x": 1}, "object"),
        ({"n": {"$in": [9, "12"]}}, "nine text"),
        ({"n": {"$contains": 2}}, "list"),
        ({}, " ".join(FILTERED)),
    ],
)
@pytest.mark.parametrize("query", [None, "n"])
def test_filters_are_typed(
    store: RecollectStore, filter_: dict[str, Any], found: str, query: str | None
) -> None:
    """A number compares with numbers; a null, or another type, breaks no filter."""
    store.batch([PutOp(ADA, key, value) for key, value in FILTERED.items()])

    result = store.search(ADA, filter=filter_, query=query, limit=100)

    assert set(found.split()) == set(keys(result))


def test_a_filter_matches_a_dotted_name(store: RecollectStore) -> None:
    """A field of the whole name is meant before a path of that name."""
    store.put(ADA, "flat", {"a.b": 1})
    store.put(ADA, "deep", {"a": {"b": 1}})
    store.put(ADA, "both", {"a.b": 2, "a": {"b": 1}})

    assert {"flat", "deep"} == set(keys(store.search(ADA, filter={"a.b": 1})))


def test_a_prefix_compares_whole_labels(store: RecollectStore) -> None:
    """Neither a longer label, nor one that means something in a pattern, is below it."""
    for label in ("u", "ux", "u%", "_", "%", "u/x"):
        store.put((label, "a"), "k", {"of": label})

    assert ["u"] == [each.namespace[0] for each in store.search(("u",))]
    assert ["%"] == [each.namespace[0] for each in store.search(("%",), query="of")]
    assert [("_", "a")] == store.list_namespaces(prefix=("_",))


def test_the_root_is_a_wall(memory: SyncRecollect, store: RecollectStore) -> None:
    """Neither the scopes beside it nor those above are seen, by no operation."""
    neighbour = RecollectStore(memory, ("app2",))
    neighbour.put(ADA, "k", {"of": "the neighbour"})
    store.put(ADA, "k", {"of": "ours"})
    memory.put(("above",), "Item", "k", {"of": "nobody"})

    seen = [*store.search(()), *store.search((), query="neighbour"), store.get(ADA, "k")]

    assert {"ours"} == {each.value["of"] for each in seen if each}
    assert [ADA] == store.list_namespaces()


def test_namespaces_are_listed(store: RecollectStore) -> None:
    names = [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "c", "f"), ("b",)]
    for each in names:
        store.put(each, "k", {})

    assert names == store.list_namespaces()
    assert names[:3] == store.list_namespaces(prefix=("a", "b"))
    assert [("a", "b", "d")] == store.list_namespaces(prefix=("a", "*", "d"), max_depth=3)
    assert [("a", "c", "f")] == store.list_namespaces(suffix=("*", "f"))
    assert [("a",), ("b",)] == store.list_namespaces(max_depth=1)
    assert names[2:4] == store.list_namespaces(limit=2, offset=2)
    assert [] == store.list_namespaces(suffix=("app", "b"))


def test_no_namespace_is_a_phantom(store: RecollectStore, memory: SyncRecollect) -> None:
    """Reading, deleting, expiring and what others keep there make none."""
    store.get(("read",), "k")
    store.search(("searched",))
    store.put(("deleted",), "k", {}, ttl=None)
    store.delete(("deleted",), "k")
    store.put(("kept",), "k", {})
    memory.apply((*ROOT, "ours"), [PutMemory(type="Note", key="k", value={})])

    assert [("kept",)] == store.list_namespaces()


def test_reads_of_a_batch_see_the_state_before_it(store: RecollectStore) -> None:
    store.put(ADA, "k", {"n": 1})
    ops: list[Op] = [
        PutOp(ADA, "k", {"n": 2}),
        GetOp(ADA, "k"),
        PutOp(("new",), "k", {}),
        SearchOp(()),
        PutOp(ADA, "k", {"n": 3}),
        ListNamespacesOp(None),
        PutOp(("new",), "k", None),
    ]

    results: list[Any] = store.batch(ops)

    assert {"n": 1} == results[1].value
    assert [{"n": 1}] == [each.value for each in results[3]]
    assert [ADA] == results[5]
    assert [None] * 4 == [results[at] for at in (0, 2, 4, 6)]
    assert [{"n": 3}] == [each.value for each in store.search(())]


def test_a_batch_that_is_refused_writes_nothing(store: RecollectStore) -> None:
    with pytest.raises(UsageError, match="surrogate"):
        store.batch([PutOp(("a",), "k", {"n": 1}), PutOp(("b",), "k", {"n": "\ud800"})])
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a",), "k", {"n": 1}), GetOp(("b.c",), "k")])
    long = PutOp(("b",), "k", {"text": "tea " * 200_000}, index=["text", "text"])
    with pytest.raises(UsageError, match="TEXT_CHARACTERS_MAX"):
        store.batch([PutOp(("a",), "k", {"n": 1}), long])

    assert [] == store.list_namespaces()


def test_many_writes_are_made_in_parts(store: RecollectStore) -> None:
    store.batch([PutOp(ADA, f"k{number}", {"n": number}) for number in range(1_201)])
    store.batch([PutOp((f"{number % 7}",), f"k{number}", {}, ttl=9) for number in range(1_201)])

    assert 1_201 == len(store.search(ADA, limit=5_000))
    assert 2_402 == len(store.search((), limit=5_000))


@pytest.mark.parametrize("failing", ["a", "b", "c"])
def test_a_batch_is_written_whole(
    store: RecollectStore, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails in one namespace leaves nothing in the others."""
    plan_writes = plans.plan_writes

    def refused(rows: Rows, scope: ScopeRow, *given: Any, **more: Any) -> Any:
        if scope.segments[-1] == failing:
            msg = "no room"
            raise StoreFullError(msg)
        return plan_writes(rows, scope, *given, **more)

    store.put(("a",), "k", {"n": 1})
    monkeypatch.setattr(plans, "plan_writes", refused)
    with pytest.raises(StoreFullError):
        store.batch([PutOp((name,), "k", {"n": 2}) for name in "abc"])
    monkeypatch.undo()

    assert [{"n": 1}] == [each.value for each in store.search(())]


def test_an_item_expires_and_reading_begins_its_time_anew(
    store: RecollectStore, clock: FrozenClock, memory: SyncRecollect
) -> None:
    store.put(ADA, "k", {"n": 1}, ttl=1)
    clock.advance(50)
    assert store.get(ADA, "k") is not None
    clock.advance(50)
    assert ["k"] == keys(store.search(ADA))
    clock.advance(50)
    assert ["k"] == keys(store.search(ADA, query="n", refresh_ttl=False))
    assert 1 == len(memory.history((*ROOT, *ADA), "Item", "k"))
    clock.advance(10)

    assert store.get(ADA, "k") is None
    assert [] == store.search(ADA)
    assert [] == store.search(ADA, query="n")
    assert [] == store.list_namespaces()


@pytest.mark.parametrize("lasts_s", [30, 7 * 24 * 3600])
def test_an_expiry_that_somebody_else_gave_stands(
    store: RecollectStore, clock: FrozenClock, memory: SyncRecollect, lasts_s: int
) -> None:
    """Reading neither cuts a week to the item's minutes, nor lengthens half a minute to them."""
    store.put(ADA, "k", {"n": 1}, ttl=5)
    until = clock.now() + timedelta(seconds=lasts_s)
    memory.put((*ROOT, *ADA), "Item", "k", {"n": 1}, expires_at=until)

    assert store.get(ADA, "k") is not None

    found = memory.get((*ROOT, *ADA), "Item", "k")
    assert found is not None
    assert until == found.expires_at


def test_reading_by_a_clock_that_was_set_back_takes_no_time_from_an_item(
    store: RecollectStore, clock: FrozenClock
) -> None:
    store.put(ADA, "k", {"n": 1}, ttl=5)
    clock.advance(-3600)
    assert store.get(ADA, "k") is not None
    clock.advance(3600 + 4 * 60)

    assert store.get(ADA, "k") is not None


@pytest.mark.parametrize("lasts_s", [30, 7 * 24 * 3600])
def test_a_read_that_minds_no_other_expiry_is_noticed(
    store: RecollectStore,
    clock: FrozenClock,
    memory: SyncRecollect,
    monkeypatch: pytest.MonkeyPatch,
    lasts_s: int,
) -> None:
    """The mutant begins the item's time anew, whatever it was given since, and by any clock."""

    def anew(item: Memory, lifetime: SideRecord, now: datetime) -> tuple[ProlongMemory]:
        until = now + timedelta(minutes=float(str(lifetime.value["minutes"])))
        return (
            ProlongMemory(type=item.type, key=item.key, version=item.version, expires_at=until),
        )

    monkeypatch.setattr(store_reads, "_has_expiry_of", lambda *_: True)
    monkeypatch.setattr(store_reads, "_prolongs", anew)

    with pytest.raises(AssertionError):
        test_an_expiry_that_somebody_else_gave_stands(store, clock, memory, lasts_s)
    with pytest.raises(AssertionError):
        test_reading_by_a_clock_that_was_set_back_takes_no_time_from_an_item(store, clock)


def test_a_time_to_live_may_be_the_stores(memory: SyncRecollect, clock: FrozenClock) -> None:
    """An item's own goes before it; without a time it lasts, whatever it had before."""
    store = RecollectStore(memory, ROOT, ttl={"default_ttl": 1, "refresh_on_read": False})
    store.put(ADA, "default", {})
    store.put(ADA, "own", {}, ttl=2.5)
    store.put(ADA, "lasting", {})
    store.put(ADA, "lasting", {}, ttl=None)
    store.get(ADA, "default")

    clock.advance(60)
    later = keys(store.search(ADA))
    clock.advance(90)

    assert ["lasting", "own"] == sorted(later)
    assert ["lasting"] == keys(store.search(ADA))


def test_what_keeps_a_time_to_live_is_not_seen(
    store: RecollectStore, memory: SyncRecollect
) -> None:
    """No recall finds it, it does not name its item, and it goes with the item."""
    store.put(ADA, "ada@example.org", {"text": "minutes"}, ttl=5)
    scope = (*ROOT, *ADA)

    found = memory.recall(scope, "minutes").entries
    types = [each.type for each in memory.memories(scope).rows]
    kept = [each for each in memory.export(scope) if each["kind"] == "side"]
    store.delete(ADA, "ada@example.org")

    assert ["text: minutes"] == [each.text for each in found]
    assert ["Item"] == types
    assert ["Lifetime"] == [each["side_kind"] for each in kept]
    assert "ada" not in str(kept[0]["key"])
    assert [] == list(memory.export(scope))


def test_an_erased_item_leaves_no_time_to_live(
    store: RecollectStore, memory: SyncRecollect
) -> None:
    """Nor the name of its scope; those of others stay."""
    for key in ("mine", "yours"):
        store.put(ADA, key, {"text": "minutes"}, ttl=5)
    scope = (*ROOT, *ADA)

    memory.erase(scope, EraseMemory(type="Item", key="mine"))
    left = [each["kind"] for each in memory.export(scope)]
    memory.erase(scope, EraseMemory(type="Item", key="yours"))

    assert ["memory", "side"] == left
    assert () == memory.scopes(prefix=scope).rows


def test_an_item_that_waits_for_a_verdict_is_not_there(
    store: RecollectStore, memory: SyncRecollect
) -> None:
    """What our own API keeps in quarantine is found by none of the operations."""
    doubtful = PutMemory(type="Item", key="k", value={"n": 1}, state="quarantined")
    memory.apply((*ROOT, *ADA), [doubtful])

    assert store.get(ADA, "k") is None
    assert [] == store.search(())
    assert [] == store.search((), query="n")
    assert [] == store.list_namespaces()


def test_erasing_a_scope_erases_its_items(store: RecollectStore, memory: SyncRecollect) -> None:
    store.put(ADA, "k", {"text": "tea"}, ttl=5)

    memory.erase((*ROOT, *ADA), EraseScope())

    assert [] == store.search((), query="tea")
    assert [] == store.list_namespaces()


@pytest.mark.parametrize(
    "namespace",
    [(), ("",), ("a.b",), ("a", 1), ("a", None), ("a\0",), ("langgraph",), "users", 5],
)
def test_a_namespace_may_be_refused(store: RecollectStore, namespace: Any) -> None:
    """As `BaseStore` refuses it, by the method and by an operation in a batch."""
    with pytest.raises((InvalidNamespaceError, TypeError)):
        store.put(namespace, "k", {})
    if namespace != ("langgraph",):
        with pytest.raises(InvalidNamespaceError):
            store.batch([PutOp(namespace, "k", {})])
    if namespace not in {(), ("langgraph",)}:
        with pytest.raises(InvalidNamespaceError):
            store.batch([SearchOp(namespace)])
        with pytest.raises(InvalidNamespaceError):
            store.batch([GetOp(namespace, "k")])
        with pytest.raises(InvalidNamespaceError):
            store.batch([ListNamespacesOp((MatchCondition("suffix", namespace),))])

    assert [] == store.search(())


def test_our_own_api_takes_any_id(store: RecollectStore, memory: SyncRecollect) -> None:
    """What LangGraph could not name is found all the same, with all its labels."""
    memory.put((*ROOT, "ada@example.org"), "Item", "k", {"likes": "tea"})

    assert [("ada@example.org",)] == [each.namespace for each in store.search((), query="tea")]
    assert [("ada@example.org",)] == store.list_namespaces()


@pytest.mark.parametrize(
    "op",
    [
        PutOp(ADA, "k", {"at": object()}),
        PutOp(ADA, "k", {"n": nan}),
        PutOp(ADA, "k", {1: "a"}),  # type: ignore[dict-item]
        PutOp(ADA, "k", {"s": {1, 2}}),
        PutOp(ADA, "k", {"b": b"bytes"}),
        PutOp(ADA, "k", ["no object"]),  # type: ignore[arg-type]
        PutOp(ADA, "", {}),
        PutOp(ADA, "k\n", {}),
        PutOp(ADA, "k", {}, index="text"),  # type: ignore[arg-type]
        PutOp(ADA, "k", {}, index=[1]),  # type: ignore[list-item]
        *(PutOp(ADA, "k", {}, ttl=ttl) for ttl in (0, -1, nan, inf, 1e12, 10**400, True)),
        PutOp(ADA, "k", {}, ttl="5"),  # type: ignore[arg-type]
        SearchOp(ADA, filter={"n": {"$near": 1}}),
        SearchOp(ADA, filter={"n": {"$in": 1}}),
        SearchOp(ADA, filter={"n": {1, 2}}),
        SearchOp(ADA, filter=["n"]),  # type: ignore[arg-type]
        SearchOp(ADA, limit=-1),
        SearchOp(ADA, offset=-3),
        SearchOp(ADA, limit=1.5),  # type: ignore[arg-type]
        SearchOp(ADA, query=5),  # type: ignore[arg-type]
        ListNamespacesOp(None, max_depth=0),
        ListNamespacesOp((MatchCondition("infix", ("a",)),)),  # type: ignore[arg-type]
        "get",
    ],
)
def test_an_operation_may_be_refused(store: RecollectStore, op: Any) -> None:
    """With a `UsageError`, which is a `ValueError`; nothing is done."""
    with pytest.raises(ValueError, match=r"\w"):
        store.batch([PutOp(("other",), "k", {}), op])

    assert [] == store.search(())


@pytest.mark.parametrize(
    "given",
    [
        {"root": ()},
        {"root": ""},
        {"memory": 5},
        {"index": {"embed": HashedEmbedder()}},
        {"index": {"fields": "text"}},
        {"index": {"fields": [5]}},
        {"index": ["text"]},
        {"ttl": {"default_ttl": 0}},
        {"ttl": {"refresh_on_read": "yes"}},
        {"ttl": 5},
        {"ttl": {"defaultttl": 3}},
        {"index": {"field": ["text"]}},
    ],
)
def test_a_store_may_be_refused(memory: SyncRecollect, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RecollectStore(**{"memory": memory, "root": ROOT, **given})


async def sizes_of(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


@pytest.mark.parametrize("embed", ["none", HashedEmbedder(), sizes_of])
def test_a_store_may_be_an_address(tmp_path: Path, embed: Any) -> None:
    """It opens what it names, with the index's embedder, and closes it."""
    url = f"sqlite:///{tmp_path}/store.db"
    with RecollectStore(url, ROOT, index={"dims": 2, "embed": embed, "fields": ["text"]}) as store:
        store.put(ADA, "k", {"text": "tea"})
        assert isinstance(store.memory, SyncRecollect)
        store.memory.settled((*ROOT, *ADA))
        assert ["k"] == keys(store.search(ADA, query="tea"))

    with RecollectStore(url, ROOT, index={"embed": "none"}) as again:
        assert [ADA] == again.list_namespaces()
    with pytest.raises(recollect.errors.StoreClosedError):
        store.get(ADA, "k")
