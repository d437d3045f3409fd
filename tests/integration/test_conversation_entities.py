"""Entity summaries: shared, batched, caught up, and erased with their evidence."""

import re
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

import recollect
from recollect import ModelError, SyncRecollect, UsageError
from recollect.conversation import (
    ConversationEntityMemory,
    InMemoryEntityStore,
    ScopeEntityStore,
)
from recollect.ports import ModelRequest
from recollect.stores.plans.erase_targets import EraseMessages, EraseThread
from recollect.testing import ScriptedModel
from tests.harness.memory_states import NOT_IN_FORCE, take_out_of_force

ADA = ("users", "ada")
TALK = "talk"
NAMES = re.compile(r"\b[A-Z][a-z]+")


def part(text: str, begin: str, end: str) -> str:
    """Return what stands between the last *begin* and the next *end*."""
    return text.rsplit(begin, 1)[1].split(end, 1)[0].strip()


def rules(request: ModelRequest) -> str:
    """Name the capitalised words; of each, know the sentences that name it."""
    asked = request.turns[-1].text
    if asked.endswith("Names:\n"):
        said = part(asked, "Last line:\nHuman:", "Names:\n")
        return ", ".join(dict.fromkeys(NAMES.findall(said))) or "NONE"
    if asked.endswith("New text:\n"):
        said = part(asked, "Last line:\nHuman:", "New text:\n")
        name = part(asked, "\nName:", "\n")
        return known_of(name, part(asked, f"Known of {name}:", "\nLast line:"), said)
    said = part(asked, "Last lines:\n", "New texts:\n")
    lines = part(asked, "Names and what is known:\n", "Last lines:").splitlines()
    pairs = [line.split("<|>") for line in lines]
    return "\n".join(f"{n.strip()} <|> {known_of(n.strip(), k.strip(), said)}" for n, k in pairs)


def known_of(name: str, known: str, said: str) -> str:
    sentences = re.findall(r"[^.\n]+\.", said)
    new = [each.strip() for each in sentences if name.casefold() in each.casefold()]
    return " ".join(dict.fromkeys([*re.findall(r"[^.]+\.", known), *new])).replace("  ", " ")


@pytest.fixture
def store() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none") as memory:
        yield memory


def told(memory: Any, *lines: str) -> None:
    for line in lines:
        memory.load_memory_variables({"input": line})
        memory.save_context({"input": line}, {"output": "I see."})


def known(store: SyncRecollect) -> dict[str, str]:
    rows = store.memories(ADA, type_="Entity").rows
    return {str(each.value["name"]): str(each.value.get("summary")) for each in rows}


TALE = ["Mira paints.", "Bob sails to Oslo.", "Nothing new.", "Mira met Bob.", "Oslo is cold."]
LEARNT = {
    "Mira": "Mira paints. Mira met Bob.",
    "Bob": "Bob sails to Oslo. Mira met Bob.",
    "Oslo": "Bob sails to Oslo. Oslo is cold.",
    "Nothing": "Nothing new.",
}


@pytest.mark.parametrize("every_turns", [1, 2, 3, 9])
@pytest.mark.parametrize("one_call", [False, True])
def test_after_a_flush_all_ways_know_the_same(
    store: SyncRecollect, *, every_turns: int, one_call: bool
) -> None:
    """Turn by turn or together, name by name or at once: the same names, texts and progress."""
    model = ScriptedModel(rules)
    memory = ConversationEntityMemory(
        store, ADA, TALK, llm=model, every_turns=every_turns, one_call=one_call
    )
    told(memory, *TALE)
    memory.flush()

    assert LEARNT == known(store)
    assert {"until": 10} == store.memories(ADA, type_="Item").rows[0].value
    calls = len(model.requests)
    memory.flush()
    assert calls == len(model.requests)


def test_one_call_and_batches_ask_less(store: SyncRecollect) -> None:
    calls = {}
    ways: list[dict[str, Any]] = [{}, {"one_call": True}, {"one_call": True, "every_turns": 5}]
    for number, options in enumerate(ways):
        model = ScriptedModel(rules)
        told(ConversationEntityMemory(store, ADA, f"t{number}", llm=model, **options), *TALE)
        calls[number] = len(model.requests)

    assert {0: 5 + 7, 1: 5 + 5, 2: 2} == calls


