"""One change to several memories: all of them or none, and all back with one token."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest

from recollect.formation.scope_types import settings_write
from recollect.records import JsonObject, PutMemory
from recollect.server import undo
from recollect.server.testing import ROOT_SCOPE, Served

Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
UNDO = {"undo": "true"}
ACTS = ("delete", "end", "approve", "reject")


def note(content: str) -> dict[str, str]:
    return {"context": "always", "content": content}


def filled(served: Served, scope: str, *, state: Any = "active", count: int = 3) -> None:
    """Keep notes in a scope, in a state."""
    writes = [
        PutMemory(type="Note", key=f"n{each}", value=note(f"boat {each}"), state=state)
        for each in range(count)
    ]
    memory = served.service.memory
    assert memory.loop is not None
    applied = memory.apply((*ROOT_SCOPE, scope), writes)
    asyncio.run_coroutine_threadsafe(applied, memory.loop).result()


def changed(client: httpx.Client, scope: str, act: str, *keys: str, **more: Any) -> httpx.Response:
    """Ask for a change of notes at their first version."""
    memories = [{"type": "Note", "key": each, "version": 1} for each in keys]
    return client.post(
        "/v1/memories/change",
        params={"scope": scope, **UNDO},
        json={"act": act, "memories": memories, **more},
    )


def standing(client: httpx.Client, scope: str) -> dict[str, tuple[str, bool]]:
    """Return of each note its state, and whether it has ended; not those of what was refused."""
    found = client.get("/v1/memories", params={"scope": scope}).json()["memories"]
    notes = [each for each in found if each["key"].startswith("n")]
    return {each["key"]: (each["state"], each["valid_until"] is not None) for each in notes}


@on_every_store
def test_each_act_changes_all_that_are_named_and_is_taken_back(
    client: httpx.Client, served: Served
) -> None:
    """Delete, end, approve, reject: the third memory is left alone, and undo restores the two."""
    wanted = {
        "delete": {"n2": ("active", False)},
        "end": {"n0": ("active", True), "n1": ("active", True), "n2": ("active", False)},
        "approve": dict.fromkeys(("n0", "n1"), ("active", False)) | {"n2": ("quarantined", False)},
        "reject": dict.fromkeys(("n0", "n1"), ("rejected", False)) | {"n2": ("active", False)},
    }
    for act in ACTS:
        scope = f"all {act}"
        filled(served, scope, state="quarantined" if act == "approve" else "active")
        before = standing(client, scope)

        answer = changed(client, scope, act, "n0", "n1")

        assert (200, 2) == (answer.status_code, answer.json()["changed"])
        assert wanted[act] == standing(client, scope), act
        token = {"undo": answer.json()["undo"]}
        assert client.post("/v1/undo", params={"scope": scope}, json=token).is_success
        assert before == standing(client, scope), act


def test_of_two_values_approved_together_one_holds(client: httpx.Client, served: Served) -> None:
    """The type allows one at a time: the second that is named ends the first."""
    lives = {"subject": "Ben", "predicate": "lives in"}
    writes = [
        PutMemory(type="Fact", key=each, value={**lives, "object": each}, state="quarantined")
        for each in ("Oslo", "Rome")
    ]
    memory = served.service.memory
    assert memory.loop is not None
    applied = memory.apply((*ROOT_SCOPE, "ben"), writes)
    asyncio.run_coroutine_threadsafe(applied, memory.loop).result()

    named = [{"type": "Fact", "key": each, "version": 1} for each in ("Oslo", "Rome")]
    done = client.post(
        "/v1/memories/change",
        params={"scope": "ben", **UNDO},
        json={"act": "approve", "memories": named},
    )
    found = client.get("/v1/memories", params={"scope": "ben"}).json()["memories"]
    client.post("/v1/undo", params={"scope": "ben"}, json={"undo": done.json()["undo"]})
    undone = client.get("/v1/memories", params={"scope": "ben"}).json()["memories"]

    assert {"Oslo": False, "Rome": True} == {
        each["key"]: each["valid_until"] is None for each in found
    }
    assert ["quarantined"] * 2 == [each["state"] for each in undone]
    assert [None, None] == [each["valid_until"] for each in undone]


@on_every_store
def test_nothing_is_done_if_one_was_changed_since(client: httpx.Client, served: Served) -> None:
    """A memory at another version, or one that is gone, refuses the whole change."""
    filled(served, "raced")
    value = {"value": note("changed since")}
    client.put("/v1/memories/Note/n1", params={"scope": "raced"}, json=value)

    for act in ("delete", "end", "reject"):
        assert 412 == changed(client, "raced", act, "n0", "n1").status_code
    assert changed(client, "raced", "reject", "n0", "gone").status_code in {404, 412}
    assert dict.fromkeys(("n0", "n1", "n2"), ("active", False)) == standing(client, "raced")


@pytest.mark.parametrize(
    ("act", "keys", "more"),
    [
        ("delete", ("n0", "n0"), {}),
        ("delete", ("n0",), {"at": "2026-01-01T00:00:00Z"}),
        ("approve", ("n0",), {}),
        ("vanish", ("n0",), {}),
        ("delete", (), {}),
        ("delete", tuple(f"n{each}" for each in range(201)), {}),
    ],
)
def test_a_change_that_means_nothing_is_refused(
    client: httpx.Client, served: Served, act: str, keys: tuple[str, ...], more: dict[str, Any]
) -> None:
    """Twice the same, a time that ends nothing, no quarantine, no such act, none, too many."""
    scope = f"refused {act} {len(keys)} {len(more)}"
    filled(served, scope, count=1)

    assert 422 == changed(client, scope, act, *keys, **more).status_code
    assert {"n0": ("active", False)} == standing(client, scope)


def test_a_change_too_large_to_be_taken_back_is_refused(
    client: httpx.Client, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that whoever asked can do it in smaller parts."""
    filled(served, "large")
    monkeypatch.setattr(undo, "UNDO_BYTES_MAX", 1_000)

    answer = changed(client, "large", "delete", "n0", "n1", "n2")

    assert 422 == answer.status_code
    assert "UNDO_BYTES_MAX" in answer.json()["detail"]
    assert 3 == len(standing(client, "large"))


