"""Every long answer ends soon after its key is not good any more, whoever revoked it."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, get_type_hints
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.responses import StreamingResponse

from recollect.memory.facade import Recollect
from recollect.ports import ModelAnswer, ModelRequest
from recollect.records import JsonObject
from recollect.server import key_watch
from recollect.server.api_keys import Keys
from recollect.server.http.authentication import is_guarded
from recollect.server.http.deadlines import PATIENT
from recollect.server.http.event_streams import FollowingResponse
from recollect.server.http.fast_routes import FastRoutes
from recollect.server.http.scope_access import Reach
from recollect.server.key_watch import KeyWatch
from recollect.server.langgraph.langgraph_routes import LANGGRAPH_ROUTERS
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.mcp.streamable_http import PATH as MCP_PATH
from recollect.server.mcp.streamable_http import mcp_door
from recollect.server.mem0 import MEM0_ROUTERS
from recollect.server.routes import ROUTERS
from recollect.server.testing import Served, serving
from recollect.side_records import KEYS_SCOPE, SERVICE_KEY, PutSideRecord
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store
from recollect.testing.scripted_model import ScriptedModel

pytestmark = pytest.mark.timeout(240)
Fresh = Callable[[str], str]
NewKey = Callable[..., str]
Connect = Callable[..., httpx.Client]

ENDS_S_MAX = 2.0
OPENS_S_MAX = 30.0
FOR_EVER_S = 3_600.0
THREAD = str(uuid4())
SENT = {"accept": "application/json, text/event-stream"}
ALL = ("read", "write", "below", "erase", "admin")


class Hanging(ScriptedModel):
    """A model that says one word, and then nothing for ever."""

    def __init__(self) -> None:
        super().__init__(lambda _: "", identity="test/hanging")

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        await anyio.sleep(FOR_EVER_S)
        return await super().answer(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        yield "one"
        await anyio.sleep(FOR_EVER_S)


@dataclass(kw_only=True)
class Opened:
    """A long answer that is open: when it began, and, once it has ended, with what."""

    served: Served
    key: str
    begun: threading.Event = field(default_factory=threading.Event)

    def client(self) -> httpx.Client:
        """Return a client with the key that will be revoked."""
        return httpx.Client(
            base_url=self.served.url, headers={"x-api-key": self.key, **SENT}, timeout=60.0
        )

    def streamed(self, method: str, path: str, **parts: Any) -> JsonObject:
        """Make a request, and return the problem with which its stream ends."""
        with self.client() as client, client.stream(method, path, **parts) as answer:
            told = b""
            for piece in answer.iter_raw():
                told += piece
                self.begun.set()
        return last_of(answer.headers["content-type"], told)

    def waited(self, method: str, path: str, **parts: Any) -> JsonObject:
        """Make a request, and return the problem with which it is answered at last."""
        with self.client() as client:
            self.begun.set()
            answer = client.request(method, path, **parts)
        return last_of(answer.headers["content-type"], answer.content)


def last_of(media_type: str, told: bytes) -> JsonObject:
    """Return the problem that an answer is, or ends with; nothing if it ends with none."""
    text = told.decode()
    if media_type.startswith("text/event-stream"):
        *_, last = text.strip().split("\n\n")
        name, _, data = last.partition("\ndata: ")
        return dict(json.loads(data)) if name == "event: error" else {}
    last = text.strip().split("\n")[-1]
    return dict(json.loads(last)) if last else {}


FILE_IMPORT: Final = "/v1/import/file"


def body_type(path: str) -> str:
    """Return the media type that a route takes a streamed body of."""
    return "application/octet-stream" if path == FILE_IMPORT else "application/x-ndjson"


def uploaded(opened: Opened, path: str = "/v1/import", query: str = "") -> JsonObject:
    """Begin an import of which nothing more comes."""
    address = urlsplit(opened.served.url)
    head = [
        f"POST {path}{query} HTTP/1.1",
        "host: localhost",
        f"x-api-key: {opened.key}",
        f"content-type: {body_type(path)}",
        "transfer-encoding: chunked",
    ]
    with socket.create_connection((address.hostname, address.port), 30.0) as connection:
        connection.sendall("\r\n".join([*head, "", ""]).encode() + b"1\r\n\n\r\n")
        opened.begun.set()
        told = b""
        while part := connection.recv(65_536):
            told += part
    _, _, body = told.partition(b"\r\n\r\n")
    return last_of("application/problem+json", body)


def called(opened: Opened) -> JsonObject:
    """Call a tool of MCP."""
    params = {"name": "search_memory", "arguments": {"query": "Oslo"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return opened.waited("POST", MCP_PATH, json=call)


def joined(opened: Opened) -> JsonObject:
    """Wait for a run that nobody forms."""
    with opened.client() as client:
        thread = client.post("/threads", json={}).json()["thread_id"]
        run = client.post(f"/threads/{thread}/runs", json=run_of("A boat.")).json()["run_id"]
    return opened.waited("GET", f"/threads/{thread}/runs/{run}/join")


def run_of(text: str) -> JsonObject:
    """Return a run of one message."""
    message = {"role": "user", "content": text}
    return {"assistant_id": "memory", "input": {"messages": [message]}, "if_not_exists": "create"}


Long = Callable[[Opened], JsonObject]
LONG: Mapping[tuple[str, str], Long] = {
    ("GET", "/v1/changes"): lambda it: it.streamed("GET", "/v1/changes"),
    ("GET", "/v1/export"): lambda it: it.streamed("GET", "/v1/export"),
    ("POST", "/v1/chat"): lambda it: it.streamed(
        "POST", "/v1/chat", json={"thread": "c", "text": "Home?"}
    ),
    ("POST", "/v1/import"): uploaded,
    ("POST", FILE_IMPORT): lambda it: uploaded(it, FILE_IMPORT, "?name=talk.jsonl"),
    ("POST", "/v1/form"): lambda it: it.waited("POST", "/v1/form", json={}),
    ("POST", "/runs/wait"): lambda it: it.waited("POST", "/runs/wait", json=run_of("A house.")),
    ("POST", "/threads/{thread_id}/runs/wait"): lambda it: it.waited(
        "POST", f"/threads/{THREAD}/runs/wait", json=run_of("A tree.")
    ),
    ("GET", "/threads/{thread_id}/runs/{run_id}/join"): joined,
    ("POST", MCP_PATH): called,
}
"""What is long by its nature, by its route."""


def routes() -> list[APIRoute]:
    """Return every guarded route of the service."""
    return [
        route
        for router in (*ROUTERS, *LANGGRAPH_ROUTERS, *MEM0_ROUTERS)
        for route in router.routes
        if isinstance(route, APIRoute) and is_guarded(route.path)
    ]


def is_long(route: APIRoute) -> bool:
    """Return True if a route streams, takes its time, or waits for something."""
    answer = get_type_hints(route.endpoint).get("return")
    streams = isinstance(answer, type) and issubclass(answer, StreamingResponse | FollowingResponse)
    waits = {"request", "asked"} <= set(route.endpoint.__annotations__)
    return streams or route.path in PATIENT or waits or route.path.endswith("/join")


def test_every_long_answer_is_in_the_table() -> None:
    """A new route that streams or waits is held to the tests below, or fails this one."""
    found = {
        (method, each.path) for each in routes() if is_long(each) for method in each.methods or ()
    }

    assert found | {("POST", MCP_PATH)} == set(LONG)


@pytest.fixture
def served(store: Fresh, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Run a service in which everything that can be slow is endless."""

    async def export(*_: Any, **__: Any) -> AsyncIterator[JsonObject]:
        yield {"kind": "thread", "scope": ["acme"], "id": "t"}
        await anyio.sleep(FOR_EVER_S)

    async def call(*_: Any) -> JsonObject:
        await anyio.sleep(FOR_EVER_S)
        return {}

    monkeypatch.setattr(Recollect, "export", export)
    monkeypatch.setattr(RecollectTools, "call", call)
    url = store("served")
    with serving(store=url, model=Hanging(), doors=lambda each: [mcp_door(each)]) as found:
        said = {"messages": [{"role": "user", "text": "We moved to Oslo."}]}
        httpx.post(
            f"{found.url}/v1/threads/t/messages", json=said, headers={"x-api-key": found.key}
        ).raise_for_status()
        object.__setattr__(found, "store", url)
        yield found


