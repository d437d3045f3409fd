"""The memory tools of an agent, on every backend: grounded, kept once, scoped, and confirmed."""

import re
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from recollect import NewMessage, UsageError
from recollect.agents.tools import MemoryTools
from recollect.agents.tools.call_attempt import MESSAGES_SEEN
from recollect.formation.config import FormationSettings
from recollect.formation.types import load_types
from recollect.formation.types.builtin import FACT, NOTE, USER
from recollect.formation.types.memory_type import TYPES_MAX
from recollect.memory.facade import Recollect
from recollect.ports import ToolCall
from recollect.recall.query import Where
from recollect.records import Json, JsonObject
from recollect.side_records import FORGOTTEN
from recollect.stores.plans.erase_targets import EraseMemory, EraseReceipt, EraseScope, EraseThread
from recollect.testing import FrozenClock, ScriptedModel, SeededIds
from tests.harness.store_opener import Opener

ADA = ("users", "ada")
SAM = ("users", "sam")
TEA = {"context": "drinks", "content": "Ada drinks green tea"}
SAID = "I'm Ada, I drink green tea"


@pytest.fixture
def model() -> ScriptedModel:
    """Form in the background what the agent keeps by its tool."""
    value = {"value": TEA, "because": [f"1: {SAID}"]}
    return ScriptedModel(lambda _request: ToolCall(name="Note", arguments=value))  # type: ignore[arg-type]


@pytest.fixture
async def memory(
    open_empty: Opener, clock: FrozenClock, model: ScriptedModel
) -> AsyncIterator[Recollect]:
    store = open_empty(clock, SeededIds(1))
    settings = FormationSettings(types=(USER, NOTE))
    async with Recollect(
        store, embedder="none", worker=False, model=model, formation=settings
    ) as memory:
        await said(memory, SAID)
        yield memory


async def said(memory: Recollect, text: str, role: str = "user") -> None:
    await memory.append(ADA, "talk", [NewMessage(role=role, text=text)])  # type: ignore[arg-type]


@pytest.fixture
def tools(memory: Recollect) -> MemoryTools:
    return MemoryTools(memory, ADA, "talk")


async def saved(tools: MemoryTools, value: JsonObject = TEA, *quotes: str) -> JsonObject:
    arguments: JsonObject = {
        "memory": {"type": "Note", "value": value},
        "quotes": list(quotes or (SAID,)),
    }
    return await tools.acall("save_memory", arguments)


async def notes(memory: Recollect) -> list[JsonObject]:
    page = await memory.memories(ADA, type_="Note")
    return [each.value for each in page.rows if each.state == "active"]


async def test_what_is_saved_is_found_and_rests_on_what_was_said(
    tools: MemoryTools, memory: Recollect
) -> None:
    receipt = await saved(tools)
    found = await tools.acall("search_memory", {"query": "green tea"})

    assert ("stored", "") == (receipt["status"], receipt["reason"])
    only = found["memories"][0]  # type: ignore[index]
    assert 1 == len(found["memories"])  # type: ignore[arg-type]
    assert (receipt["id"], TEA) == (only["id"], only["value"])  # type: ignore[index, call-overload]
    kept = await memory.get(ADA, "Note", str(receipt["id"]).partition("/")[2])
    assert kept is not None
    (evidence,) = kept.evidence[""]
    assert ("talk", SAID, "user") == (evidence.thread, evidence.quote, kept.trust)


async def test_the_same_is_kept_once_by_the_tool_twice(
    tools: MemoryTools, memory: Recollect
) -> None:
    first = await saved(tools)
    second = await saved(tools, {**TEA, "content": "Ada drinks GREEN tea!"})

    assert ("unchanged", first["id"]) == (second["status"], second["id"])
    assert [TEA] == await notes(memory)


async def test_the_same_is_kept_once_by_agents_at_the_same_time(
    tools: MemoryTools, memory: Recollect
) -> None:
    receipts: list[JsonObject] = []

    async def save() -> None:
        receipts.append(await saved(tools))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(save)

    assert ["stored", *["unchanged"] * 3] == sorted(str(each["status"]) for each in receipts)
    assert [TEA] == await notes(memory)


