"""mem0's own client, in a process of its own, at our service: only its address is another."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollect
from recollect import NewMessage, Recollect
from recollect.formation.rule_model import RuleModel
from recollect.importers import import_file, open_source
from recollect.records import JsonObject
from recollect.server.authorization import PERMISSIONS
from recollect.server.testing import Served, serving

Fresh = Callable[[str], str]
NewKey = Callable[..., str]
FOLDER = Path(sys.prefix, "mem0")
PEER = Path(__file__).with_name("mem0_peer.py")
PATH = "/compat/mem0"
TALK = [
    {"role": "user", "content": "Hi! I live in Oslo."},
    {"role": "assistant", "content": "How nice."},
]


class Mem0Client:
    """A client of mem0's in its process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.opened = self._answer()

    def __call__(self, method: str, *arguments: Any, **named: Any) -> Any:
        """Return the result of a call."""
        told = self.told(method, *arguments, **named)
        assert "error" not in told, told
        return told["result"]

    def told(self, method: str, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Return the result of a call, or its error."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps([method, arguments, named]) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "mem0's process ended"
        found: dict[str, Any] = json.loads(line)
        return found


Opened = Callable[..., Mem0Client]


@pytest.fixture
def mem0(tmp_path: Path) -> Iterator[Opened]:
    """Return what starts a client: of a service with its first key, or another one."""
    if not FOLDER.joinpath("mem0").is_dir():
        pytest.skip("mem0 is not installed: make test-slow installs it")
    with ExitStack() as stack:

        def made(served: Served, key: str | None = None, kind: str = "sync") -> Mem0Client:
            address, chosen = f"{served.url}{PATH}", served.key if key is None else key
            process = subprocess.Popen(
                [sys.executable, str(PEER), str(FOLDER), address, chosen, kind],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path)},
            )
            stack.callback(process.communicate)
            return Mem0Client(process)

        yield made


@pytest.fixture
def served(store: Fresh) -> Iterator[Served]:
    """Run a service with a model, over an empty store."""
    with serving(store=store("served"), model=RuleModel()) as found:
        yield found


def form(served: Served) -> None:
    """Form what waits, as the background does."""
    memory = served.service.memory
    assert memory.loop is not None
    asyncio.run_coroutine_threadsafe(memory.form(("acme", "users", "ada")), memory.loop).result(60)


def texts(found: Any) -> set[str]:
    """Return what the memories of an answer say."""
    return {each["memory"] for each in found["results"]}


@pytest.mark.parametrize(
    ("store", "kind"),
    [("memory", "sync"), ("memory", "async"), ("sqlite", "sync"), ("postgres", "sync"),
     ("redis", "sync")],
    indirect=["store"],
)  # fmt: skip
def test_the_story_of_its_client(served: Served, mem0: Opened, kind: str) -> None:
    """Each call does what it says, and is answered in the form that the client hands on."""
    call = mem0(served, kind=kind)

    queued = call("add", TALK, user_id="ada", metadata={"topic": "home"})
    kept = call("add", "Ada likes tea", user_id="ada", infer=False, metadata={"topic": "drinks"})
    again = call("add", "Ada likes tea", user_id="ada", infer=False, metadata={"topic": "drinks"})
    call("add", "Bob likes coffee", user_id="bob", run_id="r1", infer=False)
    form(served)

    assert ("PENDING", "SUCCEEDED") == (queued["status"], kept["status"])
    (row,), (same,) = kept["results"], again["results"]
    assert ("ADD", "NONE") == (row["event"], same["event"])
    assert row["id"] == same["id"]
    everything = call("get_all", filters={"user_id": "ada"})
    assert {"home: Oslo", "Ada likes tea"} == texts(everything)
    # What was formed has the metadata of the messages that it was formed of.
    formed = call("get_all", filters={"AND": [{"user_id": "ada"}, {"metadata": {"topic": "home"}}]})
    assert {"home: Oslo"} == texts(formed)
    found = call("search", "Who likes tea?", filters={"user_id": "ada"}, top_k=1)
    assert {"Ada likes tea"} == texts(found)
    assert {"topic": "drinks"} == found["results"][0]["metadata"]
    assert 0 <= found["results"][0]["score"] <= 1

    changed = call("update", row["id"], text="Ada likes cocoa", metadata={"topic": "sweets"})
    assert "Ada likes cocoa" == changed["memory"] == call("get", row["id"])["memory"]
    history = call("history", row["id"])
    assert [("ADD", None), ("UPDATE", "Ada likes tea")] == [
        (each["event"], each["old_memory"]) for each in history
    ]
    users = {(each["type"], each["name"]) for each in call("users")["results"]}
    assert {("user", "ada"), ("user", "bob"), ("run", "r1")} == users

    call("delete", row["id"])
    assert "MemoryNotFoundError" == call.told("get", row["id"])["error"]
    call("delete_all", user_id="ada")
    assert set() == texts(call("get_all", filters={"user_id": "ada"}))
    assert {"Bob likes coffee"} == texts(call("get_all", filters={"run_id": "r1"}))
    call("reset")
    assert [] == call("users")["results"]


