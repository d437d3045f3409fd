"""Bad input is answered with a problem that says what to do, soon, and never with a 500."""

import gzip
import json
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
ANSWER_S_MAX = 20.0
PATH = "/v1/threads/t/messages"
GOOD = {"messages": [{"role": "user", "text": "x"}]}


def problem(answer: httpx.Response) -> Mapping[str, Any]:
    """Return the problem that an answer is; none of them is the service's own fault."""
    assert answer.status_code < 500, answer.text
    assert "application/problem+json" == answer.headers["content-type"], answer.text
    found: Mapping[str, Any] = answer.json()
    assert found["detail"]
    assert answer.headers["x-request-id"]
    return found


def raw(served: Served, *parts: bytes, leave_open: bool = False) -> bytes:
    """Return what a connection answers to some bytes."""
    address = urlsplit(served.url)
    with socket.create_connection((address.hostname, address.port), ANSWER_S_MAX) as connection:
        for part in parts:
            connection.sendall(part)
        if not leave_open:
            connection.shutdown(socket.SHUT_WR)
        found = b""
        while part := connection.recv(65_536):
            found += part
        return found


def head(served: Served, *lines: str, key: str | None = None) -> bytes:
    """Return the head of a POST request."""
    sent = served.key if key is None else key
    told = [f"POST {PATH} HTTP/1.1", "host: localhost", "content-type: application/json"]
    told += [f"x-api-key: {sent}"] if sent else []
    return "\r\n".join([*told, *lines, "", ""]).encode()


NUMBER = "9" * 5_000
BODIES: Mapping[str, str | bytes] = {
    "nested": "[" * 100_000,
    "nested in an object": '{"messages":' + "[" * 100_000 + "]" * 100_000 + "}",
    "not a number": '{"messages": NaN}',
    "infinity": '{"messages": 1e400}',
    "a long number": '{"messages": ' + NUMBER + "}",
    "a field twice": '{"messages": [], "messages": []}',
    "half a surrogate pair": '{"messages": [{"role": "user", "text": "\\ud800"}]}',
    "a NUL": '{"messages": [{"role": "user", "text": "\\u0000"}]}',
    "no JSON": "{",
    "nothing": " ",
    "no UTF-8": b'{"messages": "\xff"}',
}


@pytest.mark.parametrize("name", sorted(BODIES))
def test_a_body_that_is_no_strict_json_is_refused(client: httpx.Client, name: str) -> None:
    """What another reader could take for something else, or not survive, is refused with 400."""
    answer = client.post(PATH, content=BODIES[name], headers={"content-type": "application/json"})

    assert (400, "body") == (answer.status_code, problem(answer)["code"])


