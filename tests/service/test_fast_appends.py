"""Plain appends are answered, logged, counted and audited as by all of the middleware."""

import asyncio
import gzip
import json
import logging
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from recollect.memory.thread_messages import MessageMethods
from recollect.server.http.allowed_origins import AllowedHosts
from recollect.server.http.fast_appends import FastAppends
from recollect.server.testing import ROOT_SCOPE, Served, serving

PATH = "/v1/threads/t/messages"
SAID = {"role": "user", "text": "We moved to Oslo.", "id": "m1", "time": "2026-05-01T00:00:00Z"}
FULL = {
    **SAID,
    "id": "m2",
    "name": "Ada",
    "session": "s",
    "source": "letter",
    "content": [{"type": "text", "text": "x", "n": 1.5, "big": 2**60}],
    "metadata": {"a": [None, True, {"b": "ü"}]},
}
LONG = {"messages": [SAID | {"text": "We moved. " * 200, "id": "long"}]}
GZIP = {"accept-encoding": "gzip"}

Asked = tuple[str, Any, dict[str, str]]
PLAIN: Mapping[str, Asked] = {
    "one message": (PATH, {"messages": [SAID]}, {}),
    "everything": (PATH, {"messages": [FULL], "quiet_s": 5}, {"idempotency-key": "k"}),
    "a scope": (f"{PATH}?scope=users&scope=%C3%84da%20x", {"messages": [SAID]}, {}),
    "a request id": (PATH, {"messages": [SAID]}, {"x-request-id": "mine"}),
    "a request id that is none": (PATH, {"messages": [SAID]}, {"x-request-id": "not mine!"}),
    "a long answer": (PATH, LONG, {"accept-encoding": "identity"}),
    "a long answer, packed": (PATH, LONG, GZIP),
    "a long refusal, packed": (PATH, {"messages": [SAID], "assistant": "a" * 256}, GZIP),
    "no such assistant": (PATH, {"messages": [SAID], "assistant": "nobody"}, {}),
    "the id of another": (PATH, {"messages": [SAID | {"text": "other"}]}, {}),
    "a reader's key": (PATH, {"messages": [SAID]}, {"x-api-key": "reader"}),
    "a bearer": (PATH, {"messages": [SAID]}, {"x-api-key": "", "authorization": "Bearer"}),
    "a key reused": (PATH, {"messages": [FULL]}, {"idempotency-key": "used"}),
}
"""Those that the fast path carries out; the store or the scope refuses some."""

BODY = json.dumps({"messages": [SAID]})
OTHERS: Mapping[str, Asked] = {
    "no body": (PATH, None, {}),
    "no JSON": (PATH, "{", {}),
    "a field twice": (PATH, '{"messages": [], "messages": []}', {}),
    "an unknown field": (PATH, {"messages": [SAID | {"mood": "good"}]}, {}),
    "a long body": (PATH, {"messages": [SAID | {"text": "x" * 20_000, "id": "huge"}]}, {}),
    "a kind with a charset": (PATH, BODY, {"content-type": "application/json; charset=utf-8"}),
    "another kind": (PATH, BODY, {"content-type": "text/plain"}),
    "an encoding": (PATH, BODY, {"content-encoding": "gzip"}),
    "another host": (PATH, BODY, {"host": "elsewhere.example"}),
    "another origin": (PATH, BODY, {"origin": "https://elsewhere.example"}),
    "a key of nobody": (PATH, BODY, {"x-api-key": "rk_nobody"}),
    "another scheme": (PATH, BODY, {"x-api-key": "", "authorization": "Basic"}),
    "an unknown parameter": (f"{PATH}?scop=users", BODY, {}),
    "large headers": (PATH, BODY, {"x-large": "x" * 33_000}),
}
"""Those that are left to the middleware."""


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        is_packed = self.headers.get("content-encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if is_packed else self.body)


def post(url: str, path: str, content: str, headers: Mapping[str, str]) -> Answer:
    """Send a request in one packet, unlike most clients: its body arrives with its head."""
    place = urlsplit(url)
    sent = {"host": place.netloc, "content-type": "application/json", **headers}
    sent["content-length"] = str(len(content.encode()))
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    with socket.create_connection((place.hostname or "", place.port or 0)) as connection:
        connection.sendall("\r\n".join([*lines, "", content]).encode())
        answer = HTTPResponse(connection)
        answer.begin()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())


