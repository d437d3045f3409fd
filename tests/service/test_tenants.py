"""No request of one tenant returns, or changes, a byte of another's, on any route or MCP tool."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from recollect.memory.facade import Recollect
from recollect.records import PutMemory, Scope
from recollect.server.authorization import PERMISSIONS, Permission, Principal
from recollect.server.http import scope_access as reaching
from recollect.server.langgraph import request_context
from recollect.server.mcp import callers
from recollect.server.mcp.recollect_tool_definitions import TOOL_HINTS
from recollect.server.mcp.streamable_http import PATH, mcp_door
from recollect.server.mem0 import MEM0_ROUTERS
from recollect.server.mem0.owners import written_id
from recollect.server.routes import ROUTERS
from recollect.server.testing import Served, serving

Connect = Callable[..., httpx.Client]
SAMPLE = 300
LIKELY = 0.6
PROVEN = 20_000
VICTIM: Scope = ("globex",)
# Nothing of the victim that the attacker's requests hold themselves.
CANARIES = ("heliotrope", "marzipan", "obsidian", "quicksilver", "tamarind")
THREAD, MESSAGE, KEY, SOURCE = "victims-thread", "victims-message", "victims-key", "victims-crm"
HOSTILE: Sequence[Sequence[str]] = (
    ("globex",),
    (),
    ("..", "globex"),
    ("../globex",),
    ("/globex",),
    ("acme", "globex"),
    ("%2e%2e", "globex"),
    ("globex", "ada"),
    ("*",),
    ("_",),
    ("%",),
    ("recollect:service", "keys"),
    ("acme/../globex",),
    ("glob%65x",),
)
Attack = tuple[str, str, dict[str, Any]]
MCP = "MCP"
MCP_CALLS = (*TOOL_HINTS, "resources/list", "resources/read", "prompts/get")
MCP_FAULT = b"-32603"
MEMORY = f"Note/{KEY}"
OWNERS = ("ada", "globex", "..%2Fglobex", "*")
MEM0_IDS = (
    written_id("users", "ada", "Note", KEY),
    written_id("globex", "users", "ada", "Note", KEY),
    written_id("users", "../globex", "Note", KEY),
    written_id("users", "ada", THREAD, 0, 9),
    "WyJ",
)


@pytest.fixture(scope="module")
def served(store: Callable[[str], str]) -> Iterator[Served]:
    """Run one service for the tests of this module, with the door to MCP."""
    with serving(store=store("served"), doors=doors) as found:
        yield found


def doors(settings: Any) -> list[Any]:
    """Return the doors of the service."""
    return [mcp_door(settings)]


def routes() -> list[tuple[str, str]]:
    """Return each route below /v1 and of mem0's clients, and what is called through MCP."""
    ours = sorted(
        (method, route.path)
        for router in (*ROUTERS, *MEM0_ROUTERS)
        for route in router.routes
        if isinstance(route, APIRoute) and route.path.startswith(("/v1", "/compat"))
        for method in route.methods or ()
    )
    return [*ours, *((MCP, each) for each in MCP_CALLS)]


