"""LangGraph's client creates threads and posts runs: three within the delay are one formation."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import httpx
import pytest
from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.client import LangGraphClient, SyncLangGraphClient
from langgraph_sdk.errors import (
    APIError,
    ConflictError,
    NotFoundError,
    UnprocessableEntityError,
)

import recollect
from recollect.formation.config import Assistants, FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.formation.types import NOTE
from recollect.memory.facade import Recollect
from recollect.records import Formation, Scope
from recollect.server.authorization import RESERVED
from recollect.server.langgraph import run_records as kept
from recollect.server.langgraph import threads
from recollect.server.testing import Served, serving
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMessages
from recollect.testing.frozen_clock import FrozenClock
from recollect.testing.scripted_model import ScriptedModel

GraphClient = Callable[..., SyncLangGraphClient]
WILL: Scope = ("acme", "will")
ASSISTANTS = Assistants(
    default=FormationSettings(debounce=Debounce(quiet_s=100.0)),
    named={"notes": FormationSettings(types=(NOTE,), debounce=Debounce(quiet_s=60.0))},
)
WAIT_S = 30.0


class World:
    """A service over a file, whose clock moves when the test says so."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self.clock = FrozenClock()
        self.model: Any = RuleModel()
        self.served: Served

    @contextmanager
    def running(self, key: str | None = None) -> Iterator[Served]:
        """Run the service until the block ends."""

        def opened() -> AbstractAsyncContextManager[Recollect]:
            return recollect.open(
                self.url,
                embedder="none",
                model=self.model,
                formation=ASSISTANTS,
                worker=False,
                clock=self.clock,
            )

        with serving(opened, model=self.model, assistants=ASSISTANTS) as served:
            self.served = Served(url=served.url, key=served.key or key or "", app=served.app)
            yield self.served

    def do(self, act: Callable[[Recollect], Any]) -> Any:
        """Let the service's memory do something, and return what it gives."""
        memory = self.served.service.memory
        assert memory.loop is not None
        return asyncio.run_coroutine_threadsafe(act(memory), memory.loop).result(WAIT_S)

    def later(self, seconds: float) -> list[Formation]:
        """Let time pass, form what is due then, and return all formations so far, oldest first."""
        self.clock.advance(seconds)

        async def formed(memory: Recollect) -> tuple[Formation, ...]:
            assert memory.worker is not None
            await memory.worker.drain()
            return (await memory.formations(WILL)).rows

        return list(reversed(self.do(formed)))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Run a service over a file of its own."""
    world = World(tmp_path / "memory.db")
    with world.running():
        yield world


def said(*texts: str) -> dict[str, Any]:
    """Return the input of a run with messages of the user."""
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def held(client: SyncLangGraphClient, thread: str) -> list[str]:
    """Return the words of the messages that a thread holds."""
    values: Any = client.threads.get_state(thread)["values"]
    return [each["content"] for each in values["messages"]]


def posting(client: SyncLangGraphClient, thread: str, **more: Any) -> Callable[..., Any]:
    """Return what posts a run of Will's with some texts, ten seconds after talk has paused."""
    settings = {
        "assistant_id": "memory_graph",
        "config": {"configurable": {"user_id": "will"}},
        "multitask_strategy": "rollback",
        "if_not_exists": "create",
        "after_seconds": 10,
        **more,
    }

    def post(*texts: str, **extra: Any) -> Any:
        return client.runs.create(thread, **{"input": said(*texts), **settings, **extra})

    return post


