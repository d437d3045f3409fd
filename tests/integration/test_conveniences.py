"""Short forms of calls: plain messages, a text as scope, `remember`, and `open` without a block."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

import recollect
from recollect import NewMessage, PutMemory, Recollect, StoreClosedError, UsageError
from recollect.messages.new_message import new_message, new_messages
from recollect.stores.locator import open_store
from recollect.testing import NOON, CountingIds, FrozenClock

ADA = ("ada",)
CALL = {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"a": 1}'}}
MAY = datetime(2024, 5, 6, 12, tzinfo=UTC)


@pytest.fixture(params=["memory:", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return where a store is: in process, and in a file."""
    return str(tmp_path / "memory.db") if request.param == "sqlite" else "memory:"


@pytest.fixture
async def memory(url: str) -> AsyncIterator[Recollect]:
    async with recollect.open(url, embedder="none", worker=False) as memory:
        yield memory


async def test_plain_messages_are_kept(memory: Recollect) -> None:
    """A text is the user's; a dict has role and content; one alone needs no list."""
    await memory.append(ADA, "talk", "I live in Oslo.")
    await memory.append(ADA, "talk", {"role": "assistant", "content": "Nice!"})
    kept = await memory.append(
        ADA, "talk", ["And I row.", NewMessage(role="system", text="Be brief.")]
    )

    page = await memory.messages(ADA, "talk")
    assert [(each.role, each.text) for each in page.rows] == [
        ("user", "I live in Oslo."),
        ("assistant", "Nice!"),
        ("user", "And I row."),
        ("system", "Be brief."),
    ]
    changed = {"role": "user", "content": "And I ski.", "id": kept[0].id}
    assert (await memory.replace(ADA, "talk", changed)).text == "And I ski."


@pytest.mark.parametrize("words", ["content", "text"])
@pytest.mark.parametrize("name", ["time", "timestamp", "created_at"])
@pytest.mark.parametrize("given", [MAY, "2024-05-06T14:00:00+02:00", 1714996800, 1714996800.0])
def test_a_dict_tells_its_time(name: str, given: object, words: str) -> None:
    """Under the names of chat programs; it is no unknown key, and the message is not of today."""
    record = new_message({"role": "user", words: "I live in Oslo.", name: given})

    assert (MAY, {}) == (record.time, record.metadata)


def test_other_keys_stay_with_a_message() -> None:
    """OpenAI's messages have many, and the first name of a time is the time."""
    given = {"role": "user", "content": "Hi", "time": MAY, "created_at": 7, "object": "message"}
    record = new_message(given)
    beside: Any = record.metadata["message"]

    assert MAY == record.time
    assert {"created_at": 7, "object": "message"} == beside["additional_kwargs"]
    assert new_message({"role": "user", "content": "Hi", "timestamp": None}).time is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("yesterday", "is 'yesterday', which is no time: give a datetime"),
        ("2024-05-06", "has no zone: write '2024-05-06T00:00:00Z'"),
        (1714996800000, "divide milliseconds by 1000"),
        (float("nan"), "divide milliseconds"),
        (True, "is no time"),
        ([2024], "is no time"),
    ],
)
def test_what_is_no_time_of_a_message_is_refused(given: object, said: str) -> None:
    """It would be dated today."""
    with pytest.raises(UsageError, match=f"a message's created_at .*{said}"):
        new_message({"role": "user", "content": "Hi", "created_at": given})


async def test_a_text_is_a_scope_of_one_segment(memory: Recollect) -> None:
    """Also with a slash: whoever may choose an id reaches nobody else's memory by it."""
    await memory.append("ada", "talk", "I live in Oslo.")
    await memory.append("ada/eve", "talk", "I live in Bergen.")

    assert (await memory.scopes()).rows == (("ada",), ("ada/eve",))
    assert [each.text for each in (await memory.recall("ada", "live")).entries] == [
        "I live in Oslo."
    ]
    assert [each async for each in memory.export("ada", below=True)] == [
        each async for each in memory.export(ADA)
    ]
    assert (await memory.erase("ada", recollect.EraseScope())).messages == 1
    assert (await memory.scopes()).rows == (("ada/eve",),)


async def test_a_sentence_is_remembered_once(memory: Recollect) -> None:
    """The same sentence is one memory in one version, however it is written."""
    first = await memory.remember("ada", "Ada likes owls.")
    again = await memory.remember("ada", "  ada likes OWLS ")
    other = await memory.remember("ada", "Ada likes bats.")

    assert again == first
    assert (first.type, first.value) == ("Note", {"context": "", "content": "Ada likes owls."})
    assert (first.version, first.trust, first.state, first.evidence) == (1, "user", "active", {})
    assert other.key != first.key
    assert [each.cause for each in await memory.history("ada", "Note", first.key)] == ["remembered"]
    found = await memory.recall("ada", "Which birds, owls?", limit=1)
    assert found.entries[0].content == first


