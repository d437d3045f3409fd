"""What an application does with the service, over HTTP, from a first message to erasure."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from recollect.errors import ModelDeniedError
from recollect.formation.rule_model import RuleModel
from recollect.ports import ToolCall
from recollect.server.testing import Served
from recollect.testing.scripted_model import ScriptedModel

ADA = {"scope": ["users", "ada"]}
Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
FACT = {"subject": "Ada", "predicate": "lives in", "object": "Oslo"}


def note(content: str) -> dict[str, str]:
    """Return the value of a Note."""
    return {"context": "always", "content": content}


def problem(answer: httpx.Response) -> Mapping[str, Any]:
    """Return the problem that an answer is."""
    assert "application/problem+json" == answer.headers["content-type"], answer.text
    found: Mapping[str, Any] = answer.json()
    assert answer.status_code == found["status"]
    return found


def said(client: httpx.Client, thread: str, *texts: str, scope: Any = None) -> list[dict[str, Any]]:
    """Keep messages of the user, and return them."""
    body = {"messages": [{"role": "user", "text": text} for text in texts]}
    answer = client.post(f"/v1/threads/{thread}/messages", params=scope or ADA, json=body)
    assert 201 == answer.status_code, answer.text
    found: list[dict[str, Any]] = answer.json()["messages"]
    return found


@on_every_store
def test_what_was_said_is_recalled_with_its_reasons(client: httpx.Client) -> None:
    """A message is found in the moment that it is acknowledged; its signals sum to its score."""
    (message,) = said(client, "story-1", "My boat is called Penelope.")

    answer = client.post("/v1/recall", params=ADA, json={"query": "What is my boat called?"})

    found = answer.json()
    entry = next(each for each in found["entries"] if each["id"] == message["id"])
    assert ["users", "ada"] == entry["scope"]
    assert abs(sum(each["part"] for each in entry["signals"]) - entry["score"]) < 0.001
    for each in entry["signals"]:
        assert abs(each["z"] * each["weight"] - each["part"]) < 0.001
    assert "Penelope" in found["rendered"]


@on_every_store
def test_a_thread_is_read_page_by_page(client: httpx.Client) -> None:
    """The cursor of each page goes on where it ended, and the last page has none."""
    said(client, "paged", *(f"line {number}" for number in range(7)))

    positions: list[int] = []
    cursor = None
    for _ in range(4):
        parameters: dict[str, Any] = {**ADA, "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get("/v1/threads/paged/messages", params=parameters).json()
        positions += [each["position"] for each in page["messages"]]
        cursor = page["cursor"]

    assert [1, 2, 3, 4, 5, 6, 7] == positions
    assert cursor is None


@on_every_store
def test_the_same_request_twice_keeps_one_message(client: httpx.Client) -> None:
    """An Idempotency-Key makes a repetition harmless, and refuses another request under it."""
    body = {"messages": [{"role": "user", "text": "once"}]}
    headers = {"idempotency-key": "k-1"}
    path = "/v1/threads/once/messages"

    first = client.post(path, params=ADA, json=body, headers=headers)
    again = client.post(path, params=ADA, json=body, headers=headers)
    other = {"messages": [{"role": "user", "text": "other"}]}
    refused = client.post(path, params=ADA, json=other, headers=headers)

    assert first.json() == again.json()
    assert "conflict" == problem(refused)["code"]


@on_every_store
def test_a_retry_after_an_erase_is_gone(client: httpx.Client) -> None:
    """410, and nothing is kept; what was not erased is answered as before, and not kept twice."""
    scope, headers = {"scope": "gone"}, {"idempotency-key": "k-1"}
    secret, other = ({"messages": [{"role": "user", "text": text}]} for text in ("Xanadu", "hi"))
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/v1/threads/t/messages", secret),
        ("PUT", "/v1/memories/Note/s", {"value": note("Xanadu")}),
    ]
    for method, path, body in asked:
        key = {"idempotency-key": f"{method} 1"}
        assert client.request(method, path, params=scope, json=body, headers=key).is_success
    first = client.post("/v1/threads/u/messages", params=scope, json=other, headers=headers)
    for target in ({"thread": "t"}, {"memory": {"type": "Note", "key": "s"}}):
        erased(client, scope, target)

    again = client.post("/v1/threads/u/messages", params=scope, json=other, headers=headers)
    refused = [
        client.request(m, path, params=scope, json=body, headers={"idempotency-key": f"{m} 1"})
        for m, path, body in asked
    ]

    assert first.json() == again.json()
    assert [(410, "gone")] * 2 == [(each.status_code, problem(each)["code"]) for each in refused]
    export = client.get("/v1/export", params=scope).text
    assert 1 == export.count('"hi"')
    assert "Xanadu" not in export
    erased(client, scope, {"scope": True})
    late = client.post("/v1/threads/u/messages", params=scope, json=other, headers=headers)
    assert (410, "gone") == (late.status_code, problem(late)["code"])


def test_a_write_under_a_key_is_made_once(client: httpx.Client) -> None:
    """A late retry puts no old value over a newer one, removes no newer memory and ends none."""
    path, scope = "/v1/memories/Note/n", {"scope": "late"}
    keys = [{"idempotency-key": f"late {number}"} for number in range(4)]
    value = [{"value": note(f"version {number}")} for number in range(3)]
    first = client.put(path, params=scope, json=value[0], headers=keys[0])
    client.put(path, params=scope, json=value[1])
    late = client.put(path, params=scope, json=value[0], headers=keys[0])
    ending = {"at": "2024-05-06T12:00:00Z"}
    client.post(f"{path}/end", params=scope, json=ending, headers=keys[1])
    client.put(path, params=scope, json=value[2])
    ended = client.post(f"{path}/end", params=scope, json=ending, headers=keys[1])
    removed = client.delete(path, params=scope, headers=keys[2])
    client.put(path, params=scope, json=value[2])
    again = client.delete(path, params=scope, headers=keys[2])
    there = client.get(path, params=scope)
    client.delete(path, params=scope)
    none = client.put(path, params=scope, json=value[0], headers=keys[0])

    assert (201, 200) == (first.status_code, late.status_code)
    assert ('"2"', "version 1") == (late.headers["etag"], late.json()["value"]["content"])
    assert ended.json()["valid_until"] is None
    assert [204, 204] == [removed.status_code, again.status_code]
    assert "version 2" == there.json()["value"]["content"]
    assert (404, "not_found") == (none.status_code, problem(none)["code"])
    assert 404 == client.delete(path, params=scope).status_code
    # A type may have the name of a kind of side records: it is like any other.
    assert 204 == client.delete("/v1/memories/Forgotten/n", headers=keys[3]).status_code


def erased(client: httpx.Client, scope: dict[str, str], target: dict[str, Any]) -> None:
    """Erase something, in the two steps that it takes."""
    shown = client.post("/v1/erase/preview", params=scope, json={"target": target}).json()
    done = client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})
    assert done.is_success


@on_every_store
def test_a_memory_is_written_at_the_version_that_was_read(client: httpx.Client) -> None:
    """201 creates, 200 revises, and a stale If-Match is refused with 412."""
    path = "/v1/memories/Fact/home"
    created = client.put(path, params=ADA, json={"value": FACT}, headers={"if-none-match": "*"})
    tag = created.headers["etag"]
    revised = client.put(
        path, params=ADA, json={"value": {**FACT, "object": "Rome"}}, headers={"if-match": tag}
    )
    stale = client.put(path, params=ADA, json={"value": FACT}, headers={"if-match": tag})

    assert (201, '"1"') == (created.status_code, tag)
    assert (200, '"2"') == (revised.status_code, revised.headers["etag"])
    assert (412, "version_conflict") == (stale.status_code, problem(stale)["code"])
    history = client.get(f"{path}/history", params=ADA).json()["revisions"]
    assert [2, 1] == [each["version"] for each in history]
    restored = client.post(f"{path}/restore", params=ADA, json={"version": 1})
    assert "Oslo" == restored.json()["value"]["object"]
    assert 3 == restored.json()["version"]


def test_the_recalls_of_a_memory_are_told(client: httpx.Client) -> None:
    """A memory says which queries it was returned for."""
    said(client, "recalls", "anything")
    client.put("/v1/memories/Note/boat", params=ADA, json={"value": note("The boat leaks.")})
    client.post("/v1/recall", params=ADA, json={"query": "Does the boat leak?"})

    found = client.get("/v1/memories/Note/boat/recalls", params=ADA).json()["recalls"]

    assert "Does the boat leak?" == found[0]["query"]


def test_a_refused_memory_stays_visible_and_is_not_recalled(client: httpx.Client) -> None:
    """Rejecting keeps the value in the state rejected."""
    scope = {"scope": "rejecting"}
    client.put("/v1/memories/Note/x", params=scope, json={"value": note("The tower is blue.")})

    rejected = client.post("/v1/memories/Note/x/reject", params=scope)

    assert "rejected" == rejected.json()["state"]
    asked = client.post("/v1/recall", params=scope, json={"query": "Which tower is blue?"})
    assert [] == asked.json()["entries"]


@on_every_store
def test_erasing_takes_two_steps_and_leaves_nothing(client: httpx.Client) -> None:
    """A preview counts, its token erases exactly that, and the receipt is listed."""
    scope = {"scope": "erasing"}
    (message,) = said(client, "t", "My secret is Xanadu.", scope=scope)
    evidence = {"": [{"thread": "t", "message": message["id"]}]}
    body = {"value": note("Xanadu"), "evidence": evidence}
    client.put("/v1/memories/Note/s", params=scope, json=body)

    shown = client.post("/v1/erase/preview", params=scope, json={"target": {"thread": "t"}}).json()
    elsewhere = client.post("/v1/erase", params={"scope": "x"}, json={"confirm": shown["confirm"]})
    receipt = client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]}).json()
    again = client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})

    counts = {"messages": 1, "memories": 1, "revised": 0}
    assert 422 == elsewhere.status_code
    assert counts.items() <= shown.items()
    assert counts.items() <= receipt.items()
    assert "conflict" == problem(again)["code"]
    assert 404 == client.get("/v1/memories/Note/s", params=scope).status_code
    receipts = client.get("/v1/erase/receipts", params=scope).json()["receipts"]
    assert [receipt["id"]] == [each["id"] for each in receipts]
    assert "Xanadu" not in client.get("/v1/export", params=scope).text


@on_every_store
def test_an_export_is_put_back_elsewhere(client: httpx.Client) -> None:
    """An export names relative scopes, so that it can be imported below another scope."""
    said(client, "t", "The ferry leaves at nine.", scope={"scope": ["from", "ada"]})
    exported = client.get("/v1/export", params={"scope": "from", "below": True})

    lines = {"content-type": "application/x-ndjson"}
    content = exported.content + b"nonsense\n"
    taken = client.post("/v1/import", params={"scope": "to"}, content=content, headers=lines)
    again = client.post("/v1/import", params={"scope": "to"}, content=content, headers=lines)

    assert '"acme"' not in exported.text
    last = json.loads(exported.text.splitlines()[-1])
    assert ("end", 2) == (last["kind"], last["count"])
    assert (2, 1) == (taken.json()["taken"], taken.json()["refused_count"])
    assert 0 == again.json()["taken"]
    scope = {"scope": ["to", "from", "ada"]}
    scopes = client.get("/v1/scopes", params={"below": True}).json()["scopes"]
    assert any(each[0] == "to" for each in scopes)
    place = next(each for each in scopes if each[0] == "to")
    found = client.get("/v1/threads/t/messages", params={"scope": place}).json()["messages"]
    assert ["The ferry leaves at nine."] == [each["text"] for each in found], scope


def test_types_hold_for_the_scopes_below(client: httpx.Client) -> None:
    """A scope's own types hold for those below it; documents are checked against them."""
    trip = {
        "name": "Trip",
        "description": "A journey.",
        "update_mode": "insert",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "string"}},
            "required": ["to"],
        },
    }
    above, below = {"scope": "typed"}, {"scope": ["typed", "ada"]}
    checked = client.post("/v1/types/check", json={"types": [{**trip, "update_mode": "x"}]})
    put = client.put("/v1/types", params=above, json={"types": [trip]})

    assert not checked.json()["ok"]
    assert "types[0].update_mode" == checked.json()["complaints"][0]["path"]
    assert [trip] == put.json()["types"]
    assert [trip] == client.get("/v1/types", params=below).json()["types"]
    wrong = client.put("/v1/memories/Trip/1", params=below, json={"value": {"to": 3}})
    assert "/to" in problem(wrong)["detail"]
    assert [] == client.get("/v1/memories", params=above).json()["memories"]