# How a key stops to be good: through the service, or behind its back.


def beside(served: Served, work: Callable[[Store], Any]) -> None:
    """Do something with the store of a service as another process would."""
    url: str = served.store  # type: ignore[attr-defined]
    memory = served.service.memory
    if url == "memory:":
        assert memory.loop is not None
        asyncio.run_coroutine_threadsafe(work(memory.store), memory.loop).result(30)
        return

    async def do() -> None:
        async with open_store(url) as store:
            await work(store)

    asyncio.run(do())


async def changed_key(store: Store, id_: str, **fields: Any) -> None:
    """Write other fields into the document of a key."""
    kept = await store.side_record(KEYS_SCOPE, SERVICE_KEY, id_)
    assert kept is not None
    value = {**kept.value, **fields}
    await store.apply(KEYS_SCOPE, [PutSideRecord(kind=SERVICE_KEY, key=id_, value=value)])


async def expire(store: Store, id_: str) -> None:
    """Let a key be good for a moment only."""
    kept = await Keys(store).key(id_)
    until = kept.created_at - timedelta(days=1)
    await changed_key(store, id_, expires_at=until.isoformat())


def revoke_here(served: Served, id_: str) -> None:
    """Revoke a key through the service."""
    answer = httpx.delete(f"{served.url}/v1/keys/{id_}", headers={"x-api-key": served.key})
    assert 204 == answer.status_code, answer.text


