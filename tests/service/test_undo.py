"""Undo over HTTP: each change of a person is taken back exactly, or says that it cannot be."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import FACT, USER
from recollect.records import PutMemory
from recollect.server import undo
from recollect.server.testing import ROOT_SCOPE, Served

Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
UNDO = {"undo": "true"}
TRIP = {
    "name": "Trip", "description": "A journey.", "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
}  # fmt: skip


def note(content: str) -> dict[str, str]:
    return {"context": "always", "content": content}


def exported(client: httpx.Client, scope: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the memories of a scope as an export has them."""
    lines = client.get("/v1/export", params=scope).text.splitlines()
    found = [httpx.Response(200, text=line).json() for line in lines]
    return [each for each in found if each.get("kind") == "memory"]


def kept(client: httpx.Client, scope: Mapping[str, Any], key: str = "n") -> None:
    """Keep two versions of a note that rests on a message."""
    said = {"messages": [{"role": "user", "text": "tea", "id": "m1"}]}
    client.post("/v1/threads/t/messages", params=scope, json=said)
    evidence = {"": [{"thread": "t", "message": "m1", "quote": "tea"}]}
    for content in ("tea", "black tea"):
        body = {"value": note(content), "evidence": evidence}
        assert client.put(f"/v1/memories/Note/{key}", params=scope, json=body).is_success


def as_it_was(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    """Return True if two exports say the same, versions that say that it was undone apart."""
    ignored = ("version", "updated_at", "cause", "revisions")

    def told(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: each[name] for name in each if name not in ignored} for each in found]

    pasts = zip(before, after, strict=True)
    return told(before) == told(after) and all(
        now["revisions"][: len(was["revisions"])] == was["revisions"] for was, now in pasts
    )


CHANGES: dict[str, tuple[str, str, Any]] = {
    "forget": ("DELETE", "/v1/memories/Note/n", None),
    "reject": ("POST", "/v1/memories/Note/n/reject", {}),
    "reject a field": ("POST", "/v1/memories/Thing/x/reject", {"pointer": "/about"}),
    "end": ("POST", "/v1/memories/Note/n/end", {"at": "2026-05-01T00:00:00Z"}),
    "restore": ("POST", "/v1/memories/Note/n/restore", {"version": 1}),
    "edit": ("PUT", "/v1/memories/Note/n", {"value": note("coffee")}),
    "make": ("PUT", "/v1/memories/Note/new", {"value": note("milk")}),
}


@on_every_store
def test_a_change_is_taken_back_exactly(client: httpx.Client) -> None:
    """With all that it did besides, and once."""
    for number, (method, path, body) in enumerate(CHANGES.values()):
        scope = {"scope": f"undoing {number}"}
        kept(client, scope)
        thing = {"value": {"about": "tea", "more": "x"}}
        client.put("/v1/memories/Thing/x", params=scope, json=thing)
        before = exported(client, scope)

        answer = client.request(method, path, params=scope | UNDO, json=body)
        changed = exported(client, scope)
        undone = client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})
        again = client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})

        assert changed != before, path
        assert 204 == undone.status_code, undone.text
        assert as_it_was(before, exported(client, scope)), path
        assert 412 == again.status_code


def test_without_being_asked_no_answer_has_a_token(client: httpx.Client) -> None:
    scope = {"scope": "plain"}
    kept(client, scope)

    rejected = client.post("/v1/memories/Note/n/reject", params=scope)
    forgotten = client.delete("/v1/memories/Note/n", params=scope)

    assert "undo" not in rejected.json()
    assert (204, b"") == (forgotten.status_code, forgotten.content)


