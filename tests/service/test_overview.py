"""A scope at a glance: what is known, what changed, what waits, and what was recalled most."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from recollect.formation.rule_model import RuleModel
from recollect.ports import ModelRequest
from recollect.records import PutMemory
from recollect.server.testing import ROOT_SCOPE, Served
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing.scripted_model import ScriptedModel

Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]
on_every_store = pytest.mark.parametrize(
    "store", ["memory", "sqlite", "postgres", "redis"], indirect=True
)
MIRA = {"scope": ["users", "mira"]}
SAID = {"id": "m1", "role": "user", "text": "I bought the boat Xanadu"}
HOME = {"subject": "Mira", "predicate": "lives in", "object": "Porto"}


def kept(client: httpx.Client, address: str, value: dict[str, Any], **scope: Any) -> None:
    """Write a memory."""
    answer = client.put(f"/v1/memories/{address}", params=scope or MIRA, json={"value": value})
    assert answer.is_success, answer.text


def glance(client: httpx.Client, **scope: Any) -> dict[str, Any]:
    """Return the overview of a scope."""
    found: dict[str, Any] = client.get("/v1/overview", params=scope or MIRA).json()
    return found


@on_every_store
def test_the_newest_memories_come_first_with_what_they_said_before(client: httpx.Client) -> None:
    """Messages between them are passed over; a rejected memory is not told."""
    kept(client, "Fact/home", HOME | {"object": "Utrecht"})
    kept(client, "Note/refused", {"context": "x", "content": "Never mind."})
    client.post("/v1/memories/Note/refused/reject", params=MIRA, json={})
    kept(client, "Note/boat", {"context": "boat", "content": "The boat is called Ida."})
    kept(client, "Fact/home", HOME)
    said = {"messages": [{"role": "user", "text": f"{each}"} for each in range(120)]}
    client.post("/v1/threads/long/messages", params=MIRA, json=said)

    newest = glance(client)["newest"]

    assert [
        ("Mira lives in Porto", HOME | {"object": "Utrecht"}),
        ("The boat is called Ida.", None),
    ] == [(each["memory"]["sentence"], each["former"]) for each in newest]


@on_every_store
def test_the_overview_of_another_day_tells_what_was_known_then(client: httpx.Client) -> None:
    """Earlier words, what waited then although it was approved since, and no recalls."""
    scope = {"scope": ["users", "then"]}
    kept(client, "User/User", {"home": "Utrecht"}, **scope)
    kept(client, "Fact/home", HOME | {"object": "Utrecht"}, **scope)
    kept(client, "Fact/home", HOME | {"object": "Gouda"}, **scope)
    first = client.get("/v1/memories/Fact/home", params=scope).json()["updated_at"]
    kept(client, "Fact/home", HOME, **scope)
    kept(client, "User/User", {"home": "Porto"}, **scope)
    kept(client, "Note/later", {"context": "x", "content": "Written later."}, **scope)

    then = glance(client, **scope, known_at=first)

    assert ["Utrecht"] == [each["value"]["home"] for each in then["profiles"]]
    told = {each["memory"]["key"]: each for each in then["newest"]}
    assert {"home", "User"} == {*told}
    assert "Mira lives in Gouda" == told["home"]["memory"]["sentence"]
    assert "Utrecht" == told["home"]["former"]["object"]
    assert [] == then["recalled"]
    assert [] == glance(client, **scope, known_at="2020-01-01T00:00:00Z")["newest"]


@on_every_store
def test_the_overview_tells_what_had_become_true_by_a_day(client: httpx.Client) -> None:
    """What ended before is told as changed; what began later is not told."""
    scope = {"scope": ["users", "truths"]}
    spans = {
        "old": ("2021-01-01", "2022-01-01"),
        "now": ("2022-01-01", None),
        "next": ("2024-01-01", None),
    }
    for key, (since, until) in spans.items():
        body = {"value": HOME | {"object": key}, "valid_from": f"{since}T00:00:00Z"}
        if until:
            body["valid_until"] = f"{until}T00:00:00Z"
        answer = client.put(f"/v1/memories/Fact/{key}", params=scope, json=body)
        assert answer.is_success, answer.text

    then = glance(client, **scope, valid_at="2023-06-01T00:00:00Z")

    assert ["now", "old"] == [each["memory"]["key"] for each in then["newest"]]


@on_every_store
def test_the_overview_of_a_day_asserts_nothing_that_was_said_or_changed_later(
    client: httpx.Client,
) -> None:
    """A field said later is left out of a profile; a fact is told as it was before its end."""
    scope = {"scope": ["users", "asserted"]}
    said = [
        {"id": day, "role": "user", "text": day, "time": f"2023-{day}T10:00:00Z"}
        for day in ("05-01", "07-01")
    ]
    answer = client.post("/v1/threads/t/messages", params=scope, json={"messages": said})
    assert answer.is_success, answer.text
    evidence = {f"/{name}": [{"thread": "t", "message": day}] for name, day in
                (("user_name", "05-01"), ("home", "07-01"))}  # fmt: skip
    profile = {"value": {"user_name": "Mira", "home": "Basel"}, "evidence": evidence}
    answer = client.put("/v1/memories/User/User", params=scope, json=profile)
    assert answer.is_success, answer.text
    fact = {"value": HOME, "evidence": {"/object": evidence["/user_name"]}}
    client.put("/v1/memories/Fact/home", params=scope, json=fact)
    written = client.get("/v1/memories/Fact/home", params=scope).json()["updated_at"]
    client.post("/v1/memories/Fact/home/end", params=scope, json={"at": "2030-01-01T00:00:00Z"})

    day = glance(client, **scope, valid_at="2023-06-01T00:00:00Z")
    today = glance(client, **scope, valid_at=written)

    assert [{"user_name": "Mira"}] == [each["value"] for each in day["profiles"]]
    assert ["user_name: Mira"] == [each["sentence"] for each in day["profiles"]]
    assert [profile["value"]] == [each["value"] for each in today["profiles"]]
    (fact,) = [each["memory"] for each in today["newest"] if each["memory"]["type"] == "Fact"]
    assert (1, None) == (fact["version"], fact["valid_until"])


@on_every_store
def test_the_list_of_a_day_has_what_the_overview_has(client: httpx.Client) -> None:
    """Neither has what was said later without a date; both have a profile as it was known."""
    scope = {"scope": ["users", "agree"]}
    said = [
        {"id": day, "role": "user", "text": day, "time": f"2023-{day}T10:00:00Z"}
        for day in ("05-01", "07-01")
    ]
    client.post("/v1/threads/t/messages", params=scope, json={"messages": said})
    early, late = [[{"thread": "t", "message": day}] for day in ("05-01", "07-01")]
    memories = {
        "User/User": ({"user_name": "Mira", "home": "Basel"}, {"/user_name": early, "/home": late}),
        "Note/early": ({"context": "x", "content": "Early."}, {"": early}),
        "Note/late": ({"context": "x", "content": "Late."}, {"": late}),
        "Fact/dated": (HOME, {"": late}),
    }
    for address, (value, evidence) in memories.items():
        body: dict[str, Any] = {"value": value, "evidence": evidence}
        if address == "Fact/dated":
            body["valid_from"] = "2020-01-01T00:00:00Z"
        assert client.put(f"/v1/memories/{address}", params=scope, json=body).is_success
    day = "2023-06-01T00:00:00Z"
    asked = {**scope, "order": "newest", "valid_at": day, "said_until": day}

    then = glance(client, **scope, valid_at=day)
    listed = client.get("/v1/memories", params=asked).json()
    before = client.get(
        "/v1/memories", params={**asked, "said_until": "2022-01-01T00:00:00Z"}
    ).json()
    unordered = client.get("/v1/memories", params={**scope, "said_until": day})

    told = {each["sentence"] for each in (*then["profiles"], *then["known"])}
    assert {"user_name: Mira", "Early. (x)", "Mira lives in Porto"} == told
    assert told == {each["sentence"] for each in listed["memories"]}
    assert (3, {"User": 1, "Note": 1, "Fact": 1}) == (
        listed["counts"]["total"],
        listed["counts"]["types"],
    )
    assert ["dated"] == [each["key"] for each in before["memories"]]
    assert 1 == before["counts"]["total"]
    assert 422 == unordered.status_code


@on_every_store
def test_what_waited_then_is_told_although_it_was_decided_since(
    served: Served, client: httpx.Client
) -> None:
    """The overview of that day, and a listing of it, have it; those of today do not."""
    scope = {"scope": ["users", "waited"]}
    value = {"context": "work", "content": "Mira was promoted."}
    write = PutMemory(type="Note", key="doubt", value=value, state="quarantined")
    memory = served.service.memory
    assert memory.loop is not None
    applied = memory.apply((*ROOT_SCOPE, *scope["scope"]), [write])
    (doubt,) = asyncio.run_coroutine_threadsafe(applied, memory.loop).result()
    client.post("/v1/memories/Note/doubt/approve", params=scope, json={})
    assert doubt is not None
    then = {"known_at": doubt.updated_at.isoformat()}
    listed = {"order": "newest", "state": "quarantined"}

    waited = client.get("/v1/memories", params={**scope, **listed, **then}).json()

    assert ["doubt"] == [each["key"] for each in glance(client, **scope, **then)["waiting"]]
    assert [] == glance(client, **scope)["waiting"]
    assert (["doubt"], 1) == (
        [each["key"] for each in waited["memories"]],
        waited["counts"]["total"],
    )


@on_every_store
def test_what_is_known_is_what_matters_and_not_what_was_written_last(client: httpx.Client) -> None:
    """Neither a profile, nor what is over or refused; an import of one type hides nothing else."""
    scope = {"scope": ["users", "matters"]}
    kept(client, "User/User", {"home": "Porto"}, **scope)
    kept(client, "Note/boat", {"context": "boat", "content": "The boat is called Ida."}, **scope)
    kept(client, "Fact/cat", HOME | {"predicate": "has", "object": "a cat"}, **scope)
    over = {"value": HOME, "valid_until": "2024-01-01T00:00:00Z"}
    assert client.put("/v1/memories/Fact/over", params=scope, json=over).is_success
    kept(client, "Note/refused", {"context": "x", "content": "Never mind."}, **scope)
    client.post("/v1/memories/Note/refused/reject", params=scope, json={})
    for number in range(70):
        kept(client, f"Fact/{number}", HOME | {"object": f"the house {number}"}, **scope)
    before = [each["key"] for each in glance(client, **scope)["known"]]
    for _ in range(2):
        client.post("/v1/recall", params=scope, json={"query": "Who has a cat?", "limit": 1})

    after = [each["key"] for each in glance(client, **scope)["known"]]

    assert ["69", "boat"] == before[:2]
    assert 10 == len(before)
    assert ["cat", "69", "boat"] == after[:3]
    assert not {"User", "over", "refused"} & {*before, *after}


@on_every_store
def test_what_was_known_on_another_day_is_what_was_in_force_then(client: httpx.Client) -> None:
    """By what is known now, and as it was believed."""
    scope = {"scope": ["users", "formerly"]}
    then = {"value": HOME | {"object": "Utrecht"}, "valid_from": "2021-01-01T00:00:00Z"}
    then["valid_until"] = "2025-01-01T00:00:00Z"
    assert client.put("/v1/memories/Fact/then", params=scope, json=then).is_success
    believed = client.get("/v1/memories/Fact/then", params=scope).json()["updated_at"]
    now = {"value": HOME, "valid_from": "2025-01-01T00:00:00Z"}
    assert client.put("/v1/memories/Fact/now", params=scope, json=now).is_success

    on_day = glance(client, **scope, valid_at="2023-06-01T00:00:00Z")["known"]
    both = glance(client, **scope, valid_at="2023-06-01T00:00:00Z", known_at=believed)["known"]

    assert ["then"] == [each["key"] for each in on_day] == [each["key"] for each in both]
    assert ["now"] == [each["key"] for each in glance(client, **scope)["known"]]


def test_recalls_are_counted_and_a_deleted_memory_is_left_out(client: httpx.Client) -> None:
    """Most first, each with the last query that found it."""
    scope = {"scope": ["users", "counted"]}
    kept(client, "Note/boat", {"context": "boat", "content": "The boat leaks."}, **scope)
    kept(client, "Note/tower", {"context": "tower", "content": "The tower is blue."}, **scope)
    for query in ("Which tower?", "Does the boat leak?", "The boat?"):
        client.post("/v1/recall", params=scope, json={"query": query, "limit": 1})

    first, second = glance(client, **scope)["recalled"]
    client.delete("/v1/memories/Note/boat", params=scope)
    left = glance(client, **scope)["recalled"]

    assert ("boat", 2, "The boat?") == (first["memory"]["key"], first["count"], first["query"])
    assert ("tower", 1) == (second["memory"]["key"], second["count"])
    assert ["tower"] == [each["memory"]["key"] for each in left]


@on_every_store
def test_recalls_are_counted_where_the_empty_scope_was_looked_at(client: httpx.Client) -> None:
    """The first message is no erase: what was asked since is told."""
    scope = {"scope": ["users", "new"]}
    assert [] == glance(client, **scope)["recalled"]

    kept(client, "Note/boat", {"context": "boat", "content": "The boat leaks."}, **scope)
    client.post("/v1/recall", params=scope, json={"query": "Which boat?"})

    assert ["Which boat?"] == [each["query"] for each in glance(client, **scope)["recalled"]]


@on_every_store
def test_an_erase_by_another_program_takes_the_queries_along(
    served: Served, client: httpx.Client
) -> None:
    """Those of its scope, wherever they are told; recalls after it are counted from one."""
    inner, outer = {"scope": ["users", "asked"]}, {"scope": ["users", "other"]}
    for scope in (inner, outer):
        kept(client, "Note/boat", {"context": "boat", "content": "The boat leaks."}, **scope)
        client.post("/v1/recall", params=scope, json={"query": "The boat Xanadu?"})
    client.post("/v1/threads/t/messages", params=inner, json={"messages": [SAID]})
    assert ["The boat Xanadu?"] == [each["query"] for each in glance(client, **inner)["recalled"]]

    memory = served.service.memory
    erased = memory.store.erase(
        (*ROOT_SCOPE, *inner["scope"]), EraseMessages(thread="t", messages=[SAID["id"]])
    )
    assert memory.loop is not None
    asyncio.run_coroutine_threadsafe(erased, memory.loop).result(30)

    told = client.get("/v1/memories/Note/boat/recalls", params=inner).json()["recalls"]
    left = glance(client, **inner)["recalled"]
    order = {"order": "recalled"} | inner
    listed = client.get("/v1/memories", params=order).json()["memories"]
    client.post("/v1/recall", params=inner, json={"query": "Which boat?"})
    (new,) = glance(client, **inner)["recalled"]
    (elsewhere,) = glance(client, **outer)["recalled"]
    assert ([], [], []) == (told, left, listed)
    assert (1, "Which boat?") == (new["count"], new["query"])
    assert (1, "The boat Xanadu?") == (elsewhere["count"], elsewhere["query"])


def test_the_queries_are_forgotten_where_that_is_asked(client: httpx.Client) -> None:
    """Of exactly this scope, and with their counts; the memories stay, and are counted anew."""
    inner, outer = {"scope": ["users", "shy", "work"]}, {"scope": ["users", "shy"]}
    for scope in (inner, outer):
        kept(client, "Note/code", {"context": "code", "content": "What opens the shed."}, **scope)
        client.post("/v1/recall", params=scope, json={"query": "What opens with 9911-KIWI?"})

    assert 204 == client.delete("/v1/recalls", params=outer).status_code

    assert [] == glance(client, **outer)["recalled"]
    told = client.get("/v1/memories/Note/code/recalls", params=outer)
    assert {"recalls": []} == told.json()
    assert [1] == [each["count"] for each in glance(client, **inner)["recalled"]]
    client.post("/v1/recall", params=outer, json={"query": "Which code?"})
    (new,) = glance(client, **outer)["recalled"]
    assert (1, "Which code?") == (new["count"], new["query"])


def test_an_empty_scope_names_those_below_that_hold_something(client: httpx.Client) -> None:
    """A scope with a memory of its own names none."""
    kept(client, "Note/a", {"context": "a", "content": "b"}, scope=["homes", "north"])

    assert [["homes", "north"]] == glance(client, scope="homes")["below"]
    assert [] == glance(client, scope=["homes", "north"])["below"]


def test_a_chat_counts_what_it_recalled_and_tells_its_prompt_if_asked(
    starting: Start, connect: Connect
) -> None:
    """The prompt is the one that the model got, with the tokens of its texts."""
    asked: list[ModelRequest] = []

    def answer(request: ModelRequest) -> str:
        asked.append(request)
        return "In Porto."

    body = {"thread": "c", "text": "Where does Mira live?"}
    with connect(starting(model=ScriptedModel(answer, identity="script/test"))) as client:
        kept(client, "Fact/home", HOME)
        told = client.post("/v1/chat", params=MIRA, json=body | {"prompt": True}).text
        untold = client.post("/v1/chat", params=MIRA, json=body).text
        recalled = glance(client)["recalled"]

    prompt = json.loads(told.rpartition("\ndata: ")[2])["prompt"]
    assert asked[0].system == prompt["system"]
    assert [{"role": "user", "text": body["text"]}] == prompt["turns"]
    assert prompt["tokens"] > 10
    assert "prompt" not in json.loads(untold.rpartition("\ndata: ")[2])
    assert [("home", 2)] == [(each["memory"]["key"], each["count"]) for each in recalled]


def test_a_chat_answers_words_of_both_chinese_scripts_in_that_of_its_page(
    connect: Connect, starting: Start
) -> None:
    """By rules; without a language they are taken for simplified Chinese."""
    body = {"thread": "c", "text": "掰掰"}
    with connect(starting(model=RuleModel())) as client:
        told = {
            language: client.post("/v1/chat", params=MIRA, json=body | {"language": language})
            for language in (None, "zh-hant", "zh")
        }
        wrong = client.post("/v1/chat", params=MIRA, json=body | {"language": "zh_hant"})

    def has(language: str | None, word: str) -> bool:
        return json.dumps(word)[1:-1] in told[language].text

    assert (True, False) == (has(None, "再见"), has(None, "再見"))
    assert (True, False) == (has("zh", "再见"), has("zh", "再見"))
    assert (False, True) == (has("zh-hant", "再见"), has("zh-hant", "再見"))
    assert 422 == wrong.status_code


@on_every_store
def test_what_is_known_comes_with_the_words_that_it_rests_on(client: httpx.Client) -> None:
    """Each field has its quote until a person writes over it."""
    ida = {"scope": ["users", "ida"]}
    client.post("/v1/threads/talk/messages", params=ida, json={"messages": [SAID]})
    said = [{"thread": "talk", "message": "m1", "quote": "the boat Xanadu"}]
    boat = {"subject": "Mira", "predicate": "owns", "object": "the boat Xanadu"}
    whole = {"value": boat, "evidence": {"": said}}
    client.put("/v1/memories/Fact/boat", params=ida, json=whole)

    (known,) = glance(client, **ida)["quotes"]
    assert ("Fact", "boat", "the boat Xanadu") == (
        *(known["type"], known["key"]),
        known["fields"]["/object"],
    )

    kept(client, "Fact/boat", boat | {"object": "the boat Ida"}, **ida)

    (known,) = glance(client, **ida)["quotes"]
    assert "/object" not in known["fields"]