class Attacker:
    """Makes requests at random that try to reach the victim's memory with the attacker's key."""

    def __init__(self, seed: int, *, stolen: dict[str, Sequence[str]], only: str = "") -> None:
        self._random = random.Random(seed)  # noqa: S311 (repeatable)
        self._routes = [each for each in routes() if only in {"", each[0]}]
        self._stolen = stolen

    def attacks(self, count: int) -> Iterator[Attack]:
        """Yield so many requests, each route in turn."""
        for number in range(count):
            method, path = self._routes[number % len(self._routes)]
            if method == MCP:
                yield "POST", PATH, self._called(path)
            else:
                yield method, self._filled(path), self._parts(method, path)

    def _called(self, name: str) -> dict[str, Any]:
        """Return the parts of a call through MCP."""
        choose = self._random.choice
        uris = (
            f"recollect://memories/{MEMORY}",
            f"recollect://threads/{THREAD}",
            "recollect://profile",
            "recollect://threads/..%2Fglobex%2Fmcp",
        )
        found: dict[str, dict[str, Any]] = {
            "resources/list": {},
            "resources/read": {"uri": choose(uris)},
            "prompts/get": {"name": "recall", "arguments": {"question": "which secret"}},
        }
        method = name if name in found else "tools/call"
        if name not in found:
            found[name] = {"name": name, "arguments": self._arguments(name)}
        headers = {**self._headers(), "accept": "application/json, text/event-stream"}
        return {
            "params": [("scope", each) for each in self._likely(HOSTILE)],
            "headers": headers,
            "json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": found[name]},
        }

    def _arguments(self, name: str) -> dict[str, Any]:
        choose = self._random.choice
        note = {"type": "Note", "value": {"context": "always", "content": "mine"}}
        changes = [{"op": "replace", "path": "/content", "value": "mine"}]
        found: dict[str, dict[str, Any]] = {
            "save_memory": {"memory": note, "quotes": ["mine"]},
            "search_memory": {"query": "which secret"},
            "context": {"query": "which secret"},
            "update_memory": {"id": MEMORY, "changes": changes, "quotes": ["mine"]},
            "erase_memory": {"id": MEMORY, "token": choose(self._stolen["confirm"])},
            "profile": {},
        }
        more = choose(({}, {}, {"scope": ["globex"]}, {"user_id": "globex"}))
        return found[name] | more

    def _filled(self, path: str) -> str:
        values = {
            "thread": (THREAD, "t"),
            "message": (MESSAGE, "m"),
            "type": ("Note", "ServiceKey", "ScopeSettings"),
            "key": (KEY, "k"),
            "formation": (*self._stolen["formation"], "f"),
            "id": self._stolen["key"],
            "memory_id": MEM0_IDS,
            "event_id": MEM0_IDS,
            "kind": ("user", "run"),
            "name": OWNERS,
        }
        for name, found in values.items():
            path = path.replace(f"{{{name}}}", self._likely(found))
        return path

    def _likely(self, found: Sequence[Any]) -> Any:
        """Return mostly the first, which is what the victim has, else any."""
        return found[0] if self._random.random() < LIKELY else self._random.choice(found)

    def _parts(self, method: str, path: str) -> dict[str, Any]:
        choose = self._random.choice
        query: list[tuple[str, str]] = [("scope", each) for each in self._likely(HOSTILE)]
        if choose((True, False)):
            query.append(("below", "true"))
        if choose((True, *(False,) * 5)) and method == "GET":
            query.append(("cursor", choose(self._stolen["cursor"])))
        parts: dict[str, Any] = {"params": query, "headers": self._headers()}
        if path == "/v1/import":
            record = {"kind": "thread", "scope": list(choose(HOSTILE)), "id": THREAD}
            parts["content"] = json.dumps(record)
            parts["headers"]["content-type"] = "application/x-ndjson"
        elif method in {"POST", "PUT"} or path.endswith("/batch/"):
            parts["json"] = self._body(path)
        elif path.startswith("/compat"):
            query += [("user_id", choose(OWNERS))]
        return parts

    def _headers(self) -> dict[str, str]:
        return self._random.choice(
            (
                {},
                {"x-scope": "globex"},
                {"x-forwarded-user": "globex", "x-tenant": "globex"},
                {"last-event-id": "1:1"},
                {"idempotency-key": "victims-request"},
                {"if-match": '"1"'},
            )
        )

    def _body(self, path: str) -> dict[str, Any]:
        choose = self._random.choice
        targets = (
            {"scope": True},
            {"scope": True, "below": True},
            {"thread": THREAD},
            {"message": {"thread": THREAD, "id": MESSAGE}},
            {"memory": {"type": "Note", "key": KEY}},
            {"source": SOURCE},
        )
        found: dict[str, dict[str, Any]] = {
            "/messages": {"messages": [{"role": "user", "text": "mine", "id": MESSAGE}]},
            "/messages/{message}": {"role": "user", "text": "mine"},
            "/memories/{type}/{key}": {"value": {"context": "always", "content": "mine"}},
            "/reject": {},
            "/restore": {"version": 1},
            "/end": {"at": "2020-01-01T00:00:00Z"},
            "/types": {"types": []},
            "/types/check": {"types": []},
            "/recall": {"query": "which secret", "below": choose((True, False)), "limit": 50},
            "/context": {
                "query": "which secret",
                "below": choose((True, False)),
                "thread": THREAD,
                "history_tokens": 500,
            },
            "/form": {},
            "/formation/pause": choose(({}, {"thread": THREAD})),
            "/formation/resume": choose(({}, {"thread": THREAD})),
            "/formation/retry": choose(({}, {"thread": THREAD})),
            "/approve": {},
            "/remember": {"text": "mine"},
            "/erase/preview": {"target": choose(targets)},
            "/v1/erase": {"confirm": choose(self._stolen["confirm"])},
            "/v1/keys": {"name": "x", "scope": list(choose(HOSTILE)), "permissions": ["read"]},
            "/rotate": {},
            "/v1/undo": {"undo": choose(self._stolen["confirm"])},
            "/chat": {"thread": THREAD, "text": "which secret"},
            "/memories/add/": {
                "messages": "mine",
                "user_id": choose(OWNERS),
                "infer": choose((True, False)),
            },
            "/memories/search/": {
                "query": "which secret",
                "filters": choose(({}, {"user_id": choose(OWNERS)}, {"NOT": [{"user_id": "x"}]})),
            },
            "/mem0/v1/memories/": {"messages": "mine", "user_id": choose(OWNERS)},
            "/v2/memories/": {"filters": choose(({}, {"user_id": "*"}))},
            "/v3/memories/": {"filters": choose(({}, {"user_id": "*"}))},
            "/batch/": {"memories": [{"memory_id": choose(MEM0_IDS), "text": "mine"}]},
        }
        endings = sorted((each for each in found if path.endswith(each)), key=len)
        return found[endings[-1]] if endings else {"text": "mine", "metadata": {"of": "me"}}