def test_what_was_forgotten_comes_back_whatever_its_type_asks_for_by_now(
    client: httpx.Client,
) -> None:
    """It was valid when it was kept: an undo does not lose it."""
    scope = {"scope": "typed later"}
    client.put("/v1/memories/Trip/1", params=scope, json={"value": {"from": "Oslo"}})
    client.put("/v1/types", params=scope, json={"types": [TRIP]})
    before = exported(client, scope)

    answer = client.delete("/v1/memories/Trip/1", params=scope | UNDO)
    undone = client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})

    assert 204 == undone.status_code
    assert before == exported(client, scope)


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_verdict_is_taken_back(served: Served, client: httpx.Client, decision: str) -> None:
    """What waited waits again; a refusal leaves nothing behind."""
    scope = {"scope": f"verdict {decision}"}
    write = PutMemory(type="Note", key="n", value=note("tea"), state="quarantined", cause="doubt")
    memory = served.service.memory
    assert memory.loop is not None
    applied = memory.apply((*ROOT_SCOPE, f"verdict {decision}"), [write])
    asyncio.run_coroutine_threadsafe(applied, memory.loop).result()
    before = exported(client, scope)

    seen = {"if-match": '"1"'}
    answer = client.post(f"/v1/memories/Note/n/{decision}", params=scope | UNDO, headers=seen)
    client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})

    waiting = client.get("/v1/memories", params=scope | {"state": "quarantined"}).json()["memories"]
    assert ["n"] == [each["key"] for each in waiting]
    assert as_it_was(before, exported(client, scope))


def test_types_are_taken_back(client: httpx.Client) -> None:
    """Where a scope had none of its own, it has none again."""
    scope = {"scope": "types undone"}
    before = client.get("/v1/types", params=scope).json()

    answer = client.put("/v1/types", params=scope | UNDO, json={"types": [TRIP]})
    undone = client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})

    assert 204 == undone.status_code
    assert before == client.get("/v1/types", params=scope).json()


def test_after_an_erase_nothing_is_taken_back(client: httpx.Client) -> None:
    scope = {"scope": "erased since"}
    kept(client, scope)
    answer = client.delete("/v1/memories/Note/n", params=scope | UNDO)
    target = {"target": {"message": {"thread": "t", "id": "m1"}}}
    token = client.post("/v1/erase/preview", params=scope, json=target).json()["confirm"]
    client.post("/v1/erase", params=scope, json={"confirm": token})

    undone = client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})

    assert 409 == undone.status_code
    assert "erased" in undone.json()["detail"]
    assert [] == exported(client, scope)


def test_a_token_is_of_its_key_and_scope(
    served: Served, client: httpx.Client, connect: Connect, new_key: NewKey
) -> None:
    scope = {"scope": "mine"}
    kept(client, scope)
    token = client.delete("/v1/memories/Note/n", params=scope | UNDO).json()["undo"]
    other = connect(served, new_key(served, "read", "write"))

    answers = [
        client.post("/v1/undo", params={"scope": "other"}, json={"undo": token}),
        other.post("/v1/undo", params=scope, json={"undo": token}),
        client.post("/v1/undo", params=scope, json={"undo": token[:-4] + "AAAA"}),
        client.post("/v1/undo", params=scope, json={"undo": "x"}),
    ]

    assert [422] * 4 == [each.status_code for each in answers]
    assert [] == exported(client, scope)


def test_who_may_not_read_gets_no_token(
    served: Served, client: httpx.Client, connect: Connect, new_key: NewKey
) -> None:
    """It would hold what was forgotten."""
    scope = {"scope": "unread"}
    kept(client, scope)
    writer = connect(served, new_key(served, "write"))

    refused = writer.delete("/v1/memories/Note/n", params=scope | UNDO)

    assert 403 == refused.status_code
    assert exported(client, scope)
    assert 204 == writer.delete("/v1/memories/Note/n", params=scope).status_code


