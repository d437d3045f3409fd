"""A checkpointer that is bound to a scope: plain ids are threads of it."""

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.graph import END, START, MessagesState, StateGraph

import recollect
from recollect import EraseScope, EraseThread, SyncRecollect, UsageError
from recollect.errors import StoreClosedError
from recollect.integrations.langchain.middleware import FormationMiddleware, RecallMiddleware
from recollect.integrations.langgraph import GraphCaller, checkpointer, thread_id_of
from recollect.integrations.langgraph.saver_base import CompleteSaver, warn_of_no_scope
from recollect.integrations.langgraph.scoped_saver import ScopedSaver
from tests.harness.installed_servers import require_database

ADA, BOB = ("ada",), ("bob",)
SECRET = "My cat is called Tom."


class User(TypedDict):
    """The context of a run."""

    user: str


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(file: Path) -> Iterator[SyncRecollect]:
    with recollect.open_sync(str(file), embedder="none") as memory:
        yield memory


def whose(caller: GraphCaller) -> tuple[str, ...]:
    return (caller.configurable["user"],)


def config(thread_id: object, **more: Any) -> Any:
    return {"configurable": {"thread_id": thread_id, **more}}


def graph(saver: CompleteSaver) -> Any:
    built = StateGraph(MessagesState)
    built.add_node("answer", lambda _: {"messages": [AIMessage("I see.")]})
    built.add_edge(START, "answer")
    built.add_edge("answer", END)
    return built.compile(checkpointer=saver)


def say(app: Any, text: str, thread: Any) -> list[str]:
    state = app.invoke({"messages": [("user", text)]}, thread)
    return [each.content for each in state["messages"]]


def checkpoint_bytes(file: Path) -> bytes:
    return b"".join(each.read_bytes() for each in file.parent.glob(f"{file.name}-checkpoints*"))


def test_erasing_a_user_erases_what_an_agent_with_plain_ids_kept(
    memory: SyncRecollect, file: Path
) -> None:
    middleware = [RecallMiddleware(memory, ADA), FormationMiddleware(memory, ADA)]
    with checkpointer(memory, scope=ADA) as saver:
        agent: Any = create_agent(
            FakeListChatModel(responses=["I see."]), middleware=middleware, checkpointer=saver
        )
        say(agent, SECRET, config("one"))
        assert SECRET.encode() in checkpoint_bytes(file)
        assert ["one"] == [each.id for each in memory.threads(ADA).rows]

        memory.erase(ADA, EraseScope(below=True))

        assert {} == agent.get_state(config("one")).values
    assert SECRET.encode() not in checkpoint_bytes(file)


def test_one_id_in_two_scopes_is_two_threads(memory: SyncRecollect) -> None:
    with checkpointer(memory, scope=whose) as saver:
        app = graph(saver)
        say(app, SECRET, config("one", user="ada"))

        assert ["Hi", "I see."] == say(app, "Hi", config("one", user="bob"))

        memory.erase(BOB, EraseThread(thread="one"))
        assert {} == app.get_state(config("one", user="bob")).values
        assert 2 == len(app.get_state(config("one", user="ada")).values["messages"])


def test_a_function_may_read_the_context_of_the_run(memory: SyncRecollect) -> None:
    """In a subgraph that keeps checkpoints, too."""
    inner = StateGraph(MessagesState)
    inner.add_node("answer", lambda _: {"messages": [AIMessage("Inner.")]})
    inner.add_edge(START, "answer")
    outer = StateGraph(MessagesState, context_schema=User)
    outer.add_node("inner", inner.compile(checkpointer=True))
    outer.add_edge(START, "inner")
    with checkpointer(memory, scope=lambda caller: (caller.context["user"],)) as saver:
        app: Any = outer.compile(checkpointer=saver)
        users: list[User] = [{"user": "ada"}, {"user": "bob"}, {"user": "ada"}]
        lengths = [
            len(app.invoke({"messages": [("user", "Hi")]}, config("one"), context=who)["messages"])
            for who in users
        ]
        assert isinstance(saver, ScopedSaver)
        listed = {each.config["configurable"]["thread_id"] for each in saver.inner.list(None)}
        assert {"ada//one", "bob//one"} == listed

    assert [2, 2, 4] == lengths