def test_a_batched_load_calls_no_model_and_shows_who_is_mentioned(store: SyncRecollect) -> None:
    model = ScriptedModel(rules)
    memory = ConversationEntityMemory(store, ADA, TALK, llm=model, every_turns=2, k=0)
    told(memory, "Mira paints.", "Bob sails.")
    calls = len(model.requests)

    shown = memory.load_memory_variables({"input": "how is mira? and Bobby?"})

    assert {"history": "", "entities": {"Mira": "Mira paints."}} == shown
    assert calls == len(model.requests)


def test_threads_of_a_scope_share_their_entities(store: SyncRecollect) -> None:
    """What one has learnt another is told, in any case of the name."""
    told(ConversationEntityMemory(store, ADA, "one", llm=ScriptedModel(rules)), "Mira paints.")
    other = ConversationEntityMemory(store, ADA, "two", llm=ScriptedModel(["MIRA"]))

    assert {"MIRA": "Mira paints."} == other.load_memory_variables({"input": "MIRA?"})["entities"]


def test_clearing_a_conversation_leaves_what_its_scope_knows(store: SyncRecollect) -> None:
    memory = ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(rules))
    told(memory, "Mira paints.")

    memory.clear()

    assert ([], []) == (memory.buffer, memory.entity_cache)
    assert {"Mira": "Mira paints."} == known(store)
    memory.entity_store.clear()
    assert {} == known(store)


def test_erasing_the_thread_takes_what_was_learnt_from_it(store: SyncRecollect) -> None:
    """Every version of it; what another thread taught stays."""
    memory = ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(rules))
    told(ConversationEntityMemory(store, ADA, "two", llm=ScriptedModel(rules)), "Bob sails.")
    told(memory, "Mira paints.", "Mira met Ann.")

    store.erase(ADA, EraseThread(thread=TALK))

    assert {"Bob": "Bob sails."} == known(store)
    told(memory, "Eve sings.")
    assert {"Bob": "Bob sails.", "Eve": "Eve sings."} == known(store)


def test_erasing_a_message_takes_what_it_taught_of_a_name(store: SyncRecollect) -> None:
    """One message of a batch; what another one of it said of another name stays."""
    memory = ConversationEntityMemory(
        store, ADA, TALK, llm=ScriptedModel(rules), one_call=True, every_turns=3
    )
    told(memory, "Mira paints.", "Mira met Ann.", "Bob sails.")
    ids = [each.id for each in store.messages(ADA, TALK).rows if each.text == "Mira paints."]
    before = known(store)

    store.erase(ADA, EraseMessages(thread=TALK, messages=ids))

    assert "Mira paints. Mira met Ann." == before["Mira"]
    assert "Bob sails." == known(store)["Bob"]
    assert "paints" not in repr(store.memories(ADA).rows)


@pytest.mark.parametrize("every_turns", [1, 2])
def test_a_name_goes_with_the_message_that_told_it(store: SyncRecollect, every_turns: int) -> None:
    """Where the turn that taught something of it has another word, and the summary has neither."""

    def model(request: ModelRequest) -> str:
        asked = request.turns[-1].text
        if asked.endswith("Names:\n"):
            return "Mira" if "sailing" in asked else "NONE"
        return "Likes sailing."

    memory = ConversationEntityMemory(
        store, ADA, TALK, llm=ScriptedModel(model), every_turns=every_turns
    )
    told(memory, "My sister is Mira.", "She loves sailing.")
    memory.flush()
    assert {"Mira": "Likes sailing."} == known(store)
    ids = [each.id for each in store.messages(ADA, TALK).rows if "Mira" in each.text]

    store.erase(ADA, EraseMessages(thread=TALK, messages=ids))

    assert () == tuple(each for each in store.memories(ADA).rows if each.type == "Entity")
    assert "mira" not in repr(list(store.export(ADA))).lower()


async def test_an_erase_while_the_model_answers_wins() -> None:
    async with recollect.open(embedder="none") as store:

        async def erasing(request: ModelRequest) -> str:
            if request.turns[-1].text.endswith("New text:\n"):
                await store.erase(ADA, EraseThread(thread=TALK))
            return rules(request)

        memory = ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(erasing))
        await memory.aload_memory_variables({"input": "Mira paints."})
        await memory.asave_context({"input": "Mira paints."}, {"output": "I see."})

        assert () == (await store.memories(ADA)).rows