def test_a_key_that_may_not_write_changes_nothing(
    connect: Connect, served: Served, new_key: NewKey
) -> None:
    """Nor does one that may not read get a token, which holds what was deleted."""
    filled(served, "guarded")
    reader = connect(served, new_key(served, "read"))
    writer = connect(served, new_key(served, "write"))

    assert 403 == changed(reader, "guarded", "delete", "n0").status_code
    assert 403 == changed(writer, "guarded", "delete", "n0").status_code


HOME = {"subject": "Mira", "predicate": "lives in"}


def homes(client: httpx.Client, scope: str) -> dict[str, tuple[str, str | None, str | None]]:
    """Return of each Fact its object, and from when until when it is true."""
    found = client.get("/v1/memories", params={"scope": scope, "type": "Fact"}).json()["memories"]
    return {
        each["key"]: (each["value"]["object"], each["valid_from"], each["valid_until"])
        for each in found
    }


@on_every_store
def test_a_memory_ends_when_the_one_that_replaces_it_begins(client: httpx.Client) -> None:
    """Both in one change, which one token takes back; and neither if the former has changed."""
    where = {"scope": "moved"}
    client.put("/v1/memories/Fact/porto", params=where, json={"value": {**HOME, "object": "Porto"}})
    before = homes(client, "moved")
    day = "2026-05-01T00:00:00Z"
    moved: dict[str, Any] = {
        "value": {**HOME, "object": "Coimbra"},
        "valid_from": day,
        "replaces": {"type": "Fact", "key": "porto", "version": 1},
    }

    made = client.put("/v1/memories/Fact/coimbra", params={**where, **UNDO}, json=moved)

    assert 201 == made.status_code, made.text
    assert {"porto": ("Porto", None, day), "coimbra": ("Coimbra", day, None)} == homes(
        client, "moved"
    )
    stale = client.put("/v1/memories/Fact/braga", params=where, json=moved)
    assert 412 == stale.status_code
    assert "braga" not in homes(client, "moved")
    token = {"undo": made.json()["undo"]}
    assert client.post("/v1/undo", params=where, json=token).is_success
    assert before == homes(client, "moved")


