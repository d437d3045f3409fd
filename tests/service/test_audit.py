"""Who did what over HTTP: every change is in the chain of its scope, under the id of its key."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from recollect.formation.rule_model import RuleModel
from recollect.records import Scope
from recollect.server.http.scope_access import Reach
from recollect.server.testing import Served
from recollect.side_records import KEYS_SCOPE
from recollect.stores.plans.audit import AuditEntry
from recollect.worker.loop import Worker

Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
THREAD = "/v1/threads/t/messages"
MEMORY = "/v1/memories/Note/n"


def value(content: str) -> dict[str, Any]:
    """Return the body that writes a Note."""
    return {"value": {"context": "always", "content": content}}


def rows_of(served: Served, scope: Scope) -> tuple[AuditEntry, ...]:
    """Return the chain of a scope, as the library has it."""
    memory = served.service.memory
    assert memory.loop is not None
    reading = memory.audit(scope, limit=1_000)
    return asyncio.run_coroutine_threadsafe(reading, memory.loop).result(30).rows


def changes(client: httpx.Client, scope: dict[str, Any]) -> Iterator[tuple[str, httpx.Response]]:
    """Make one change after another, each by another route, and yield what was answered."""

    def sent(method: str, path: str, json: Any = None) -> tuple[str, httpx.Response]:
        return f"{method} {path}", client.request(method, path, params=scope, json=json)

    messages = [{"role": "user", "text": f"word {each}", "id": each} for each in ("m1", "m2")]
    yield sent("POST", THREAD, {"messages": messages})
    yield sent("PUT", f"{THREAD}/m1", {"role": "user", "text": "another word"})
    yield sent("DELETE", f"{THREAD}/m2")
    yield sent("PUT", MEMORY, value("one"))
    yield sent("PUT", MEMORY, value("two"))
    yield sent("POST", f"{MEMORY}/restore", {"version": 1})
    yield sent("POST", f"{MEMORY}/end", {"at": "2030-01-01T00:00:00Z"})
    yield sent("POST", f"{MEMORY}/reject", {})
    yield sent("DELETE", MEMORY)
    yield sent("POST", "/v1/formation/pause", {})
    yield sent("POST", "/v1/formation/resume", {})
    yield sent("POST", "/v1/formation/retry", {"thread": "t"})
    yield sent("POST", "/v1/chat", {"thread": "talk", "text": "Do you hear me?"})
    types = client.get("/v1/types", params=scope).json()["types"]
    yield sent("PUT", "/v1/types", {"types": types})
    exported = client.get("/v1/export", params=scope).content.replace(b'"talk"', b'"taken"')
    kind = {"content-type": "application/x-ndjson"}
    yield "POST /v1/import", client.post("/v1/import", content=exported, headers=kind)
    shown = client.post("/v1/erase/preview", params=scope, json={"target": {"thread": "t"}}).json()
    yield sent("POST", "/v1/erase", {"confirm": shown["confirm"]})


def unaudited(served: Served, client: httpx.Client, scope: Scope, key_id: str) -> list[str]:
    """Return the changes that left no row under the id of the key."""
    found: list[str] = []
    before = 0
    for name, answer in changes(client, {"scope": scope[-1]}):
        assert answer.is_success, (name, answer.text)
        rows = rows_of(served, scope)
        new = rows[: len(rows) - before]
        before = len(rows)
        if not new or {key_id} != {each.actor for each in new}:
            found.append(name)
    return found


@pytest.mark.parametrize("store", ["memory", "redis"], indirect=True)
def test_every_change_is_audited_under_its_key(served: Served, client: httpx.Client) -> None:
    """Each route that changes something adds a row with the id of the key, and with no other."""
    key_id = served.key.split("_")[1]

    assert [] == unaudited(served, client, ("acme", "each"), key_id)


def test_a_service_that_acts_as_nobody_is_caught(
    served: Served, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: routes that use the memory itself leave no rows, and every change is missed."""
    monkeypatch.setattr(Reach, "memory", property(lambda reach: reach.service.memory))

    missed = unaudited(served, client, ("acme", "mutant"), served.key.split("_")[1])

    assert 16 == len(missed)


def formed_by_request(served: Served, client: httpx.Client, scope: str) -> list[AuditEntry]:
    """Have something formed, and return the rows of what was stored, oldest first."""
    where = {"scope": scope}
    said = {"messages": [{"role": "user", "text": "I live in Oslo."}]}
    client.post(THREAD, params=where, json=said).raise_for_status()
    formed = client.post("/v1/form", params=where, json={}).json()["formations"]
    assert ["formed"] == [each["status"] for each in formed]
    rows = rows_of(served, ("acme", scope))
    return [each for each in reversed(rows) if each.action == "form"]