async def test_no_word_is_learnt_of_an_earlier_turn_that_is_erased_meanwhile() -> None:
    """Neither its name, which the load before the save asked for, nor a summary with it."""
    async with recollect.open(embedder="none") as store:
        first, _ = await store.append(ADA, TALK, ["My dog is Rex.", "A fine name."])

        async def erasing(request: ModelRequest) -> str:
            said = request.turns[-1].text
            if "Rex" not in said:
                return "NONE"
            if said.endswith("New text:\n"):
                await store.erase(ADA, EraseMessages(thread=TALK, messages=[first.id]))
                return "Rex is loved."
            return "Rex"

        memory = ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(erasing))
        await memory.aload_memory_variables({"input": "I love him."})
        await memory.asave_context({"input": "I love him."}, {"output": "I see."})

        assert "Rex" not in repr((await store.memories(ADA)).rows)
        assert [] == await memory.waiting(store)


@pytest.mark.parametrize("how", NOT_IN_FORCE)
def test_a_summary_that_is_not_in_force_is_not_told_and_made_anew(
    store: SyncRecollect, how: str
) -> None:
    """What is learnt later is learnt without it."""
    memory = ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(rules))
    told(memory, "Mira paints.", "Mira dances.")
    take_out_of_force(store, ADA, "Entity", how)

    shown = memory.load_memory_variables({"input": "Mira?"})["entities"]
    has_mira = memory.entity_store.exists("Mira") or memory.entity_store.keys()
    told(memory, "Mira sails.")

    assert {"Mira": ""} == shown
    assert not has_mira
    assert "Mira sails." == memory.entity_store.get("Mira")


async def test_two_writers_lose_nothing() -> None:
    """Two threads learn of one name at once: both sentences are kept."""
    async with recollect.open(embedder="none") as store:
        both_asked = anyio.Event()
        asked: list[str] = []

        async def slow(request: ModelRequest) -> str:
            if request.turns[-1].text.endswith("New text:\n"):
                asked.append("")
                if len(asked) >= 2:
                    both_asked.set()
                await both_asked.wait()
            return rules(request)

        async def one(thread: str, line: str) -> None:
            memory = ConversationEntityMemory(store, ADA, thread, llm=ScriptedModel(slow))
            await memory.aload_memory_variables({"input": line})
            await memory.asave_context({"input": line}, {"output": "I see."})

        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                group.start_soon(one, "one", "Mira paints.")
                group.start_soon(one, "two", "Mira sails.")

        (mira,) = (await store.memories(ADA, type_="Entity")).rows
        assert "paints" in str(mira.value["summary"])
        assert "sails" in str(mira.value["summary"])


def test_a_model_that_fails_in_the_middle_is_caught_up(store: SyncRecollect) -> None:
    """Nothing of a turn is half learnt; the next one, or another process, learns it."""
    calls = iter(range(100))

    def failing(request: ModelRequest) -> Any:
        return ModelError("away") if next(calls) == 2 else rules(request)

    with pytest.raises(ModelError, match="away"):
        told(ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(failing)), TALE[1])
    half = known(store)
    again = ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(rules))
    told(again, "Mira paints.")

    assert {} == half
    assert {
        "Bob": "Bob sails to Oslo.",
        "Oslo": "Bob sails to Oslo.",
        "Mira": "Mira paints.",
    } == known(store)
    assert 4 == len(again.buffer)


@pytest.mark.parametrize(
    ("answer", "plain", "normalised"),
    [
        ("NONE", [], []),
        (" NONE\n", [], []),
        ("none.", ["none."], []),
        ("", [""], []),
        ("Sam, sam, 'SAM'.", ["Sam", "sam", "'SAM'."], ["Sam"]),
        ("张三、李四，无", ["张三、李四，无"], ["张三", "李四"]),
    ],
)
def test_names_are_read_as_the_original_or_normalised(
    answer: str, plain: list[str], normalised: list[str]
) -> None:
    found = []
    for option in (False, True):
        memory = ConversationEntityMemory(llm=ScriptedModel([answer]), normalised=option)
        memory.load_memory_variables({"input": "Hi"})
        found.append(memory.entity_cache)

    assert [plain, normalised] == found


