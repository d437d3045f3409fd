"""Findings and changes over MCP: what a client keeps that no user said."""

from collections.abc import AsyncIterator

import pytest

import recollect
from tests.mcp.test_mcp import ADA, BLACK, TEA, called, in_process, quotes_kept

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def memory() -> AsyncIterator[recollect.Recollect]:
    """Yield an empty memory."""
    async with recollect.open(embedder="none", worker=False) as found:
        yield found


FOUND = {
    "memory": {"type": "Note", "value": {"context": "tests", "content": "make test uses Redis 7"}},
    "found_in": {"path": "Makefile", "line": 12, "text": "test:\n\tpytest -q"},
}


async def test_what_an_agent_found_needs_no_quote(memory: recollect.Recollect) -> None:
    """It is kept as the agent's, shown as such, and leaves no word as if the user had said it."""
    async with in_process(memory) as client:
        kept = await called(client, "save_memory", **FOUND)
        own = {"memory": BLACK, "found_by_agent": True}
        other = await called(client, "save_memory", **own)
        found = await called(client, "search_memory", query="make test")
        context = await client.call_tool("context", {"query": "What does make test use?"})

    rows = {each["id"]: each for each in found["memories"]}
    assert ["stored", "stored"] == [kept["status"], other["status"]]
    assert "found by an agent in Makefile:12-13" == rows[kept["id"]]["found"]
    assert "found by an agent in Makefile:12-13" in context.content[0].text  # type: ignore[union-attr]
    assert [] == await quotes_kept(memory)


async def test_a_finding_changes_no_memory_of_the_users_words(memory: recollect.Recollect) -> None:
    """Nor does erasing it take quotes along that another memory rests on."""
    async with in_process(memory) as client:
        tea = await called(client, "save_memory", **TEA)
        black = {"context": "drinks", "content": "Likes black tea"}
        changed = await called(
            client, "update_memory", id=tea["id"], value=black, found_by_agent=True
        )
        value = {"context": "tea", "content": "green tea is out of stock"}
        own = {"memory": {"type": "Note", "value": value}, "found_by_agent": True}
        kept = (await called(client, "save_memory", **own))["id"]
        token = (await called(client, "erase_memory", id=kept))["token"]
        await called(client, "erase_memory", id=kept, token=token, answer="Yes")
        left = await called(client, "search_memory", query="tea")

    assert "quarantined" == changed["status"]
    assert [(tea["id"], "user")] == [(each["id"], each["trust"]) for each in left["memories"]]
    assert [*TEA["quotes"], "Yes"] == await quotes_kept(memory)


async def test_a_user_changes_a_memory_with_a_plain_value(memory: recollect.Recollect) -> None:
    async with in_process(memory) as client:
        tea = await called(client, "save_memory", **TEA)
        black = {"context": "drinks", "content": "Likes black tea"}
        changed = await called(
            client, "update_memory", id=tea["id"], value=black, quotes=["I like black tea now"]
        )

    found = await memory.get(ADA, *tea["id"].split("/"))
    assert found is not None
    assert ("changed", black, "user") == (changed["status"], found.value, found.trust)


async def test_a_search_lists_the_types_and_takes_times(memory: recollect.Recollect) -> None:
    async with in_process(memory) as client:
        (search,) = (
            each for each in (await client.list_tools()).tools if each.name == "search_memory"
        )
        await called(client, "save_memory", **TEA)
        found = await called(client, "search_memory", query="tea", since="2000-01-01")
        before = await called(client, "search_memory", query="tea", until="2000-01-01")
        wrong = await called(client, "search_memory", query="tea", until="soon")

    assert "User, Note" in search.input_schema["properties"]["type"]["description"]
    assert ["User", "Note"] == found["types"]
    assert (1, 0, "refused") == (len(found["memories"]), len(before["memories"]), wrong["status"])
