"""Tools under the names of other servers, asked by the SDK's own client, over our memories."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

import recollect
from recollect.formation.config import Assistants
from recollect.formation.types.builtin import DEFAULT_TYPES
from recollect.records import PutMemory, Scope
from recollect.server.authorization import Permission, Principal
from recollect.server.mcp import callers
from recollect.server.mcp import graph_tools as graph_tools_module
from recollect.server.mcp.callers import caller_of, local_caller
from recollect.server.mcp.graph_tools import ROWS_MAX, graph_tools
from recollect.server.mcp.openmemory_tools import openmemory_tools
from recollect.server.mcp.protocol_server import mcp_server
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.mcp.tool_sets import OfferedTools

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]

ADA: Scope = ("acme", "ada")
BOB: Scope = ("acme", "bob")
MODES = ("auto", "legacy")
SETS = {"memory": graph_tools(), "openmemory": openmemory_tools()}
NAMES = {
    "memory": (
        *("create_entities", "create_relations", "add_observations"),
        *("delete_entities", "delete_observations", "delete_relations"),
        *("read_graph", "search_nodes", "open_nodes"),
    ),
    "openmemory": (
        *("add_memories", "search_memory", "list_memories"),
        *("delete_memories", "delete_all_memories"),
    ),
}
ADA_NODE = {"name": "Ada", "entityType": "person", "observations": ["plays the cello"]}
OSLO = {"name": "Oslo", "entityType": "city", "observations": []}
LIVES = {"from": "Ada", "to": "Oslo", "relationType": "lives in"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def memory() -> AsyncIterator[recollect.Recollect]:
    """Yield an empty memory."""
    async with recollect.open(embedder="none", worker=False) as found:
        yield found


@asynccontextmanager
async def in_process(
    memory: recollect.Recollect,
    tools: str,
    scope: Scope = ADA,
    permissions: Sequence[Permission] | None = None,
) -> AsyncIterator[Client]:
    """Yield a client of a server in this process, with a key of some permissions."""
    caller = local_caller(memory, scope, Assistants())
    if permissions is not None:
        principal = Principal(key_id="k", name="n", scope=scope, permissions=frozenset(permissions))
        caller = caller_of(memory, principal, Assistants())
    server = mcp_server(RecollectTools(b"secret"), lambda _: caller, SETS[tools])
    async with Client(server) as client:
        yield client


def stdio(store: Path, tools: str) -> StdioServerParameters:
    """Return how a server over a file is started."""
    command = ["-m", "recollect", "mcp", "--embedder", "none", "--store", str(store)]
    return StdioServerParameters(
        command=sys.executable,
        args=[*command, "--scope", "/".join(ADA), "--tools", tools],
        env={"PYTHONPATH": str(Path(recollect.__file__).parents[1])},
    )


async def answer(client: Client, name: str, **arguments: Any) -> Any:
    """Call a tool that works, and return what its text says."""
    result = await client.call_tool(name, arguments)
    (text,) = result.content
    assert not result.is_error, text
    return text.text  # type: ignore[union-attr]


async def graph(client: Client, name: str, **arguments: Any) -> Any:
    """Call a tool whose text is JSON, and return that."""
    return json.loads(await answer(client, name, **arguments))


async def told(client: Client, name: str, **arguments: Any) -> str:
    """Call a tool that fails, and return what the model is told."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    return result.content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("tools", SETS)
async def test_the_names_are_those_that_clients_know(
    memory: recollect.Recollect, tools: str
) -> None:
    """In an order that stays; each says what it is for, what it changes, and takes no scope."""
    async with in_process(memory, tools) as client:
        offered = (await client.list_tools()).tools

    assert NAMES[tools] == tuple(each.name for each in offered)
    assert all(each.description and each.title for each in offered)
    for each in offered:
        assert each.input_schema["additionalProperties"] is False
        assert {"scope", "user_id", "user", "thread"}.isdisjoint(each.input_schema["properties"])
        hints = each.annotations
        assert hints is not None
        assert hints.destructive_hint == each.name.startswith("delete")
        reads = each.name.startswith(("read", "search", "open", "list"))
        assert reads == hints.read_only_hint