@pytest.mark.parametrize("is_audited", [False, True])
async def test_many_calls_at_once_on_one_document_all_count(
    memory: Recollect, *, is_audited: bool
) -> None:
    """A model calls for each thing that it heard, and an agent runs all of its calls at once."""
    hobbies = [f"hobby {letter}" for letter in "abcdefghij"]
    said_of_all = f"I like {', '.join(hobbies)}"
    await said(memory, said_of_all)
    statuses: list[str] = []

    async def save(hobby: str) -> None:
        view = memory.acting("agent") if is_audited else memory
        tools = MemoryTools(view, ADA, "talk")
        told = await tools.asave_memory("User", {"interests": [hobby]}, [said_of_all])
        statuses.append(str(told["status"]))

    async with anyio.create_task_group() as group:
        for hobby in hobbies:
            group.start_soon(save, hobby)

    profile = await memory.get(ADA, "User", "User")
    assert ["changed"] * 9 + ["stored"] == sorted(statuses)
    assert profile is not None
    assert hobbies == sorted(map(str, profile.value["interests"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("first", ["tool", "background"])
async def test_the_same_is_kept_once_by_tool_and_background(
    tools: MemoryTools, memory: Recollect, model: ScriptedModel, first: str
) -> None:
    """Whoever comes first: the other finds that it is remembered already."""
    if first == "tool":
        assert "stored" == (await saved(tools))["status"]
    await memory.form(ADA)
    if first == "background":
        assert "unchanged" == (await saved(tools))["status"]

    assert model.requests
    assert [TEA] == await notes(memory)


@pytest.mark.parametrize(
    ("value", "quotes", "said_of_it"),
    [
        (TEA, ["I drink black tea"], "nobody said 'I drink black tea'"),
        (TEA, [], "quote"),
        (TEA, [SAID, " "], "blank"),
        ({**TEA, "content": "Ada drinks 40 cups of green tea"}, [SAID], "40"),
        ({"context": "drinks"}, [SAID], "content"),
        ({**TEA, "mood": "good"}, [SAID], "mood"),
        ({**TEA, "content": " "}, [SAID], "blank"),
    ],
)
async def test_what_does_not_rest_on_the_talk_is_refused(
    tools: MemoryTools,
    memory: Recollect,
    value: JsonObject,
    quotes: list[str],
    said_of_it: str,
) -> None:
    arguments = {"memory": {"type": "Note", "value": value}, "quotes": quotes}

    receipt = await tools.acall("save_memory", arguments)  # type: ignore[arg-type]

    assert "refused" == receipt["status"]
    assert said_of_it in str(receipt["reason"])
    assert [] == await notes(memory)


async def test_what_only_the_assistant_said_causes_no_memory(
    tools: MemoryTools, memory: Recollect
) -> None:
    await said(memory, "You live in Oslo", "assistant")

    receipt = await saved(tools, {**TEA, "content": "You live in Oslo"}, "You live in Oslo")

    assert "refused" == receipt["status"]
    assert [] == await notes(memory)


async def test_a_rejected_value_stays_rejected(tools: MemoryTools, memory: Recollect) -> None:
    receipt = await saved(tools)
    await memory.reject(ADA, "Note", str(receipt["id"]).partition("/")[2])

    again = await saved(tools)

    assert "refused" == again["status"]
    assert "rejected" in str(again["reason"])
    assert [] == await notes(memory)


async def test_what_is_left_out_of_a_document_is_told(
    tools: MemoryTools, memory: Recollect
) -> None:
    """Else the agent would say that it has noted what it has not."""
    await tools.asave_memory("User", {"interests": ["green tea"]}, [SAID])
    await memory.reject(ADA, "User", "User", pointer="/interests/0")

    both = {"user_name": "Ada", "interests": ["green tea"]}
    told = await tools.asave_memory("User", both, [SAID])

    assert ("changed", 1) == (told["status"], len(told["refused"]))  # type: ignore[arg-type]
    assert "/interests" in str(told["refused"])


async def test_a_document_is_made_once_and_then_revised(
    tools: MemoryTools, memory: Recollect
) -> None:
    await said(memory, "I live in Oslo")
    first = await tools.asave_memory("User", {"user_name": "Ada"}, [SAID])
    second = await tools.asave_memory("User", {"home": "Oslo"}, ["I live in Oslo"])

    document = await memory.get(ADA, "User", "User")
    assert ("stored", "changed") == (first["status"], second["status"])
    assert document is not None
    assert {"user_name": "Ada", "home": "Oslo"} == document.value


async def test_an_update_is_a_patch_that_rests_on_the_talk(
    tools: MemoryTools, memory: Recollect
) -> None:
    receipt = await saved(tools)
    await said(memory, "Now I drink black tea, I'm done with green")
    change = {"op": "replace", "path": "/content", "value": "Ada drinks black tea"}
    quotes = ["Now I drink black tea"]

    done = await tools.acall(
        "update_memory", {"id": receipt["id"], "changes": [change], "quotes": quotes}
    )
    wrong = {**change, "value": "Ada drinks black tea since 1999"}
    refused = await tools.acall(
        "update_memory", {"id": receipt["id"], "changes": [wrong], "quotes": quotes}
    )

    assert "changed" == done["status"]
    assert "refused" == refused["status"]
    assert "1999" in str(refused["reason"])
    assert [{**TEA, "content": "Ada drinks black tea"}] == await notes(memory)


async def test_a_place_in_a_list_is_that_of_the_version_seen(
    tools: MemoryTools, memory: Recollect
) -> None:
    """An agent that drops two things by their places does not drop a third one."""
    await said(memory, "I like tea, coffee and rowing")
    likes = {"interests": ["tea", "coffee", "rowing"]}
    await tools.asave_memory("User", likes, ["I like tea, coffee and rowing"])
    done = "No more tea and coffee"
    await said(memory, done)
    seen = (await tools.asearch_memory("tea", "User"))["memories"][0]["version"]  # type: ignore[index, call-overload]
    told: list[JsonObject] = []

    async def drop(place: int, version: JsonObject) -> None:
        change = {"op": "remove", "path": f"/interests/{place}"}
        given: JsonObject = {"id": "User/User", "changes": [change], "quotes": [done], **version}
        told.append(await tools.acall("update_memory", given))

    await drop(0, {})
    async with anyio.create_task_group() as group:
        for place in (0, 1):
            group.start_soon(drop, place, {"version": seen})

    profile = await memory.get(ADA, "User", "User")
    assert "refused" == told[0]["status"]
    assert ["changed", "refused"] == sorted(str(each["status"]) for each in told[1:])
    assert profile is not None
    assert 2 == len(profile.value["interests"])  # type: ignore[arg-type]
    assert "rowing" in profile.value["interests"]  # type: ignore[operator]


async def test_a_new_single_value_ends_the_old_one(memory: Recollect, clock: FrozenClock) -> None:
    tools = MemoryTools(memory, ADA, "talk", types=[FACT])
    await said(memory, "I live in Oslo")
    oslo = {"subject": "Ada", "predicate": "lives in", "object": "Oslo"}
    first = await tools.asave_memory("Fact", oslo, ["I live in Oslo", "I'm Ada"])
    clock.advance(3_600)
    await said(memory, "I live in Bergen")

    second = await tools.asave_memory(
        "Fact", {**oslo, "object": "Bergen"}, ["I live in Bergen", "I'm Ada"]
    )

    assert ("stored", [first["id"]]) == (second["status"], second.get("ended"))


async def test_forgetting_needs_a_token_and_a_word_of_the_user(
    tools: MemoryTools, memory: Recollect
) -> None:
    """The token alone, used by the agent at once, forgets nothing."""
    receipt = await saved(tools)
    asked = await tools.acall("erase_memory", {"id": receipt["id"]})
    hasty = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})
    assert [TEA] == await notes(memory)
    await said(memory, "Shall I forget it?", "assistant")
    again = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})
    assert [TEA] == await notes(memory)
    await said(memory, "Yes, forget it")

    done = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})

    statuses = [each["status"] for each in (asked, hasty, again, done)]
    assert ["confirm", "refused", "refused", "erased"] == statuses
    assert [] == await notes(memory)


