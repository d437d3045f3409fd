"""The context of a prompt is one and the same through every door, and bad input is told there."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from click.testing import CliRunner
from mcp import Client as McpClient

import recollect
from recollect import NewMessage, PutMemory, Recollect, Where
from recollect.cli import main
from recollect.client import SyncClient
from recollect.errors import ForbiddenError, RecollectError, UsageError
from recollect.formation.config import Assistants
from recollect.recall.context import Context
from recollect.server.mcp.callers import local_caller
from recollect.server.mcp.protocol_server import mcp_server
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.testing import Served, serving

Connect = Callable[..., httpx.Client]
ADA = ("acme", "ada")
BELOW_KEY = {"scope": "ada"}
SAID = [
    NewMessage(role="user", text="My boat is called Ida, and it leaks. " + "It is old. " * 200),
    NewMessage(role="assistant", text="Ida is a fine name for a boat."),
]
FACT = {"subject": "Ada", "predicate": "sails with", "object": "Bea, on the boat"}
QUESTIONS = ("What is my boat called?", "Hello!", "", "Who sails? 我的船叫什么名字")
pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fill a file with a talk of Ada's, who she is, and a fact."""
    path = str(tmp_path_factory.mktemp("doors") / "store.db")

    async def fill() -> None:
        async with recollect.open(path, embedder="none", worker=False) as memory:
            await memory.append(ADA, "monday", SAID)
            await memory.put(ADA, "User", "User", {"user_name": "Ada", "home": "Porto"})
            await memory.apply(ADA, [PutMemory(type="Fact", key="crew", value=FACT)])

    anyio.run(fill)
    return path


@pytest.fixture(scope="module")
def service(file: str) -> Iterator[Served]:
    """Serve the file; the key's scope is above Ada's."""
    with serving(store=file) as found:
        yield found


@pytest.fixture
def web(service: Served, connect: Connect) -> httpx.Client:
    """Return a client of the routes, each answer of which is held to what is documented."""
    return connect(service)


def asked(web: httpx.Client, query: str, **body: Any) -> httpx.Response:
    """Ask the route for a context of Ada's."""
    return web.post("/v1/context", params=BELOW_KEY, json={"query": query, **body})


async def in_library(file: str, query: str, **options: Any) -> Context:
    """Return what the library gives."""
    async with recollect.open(file, embedder="none", worker=False) as memory:
        return await memory.context(ADA, query, **options)


@asynccontextmanager
async def over_mcp(memory: Recollect) -> AsyncIterator[McpClient]:
    """Yield a client of an MCP server over *memory*, for Ada."""
    caller = local_caller(memory, ADA, Assistants())
    async with McpClient(mcp_server(RecollectTools(b"s"), lambda _: caller)) as client:
        yield client


async def through_mcp(file: str, query: str, **arguments: Any) -> tuple[str, int]:
    """Return text and tokens that MCP's clients get; without words it says so."""
    async with (
        recollect.open(file, embedder="none", worker=False) as memory,
        over_mcp(memory) as client,
    ):
        result = await client.call_tool("context", {"query": query, **arguments})
    told = result.structured_content
    assert told is not None
    (content,) = result.content
    shown = str(told["text"])
    assert not shown or shown == content.text  # type: ignore[union-attr]
    return shown, int(told["tokens"])


def at_the_command_line(file: str, query: str, *options: str) -> dict[str, Any]:
    """Return what the command prints."""
    arguments = ["context", query, "--store", file, "--scope", "/".join(ADA), *options]
    result = CliRunner().invoke(main, [*arguments, "--embedder", "none", "--json"])
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize("budget", [2_000, 300, 60, 25, 1])
@pytest.mark.parametrize("query", QUESTIONS)
def test_every_door_gives_the_same_text_and_tokens(
    file: str, service: Served, web: httpx.Client, query: str, budget: int
) -> None:
    """Of one store, for one question, to the letter and to the token."""
    context = anyio.run(lambda: in_library(file, query, budget_tokens=budget))
    with SyncClient(service.url, service.key) as client:
        through_client = client.context("ada", query, budget_tokens=budget)
    route = asked(web, query, budget_tokens=budget).json()
    command = at_the_command_line(file, query, "--budget", str(budget))

    told = (str(context), context.tokens)
    assert told == (str(through_client), through_client.tokens)
    assert told == (route["text"], route["tokens"]) == (command["text"], command["tokens"])
    assert told == anyio.run(lambda: through_mcp(file, query, budget_tokens=budget))
    assert context.tokens <= budget


@pytest.mark.parametrize(
    "options",
    [
        {"thread": "monday"},
        {"thread": "monday", "recent": 1},
        {"thread": "monday", "recent": 0, "history_tokens": 40},
        {"recent": [SAID[1].text]},
        {"min_score": 0.9},
        {"profile": False},
        {"profile": ["House"]},
        {"instructions": "Be brief.", "examples": ["Q: a boat? A: Ida."]},
        {"where": Where(messages=False)},
        {"where": Where(threads=["other"], types=[])},
    ],
)
def test_the_client_gives_all_that_the_library_gives(
    file: str, service: Served, options: dict[str, Any]
) -> None:
    """Each part, what it costs, what is left out and why, and the sources of its handles."""
    context = anyio.run(lambda: in_library(file, QUESTIONS[0], **options))
    with SyncClient(service.url, service.key) as client:
        found = client.context("ada", QUESTIONS[0], **options)

    for part in ("text", "tokens", "tokens_by_part", "history", "instructions", "examples"):
        assert getattr(context, part) == getattr(found, part), part
    assert [(each.reason, each.entry.source) for each in context.left_out] == [
        (each.reason, each.entry.source) for each in found.left_out
    ]
    assert [each.fields for each in context.profile] == [each.fields for each in found.profile]
    for one, other in zip(context.entries, found.entries, strict=True):
        assert (one.handle, one.text, one.tokens) == (other.handle, other.text, other.tokens)
        assert one.entry.relevance == other.entry.relevance
        assert context.expand(one.handle) == found.expand(f"[{other.handle}]")