@on_every_store
def test_what_is_said_is_formed_and_reviewed(starting: Start, connect: Connect) -> None:
    """With a model, what waits is formed on demand, and its receipt says what became of it."""
    with connect(starting(model=RuleModel())) as client:
        said(client, "t", "My name is Ada.")
        waiting = client.get("/v1/formation/pending", params=ADA).json()["pending"]
        formed = client.post("/v1/form", params=ADA).json()["formations"]
        receipt = client.get(f"/v1/formations/{formed[0]['id']}", params=ADA).json()
        left = client.get("/v1/formation/pending", params=ADA).json()["pending"]
        memories = client.get("/v1/memories", params=ADA).json()["memories"]

    assert ["t"] == [each["thread"] for each in waiting]
    assert ["formed"] == [each["status"] for each in formed]
    assert formed[0]["id"] == receipt["id"]
    assert [] == left
    assert memories


@on_every_store
def test_formation_can_be_held_up(starting: Start, connect: Connect) -> None:
    """A paused thread says so, and goes on when it is resumed."""
    with connect(starting(model=RuleModel())) as client:
        said(client, "t", "My name is Ada.")
        client.post("/v1/formation/pause", params=ADA)
        paused = client.get("/v1/formation/pending", params=ADA).json()
        client.post("/v1/formation/resume", params=ADA)
        resumed = client.get("/v1/formation/pending", params=ADA).json()

    assert paused["paused"]
    assert "paused" == paused["pending"][0]["state"]
    assert not resumed["paused"]