def test_three_runs_within_the_delay_are_one_formation(
    world: World, graph_client: GraphClient
) -> None:
    """Each replaces the pending one; all messages are formed together, a later run's on its own."""
    client = graph_client(world.served)
    thread = str(uuid4())
    post = posting(client, thread)

    for text in ("My name is Will.", "I live in Oslo.", "I like hiking."):
        post(text)
        assert [] == world.later(9)
    pending = client.runs.list(thread)
    (first,) = world.later(2)
    done = client.runs.list(thread)
    post("I moved to Rome.")
    again = world.later(10)

    assert ["pending"] == [each["status"] for each in pending]
    assert {thread: 3} == dict(first.watermarks)
    assert ["success"] == [each["status"] for each in done]
    assert [{thread: 3}, {thread: 4}] == [dict(each.watermarks) for each in again]
    assert 2 == len(world.model.requests)
    profile = client.store.get_item(["will", "User"], key="User")
    assert profile is not None
    assert ("Will", "Rome") == (profile["value"]["user_name"], profile["value"]["home"])
    assert 2 == len(client.runs.list(thread))


def test_a_run_without_a_model_does_not_wait_for_ever(tmp_path: Path) -> None:
    """It says what starts a model; served with one, it succeeds."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    thread = str(uuid4())

    with (
        serving(lambda: recollect.open(url, embedder="none")) as served,
        get_sync_client(url=served.url, api_key=served.key) as client,
    ):
        client.threads.create(thread_id=thread)
        run = client.runs.create(thread, "memory_graph", input=said("My toy is red."))
        ended = client.runs.join(thread, run["run_id"])
        status = client.runs.get(thread, run["run_id"])["status"]
    with (
        serving(lambda: recollect.open(url, embedder="none", model="rules")) as again,
        get_sync_client(url=again.url, api_key=served.key) as client,
    ):
        client.runs.join(thread, run["run_id"])
        later = client.runs.get(thread, run["run_id"])["status"]

    assert "recollect serve --model" in str(ended)
    assert ("error", "success") == (status, later)


def test_a_pending_run_survives_a_restart(tmp_path: Path) -> None:
    """What was posted before the service ended is formed, once, by the one that comes after it."""
    thread, key = str(uuid4()), ""
    before, after = World(tmp_path / "memory.db"), World(tmp_path / "memory.db")
    with before.running() as served:
        key = served.key
        with get_sync_client(url=served.url, api_key=key) as client:
            run = posting(client, thread)("My name is Will.")

    with after.running(key) as served, get_sync_client(url=served.url, api_key=key) as client:
        pending = client.runs.get(thread, run["run_id"])
        (formation,) = after.later(10)
        done = client.runs.get(thread, run["run_id"])
        kept_texts = held(client, thread)
        again = after.later(1_000)

    assert ("pending", "success") == (pending["status"], done["status"])
    assert {thread: 1} == dict(formation.watermarks)
    assert [formation] == again
    assert ["My name is Will."] == kept_texts


def test_without_a_time_of_its_own_a_run_waits_as_its_assistant_does(
    world: World, graph_client: GraphClient
) -> None:
    """A longer time than the assistant ever waits holds as well."""
    client = graph_client(world.served)
    posting(client, str(uuid4()), after_seconds=None)("My name is Will.")

    assert [] == world.later(99)
    assert 1 == len(world.later(1))
    posting(client, str(uuid4()), after_seconds=5_000)("I live in Oslo.")
    assert 1 == len(world.later(4_999))
    assert 2 == len(world.later(1))


def test_a_run_is_told_as_langgraph_tells_it(world: World, graph_client: GraphClient) -> None:
    """It has the fields of a Run; its beginning lies after the delay; the thread is busy."""
    client = graph_client(world.served)
    thread = client.threads.create(metadata={"tag": "x"})
    before = held(client, thread["thread_id"])

    run = posting(client, thread["thread_id"])("My name is Will.")

    busy = client.threads.get(thread["thread_id"])
    (found,) = client.threads.search(metadata={"tag": "x"}, status="busy")
    world.later(10)
    idle = client.threads.get(thread["thread_id"])
    assert [] == before
    assert run["run_id"] == str(UUID(run["run_id"]))
    expected = uuid5(UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), "memory_graph")
    assert str(expected) == run["assistant_id"]
    assert ("pending", "rollback") == (run["status"], run["multitask_strategy"])
    assert "2024-05-06T12:00:10+00:00" == run["created_at"]
    assert "input" not in run["kwargs"]
    assert ("busy", "idle") == (busy["status"], idle["status"])
    assert thread["thread_id"] == found["thread_id"]
    assert {"tag": "x"} == found["metadata"]
    assert client.runs.join(thread["thread_id"], run["run_id"]) == idle["values"]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("rollback", ["pending"]),
        ("interrupt", ["pending", "interrupted"]),
        ("enqueue", ["pending", "pending"]),
    ],
)
def test_strategies_differ_in_what_becomes_of_the_run_before(
    world: World, graph_client: GraphClient, strategy: str, expected: list[str]
) -> None:
    """Whatever becomes of it, its messages are formed with those of the next, once."""
    client = graph_client(world.served)
    thread = str(uuid4())
    post = posting(client, thread, multitask_strategy=strategy)
    post("My name is Will.")
    world.clock.advance(5)

    post("I live in Oslo.")

    assert expected == [each["status"] for each in client.runs.list(thread)]
    (formation,) = world.later(10)
    assert {thread: 2} == dict(formation.watermarks)
    assert "pending" not in [each["status"] for each in client.runs.list(thread)]


def test_reject_refuses_a_second_run_and_keeps_nothing_of_it(
    world: World, graph_client: GraphClient
) -> None:
    """409 while one is pending; a thread that does not exist is 404; an unknown assistant 422."""
    client = graph_client(world.served)
    thread = str(uuid4())
    post = posting(client, thread, multitask_strategy="reject")
    post("My name is Will.")

    with pytest.raises(ConflictError, match="already running"):
        post("I live in Oslo.")
    with pytest.raises(NotFoundError):
        client.runs.create(str(uuid4()), "memory_graph", input=said("x"))
    with pytest.raises(UnprocessableEntityError, match="nobody"):
        post("x", assistant_id="nobody", multitask_strategy="enqueue")
    with pytest.raises(UnprocessableEntityError, match="UUID"):
        client.threads.get("holidays")
    with pytest.raises(UnprocessableEntityError, match="webhook"):
        post("x", webhook="http://127.0.0.1/x", multitask_strategy="enqueue")

    assert 1 == len(held(client, thread))
    with pytest.raises(ConflictError):
        client.threads.create(thread_id=thread)
    same = client.threads.create(thread_id=thread, if_exists="do_nothing")
    assert thread == same["thread_id"]


def test_a_cancelled_run_is_not_formed_until_another_comes(
    world: World, graph_client: GraphClient
) -> None:
    """Its messages stay, and are formed with the next run's, after that one's delay."""
    client = graph_client(world.served)
    thread = str(uuid4())
    post = posting(client, thread)
    run = post("My name is Will.")

    client.runs.cancel(thread, run["run_id"])

    assert [] == world.later(100)
    assert ["interrupted"] == [each["status"] for each in client.runs.list(thread)]
    with pytest.raises(ConflictError, match="ended"):
        client.runs.cancel(thread, run["run_id"])
    post("I live in Oslo.")
    assert [] == world.later(9)
    (formation,) = world.later(1)
    assert {thread: 2} == dict(formation.watermarks)
    client.runs.delete(thread, run["run_id"])
    assert ["success"] == [each["status"] for each in client.runs.list(thread)]


def test_an_assistant_is_a_named_configuration(world: World, graph_client: GraphClient) -> None:
    """Its types and its delay hold, by its name and by its id; a run's own types go before."""
    client = graph_client(world.served)
    names = [each["name"] for each in client.assistants.search()]
    by_name, by_id, own = (str(uuid4()) for _ in range(3))
    ids = {each["name"]: each["assistant_id"] for each in client.assistants.search()}
    text = "My name is Will. My bike is blue."
    posting(client, by_name, assistant_id="notes", after_seconds=None)(text)
    assert [] == world.later(59)
    (first,) = world.later(1)
    posting(client, by_id, assistant_id=ids["notes"])("My boat is red.")
    world.later(10)
    types = [{**dict(NOTE.as_config()), "name": "Fancy", "system_prompt": "Be brief."}]
    configurable = {"user_id": "will", "memory_types": types}
    posting(client, own, config={"configurable": configurable})("My car is green.")
    world.later(10)

    notes = client.store.search_items(["will", "Note"])["items"]
    tools = {each.name for each in world.model.requests[-1].tools}

    assert ["memory_graph", "notes"] == names
    assert ids["notes"] == client.assistants.get("notes")["assistant_id"]
    assert {by_name: 1} == dict(first.watermarks)
    assert ["My boat is red", "My bike is blue"] == [each["value"]["content"] for each in notes]
    assert client.store.get_item(["will", "User"], key="User") is None
    assert "Fancy" in tools
    assert "Note" not in tools


