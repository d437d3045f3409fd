"""Findings over HTTP: written, read, listed, exported and imported, on every store."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from recollect import FileLines
from recollect.server.testing import Served

on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
SCOPE = {"scope": "project"}
LINES = {"content-type": "application/x-ndjson"}
FILE = {
    "path": "Makefile",
    "line": 12,
    "last_line": 13,
    "digest": FileLines.quoting("Makefile", 12, "test:\n\tpytest").digest,
}
FOUND = {
    "thread": "t", "message": "f1", "quote": "pytest", "kind": "file", "file": FILE,
    "source": "mcp",
}  # fmt: skip
VALUE = {"context": "tests", "content": "make test runs pytest"}


Connect = Callable[..., httpx.Client]


def put(client: httpx.Client, evidence: Any, scope: Any = SCOPE) -> httpx.Response:
    body = {"value": VALUE, "evidence": {"": [evidence]}}
    return client.put("/v1/memories/Note/n", params=scope, json=body)


@on_every_store
def test_a_finding_is_read_as_it_was_written(served: Served, connect: Connect) -> None:
    """In the memory, its history, an export, and after an import elsewhere."""
    client = connect(served)
    written = put(client, FOUND).json()
    put(client, {"thread": "t", "message": "f2", "kind": "agent"})
    exported = client.get("/v1/export", params=SCOPE).content
    answer = client.get("/v1/memories/Note/n/history", params=SCOPE)
    assert answer.is_success, answer.text
    history = answer.json()["revisions"]
    told = client.post("/v1/import", params={"scope": "copy"}, content=exported, headers=LINES)
    assert told.is_success, told.text
    copied = client.get(
        "/v1/memories/Note/n/history", params={"scope": ["copy", "project"]}
    ).json()["revisions"]

    assert ({"group": 0, **FOUND}, "agent") == (
        {"group": 0, **written["evidence"][""][0]},
        written["trust"],
    )
    assert ["agent", "file"] == [each["evidence"][""][0]["kind"] for each in history]
    assert told.is_success, told.text
    assert [0, 0] == [told.json()[name] for name in ("changed_count", "refused_count")]
    assert history == copied


def test_a_message_that_is_not_there_is_no_evidence(client: httpx.Client) -> None:
    """An erase could not take what rests on it."""
    absent = put(client, {"thread": "t", "message": "absent"})
    said = {"messages": [{"role": "user", "text": "The boat leaks.", "id": "m1"}]}
    client.post("/v1/threads/t/messages", params=SCOPE, json=said)
    there = put(client, {"thread": "t", "message": "m1"})

    assert 422 == absent.status_code, absent.text
    assert there.is_success, "other tests of this file may have written the memory before"
    assert "names the message 'absent' of the thread 't'" in absent.text


def test_an_import_makes_no_users_word_of_a_finding(client: httpx.Client) -> None:
    put(client, FOUND)
    exported = client.get("/v1/export", params=SCOPE).text.splitlines()
    forged = [json.loads(each) for each in exported]
    lines = [json.dumps({**each, "trust": "user"} if "trust" in each else each) for each in forged]

    client.post(
        "/v1/import",
        params={"scope": "forged"},
        content="\n".join(lines),
        headers=LINES,
    )

    found = client.get("/v1/memories/Note/n", params={"scope": ["forged", "project"]}).json()
    assert "agent" == found["trust"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": {**FILE, "path": "../secret"}},
        {"file": {**FILE, "path": "/etc/passwd"}},
        {"file": {**FILE, "path": "C:\\a"}},
        {"file": {**FILE, "path": "a\u0000b"}},
        {"file": {**FILE, "path": "a\u200bb"}},
        {"file": {**FILE, "path": "a" * 10_000}},
        {"file": {**FILE, "line": 0}},
        {"file": {**FILE, "line": -1}},
        {"file": {**FILE, "last_line": 3}},
        {"file": {**FILE, "digest": "sha256:00"}},
        {"file": None},
        {"kind": "agent"},
        {"kind": "person", "file": None},
        {"thread": "memory:"},
    ],
    ids=lambda wrong: ascii(wrong)[:40],
)
def test_a_finding_that_is_none_is_refused(client: httpx.Client, wrong: Any) -> None:
    told = put(client, {**FOUND, **wrong}, {"scope": "refused"})

    assert 400 <= told.status_code < 500
    assert 404 == client.get("/v1/memories/Note/n", params={"scope": "refused"}).status_code


def test_an_erased_thread_takes_its_findings(client: httpx.Client) -> None:
    """Also in a scope below, and in what is previewed."""
    below = {"scope": ["project", "sub"]}
    put(client, FOUND, below)
    asked = {"target": {"thread": "t"}}

    shown = client.post("/v1/erase/preview", params=below, json=asked).json()
    done = client.post("/v1/erase", params=below, json={"confirm": shown["confirm"]})

    assert done.is_success, done.text
    assert 404 == client.get("/v1/memories/Note/n", params=below).status_code


@on_every_store
def test_an_erased_source_takes_its_findings(served: Served, connect: Connect) -> None:
    """Of a memory that was put, and of a sentence; what is previewed is what is done."""
    client = connect(served)
    put(client, FOUND)
    body = {"text": "CI uses Debian", "trust": "agent", "source": "mcp"}
    kept = client.post("/v1/remember", params=SCOPE, json=body)
    asked = {"target": {"source": "mcp"}}

    shown = client.post("/v1/erase/preview", params=SCOPE, json=asked).json()
    done = client.post("/v1/erase", params=SCOPE, json={"confirm": shown["confirm"]})

    assert "mcp" == kept.json()["evidence"][""][0]["source"], kept.text
    assert done.is_success, done.text
    assert 2 == shown["memories"]
    assert [] == client.get("/v1/memories", params=SCOPE).json()["memories"]


def test_a_sentence_of_a_user_has_no_source(client: httpx.Client) -> None:
    """An agent's alone has one."""
    told = client.post("/v1/remember", params=SCOPE, json={"text": "Tea", "source": "mcp"})

    assert 422 == told.status_code, told.text
    assert "needs trust='agent'" in told.json()["detail"]