def test_approving_takes_the_version_that_was_looked_at(client: httpx.Client) -> None:
    """What is approved is what was seen: another version is refused, nothing waits otherwise."""
    scope = {"scope": "reviewing"}
    client.put("/v1/memories/Note/n", params=scope, json={"value": note("x")})

    path = "/v1/memories/Note/n/approve"
    other = client.post(path, params=scope, headers={"if-match": '"2"'})
    active = client.post(path, params=scope, headers={"if-match": '"1"'})

    assert 412 == other.status_code
    assert "nothing waits" in problem(active)["detail"]


@on_every_store
def test_changes_are_told_as_they_happen(
    client: httpx.Client, served: Served, connect: Connect
) -> None:
    """A reader that comes back with its last id is told what it missed, and of an erase a reset."""
    scope = {"scope": "changing"}
    said(client, "t", "first", scope=scope)
    with client.stream("GET", "/v1/changes", params=scope) as stream:
        lines = stream.iter_lines()
        place = next(line for line in lines if line.startswith("id: "))[4:]
        with connect(served) as other:
            said(other, "t", "second", scope=scope)
        change = next(json.loads(line[6:]) for line in lines if line.startswith("data: "))
    assert ("message", "t", 2) == (change["kind"], change["thread"], change["position"])

    shown = client.post("/v1/erase/preview", params=scope, json={"target": {"thread": "t"}}).json()
    said(client, "u", "third", scope=scope)
    client.post("/v1/erase", params=scope, json={"confirm": shown["confirm"]})

    with client.stream(
        "GET", "/v1/changes", params=scope, headers={"last-event-id": place}
    ) as stream:
        named = next(line for line in stream.iter_lines() if line.startswith("event: "))
    assert "event: reset" == named