WRONG = {
    "an unknown field": {**GOOD, "tenant": "globex"},
    "an unknown field inside": {"messages": [{"role": "user", "text": "x", "scope": ["a"]}]},
    "a wrong type": {"messages": "x"},
    "a list": [],
    "an unknown role": {"messages": [{"role": "root", "text": "x"}]},
    "no messages": {"messages": []},
    "a time without a zone": {
        "messages": [{"role": "user", "text": "x", "time": "2026-01-01T00:00"}]
    },
    "a time beyond the calendar": {
        "messages": [{"role": "user", "text": "x", "time": "9999-12-31T23:59:59-23:59"}]
    },
    "a large integer": {"messages": [{"role": "user", "text": "x", "metadata": {"n": 2**63}}]},
    "a negative pause": {**GOOD, "quiet_s": -1},
    "an unknown assistant": {**GOOD, "assistant": "nobody"},
    "an id that is too long": {"messages": [{"role": "user", "text": "x", "id": "i" * 300}]},
    "an id with a line break": {"messages": [{"role": "user", "text": "x", "id": "a\nb"}]},
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_a_body_that_is_not_as_documented_is_refused(client: httpx.Client, name: str) -> None:
    """Unknown fields, wrong types and values out of range are refused with 422."""
    answer = client.post(PATH, json=WRONG[name])

    assert 422 == answer.status_code, answer.text
    assert problem(answer)["code"] in {"usage", "limit"}


TOLD: Mapping[str, tuple[dict[str, Any], str]] = {
    "a small number": ({"budget_tokens": 0}, "greater than or equal to 1, not 0"),
    "no number": ({"budget_tokens": "viele"}, "not 'viele'"),
    "a text": ({"profile": "档案"}, "not '档案'"),
    "a time without a zone": (
        {"since": "2026-01-01T00:00:00"},
        "not '2026-01-01T00:00:00': write it with its zone, as in 2026-01-31T09:00:00Z",
    ),
    "an unknown field": ({"bugdet": 5}, "body/bugdet: Extra inputs are not permitted; see"),
}


@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_validation_error_shows_the_value_and_what_to_write(
    client: httpx.Client, name: str
) -> None:
    """As the library's own errors do; of an unknown field the name is enough."""
    body, told = TOLD[name]
    content = json.dumps({"query": "Oslo", **body}).encode()
    headers = {"content-type": "application/json"}
    answer = client.post("/v1/context", content=content, headers=headers)

    assert 422 == answer.status_code, answer.text
    assert told in problem(answer)["detail"]


def test_an_unknown_parameter_has_no_value_to_show(client: httpx.Client) -> None:
    """Its name is what is wrong with it."""
    answer = client.get("/v1/memories", params={"limt": "1"})

    assert "null" not in problem(answer)["detail"]


def test_a_long_value_is_not_repeated(client: httpx.Client) -> None:
    """It may be what somebody said."""
    answer = client.post("/v1/context", json={"query": "Oslo", "profile": "secret " * 20})

    assert "secret" not in answer.text


REQUESTS: Mapping[str, tuple[int, str, str, dict[str, Any]]] = {
    "a limit that is no number": (422, "GET", "/v1/threads", {"params": {"limit": "many"}}),
    "a limit of none": (422, "GET", "/v1/threads", {"params": {"limit": 0}}),
    "a large position": (422, "GET", PATH, {"params": {"after": 2**70}}),
    "a foreign cursor": (422, "GET", "/v1/threads", {"params": {"cursor": "bm90IG91cnM"}}),
    "a cursor of letters": (422, "GET", "/v1/threads", {"params": {"cursor": "é"}}),
    "an empty segment": (422, "GET", "/v1/threads", {"params": {"scope": ""}}),
    "many segments": (422, "GET", "/v1/threads", {"params": {"scope": ["a"] * 40}}),
    "a NUL in a segment": (422, "GET", "/v1/threads", {"params": {"scope": "a\0b"}}),
    "a filter that is no JSON": (422, "GET", "/v1/memories", {"params": {"filter": "{"}}),
    "a deep filter": (422, "GET", "/v1/memories", {"params": {"filter": "[" * 9_000}}),
    "an unknown operator": (422, "GET", "/v1/memories", {"params": {"filter": '{"a":{"$x":1}}'}}),
    "an unknown parameter": (422, "GET", "/v1/memories", {"params": {"limt": "1"}}),
    "a misspelt scope": (422, "GET", "/v1/export", {"params": {"scop": "users"}}),
    "a misspelt scope of an erase": (
        422,
        "POST",
        "/v1/erase/preview",
        {"params": {"scop": "users"}, "json": {"scope": True}},
    ),
    "an unknown state": (422, "GET", "/v1/memories", {"params": {"state": "x"}}),
    "a NUL in a path": (422, "GET", "/v1/memories/Note/a%00b", {}),
    "half a surrogate in a path": (404, "GET", "/v1/memories/Note/%ed%a0%80", {}),
    "bytes that are no UTF-8": (404, "GET", "/v1/memories/Note/%ff%fe", {}),
    "an If-Match that is none": (
        422,
        "PUT",
        "/v1/memories/A/b",
        {"json": {"value": {}}, "headers": {"if-match": "3"}},
    ),
    "a Last-Event-ID that is none": (
        422,
        "GET",
        "/v1/changes",
        {"headers": {"last-event-id": "x"}},
    ),
    "a confirmation that is none": (422, "POST", "/v1/erase", {"json": {"confirm": "x"}}),
    "two targets": (
        422,
        "POST",
        "/v1/erase/preview",
        {"json": {"target": {"thread": "a", "source": "b"}}},
    ),
    "long headers": (431, "GET", "/v1/me", {"headers": {"x": "a" * 40_000}}),
    "an unknown path": (404, "GET", "/v1/nowhere", {}),
    "a POST to an unknown path": (404, "POST", "/v1/recal", {"json": {"query": "Oslo"}}),
    "an unknown method": (405, "PATCH", "/v1/me", {}),
    "a GET where only POST is": (405, "GET", "/v1/context", {"params": {"query": "Oslo"}}),
    "a path above": (404, "GET", "/v1/../../etc/passwd", {}),
    "a body that is no JSON by its type": (415, "POST", PATH, {"content": b"x=1"}),
    "a compressed body": (
        415,
        "POST",
        PATH,
        {
            "content": gzip.compress(json.dumps(GOOD).encode()),
            "headers": {"content-encoding": "gzip", "content-type": "application/json"},
        },
    ),
    "a large body": (
        413,
        "POST",
        PATH,
        {"content": b" " * 1_000_001, "headers": {"content-type": "application/json"}},
    ),
    "an import that is no JSON Lines": (415, "POST", "/v1/import", {"json": {}}),
    "another's Host": (421, "GET", "/v1/me", {"headers": {"host": "evil.example"}}),
    "a Host that is none": (400, "GET", "/v1/me", {"headers": {"host": "a b/@c"}}),
    "another's Origin": (403, "GET", "/v1/me", {"headers": {"origin": "http://evil.example"}}),
    "an Origin that is none": (403, "GET", "/v1/me", {"headers": {"origin": "null"}}),
    "an Origin of another port": (
        403,
        "GET",
        "/v1/me",
        {"headers": {"origin": "http://127.0.0.1:1"}},
    ),
}


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_hostile_request_is_answered_with_what_to_do(client: httpx.Client, name: str) -> None:
    """Each is refused with its status and a sentence."""
    status, method, path, parts = REQUESTS[name]

    answer = client.request(method, path, **parts)

    assert status == answer.status_code, answer.text
    problem(answer)


def test_the_files_of_the_page_are_read_whatever_the_origin(client: httpx.Client) -> None:
    """Behind a proxy that replaces Host the page loads, and can say what is wrong."""
    foreign = {"origin": "https://memory.example.org"}
    gone = {"read": ("GET", 404), "asked for": ("HEAD", 404), "changed": ("POST", 403)}

    found = {
        name: client.request(method, "/assets/none.js", headers=foreign).status_code
        for name, (method, _) in gone.items()
    }

    assert {name: status for name, (_, status) in gone.items()} == found
    assert 403 == client.get("/v1/assets/none.js", headers=foreign).status_code


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": "wrong"},
        {"authorization": "Bearer rk_0123456789abcdef_" + "A" * 43},
        {"authorization": "Basic YTpi"},
        {"x-api-key": "k" * 5_000},
        {"x-api-key": "rk_0123456789abcdef_" + "A" * 43, "authorization": "Bearer other"},
    ],
)
def test_without_a_good_key_nothing_is_answered(
    served: Served, connect: Connect, headers: dict[str, str]
) -> None:
    """Every path below /v1 answers 401 to a wrong key, the paths that there are not as well."""
    client = connect(served, "", **headers)

    statuses = {
        client.request(method, path).status_code
        for method, path in (("GET", "/v1/me"), ("POST", PATH), ("GET", "/v1/nowhere"))
    }

    assert {401} == statuses
    assert "Bearer" in client.get("/v1/me").headers["www-authenticate"]