def test_pages_follow_each_other(served: Served, mem0: Opened) -> None:
    """By their numbers, with the count of all; the last has no next one."""
    call = mem0(served)
    call("add", [{"role": "user", "content": f"Fact {n}"} for n in range(5)], user_id="ada",
         infer=False)  # fmt: skip

    pages = [call("get_all", filters={"user_id": "ada"}, page=n, page_size=2) for n in (1, 2, 3)]

    assert {f"Fact {n}" for n in range(5)} == set().union(*map(texts, pages))
    assert [5, 5, 5] == [each["count"] for each in pages]
    assert [True, True, False] == [each["next"] is not None for each in pages]


def test_batches_are_all_or_none(served: Served, mem0: Opened) -> None:
    """One id that is unknown, and nothing of the batch is written."""
    call = mem0(served)
    kept = call("add", [{"role": "user", "content": f"Fact {n}"} for n in range(2)], user_id="ada",
                infer=False)["results"]  # fmt: skip
    ids = [each["id"] for each in kept]
    good = [{"memory_id": each, "text": f"New {n}"} for n, each in enumerate(ids)]

    refused = call.told("batch_update", [*good, {"memory_id": "nowhere", "text": "x"}])
    before = texts(call("get_all", filters={"user_id": "ada"}))
    call("batch_update", good)
    after = texts(call("get_all", filters={"user_id": "ada"}))
    call("batch_delete", [{"memory_id": each} for each in ids])

    assert "MemoryNotFoundError" == refused["error"]
    assert {"Fact 0", "Fact 1"} == before
    assert {"New 0", "New 1"} == after
    assert [] == call("get_all", filters={"user_id": "ada"})["results"]


def test_users_that_moved_are_found_at_once(mem0: Opened, tmp_path: Path, store: Fresh) -> None:
    """Several users' memories are imported; their metadata and categories are data here too."""
    rows = [
        {"id": "1", "memory": "Likes tea", "user_id": "ada", "metadata": {"topic": "drinks"},
         "categories": ["food"], "created_at": "2025-01-02T03:04:05Z"},
        {"id": "2", "memory": "Lives in Rome", "user_id": "bob", "run_id": "r1"},
    ]  # fmt: skip
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": rows}))

    with serving(store=store("served")) as served:
        memory = served.service.memory
        assert memory.loop is not None

        async def move() -> None:
            with open_source(str(file)) as source:
                done = await import_file(memory, ("acme",), source)
            assert (2, 0) == (done.memories, done.refused)

        asyncio.run_coroutine_threadsafe(move(), memory.loop).result(60)
        call = mem0(served)
        (tea,) = call("search", "tea", filters={"metadata": {"topic": "drinks"}})["results"]
        (rome,) = call("get_all", filters={"AND": [{"user_id": "bob"}, {"run_id": "*"}]})["results"]

    assert ("ada", ["food"], {"topic": "drinks"}) == (
        tea["user_id"], tea["categories"], tea["metadata"]
    )  # fmt: skip
    assert "2025-01-02T03:04:05+00:00" == tea["created_at"]
    assert ("Lives in Rome", "r1") == (rome["memory"], rome["run_id"])