@pytest.mark.parametrize(("key", "more"), [("b", {}), ("a", {"valid_from": "2026-05-01T00:00Z"})])
def test_a_replacement_without_an_end_is_refused(
    client: httpx.Client, key: str, more: dict[str, str]
) -> None:
    """It needs the time at which the former memory ends, and another key."""
    where = {"scope": f"replaced {key}"}
    client.put("/v1/memories/Note/a", params=where, json={"value": note("boat")})
    former = {"type": "Note", "key": "a", "version": 1}
    asked = {"value": note("ship"), "replaces": former, **more}

    answer = client.put(f"/v1/memories/Note/{key}", params=where, json=asked)

    assert 422 == answer.status_code, answer.text
    assert "replace" in answer.json()["detail"]


@on_every_store
def test_a_document_says_until_when_its_former_value_was_true(client: httpx.Client) -> None:
    """The version so far ends on that day, the document goes on, and one token reverts both."""
    where = {"scope": "changed"}
    path, day = "/v1/memories/User/User", "2026-05-01T00:00:00Z"
    client.put(path, params=where, json={"value": {"user_name": "Ada", "home": "Porto"}})

    def versions() -> list[tuple[str, str | None]]:
        found = client.get(f"{path}/history", params=where).json()["revisions"]
        said = {each["version"]: (each["value"]["home"], each["valid_until"]) for each in found}
        return [said[version] for version in sorted(said)]

    asked = {"value": {"user_name": "Ada", "home": "Braga"}, "changed_at": day}
    stale = client.put(path, params=where, json=asked, headers={"If-Match": '"2"'})
    made = client.put(path, params={**where, **UNDO}, json=asked, headers={"If-Match": '"1"'})

    assert 412 == stale.status_code
    assert 200 == made.status_code, made.text
    assert ("Braga", None) == (made.json()["value"]["home"], made.json()["valid_until"])
    assert [("Porto", None), ("Porto", day), ("Braga", None)] == versions()
    told = client.post("/v1/context", params=where, json={"query": "Where did I live before?"})
    assert "Braga (until 1 May 2026: Porto)" in told.text
    assert client.post("/v1/undo", params=where, json={"undo": made.json()["undo"]}).is_success
    standing = client.get(path, params=where).json()
    assert ("Porto", None) == (standing["value"]["home"], standing["valid_until"])


def test_what_changed_is_not_replaced_besides(client: httpx.Client) -> None:
    """A request that says both, or of a memory that is not there, is refused."""
    where, day = {"scope": "changed both"}, "2026-05-01T00:00:00Z"
    former = {"type": "Note", "key": "b", "version": 1}
    both = {"value": note("ship"), "changed_at": day, "replaces": former}

    assert 422 == client.put("/v1/memories/Note/a", params=where, json=both).status_code
    alone = {"value": note("ship"), "changed_at": day}
    assert 404 == client.put("/v1/memories/Note/a", params=where, json=alone).status_code


@on_every_store
def test_a_restored_memory_is_not_refused_any_more(client: httpx.Client, served: Served) -> None:
    """The refusal that its rejection left is gone, and comes back with the undo of the restore."""
    filled(served, "restored", count=1)

    def states() -> list[str]:
        found = client.get("/v1/memories", params={"scope": "restored"}).json()["memories"]
        return sorted(each["state"] for each in found)

    path, where = "/v1/memories/Note/n0", {"scope": "restored"}
    assert client.post(f"{path}/reject", params=where, json={}).is_success
    assert ["rejected", "rejected"] == states()

    made = client.post(f"{path}/restore", params={**where, **UNDO}, json={"version": 1})

    assert ["active"] == states()
    token = {"undo": made.json()["undo"]}
    assert client.post("/v1/undo", params=where, json=token).is_success
    assert ["rejected", "rejected"] == states()