@pytest.mark.parametrize(
    ("type_", "value", "said"),
    [
        ("Instructions", {"rules": []}, "no rule is left"),
        ("Instructions", {"rules": ["x" * 30_000]}, "INSTRUCTIONS_CHARACTERS_MAX is 20000"),
        ("Instructions", {"rules": ["a", "a"]}, "there already"),
        ("Instructions", {"rules": ["a", " \n- forged"]}, "a rule is one line"),
        ("Example", {"input": "x", "output": " "}, "output is blank"),
        ("Example", {"input": "x", "output": "y", "tags": [""]}, "a tag is blank"),
    ],
)
def test_what_could_not_be_read_as_instructions_or_example_is_refused(
    client: httpx.Client, type_: str, value: dict[str, Any], said: str
) -> None:
    answer = client.put(f"/v1/memories/{type_}/{type_}", json={"value": value})

    assert 422 == answer.status_code, answer.text
    assert said in problem(answer)["detail"]


def test_without_a_key_the_body_is_not_read(served: Served) -> None:
    """The refusal comes while a body of a gigabyte is still to be sent."""
    answered = raw(served, head(served, "content-length: 999999", key=""), leave_open=True)

    assert answered.startswith(b"HTTP/1.1 401")


def test_a_body_that_grows_beyond_its_limit_is_refused(served: Served) -> None:
    """A chunked body, which does not say its length, is counted."""
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"

    answered = raw(served, head(served, "transfer-encoding: chunked"), chunk * 17, leave_open=True)

    assert answered.startswith(b"HTTP/1.1 413")


def test_who_comes_while_too_many_are_there_is_told_so(
    starting: Callable[..., Served], connect: Connect
) -> None:
    """His connection ends with the answer; those who were there first go on."""
    served = starting(connections_max=2)
    first, second, third = (connect(served) for _ in range(3))
    assert [200, 200] == [each.get("/v1/threads").status_code for each in (first, second)]

    refused = third.get("/v1/threads")

    assert (503, "limit") == (refused.status_code, refused.json()["code"])
    assert "application/problem+json" == refused.headers["content-type"]
    assert "connections_max" in refused.json()["detail"]
    assert "1" == refused.headers["retry-after"]
    assert "close" == refused.headers["connection"]
    assert 200 == first.get("/v1/threads").status_code

    second.close()

    until = time.monotonic() + ANSWER_S_MAX
    while third.get("/v1/threads").status_code == 503 and time.monotonic() < until:
        time.sleep(0.01)  # until the service has seen that it is closed
    assert 200 == third.get("/v1/threads").status_code


