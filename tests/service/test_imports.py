"""What a low key can do with an import: what it could write directly, and no more."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from recollect.lifecycle import record_import
from recollect.server.testing import ROOT_SCOPE, Served
from recollect.side_records import SCOPE_SETTINGS, PutSideRecord

LINES = {"content-type": "application/x-ndjson"}
TRIP: dict[str, Any] = {
    "name": "Trip",
    "description": "A journey.",
    "update_mode": "insert",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
}
SETTINGS: dict[str, Any] = {
    "kind": "side",
    "scope": [],
    "thread": None,
    "side_kind": SCOPE_SETTINGS,
    "key": SCOPE_SETTINGS,
    "version": 1,
    "value": {"types": [TRIP]},
    "created_at": 1,
    "updated_at": 1,
    "expires_at": None,
}
NOTE: dict[str, Any] = {
    **{name: SETTINGS[name] for name in ("scope", "version", "created_at", "updated_at")},
    "kind": "memory",
    "type": "Note",
    "key": "n",
    "value": {},
    "text": "",
    "valid_from": None,
    "valid_until": None,
    "expires_at": None,
    "trust": "user",
    "state": "active",
    "cause": "",
    "evidence": {},
    "revisions": [],
}
Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)


def imported(
    client: httpx.Client, *records: dict[str, Any], is_ok: bool = True, **query: Any
) -> dict[str, Any]:
    """Import records, and return the answer."""
    content = "\n".join(map(json.dumps, records))
    answer = client.post("/v1/import", params=query, content=content, headers=LINES)
    assert answer.is_success == is_ok, answer.text
    return dict(answer.json())


def above(client: httpx.Client) -> Sequence[int]:
    """Return the statuses of what reads the settings of all scopes below a key's own."""
    return [
        client.get("/v1/types").status_code,
        client.post("/store/namespaces", json={}).status_code,
        client.post("/store/items/search", json={"namespace_prefix": []}).status_code,
    ]


@on_every_store
def test_a_low_key_imports_no_settings_that_break_others(
    served: Served, connect: Connect, new_key: NewKey
) -> None:
    """They are refused alone, with the line; good ones are taken, and hold where they are for."""
    low = connect(served, new_key(served, "write", "read", "below", scope=("low",)))
    first = connect(served)
    wrong = {**SETTINGS, "scope": ["a"], "value": {"types": [{"name": "x"}]}}
    note = {**NOTE, "scope": ["a"]}

    told = imported(low, wrong, note, {**SETTINGS, "scope": ["b"]})

    assert (2, [1]) == (told["taken"], [each["line"] for each in told["refused"]])
    assert "types" in told["refused"][0]["reason"]
    assert [200, 200, 200] == above(first) == above(low)
    types = low.get("/v1/types", params={"scope": "b"}).json()["types"]
    assert ["Trip"] == [each["name"] for each in types]