@pytest.mark.parametrize("mode", MODES)
async def test_the_story_of_the_memory_server(tmp_path: Path, mode: str) -> None:
    """As the official server answers, over a file of ours."""
    async with Client(stdio(tmp_path / "memory.db", "memory"), mode=mode) as client:
        made = await graph(client, "create_entities", entities=[ADA_NODE, OSLO])
        again = await graph(client, "create_entities", entities=[ADA_NODE])
        related = await graph(client, "create_relations", relations=[LIVES])
        repeated = await graph(client, "create_relations", relations=[LIVES])
        added = await graph(
            client,
            "add_observations",
            observations=[{"entityName": "Ada", "contents": ["plays the cello", "likes tea"]}],
        )
        unknown = await told(
            client, "add_observations", observations=[{"entityName": "Zoe", "contents": ["x"]}]
        )
        whole = await graph(client, "read_graph")
        by_words = await graph(client, "search_nodes", query="CELLO")
        opened = await graph(client, "open_nodes", names=["Oslo", "Nowhere"])
        deletions = [{"entityName": "Ada", "observations": ["likes tea", "never said"]}]
        less = await answer(client, "delete_observations", deletions=deletions)
        apart = await answer(client, "delete_relations", relations=[LIVES])
        left = await graph(client, "read_graph")
        gone = await answer(client, "delete_entities", entityNames=["Ada", "Nobody"])
        empty = await graph(client, "read_graph")

    ada = {**ADA_NODE, "observations": ["plays the cello", "likes tea"]}
    assert ([ADA_NODE, OSLO], []) == (made, again)
    assert ([LIVES], []) == (related, repeated)
    assert [{"entityName": "Ada", "addedObservations": ["likes tea"]}] == added
    assert "Entity with name Zoe not found" == unknown
    assert LIVES in whole["relations"]
    assert by_key(whole["entities"]) == by_key([ada, OSLO])
    assert {"entities": [ada], "relations": [LIVES]} == by_words
    assert {"entities": [OSLO], "relations": [LIVES]} == opened
    assert "Observations deleted successfully" == less
    assert "Relations deleted successfully" == apart
    assert by_key([ADA_NODE, OSLO]) == by_key(left["entities"])
    assert [] == left["relations"]
    assert "Entities deleted successfully" == gone
    assert {"entities": [OSLO], "relations": []} == empty