async def test_a_sentence_comes_into_force_again(memory: Recollect) -> None:
    """What had ended, or was rejected, is written anew when a program remembers it."""
    first = await memory.remember("ada", "Ada likes owls.")
    await memory.reject("ada", "Note", first.key)
    again = await memory.remember("ada", "Ada likes owls.")

    assert (again.key, again.state) == (first.key, "active")
    # Or it would be listed twice, and refused when a user says it.
    assert () == (await memory.memories("ada", state="rejected")).rows
    outside = await memory.remember("ada", "Ada likes owls.", trust="external", context="zoo")
    assert (outside.version, outside.trust) == (again.version + 1, "external")
    assert outside.value["context"] == "zoo"


async def test_a_sentence_whose_memory_was_changed_is_kept_beside_it(memory: Recollect) -> None:
    """A person wrote something else over it: both stay, and the sentence is still stored once."""
    first = await memory.remember("ada", "Ada likes owls.")
    await memory.put("ada", "Note", first.key, {"context": "", "content": "Ada likes bats."})
    kept = [await memory.remember("ada", each) for each in ("Ada likes owls.", "ada likes OWLS")]

    assert ["Ada likes owls."] * 2 == [each.value["content"] for each in kept]
    rows = (await memory.memories("ada", type_="Note")).rows
    assert ["Ada likes bats.", "Ada likes owls."] == sorted(str(e.value["content"]) for e in rows)
    found = await memory.remember("ada", "Ada likes owls.", trust="agent", source="crewai")
    assert ("Ada likes bats.", 2) == (found.value["content"], found.version)


async def test_many_remember_the_same_at_once(memory: Recollect) -> None:
    """They all get the one memory."""
    found = await asyncio.gather(*(memory.remember("ada", "Ada likes owls.") for _ in range(8)))

    assert {(each.key, each.version) for each in found} == {(found[0].key, 1)}


async def test_the_key_of_a_sentence_is_no_plain_digest() -> None:
    """Two stores have two keys for one sentence: a guess is not confirmed by the key."""
    keys = set()
    for _ in range(2):
        async with recollect.open(embedder="none", worker=False) as memory:
            keys.add((await memory.remember("ada", "Ada likes owls.")).key)
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("text", "said"), [("", "nothing to remember"), (" \n", "nothing"), (7, "text")]
)
async def test_nothing_is_not_remembered(memory: Recollect, text: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        await memory.remember("ada", text)

    assert (await memory.scopes()).rows == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "empty: give the text"),
        (" \n", "empty"),
        (None, "messages is None"),
        ([7], "7 is no message: give a NewMessage, a text"),
        ({"role": "robot", "content": "hi"}, "unknown role 'robot'.*use one of ai, assistant"),
        ({"content": "hi"}, "unknown role None"),
        ({"role": "user"}, "text or a list of content blocks, not None"),
        ({"role": "user", "content": 7}, "text or a list of content blocks, not 7"),
        ({"role": "user", "content": ""}, "is empty: give the text"),
        ({"role": "user", "content": []}, "is empty: give the text"),
        ({"role": "user", "text": "a", "content": "b"}, "give its words once"),
        ({"role": "user", "text": "a", "colour": "red"}, "has no colour"),
        ({"role": "remove", "content": "", "id": "m1"}, "unknown role 'remove'"),
    ],
)
async def test_what_is_no_message_is_refused(memory: Recollect, given: Any, said: str) -> None:
    """The error names the value, and what to write; nothing is kept."""
    with pytest.raises(UsageError, match=said):
        await memory.append("ada", "talk", given)

    assert (await memory.scopes()).rows == ()


def test_dicts_of_a_chat_become_records() -> None:
    """Blocks, tool calls and names are kept; a plain dict is the plain record."""
    plain = {"role": "human", "content": "Hi", "name": "Ada", "source": "crm", "time": NOON}
    assert new_message(plain) == NewMessage(
        role="user", text="Hi", name="Ada", source="crm", time=NOON
    )
    blocks = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "x"}}]
    pictured = new_message({"role": "user", "content": blocks, "source": "crm"})
    assert (pictured.text, pictured.content, pictured.source) == ("Look", blocks, "crm")
    parts = [{"type": "input_text", "text": "Look"}, {"type": "input_image", "image_url": "x"}]
    assert "Look" == new_message({"role": "user", "content": parts}).text
    asked, answer = new_messages(
        [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "5", "tool_call_id": "1"},
        ]
    )
    assert (asked.role, answer.role, answer.text) == ("assistant", "tool", "5")
    assert "find" in str(asked.metadata)
    bare = new_message({"role": "assistant", "tool_calls": [CALL]})
    assert ("", asked.metadata) == (bare.text, bare.metadata)