def test_the_whole_talk_sent_again_is_kept_once(world: World, graph_client: GraphClient) -> None:
    """With and without ids; a message that was said twice is kept twice; other content replaces."""
    client = graph_client(world.served)
    thread, other = str(uuid4()), str(uuid4())
    post = posting(client, thread)
    talk = ["yes", "no", "yes"]
    for count in (1, 2, 3):
        post(*talk[:count])
    post("yes")
    by_id: dict[str, Any] = {"role": "user", "content": "My name is Wil.", "id": "m1"}

    for content in ("My name is Wil.", "My name is Will."):
        posting(client, other)(input_ := content)
        client.runs.create(
            other,
            "memory_graph",
            input=cast("Any", {"messages": [{**by_id, "content": input_}]}),
            after_seconds=10,
        )

    assert ["yes", "no", "yes", "yes"] == held(client, thread)
    assert 1 == held(client, other).count("My name is Wil.")
    assert 2 == held(client, other).count("My name is Will.")


def test_a_thread_stays_with_one_user(world: World, graph_client: GraphClient) -> None:
    """A run that names another user is refused; a namespace names one as well."""
    client = graph_client(world.served)
    thread = str(uuid4())
    posting(client, thread)("My name is Will.")

    with pytest.raises(UnprocessableEntityError, match="belongs to"):
        posting(client, thread, config={"configurable": {"user_id": "ada"}})("x")
    named = posting(client, str(uuid4()), config={"configurable": {"namespace": ["deep", "er"]}})
    run = named("My name is Eve.")

    assert ["deep", "er"] == run["kwargs"]["config"]["configurable"]["namespace"]
    world.later(10)
    profile = client.store.get_item(["deep", "er", "User"], key="User")
    assert profile is not None
    assert {"user_name": "Eve"} == profile["value"]