def test_a_key_of_the_wrong_kind_is_told(served: Served, mem0: Opened, new_key: NewKey) -> None:
    """A wrong key as the client is made; one that lacks a permission at the call."""
    wrong = mem0(served, "rk_0123456789abcdef_" + "A" * 43)
    reader = mem0(served, new_key(served, "read"))

    assert "ValueError" == wrong.opened["error"]
    assert "the API key is unknown" in wrong.opened["text"]
    assert "api_key" in wrong.opened["text"]
    refused = [
        reader.told("search", "tea", filters={"user_id": "ada"}),
        reader.told("add", "tea", user_id="ada"),
        reader.told("delete_users", user_id="ada"),
    ]
    for needs, told in zip(("below", "write", "erase"), refused, strict=True):
        assert needs in told["text"], told


def test_a_path_that_is_not_served_is_told(served: Served) -> None:
    """An address without the path, a trailing slash, and what we do not have."""
    headers = {"authorization": f"Token {served.key}"}
    with httpx.Client(base_url=served.url, headers=headers) as it:
        without = it.get("/v1/ping/")
        unserved = it.get(f"{PATH}/v1/exports/")
        others = [it.get(f"{each}/v1/ping/") for each in ("/compat", f"{PATH}/v1")]

    assert (404, 404) == (without.status_code, unserved.status_code)
    for each in (without, *others):
        assert f"mem0's client is given the host with {PATH}" in each.json()["detail"]
    assert "/v1/exports/ of mem0's API is not served here" == unserved.json()["detail"]


def test_metadata_of_another_framework_is_not_told(served: Served, mem0: Opened) -> None:
    """What it keeps to restore its messages; the user's own stays."""
    metadata: JsonObject = {"pydantic_ai": {"parts": []}, "from": "mail"}
    said = NewMessage(role="user", text="I live in Oslo.", metadata=metadata)
    memory = served.service.memory
    assert memory.loop is not None
    append = memory.append(("acme", "users", "ada"), "one", [said])
    asyncio.run_coroutine_threadsafe(append, memory.loop).result(60)
    form(served)
    (row,) = mem0(served)("get_all", filters={"user_id": "ada"})["results"]

    assert {"from": "mail"} == row["metadata"]


def test_what_has_ended_is_not_listed(served: Served) -> None:
    """A listing agrees with a search; all of an owner's memories are deleted nevertheless."""
    memory, ada = served.service.memory, ("acme", "users", "ada")
    assert memory.loop is not None

    async def move() -> None:
        note = await memory.remember(ada, "Ada lives in Oslo")
        await memory.end(ada, note.type, note.key, note.updated_at)
        await memory.remember(ada, "Ada lives in Bergen")

    asyncio.run_coroutine_threadsafe(move(), memory.loop).result(60)
    wanted = {"filters": {"user_id": "ada"}}
    with httpx.Client(base_url=served.url, headers={"authorization": f"Token {served.key}"}) as it:
        listed = it.post(f"{PATH}/v3/memories/", json=wanted).json()
        asked = {**wanted, "query": "Where does Ada live?"}
        found = it.post(f"{PATH}/v3/memories/search/", json=asked).json()
        it.delete(f"{PATH}/v1/memories/", params={"user_id": "ada"})
    left = asyncio.run_coroutine_threadsafe(memory.memories(ada), memory.loop).result(60)

    assert {"Ada lives in Bergen"} == texts(listed) == texts(found)
    assert () == left.rows


