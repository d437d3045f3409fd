"""A request under an `Idempotency-Key` is carried out once, on every route that writes."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from recollect.records import PutMemory
from recollect.server.http import repeatable_requests
from recollect.server.http.openapi import operations
from recollect.server.testing import ROOT_SCOPE, Served

Connect = Callable[..., httpx.Client]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
NOTE = {"context": "home", "content": "Ada lives in Oslo"}
TYPES = [
    {
        "name": "Pet",
        "description": "A pet.",
        "update_mode": "insert",
        "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
    }
]
# What writes and does not take a key, and why.
WITHOUT_KEY = {
    "forget_recalls": "forgotten twice is forgotten",
    "form": "it forms what waits, and nothing twice",
    "import_file": "rows that are there already change nothing",
    "import_records": "records that are there already change nothing",
}
READS = {"recall", "context", "check_types", "preview_erase"}


Ask = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A request that changes something, and one that asks for something else under the same key."""

    method: str
    path: str
    body: Any = None
    other_path: str | None = None
    other_body: Any = None
    settle: Callable[[Ask], Mapping[str, Any]] = lambda _: {}
    """Returns the fields that are known only once something was kept."""


def note(key: str, content: str = "x") -> Mapping[str, Any]:
    """Return a memory's value."""
    return {"value": {**NOTE, "content": f"{key} {content}"}}


def undo_token(ask: Ask) -> Mapping[str, Any]:
    """Make a change that can be taken back."""
    return {"body": {"undo": ask("PUT", A, json=note("a", "z"), undo=True)["undo"]}}


def confirmation(ask: Ask) -> Mapping[str, Any]:
    """Ask what an erase would take."""
    shown = ask("POST", "erase/preview", json={"target": {"thread": "t"}})
    return {"body": {"confirm": shown["confirm"]}}


def made_key(ask: Ask) -> Mapping[str, Any]:
    """Make a key to be rotated."""
    path = f"keys/{ask('POST', 'keys', json=KEY)['id']}"
    return {"path": f"{path}/rotate", "other_path": f"{path}/rotate"}


def lost_key(ask: Ask) -> Mapping[str, Any]:
    """Make a key to be revoked."""
    return {"path": f"keys/{ask('POST', 'keys', json=KEY)['id']}"}


A, B = "memories/Note/a", "memories/Note/b"
KEY = {"name": "made", "permissions": ["read"]}
SAID = {"messages": [{"role": "user", "text": "again"}]}
BERGEN = {"role": "user", "text": "I live in Bergen"}
CASES = {
    "append": Case("POST", "threads/t/messages", SAID, "threads/u/messages", SAID),
    "replace": Case("PUT", "threads/t/messages/m1", BERGEN, other_body={**BERGEN, "text": "no"}),
    "remove": Case("DELETE", "threads/t/messages/m1", other_path="threads/t/messages/m2"),
    "put": Case("PUT", A, note("a", "z"), other_body=note("a", "other")),
    "delete": Case("DELETE", A, other_path="memories/Note/b"),
    "remember": Case(
        "POST", "remember", {"text": "Ada likes tea."}, other_body={"text": "Ada likes milk."}
    ),
    "approve": Case("POST", f"{B}/approve", other_path=f"{A}/approve"),
    "reject": Case("POST", f"{A}/reject", {}, other_body={"pointer": "/content"}),
    "restore": Case("POST", f"{A}/restore", {"version": 1}, other_body={"version": 2}),
    "end": Case(
        "POST",
        f"{A}/end",
        {"at": "2027-01-01T00:00:00Z"},
        other_body={"at": "2028-01-01T00:00:00Z"},
    ),
    "change": Case(
        "POST",
        "memories/change",
        {"act": "end", "memories": [{"type": "Note", "key": "a", "version": 2}]},
        other_body={"act": "reject", "memories": [{"type": "Note", "key": "a", "version": 2}]},
    ),
    "undo": Case("POST", "undo", other_body={"undo": "x"}, settle=undo_token),
    "types": Case("PUT", "types", {"types": TYPES}, other_body={"types": []}),
    "pause": Case("POST", "formation/pause", {"thread": "t"}, other_body={}),
    "resume": Case("POST", "formation/resume", {"thread": "t"}, other_body={}),
    "retry": Case("POST", "formation/retry", {"thread": "t"}, other_body={"thread": "u"}),
    "erase": Case("POST", "erase", other_body={"confirm": "x"}, settle=confirmation),
    "create key": Case("POST", "keys", KEY, other_body={**KEY, "permissions": ["write"]}),
    "rotate key": Case("POST", "", {}, other_body={"overlap_s": 5}, settle=made_key),
    "revoke key": Case("DELETE", "", other_path="keys/0123456789abcdef", settle=lost_key),
}


