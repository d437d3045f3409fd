"""Memories in an order: sorted, counted, opened at any place, and as they were believed before."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import httpx
import numpy as np
import pytest

from recollect.server import memory_order
from recollect.server.testing import Served

Connect = Callable[..., httpx.Client]
NewKey = Callable[..., str]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
DAYS = {"boat": "2024-03-01", "tower": "2022-05-05", "bridge": "2023-01-01"}


def note(content: str) -> dict[str, str]:
    return {"context": "always", "content": content}


def kept(client: httpx.Client, scope: str, address: str, **body: Any) -> None:
    """Write a memory."""
    answer = client.put(f"/v1/memories/{address}", params={"scope": scope}, json=body)
    assert answer.is_success, answer.text


def filled(client: httpx.Client, scope: str) -> None:
    """Keep three notes that became true on different days, and a fact that has ended."""
    for key, day in DAYS.items():
        kept(client, scope, f"Note/{key}", value=note(key), valid_from=f"{day}T00:00:00Z")
    home = {"subject": "Ada", "predicate": "lives in", "object": "Oslo"}
    span = {"valid_from": "2021-01-01T00:00:00Z", "valid_until": "2022-01-01T00:00:00Z"}
    kept(client, scope, "Fact/home", value=home, **span)


def listing(client: httpx.Client, scope: str, order: str = "newest", **query: Any) -> Any:
    """Return a part of a listing."""
    answer = client.get("/v1/memories", params={"scope": scope, "order": order, **query})
    assert answer.is_success, answer.text
    return answer.json()


def keys(found: Mapping[str, Any]) -> list[str]:
    return [each["key"] for each in found["memories"]]


@on_every_store
def test_a_listing_is_sorted_counted_and_opened_at_any_place(client: httpx.Client) -> None:
    """By time both ways, and by type; the counts are of all, whatever part is shown."""
    filled(client, "sorted")

    newest = listing(client, "sorted")

    assert ["boat", "bridge", "tower", "home"] == keys(newest)
    assert {
        "total": 4, "types": {"Note": 3, "Fact": 1}, "states": {"active": 4}, "recalls": None,
    } == newest["counts"]  # fmt: skip
    assert ["home", "tower", "bridge", "boat"] == keys(listing(client, "sorted", "oldest"))
    assert ["home", "boat", "bridge", "tower"] == keys(listing(client, "sorted", "type"))
    assert ["home", "bridge", "tower", "boat"] == keys(listing(client, "sorted", "changed"))
    part = listing(client, "sorted", offset=1, limit=2)
    assert (["bridge", "tower"], 4) == (keys(part), part["counts"]["total"])
    assert [] == keys(listing(client, "sorted", offset=9))


@on_every_store
def test_a_listing_follows_what_is_written_deleted_and_erased(client: httpx.Client) -> None:
    """What was listed before is brought up to date, not read again from the start."""
    filled(client, "followed")
    assert 4 == listing(client, "followed")["counts"]["total"]

    scope = {"scope": "followed"}
    kept(client, "followed", "Note/boat", value=note("sold"), valid_from="2020-01-01T00:00:00Z")
    client.delete("/v1/memories/Note/tower", params=scope)
    client.post("/v1/memories/Note/bridge/reject", params=scope, json={})
    target = {"target": {"memory": {"type": "Fact", "key": "home"}}}
    shown = client.post("/v1/erase/preview", params=scope, json=target).json()

    found = listing(client, "followed", "oldest")
    assert ["boat", "home", "bridge"] == keys(found)[:3]
    changed = keys(listing(client, "followed", "changed"))
    assert ("bridge" in changed[:2], ["boat", "home"]) == (True, changed[2:])
    # Beside what was rejected stands a note of what is never to be formed again.
    assert {"active": 2, "rejected": 2} == found["counts"]["states"]
    client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})
    assert ["boat", "bridge"] == keys(listing(client, "followed", "oldest"))[:2]


@on_every_store
def test_filters_hold_in_a_listing(client: httpx.Client) -> None:
    """Type, state, the day on which it is true, a condition, and the scopes below."""
    filled(client, "filtered")
    on = listing(client, "filtered", valid_at="2021-06-01T00:00:00Z")

    assert ["home"] == keys(on)
    assert ["tower"] == keys(listing(client, "filtered", valid_at="2022-06-01T00:00:00Z"))
    facts = listing(client, "filtered", type="Fact")
    assert (["home"], {"Note": 3, "Fact": 1}) == (keys(facts), facts["counts"]["types"])
    assert [] == keys(listing(client, "filtered", type="Nothing"))
    assert 0 == listing(client, "filtered", state="rejected")["counts"]["total"]
    said = json.dumps({"content": "boat"})
    assert ["boat"] == keys(listing(client, "filtered", filter=said))
    below = client.get("/v1/memories", params={"order": "type", "below": True}).json()
    assert {"home", "boat"} <= set(keys(below))


@on_every_store
def test_a_listing_shows_what_was_believed_at_a_moment(client: httpx.Client) -> None:
    """An earlier version in its words, and nothing that was written later."""
    kept(client, "believed", "Note/boat", value=note("the boat is red"))
    first = client.get("/v1/memories/Note/boat", params={"scope": "believed"}).json()
    kept(client, "believed", "Note/boat", value=note("the boat is blue"))
    kept(client, "believed", "Note/tower", value=note("the tower is new"))

    then = listing(client, "believed", known_at=first["updated_at"])

    assert [("boat", 1, "the boat is red")] == [
        (each["key"], each["version"], each["value"]["content"]) for each in then["memories"]
    ]
    assert 1 == then["counts"]["total"]
    before = datetime(2020, 1, 1, tzinfo=UTC).isoformat()
    assert [] == keys(listing(client, "believed", known_at=before))
    assert ["tower", "boat"] == keys(listing(client, "believed"))
    query = {"scope": "believed", "q": "Which boat?", "known_at": first["updated_at"]}
    found = client.get("/v1/memories", params=query).json()["memories"]
    assert ["the boat is red"] == [each["value"]["content"] for each in found]


def test_what_was_recalled_most_comes_first(client: httpx.Client) -> None:
    """With how often, and what was never recalled left out."""
    filled(client, "recalled")
    for query in ("boat", "boat", "tower"):
        asked = {"query": query, "limit": 1, "valid_at": "ever"}
        client.post("/v1/recall", params={"scope": "recalled"}, json=asked)

    found = listing(client, "recalled", "recalled")

    assert (["boat", "tower"], [2, 1]) == (keys(found), found["counts"]["recalls"])
    assert ["tower"] == keys(listing(client, "recalled", "recalled", offset=1))
    assert [] == keys(listing(client, "recalled", "recalled", type="Fact"))


@pytest.mark.parametrize(
    "query",
    [
        {"order": "newest", "q": "boat"},
        {"order": "newest", "key": "boat"},
        {"offset": "1"},
        {"known_at": "2026-01-01T00:00:00Z"},
        {"order": "recalled", "known_at": "2026-01-01T00:00:00Z"},
        {"order": "recalled", "below": "true"},
    ],
)
def test_parameters_that_mean_nothing_together_are_refused(
    client: httpx.Client, query: dict[str, str]
) -> None:
    """The answer says which to leave out."""
    answer = client.get("/v1/memories", params=query)

    assert 422 == answer.status_code
    assert "leave out" in answer.json()["detail"] or "add order" in answer.json()["detail"]


def test_a_key_without_below_lists_no_scope_below(
    connect: Connect, served: Served, new_key: NewKey
) -> None:
    """The order opens no other door than the plain list."""
    reader = connect(served, new_key(served, "read"))
    answer = reader.get("/v1/memories", params={"order": "newest", "below": True})

    assert 403 == answer.status_code


@pytest.mark.parametrize("fault", ["keeps what was removed", "numbers types anew"])
def test_a_listing_that_follows_wrongly_is_found(
    served: Served, connect: Connect, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """The mutants: columns that keep a memory twice, or confuse the types."""
    client = connect(served, is_held=False)
    filled(client, fault)
    listing(client, fault)
    if fault == "keeps what was removed":
        monkeypatch.setattr(
            memory_order, "_replaced", lambda column, _: np.zeros(len(column), bool)
        )
    else:
        made = memory_order.columns_of
        monkeypatch.setattr(memory_order, "columns_of", lambda at, found, *_: made(at, found))
    kept(client, fault, "Fact/home", value={"subject": "A", "predicate": "b", "object": "c"})
    answer = client.get("/v1/memories", params={"scope": fault, "order": "newest"})

    right = {"Note": 3, "Fact": 1}
    assert not (answer.is_success and right == answer.json()["counts"]["types"])


def test_a_scope_is_listed_only_if_it_holds_something(client: httpx.Client) -> None:
    """Alone, and with those below."""
    body = {"messages": [{"role": "user", "text": "Hi"}]}
    at = {"scope": ["users", "ada"]}
    client.post("/v1/threads/talk/messages", params=at, json=body).raise_for_status()

    def listed(*scope: str, below: bool = False) -> object:
        return client.get("/v1/scopes", params={"scope": scope, "below": below}).json()["scopes"]

    assert [[], [], []] == [listed("nobody"), listed("users"), listed("users", "bob")]
    assert [["users", "ada"]] == listed("users", "ada") == listed("users", below=True)


@pytest.mark.parametrize(
    "query", [{"order": "newest"}, {"below": "true"}, {"order": "newest", "below": "true"}]
)
def test_a_misspelt_type_is_told_in_every_listing(
    client: httpx.Client, query: Mapping[str, str]
) -> None:
    """One of which there are none yet is no error."""
    kept(client, "misspelt", "Note/boat", value=note("boat"))
    asked = {"scope": "misspelt", **query}

    wrong = client.get("/v1/memories", params={**asked, "type": "Notes"})

    assert 422 == wrong.status_code
    assert "did you mean 'Note'" in wrong.json()["detail"]
    for name, count in (("Fact", 0), ("Ship", 0), ("Note", 1)):
        right = client.get("/v1/memories", params={**asked, "type": name})
        assert count == len(right.json()["memories"]), right.text


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@pytest.mark.parametrize("below", ["false", "true"])
def test_a_listing_that_fills_its_pages_ends(client: httpx.Client, below: str, limit: int) -> None:
    """A page that ends with its scope does not begin anew with that scope."""
    for scope in (["full"], ["full", "a"], ["full", "b"]):
        for key in ("one", "two"):
            answer = client.put(
                f"/v1/memories/Note/{key}", params={"scope": scope}, json={"value": note(key)}
            )
            assert answer.is_success
    asked: dict[str, Any] = {"scope": "full", "below": below, "limit": limit}
    scopes = 3 if below == "true" else 1

    found, cursor = [], None
    for _ in range(2 * scopes + 1):
        page = client.get("/v1/memories", params=asked | ({"cursor": cursor} if cursor else {}))
        found += [(each["scope"], each["key"]) for each in page.json()["memories"]]
        cursor = page.json()["cursor"]
        if cursor is None:
            break

    assert cursor is None
    every = [(["full", *more], key) for more in ((), ("a",), ("b",)) for key in ("one", "two")]
    assert every[: 2 * scopes] == found