class Service:
    """A running service, with a key for all and one that may only read."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.client = httpx.Client(base_url=served.url, headers={"x-api-key": served.key})
        made = {"name": "reader", "permissions": ["read"]}
        self.reader = self.client.post("/v1/keys", json=made).json()["key"]

    def ask(self, asked: Asked) -> Answer:
        """Send a request, with the keys that its headers stand for."""
        path, body, extra = asked
        headers = {"x-api-key": self.served.key} | extra
        if headers["x-api-key"] == "reader":
            headers["x-api-key"] = self.reader
        if "authorization" in headers:
            headers["authorization"] += f" {self.served.key}"
            del headers["x-api-key"]
        content = json.dumps(body) if isinstance(body, dict) else body or ""
        return post(self.served.url, path, content, headers)

    def warm(self) -> None:
        """Append until both keys are cached, whose use is recorded at first."""
        for key in (self.served.key, self.reader) * 3:
            sent = {"messages": [SAID]}
            self.client.post(PATH, json=sent, headers={"x-api-key": key})
        used = {"messages": [SAID | {"id": "used"}]}
        self.client.post(PATH, json=used, headers={"idempotency-key": "used"})


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """Run two services alike."""
    folder: Path = tmp_path_factory.mktemp("fast")
    with ExitStack() as stack:
        made = [stack.enter_context(serving(store=str(folder / f"{at}.db"))) for at in range(2)]
        fast, slow = map(Service, made)
        stack.callback(fast.client.close)
        stack.callback(slow.client.close)
        yield fast, slow


@pytest.fixture
def carried_out(services: tuple[Service, Service], monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return whether each request was carried out directly; the second service's path is off."""
    found: list[bool] = []
    read, carry_out = FastAppends._read_head, FastAppends._carry_out

    def reading(self: FastAppends, scope: Any) -> Any:
        if scope["app"] is services[1].served.app:
            return None
        found.append(False)
        return read(self, scope)

    async def carrying(self: FastAppends, asked: Any, scope: Any) -> Any:
        found[-1] = True
        return await carry_out(self, asked, scope)

    monkeypatch.setattr(FastAppends, "_read_head", reading)
    monkeypatch.setattr(FastAppends, "_carry_out", carrying)
    return found


def told(service: Service, answer: Answer) -> tuple[int, dict[str, str], Any]:
    """Return a response without what is of its moment or its service."""
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    if re.fullmatch("[0-9a-f]{32}", headers["x-request-id"]):
        headers["x-request-id"] = "random"
    if headers.get("content-encoding") == "gzip":
        del headers["content-length"]
    body = json.dumps(answer.json()).replace(service.reader.split("_")[1], "reader")
    return answer.status, headers, json.loads(body)


def counts(service: Service) -> Counter[str]:
    """Return what a service has counted: usage, metrics, and rows of the audit by action."""
    (today,) = service.client.get("/v1/usage").json()["days"]
    found = Counter({name: count for name, count in today.items() if name != "day"})
    for row in service.client.get("/v1/audit").json()["audit"]:
        found[f"audit {row['action']} {sorted(row['subject'])}"] += 1
    metrics = service.served.service.metrics.exposition().decode()
    counted = re.findall(
        r"^(recollect_(?:requests|refused|messages)\S*_total\S*) (\S+)$", metrics, re.MULTILINE
    )
    return found + Counter({name: round(float(count)) for name, count in counted})


def noted(caplog: pytest.LogCaptureFixture, request: str) -> dict[str, Any]:
    """Return what a service logged of a request, without its duration."""
    logged = [getattr(each, "fields", {}) for each in caplog.records]
    (fields,) = [each for each in logged if each.get("request") == request]
    found = {name: fields[name] for name in ("method", "route", "status")}
    return found | {"is_keyed": fields["key"] is not None}