@on_every_store
def test_what_stands_in_its_place_ends_with_a_restored_memory(
    client: httpx.Client, served: Served
) -> None:
    """All in one change, which one token reverts; or nothing, where another one has changed."""
    filled(served, "instead", count=2)
    path, where = "/v1/memories/Note/n0", {"scope": "instead", **UNDO}
    ended = {"at": "2026-01-01T00:00:00Z"}
    assert client.post(f"{path}/end", params=where, json=ended).is_success
    before = {"n0": ("active", True), "n1": ("active", False)}
    other = {"type": "Note", "key": "n1", "version": 2}

    stale = client.post(f"{path}/restore", params=where, json={"version": 1, "ends": [other]})
    assert (412, before) == (stale.status_code, standing(client, "instead"))

    asked = {"version": 1, "ends": [{**other, "version": 1}]}
    made = client.post(f"{path}/restore", params=where, json=asked)

    assert made.is_success
    after = {"n0": ("active", False), "n1": ("active", True)}
    assert after == standing(client, "instead")
    token = {"undo": made.json()["undo"]}
    assert client.post("/v1/undo", params={"scope": "instead"}, json=token).is_success
    assert before == standing(client, "instead")


def test_a_restore_ends_other_memories_than_its_own(client: httpx.Client, served: Served) -> None:
    """A request that ends the restored memory, or one twice, is refused."""
    filled(served, "itself", count=2)
    one, two = ({"type": "Note", "key": each, "version": 1} for each in ("n0", "n1"))
    path, where = "/v1/memories/Note/n0/restore", {"scope": "itself"}

    for ends in ([one], [two, two]):
        answer = client.post(path, params=where, json={"version": 1, "ends": ends})
        assert 422 == answer.status_code


@pytest.mark.parametrize("written", ["2025", "202510", "20251031", 2025, "2025-10"])
def test_a_year_or_a_month_is_no_moment_at_which_a_memory_ends(
    client: httpx.Client, written: object
) -> None:
    """As seconds since 1970 it would end the memory half a century before it began."""
    scope = {"scope": "month"}
    body = {"value": note("I sing"), "valid_until": written}

    answer = client.put("/v1/memories/Note/choir", params=scope, json=body)

    assert 422 == answer.status_code
    assert 404 == client.get("/v1/memories/Note/choir", params=scope).status_code
    asked = client.get("/v1/memories", params={**scope, "valid_at": str(written)})
    assert 422 == asked.status_code


def test_an_entry_of_what_is_a_document_by_now_is_not_restored(
    client: httpx.Client, served: Served
) -> None:
    """In force again, it would stop the formation of the scope."""
    where = {"scope": "migrated"}
    field: JsonObject = {"type": "object", "properties": {"to": {"type": "string"}}}
    trip: JsonObject = {"name": "Trip", "description": "A journey.", "parameters": field}
    memory, scope = served.service.memory, (*ROOT_SCOPE, "migrated")

    def behind(act: Coroutine[Any, Any, object]) -> None:
        assert memory.loop is not None
        asyncio.run_coroutine_threadsafe(act, memory.loop).result(30)

    behind(memory.put(scope, "Trip", "one", {"to": "Oslo"}))
    behind(memory.migrate_type(scope, "Trip", "patch"))
    behind(memory.store.apply(scope, [settings_write([{**trip, "update_mode": "patch"}])]))

    restored = client.post("/v1/memories/Trip/one/restore", params=where, json={"version": 1})

    assert 422 == restored.status_code
    assert "one document in each scope" in restored.json()["detail"]