def test_what_is_left_out_is_named_and_comes_whole_where_that_is_asked_for(
    web: httpx.Client,
) -> None:
    """With `whole` each handle has its message or memory; without it none does."""
    short = asked(web, QUESTIONS[0], thread="monday", recent=20).json()
    whole = asked(web, QUESTIONS[0], thread="monday", recent=20, whole=True).json()

    assert {"reason", "scope", "source", "relevance"} == set(short["left_out"][0])
    assert ["ada"] == short["left_out"][0]["scope"] == whole["entries"][0]["entry"]["scope"]
    assert {each.text for each in SAID} == {
        each["entry"]["content"]["text"] for each in whole["left_out"]
    }
    assert {"user_name": "Ada", "home": "Porto"} == whole["profile"][0]["memory"]["value"]
    assert "memory" not in short["profile"][0]
    assert "content" not in short["entries"][0]["entry"]


@pytest.mark.parametrize(
    "body",
    [
        {"budget_tokens": 0},
        {"budget_tokens": -3},
        {"budget_tokens": "many"},
        {"history_tokens": -1},
        {"history_tokens": 100},
        {"recent": 6},
        {"min_score": 1.5},
        {"min_score": "high"},
        {"recent": -1},
        {"recent": 100_000},
        {"recent": ["a", 5]},
        {"thread": ""},
        {"thread": "a" * 10_000},
        {"profile": "User"},
        {"profile": [""]},
        {"examples": "one"},
        {"roles": ["user"]},
        {"limit": 5},
        {"valid_at": "then"},
        {"filter": {"a": {"$no": 1}}},
        {"query": None},
        {"query": ["a"]},
    ],
)
def test_a_wrong_argument_is_told_as_a_problem(web: httpx.Client, body: dict[str, Any]) -> None:
    answer = web.post("/v1/context", params=BELOW_KEY, json={"query": "boat", **body})

    assert answer.status_code in {400, 413, 422}, answer.text
    assert "application/problem+json" == answer.headers["content-type"]
    assert "$no" in answer.text if "filter" in body else next(iter(body)) in answer.text


@pytest.mark.parametrize("query", ["", "  ", "\u200b", "👍", "Where is my boat? " * 11_500])
def test_any_text_is_a_query(web: httpx.Client, query: str) -> None:
    """An empty one gets the profile, a long one is cut, and nothing in it breaks anything."""
    body = json.dumps({"query": query}).encode()
    headers = {"content-type": "application/json"}
    answer = web.post("/v1/context", params=BELOW_KEY, content=body, headers=headers)

    assert 200 == answer.status_code, answer.text
    assert "- home: Porto" in answer.json()["text"]
    assert bool(answer.json()["entries"]) == ("boat" in query)


def test_a_thread_and_a_scope_that_are_not_there_are_empty(web: httpx.Client) -> None:
    nowhere = web.post("/v1/context", params={"scope": "nobody"}, json={"query": "boat"})

    assert "Ida" in asked(web, QUESTIONS[0], thread="none", history_tokens=100).json()["text"]
    assert ("", 0) == (nowhere.json()["text"], nowhere.json()["tokens"])


def test_a_context_needs_what_a_recall_needs(
    service: Served, connect: Connect, new_key: Callable[..., str]
) -> None:
    """The permission to read, and one more for the scopes below."""
    writer = connect(service, new_key(service, "write"))
    reader = connect(service, new_key(service, "read"))

    assert 403 == asked(writer, "boat").status_code
    assert 200 == asked(reader, "boat").status_code
    for path in ("/v1/context", "/v1/recall"):
        refused = reader.post(path, params=BELOW_KEY, json={"query": "boat", "below": True})
        assert 403 == refused.status_code


def test_what_a_context_shows_is_told_of_a_memory(web: httpx.Client) -> None:
    """As of a recall: by which query, and in which place."""
    asked(web, "Who sails on the boat?")

    told = web.get("/v1/memories/Fact/crew/recalls", params=BELOW_KEY).json()["recalls"]

    assert "Who sails on the boat?" == told[0]["query"]


async def wrong_in_library(file: str, options: dict[str, Any]) -> RecollectError:
    """Return the error of the library."""
    with pytest.raises(RecollectError) as told:
        await in_library(file, "boat", **options)
    return told.value


@pytest.mark.parametrize(
    "options",
    [{"budget_tokens": 0}, {"recent": -1}, {"min_score": 2.0}, {"thread": ""}, {"profile": [""]}],
)
def test_the_client_raises_what_the_library_raises(
    file: str, service: Served, options: dict[str, Any]
) -> None:
    told = anyio.run(wrong_in_library, file, options)
    with SyncClient(service.url, service.key) as client, pytest.raises(UsageError):
        client.context("ada", "boat", **options)

    assert isinstance(told, UsageError)


def test_the_client_of_a_key_that_may_not_read_is_refused(
    service: Served, new_key: Callable[..., str]
) -> None:
    key = new_key(service, "write")
    with SyncClient(service.url, key) as client, pytest.raises(ForbiddenError):
        client.context("ada", "boat")
