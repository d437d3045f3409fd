"""The MCP server at /mcp of the service, with the SDK's own client and the service's keys."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from recollect.server.http import service as opening
from recollect.server.http.mounts import Door, late_door
from recollect.server.mcp.streamable_http import PATH, mcp_door
from recollect.server.settings import Settings
from recollect.server.testing import Served, serving

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(240)]
MODES = ("auto", "legacy", "2026-07-28")
START_S_MAX = 60.0
TEA = {
    "memory": {"type": "Note", "value": {"context": "drinks", "content": "Likes green tea"}},
    "quotes": ["I like green tea"],
}
REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
SENT = {"accept": "application/json, text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, where the stores live."""
    return "asyncio"


def with_door(**settings: Any) -> Any:
    """Run the service with the door to MCP."""

    def doors(chosen: Settings) -> list[Any]:
        return [late_door(PATH, lambda: mcp_door(chosen))]

    return serving(doors=doors, **settings)


def test_a_door_is_made_once_when_it_is_first_asked_for() -> None:
    """A service whose MCP nobody uses does not load it; those who ask at once share one."""
    made: list[Door] = []

    def doors(chosen: Settings) -> list[Door]:
        def make() -> Door:
            made.append(mcp_door(chosen))
            return made[-1]

        return [late_door(PATH, make)]

    with serving(doors=doors) as found:
        headers = {**SENT, "x-api-key": found.key}
        with httpx.Client(base_url=found.url, headers=headers) as client:
            before = [client.get("/v1/me").status_code, len(made)]
            with ThreadPoolExecutor(4) as pool:
                asked = list(pool.map(lambda _: client.post(PATH, json=REQUEST), range(4)))

    assert [200, 0] == before
    assert [200] * 4 == [each.status_code for each in asked]
    assert 1 == len(made)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Run one service for the tests of this module."""
    with with_door() as found:
        yield found


@asynccontextmanager
async def connected(url: str, key: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Yield a client with a key."""
    async with (
        httpx2.AsyncClient(headers={"x-api-key": key}, timeout=30.0) as web,
        Client(streamable_http_client(url, http_client=web), mode=mode) as client,
    ):
        yield client


def new_key(served: Served, *permissions: str, scope: tuple[str, ...] = ()) -> str:
    """Make a key by the route of the service."""
    body = {"name": "made", "scope": scope, "permissions": permissions}
    answer = httpx.post(f"{served.url}/v1/keys", json=body, headers={"x-api-key": served.key})
    assert 201 == answer.status_code, answer.text
    return str(answer.json()["key"])


def rows(served: Served, key: str, listing: str, scope: dict[str, str]) -> list[dict[str, Any]]:
    """Return what a route of the service lists."""
    answer = httpx.get(f"{served.url}/v1/{listing}", params=scope, headers={"x-api-key": key})
    found: list[dict[str, Any]] = answer.json()[listing]
    return found


@pytest.mark.parametrize("mode", MODES)
async def test_one_key_opens_both_ways_in(served: Served, mode: str) -> None:
    """What a tool keeps is listed by the routes of the service, in the scope of the same key."""
    key = await asyncio.to_thread(new_key, served, "read", "write", "admin", scope=("both", mode))
    async with connected(f"{served.url}{PATH}?scope=ada", key, mode) as client:
        kept = (await client.call_tool("save_memory", TEA)).structured_content
        assert "stored" == kept["status"]
    ada = {"scope": "ada"}
    listed = await asyncio.to_thread(rows, served, key, "memories", ada)
    beside = await asyncio.to_thread(rows, served, key, "memories", {})
    audit = await asyncio.to_thread(rows, served, key, "audit", ada)

    assert [kept["id"]] == [f"{each['type']}/{each['key']}" for each in listed]
    assert [] == beside
    assert {key.split("_")[1]} == {each["actor"] for each in audit}


PLACE = {
    "name": "Place",
    "description": "A place that the user likes",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
}