def test_the_messages_of_providers_sdks_become_records() -> None:
    """As a program has them at hand: a completion's message, and the blocks of a response."""
    chat = pytest.importorskip("openai.types.chat")
    blocks = pytest.importorskip("anthropic.types")
    asked = chat.ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [CALL]}
    )
    told = chat.ChatCompletionMessage(role="assistant", content="It rains.")
    text = blocks.TextBlock(type="text", text="Let me look.")
    use = blocks.ToolUseBlock(type="tool_use", id="t", name="weather", input={"city": "Oslo"})

    calls, answer = new_messages([asked, told])
    (alone,) = new_messages(told)
    looked = new_message({"role": "assistant", "content": [text, use]})

    assert ("", "It rains.") == (calls.text, answer.text)
    assert "find" in str(calls.metadata)
    assert answer == alone == NewMessage(role="assistant", text="It rains.")
    kept: Any = looked.content
    assert ("Let me look.", "weather") == (looked.text, kept[1]["name"])
    assert kept[0] == {"type": "text", "text": "Let me look."}


def test_a_record_without_text_has_the_words_of_its_blocks() -> None:
    """Only the text is searched and formed; what is given as text stands as it is."""
    blocks = ({"type": "text", "text": "My violin is red."}, {"type": "image_url"}, "Look!")
    bare = NewMessage(role="user", text="", content=blocks)
    assert ("My violin is red.\nLook!", blocks) == (
        new_message(bare).text,
        new_message(bare).content,
    )
    assert "A violin." == new_message(replace(bare, text="A violin.")).text
    pictured = replace(bare, content=({"type": "image_url"},))
    assert new_message(pictured) is pictured


async def test_a_memory_opens_without_a_block(url: str) -> None:
    """It may be closed by another task, and within a time limit of its opener."""
    memory = recollect.open(url, embedder="none", model="rules")
    with anyio.fail_after(30):
        assert await memory.open() is memory
    await memory.append("ada", "talk", "My name is Ada. I live in Turku.")
    await memory.form("ada")
    profile = await memory.get("ada", "User", "User")
    assert profile is not None
    assert profile.value["home"] == "Turku"
    with pytest.raises(UsageError, match="already open"):
        await memory.open()
    with pytest.raises(UsageError, match="view"):
        await memory.acting("eve").close()
    await asyncio.create_task(memory.close())

    with pytest.raises(StoreClosedError):
        await memory.recall("ada", "Where?")
    await memory.close()


async def test_close_closes_a_memory_inside_its_block(url: str) -> None:
    """Leaving the block afterwards does nothing more; another task is told to leave the block."""
    async with recollect.open(url, embedder="none") as memory:
        await memory.append("ada", "talk", "I live in Turku.")
        with pytest.raises(UsageError, match="leave that block"):
            await asyncio.create_task(memory.close())
        assert len((await memory.recall("ada", "Turku")).entries) == 1
        await memory.close()

        with pytest.raises(StoreClosedError):
            await memory.recall("ada", "Turku")
        await memory.close()


async def test_the_other_kind_of_block_is_named(url: str) -> None:
    with pytest.raises(UsageError, match=r"'async with'.*open_sync"), recollect.open(url):
        pass
    with pytest.raises(UsageError, match=r"'with'.*'async with recollect.open"):
        async with recollect.open_sync(url):
            pass


async def test_what_cannot_be_opened_is_not_open() -> None:
    """The error comes from `open`, and there is nothing to close."""
    memory = recollect.open(embedder="os:nothing")

    with pytest.raises(UsageError, match="there is no object 'os:nothing'"):
        await memory.open()
    await memory.close()


async def test_a_cancelled_open_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives up waiting for it can open it later."""
    store = open_store("memory:", clock=FrozenClock(), ids=CountingIds())
    memory = Recollect(store, embedder="none")
    honest = memory._runtime.open

    async def slow() -> None:
        await anyio.sleep(60)

    monkeypatch.setattr(memory._runtime, "open", slow)
    with anyio.move_on_after(0.01) as waiting:
        await memory.open()
    assert waiting.cancelled_caught

    monkeypatch.setattr(memory._runtime, "open", honest)
    await memory.open()
    await memory.close()


def test_the_synchronous_face_has_the_same(url: str) -> None:
    memory = recollect.open_sync(url, embedder="none", model="rules")
    assert memory.open() is memory
    with pytest.raises(UsageError, match="already open"):
        memory.open()
    memory.append("ada", "talk", [{"role": "user", "content": "I live in Oslo."}])
    note = memory.remember("ada", "Ada likes owls.")
    assert memory.get("ada", "Note", note.key) == note
    assert memory.recall("ada", "owls").entries[0].content == note
    memory.close()
    memory.close()

    with pytest.raises(StoreClosedError):
        memory.threads("ada")


def test_a_write_of_another_form_is_as_before() -> None:
    """Two values of one note under keys of one's own stay two memories."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        value = {"context": "", "content": "Ada likes owls."}
        memory.apply("ada", [PutMemory(type="Note", key=key, value=value) for key in "ab"])
        memory.remember("ada", "Ada likes owls.")
        assert len(memory.memories("ada").rows) == 3