async def forgotten(tools: MemoryTools, memory: Recollect) -> None:
    """Save what was said, and forget it again as the user wants."""
    receipt = await saved(tools)
    asked = await tools.acall("erase_memory", {"id": receipt["id"]})
    await said(memory, "Yes, forget it")
    done = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})
    assert "erased" == done["status"]


async def test_what_was_forgotten_is_not_formed_from_the_same_words(
    tools: MemoryTools, memory: Recollect, model: ScriptedModel
) -> None:
    """They still wait to be formed in the background, and an agent can still quote them."""
    await forgotten(tools, memory)

    await memory.form(ADA)
    again = await saved(tools)

    assert model.requests
    assert ("refused", "this value was erased") == (again["status"], again["reason"])
    assert [] == await notes(memory)


async def test_what_is_changed_meanwhile_is_not_forgotten(
    tools: MemoryTools, memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user agreed to forget what was there: not what somebody has put in its place since."""
    receipt = await saved(tools)
    key = str(receipt["id"]).partition("/")[2]
    asked = await tools.acall("erase_memory", {"id": receipt["id"]})
    await said(memory, "Yes, forget it")
    erase = Recollect.erase

    async def after_a_change(self: Recollect, *given: Any) -> EraseReceipt:
        await memory.put(ADA, "Note", key, {**TEA, "content": "Ada drinks black tea"})
        return await erase(self, *given)

    monkeypatch.setattr(Recollect, "erase", after_a_change)
    late = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})

    assert "refused" == late["status"]
    assert ["Ada drinks black tea"] == [each["content"] for each in await notes(memory)]
    assert () == (await memory.store.side_records(ADA, FORGOTTEN)).rows


@pytest.mark.parametrize("erased", ["scope", "thread"])
async def test_what_is_erased_while_it_is_saved_is_not_kept(
    tools: MemoryTools, memory: Recollect, monkeypatch: pytest.MonkeyPatch, erased: str
) -> None:
    """Else the words that a memory quotes would outlast them."""
    target = EraseScope() if erased == "scope" else EraseThread(thread="talk")
    apply = Recollect.apply

    async def after_an_erase(self: Recollect, *given: Any, **options: Any) -> Any:
        monkeypatch.undo()
        await memory.erase(ADA, target)
        return await apply(self, *given, **options)

    monkeypatch.setattr(Recollect, "apply", after_an_erase)
    late = await saved(tools)

    assert "refused" == late["status"]
    assert [] == await notes(memory)
    assert () == (await memory.memories(ADA, type_="Note")).rows


async def test_what_was_forgotten_may_be_said_again(
    tools: MemoryTools, memory: Recollect, clock: FrozenClock
) -> None:
    """Whoever says it later is heard: the newest words count."""
    await forgotten(tools, memory)
    clock.advance(60)
    later = "Do remember that I drink green tea"
    await said(memory, later)

    assert "stored" == (await saved(tools, TEA, later))["status"]
    assert [TEA] == await notes(memory)


async def test_a_store_that_forgets_what_it_forgot_is_noticed(
    tools: MemoryTools, memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what is kept of it the background would bring it back."""

    async def nothing(*_: object) -> None:
        """Note nothing."""

    monkeypatch.setattr("recollect.lifecycle.forgotten_memories.note_forgotten", nothing)
    await forgotten(tools, memory)

    await memory.form(ADA)

    assert [TEA] == await notes(memory)


async def test_nothing_that_was_said_is_kept_of_what_was_forgotten(
    tools: MemoryTools, memory: Recollect
) -> None:
    """A digest stands for it, in no form that recall, a search or an export shows."""
    await forgotten(tools, memory)
    await memory.put(ADA, "Item", "tea", {"content": "green"})
    await memory.erase(ADA, EraseMemory(type="Item", key="tea"))

    (kept,) = (await memory.store.side_records(ADA, FORGOTTEN)).rows
    assert {} == kept.value
    assert "tea" not in kept.key
    assert () == (await memory.memories(ADA, type_=FORGOTTEN)).rows
    where = Where(types=(FORGOTTEN,), messages=False)
    assert () == (await memory.recall(ADA, "green tea", where=where)).entries


@pytest.mark.parametrize("token", ["0", "1.00", "x", "²." + "0" * 32, "0." + "0" * 32])
async def test_a_made_up_token_forgets_nothing(
    tools: MemoryTools, memory: Recollect, token: str
) -> None:
    receipt = await saved(tools)
    await said(memory, "Yes")

    refused = await tools.acall("erase_memory", {"id": receipt["id"], "token": token})

    assert "refused" == refused["status"]
    assert [TEA] == await notes(memory)


async def test_a_token_is_for_one_memory_in_one_version(
    tools: MemoryTools, memory: Recollect
) -> None:
    receipt = await saved(tools)
    other = await saved(tools, {"context": "name", "content": "Ada is her name"}, "I'm Ada")
    asked = await tools.acall("erase_memory", {"id": receipt["id"]})
    await said(memory, "Yes, and I drink green tea daily")
    key = str(receipt["id"]).partition("/")[2]

    elsewhere = await tools.acall("erase_memory", {"id": other["id"], "token": asked["token"]})
    await memory.put(ADA, "Note", key, {**TEA, "content": "Ada drinks green tea daily"})
    changed = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})

    assert ["refused", "refused"] == [elsewhere["status"], changed["status"]]
    assert 2 == len(await notes(memory))