def test_a_text_is_stored_where_it_ended_or_another_was_written_over_it(served: Served) -> None:
    """An add that says it is stored can be found, and replaces nothing that was written since."""
    memory, ada = served.service.memory, ("acme", "users", "ada")
    assert memory.loop is not None
    body = {"messages": "Ada lives in Oslo", "user_id": "ada", "infer": False}
    asked = {"filters": {"user_id": "ada"}, "query": "Where does Ada live?"}
    with httpx.Client(base_url=served.url, headers={"authorization": f"Token {served.key}"}) as it:

        def add() -> str:
            (found,) = it.post(f"{PATH}/v3/memories/add/", json=body).json()["results"]
            return f"{found['event']} {found['id']}"

        _, id_ = add().split()
        stored = asyncio.run_coroutine_threadsafe(memory.memories(ada), memory.loop).result(60)
        (item,) = stored.rows
        ended = memory.end(ada, item.type, item.key, item.updated_at)
        asyncio.run_coroutine_threadsafe(ended, memory.loop).result(60)
        again = add()
        found = it.post(f"{PATH}/v3/memories/search/", json=asked).json()
        it.put(f"{PATH}/v1/memories/{id_}/", json={"text": "Ada lives in Bergen"})
        others = [add().split() for _ in range(2)]
        listed = it.post(f"{PATH}/v3/memories/", json={"filters": asked["filters"]}).json()

    assert f"UPDATE {id_}" == again
    assert {"Ada lives in Oslo"} == texts(found)
    assert ["ADD", "NONE"] == [event for event, _ in others]
    assert id_ not in {each for _, each in others}
    assert {"Ada lives in Oslo", "Ada lives in Bergen"} == texts(listed)


def test_a_run_of_an_add_is_told_by_its_event(served: Served) -> None:
    """It waits, and once it is formed its memories are told."""
    with httpx.Client(base_url=served.url, headers={"authorization": f"Token {served.key}"}) as it:
        body = {"messages": TALK, "user_id": "ada"}
        added = it.post(f"{PATH}/v3/memories/add/", json=body).json()
        waiting = it.get(f"{PATH}/v1/event/{added['event_id']}/").json()
        form(served)
        formed = it.get(f"{PATH}/v1/event/{added['event_id']}/").json()
        nowhere = it.get(f"{PATH}/v1/event/abc/")

    assert ("PENDING", []) == (waiting["status"], waiting["results"])
    assert "SUCCEEDED" == formed["status"]
    assert ["home: Oslo"] == [each["data"]["memory"] for each in formed["results"]]
    assert 404 == nowhere.status_code


def without_model() -> AbstractAsyncContextManager[Recollect]:
    """Open a memory as `recollect serve` does without a model."""
    return recollect.open("memory:", embedder="none")


def test_an_add_without_a_model_does_not_wait_for_ever() -> None:
    """The add and its event end, and say what starts a model; the messages are stored."""
    with serving(without_model) as served:
        headers = {"authorization": f"Token {served.key}"}
        with httpx.Client(base_url=served.url, headers=headers) as it:
            body = {"messages": TALK, "user_id": "ada"}
            added = it.post(f"{PATH}/v3/memories/add/", json=body).json()
            event = it.get(f"{PATH}/v1/event/{added['event_id']}/").json()
            kept = it.get("/v1/threads/mem0/messages", params={"scope": ["users", "ada"]}).json()
            formed = it.post("/v1/form", params={"scope": ["users", "ada"]})

    assert ("FAILED", "FAILED") == (added["status"], event["status"])
    assert added["message"] == event["message"]
    assert "messages are stored" in added["message"]
    assert "recollect serve --model" in added["message"]
    assert len(TALK) == len(kept["messages"])
    assert 422 == formed.status_code
    assert "recollect serve --model" in formed.json()["detail"]


