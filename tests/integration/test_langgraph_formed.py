"""`FormedStore`: what was formed is found among LangGraph's items, and stays one memory."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, SearchOp

import recollect
from recollect import (
    EraseMessages,
    Evidence,
    NewMessage,
    PutMemory,
    Recollect,
    SyncRecollect,
)
from recollect.errors import UsageError
from recollect.integrations.langgraph import FormedStore
from recollect.testing import FrozenClock, RuleModel

ROOT = ("app",)
ADA = ("app", "ada")
TEA = NewMessage(role="user", text="tea")


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


def test_a_put_puts_a_memory_that_has_ended_in_force_again(memory: SyncRecollect) -> None:
    """An item beside it would stand at its address twice, once the memory holds again."""
    ended = datetime(2020, 1, 1, tzinfo=UTC)
    memory.put(ADA, "Fact", "home", fact("Oslo"), valid_until=ended)
    store = FormedStore(memory, ROOT)

    store.put(("ada", "Fact"), "home", {"text": "no fact"})
    unfit = memory.get(ADA, "Fact", "home")
    store.delete(("ada", "Fact"), "home")
    store.put(("ada", "Fact"), "home", fact("Rome"))

    assert unfit is not None
    assert 1 == unfit.version
    assert [fact("Rome")] == [each.value for each in store.search(("ada",))]
    assert [ended, None] == [each.valid_until for each in memory.history(ADA, "Fact", "home")]
    assert () == memory.memories((*ADA, "Fact")).rows


def test_a_namespace_whose_facts_have_ended_is_none(memory: SyncRecollect) -> None:
    """It takes no place on a page of namespaces either."""
    ended = datetime(2020, 1, 1, tzinfo=UTC)
    for name in ("ada", "bob", "eve"):
        until = ended if name == "bob" else None
        memory.put((*ROOT, name), "Fact", "f", fact("Oslo"), valid_until=until)
    store = FormedStore(memory, ROOT)
    store.put(("bob", "deep"), "k", {"text": "tea"})

    assert [("ada", "Fact"), ("bob", "deep"), ("eve", "Fact")] == store.list_namespaces()
    assert [("ada", "Fact"), ("bob", "deep")] == store.list_namespaces(limit=2)
    assert [("eve", "Fact")] == store.list_namespaces(offset=2)
    assert [("ada",), ("bob",), ("eve",)] == store.list_namespaces(max_depth=1)
    assert [("ada",), ("eve",)] == store.list_namespaces(suffix=("Fact",), max_depth=1)


def test_what_lies_below_hides_nothing_of_a_type() -> None:
    """The namespace of a type is that of one scope: newer memories of scopes below are none."""
    clock = FrozenClock()
    with recollect.open_sync("memory:", embedder="none", worker=False, clock=clock) as memory:
        memory.put(ADA, "Note", "own", {"context": "drinks", "content": "Ada drinks tea"})
        clock.advance(1)
        for number in range(3):
            memory.put((*ADA, "work"), "Note", f"n{number}", {"context": "", "content": "tea"})
        store = FormedStore(memory, ROOT)

        found = [store.search(("ada", "Note"), query=query, limit=2) for query in (None, "beer")]

    assert [["own"], ["own"]] == [[each.key for each in page] for page in found]


def test_reads_of_a_batch_see_the_state_before_it(memory: SyncRecollect) -> None:
    """As those of the store of items alone; of several writes to one memory the last counts."""
    memory.put(ADA, "User", "User", {"home": "Oslo"})
    store = FormedStore(memory, ROOT)
    store.put(("ada",), "old", {"text": "tea"})
    reads: list[Op] = [
        SearchOp(("ada",)),
        SearchOp(("ada",), query="tea"),
        ListNamespacesOp(),
        GetOp(("ada", "User"), "User"),
        GetOp(("ada",), "old"),
    ]
    puts: list[Op] = [
        PutOp(("ada",), "old", None),
        PutOp(("ada",), "new", {"text": "tea"}),
        PutOp(("bea",), "new", {"text": "tea"}),
        PutOp(("ada", "User"), "User", None),
        PutOp(("ada", "User"), "User", {"home": "Rome"}),
    ]

    before = store.batch(reads)
    mixed = store.batch([*puts, *reads])

    assert [None] * len(puts) + before == mixed
    assert [{"home": "Oslo"}, {"home": "Rome"}] == [
        each.value for each in memory.history(ADA, "User", "User")
    ]
    assert {"new", "User"} == {each.key for each in store.search(())}


@pytest.mark.parametrize("query", ["coffee", "tea", "tea " * 10_000, "tea\0"])
def test_pages_of_a_query_add_up(memory: SyncRecollect, query: str) -> None:
    """Items without a text that stand among the best come last, whatever the page."""
    memory.put(ADA, "User", "User", {"home": "Oslo"})
    store = FormedStore(memory, ROOT)
    for number in range(8):
        store.put(("ada",), f"k{number}", {"text": "tea"}, index=False if number % 2 else None)

    whole = store.search((), query=query, limit=9)
    pages = [
        each for at in range(0, 9, 2) for each in store.search((), query=query, limit=2, offset=at)
    ]

    assert whole == pages
    assert [False] * 5 + [True] * 4 == [each.score is None for each in whole]


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


def test_a_profile_may_begin_with_a_put(memory: SyncRecollect) -> None:
    """What fits the type is the profile, which formation reads; what does not is an item."""
    store = FormedStore(memory, ROOT)

    store.batch(
        [
            PutOp(("ada", "User"), "User", {"home": "Rome"}),
            PutOp(("bob", "User"), "User", {"age": "old"}),
            PutOp(("ada", "User"), "mine", {"home": "Rome"}),
            PutOp(("ada", "Note"), "n", {"context": "drinks", "content": "Ada drinks tea"}),
        ]
    )
    store.put(("ada", "User"), "User", {"home": "Oslo"})

    assert ["Rome", "Oslo"] == [each.value["home"] for each in memory.history(ADA, "User", "User")]
    kinds = [
        (each.type, each.key)
        for scope in (ADA, (*ROOT, "bob"), (*ADA, "User"), (*ADA, "Note"), (*ROOT, "bob", "User"))
        for each in memory.memories(scope).rows
    ]
    assert [("User", "User"), ("Item", "mine"), ("Item", "n"), ("Item", "User")] == kinds
    assert 1 == len([each for each in store.search(("ada", "User")) if each.key == "User"])


def test_each_speakers_profile_is_an_item(memory: SyncRecollect) -> None:
    """It stands under the speaker's key, and may begin with a put as well."""
    store = FormedStore(memory, ROOT)
    store.put(("house", "User"), "User", {"home": "Oslo"})
    store.put(("house", "User"), "@ines", {"home": "Rome"})
    store.put(("house", "User"), "@", {"home": "Bonn"})

    kept = [(each.type, each.key) for each in memory.memories((*ROOT, "house")).rows]
    assert [("User", "@ines"), ("User", "User")] == kept
    assert {"@ines", "User", "@"} == {each.key for each in store.search(("house", "User"))}
    found = store.get(("house", "User"), "@ines")
    assert found is not None
    assert {"home": "Rome"} == found.value


