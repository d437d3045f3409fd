"""`put` takes what the type allows, and no type whose name is a slip of the pen."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pytest

import recollect
from recollect import UsageError
from recollect.agents.examples import Examples, example_store
from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE as NOTE_TYPE
from recollect.formation.types import USER, MemoryType
from recollect.graph import EntityGraph, KnowledgeGraph, KnowledgeTriple, fact_methods
from recollect.memory import cited_messages, type_names
from recollect.memory.facade import Recollect
from recollect.recall.query import Where
from recollect.records import Evidence, JsonObject, MemoryState, PutMemory
from recollect.side_records import SCOPE_SETTINGS, PutSideRecord
from recollect.stores.plans.erase_targets import EraseThread

ADA = ("acme", "ada")
NOTE: JsonObject = {"context": "drinks", "content": "Ada likes tea"}
TRIP = MemoryType(
    name="Trip",
    description="A journey.",
    update_mode="insert",
    parameters={
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
        "additionalProperties": False,
    },
)


@pytest.fixture
async def memory() -> AsyncIterator[Recollect]:
    formation = FormationSettings(types=(TRIP,))
    async with recollect.open("memory:", embedder="none", formation=formation) as opened:
        yield opened


async def test_a_value_that_its_type_refuses_is_not_put(memory: Recollect) -> None:
    with pytest.raises(UsageError, match=r"no Note: .*content.*'context', 'content'"):
        await memory.put(ADA, "Note", "tea", {"context": "drinks"})
    with pytest.raises(UsageError, match=r"no Trip: .*place"):
        await memory.put(ADA, "Trip", "bergen", {"place": 7})

    assert not (await memory.memories(ADA)).rows


async def test_the_fields_of_a_type_are_named_once(memory: Recollect) -> None:
    """By the reason for an unknown one, or at the end."""
    with pytest.raises(UsageError) as unknown:
        await memory.put(ADA, "Trip", "bergen", {"place": "Bergen", "plaec": "Oslo"})
    with pytest.raises(UsageError) as missing:
        await memory.put(ADA, "Trip", "bergen", {})

    assert (1, 1) == tuple(str(each.value).count("fields are") for each in (unknown, missing))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Notes", "Note"), ("note", "Note"), ("trip", "Trip"), ("Usr", "User"), ("Noet", "Note")],
)
async def test_a_misspelt_type_is_told_the_near_one(
    memory: Recollect, written: str, meant: str
) -> None:
    with pytest.raises(UsageError, match=f"no type '{written}': did you mean '{meant}'"):
        await memory.put(ADA, written, "k", NOTE)


READS: dict[str, Callable[[Recollect, str], Awaitable[object]]] = {
    "memories": lambda memory, name: memory.memories(ADA, type_=name),
    "recall": lambda memory, name: memory.recall(ADA, "tea", where=Where(types=[name])),
    "recall below": lambda memory, name: memory.recall(
        ADA[:1], "tea", below=True, where=Where(types=[name])
    ),
    "context": lambda memory, name: memory.context(ADA, "tea", where=Where(types=[name])),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("written", "meant"), [("note", "Note"), ("Trips", "Trip")])
async def test_a_read_of_a_misspelt_type_is_told_the_near_one(
    memory: Recollect, read: str, written: str, meant: str
) -> None:
    """It would find nothing, whatever there is; messages that it finds besides change nothing."""
    await memory.append(ADA, "talk", "Ada likes tea.")
    await memory.put(ADA, "Note", "tea", NOTE)

    with pytest.raises(UsageError, match=f"no type '{written}': did you mean '{meant}'"):
        await READS[read](memory, written)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("state", ["quarantined", "rejected"])
async def test_a_type_of_which_nothing_is_active_is_no_slip(
    memory: Recollect, read: str, state: MemoryState
) -> None:
    """What waits for a review, or was rejected, is of a type that is in use, below as well."""
    await memory.apply(
        ADA, [PutMemory(type="Trips", key="k", value={"place": "Rome"}, state=state)]
    )

    await READS[read](memory, "Trips")


async def test_below_very_many_scopes_no_name_is_refused(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not each of them is read to tell whether a name was misspelt."""
    monkeypatch.setattr(type_names, "SCOPES_READ_MAX", 1)
    await memory.append(ADA, "talk", "Ada likes tea.")
    with pytest.raises(UsageError, match="no type 'Trips'"):
        await READS["recall below"](memory, "Trips")
    await memory.append((*ADA[:1], "bob"), "talk", "Bob likes tea.")

    await READS["recall below"](memory, "Trips")