def by_key(entities: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return entities by name, their observations in any order."""
    return {each["name"]: (each["entityType"], sorted(each["observations"])) for each in entities}


@pytest.mark.parametrize("mode", MODES)
async def test_the_story_of_openmemory(tmp_path: Path, mode: str) -> None:
    """Added, found, listed, deleted one by one, and all."""
    async with Client(stdio(tmp_path / "memory.db", "openmemory"), mode=mode) as client:
        (tea,) = (await graph(client, "add_memories", text="Ada likes green tea"))["results"]
        (same,) = (await graph(client, "add_memories", text="ada likes  green tea!"))["results"]
        await graph(client, "add_memories", text="Ada lives in Oslo")
        found = (await graph(client, "search_memory", query="Which tea?"))["results"]
        listed = (await graph(client, "list_memories"))["results"]
        await answer(client, "delete_memories", memory_ids=[tea["id"], "Note/none"])
        left = (await graph(client, "list_memories"))["results"]
        gone = await answer(client, "delete_all_memories")
        empty = (await graph(client, "list_memories"))["results"]

    assert "ADD" == tea["event"]
    assert tea["id"] == same["id"]
    assert "Ada likes green tea" == found[0]["memory"]
    assert 0 < found[0]["score"] <= 1
    assert {"Ada likes green tea", "Ada lives in Oslo"} == {each["memory"] for each in listed}
    assert ["Ada lives in Oslo"] == [each["memory"] for each in left]
    assert "Successfully deleted all memories" == gone
    assert [] == empty


async def test_they_are_memories_as_any_other(memory: recollect.Recollect) -> None:
    """With a history and an audit; recall finds them; they are findings, not what the user said."""
    async with in_process(memory, "memory") as client:
        await graph(client, "create_entities", entities=[ADA_NODE])
    async with in_process(memory, "openmemory") as client:
        await graph(client, "add_memories", text="Ada likes green tea")
    kept = (await memory.memories(ADA)).rows

    assert {"Entity", "Fact", "Note"} == {each.type for each in kept}
    assert {"agent"} == {each.trust for each in kept}
    cited = [each for memory in kept for found in memory.evidence.values() for each in found]
    assert {("agent", "mcp")} == {(each.kind, each.source) for each in cited}
    found = await memory.recall(ADA, "Who plays the cello?")
    assert "cello" in found.entries[0].text
    assert {"local"} == {each.actor for each in (await memory.audit(ADA)).rows}


async def test_what_has_ended_is_not_listed(memory: recollect.Recollect) -> None:
    """A listing agrees with a search; it is deleted with all others nevertheless."""
    ended = await memory.remember(ADA, "Ada lives in Oslo")
    await memory.end(ADA, ended.type, ended.key, ended.updated_at)
    await memory.remember(ADA, "Ada lives in Bergen")
    async with in_process(memory, "openmemory") as client:
        listed = (await graph(client, "list_memories"))["results"]
        found = (await graph(client, "search_memory", query="Where does Ada live?"))["results"]
        await answer(client, "delete_all_memories")

    said = [[each["memory"] for each in rows] for rows in (listed, found)]
    assert [["Ada lives in Bergen"], ["Ada lives in Bergen"]] == said
    assert () == (await memory.memories(ADA)).rows


@pytest.mark.parametrize("tools", SETS)
async def test_what_a_client_wrote_is_erased_by_its_source(
    memory: recollect.Recollect, tools: str
) -> None:
    """And nothing else."""
    await memory.remember(ADA, "The boat is red.")
    async with in_process(memory, tools) as client:
        if tools == "memory":
            await graph(client, "create_entities", entities=[ADA_NODE, OSLO])
            await graph(client, "create_relations", relations=[LIVES])
        else:
            await graph(client, "add_memories", text="Ada likes green tea")

    await memory.erase(ADA, recollect.EraseSource(source="mcp"))

    left = (await memory.memories(ADA)).rows
    assert ["The boat is red."] == [each.value["content"] for each in left]


async def test_a_client_lowers_nothing_that_a_user_said(memory: recollect.Recollect) -> None:
    """Nor brings back what a person rejected: its model is told."""
    said = await memory.remember(ADA, "Ada likes green tea", context="drinks")
    async with in_process(memory, "openmemory") as client:
        await graph(client, "add_memories", text="Ada likes green tea")
        await graph(client, "add_memories", text="Ada likes coffee")
        (coffee,) = [each for each in (await memory.memories(ADA)).rows if each.key != said.key]
        await memory.reject(ADA, coffee.type, coffee.key)
        reason = await told(client, "add_memories", text="Ada likes coffee")

    states = {each.key: (each.trust, each.state) for each in (await memory.memories(ADA)).rows}
    assert {
        said.key: ("user", "active"),
        coffee.key: ("agent", "rejected"),
    }.items() <= states.items()
    assert "rejected" in reason


@pytest.mark.parametrize("decide", ["reject", "end"])
async def test_a_client_brings_no_fact_back_that_a_person_decided_on(
    memory: recollect.Recollect, decide: str
) -> None:
    """Neither one that it wrote itself, nor one that was formed; the rest of a call waits too."""
    knows = {"subject": "Ada", "predicate": "knows", "object": "Bo"}
    await memory.put(ADA, "Fact", "formed", knows)
    calls: dict[str, Any] = {
        "create_entities": {"entities": [ADA_NODE, OSLO]},
        "create_relations": {"relations": [LIVES]},
        "add_observations": {"observations": [{"entityName": "Ada", "contents": ["sails"]}]},
    }
    async with in_process(memory, "memory") as client:
        for name, arguments in calls.items():
            await graph(client, name, **arguments)
        for each in (await memory.memories(ADA)).rows:
            if each.value.get("name") == "Ada":
                continue  # what is observed of her needs her
            if decide == "reject":
                await memory.reject(ADA, each.type, each.key)
            else:
                await memory.end(ADA, each.type, each.key, each.updated_at)
        before = (await memory.memories(ADA)).rows
        reasons = [await told(client, name, **given) for name, given in calls.items()]
        if decide == "reject":
            again = {"from": "ada", "to": "bo", "relationType": "knows"}
            reasons.append(await told(client, "create_relations", relations=[again]))

    assert before == (await memory.memories(ADA)).rows
    assert all("Ask the user" in each for each in reasons)
    assert "Ada lives in Oslo" in reasons[1]


async def test_what_another_client_creates_meanwhile_is_read_again(
    memory: recollect.Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is neither written over, nor an error for the model."""
    read, waits = graph_tools_module._view, [True]

    async def read_then_wait(caller: Any, scope: Scope) -> Any:
        view = await read(caller, scope)
        if waits:
            waits.clear()
            await graph(other, "create_entities", entities=[OSLO])
        return view

    monkeypatch.setattr(graph_tools_module, "_view", read_then_wait)
    async with in_process(memory, "memory") as one, in_process(memory, "memory") as other:
        made = await graph(one, "create_entities", entities=[OSLO])

    (entity,) = (await memory.memories(ADA)).rows
    assert ([], 1) == (made, entity.version)


async def test_what_was_formed_is_shown_in_the_graph(memory: recollect.Recollect) -> None:
    """A fact's people are entities, its values observations; what has ended is not shown."""
    facts: list[dict[str, Any]] = [
        {"subject": "Ada", "predicate": "knows", "object": "Bo"},
        {"subject": "Ada", "predicate": "age", "object": 36, "object_type": "number"},
        {"subject": "Ada", "predicate": "lives in", "object": "Rome"},
    ]
    for number, each in enumerate(facts):
        await memory.put(ADA, "Fact", f"f{number}", each)
    entity = {"name": "Bo", "kind": "person", "summary": "A cellist"}
    await memory.put(ADA, "Entity", "e", entity)
    past = (await memory.get(ADA, "Fact", "f2")).updated_at  # type: ignore[union-attr]
    await memory.end(ADA, "Fact", "f2", past)
    async with in_process(memory, "memory") as client:
        whole = await graph(client, "read_graph")
        gone = [{"entityName": "Bo", "observations": ["A cellist"]}]
        refused = await told(client, "delete_observations", deletions=gone)

    assert {"Ada": ("unknown", ["age: 36"]), "Bo": ("person", ["A cellist"])} == by_key(
        whole["entities"]
    )
    assert [{"from": "Ada", "to": "Bo", "relationType": "knows"}] == whole["relations"]
    assert "Entity/e" in refused


CALLS: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [ADA_NODE]},
    "create_relations": {"relations": [LIVES]},
    "add_observations": {"observations": [{"entityName": "Ada", "contents": ["x"]}]},
    "delete_entities": {"entityNames": ["Ada"]},
    "delete_observations": {"deletions": [{"entityName": "Ada", "observations": ["secret"]}]},
    "delete_relations": {"relations": [LIVES]},
    "read_graph": {},
    "search_nodes": {"query": "secret"},
    "open_nodes": {"names": ["Ada"]},
    "add_memories": {"text": "mine"},
    "search_memory": {"query": "secret"},
    "list_memories": {},
    "delete_memories": {"memory_ids": ["Note/n", "../bob/Note/n"]},
    "delete_all_memories": {},
}
"""A call of each tool; every one must be here."""


