"""The memory tools from a program: without ``await``, and as LangChain's tools."""

import inspect
import json
from pathlib import Path

import pytest

import recollect
from recollect import NewMessage
from recollect.agents.tools import MemoryTools
from recollect.integrations.langchain import memory_tools
from recollect.integrations.langgraph import RecollectStore

ADA = ("users", "ada")
SAID = "I'm Ada, I drink green tea"
NOTE = {"context": "drinks", "content": "Ada drinks green tea"}
FACES = ["save_memory", "search_memory", "update_memory", "erase_memory", "call"]


@pytest.mark.parametrize("url", ["memory:", "tools.db"])
def test_the_functions_work_without_await(url: str, tmp_path: Path) -> None:
    address = url if url == "memory:" else str(tmp_path / url)
    with recollect.open_sync(address, embedder="none", worker=False) as memory:
        memory.append(ADA, "talk", [NewMessage(role="user", text=SAID)])
        tools = MemoryTools(memory, ADA, "talk")

        kept = tools.save_memory("Note", NOTE, [SAID])
        found = tools.search_memory("tea")
        asked = tools.erase_memory(str(kept["id"]))
        memory.append(ADA, "talk", [NewMessage(role="user", text="Yes, forget it")])

        assert 1 == len(found["memories"])  # type: ignore[arg-type]
        done = tools.erase_memory(str(kept["id"]), str(asked["token"]))
        assert ("stored", "confirm", "erased") == (
            kept["status"],
            asked["status"],
            done["status"],
        )


@pytest.mark.parametrize("name", FACES)
def test_both_faces_take_the_same(name: str) -> None:
    waiting, awaited = getattr(MemoryTools, name), getattr(MemoryTools, f"a{name}")

    assert inspect.signature(waiting) == inspect.signature(awaited)
    assert (name, f"a{name}") == (waiting.__name__, awaited.__name__)


def test_nothing_hides_in_what_a_tool_answers() -> None:
    """Letters that no person sees, and a model reads, are shown as JSON shows them."""
    hidden = "green\u200b tea\U000e0041\ufe00\u202e"
    with recollect.open_sync(embedder="none", worker=False) as memory:
        memory.put(ADA, "Note", "tea", {"context": "drinks", "content": hidden})
        (search,) = (
            each
            for each in memory_tools(MemoryTools(memory, ADA, "talk"))
            if each.name == "search_memory"
        )

        said = search.invoke({"query": "tea"})

    assert said.isprintable()
    assert not {*"\u200b\U000e0041\ufe00\u202e"} & {*said}
    assert hidden == json.loads(said)["memories"][0]["value"]["content"]


def test_what_a_search_finds_has_room_in_a_prompt() -> None:
    """How many more there are is told; the best is shown whole, however long."""
    long = "tea " * 9_000
    with recollect.open_sync(embedder="none", worker=False) as memory:
        tools = MemoryTools(memory, ADA, "talk")
        for number in range(4):
            value = {"context": f"drinks {number}", "content": long}
            memory.put(ADA, "Note", f"n{number}", value)
        memory.put(ADA, "Note", "other", {"context": "tea", "content": "none left"})

        told = tools.search_memory("tea", limit=5)

    shown = len(told["memories"])  # type: ignore[arg-type]
    assert 1 <= shown < 5
    assert 5 - shown == told["left_out"]


def test_what_a_search_finds_is_counted_as_it_is_shown() -> None:
    """Also where little of it is searched."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        store = RecollectStore(memory, ADA[:1], index={"fields": ["title"]})
        for number in range(3):
            store.put(ADA[1:], f"k{number}", {"title": "tea", "body": "leaves " * 9_000})

        told = MemoryTools(memory, ADA, "talk", others=()).search_memory("tea")

    assert (1, 2) == (len(told["memories"]), told["left_out"])  # type: ignore[arg-type]


def test_a_search_finds_what_says_no_more_than_another_memory() -> None:
    """Whoever is to change or forget what was said twice needs the ids of both."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        for key, at in (("n1", ""), ("n2", "."), ("n3", " at work")):
            value = {"context": "drinks", "content": f"Ada drinks green tea{at}"}
            memory.put(ADA, "Note", key, value)

        told = MemoryTools(memory, ADA, "talk").search_memory("Ada drinks tea at work")

    assert ["n1", "n2", "n3"] == sorted(str(each["id"])[-2:] for each in told["memories"])  # type: ignore[union-attr, index, call-overload]


async def test_langchain_calls_the_tools() -> None:
    """Through its own tool class, awaited and not, with the schemas that a model is given."""
    with recollect.open_sync(embedder="none", worker=False) as memory:
        memory.append(ADA, "talk", [NewMessage(role="user", text=SAID)])
        tools = MemoryTools(memory, ADA, "talk")
        by_name = {each.name: each for each in memory_tools(tools)}

        saved = by_name["save_memory"].invoke(
            {"memory": {"type": "Note", "value": NOTE}, "quotes": [SAID]}
        )
        found = await by_name["search_memory"].ainvoke({"query": "tea"})

        assert "stored" == json.loads(saved)["status"]
        assert [NOTE] == [each["value"] for each in json.loads(found)["memories"]]
        shown = {each.name: each.parameters for each in tools.schemas}
        assert shown == {name: each.args_schema for name, each in by_name.items()}