@pytest.mark.parametrize("read", READS)
async def test_a_read_of_a_type_of_ones_own_is_answered(memory: Recollect, read: str) -> None:
    """Known or not, with memories or without: what somebody writes so is no slip of the pen."""
    own = {**TRIP.as_config(), "name": "Notes"}
    await memory.apply(ADA, [PutMemory(type="Trips", key="k", value={"place": "Rome"})])
    await memory.store.apply(
        ADA, [PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": [own]})]
    )

    for name in ("Trips", "Notes", "Boat", "Note"):
        await READS[read](memory, name)


async def test_a_type_that_nobody_described_takes_any_value(memory: Recollect) -> None:
    kept = await memory.put(ADA, "Boat", "k", {"length_m": 7})

    assert kept.value == {"length_m": 7}


async def test_the_types_of_the_scope_come_first(memory: Recollect) -> None:
    """What a scope describes itself is checked as it says, here and below."""
    own = {**TRIP.as_config(), "name": "Notes"}
    put = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": [own]})
    await memory.store.apply(ADA[:1], [put])

    await memory.put(ADA, "Notes", "bergen", {"place": "Bergen"})

    with pytest.raises(UsageError, match="no Notes"):
        await memory.put(ADA, "Notes", "oslo", {})


@pytest.mark.parametrize(
    ("type_", "key", "value", "told"),
    [
        ("User", "ada", {"home": "Oslo"}, "its key is 'User', not 'ada'"),
        ("Note", "Note", NOTE, "is no key of an entry"),
        ("Trip", "Trip", {"place": "Oslo"}, "is no key of an entry"),
    ],
)
async def test_a_key_under_which_formation_would_not_look_is_refused(
    type_: str, key: str, value: JsonObject, told: str
) -> None:
    """One such memory would stop the formation of the scope, and only its result says so."""
    settings = FormationSettings(types=(USER, NOTE_TYPE, TRIP))
    async with recollect.open(
        "memory:", embedder="none", model="rules", worker=False, formation=settings
    ) as memory:
        with pytest.raises(UsageError, match=told):
            await memory.put(ADA, type_, key, value)
        await memory.append(ADA, "talk", "I live in Oslo.")
        (result,) = await memory.form(ADA)

        assert result.end == "formed"
        assert (await memory.put(ADA, "User", "User", {"home": "Rome"})).version == 2
        assert (await memory.put(ADA, "User", "@ines", {"home": "Turku"})).version == 1


async def test_what_stands_under_another_key_can_be_changed_and_converted(
    memory: Recollect,
) -> None:
    """What an import brought, or a type that was a collection before."""
    (kept,) = await memory.apply(ADA, [PutMemory(type="Trip", key="Trip", value={"place": "Oslo"})])

    assert kept is not None
    changed = await memory.put(ADA, "Trip", "Trip", {"place": "Rome"}, expected=kept.version)
    assert changed.version == kept.version + 1


async def test_a_type_may_have_any_name(memory: Recollect) -> None:
    """What we keep for ourselves is no memory: its names are free."""
    kept = await memory.put(ADA, SCOPE_SETTINGS, SCOPE_SETTINGS, {"types": []})

    assert kept == await memory.get(ADA, SCOPE_SETTINGS, SCOPE_SETTINGS)
    await memory.put(ADA, "Boat", "k", {"length_m": 7})


async def told(memory: Recollect) -> dict[str, list[Evidence]]:
    """Say that Ada likes tea, and return evidence for it."""
    (said,) = await memory.append(ADA, "talk", "Ada likes tea.")
    return {"/content": [Evidence(thread="talk", message=said.id, quote="Ada likes tea")]}


async def test_evidence_names_a_message_that_is_there(memory: Recollect) -> None:
    """Or was, and is cited already; a finding and the tie to a thread name none."""
    evidence = await told(memory)
    await memory.put(ADA, "Note", "tea", NOTE, evidence=evidence)
    await memory.remove(ADA, "talk", [evidence["/content"][0].message])
    again = {"context": "every drink", "content": "Ada likes tea"}

    kept = await memory.put(ADA, "Note", "tea", again, evidence=evidence)

    assert evidence["/content"] == list(kept.evidence["/content"])
    for each in (
        Evidence(thread="talk", message="@1"),
        Evidence(thread="agent", message="f1", kind="agent"),
    ):
        await memory.put(ADA, "Note", each.message, NOTE, evidence={"": [each]})
    wrong = {"": [Evidence(thread="talk", message="m9")]}
    with pytest.raises(UsageError, match=r"Note/rum names the message 'm9' of the thread 'talk'"):
        await memory.put(ADA, "Note", "rum", NOTE, evidence=wrong)
    with pytest.raises(UsageError, match="append it first"):  # another memory cites it
        await memory.put(ADA, "Note", "rum", NOTE, evidence=evidence)


def erase_after_the_check(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Erase the thread of `told` once the evidence of a put was checked."""
    checked = cited_messages._check_cited

    async def then_erased(*given: Any) -> None:
        await checked(*given)
        await memory.erase(ADA, EraseThread(thread="talk"))

    monkeypatch.setattr(cited_messages, "_check_cited", then_erased)


async def test_evidence_that_was_erased_does_not_come_back(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what quotes it: it was read before, and the erase comes before or after the check."""
    evidence = await told(memory)
    erase_after_the_check(memory, monkeypatch)

    for _ in ("after", "before"):
        with pytest.raises(UsageError, match="append it first"):
            await memory.put(ADA, "Note", "tea", NOTE, evidence=evidence)

    assert await memory.get(ADA, "Note", "tea") is None


Keep: TypeAlias = Callable[[Recollect, Sequence[Evidence]], Awaitable[object]]
KEPT: Final[Mapping[str, Keep]] = {
    "an example": lambda memory, cited: Examples(memory, ADA).aadd(
        "What does Ada drink?", "Tea.", evidence=cited
    ),
    "feedback": lambda memory, cited: Examples(memory, ADA).aadd_feedback(
        "What does Ada drink?", "Rum.", score=0.0, correction="Tea.", evidence=cited
    ),
    "a fact": lambda memory, cited: KnowledgeGraph(memory, ADA).aadd(
        "Ada", "likes", "tea", evidence=cited
    ),
    "a triple": lambda memory, cited: EntityGraph(KnowledgeGraph(memory, ADA)).aadd_triple(
        KnowledgeTriple("Ada", "likes", "tea"), evidence=cited
    ),
}


@pytest.mark.parametrize("door", KEPT)
async def test_evidence_that_was_erased_comes_back_by_no_door(memory: Recollect, door: str) -> None:
    """No later erase would find what rests on it."""
    (cited,) = (await told(memory))["/content"]
    await memory.erase(ADA, EraseThread(thread="talk"))

    with pytest.raises(UsageError, match="append it first"):
        await KEPT[door](memory, [cited])

    assert () == (await memory.memories(ADA)).rows
    (again,) = (await told(memory))["/content"]
    await KEPT[door](memory, [again])
    await memory.erase(ADA, EraseThread(thread="talk"))
    assert () == (await memory.memories(ADA)).rows


@pytest.mark.parametrize("door", KEPT)
async def test_a_door_without_the_check_is_caught(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """The mutant: what rests on an erased message is kept."""

    async def unchecked(view: Recollect, _scope: object, _cited: object, change: Any) -> object:
        return await change(view)

    for module in (example_store, fact_methods):
        monkeypatch.setattr(module, "citing", unchecked)
    (cited,) = (await told(memory))["/content"]
    await memory.erase(ADA, EraseThread(thread="talk"))

    await KEPT[door](memory, [cited])

    assert (await memory.memories(ADA)).rows


async def test_a_check_that_an_erase_overtakes_is_caught(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the write does not heed what was erased since the check."""
    evidence = await told(memory)
    erase_after_the_check(memory, monkeypatch)
    monkeypatch.setattr(cited_messages, "decided_unerased", lambda store, _, act: act(store))

    await memory.put(ADA, "Note", "tea", NOTE, evidence=evidence)

    assert await memory.get(ADA, "Note", "tea") is not None