def test_every_tool_has_a_call() -> None:
    assert set(CALLS) == {name for names in NAMES.values() for name in names}
    for offered in SETS.values():
        assert offered.hints.keys() == {each.name for each in offered.tools_of(DEFAULT_TYPES)}


async def plant(memory: recollect.Recollect) -> dict[str, Any]:
    """Give Bob what Ada must not see or change; return it as it is kept."""
    fact = {"subject": "Ada", "predicate": "observation", "object": "secret", "object_type": "text"}
    writes = [
        PutMemory(type="Fact", key="f", value=fact),
        PutMemory(type="Fact", key="g", value={**fact, "predicate": "lives in", "object": "Oslo",
                                               "object_type": None}),
        PutMemory(type="Entity", key="e", value={"name": "Ada", "summary": "secret"}),
        PutMemory(type="Note", key="n", value={"content": "secret"}),
    ]  # fmt: skip
    await memory.apply(BOB, writes)
    return await held(memory)


async def held(memory: recollect.Recollect) -> dict[str, Any]:
    """Return what Bob's scope holds."""
    return {each.key: (each.version, each.value) for each in (await memory.memories(BOB)).rows}


async def reached(memory: recollect.Recollect) -> list[str]:
    """Return the tools that show or change what is Bob's, called for Ada."""
    found = []
    for tools, names in NAMES.items():
        for name in names:
            before = await plant(memory)
            async with in_process(memory, tools) as client:
                result = await client.call_tool(name, CALLS[name])
            if "secret" in str(result) or await held(memory) != before:
                found.append(name)
    return found