def test_an_add_that_another_process_forms_is_pending() -> None:
    """Without a model and without a worker, `recollect worker` forms; nothing has failed."""
    with serving() as served:
        headers = {"authorization": f"Token {served.key}"}
        with httpx.Client(base_url=served.url, headers=headers) as it:
            body = {"messages": TALK, "user_id": "ada"}
            added = it.post(f"{PATH}/v3/memories/add/", json=body).json()
            event = it.get(f"{PATH}/v1/event/{added['event_id']}/").json()

    assert ("PENDING", "PENDING") == (added["status"], event["status"])


@pytest.mark.parametrize(
    "filters",
    [
        {"user_id": 7},
        {"user_id": {"eq": 7}},
        {"user_id": {"in": [7, 8]}},
        {"AND": [{"user_id": 7}, {"user_id": {"ne": 8}}]},
    ],
)
def test_a_user_named_by_a_number_is_found_by_it(client: httpx.Client, filters: Any) -> None:
    """As the add took it: kept as text, and the same in a filter."""
    for user in (7, 8):
        body = {"messages": f"I am {user}", "user_id": user, "infer": False}
        client.post(f"{PATH}/v3/memories/add/", json=body).raise_for_status()

    listed = client.post(f"{PATH}/v3/memories/", json={"filters": filters}).json()
    found = client.post(
        f"{PATH}/v3/memories/search/", json={"query": "I am", "filters": filters}
    ).json()

    assert "7" in {each["user_id"] for each in listed["results"]}
    assert texts(listed) == texts(found)
    if "in" not in str(filters):
        assert {"I am 7"} == texts(listed)


ADA = {"user_id": "ada", "org_id": "recollect", "project_id": "recollect"}


def add_two(client: httpx.Client, **more: Any) -> list[Any]:
    """Add two texts as the earlier clients do; return the answers."""
    bodies = [
        {"messages": [{"role": "user", "content": text}], "infer": False, **ADA, **more}
        for text in ("Ada likes tea", "Ada likes green tea")
    ]
    return [client.post(f"{PATH}/v1/memories/", json=each).json() for each in bodies]


def test_programs_for_its_client_1_are_served(client: httpx.Client) -> None:
    """Its paths, an owner beside the filters, `limit`, and answers whose rows are in `results`."""
    form = {"output_format": "v1.1"}
    said = {"messages": TALK, "async_mode": True, **ADA, **form}
    queued = client.post(f"{PATH}/v1/memories/", json=said).json()
    kept = add_two(client, **form)[-1]
    within = {"query": "tea", "filters": {"AND": [{"user_id": "ada"}]}}
    found = [
        client.post(f"{PATH}/v2/memories/search/", json={**each, **form}).json()
        for each in ({"query": "tea", "limit": 1, **ADA}, within)
    ]
    listed = client.post(f"{PATH}/v2/memories/", json={**ADA, **form}).json()
    paged = client.post(f"{PATH}/v2/memories/?page=1&page_size=1", json=ADA).json()

    (pending,) = queued["results"]
    assert ("PENDING", queued["event_id"]) == (pending["status"], pending["event_id"])
    assert [("ADD", "Ada likes green tea")] == [
        (each["event"], each["memory"]) for each in kept["results"]
    ]
    assert 1 == len(found[0]["results"])
    assert {"Ada likes tea", "Ada likes green tea"} == texts(found[1]) == texts(listed)
    assert (2, 1, f"{PATH}/v2/memories/?page=2&page_size=1") == (
        paged["count"],
        len(paged["results"]),
        paged["next"],
    )