def test_the_graph_of_a_scope_is_shown_around_an_entity(client: httpx.Client) -> None:
    """Facts between entities are edges; a limit says that there is more."""
    scope = {"scope": "graph"}
    for key, (subject, object_) in {"a": ("Ada", "Bob"), "b": ("Bob", "Cyd")}.items():
        value = {"subject": subject, "predicate": "knows", "object": object_}
        client.put(f"/v1/memories/Fact/{key}", params=scope, json={"value": value})

    near = client.get("/v1/graph", params={**scope, "entity": "Ada"}).json()
    far = client.get("/v1/graph", params={**scope, "entity": "Ada", "depth": 2}).json()
    few = client.get("/v1/graph", params={**scope, "limit": 1}).json()

    assert ["Ada", "Bob"] == [each["name"] for each in near["nodes"]]
    assert [("knows", "a")] == [(each["predicate"], each["fact"]) for each in near["edges"]]
    assert ["Ada", "Bob", "Cyd"] == [each["name"] for each in far["nodes"]]
    assert (1, True) == (len(few["nodes"]), few["more"])


def test_the_graph_shows_what_was_believed_to_be_true_on_the_day(client: httpx.Client) -> None:
    """As recall and the overview do: not what was known of a later day."""
    scope = {"scope": "believed"}
    value = {"subject": "Ada", "predicate": "lives in", "object": "Oslo"}
    begins, ends = (datetime.now(UTC) + timedelta(days=days) for days in (1, 3))
    times = {"valid_from": begins.isoformat(), "valid_until": ends.isoformat()}
    client.put("/v1/memories/Fact/home", params=scope, json={"value": value, **times})

    shown = []
    for days in (0, 2, 4):
        at = (datetime.now(UTC) + timedelta(days=days)).isoformat()
        asked = {**scope, "known_at": at}
        shown.append(len(client.get("/v1/graph", params=asked).json()["edges"]))
    both = {**scope, "known_at": at, "valid_at": (begins + timedelta(hours=1)).isoformat()}

    assert [0, 1, 0] == shown
    assert 1 == len(client.get("/v1/graph", params=both).json()["edges"])