async def test_what_the_user_said_before_agrees_to_nothing(
    tools: MemoryTools, memory: Recollect
) -> None:
    """Not even where so much came after it that it is seen again when some of that is removed."""
    receipt = await saved(tools)
    for at in range(MESSAGES_SEEN):
        await said(memory, f"result {at}", "tool")
    asked = await tools.acall("erase_memory", {"id": receipt["id"]})
    newest = await memory.last_messages(ADA, "talk", limit=MESSAGES_SEEN)
    await memory.remove(ADA, "talk", [each.id for each in newest])

    again = await tools.acall("erase_memory", {"id": receipt["id"], "token": asked["token"]})

    assert "refused" == again["status"]
    assert [TEA] == await notes(memory)


@pytest.mark.parametrize("content", ["Ada drinks black tea", TEA["content"]])
async def test_a_used_token_is_not_for_what_is_kept_anew(
    tools: MemoryTools, memory: Recollect, clock: FrozenClock, content: str
) -> None:
    """What was forgotten and is kept again, under the same key, is another memory."""
    at = (ADA, "Note", "n")
    await memory.put(*at, TEA)
    asked = await tools.acall("erase_memory", {"id": "Note/n"})
    await said(memory, "Yes, forget it")
    again = {"id": "Note/n", "token": asked["token"]}
    assert "erased" == (await tools.acall("erase_memory", again))["status"]
    clock.advance(1)
    await memory.put(*at, {**TEA, "content": content})

    assert "refused" == (await tools.acall("erase_memory", again))["status"]
    assert await memory.get(*at) is not None