def test_clients_before_are_answered_with_lists(client: httpx.Client) -> None:
    """Those of Python 0.1 and of npm 2: an add, a search, and a whole listing."""
    kept = add_two(client)[-1]
    found = [
        client.post(f"{PATH}/{version}/memories/search/", json={"query": "tea", **ADA}).json()
        for version in ("v1", "v2")
    ]
    listed = [
        client.get(f"{PATH}/v1/memories/", params=ADA).json(),
        client.post(f"{PATH}/v2/memories/", json=ADA).json(),
    ]
    wrapped = client.get(f"{PATH}/v1/memories/", params={**ADA, "output_format": "v1.1"}).json()
    paged = client.get(f"{PATH}/v1/memories/", params={**ADA, "page": 2, "page_size": 1}).json()
    everybody = client.get(f"{PATH}/v1/memories/")

    assert ["Ada likes green tea"] == [each["memory"] for each in kept]
    for each in (*found, *listed, wrapped["results"]):
        assert {"Ada likes tea", "Ada likes green tea"} == {row["memory"] for row in each}
    assert (2, 1) == (paged["count"], len(paged["results"]))
    assert 422 == everybody.status_code
    assert "no filters are given" in everybody.json()["detail"]


def test_pictures_and_calls_of_tools_cost_no_add(client: httpx.Client) -> None:
    """A picture comes bare in mem0; a turn of calls has no words. All of them are kept."""
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/boat.png"}}
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": picture},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "a sloop", "tool_call_id": "c1"},
    ]
    body = {"messages": messages, "user_id": "ada"}
    client.post(f"{PATH}/v3/memories/add/", json=body).raise_for_status()

    at = {"scope": ["users", "ada"]}
    kept = client.get("/v1/threads/mem0/messages", params=at).json()["messages"]
    assert [("user", ""), ("assistant", ""), ("tool", "a sloop")] == [
        (each["role"], each["text"]) for each in kept
    ]
    assert [picture] == kept[0]["content"]
    assert "find" in str(kept[1]["metadata"])


@pytest.mark.parametrize("written", ["2999-05-01", "2999-05-01T12:00:00+00:00"])
def test_an_expiry_comes_back_as_it_was_given(client: httpx.Client, written: str) -> None:
    """A day is that day, which counts to its end."""
    body = {"messages": "x", "user_id": "ada", "infer": False, "expiration_date": written}
    client.post(f"{PATH}/v3/memories/add/", json=body).raise_for_status()
    for _ in range(2):
        (row,) = client.post(f"{PATH}/v3/memories/", json={"user_id": "ada"}).json()["results"]
        client.put(
            f"{PATH}/v1/memories/{row['id']}/", json={"expiration_date": row["expiration_date"]}
        ).raise_for_status()

        assert written == row["expiration_date"]


@pytest.mark.parametrize("filters", [{}, {"AND": []}, {"OR": [{}]}])
def test_what_names_no_filter_does_not_cross_all_users(client: httpx.Client, filters: Any) -> None:
    """It is refused with the names of the filters; every user is meant by ``*``."""
    for user in ("ada", "bob"):
        body = {"messages": f"I am {user}", "user_id": user, "infer": False}
        client.post(f"{PATH}/v3/memories/add/", json=body).raise_for_status()

    refused = [
        client.post(f"{PATH}/v3/memories/", json={"filters": filters}),
        client.post(f"{PATH}/v3/memories/search/", json={"query": "I am", "filters": filters}),
    ]
    everyone = client.post(f"{PATH}/v3/memories/", json={"filters": {"user_id": "*"}}).json()

    assert [422, 422] == [each.status_code for each in refused]
    for each in refused:
        assert "user_id, agent_id, app_id, run_id" in each.json()["detail"]
    assert {"I am ada", "I am bob"} == texts(everyone)