def both(
    services: tuple[Service, Service], asked: Asked, caplog: pytest.LogCaptureFixture
) -> list[Any]:
    """Return what both services answered, and what they logged and counted of it."""
    found = []
    caplog.set_level(logging.INFO, "recollect.server")
    for service in services:
        service.warm()
        before = counts(service)
        service.warm()  # also after a while without writes, which outdates the cached keys
        answer = service.ask(asked)
        # These requests come after the log of the one that is looked for.
        more = counts(service) - before
        found.append((told(service, answer), noted(caplog, answer.headers["x-request-id"]), more))
        caplog.clear()
    return found


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_plain_append_is_carried_out_as_by_the_middleware(
    services: tuple[Service, Service],
    carried_out: list[bool],
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    """Response, headers, log, metrics, usage and audit are the same."""
    fast, slow = both(services, PLAIN[name], caplog)

    assert fast == slow
    assert "/v1/threads/{thread}/messages" == fast[1]["route"]
    assert is_last_append_plain(carried_out)


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_any_other_append_is_left_to_the_middleware(
    services: tuple[Service, Service],
    carried_out: list[bool],
    caplog: pytest.LogCaptureFixture,
    name: str,
) -> None:
    fast, slow = both(services, OTHERS[name], caplog)

    assert fast == slow
    assert not is_last_append_plain(carried_out)


def is_last_append_plain(carried_out: list[bool]) -> bool:
    """Return whether the request before the two that `noted` makes was carried out directly."""
    return carried_out[-3]


def test_a_fast_path_that_forgets_a_check_is_found(
    services: tuple[Service, Service],
    carried_out: list[bool],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control: without the check of Host, both services differ."""
    monkeypatch.setattr(AllowedHosts, "has", lambda *_: True)
    fast, slow = both(services, OTHERS["another host"], caplog)

    assert [201, 421] == [fast[0][0], slow[0][0]]
    assert carried_out


def test_one_beyond_its_rate_is_refused(carried_out: list[bool], tmp_path: Path) -> None:
    """It is not kept, and the client is told when to come again."""
    with serving(store=str(tmp_path / "a.db"), requests_a_second=0.01, burst=6) as served:
        key = {"x-api-key": served.key}
        found = [post(served.url, PATH, BODY, key) for _ in range(8)]

    assert [201] * 6 + [429] * 2 == [each.status for each in found]
    assert "quota" == found[-1].json()["code"]
    assert int(found[-1].headers["retry-after"]) > 1
    assert [True] * 3 + [False] * 2 == carried_out[3:]


def test_one_that_takes_too_long_is_told_so(
    carried_out: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets the problem of the deadline; an unexpected error does not."""
    with serving(store=str(tmp_path / "a.db"), request_timeout_s=0.2) as served:
        key = {"x-api-key": served.key}
        for _ in range(3):
            assert 201 == post(served.url, PATH, BODY, key).status

        async def wait(*_: Any, **__: Any) -> Any:
            await asyncio.Event().wait()

        async def fail(*_: Any, **__: Any) -> Any:
            raise TimeoutError

        found = []
        for stand_in in (wait, fail):
            monkeypatch.setattr(MessageMethods, "append", stand_in)
            found.append(post(served.url, PATH, BODY, key))

    assert [(503, "timeout"), (500, "error")] == [
        (each.status, each.json()["code"]) for each in found
    ]
    assert "5" == found[0].headers["retry-after"]
    assert carried_out[-2:] == [True, True]


def test_without_keys_an_append_is_plain(carried_out: list[bool], tmp_path: Path) -> None:
    """Once something was written, the caller needs no look-up."""
    with serving(store=str(tmp_path / "a.db"), auth=False, scope=ROOT_SCOPE) as served:
        found = [post(served.url, PATH, BODY, {}).status for _ in range(3)]

    assert [201] * 3 == found
    assert carried_out[-2:] == [True, True]


def test_a_body_that_follows_its_head_is_read(carried_out: list[bool], tmp_path: Path) -> None:
    """In two packets as most clients send it, at once or after a while."""
    with (
        serving(store=str(tmp_path / "a.db")) as served,
        httpx.Client(base_url=served.url, headers={"x-api-key": served.key}) as client,
    ):
        sent = {"messages": [SAID]}
        found = [client.post(PATH, json=sent).status_code for _ in range(20)]

    assert [201] * 20 == found
    assert 20 == len(carried_out)