def test_nonsense_for_names_is_survived_in_a_scope(store: SyncRecollect) -> None:
    """Also names that a key cannot hold, and forty of them."""
    answers = iter(["", "x" * 5_000, ", ,", ", ".join(f"N{n}" for n in range(40))])
    model = ScriptedModel(lambda r: next(answers) if "Names:" in r.turns[-1].text[-8:] else "fact")
    memory = ConversationEntityMemory(store, ADA, TALK, llm=model)

    told(memory, "one", "two", "three", "four")

    assert 41 == len(known(store))
    assert 4 + 1 + 1 + 3 + 40 == len(model.requests)


def test_an_empty_answer_does_not_wipe_what_is_known(store: SyncRecollect) -> None:
    told(ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(rules)), "Mira paints.")
    told(ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(["Mira", " "])), "Mira!")

    assert {"Mira": "Mira paints."} == known(store)


@pytest.mark.parametrize("nonsense", ["", "NONE", "{}", "Bob <|> who?", "Mira", "<|>", "Mira <|> "])
def test_nonsense_for_all_names_at_once_changes_nothing(
    store: SyncRecollect, nonsense: str
) -> None:
    told(ConversationEntityMemory(store, ADA, TALK, llm=ScriptedModel(rules)), "Mira paints.")
    model = ScriptedModel(["Mira", nonsense])
    told(ConversationEntityMemory(store, ADA, TALK, llm=model, one_call=True), "Mira!")

    assert {"Mira": "Mira paints."} == known(store)


def test_a_store_of_somebody_else_is_used(store: SyncRecollect) -> None:
    """One that can only get, set and clear; *normalised* keeps its spelling."""
    theirs = InMemoryEntityStore()
    memory = ConversationEntityMemory(
        store, ADA, TALK, llm=ScriptedModel(rules), entity_store=theirs, normalised=True
    )
    told(memory, "Mira paints.")
    memory._reader.model.__dict__["model"] = ScriptedModel(["mira", "Mira paints boats."])
    told(memory, "mira paints boats.")

    assert {"Mira": "Mira paints boats."} == theirs.store
    memory.clear()
    assert {} == theirs.store


def test_a_scope_store_has_the_methods_of_the_original(store: SyncRecollect) -> None:
    entities = ScopeEntityStore(store, ADA)
    entities.set("Ada", "She paints.")
    store.put(ADA, "Entity", "bob", {"name": "Bob", "kind": "person"})
    entities.set(" BOB ", "He sails.")

    assert ["She paints.", "He sails.", None, "x"] == [
        entities.get("ada"),
        entities.get("Bob"),
        entities.get("Eve"),
        entities.get("Eve", "x"),
    ]
    assert [True, False] == [entities.exists("ADA"), entities.exists("Eve")]
    bob = store.get(ADA, "Entity", "bob")
    assert bob is not None
    assert {"name": "Bob", "kind": "person", "summary": "He sails."} == bob.value
    entities.set("Ada", None)
    entities.delete("nobody")
    assert ["Bob"] == entities.keys()
    entities.clear()
    assert [] == entities.keys()


def test_what_cannot_work_is_refused_when_it_is_made(store: SyncRecollect) -> None:
    with (
        recollect.open_sync(embedder="none") as other,
        pytest.raises(UsageError, match="different"),
    ):
        ConversationEntityMemory(
            store, ADA, TALK, llm=None, entity_store=ScopeEntityStore(other, ADA)
        )
    with pytest.raises(UsageError, match="does not fill: mood"):
        ConversationEntityMemory(llm=None, entity_extraction_prompt="{mood}")
    with pytest.raises(UsageError, match="at least 1 turn"):
        ConversationEntityMemory(llm=None, every_turns=0)


@pytest.mark.parametrize(
    ("inputs", "outputs", "complaint"),
    [
        ({}, {"output": "a"}, "One input key expected"),
        ({"a": "x", "b": "y"}, {"output": "a"}, "One input key expected"),
        ({"input": 7}, {"output": "a"}, "not text"),
        ({"input": "x"}, {"output": {"a": 1}}, "not text"),
        ({"input": "x"}, {}, "no output key"),
        ({"input": "x"}, {"a": "1", "b": "2"}, "multiple output keys"),
    ],
)
def test_a_turn_that_is_none_keeps_nothing(
    store: SyncRecollect, inputs: Any, outputs: Any, complaint: str
) -> None:
    model = ScriptedModel(rules)
    memory = ConversationEntityMemory(store, ADA, TALK, llm=model)

    with pytest.raises(ValueError, match=complaint):
        memory.save_context(inputs, outputs)

    assert ([], []) == (memory.buffer, model.requests)