def test_a_model_of_a_stranger_is_not_asked(world: World, graph_client: GraphClient) -> None:
    """A run may name a model that the service offers, and no other."""
    post = posting(graph_client(world.served), str(uuid4()))

    with pytest.raises(UnprocessableEntityError, match="not offered"):
        post("x", config={"configurable": {"user_id": "will", "model": "dear/model"}})
    post("x", config={"configurable": {"user_id": "will", "model": "rules/1"}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"config": {"configurable": {"model": {"a": 1}}}},
        {"config": {"configurable": {"user_id": ["a"]}}},
        {"config": {"configurable": {"namespace": [1]}}},
        {"config": {"configurable": {"memory_types": ["User"]}}},
        {"input": {"messages": [{"role": "ai", "content": "", "tool_calls": "x"}]}},
        {"input": {"messages": [{"role": "nobody", "content": "x"}]}},
        {"input": {"messages": 5}},
    ],
)
def test_what_a_run_cannot_mean_is_refused_and_leaves_nothing(
    world: World, connect: Callable[..., httpx.Client], wrong: dict[str, Any]
) -> None:
    """422, and no thread is made."""
    thread = str(uuid4())
    asked = {"assistant_id": "memory_graph", "if_not_exists": "create", "input": said("x")}
    body = {**asked, **wrong}
    client = connect(world.served)

    answer = client.post(f"/threads/{thread}/runs", json=body)

    assert 422 == answer.status_code, answer.text
    assert 404 == client.get(f"/threads/{thread}").status_code