def test_what_is_deleted_is_not_formed_from_the_same_words() -> None:
    """They still wait when the item of a memory is deleted; who says it later is heard."""
    clock = FrozenClock()
    with recollect.open_sync(
        "memory:", embedder="none", worker=False, clock=clock, model=RuleModel()
    ) as memory:
        store = FormedStore(memory, ROOT)
        words = NewMessage(role="user", text="I live in Turku.")
        (said,) = memory.append(ADA, "talk", [words])
        rests = {"/home": [Evidence(thread="talk", message=said.id)]}
        memory.put(ADA, "User", "User", {"home": "Turku"}, evidence=rests)

        store.delete(("ada", "User"), "User")
        memory.form(ADA)
        assert store.get(("ada", "User"), "User") is None

        clock.advance(60)
        memory.append(ADA, "talk", [words])
        memory.form(ADA)
        found = store.get(("ada", "User"), "User")

    assert found is not None
    assert "Turku" == found.value["home"]


def test_what_a_put_leaves_as_it_was_rests_on_the_same_words(memory: SyncRecollect) -> None:
    """Erasing the message takes it along; the time that a memory is true in stays, too."""
    since = datetime(2020, 1, 1, tzinfo=UTC)
    said = memory.append(ADA, "talk", [NewMessage(role="user", text="Oslo"), TEA])
    home, tea = ([Evidence(thread="talk", message=each.id)] for each in said)
    profile = PutMemory(
        type="User",
        key="User",
        value={"home": "Oslo", "interests": ["tea"]},
        evidence={"/home": home, "/interests": tea},
        trust="assistant",
        valid_from=since,
    )
    memory.apply(ADA, [profile])
    store = FormedStore(memory, ROOT)

    store.put(("ada", "User"), "User", {"home": "Oslo", "age": 36, "interests": ["milk", "tea"]})
    revised = memory.get(ADA, "User", "User")
    memory.erase(ADA, EraseMessages(thread="talk", messages=[each.id for each in said]))
    left = store.get(("ada", "User"), "User")

    assert revised is not None
    assert ({"/home", "/interests/1"}, "assistant", since) == (
        set(revised.evidence),
        revised.trust,
        revised.valid_from,
    )
    assert left is not None
    assert {"age": 36, "interests": ["milk"]} == left.value


def test_a_put_rests_on_nothing_that_is_erased_before_it_is_written(
    memory: SyncRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The put is made anew of what stands there then."""
    (said,) = memory.append(ADA, "talk", [TEA])
    rests = [Evidence(thread="talk", message=said.id)]
    value = {"home": "Oslo", "interests": ["tea"]}
    profile = PutMemory(type="User", key="User", value=value, evidence={"/interests": rests})
    memory.apply(ADA, [profile])
    store = FormedStore(memory, ROOT)
    apply_each = Recollect.apply_each

    async def after_an_erase(self: Recollect, *given: Any) -> None:
        monkeypatch.undo()
        await self.erase(ADA, EraseMessages(thread="talk", messages=[said.id]))
        await apply_each(self, *given)

    monkeypatch.setattr(Recollect, "apply_each", after_an_erase)
    store.put(("ada", "User"), "User", {**value, "home": "Bergen"})

    kept = memory.get(ADA, "User", "User")
    assert kept is not None
    assert ({**value, "home": "Bergen"}, {}) == (kept.value, kept.evidence)


def test_a_memory_is_revised_only_by_what_its_type_allows(memory: SyncRecollect) -> None:
    """What the type refuses is an error, and the history has what was put before."""
    memory.put(ADA, "User", "User", {"home": "Oslo"})
    store = FormedStore(memory, ROOT)

    store.put(("ada", "User"), "User", {"home": "Rome"})
    with pytest.raises(UsageError, match="not a valid User"):
        store.put(("ada", "User"), "User", {"age": "old"})

    history = memory.history(ADA, "User", "User")
    assert [{"home": "Oslo"}, {"home": "Rome"}] == [each.value for each in history]
    assert [("ada", "User")] == store.list_namespaces()