async def test_no_tool_leaves_its_scope(memory: recollect.Recollect) -> None:
    """None shows or changes what is another's, under the same names."""
    assert [] == await reached(memory)


async def test_tools_that_leave_their_scope_are_caught(
    memory: recollect.Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: each tool that acts where it should not is seen."""
    monkeypatch.setattr(callers, "granted", lambda *_: BOB)

    found = await reached(memory)

    assert {"read_graph", "search_nodes", "open_nodes", "delete_entities"} <= {*found}
    assert {"list_memories", "search_memory", "add_memories"} <= {*found}


@pytest.mark.parametrize("tools", SETS)
async def test_each_tool_needs_its_permission(memory: recollect.Recollect, tools: str) -> None:
    """A key that may only read deletes nothing, and one that may write neither."""
    needs = {name: needed(name) for name in NAMES[tools]}
    for permission in ("read", "write", "erase"):
        async with in_process(memory, tools, permissions=[permission]) as client:
            for name in NAMES[tools]:
                result = await client.call_tool(name, CALLS[name])
                is_told = "permission" in result.content[0].text  # type: ignore[union-attr]
                assert is_told == (needs[name] != permission), (name, permission)


def needed(name: str) -> str:
    """Return the permission that a tool needs, by its name."""
    if name.startswith("delete"):
        return "erase"
    return "write" if name.startswith(("create", "add")) else "read"


BAD: list[tuple[str, str, dict[str, Any]]] = [
    ("memory", "create_entities", {}),
    ("memory", "create_entities", {"entities": [{"name": "x"}]}),
    ("memory", "create_entities", {"entities": [ADA_NODE], "scope": ["acme", "bob"]}),
    ("memory", "create_entities", {"entities": [{**ADA_NODE, "name": "\u200b"}]}),
    ("memory", "create_entities", {"entities": [{**ADA_NODE, "observations": [3]}]}),
    ("memory", "create_entities", {"entities": [OSLO] * (ROWS_MAX + 1)}),
    ("memory", "create_relations", {"relations": [{**LIVES, "from": "x" * 10_000}]}),
    ("memory", "search_nodes", {"query": None}),
    ("openmemory", "add_memories", {"text": ""}),
    ("openmemory", "add_memories", {"text": " "}),
    ("openmemory", "search_memory", {"query": ""}),
    ("openmemory", "search_memory", {"query": "x", "user_id": "bob"}),
    ("openmemory", "delete_memories", {"memory_ids": "Note/n"}),
]


@pytest.mark.parametrize(("tools", "name", "arguments"), BAD)
async def test_bad_arguments_are_told_and_write_nothing(
    memory: recollect.Recollect, tools: str, name: str, arguments: dict[str, Any]
) -> None:
    async with in_process(memory, tools) as client:
        assert await told(client, name, **arguments)

    assert () == (await memory.memories(ADA)).rows


async def test_an_unknown_tool_is_an_error_of_the_protocol(memory: recollect.Recollect) -> None:
    """Ours, too, where another set is offered."""
    async with in_process(memory, "memory") as client:
        with pytest.raises(MCPError, match="no tool"):
            await client.call_tool("save_memory", {})


def test_a_set_is_the_same_for_every_scope() -> None:
    """Its tools depend on no types: a client may cache them."""
    for offered in SETS.values():
        assert isinstance(offered, OfferedTools)
        assert offered.tools_of(()) == offered.tools_of(DEFAULT_TYPES)