BAD: dict[str, tuple[str, str, Any]] = {
    "nobody": ("POST", "/v3/memories/add/", {"messages": "x"}),
    "no messages": ("POST", "/v3/memories/add/", {"messages": [], "user_id": "a"}),
    "an unknown role": (
        "POST",
        "/v3/memories/add/",
        {"messages": [{"role": "root", "content": "x"}], "user_id": "a"},
    ),
    "an empty owner": ("POST", "/v3/memories/add/", {"messages": "x", "user_id": ""}),
    "an owner as a list": ("POST", "/v3/memories/add/", {"messages": "x", "user_id": ["a"]}),
    "a day that is none": (
        "POST",
        "/v3/memories/add/",
        {"messages": "x", "user_id": "a", "infer": False, "expiration_date": "soon"},
    ),
    "no query": ("POST", "/v3/memories/search/", {"query": "", "filters": {"user_id": "a"}}),
    "a filter that is a list": ("POST", "/v3/memories/search/", {"query": "x", "filters": []}),
    "a misspelt field": ("POST", "/v3/memories/", {"filters": {"usr_id": "a"}}),
    "an unknown operator": ("POST", "/v3/memories/", {"filters": {"user_id": {"$gt": 1}}}),
    "a time that is none": ("POST", "/v3/memories/", {"filters": {"created_at": {"gte": "x"}}}),
    "page 0": ("POST", "/v3/memories/?page=0", {"filters": {"user_id": "a"}}),
    "no filter": ("POST", "/v3/memories/", {}),
    "all of nobody": ("DELETE", "/v1/memories/", None),
    "a change of nothing": ("PUT", "/v1/memories/WyJ1c2VycyIsImEiLCJOb3RlIiwiayJd/", {}),
    "an unknown kind": ("DELETE", "/v2/entities/planet/mars/", None),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_is_told_in_a_sentence(client: httpx.Client, name: str) -> None:
    """As JSON with a ``detail``, which the client shows, and nothing is written."""
    method, path, body = BAD[name]

    answer = client.request(method, f"{PATH}{path}", **({} if body is None else {"json": body}))

    assert answer.status_code in {404, 422}, answer.text
    assert "application/json" == answer.headers["content-type"]
    assert answer.json()["detail"]


def test_an_add_of_no_messages_says_so(client: httpx.Client) -> None:
    """In one sentence, not one for each form that messages may have."""
    answer = client.post(f"{PATH}/v3/memories/add/", json={"messages": [], "user_id": "a"})

    assert 422 == answer.status_code
    detail = answer.json()["detail"]
    assert "the list of messages is empty: give at least one message" in detail
    assert 1 == len(answer.json()["errors"])


def test_deep_filters_are_refused(client: httpx.Client) -> None:
    """However deeply they nest, and however many there are."""
    deep: dict[str, Any] = {"user_id": "a"}
    for _ in range(10):
        deep = {"AND": [deep]}
    many = {"OR": [{"user_id": str(n)} for n in range(51)]}

    answers = [client.post(f"{PATH}/v3/memories/", json={"filters": each}) for each in (deep, many)]

    assert [422, 422] == [each.status_code for each in answers]
    assert ["limit", "limit"] == [each.json()["code"] for each in answers]


def test_a_whole_owner_is_erased(served: Served, new_key: NewKey) -> None:
    """Messages too, with a receipt; another user's run of the same name goes with that run."""
    key = new_key(served, *PERMISSIONS)
    with httpx.Client(base_url=served.url, headers={"x-api-key": key}) as it:
        for user in ("ada", "bob"):
            body = {"messages": TALK, "user_id": user, "run_id": "r1"}
            it.post(f"{PATH}/v3/memories/add/", json=body).raise_for_status()
        it.delete(f"{PATH}/v2/entities/user/ada/").raise_for_status()
        left = it.get("/v1/scopes", params={"below": True}).json()
        threads = it.get("/v1/threads", params={"below": True}).json()["threads"]
        receipts = it.get("/v1/erase/receipts", params={"below": True}).json()["receipts"]

    assert "ada" not in json.dumps(left)
    assert [["users", "bob", "runs", "r1"]] == [each["scope"] for each in threads]
    assert [2] == [each["messages"] for each in receipts]