def test_an_import_that_takes_any_settings_breaks_all_above(
    served: Served, connect: Connect, new_key: NewKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant lets them in; and yet no scope above or beside is broken by them any more."""

    async def unchecked(*_: Any, **__: Any) -> None:
        return None

    monkeypatch.setattr(record_import, "check_reserved", lambda *_: None)
    monkeypatch.setattr(record_import, "check_scope_settings", unchecked)
    low = connect(served, new_key(served, "write", "read", "below", scope=("mutant",)))
    wrong = {**SETTINGS, "scope": ["a"], "value": {"types": [{"name": "x"}]}}

    told = imported(low, wrong)

    assert 1 == told["taken"]
    assert [200, 200, 200] == above(connect(served))
    shown = low.get("/v1/types", params={"scope": "a"}).json()
    assert "are invalid" in shown["problem"]
    assert not shown["own"]
    body = {"messages": [{"role": "user", "text": "hello"}]}
    kept = low.post("/v1/threads/t/messages", params={"scope": "a"}, json=body)
    assert 201 == kept.status_code


def test_a_row_that_is_broken_already_breaks_no_other_scope(
    served: Served, connect: Connect
) -> None:
    """However it came there: who keeps something below it is served by what holds above."""
    put = PutSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS, value={"types": [{}]})
    memory = served.service.memory
    assert memory.loop is not None
    keeping = memory.store.apply((*ROOT_SCOPE, "broken"), [put])
    asyncio.run_coroutine_threadsafe(keeping, memory.loop).result(30)
    client = connect(served)

    below = client.put(
        "/v1/memories/Note/n",
        params={"scope": ["broken", "x"]},
        json={"value": {"context": "always", "content": "tea"}},
    )

    assert [200, 200, 200] == above(client)
    assert 201 == below.status_code
    assert client.get("/v1/types").json()["problem"] is None
    put_back = client.put("/v1/types", params={"scope": "broken"}, json={"types": [TRIP]})
    assert ["Trip"] == [each["name"] for each in put_back.json()["types"]]


def test_a_low_key_imports_nothing_of_the_service(
    served: Served, connect: Connect, new_key: NewKey
) -> None:
    """No key, no count, no mark: they are refused, and no key is one more."""
    client = connect(served, new_key(served, "write", "read", "below", scope=("sly",)))
    before = connect(served).get("/v1/keys").json()["keys"]
    records = [
        {**SETTINGS, "side_kind": kind, "key": "k", "value": {}, "scope": scope}
        for kind in ("ServiceKey", "ServiceKeyUse", "ServiceUsage")
        for scope in ([], ["recollect:service", "keys"])
    ]

    told = imported(client, *records)

    assert (0, 6) == (told["taken"], told["refused_count"])
    assert len(before) == len(connect(served).get("/v1/keys").json()["keys"])


@on_every_store
def test_what_was_erased_comes_back_only_by_an_administrators_word(
    served: Served, connect: Connect, new_key: NewKey
) -> None:
    """Without it the lines are left out and counted; a low key may not say it; it is audited."""
    scope = {"scope": "again"}
    first = connect(served)
    low = connect(served, new_key(served, "write", "read", "erase", "below"))
    said = {"messages": [{"role": "user", "text": "Xanadu", "id": "m1"}]}
    first.post("/v1/threads/t/messages", params=scope, json=said)
    body = {
        "value": {"context": "always", "content": "Xanadu"},
        "evidence": {"": [{"thread": "t", "message": "m1"}]},
    }
    first.put("/v1/memories/Note/n", params=scope, json=body)
    exported = first.get("/v1/export", params=scope).content
    shown = low.post("/v1/erase/preview", params=scope, json={"target": {"thread": "t"}}).json()
    low.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})

    def put_back(client: httpx.Client, **query: Any) -> httpx.Response:
        return client.post("/v1/import", params=query, content=exported, headers=LINES)

    told = [put_back(low).json(), put_back(low, scope="elsewhere").json()]
    refused = put_back(low, restore_erased=True)
    counts = ("taken", "erased_count", "refused_count")
    assert [(0, 3, 0)] * 2 == [tuple(each[name] for name in counts) for each in told]
    assert (403, "forbidden") == (refused.status_code, refused.json()["code"])
    assert "Xanadu" not in first.get("/v1/export", params={"below": True}).text
    assert 3 == put_back(first, restore_erased=True).json()["taken"]
    assert 2 == first.get("/v1/export", params=scope).text.count('"Xanadu"')
    audit = first.get("/v1/audit", params=scope).json()["audit"]
    assert "restore erased" == audit[0]["action"]


def test_evidence_in_nothing_is_told(client: httpx.Client) -> None:
    """A memory that names messages which are nowhere keeps their thread, and the line is told."""
    evidence = {"": [["t", "m1", "the user said so"]]}
    note = {**NOTE, "value": {"content": "x"}}

    told = imported(client, {**note, "evidence": evidence}, scope="unfounded")

    found = client.get("/v1/memories/Note/n", params={"scope": "unfounded"}).json()
    assert (1, [1], 1) == (
        told["taken"],
        [each["line"] for each in told["changed"]],
        told["changed_count"],
    )
    (tie,) = found["evidence"][""]
    assert ("t", None, "external") == (tie["thread"], tie.get("quote"), found["trust"])


def test_settings_of_a_thread_are_those_of_an_append(client: httpx.Client) -> None:
    """Others are left out, and told; the thread is put back all the same."""
    thread = {
        "kind": "thread",
        "scope": [],
        "id": "t",
        "created_at": 1,
        "last": 0,
        "formed": 0,
        "state": "active",
        "again": [],
        "settings": {"assistant": "nobody"},
    }

    told = imported(client, thread, scope="settled")

    assert (1, 1, 0) == (told["taken"], told["changed_count"], told["refused_count"])
    (found,) = client.get("/v1/threads", params={"scope": "settled"}).json()["threads"]
    assert {} == found["settings"]


def test_the_threads_of_an_export_are_told(client: httpx.Client) -> None:
    """Also of one that was imported before: whoever imports it looks for them."""
    for thread in ("kitchen", "harbour"):
        said = {"messages": [{"role": "user", "text": "I bake."}]}
        client.post(f"/v1/threads/{thread}/messages", params={"scope": "zoe"}, json=said)
    exported = client.get("/v1/export", params={"scope": "zoe"}).content

    def put_back() -> Any:
        return client.post(
            "/v1/import", params={"scope": "copy"}, content=exported, headers=LINES
        ).json()

    told, again = put_back(), put_back()

    assert (2, 2, 0) == (told["threads"], again["threads"], again["taken"])
    assert {"kitchen", "harbour"} == {each["id"] for each in told["first_threads"]}
    scopes = {"/".join(each["scope"]) for each in told["first_threads"]}
    assert {"copy"} == {each.partition("/")[0] for each in scopes}
    assert told["first_threads"] == again["first_threads"]