def set_a_place(served: Served, key: str) -> None:
    """Set a type of one scope, and put a memory of it, by the routes of the service."""
    scope, headers = {"scope": "ada"}, {"x-api-key": key}
    with httpx.Client(base_url=served.url, headers=headers, params=scope) as client:
        assert client.put("/v1/types", json={"types": [PLACE]}).is_success
        value = {"value": {"name": "Oslo"}}
        assert client.put("/v1/memories/Place/a", json=value).is_success
        fact = {"subject": "Ada", "predicate": "lives in", "object": "Oslo"}
        assert client.put("/v1/memories/Fact/f", json={"value": fact}).is_success


async def test_the_types_are_those_of_the_scope(served: Served) -> None:
    """What `PUT /v1/types` sets is kept and found here as well, in that scope and no other."""
    key = await asyncio.to_thread(new_key, served, "read", "write", scope=("typed",))
    bergen = {
        "memory": {"type": "Place", "value": {"name": "Bergen"}},
        "quotes": ["I love Bergen"],
    }
    async with connected(f"{served.url}{PATH}?scope=ada", key) as client:
        early = (await client.call_tool("save_memory", bergen)).structured_content
        await asyncio.to_thread(set_a_place, served, key)
        shown = str((await client.list_tools()).tools)
        found = (await client.call_tool("search_memory", {"query": "Oslo"})).structured_content
        kept = (await client.call_tool("save_memory", bergen)).structured_content
    async with connected(f"{served.url}{PATH}?scope=bob", key) as client:
        beside = (await client.call_tool("save_memory", bergen)).structured_content
        unchanged = str((await client.list_tools()).tools)

    assert ("refused", "stored", "refused") == (early["status"], kept["status"], beside["status"])
    assert {"Place/a", "Fact/f"} == {each["id"] for each in found["memories"]}
    assert "A place that the user likes" in shown
    assert "A place that the user likes" not in unchanged


async def test_a_key_without_the_permission_is_told_so(served: Served) -> None:
    """Permissions are those of the service: a key that may read saves nothing."""
    key = await asyncio.to_thread(new_key, served, "read", scope=("reader",))
    async with connected(f"{served.url}{PATH}", key) as client:
        told = (await client.call_tool("save_memory", TEA)).structured_content

    assert "forbidden" == told["code"]


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unknown_key"),
        ({"x-api-key": "nonsense"}, 401, "unknown_key"),
        ({"host": "evil.example"}, 421, "host"),
        ({"origin": "https://evil.example"}, 403, "origin"),
    ],
)
def test_who_is_not_let_in(served: Served, headers: dict[str, str], status: int, code: str) -> None:
    """Without a good key, under another name or from a foreign page nothing is read."""
    answer = httpx.post(f"{served.url}{PATH}", headers={**SENT, **headers}, json=REQUEST)

    assert (status, code) == (answer.status_code, answer.json()["code"])


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])
def test_it_is_asked_with_post_alone(served: Served, method: str) -> None:
    """No session has a stream to listen to, or an end: a GET is answered at once, not held open."""
    headers = {**SENT, "x-api-key": served.key}

    answer = httpx.request(method, f"{served.url}{PATH}", headers=headers, timeout=10)

    assert (405, "POST") == (answer.status_code, answer.headers["allow"])
    assert "application/problem+json" == answer.headers["content-type"]
    assert method == "HEAD" or "no_method" == answer.json()["code"]


def test_a_tenant_has_one_rate_for_both_ways_in() -> None:
    """Requests to the routes and to MCP are taken from the same allowance."""
    with with_door(requests_a_second=0.001, burst=3) as served:
        headers = {**SENT, "x-api-key": served.key}
        first = httpx.get(f"{served.url}/v1/me", headers=headers)
        more = [httpx.post(f"{served.url}{PATH}", headers=headers, json=REQUEST) for _ in range(3)]

    assert 200 == first.status_code
    assert [429] == [each.status_code for each in more][2:]
    assert 429 not in [each.status_code for each in more[:2]]
    assert int(more[2].headers["retry-after"]) > 0


