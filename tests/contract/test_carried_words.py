"""Words that a model or a person carries over into a new value keep their evidence."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

import pytest

from recollect.formation.config import FormationSettings
from recollect.formation.types import NOTE, USER
from recollect.integrations.langgraph.formed_store import revised
from recollect.memory.facade import Recollect
from recollect.ports import ModelRequest, ToolCall
from recollect.records import Evidence, Json, JsonObject, Memory, NewMessage, PutMemory
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing import FrozenClock, SeededIds
from recollect.testing.scripted_model import ScriptedAnswer, ScriptedModel
from tests.harness.store_opener import Opener

ADA: Final = ("users", "ada")
LIFE: Final = replace(USER, name="Life", parameters={"type": "object"})
NURSE: Final = "I work as a nurse in Tromsø"
MOVED: Final = "I moved to Bergen in spring"


class Script:
    """A model that makes the next of its calls whenever it is asked."""

    def __init__(self) -> None:
        self.calls: list[Sequence[ToolCall]] = []

    def __call__(self, request: ModelRequest) -> ScriptedAnswer:
        return self.calls.pop(0) if self.calls else [ToolCall(name="nothing_new", arguments={})]

    def insert(self, type_: str, value: JsonObject, quote: str, number: int = 1) -> None:
        """Make the model insert *value*, citing a message of the window."""
        because: list[Json] = [{"message": number, "quote": quote}]
        arguments = json.dumps({"value": value, "because": because})
        self.calls.append([ToolCall(name=type_, arguments=arguments)])

    def patch(self, *changes: JsonObject) -> None:
        """Make the model change the one memory it was shown."""
        arguments = json.dumps({"id": "m1", "changes": list(changes)})
        self.calls.append([ToolCall(name="patch_memory", arguments=arguments)])


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
async def memory(open_empty: Opener, script: Script) -> AsyncIterator[Recollect]:
    limits = replace(FormationSettings().limits, context_messages=0)
    settings = FormationSettings(types=(LIFE, NOTE), limits=limits)
    store = open_empty(FrozenClock(), SeededIds(1))
    async with Recollect(
        store, embedder="none", model=ScriptedModel(script), formation=settings, worker=False
    ) as memory:
        yield memory


async def say(memory: Recollect, text: str) -> str:
    """Append *text*, form it, and return the message's id."""
    (message,) = await memory.append(ADA, "talk", [NewMessage(role="user", text=text)])
    assert ["formed"] == [each.end for each in await memory.form(ADA)]
    return message.id


async def erase(memory: Recollect, *messages: str) -> None:
    await memory.erase(ADA, EraseMessages(thread="talk", messages=messages))


async def everything(memory: Recollect) -> str:
    """Return all that the memory tells of what it holds, but for messages."""
    records = [each async for each in memory.export(ADA) if each["kind"] != "message"]
    told = [json.dumps(records, ensure_ascii=False)]
    for page in [await memory.memories(ADA)]:
        told += [repr(await memory.history(ADA, each.type, each.key)) for each in page.rows]
    return "".join(told).lower()