def test_what_a_request_has_formed_is_audited_under_its_key(
    starting: Callable[..., Served], connect: Connect
) -> None:
    """Formation on request is the deed of who asked, in the transaction of what it stored."""
    served = starting(model=RuleModel())
    client = connect(served)

    (row,) = formed_by_request(served, client, "asked")

    assert served.key.split("_")[1] == row.actor
    assert any(each.startswith("memory User") for each in row.names), row.names


def test_a_worker_that_acts_as_nobody_is_caught(
    starting: Callable[..., Served], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: where the worker does not act for who asked, nothing tells of him."""
    monkeypatch.setattr(Worker, "acting", lambda worker, *_, **__: worker)
    served = starting(model=RuleModel())

    assert [] == formed_by_request(served, connect(served), "mutant")


def test_changes_of_keys_are_audited(served: Served, client: httpx.Client) -> None:
    """Who made, rotated and revoked a key stands in a chain of the service's own."""
    before = len(rows_of(served, KEYS_SCOPE))
    body = {"name": "watched", "permissions": ["read"]}
    made = client.post("/v1/keys", params={"scope": "keys"}, json=body).json()
    client.post(f"/v1/keys/{made['id']}/rotate")
    client.delete(f"/v1/keys/{made['id']}")

    rows = rows_of(served, KEYS_SCOPE)
    new = rows[: len(rows) - before]

    assert 3 == len(new)
    assert {served.key.split("_")[1]} == {each.actor for each in new}


def test_the_audit_is_read_page_by_page(served: Served, client: httpx.Client) -> None:
    """Rows come newest first, each hash is the previous of the next, in the form of the page."""
    scope = {"scope": "paged-audit"}
    for number in range(5):
        client.put(f"/v1/memories/Note/n{number}", params=scope, json=value(str(number)))

    rows: list[dict[str, Any]] = []
    cursor = None
    for _ in range(3):
        parameters: dict[str, Any] = {**scope, "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get("/v1/audit", params=parameters).json()
        rows += page["audit"]
        cursor = page["cursor"]

    assert cursor is None
    assert [5, 4, 3, 2, 1] == [each["n"] for each in rows]
    assert [each["hash"] for each in rows[1:]] == [each["previous"] for each in rows[:-1]]
    assert {served.key.split("_")[1]} == {each["actor"] for each in rows}
    assert "memory Note/n4" == rows[0]["description"]
    elsewhere = client.get("/v1/audit", params={"scope": "x", "cursor": "AAAA"})
    assert 422 == elsewhere.status_code


def test_the_audit_is_verified(client: httpx.Client) -> None:
    """A whole chain is so, and one that no longer holds what was noted is told."""
    scope = {"scope": "verified"}
    client.put(MEMORY, params=scope, json=value("one"))
    first = client.get("/v1/audit/verify", params=scope).json()
    client.put(MEMORY, params=scope, json=value("two"))
    noted = {**scope, "n": first["rows"], "hash": first["head"]}
    good = client.get("/v1/audit/verify", params=noted).json()
    foreign = client.get("/v1/audit/verify", params={**noted, "hash": "0" * 64}).json()
    half = client.get("/v1/audit/verify", params={**scope, "n": 1})

    assert (True, 1, None) == (first["ok"], first["rows"], first["broken_at"])
    assert (True, 2) == (good["ok"], good["rows"])
    assert (False, 1) == (foreign["ok"], foreign["broken_at"])
    assert 422 == half.status_code


@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/verify"])
def test_the_audit_needs_admin(
    served: Served, connect: Connect, new_key: NewKey, path: str
) -> None:
    """A key that may do all but administer reads no audit."""
    key = new_key(served, "read", "write", "erase", "below")

    assert 403 == connect(served, key).get(path).status_code


def test_an_erased_scope_leaves_rows_without_names(client: httpx.Client) -> None:
    """After its scope is erased a row names nobody and nothing, and the chain is whole."""
    scope = {"scope": "leaving"}
    client.put(MEMORY, params=scope, json=value("a secret"))
    target = {"target": {"scope": True}}
    shown = client.post("/v1/erase/preview", params=scope, json=target).json()
    client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})

    rows = client.get("/v1/audit", params=scope).json()["audit"]

    assert {None} == {each["actor"] for each in rows}
    assert "Note/n" not in str(rows)
    assert client.get("/v1/audit/verify", params=scope).json()["ok"]