@on_every_store
def test_use_is_counted_by_day(
    starting: Start, connect: Connect, new_key: Callable[..., str]
) -> None:
    """Messages, bytes and recalls of a scope are counted; all below needs two permissions more."""
    served = starting()
    with connect(served) as client:
        said(client, "t", "12345")
        client.post("/v1/recall", params=ADA, json={"query": "12345"})
        own = client.get("/v1/usage", params=ADA).json()["days"]
        everything = client.get("/v1/usage", params={"below": True}).json()["days"]
    with connect(served, new_key(served, "read", "below")) as reader:
        refused = reader.get("/v1/usage", params={"below": True})

    assert (1, 5, 1) == tuple(own[0][name] for name in ("messages", "bytes", "recalls"))
    assert 1 == everything[0]["messages"]
    assert "forbidden" == problem(refused)["code"]


def test_a_tenant_over_its_quota_is_told_when(starting: Start, connect: Connect) -> None:
    """429 with Retry-After, by the day and by the second; nothing of the request is kept."""
    with connect(starting(messages_a_day=2)) as client:
        said(client, "t", "one", "two")
        body = {"messages": [{"role": "user", "text": "three"}]}
        over = client.post("/v1/threads/t/messages", params=ADA, json=body)
        kept = client.get("/v1/threads/t", params=ADA).json()["count"]
    with connect(starting(requests_a_second=0.01, burst=2)) as client:
        answers = [client.get("/v1/me") for _ in range(3)]

    assert ("quota", 2) == (problem(over)["code"], kept)
    assert int(over.headers["retry-after"]) > 1
    assert [200, 200, 429] == [each.status_code for each in answers]
    assert int(answers[-1].headers["retry-after"]) > 1