def test_an_id_of_another_scope_is_refused(memory: SyncRecollect) -> None:
    bobs = config(thread_id_of(BOB, "one"))
    with checkpointer(memory) as saver:
        say(graph(saver), SECRET, bobs)
    with checkpointer(memory, scope=ADA) as saver:
        app = graph(saver)
        for act in (
            lambda: say(app, "Hi", bobs),
            lambda: app.get_state(bobs),
            lambda: saver.delete_thread("bob//one"),
            lambda: saver.copy_thread("bob//one", "mine"),
            lambda: saver.prune(["bob//one"]),
        ):
            with pytest.raises(UsageError, match=r"'bob//one' names a thread of the scope"):
                act()
        assert [] == list(saver.list(None))
    with checkpointer(memory) as saver:
        assert list(saver.list(bobs))


def test_configs_have_the_id_that_was_given(memory: SyncRecollect) -> None:
    with checkpointer(memory, scope=ADA) as saver:
        app = graph(saver)
        say(app, SECRET, config(7))
        say(app, SECRET, config(thread_id_of(ADA, "own")))

        history = list(app.get_state_history(config(7)))

        assert {"7"} == {each.config["configurable"]["thread_id"] for each in history}
        replayed = app.invoke(None, history[-1].config)
        assert SECRET == replayed["messages"][0].content
        listed = {each.config["configurable"]["thread_id"] for each in saver.list(None)}
        assert {"ada//7", "ada//own"} == listed
        assert 2 == len(list(saver.list(None, limit=2)))


def test_a_function_of_the_run_needs_a_run(memory: SyncRecollect) -> None:
    with checkpointer(memory, scope=whose) as saver:
        for act in (lambda: saver.list(None), lambda: saver.delete_thread("one")):
            with pytest.raises(UsageError, match="does not say whose thread it is"):
                act()


def test_a_key_that_the_run_has_not_is_named(memory: SyncRecollect) -> None:
    has = r"reads 'user'.*configurable has 'thread_id'"
    with checkpointer(memory, scope=whose) as saver, pytest.raises(UsageError, match=has) as told:
        say(graph(saver), "Hello", config("one"))

    assert isinstance(told.value.__cause__, KeyError)
    assert "context nothing" in str(told.value)


def test_messages_are_mirrored_into_the_scope(memory: SyncRecollect) -> None:
    with checkpointer(memory, scope=whose, mirror=True) as saver:
        app = graph(saver)
        for text in (SECRET, "And my dog Rex."):
            say(app, text, config("one", user="ada"))

    found = [each.text for each in memory.messages(ADA, "one").rows]
    assert [SECRET, "I see.", "And my dog Rex.", "I see."] == found


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_the_conformance_kit_passes_within_a_scope(kind: str, file: Path) -> None:
    url = str(file) if kind == "sqlite" else require_database("checkpoints")

    @checkpointer_test(name="ours")
    async def ours() -> AsyncIterator[CompleteSaver]:
        async with checkpointer(url, scope=("conformance",)) as saver:
            yield saver

    report = await validate(ours)

    assert {each.value for each in Capability} == {
        name for name, each in report.results.items() if each.detected and each.passed
    }


def test_a_plain_id_without_a_scope_is_warned_of_once(
    memory: SyncRecollect, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_no_scope.cache_clear()
    caplog.set_level(logging.WARNING)
    with checkpointer(memory, scope=ADA) as bound, checkpointer(memory) as saver:
        say(graph(bound), "Hi", config("one"))
        say(graph(saver), "Hi", config(thread_id_of(ADA, "two")))
        assert [] == caplog.messages
        for thread in ("one", "two"):
            say(graph(saver), "Hi", config(thread))

    (warned,) = caplog.messages
    assert "checkpointer(memory, scope=...)" in warned


@pytest.mark.parametrize("scope", [None, ADA])
def test_a_saver_after_its_block_says_that_it_is_closed(
    memory: SyncRecollect, scope: tuple[str, ...] | None
) -> None:
    with checkpointer(memory, scope=scope) as saver:
        app = graph(saver)
        say(app, "Hi", config(thread_id_of(ADA, "one")))
    for act in (
        lambda: say(app, "Hi", config(thread_id_of(ADA, "one"))),
        lambda: saver.delete_for_runs(["one"]),
    ):
        with pytest.raises(StoreClosedError, match="checkpointer is closed"):
            act()


async def test_a_plain_with_on_the_memorys_loop_names_async_with() -> None:
    async with recollect.open("memory:", embedder="none") as memory:
        with pytest.raises(UsageError, match="async with checkpointer"), checkpointer(memory):
            pass


def test_a_scope_is_checked_at_once(memory: SyncRecollect) -> None:
    with pytest.raises(UsageError):
        checkpointer(memory, scope=7)  # type: ignore[arg-type]