CHANGES: Final[dict[str, list[JsonObject]]] = {
    "a text is replaced": [
        {"op": "replace", "path": "/about", "value": "a nurse who moved to Bergen"}
    ],
    "a text is added over it": [{"op": "add", "path": "/about", "value": "moved to Bergen, nurse"}],
    "it moves before": [
        {"op": "move", "from": "/about", "path": "/was"},
        {"op": "replace", "path": "/was", "value": "once nurse, moved to Bergen"},
    ],
    "it is copied before": [
        {"op": "copy", "from": "/about", "path": "/also"},
        {"op": "replace", "path": "/also", "value": "nurse, moved to Bergen"},
        {"op": "remove", "path": "/about"},
    ],
    "another field takes it over": [
        {"op": "remove", "path": "/about"},
        {"op": "add", "path": "/profile", "value": ["moved to Bergen", "a nurse"]},
    ],
    "an object takes its place": [
        {"op": "replace", "path": "/about", "value": {"job": "nurse", "now": "moved to Bergen"}}
    ],
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
async def test_a_rewritten_value_goes_with_the_words_that_it_carried_over(
    memory: Recollect, script: Script, changes: list[JsonObject]
) -> None:
    script.insert("Life", {"about": "works as a nurse in Tromsø"}, NURSE)
    first = await say(memory, NURSE)
    cited: JsonObject = {"message": 1, "quote": MOVED}
    script.patch(*({**each, **cited} for each in changes))
    await say(memory, MOVED)
    before = await everything(memory)

    await erase(memory, first)

    assert "nurse" in before
    assert "nurse" not in await everything(memory)
    found = await memory.recall(ADA, "nurse")
    assert not any("nurse" in repr(each.content) for each in found.entries)


async def test_what_carries_nothing_over_stays(memory: Recollect, script: Script) -> None:
    """A city that takes the place of another does not go with that one's message."""
    script.insert("Life", {"city": "Tromsø", "job": "nurse"}, NURSE)
    first = await say(memory, NURSE)
    change: JsonObject = {"op": "replace", "path": "/city", "value": "Bergen"}
    script.patch({**change, "message": 1, "quote": MOVED})
    await say(memory, MOVED)

    await erase(memory, first)

    left = await memory.get(ADA, "Life", "Life")
    assert left is not None
    assert {"city": "Bergen"} == left.value


async def test_an_entry_that_repeats_a_known_memory_goes_with_that(
    memory: Recollect, script: Script
) -> None:
    """Its words stem from what the model was shown, not from the message that it cites."""
    script.insert("Note", {"context": "work", "content": "is a nurse in Tromsø"}, NURSE)
    first = await say(memory, NURSE)
    script.insert("Note", {"context": "moving", "content": "the nurse moved to Bergen"}, MOVED)
    await say(memory, MOVED)
    script.insert("Note", {"context": "weather", "content": "rain is fine"}, "Rain is fine")
    await say(memory, "Rain is fine")

    await erase(memory, first)

    kept = [each.value["content"] for each in (await memory.memories(ADA, type_="Note")).rows]
    assert ["rain is fine"] == kept


async def test_what_goes_with_erased_words_is_formed_anew_of_the_others(
    memory: Recollect, script: Script
) -> None:
    """The messages that are left wait again, in the transaction of the erase."""
    script.insert("Life", {"about": "works as a nurse in Tromsø"}, NURSE)
    first = await say(memory, NURSE)
    value = "a nurse who moved to Bergen"
    change: JsonObject = {"op": "replace", "path": "/about", "value": value}
    script.patch({**change, "message": 1, "quote": MOVED})
    await say(memory, MOVED)

    await erase(memory, first)
    thread = await memory.thread(ADA, "talk")
    script.insert("Life", {"about": "moved to Bergen"}, MOVED)
    results = await memory.form(ADA)

    assert thread is not None
    assert (2,) == thread.again
    assert ["formed"] == [each.end for each in results]
    anew = await memory.get(ADA, "Life", "Life")
    assert anew is not None
    assert {"about": "moved to Bergen"} == anew.value
    after = await memory.thread(ADA, "talk")
    assert after is not None
    assert not after.pending


async def formed(memory: Recollect, script: Script) -> tuple[Memory, str]:
    script.insert("Life", {"about": "works as a nurse in Tromsø", "pets": ["a cat"]}, NURSE)
    first = await say(memory, f"{NURSE}, with a cat")
    found = await memory.get(ADA, "Life", "Life")
    assert found is not None
    return found, first


@pytest.mark.parametrize("door", ["put", "apply", "langgraph"])
async def test_a_person_edit_keeps_what_it_leaves_on_its_words(
    memory: Recollect, script: Script, door: str
) -> None:
    """Whatever is unchanged, or carried over, goes; the person's own words stay."""
    found, first = await formed(memory, script)
    value: JsonObject = {"about": "a nurse", "pets": ["a cat"], "note": "call on Sundays"}
    put = PutMemory(type="Life", key="Life", value=value, cause="edited by Ada")
    if door == "put":
        await memory.put(ADA, "Life", "Life", value)
    else:
        await memory.apply(ADA, [put if door == "apply" else revised(found, put)])

    await erase(memory, first)

    left = await memory.get(ADA, "Life", "Life")
    assert left is not None
    assert {"note": "call on Sundays"} == left.value
    told = await everything(memory)
    assert "nurse" not in told
    assert "cat" not in told


async def brought_back(memory: Recollect, script: Script) -> str:
    """Edit words away, and back again; then erase what they were said in; return what is told."""
    found, first = await formed(memory, script)
    rest: JsonObject = {"pets": found.value["pets"]}
    for edited in ({"about": "retired"}, {"note": "call on Sundays"}, {"about": "retired nurse"}):
        rest = {**rest, **edited}
        await memory.put(ADA, "Life", "Life", rest)
    await erase(memory, first)
    return await everything(memory)


async def test_words_of_an_earlier_version_that_come_back_go(
    memory: Recollect, script: Script
) -> None:
    """They rest on what the version rests on that had them last."""
    told = await brought_back(memory, script)

    assert "nurse" not in told
    assert "call on sundays" in told


async def test_who_forgets_the_earlier_versions_is_seen(
    memory: Recollect, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.stores.plans.memory_writes._Staged._documents", lambda *_: [])

    assert "nurse" in await brought_back(memory, script)


async def test_a_refused_value_goes_with_its_words(memory: Recollect, script: Script) -> None:
    """Rejecting a field keeps it visibly: as long as there are the words that it rests on."""
    _, first = await formed(memory, script)
    await memory.reject(ADA, "Life", "Life", pointer="/about")
    assert "nurse" in await everything(memory)

    await erase(memory, first)

    assert "nurse" not in await everything(memory)


async def test_the_cause_of_a_past_version_quotes_nothing_that_is_gone(memory: Recollect) -> None:
    """A pointer with a name in it, or a doubt about a word."""
    for name in ("m1", "m2"):
        await memory.append(ADA, "talk", [NewMessage(role="user", text="Hi", id=name)])
    said = {
        f"/{name}": [Evidence(thread="talk", message=message)]
        for name, message in (("a", "m1"), ("b", "m2"))
    }
    put = PutMemory(type="Life", key="Life", value={"a": "nurse", "b": "cat"}, evidence=said)
    doubt = replace(put, cause="nobody said 'nurse'", state="quarantined")
    await memory.apply(ADA, [doubt, replace(put, cause="approved")])

    await erase(memory, "m1")

    assert ["erase", "erase"] == [e.cause for e in await memory.history(ADA, "Life", "Life")]
    assert "nurse" not in await everything(memory)