async def quoted(url: str, key: str, count: int) -> list[dict[str, Any]]:
    """Save a memory so many times, each with other words, and return what the client is told."""
    told: list[dict[str, Any]] = []
    async with connected(url, key) as client:
        for number in range(count):
            words = f"I like tea number {number}"
            value = {"context": "drinks", "content": words}
            arguments = {"memory": {"type": "Note", "value": value}, "quotes": [words]}
            told.append((await client.call_tool("save_memory", arguments)).structured_content)
    return told


async def test_a_tenant_has_one_quota_for_both_ways_in() -> None:
    """What is said through the routes and what is quoted through MCP is counted together."""
    said = {"messages": [{"role": "user", "text": "hello"}, {"role": "user", "text": "again"}]}
    with with_door(messages_a_day=4) as served:
        headers = {"x-api-key": served.key}
        at = f"{served.url}/v1/threads/t/messages"
        first = await asyncio.to_thread(httpx.post, at, headers=headers, json=said)
        told = await quoted(f"{served.url}{PATH}", served.key, 3)
        last = await asyncio.to_thread(httpx.post, at, headers=headers, json=said)
        async with connected(f"{served.url}{PATH}", served.key) as client:
            await client.call_tool("search_memory", {"query": "tea"})
            await client.get_prompt("recall", {"question": "Which tea?"})
        used = await asyncio.to_thread(httpx.get, f"{served.url}/v1/usage", headers=headers)

    assert 201 == first.status_code
    assert ["stored", "stored", "failed"] == [each["status"] for each in told]
    assert "quota" == told[2]["code"]
    assert "messages_a_day" in told[2]["reason"]
    assert 429 == last.status_code
    (day,) = used.json()["days"]
    assert (4, 2) == (day["messages"], day["recalls"])


async def test_a_door_without_quotas_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: where what is written is not measured, nobody is refused."""
    monkeypatch.setattr(opening, "metered", lambda memory, _: memory)
    with with_door(messages_a_day=1) as served:
        told = await quoted(f"{served.url}{PATH}", served.key, 3)

    assert ["stored"] * 3 == [each["status"] for each in told]


def test_its_requests_are_counted_by_its_path(served: Served) -> None:
    """The figures name the door by its path."""
    headers = {**SENT, "x-api-key": served.key}
    httpx.post(f"{served.url}{PATH}", headers=headers, json=REQUEST)

    figures = httpx.get(f"{served.url}/metrics", headers=headers).text

    assert f'route="{PATH}"' in figures


@contextmanager
def served_by_command(folder: Path) -> Iterator[tuple[str, str]]:
    """Run `recollect serve`, and yield its address and its first key; it must end well."""
    environment = {name: each for name, each in os.environ.items() if "RECOLLECT" not in name}
    environment["XDG_DATA_HOME"] = str(folder)
    command = [sys.executable, "-m", "recollect", "serve", "--port", "0", "--embedder", "none"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=-1, stderr=-1, text=True
    ) as process:
        watch = threading.Timer(START_S_MAX, process.kill)
        watch.start()
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            at = next(filter(None, (re.search(r"at (http\S+)", each) for each in process.stderr)))
            key = next(filter(None, (re.search(r"(rk_\S+)", each) for each in process.stdout)))
            yield at[1], key[1]
            process.terminate()
            assert 0 == process.wait(START_S_MAX)
        finally:
            watch.cancel()
            process.kill()


async def test_recollect_serve_has_the_door(tmp_path: Path) -> None:
    """The command serves it beside the page and the routes."""
    with served_by_command(tmp_path) as (url, key):
        async with connected(f"{url}{PATH}", key) as client:
            told = (await client.call_tool("save_memory", TEA)).structured_content

    assert "stored" == told["status"]