def test_every_route_with_a_body_is_attacked() -> None:
    """The walker knows a body for each route that takes one, and meets every route."""
    attacker = Attacker(0, stolen=dict.fromkeys(("formation", "key", "cursor", "confirm"), ("x",)))

    attacks = list(attacker.attacks(len(routes())))
    met = {(method, path) for method, path, _ in attacks if path != PATH}

    assert len(routes()) - len(MCP_CALLS) == len(met)
    assert len(MCP_CALLS) == len(attacks) - len(met)
    assert len(met) > 40


def answer_bytes(client: httpx.Client, attack: Attack) -> bytes:
    """Return all that a request is answered, of an endless stream what comes at once."""
    method, path, parts = attack
    found, end = b"", time.monotonic() + 10
    with suppress(httpx.RemoteProtocolError), client.stream(method, path, **parts) as stream:
        assert stream.status_code != 500
        for part in stream.iter_bytes():
            found += part
            assert path != PATH or MCP_FAULT not in found
            is_endless = path.endswith("/changes") and stream.status_code == 200
            if is_endless and (b"id: " in found or time.monotonic() > end):
                break
    return found


def foreign_bytes(client: httpx.Client, attacks: Iterator[Attack]) -> int:
    """Return how many bytes of the victim the answers held."""
    count = 0
    for each in attacks:
        found = answer_bytes(client, each).decode("utf-8", "replace")
        count += sum(len(word) * found.count(word) for word in CANARIES)
    return count


async def planted(memory: Recollect) -> None:
    """Give the victim what nobody else may see."""
    note = PutMemory(
        type="Note", key=KEY, value={"context": CANARIES[2], "content": f"secret {CANARIES[0]}"}
    )
    user = PutMemory(type="User", key="User", value={"user_name": CANARIES[1]})
    await memory.apply(VICTIM, [note, user])
    await memory.apply((*VICTIM, CANARIES[4]), [note])
    await memory.apply((*VICTIM, "users", "ada"), [note])