def quarantine(served: Served, scope: str) -> None:
    """Let a memory wait for a person's verdict."""
    write = PutMemory(type="Note", key="b", value=note("b")["value"], state="quarantined")
    memory = served.service.memory
    assert memory.loop is not None
    applied = memory.apply((*ROOT_SCOPE, scope), [write])
    asyncio.run_coroutine_threadsafe(applied, memory.loop).result()


def prepared(client: httpx.Client, name: str, scope: Mapping[str, Any]) -> Case:
    """Keep what the request named *name* changes, and return the request."""

    def ask(method: str, path: str, json: Any = None, **query: Any) -> Any:
        answer = client.request(method, f"/v1/{path}", params={**scope, **query}, json=json)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    ask("POST", "threads/t/messages", json={"messages": [{**BERGEN, "id": "m1"}]})
    ask("PUT", A, json=note("a"))
    ask("PUT", A, json=note("a", "y"))
    case = CASES[name]
    return replace(case, **case.settle(ask))


def sent(client: httpx.Client, case: Case, scope: Mapping[str, Any], key: str) -> httpx.Response:
    """Send a request under a key."""
    return client.request(
        case.method, f"/v1/{case.path}", params=scope, json=case.body,
        headers={"idempotency-key": key},
    )  # fmt: skip


def state(client: httpx.Client, scope: Mapping[str, Any]) -> Any:
    """Return everything that the requests can change."""
    record = client.get("/v1/export", params={**scope, "below": True}).text
    keys = client.get("/v1/keys", params=scope).json()
    audit = client.get("/v1/audit", params=scope).json()["audit"]
    return record, keys, len(audit)


@on_every_store
@pytest.mark.parametrize("name", CASES)
def test_a_repeated_request_does_nothing_and_is_answered_the_same(
    served: Served, client: httpx.Client, name: str
) -> None:
    """Same status, same body, and nothing has changed; another request is refused."""
    scope = {"scope": f"once {name}"}
    quarantine(served, scope["scope"])
    case = prepared(client, name, scope)

    first = sent(client, case, scope, "k1")
    after = state(client, scope)
    again = sent(client, case, scope, "k1")

    assert first.is_success, first.text
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert after == state(client, scope)
    other = replace(case, path=case.other_path or case.path, body=case.other_body)
    refused = sent(client, other, scope, "k1")
    assert (409, "conflict") == (refused.status_code, refused.json()["code"])
    assert after == state(client, scope)


def test_a_late_repetition_does_not_undo_what_others_did(client: httpx.Client) -> None:
    """Also of a request that had nothing to change: the thread was paused already."""
    scope = {"scope": "late"}
    prepared(client, "pause", scope)

    def ask(what: str, **headers: str) -> httpx.Response:
        body = {"thread": "t"}
        return client.post(f"/v1/formation/{what}", params=scope, json=body, headers=headers)

    ask("pause")

    ask("pause", **{"idempotency-key": "p"})
    ask("resume")
    again = ask("pause", **{"idempotency-key": "p"})

    assert {"threads": 0} == again.json()
    assert "active" == client.get("/v1/threads/t", params=scope).json()["state"]


@pytest.mark.parametrize("path", ["threads/t/messages", "chat"])
def test_a_repetition_is_known_after_the_types_of_its_scope_changed(
    client: httpx.Client, path: str
) -> None:
    """A client sends no types: to it the repetition is the same request."""
    scope = {"scope": f"types {path}"}
    said = {"thread": "t", "text": "hi"}
    body = said if path == "chat" else {"messages": [{"role": "user", "text": "hi"}]}

    def ask() -> httpx.Response:
        headers = {"idempotency-key": "k"}
        return client.post(f"/v1/{path}", params=scope, json=body, headers=headers)

    first = ask()
    client.put("/v1/types", params=scope, json={"types": TYPES})
    again = ask()
    found = client.get("/v1/threads/t/messages", params=scope).json()["messages"]

    assert first.status_code == again.status_code
    assert 1 == len(found)