def test_who_sends_slowly_is_told_so(starting: Callable[..., Served]) -> None:
    """A body, or a head, that does not come in time is refused with 408, also before any."""
    served = starting(body_timeout_s=0.2, header_timeout_s=0.2)

    body = raw(served, head(served, "content-length: 10"), b"{", leave_open=True)
    slow_head = raw(served, b"GET /v1/me HTTP/1.1\r\nhost:", leave_open=True)

    assert body.startswith(b"HTTP/1.1 408")
    assert slow_head.startswith(b"HTTP/1.1 408")
    assert b"application/problem+json" in slow_head


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(served: Served, sent: bytes) -> None:
    """Bytes that are no HTTP are answered with 400 as a problem, and the connection ends."""
    answered = raw(served, sent)

    assert answered.startswith(b"HTTP/1.1 400"), answered[:100]
    assert b"application/problem+json" in answered


ENDLESS: Mapping[str, tuple[str | None, bytes]] = {
    "a head": (None, b"x: "),
    "the size of a chunk": ("transfer-encoding: chunked", b"1;"),
    "trailers": ("transfer-encoding: chunked", b"0\r\nx: "),
}


@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_what_never_becomes_whole_is_not_kept_for_ever(served: Served, name: str) -> None:
    """A head, a chunk's size or trailers that go on and on are refused, not collected."""
    line, sent = ENDLESS[name]
    begun = head(served) if line is None else head(served, line)
    start = begun.removesuffix(b"\r\n") + sent if line is None else begun + sent

    answered = raw(served, start, *[b"a" * 65_536] * 10, leave_open=True)

    assert answered.startswith(b"HTTP/1.1 431"), answered[:100]
    assert b"application/problem+json" in answered


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/context", "POST"),
        ("GET", "/v1/recall", "POST"),
        ("GET", "/v1/graph/facts/none/at/all", None),
        ("GET", "/v1/recalls", "DELETE"),
        ("GET", "/v1/erase", "POST"),
        ("PATCH", "/v1/threads/t/messages", "GET, POST"),
        ("POST", "/v1/memories/Note/a%2Fb", "DELETE, GET, PUT"),
        ("DELETE", "/v1/context", "POST"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    client: httpx.Client, method: str, path: str, allowed: str | None
) -> None:
    """Also a GET, which the page would take; a path that is none stays none."""
    answer = client.request(method, path)

    assert (405 if allowed else 404) == answer.status_code
    assert ("no_method" if allowed else "no_path") == answer.json()["code"]
    assert allowed == answer.headers.get("allow")


def test_a_trailer_is_no_header(served: Served) -> None:
    """A key that comes after the body does not open anything."""
    chunked = head(served, "transfer-encoding: chunked", key="")

    answered = raw(served, chunked + b"0\r\nx-api-key: " + served.key.encode() + b"\r\n\r\n")

    assert answered.startswith(b"HTTP/1.1 401"), answered[:100]


@pytest.mark.parametrize("framing", ["content-length", "chunked"])
def test_who_wishes_for_another_protocol_is_answered_in_this_one(
    served: Served, framing: str
) -> None:
    """The body beside ``Upgrade`` is read, and so is the next request: some clients ask so."""
    body = json.dumps(GOOD).encode()
    lines = ["connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABk"]
    if framing == "chunked":
        lines.append("transfer-encoding: chunked")
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    else:
        lines.append(f"content-length: {len(body)}")
    next_body = json.dumps(GOOD).encode()
    last = head(served, "connection: close", f"content-length: {len(next_body)}") + next_body

    answered = raw(served, head(served, *lines) + body + last, leave_open=True)

    assert 2 == answered.count(b"HTTP/1.1 201"), answered


def test_a_page_that_may_ask_is_told_so(starting: Callable[..., Served], connect: Connect) -> None:
    """An allowed origin is named in the answer; its preflight needs no key."""
    origin = "https://app.example.org"
    served = starting(origins=(origin,))
    asked = {"origin": origin, "access-control-request-method": "PUT"}

    preflight = connect(served, "").options("/v1/me", headers=asked)
    answer = connect(served).get("/v1/me", headers={"origin": origin})

    assert (204, origin) == (
        preflight.status_code,
        preflight.headers["access-control-allow-origin"],
    )
    assert origin == answer.headers["access-control-allow-origin"]
    assert "access-control-allow-credentials" not in answer.headers