def test_a_run_whose_message_was_given_up_has_failed(tmp_path: Path) -> None:
    """The thread is in the state error, and joining the run says why."""
    world = World(tmp_path / "memory.db")
    world.model = ScriptedModel(lambda _: "I cannot say.")
    thread = str(uuid4())

    with (
        world.running() as served,
        get_sync_client(url=served.url, api_key=served.key) as client,
    ):
        run = posting(client, thread)("My name is Will.")
        for _ in range(8):
            world.later(7_200)
        found = client.runs.get(thread, run["run_id"])
        assert "error" == found["status"]
        joined = client.runs.join(thread, run["run_id"])
        status = client.threads.get(thread)["status"]

    assert "error" == found["status"]
    assert "error" == status
    assert joined["__error__"]["message"]


@pytest.mark.parametrize("is_alone", [False, True])
def test_a_run_that_is_waited_for_is_formed_at_once(*, is_alone: bool) -> None:
    """The answer is what the thread holds; the messages are formed without a pause before."""
    model = RuleModel()

    def opened() -> AbstractAsyncContextManager[Recollect]:
        return recollect.open("memory:", embedder="none", model=model, formation=ASSISTANTS)

    with (
        serving(opened, model=model) as served,
        get_sync_client(url=served.url, api_key=served.key) as client,
    ):
        thread = None if is_alone else client.threads.create()["thread_id"]
        made: list[Any] = []
        found = client.runs.wait(
            cast("str", thread),
            "memory_graph",
            input=said("I live in Oslo."),
            config={"configurable": {"user_id": "will"}},
            on_run_created=made.append,
        )
        profile = client.store.get_item(["will", "User"], key="User")

    assert ["I live in Oslo."] == [each["content"] for each in cast("Any", found)["messages"]]
    assert {"home": "Oslo"} == profile["value"]
    assert thread in {None, made[0]["thread_id"]}


def test_waiting_needs_to_read(
    world: World, graph_client: GraphClient, new_key: Callable[..., str]
) -> None:
    """A key that may write alone keeps nothing by waiting, and is told nothing."""
    key = new_key(world.served, "write", "below", scope=("writer",))
    client = graph_client(world.served, key)

    with pytest.raises((httpx.HTTPStatusError, APIError), match=r"403|read"):
        client.runs.wait(str(uuid4()), "memory_graph", input=said("x"), if_not_exists="create")


def test_threads_of_one_key_are_unknown_to_another(
    world: World, graph_client: GraphClient, new_key: Callable[..., str]
) -> None:
    """Neither thread nor run is found, searched, changed or deleted from beside."""
    client = graph_client(world.served)
    thread = str(uuid4())
    run = posting(client, thread)("My name is Will.")
    key = new_key(world.served, "read", "write", "below", "erase", scope=("beside",))
    other = graph_client(world.served, key)

    attacks: list[Callable[[], Any]] = [
        partial(other.threads.get, thread),
        partial(other.threads.get_state, thread),
        partial(other.threads.update, thread, metadata={"x": 1}),
        partial(other.threads.delete, thread),
        partial(other.runs.list, thread),
        partial(other.runs.get, thread, run["run_id"]),
        partial(other.runs.cancel, thread, run["run_id"]),
        partial(other.runs.delete, thread, run["run_id"]),
        partial(other.runs.join, thread, run["run_id"]),
        partial(other.runs.create, thread, "memory_graph", input=said("x")),
        partial(other.runs.wait, thread, "memory_graph", input=said("x")),
    ]

    for attack in attacks:
        with pytest.raises((NotFoundError, httpx.HTTPStatusError), match=r"404|not found"):
            attack()
    assert [] == other.threads.search()
    own = posting(other, thread)("I am somebody else.")
    assert own["thread_id"] == thread
    assert 1 == len(held(client, thread))