def plant(served: Served, connect: Connect) -> tuple[str, dict[str, Sequence[str]]]:
    """Return the victim's key, and what an attacker may have got hold of."""
    portal = served.service.keys
    loop = served.service.memory.loop
    assert loop is not None
    key, secret = asyncio.run_coroutine_threadsafe(
        portal.create(CANARIES[1], VICTIM, PERMISSIONS), loop
    ).result(30)
    asyncio.run_coroutine_threadsafe(planted(served.service.memory), loop).result(30)
    victim = connect(served, secret)
    messages = [
        {"role": "user", "text": f"my secret is {CANARIES[3]}", "id": MESSAGE, "source": SOURCE},
        {"role": "user", "text": "another", "name": CANARIES[1]},
    ]
    victim.post(f"/v1/threads/{THREAD}/messages", json={"messages": messages})
    page = victim.get(f"/v1/threads/{THREAD}/messages", params={"limit": 1}).json()
    shown = victim.post("/v1/erase/preview", json={"target": {"scope": True}}).json()
    stolen: dict[str, Sequence[str]] = {
        "formation": ("f",),
        "key": (key.id,),
        "cursor": (page["cursor"], "AAAA", "null"),
        "confirm": (shown["confirm"], "AAAA"),
    }
    return secret, stolen


def attacked(served: Served, connect: Connect, count: int) -> tuple[int, bool]:
    """Return how many foreign bytes were answered, and whether the victim's memory is as it was."""
    secret, stolen = plant(served, connect)
    victim, attacker = connect(served, secret), connect(served)

    def held() -> list[str]:
        exported = victim.get("/v1/export", params={"below": True}).text
        return [exported, victim.get("/v1/keys").text.partition("last_used_at")[0]]

    before = held()
    assert all(word in "".join(before) for word in CANARIES)
    foreign = foreign_bytes(attacker, Attacker(7, stolen=stolen).attacks(count))
    return foreign, held() == before


@pytest.mark.parametrize("store", ["memory", "redis"], indirect=True)
def test_a_sample_of_attacks_reaches_nothing(served: Served, connect: Connect) -> None:
    """0 bytes of another tenant in the answers to a sample of requests, and nothing changed."""
    foreign, is_unchanged = attacked(served, connect, SAMPLE)

    assert 0 == foreign
    assert is_unchanged


@pytest.mark.prove
@pytest.mark.timeout(1_800)
def test_all_attacks_reach_nothing(served: Served, connect: Connect) -> None:
    """0 bytes of another tenant in the answers to 20,000 requests, and nothing changed."""
    foreign, is_unchanged = attacked(served, connect, PROVEN)

    what = f"{len(routes()) - len(MCP_CALLS)} routes and {len(MCP_CALLS)} calls of MCP"
    print(f"{PROVEN} requests, {what}: {foreign} foreign bytes")  # noqa: T201
    assert 0 == foreign
    assert is_unchanged


def unchecked(
    principal: Principal,
    needs: Permission,  # noqa: ARG001
    segments: Sequence[str] = (),
    *,
    below: bool = False,  # noqa: ARG001
) -> Scope:
    """Return the scope that a request names, as it is."""
    return tuple(segments) or principal.scope


def misplaced(
    principal: Principal,  # noqa: ARG001
    needs: Permission,  # noqa: ARG001
    segments: Sequence[str] = (),
    *,
    below: bool = False,  # noqa: ARG001
) -> Scope:
    """Return the scope that a request names, below another tenant's."""
    return (*VICTIM, *segments)


def test_a_service_that_lets_mem0_out_of_its_scope_is_caught(
    served: Served, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The walker finds foreign bytes where requests of mem0's clients mean another's scope."""
    _, stolen = plant(served, connect)
    monkeypatch.setattr(request_context, "granted", misplaced)
    attacker = Attacker(7, stolen=stolen, only="GET")
    attacks = [
        each for each in attacker.attacks(4 * len(routes())) if each[1].startswith("/compat")
    ]

    assert foreign_bytes(connect(served), iter(attacks)) > 0


@pytest.mark.parametrize("way", ["the routes", "MCP"])
def test_a_service_that_does_not_check_scopes_is_caught(
    served: Served, connect: Connect, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The walker finds foreign bytes where the scope of a request is taken as it is."""
    _, stolen = plant(served, connect)
    monkeypatch.setattr(callers if way == "MCP" else reaching, "granted", unchecked)
    monkeypatch.setattr(reaching, "relative", lambda _, scope: list(scope))
    only = MCP if way == "MCP" else "GET"
    attacker = Attacker(7, stolen=stolen, only=only)

    foreign = foreign_bytes(connect(served), attacker.attacks(2 * len(routes())))

    assert foreign > 0