def rotate_here(served: Served, id_: str) -> None:
    """Give a key another secret through the service."""
    answer = httpx.post(f"{served.url}/v1/keys/{id_}/rotate", headers={"x-api-key": served.key})
    assert 200 == answer.status_code, answer.text


Way = Callable[[Served, str], None]
WAYS: Mapping[str, tuple[Way, str]] = {
    "revoked": (revoke_here, "was revoked"),
    "revoked elsewhere": (
        lambda served, id_: beside(served, lambda store: Keys(store).revoke(id_)),
        "was revoked",
    ),
    "rotated": (rotate_here, "was replaced"),
    "expired": (lambda served, id_: beside(served, lambda it: expire(it, id_)), "has expired"),
    "narrowed": (
        lambda served, id_: beside(
            served, lambda store: changed_key(store, id_, permissions=["read"])
        ),
        "lost permissions",
    ),
    "moved": (
        lambda served, id_: beside(
            served, lambda store: changed_key(store, id_, scope=["acme", "elsewhere"])
        ),
        "another scope",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a long answer ended, and how long after the key was not good any more."""

    told: JsonObject
    after_s: float


def endings(
    served: Served, key: str, way: Way, long: Sequence[Long], *, patience_s: float = 10.0
) -> list[Ending | None]:
    """
    Open long answers with a key, spoil the key, and return how each answer ended.

    ``None`` stands for one that had not ended by then.
    """
    opened = [Opened(served=served, key=key) for _ in long]
    with ThreadPoolExecutor(len(long)) as pool:
        ends = [pool.submit(timed, each, it) for each, it in zip(long, opened, strict=True)]
        for it in opened:
            assert it.begun.wait(OPENS_S_MAX)
        time.sleep(0.5)  # those that wait tell nothing of having begun
        way(served, key.split("_")[1])
        spoilt_at = time.monotonic()
        found = [ended(each, spoilt_at, patience_s) for each in ends]
        if None in found:
            served.app.state.stopping.set()
            for each in ends:
                each.cancel()
    return found


def timed(long: Long, opened: Opened) -> tuple[JsonObject, float]:
    """Return with what a long answer ended, and when."""
    return long(opened), time.monotonic()


def ended(
    end: "Future[tuple[JsonObject, float]]", since: float, patience_s: float
) -> Ending | None:
    """Wait for an end."""
    try:
        told, at = end.result(max(0.0, since + patience_s - time.monotonic()))
    except TimeoutError:
        return None
    return Ending(told=told, after_s=at - since)


def hold_to_ends(found: Sequence[Ending | None], said: str) -> None:
    """Fail where an answer went on, or ended without saying why."""
    assert all(found), found
    ends = [each for each in found if each is not None]
    assert ["key_revoked"] * len(ends) == [each.told.get("code") for each in ends], ends
    assert all(said in str(each.told["detail"]) for each in ends)
    assert [401] * len(ends) == [each.told["status"] for each in ends]
    assert max(each.after_s for each in ends) <= ENDS_S_MAX, ends


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", sorted(WAYS))
def test_every_long_answer_ends_soon(served: Served, new_key: NewKey, name: str) -> None:
    """All of them, within two seconds, with a problem that says why."""
    way, said = WAYS[name]
    key = new_key(served, *ALL)

    found = endings(served, key, way, list(LONG.values()))

    hold_to_ends(found, said)


@pytest.mark.parametrize("store", ["memory", "postgres", "redis"], indirect=True)
@pytest.mark.parametrize("name", ["revoked", "revoked elsewhere"])
def test_every_long_answer_ends_soon_on_every_store(
    served: Served, new_key: NewKey, name: str
) -> None:
    """The same over the other stores."""
    way, said = WAYS[name]
    key = new_key(served, *ALL)

    found = endings(served, key, way, list(LONG.values()))

    hold_to_ends(found, said)


# Whatever a route does: held up inside, each is ended.


async def wait(_: Any) -> None:
    """Answer nothing, for ever."""
    await anyio.sleep(FOR_EVER_S)


async def idle(send: Any) -> None:
    """Begin a stream of events, of which no more comes."""
    await begin(send, b"text/event-stream; charset=utf-8")
    await anyio.sleep(FOR_EVER_S)


async def go_on(send: Any) -> None:
    """Send a line at a time, for ever."""
    await begin(send, b"application/x-ndjson")
    while True:
        await anyio.sleep(0.01)
        await send({"type": "http.response.body", "body": b'{"kind": "more"}\n', "more_body": True})


async def begin(send: Any, media_type: bytes) -> None:
    """Send the head of an answer, and a first piece."""
    headers = [(b"content-type", media_type)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"kind": "first"}\n\n', "more_body": True})


class Begun:
    """Counts requests that have begun, on the thread of a service, until all have."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._all = threading.Event()

    def add(self) -> None:
        """Count one."""
        self._left -= 1
        if not self._left:
            self._all.set()

    async def wait(self) -> None:
        """Wait until all have begun."""
        assert await anyio.to_thread.run_sync(self._all.wait, OPENS_S_MAX)


def requests() -> list[tuple[str, str]]:
    """Return a request to every guarded route, and to the door of MCP."""
    found = [(method, each.path) for each in routes() for method in each.methods or ()]
    filled = [
        (method, "/".join(THREAD if part.startswith("{") else part for part in path.split("/")))
        for method, path in found
    ]
    return [*filled, ("POST", MCP_PATH)]


async def answers(served: Served, key: str, way: Way, begun: "Begun") -> list[JsonObject]:
    """Make every request, spoil the key once all have begun, and return how each ended."""
    headers = {"x-api-key": key, **SENT}
    found: list[JsonObject] = []
    asked = requests()
    limits = httpx.Limits(max_connections=len(asked))
    async with httpx.AsyncClient(
        base_url=served.url, headers=headers, timeout=20.0, limits=limits
    ) as client:

        async def ask(method: str, path: str) -> None:
            answer = None
            while answer is None:  # an address has a share of what sent no key yet
                with suppress(httpx.ReadError, httpx.RemoteProtocolError):
                    sent = {"content-type": body_type(path)}
                    answer = await client.request(method, path, headers=sent)
            found.append(last_of(answer.headers["content-type"], answer.content))

        async with anyio.create_task_group() as group:
            for each in asked:
                group.start_soon(ask, *each)
            await begun.wait()
            await anyio.to_thread.run_sync(way, served, key.split("_")[1])
            group.cancel_scope.deadline = anyio.current_time() + ENDS_S_MAX
    return found


def is_of_keys(path: str) -> bool:
    """Return True if a request is for keys, which is answered whole."""
    return path.startswith("/v1/keys")


@pytest.mark.parametrize("held_up", [wait, idle, go_on])
@pytest.mark.parametrize("name", ["revoked", "revoked elsewhere"])
def test_whatever_a_route_does_it_is_ended(
    served: Served,
    new_key: NewKey,
    monkeypatch: pytest.MonkeyPatch,
    held_up: Callable[[Any], Any],
    name: str,
) -> None:
    """Every route of the service, were it to wait, to idle or to stream for ever."""
    key, begun = new_key(served, *ALL), Begun(len(requests()))
    pass_on = FastRoutes.__call__

    async def hold_up(self: FastRoutes, scope: Any, receive: Any, send: Any) -> None:
        if scope["state"]["principal"].key_id != key.split("_")[1]:
            await pass_on(self, scope, receive, send)
            return
        begun.add()
        if is_of_keys(scope["path"]):
            await pass_on(self, scope, receive, send)
        else:
            await held_up(send)

    monkeypatch.setattr(FastRoutes, "__call__", hold_up)

    found = asyncio.run(answers(served, key, WAYS[name][0], begun))

    whole = [each for each in requests() if is_of_keys(each[1])]
    ends = [each for each in found if each.get("code") == "key_revoked"]
    assert len(requests()) - len(whole) == len(ends), found


def test_no_piece_is_sent_once_a_key_was_revoked_here(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the answer to the revocation has come, nothing more of a busy stream is read."""
    found = pieces_after(served, new_key(served, "read"), monkeypatch)

    assert 0 == found


def pieces_after(served: Served, key: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many pieces of a stream were made after its key was revoked."""
    revoked_at: list[float] = []
    late = [0]

    async def export(*_: Any, **__: Any) -> AsyncIterator[JsonObject]:
        for number in range(10_000):
            if revoked_at:
                late[0] += 1
            yield {"kind": "thread", "scope": ["acme"], "id": str(number), "late": late[0]}
            await anyio.sleep(0.002)

    monkeypatch.setattr(Recollect, "export", export)
    opened, told = Opened(served=served, key=key), b""
    with (
        opened.client() as client,
        client.stream("GET", "/v1/export") as answer,
    ):
        stream = answer.iter_raw()
        told += next(stream)
        revoke_here(served, key.split("_")[1])
        revoked_at.append(time.monotonic())
        until = time.monotonic() + 1.0
        for piece in stream:
            told += piece
            if time.monotonic() > until:
                break
    lines = [json.loads(each) for each in told.splitlines() if each.endswith(b"}")]
    return sum(bool(each.get("late")) for each in lines)


def test_a_key_that_revokes_or_replaces_itself_is_told_so(
    served: Served, new_key: NewKey, connect: Connect
) -> None:
    """The answer has the new secret, which nothing else tells."""
    key = new_key(served, "admin")
    client = connect(served, key)
    id_ = key.split("_")[1]

    rotated = client.post(f"/v1/keys/{id_}/rotate")
    new = connect(served, rotated.json()["key"])

    assert [200, 204] == [rotated.status_code, new.delete(f"/v1/keys/{id_}").status_code]
    assert 401 == new.get("/v1/me").status_code


# What is in flight is refused in its transaction.

WRITES: Mapping[str, tuple[str, str, JsonObject]] = {
    "a memory": ("PUT", "/v1/memories/Note/n", {"value": {"context": "c", "content": "x"}}),
    "types": ("PUT", "/v1/types", {"types": []}),
    "an item": ("PUT", "/store/items", {"namespace": ["a"], "key": "k", "value": {"a": 1}}),
    "a thread": ("POST", "/threads", {"thread_id": THREAD}),
    "a message": ("PUT", "/v1/threads/t/messages/m", {"role": "user", "text": "x"}),
    "an append": ("POST", "/v1/threads/u/messages", {"messages": [{"role": "user", "text": "x"}]}),
}


def revoking(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """Let another process revoke a key right before any transaction of its holder."""
    memory: Any = vars(Reach)["memory"].fget

    def late(self: Reach) -> Recollect:
        found: Recollect = memory(self)
        if self.principal.key_id == key.split("_")[1]:
            acting = found.store
            inner = acting._change

            async def changing(action: str, scope: Any, plan: Any) -> Any:
                await Keys(self.service.memory.store).revoke(self.principal.key_id)
                return await inner(action, scope, plan)

            monkeypatch.setattr(acting, "_change", changing)
        return found

    monkeypatch.setattr(Reach, "memory", property(late))


@pytest.mark.parametrize("store", ["memory", "sqlite", "postgres", "redis"], indirect=True)
def test_what_is_in_flight_is_refused_in_its_transaction(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is revoked after the request was let in changes nothing more."""
    for name in WRITES:
        hold_to_refusal(served, new_key(served, "read", "write"), monkeypatch, name)


def hold_to_refusal(served: Served, key: str, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Fail where a request is carried out whose key is revoked before its transaction."""
    before = kept(served)
    method, path, body = WRITES[name]
    with monkeypatch.context() as late:
        revoking(late, key)
        answer = httpx.request(
            method, f"{served.url}{path}", json=body, headers={"x-api-key": key}, timeout=30
        )

    assert (401, "key_revoked") == (answer.status_code, answer.json().get("code")), name
    assert before == kept(served)


def kept(served: Served) -> list[str]:
    """Return everything that the store keeps of its tenants, and of LangGraph's threads."""

    async def read(memory: Recollect) -> list[str]:
        scopes = (await memory.scopes(limit=1_000)).rows
        chosen = [each for each in scopes if each[:2] != KEYS_SCOPE]
        return [str(each) for scope in chosen for each in await memory.store.archive(scope)]

    memory = served.service.memory
    assert memory.loop is not None
    found = asyncio.run_coroutine_threadsafe(read(memory), memory.loop).result(30)
    return [each for each in found if "ServiceUsage" not in each]


# Mutants: each is a fault that a test above must report.


async def never(*_: Any) -> None:
    """Check nothing."""


def test_a_stream_that_never_checks_is_noticed(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the look for idle answers nor that before a piece is there."""
    monkeypatch.setattr(KeyWatch, "_look", never)

    idle = [LONG["GET", "/v1/changes"]]
    found = endings(served, new_key(served, *ALL), revoke_here, idle, patience_s=ENDS_S_MAX)

    with pytest.raises(AssertionError):
        hold_to_ends(found, "was revoked")


def test_a_watch_that_hears_of_this_process_alone_is_noticed(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that another process revoked is good on."""
    monkeypatch.setattr(key_watch, "LOOK_EVERY_S", FOR_EVER_S)
    served.service.key_watch.note_change()  # the look that goes on ends with it
    key, way = new_key(served, *ALL), WAYS["revoked elsewhere"][0]

    idle = [LONG["GET", "/v1/changes"]]
    found = endings(served, key, way, idle, patience_s=ENDS_S_MAX)

    with pytest.raises(AssertionError):
        hold_to_ends(found, "was revoked")


def test_pieces_that_are_let_through_unseen_are_noticed(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watch looks every second, and a busy stream goes on until then."""
    monkeypatch.setattr(KeyWatch, "is_fresh", lambda *_: True)
    monkeypatch.setattr(KeyWatch, "note_change", lambda _: None)

    assert 0 < pieces_after(served, new_key(served, "read"), monkeypatch)


def test_a_transaction_that_does_not_ask_is_noticed(
    served: Served, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its proviso what is in flight is written."""
    monkeypatch.setattr("recollect.server.http.scope_access.proviso_of", lambda *_: None)

    with pytest.raises(AssertionError):
        hold_to_refusal(served, new_key(served, "read", "write"), monkeypatch, "a memory")