async def test_no_argument_reaches_another_scope_or_type(
    tools: MemoryTools, memory: Recollect
) -> None:
    """What others have is neither found, changed nor forgotten, whatever the arguments name."""
    await memory.put(SAM, "Note", "n", {"context": "drinks", "content": "Sam drinks tea"})
    await memory.put(ADA, "Item", "i", {"content": "secret tea"})
    change = {"op": "replace", "path": "/content", "value": "Ada"}

    found = await tools.acall("search_memory", {"query": "tea"})
    results = [
        await tools.acall("search_memory", {"query": "tea", "scope": list(SAM)}),
        await tools.acall("search_memory", {"query": "tea", "type": "Item"}),
        await tools.acall("erase_memory", {"id": "Note/n"}),
        await tools.acall("erase_memory", {"id": "Item/i"}),
        await tools.acall("erase_memory", {"id": "users/sam/Note/n"}),
        await tools.acall(
            "update_memory", {"id": "Item/i", "changes": [change], "quotes": ["I'm Ada"]}
        ),
        await tools.acall("drop_memory", {}),
        await tools.acall("search_memory", {}),
    ]

    assert [] == found["memories"]
    assert {"refused"} == {each["status"] for each in results}


async def test_the_schemas_are_those_of_the_types_and_name_no_scope(memory: Recollect) -> None:
    tools = MemoryTools(memory, ADA, "talk", types=[NOTE])

    save, search, update, forget = tools.schemas

    names = ["save_memory", "search_memory", "update_memory", "erase_memory"]
    assert names == [each.name for each in (save, search, update, forget)]
    assert NOTE.parameters == save.parameters["properties"]["memory"]["properties"]["value"]  # type: ignore[index, call-overload]
    assert "scope" not in str(tools.schemas)
    with pytest.raises(UsageError, match="types is empty"):
        MemoryTools(memory, ADA, "talk", types=[])