def test_documents_without_the_keys_scope_are_caught(
    world: World,
    graph_client: GraphClient,
    new_key: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The walk above notices a service that keeps the threads of all keys in one place."""
    client = graph_client(world.served)
    other = graph_client(world.served, new_key(world.served, "read", scope=("beside",)))
    for module in (kept, threads):
        monkeypatch.setattr(module, "documents_scope", lambda _, thread: (RESERVED, "all", thread))
    thread = client.threads.create()["thread_id"]

    assert thread == other.threads.get(thread)["thread_id"]


def test_a_deleted_thread_leaves_its_memories_and_an_erased_one_nothing(
    world: World, graph_client: GraphClient, connect: Callable[..., httpx.Client]
) -> None:
    """Deleting takes messages and runs; erasing the scope also takes what clients wrote beside."""
    client = graph_client(world.served)
    thread, erased = str(uuid4()), str(uuid4())
    for each, text in ((thread, "My name is Will."), (erased, "I live in Oslo.")):
        posting(client, each)(text)
        world.later(10)

    client.threads.delete(thread)

    with pytest.raises(NotFoundError):
        client.threads.get(thread)
    assert client.store.get_item(["will", "User"], key="User") is not None
    http = connect(world.served)
    target = {"target": {"scope": True}}
    shown = http.post("/v1/erase/preview", params={"scope": "will"}, json=target).json()
    http.post("/v1/erase", params={"scope": "will"}, json={"confirm": shown["confirm"]})
    with pytest.raises(NotFoundError):
        client.threads.get(erased)
    assert [] == client.threads.search()
    assert client.store.get_item(["will", "User"], key="User") is None


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_conversation_that_is_sent_again_brings_nothing_erased_back(
    world: World, graph_client: GraphClient, gone: int, *, has_ids: bool
) -> None:
    """Wherever it stood; nor is what is left of it kept twice."""
    client = graph_client(world.served)
    thread = str(uuid4())
    talk = ["My name is Will.", "My cat is Tom.", "I live in Oslo.", "I like tea.", "I row."]

    def post(count: int) -> None:
        whole = enumerate(said(*talk[:count])["messages"])
        messages = [{**each, "id": f"m{at}"} if has_ids else each for at, each in whole]
        posting(client, thread)(input={"messages": messages})

    post(4)
    kept = world.do(lambda memory: memory.messages(WILL, thread)).rows
    target = EraseMessages(thread=thread, messages=[kept[gone].id])
    world.do(lambda memory: memory.erase(WILL, target))
    left = [*talk[:gone], *talk[gone + 1 :]]

    post(4)
    assert left[:3] == held(client, thread)
    post(5)
    assert left == held(client, thread)


def test_runs_posted_at_the_same_time_all_keep_their_messages(world: World) -> None:
    """With rollback one run is left of those that were posted at once, and it covers them all."""
    thread = str(uuid5(NAMESPACE_URL, "at once"))

    async def post(client: LangGraphClient, number: int) -> Any:
        return await client.runs.create(
            thread,
            "memory_graph",
            input=said(f"My toy {number} is red."),
            config={"configurable": {"user_id": "will"}},
            multitask_strategy="rollback",
            after_seconds=10,
        )

    async def story() -> tuple[Any, Any]:
        async with get_client(url=world.served.url, api_key=world.served.key) as client:
            await client.threads.create(thread_id=thread)
            await asyncio.gather(*(post(client, number) for number in range(8)))
            return await client.runs.list(thread), await client.threads.get_state(thread)

    runs, state = asyncio.run(story())

    assert ["pending"] == [each["status"] for each in runs]
    assert 8 == len(state["values"]["messages"])
    (formation,) = world.later(10)
    assert {thread: 8} == dict(formation.watermarks)


def test_it_says_that_it_lives(world: World) -> None:
    """/ok and /info answer without a key, as Studio and load balancers ask them."""
    assert {"ok": True} == httpx.get(f"{world.served.url}/ok").json()
    info = httpx.get(f"{world.served.url}/info").json()
    assert {"version", "flags"} <= info.keys()