def test_what_is_too_much_to_be_taken_back_is_told_before(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is forgotten then; without asking for an undo it is."""
    monkeypatch.setattr(undo, "UNDO_BYTES_MAX", 100)
    scope = {"scope": "too much"}
    kept(client, scope)
    before = exported(client, scope)

    refused = client.delete("/v1/memories/Note/n", params=scope | UNDO)

    assert 422 == refused.status_code
    assert "UNDO_BYTES_MAX" in refused.json()["detail"]
    assert before == exported(client, scope)
    assert 204 == client.delete("/v1/memories/Note/n", params=scope).status_code


def test_a_token_ends(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = {"scope": "late"}
    kept(client, scope)
    token = client.delete("/v1/memories/Note/n", params=scope | UNDO).json()["undo"]
    monkeypatch.setattr(undo, "UNDO_S", -1)

    late = client.post("/v1/undo", params=scope, json={"undo": token})

    assert 422 == late.status_code
    assert "ago" in late.json()["detail"]


def test_a_message_is_undone_with_all_that_its_formation_ended(
    starting: Callable[..., Served], connect: Connect
) -> None:
    """One change reverts what the message brought and what it ended; one token brings it back."""
    assistants = Assistants(default=FormationSettings(types=(USER, FACT)))
    client = connect(starting(model=RuleModel(), assistants=assistants))
    scope = {"scope": "undone message"}
    home = {"subject": "Mira", "predicate": "lives in", "object": "Coimbra"}
    client.put("/v1/memories/Fact/home", params=scope, json={"value": home})
    client.put("/v1/memories/User/User", params=scope, json={"value": {"home": "Coimbra"}})
    said = {"messages": [{"role": "user", "text": "I moved to Braga last week.", "id": "m1"}]}
    client.post("/v1/threads/t/messages", params=scope, json=said)
    assert client.post("/v1/form", params=scope).is_success
    formed = client.get("/v1/formations", params=scope).json()["formations"][0]
    ended = next(each for each in formed["receipt"]["outcomes"] if each["action"] == "ended")

    def told() -> tuple[bool, str]:
        found = client.get("/v1/memories", params=scope).json()["memories"]
        fact, profile = sorted(found, key=lambda each: each["type"])
        return fact["valid_until"] is None, profile["value"]["home"]

    assert [{"thread": "t", "message": "m1"}] == ended["because"]
    assert (False, "Braga") == told()
    body = {
        "act": "undo",
        "memories": [{"type": "User", "key": "User", "version": 2}],
        "because": {"thread": "t", "message": "m1"},
    }
    answer = client.post("/v1/memories/change", params=scope | UNDO, json=body)

    assert (200, 2) == (answer.status_code, answer.json()["changed"]), answer.text
    assert (True, "Coimbra") == told()
    undone = client.post("/v1/undo", params=scope, json={"undo": answer.json()["undo"]})
    assert undone.is_success
    assert (False, "Braga") == told()
    wrong = [{**body, "because": None}, {**body, "act": "delete"}]
    assert [422, 422] == [
        client.post("/v1/memories/change", params=scope, json=each).status_code for each in wrong
    ]


def test_undos_of_messages_never_bring_back_what_was_undone(
    starting: Callable[..., Served], connect: Connect
) -> None:
    """Madrid comes back after Lima, and Oslo after Madrid; what is undone already is refused."""
    assistants = Assistants(default=FormationSettings(types=(USER,)))
    client = connect(starting(model=RuleModel(), assistants=assistants))
    scope = {"scope": "undone homes"}
    client.put("/v1/memories/User/User", params=scope, json={"value": {"home": "Oslo"}})
    for id_, town in [("m1", "Madrid"), ("m2", "Lima")]:
        said = {"messages": [{"role": "user", "text": f"I live in {town} now.", "id": id_}]}
        client.post("/v1/threads/t/messages", params=scope, json=said)
        assert client.post("/v1/form", params=scope).is_success

    def undone(message: str) -> tuple[int, str]:
        version = client.get("/v1/memories/User/User", params=scope).json()["version"]
        body = {
            "act": "undo",
            "memories": [{"type": "User", "key": "User", "version": version}],
            "because": {"thread": "t", "message": message},
        }
        answer = client.post("/v1/memories/change", params=scope | UNDO, json=body)
        home = client.get("/v1/memories/User/User", params=scope).json()["value"]["home"]
        return answer.status_code, home

    assert (200, "Madrid") == undone("m2")
    assert (200, "Oslo") == undone("m1")
    assert (409, "Oslo") == undone("m1")
