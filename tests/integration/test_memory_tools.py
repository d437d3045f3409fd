"""The memory tools from a program: without ``await``, and as LangChain's tools."""

import inspect
import json
from pathlib import Path

import pytest

import recollect
from recollect import NewMessage
from recollect.integrations.langchain import memory_tools
from recollect.tools import MemoryTools

ADA = ("users", "ada")
SAID = "I'm Ada, I drink green tea"
NOTE = {"context": "drinks", "content": "Ada drinks green tea"}
FACES = ["save_memory", "search_memory", "update_memory", "forget_memory", "call"]


@pytest.mark.parametrize("url", ["memory:", "tools.db"])
def test_the_functions_work_without_await(url: str, tmp_path: Path) -> None:
    address = url if url == "memory:" else str(tmp_path / url)
    with recollect.open_sync(address, embedder="none", worker=False) as memory:
        memory.append(ADA, "talk", [NewMessage(role="user", text=SAID)])
        tools = MemoryTools(memory, ADA, "talk")

        kept = tools.save_memory("Note", NOTE, [SAID])
        found = tools.search_memory("tea")
        asked = tools.forget_memory(str(kept["id"]))
        memory.append(ADA, "talk", [NewMessage(role="user", text="Yes, forget it")])

        assert 1 == len(found["memories"])  # type: ignore[arg-type]
        done = tools.forget_memory(str(kept["id"]), str(asked["token"]))
        assert ("stored", "confirm", "forgotten") == (
            kept["status"],
            asked["status"],
            done["status"],
        )


@pytest.mark.parametrize("name", FACES)
def test_both_faces_take_the_same(name: str) -> None:
    waiting, awaited = getattr(MemoryTools, name), getattr(MemoryTools, f"a{name}")

    assert inspect.signature(waiting) == inspect.signature(awaited)
    assert (name, f"a{name}") == (waiting.__name__, awaited.__name__)


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