@pytest.mark.parametrize("shape", ["many", "deep"])
async def test_any_types_that_can_be_loaded_can_be_saved(memory: Recollect, shape: str) -> None:
    """Together their schemas may be larger, and deeper, than one schema may be."""
    schema: JsonObject = {"type": "string", "description": "x" * 3_000 if shape == "many" else ""}
    value: Json = "green tea"
    for _ in range(11 if shape == "deep" else 1):
        schema = {"type": "object", "properties": {"of": schema}, "required": ["of"]}
        value = {"of": value}
    mode = {"update_mode": "insert", "description": "What is drunk", "parameters": schema}
    count = TYPES_MAX if shape == "many" else 2
    types = load_types([{"name": f"Drink{at}", **mode} for at in range(count)])
    tools = MemoryTools(memory, ADA, "talk", types=types)
    wrong: JsonObject = {"type": "Drink1", "value": {"of": 5}}

    kept: JsonObject = {"type": "Drink1", "value": value}
    told = await tools.acall("save_memory", {"memory": kept, "quotes": [SAID]})
    refused = await tools.acall("save_memory", {"memory": wrong, "quotes": [SAID]})

    assert ("stored", "refused") == (told["status"], refused["status"])
    assert "/of: 5" in str(refused["reason"])


@pytest.mark.parametrize(
    ("name", "arguments", "said_of_it"),
    [
        ("search_memory", {"query": "tea" * 10_000}, "20,?000"),
        ("search_memory", {"query": "tea", "limit": 2.5}, "2.5"),
        ("search_memory", {"query": "tea", "limit": 51}, "50"),
        ("erase_memory", {"id": "Note/" + "k" * 257}, "256"),
        ("erase_memory", {"id": "Note/" + "k" * 3_000}, "513"),
        (
            "update_memory",
            {"id": "Note/" + "k" * 257, "changes": [{"op": "remove", "path": "/a"}]},
            "256",
        ),
        ("save_memory", {"memory": {"type": "Note", "value": TEA}, "quotes": [SAID] * 51}, "50"),
        ("save_memory", {"memory": {"type": "Note", "value": TEA}, "quotes": [SAID, ""]}, "/1"),
    ],
)
async def test_what_goes_beyond_a_limit_is_told_and_ends_no_run(
    tools: MemoryTools, name: str, arguments: dict[str, object], said_of_it: str
) -> None:
    """Whatever an agent writes, the answer says what is wrong with it; nothing is raised."""
    given = {"quotes": [SAID], **arguments} if name == "update_memory" else arguments

    told = await tools.acall(name, given)  # type: ignore[arg-type]

    assert "refused" == told["status"]
    assert re.search(said_of_it, str(told["reason"])), told["reason"]


async def test_the_functions_tell_it_as_well(tools: MemoryTools) -> None:
    """Called by a program in the agent's name, without the schema, they refuse the same."""
    told = [
        await tools.asearch_memory("tea" * 10_000),
        await tools.asearch_memory("tea", limit=2.5),  # type: ignore[arg-type]
        await tools.aerase_memory("Note/" + "k" * 257),
        await tools.aupdate_memory("Note/" + "k" * 257, [], [SAID]),
        await tools.asave_memory("Note", {**TEA, "content": "tea"}, "drink"),
        await tools.asave_memory("Note", TEA, None),  # type: ignore[arg-type]
    ]

    assert ["refused"] * 6 == [each["status"] for each in told]


async def test_arguments_of_another_kind_are_told_as_well(tools: MemoryTools) -> None:
    """A model may write a list where a name belongs."""
    told = [
        await tools.asave_memory(["Note"], TEA, [SAID]),  # type: ignore[arg-type]
        await tools.asearch_memory(None),  # type: ignore[arg-type]
        await tools.asearch_memory("tea", 5),  # type: ignore[arg-type]
        await tools.aupdate_memory(5, [], [SAID]),  # type: ignore[arg-type]
        await tools.aerase_memory(None),  # type: ignore[arg-type]
    ]

    assert ["refused"] * 5 == [each["status"] for each in told]
    assert all("must be text" in str(each["reason"]) for each in told)


async def test_a_limit_may_be_written_as_a_whole_float(tools: MemoryTools) -> None:
    """JSON Schema's integers are whole numbers, however they are written: 2.0 is 2."""
    await saved(tools)

    found = await tools.acall("search_memory", {"query": "green tea", "limit": 2.0})

    assert 1 == len(found["memories"])  # type: ignore[arg-type]