def test_a_written_value_is_answered_again_though_its_type_refuses_it_now(
    client: httpx.Client,
) -> None:
    """It was written; a repetition checks nothing, as it writes nothing."""
    scope, url = {"scope": "typed value"}, "/v1/memories/Pet/rex"
    body, headers = {"value": {"name": "Rex"}}, {"idempotency-key": "k"}
    client.put("/v1/types", params=scope, json={"types": TYPES})
    first = client.put(url, params=scope, json=body, headers=headers)
    aged = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
    changed = [{**TYPES[0], "parameters": aged}]
    client.put("/v1/types", params=scope, json={"types": changed})

    again = client.put(url, params=scope, json=body, headers=headers)
    new = client.put(url, params=scope, json=body, headers={"idempotency-key": "l"})

    assert (201, 201, 422) == (first.status_code, again.status_code, new.status_code)
    assert first.json() == again.json()


def test_a_key_that_was_revoked_or_rotated_is_not_told_again(client: httpx.Client) -> None:
    """The repetition brings no key back: it is gone."""
    body = {"name": "made", "permissions": ["read"]}
    header = {"idempotency-key": "made"}
    made = client.post("/v1/keys", json=body, headers=header).json()

    client.post(f"/v1/keys/{made['id']}/rotate", json={})
    rotated = client.post("/v1/keys", json=body, headers=header)
    client.delete(f"/v1/keys/{made['id']}")
    revoked = client.post("/v1/keys", json=body, headers=header)

    assert (410, "gone") == (rotated.status_code, rotated.json()["code"])
    assert (410, "gone") == (revoked.status_code, revoked.json()["code"])
    assert made["id"] not in [each["id"] for each in client.get("/v1/keys").json()["keys"]]


def test_the_same_key_of_another_caller_is_another_one(
    served: Served, client: httpx.Client, connect: Connect, new_key: Callable[..., str]
) -> None:
    """Keys are made in one place for all; what one asked does not hinder another."""
    body = {"name": "made", "permissions": ["read"]}
    header = {"idempotency-key": "shared"}
    other = connect(served, new_key(served, "admin", "read", scope=("elsewhere",)))

    first = client.post("/v1/keys", json=body, headers=header)
    second = other.post("/v1/keys", json={**body, "name": "other"}, headers=header)

    assert (201, 201) == (first.status_code, second.status_code)
    assert first.json()["key"] != second.json()["key"]


def test_a_refused_request_may_be_made_again_under_its_key(client: httpx.Client) -> None:
    """What was not carried out leaves no key: corrected conditions are no conflict."""
    scope, header = {"scope": "refused"}, {"idempotency-key": "r"}
    path = "/v1/memories/Note/late/reject"

    missing = client.post(path, params=scope, headers=header)
    client.put("/v1/memories/Note/late", params=scope, json=note("late"))
    found = client.post(path, params=scope, headers=header)

    assert (404, 200) == (missing.status_code, found.status_code)


def test_every_operation_that_writes_takes_a_key(served: Served) -> None:
    """Those that do not are named here, with the reason."""
    without = {
        operation["operationId"]
        for method, path, operation in operations(served.app.openapi())
        if path.startswith("/v1") and method != "get"
        if "idempotency-key" not in {each["name"] for each in operation.get("parameters", ())}
    }

    assert WITHOUT_KEY.keys() | READS == without


def test_a_service_that_does_not_know_a_request_again_is_found(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the key is not looked for, so that a repetition is carried out."""
    scope = {"scope": "mutant"}
    case = prepared(client, "restore", scope)

    async def act_always(self: Any, act: Any, again: Any, **_: Any) -> Any:
        del again
        return await act(self._reach.memory)

    monkeypatch.setattr(repeatable_requests.RepeatableRequest, "answer", act_always)
    first, again = (sent(client, case, scope, "k") for _ in range(2))

    assert first.content != again.content