@on_every_store
def test_a_key_is_given_rotated_and_taken_back(served: Served, connect: Connect) -> None:
    """A key may do what it was given, below where it was bound, until it is revoked."""
    with connect(served) as admin:
        made = admin.post(
            "/v1/keys", json={"name": "chat", "scope": ["users"], "permissions": ["read"]}
        ).json()
        rotated = admin.post(f"/v1/keys/{made['id']}/rotate").json()
        listed = admin.get("/v1/keys").json()["keys"]
        with connect(served, made["key"]) as old, connect(served, rotated["key"]) as new:
            statuses = [
                old.get("/v1/threads").status_code,
                new.get("/v1/threads").status_code,
                new.post("/v1/formation/pause").status_code,
            ]
            admin.delete(f"/v1/keys/{made['id']}")
            after = new.get("/v1/threads").status_code

    assert [401, 200, 403] == statuses
    assert 401 == after
    assert all("key" not in each and "digest" not in each for each in listed)


def test_a_key_gives_no_more_than_it_has(
    served: Served, connect: Connect, new_key: Callable[..., str]
) -> None:
    """Who may administer alone cannot make a key that reads, nor take over one that does."""
    with connect(served, new_key(served, "admin")) as admin, connect(served) as first:
        made = admin.post("/v1/keys", json={"name": "x", "permissions": ["read"]})
        strong = first.get("/v1/keys").json()["keys"][0]["id"]
        taken = admin.post(f"/v1/keys/{strong}/rotate")

    assert (403, 403) == (made.status_code, taken.status_code)


def test_a_key_is_not_made_to_end_in_the_past(client: httpx.Client) -> None:
    """A key whose end is past cannot be made."""
    past = client.post(
        "/v1/keys",
        json={"name": "x", "permissions": ["read"], "expires_at": "2020-01-01T00:00:00Z"},
    )

    assert "is past" in problem(past)["detail"]


def test_the_service_says_how_it_is(served: Served, client: httpx.Client, connect: Connect) -> None:
    """Liveness and readiness need no key; figures do; the page says how to build it."""
    with connect(served, "") as nobody:
        statuses = {
            path: nobody.get(path).status_code
            for path in ("/health/live", "/health/ready", "/ok", "/info", "/openapi.json", "/")
        }
        figures = nobody.get("/metrics")

    assert {200} == set(statuses.values()), statuses
    assert 401 == figures.status_code
    told = client.get("/metrics").text
    assert 'route="/v1/recall"' in told or "recollect_requests_total" in told
    assert "users" not in told


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (ModelDeniedError("the key is wrong: set another"), "postponed"),
        ("I cannot say.", "failed"),
        (ToolCall(name="remember_nothing", arguments={}), "formed"),
    ],
)
def test_forming_now_says_how_it_ended(
    starting: Start, connect: Connect, new_key: Callable[..., str], answer: Any, end: str
) -> None:
    """A model that cannot be used has formed nothing, and leaves no receipt: the answer says so."""
    model = ScriptedModel(lambda _: answer)
    service = starting(model=model)
    with connect(service) as client, connect(service, new_key(service, "write")) as writer:
        ends = []
        for each in (client, writer):
            said(each, "t", "My name is Ada.")
            ends += each.post("/v1/form", params=ADA).json()["results"]

    reason = getattr(answer, "args", [""])[0]
    assert [end, end] == [each["end"] for each in ends]
    assert ends[0]["reason"].startswith(reason)
    # What a provider says of the service's key is for whom administers the service.
    assert bool(ends[1]["reason"]) is (end == "failed")
