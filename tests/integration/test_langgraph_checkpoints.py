"""The threads of graphs: LangGraph's own saver, opened, migrated and completed."""

import asyncio
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID, uuid4

import pytest
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from psycopg.errors import UniqueViolation

import recollect
from recollect import UsageError
from recollect.errors import ConflictError, MissingExtraError, NotFoundError, StoreError
from recollect.integrations.langgraph import checkpointer, thread_id_of, thread_of
from recollect.integrations.langgraph.saver_base import CompleteSaver
from recollect.integrations.langgraph.sqlite_saver import SQLiteCheckpoints
from recollect.stores.sqlite import checkpoints as files
from recollect.stores.sqlite import engine
from tests.harness.installed_servers import require_database, require_redis

ADA = ("acme", "ada@example.org")
REDIS = 7
KINDS = ("memory", "sqlite", "postgres")


class State(TypedDict):
    """The talk of a graph."""

    messages: Annotated[list[AnyMessage], add_messages]


def answer(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage(f"You said: {state['messages'][-1].content}")]}


def graph(saver: CompleteSaver | Literal[True]) -> Any:
    built = StateGraph(State)
    built.add_node("answer", answer)
    built.add_edge(START, "answer")
    built.add_edge("answer", END)
    return built.compile(checkpointer=saver)


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return require_database("checkpoints")
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/store.db"


@pytest.fixture
def saver(url: str) -> Iterator[CompleteSaver]:
    with checkpointer(url) as saver:
        saver.prune(["t", "u", "copy", "empty"], strategy="delete")
        yield saver


def config(thread_id: str, **more: Any) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **more}}


def put(saver: CompleteSaver, into: RunnableConfig, value: str, **metadata: Any) -> RunnableConfig:
    """Save a checkpoint whose channel holds *value*; return its config."""
    version = saver.get_next_version(value, None) if value.isdigit() else "1"
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"channel": [value]}
    checkpoint["channel_versions"] = {"channel": version}
    given: CheckpointMetadata = {"source": "loop", "step": 1, "parents": {}, **metadata}  # type: ignore[typeddict-item]
    return saver.put(into, checkpoint, given, {"channel": version})


def values(saver: CompleteSaver, thread_id: str) -> list[str]:
    found = saver.list({"configurable": {"thread_id": thread_id}})
    return [each.checkpoint["channel_values"]["channel"][0] for each in found]


async def test_the_conformance_kit_passes(url: str) -> None:
    """Every base capability, and the three that LangGraph's own savers lack."""

    @checkpointer_test(name="ours")
    async def ours() -> AsyncIterator[CompleteSaver]:
        async with checkpointer(url) as saver:
            yield saver

    report = await validate(ours)

    assert {each.value for each in Capability} == {
        name for name, each in report.results.items() if each.detected and each.passed
    }


def test_the_metadata_names_the_run(saver: CompleteSaver) -> None:
    """The one of the config, as documented; without one there is none."""
    run, app = uuid4(), graph(saver)
    app.invoke({"messages": [("user", "hello")]}, config("t"))
    assert "run_id" not in app.get_state(config("t")).metadata

    app.invoke({"messages": [("user", "hello")]}, {**config("t"), "run_id": run})

    assert str(run) == app.get_state(config("t")).metadata["run_id"]
    found = [*saver.list(None, filter={"run_id": str(run)})]
    assert {"input", "loop"} == {each.metadata["source"] for each in found}


BROKEN: dict[str, Callable[[CompleteSaver, Any], None]] = {
    "copy_thread": lambda *_: None,
    "delete_for_runs": lambda *_: None,
    "prune": lambda saver, threads: saver.prune(threads, strategy="delete"),
}


@pytest.mark.parametrize("lost", BROKEN)
async def test_the_kit_notices_what_is_broken(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutants: nothing is copied, no run is deleted, the latest goes with the others."""

    async def broken(self: CompleteSaver, given: Any, *_: Any, **__: Any) -> None:
        if given:
            BROKEN[lost](self, given)

    monkeypatch.setattr(SQLiteCheckpoints, f"a{lost}", broken)

    @checkpointer_test(name="broken")
    async def mutant() -> AsyncIterator[CompleteSaver]:
        async with checkpointer("memory:") as saver:
            yield saver

    report = await validate(mutant)

    assert {lost} == {name for name, each in report.results.items() if each.passed is False}


def test_a_graph_goes_on_where_it_was(url: str) -> None:
    """Also after the saver was closed, without await."""
    thread = config(thread_id_of(ADA, "sync"))
    with checkpointer(url) as saver:
        saver.delete_thread(thread_id_of(ADA, "sync"))
        graph(saver).invoke({"messages": [("user", "hello")]}, thread)
        kept = graph(saver).get_state(thread).values["messages"]
    if url == "memory:":
        assert 2 == len(kept)
        return
    with checkpointer(url) as saver:
        found = graph(saver).invoke({"messages": [("user", "again")]}, thread)

    assert ["hello", "You said: hello", "again", "You said: again"] == [
        each.content for each in found["messages"]
    ]


async def test_a_graph_can_be_awaited(url: str) -> None:
    """On the loop of the test, and its history with a loop that writes meanwhile."""
    thread = config(thread_id_of(ADA, "async"))
    async with checkpointer(url) as saver:
        await saver.adelete_thread(thread_id_of(ADA, "async"))
        await graph(saver).ainvoke({"messages": [("user", "hello")]}, thread)
        async for each in saver.alist(thread):
            await saver.aput_writes(each.config, [("note", "seen")], "task")
        state = await graph(saver).aget_state(thread)

    assert 2 == len(state.values["messages"])


def test_a_loop_over_checkpoints_may_write(saver: CompleteSaver) -> None:
    """LangGraph's own savers wait for themselves here, for ever."""
    put(saver, config("t"), "1")

    for each in saver.list(config("t")):
        saver.put_writes(each.config, [("note", "seen")], "task")

    found = saver.get_tuple(config("t"))
    assert found is not None
    assert [("task", "note", "seen")] == found.pending_writes


def test_a_copy_is_whole_and_apart(saver: CompleteSaver) -> None:
    """Its parents, namespaces and writes are the source's; what is deleted of one stays in it."""
    first = put(saver, config("t"), "1")
    second = put(saver, first, "2")
    put(saver, config("t", checkpoint_ns="sub"), "3")
    saver.put_writes(second, [("note", "seen")], "task")

    saver.copy_thread("t", "copy")
    saver.delete_thread("t")

    found = saver.get_tuple(config("copy"))
    assert found is not None
    assert found.parent_config is not None
    assert (
        first["configurable"]["checkpoint_id"]
        == (found.parent_config["configurable"]["checkpoint_id"])
    )
    assert [("task", "note", "seen")] == found.pending_writes
    assert ["3", "2", "1"] == values(saver, "copy")
    assert [] == values(saver, "t")


def test_a_copy_never_mixes_two_threads(saver: CompleteSaver) -> None:
    put(saver, config("t"), "1")
    put(saver, config("copy"), "2")

    with pytest.raises(ConflictError, match="copy to a new thread"):
        saver.copy_thread("t", "copy")
    with pytest.raises(ConflictError):
        saver.copy_thread("t", "t")
    with pytest.raises(NotFoundError, match="no checkpoints"):
        saver.copy_thread("empty", "u")

    assert (["1"], ["2"], []) == (values(saver, "t"), values(saver, "copy"), values(saver, "u"))


def test_the_runs_of_others_stay(saver: CompleteSaver) -> None:
    """What followed a deleted run has no parent any more, instead of one that is not there."""
    first = put(saver, config("t"), "1", run_id="r1")
    second = put(saver, first, "2", run_id="r2")
    put(saver, second, "3", run_id="r3")
    put(saver, config("u"), "4", run_id="r2")

    saver.delete_for_runs(["r2", "'r3' OR 1=1"])

    kept = list(saver.list(config("t")))
    assert (["3", "1"], []) == (values(saver, "t"), values(saver, "u"))
    assert [None, None] == [each.parent_config for each in kept]


@pytest.mark.parametrize(
    "named",
    [
        lambda run: {"run_id": run},
        lambda run: {"run_id": uuid4(), "configurable": {"run_id": str(run)}},
        lambda run: {"run_id": uuid4(), "metadata": {"run_id": str(run)}},
    ],
    ids=["its own", "configurable", "metadata"],
)
def test_a_run_of_a_graph_is_deleted_by_its_id(
    saver: CompleteSaver, named: Callable[[UUID], dict[str, Any]]
) -> None:
    """Also what a subgraph kept in it; another run of the thread stays."""
    outer = StateGraph(State)
    outer.add_node("inner", graph(saver=True))
    outer.add_edge(START, "inner")
    both: Any = outer.compile(checkpointer=saver)
    first, second = uuid4(), uuid4()
    for run in (first, second):
        given = named(run)
        given["configurable"] = {"thread_id": "t", **given.get("configurable", {})}
        both.invoke({"messages": [("user", "hello")]}, given)
    before = list(saver.list({"configurable": {"thread_id": "t"}}))

    saver.delete_for_runs([str(first)])

    left = list(saver.list({"configurable": {"thread_id": "t"}}))
    assert {"", "inner"} == {each.config["configurable"]["checkpoint_ns"] for each in left}
    assert {str(second)} == {each.metadata.get("run_id") for each in left}
    assert 2 * len(left) == len(before)
    assert left == list(saver.list(None, filter={"run_id": str(second)}))


@pytest.mark.parametrize("strategy", ["keep_latest", "delete"])
def test_pruning_leaves_other_threads(saver: CompleteSaver, strategy: str) -> None:
    for thread in ("t", "u"):
        put(saver, put(saver, config(thread), "1"), "2")

    saver.prune(["t"], strategy=strategy)

    assert (["2"] if strategy == "keep_latest" else []) == values(saver, "t")
    assert ["2", "1"] == values(saver, "u")
    found = saver.get_tuple(config("t"))
    assert found is None or found.parent_config is None


def test_the_call_of_a_subgraph_goes_with_what_called_it(saver: CompleteSaver) -> None:
    """The state of a subgraph that has its own, without a task's id in its name, stays."""
    called = put(saver, config("t"), "1")
    parents = {"": called["configurable"]["checkpoint_id"]}
    put(saver, config("t", checkpoint_ns="sub:task"), "call", parents=parents)
    put(saver, config("t", checkpoint_ns="own"), "own", parents=parents)
    put(saver, called, "2")

    saver.prune(["t"])

    assert ["2", "own"] == sorted(values(saver, "t"))


DELTA = {"counters_since_delta_snapshot": {"channel": [1, 1]}}


def test_what_a_channel_of_changes_needs_is_not_deleted(saver: CompleteSaver) -> None:
    """Its state is read from older checkpoints; the newest of them may go all the same."""
    first = put(saver, config("t"), "1", run_id="r1", **DELTA)
    second = put(saver, first, "2", run_id="r2", **DELTA)
    put(saver, second, "3", run_id="r3", **DELTA)

    with pytest.raises(NotImplementedError, match="DeltaChannel"):
        saver.prune(["t"])
    with pytest.raises(NotImplementedError, match="DeltaChannel"):
        saver.delete_for_runs(["r1", "r3"])
    assert ["3", "2", "1"] == values(saver, "t")
    saver.delete_for_runs(["r2", "r3"])

    assert ["1"] == values(saver, "t")


STEPS: list[Callable[[CompleteSaver], None]] = [
    lambda saver: saver.copy_thread("t", "copy"),
    lambda saver: saver.delete_for_runs(["r"]),
    lambda saver: saver.prune(["t"], strategy="delete"),
    lambda saver: saver.prune(["t"]),
]


def broken_off(step: Callable[[CompleteSaver], None]) -> list[list[str]]:
    """Let *step* fail at the second table; return what two threads hold then."""
    with checkpointer("memory:") as saver:
        assert isinstance(saver, SQLiteCheckpoints)
        first = put(saver, config("t"), "1", run_id="r")
        put(saver, first, "2")
        saver.put_writes(first, [("note", "seen")], "task")
        for event in ("INSERT", "DELETE"):
            saver.conn.execute(
                f"CREATE TRIGGER no_{event} BEFORE {event} ON writes "
                "BEGIN SELECT RAISE(ABORT, 'broken off'); END"
            )
        saver.conn.commit()
        with pytest.raises(sqlite3.IntegrityError, match="broken off"):
            step(saver)
        return [values(saver, "t"), values(saver, "copy")]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_fails_changes_nothing(step: Callable[[CompleteSaver], None]) -> None:
    assert [["2", "1"], []] == broken_off(step)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_is_not_whole_would_be_noticed(
    step: Callable[[CompleteSaver], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: LangGraph's own cursor commits also what failed half-way."""
    monkeypatch.setattr(SQLiteCheckpoints, "_transaction", SqliteSaver.cursor)

    assert [["2", "1"], []] != broken_off(step)


@pytest.mark.parametrize(
    "call",
    [
        lambda saver: saver.prune("t"),
        lambda saver: saver.prune(["t"], strategy="some"),
        lambda saver: saver.delete_for_runs("r1"),
    ],
)
def test_a_text_is_no_list(saver: CompleteSaver, call: Callable[[CompleteSaver], None]) -> None:
    put(saver, config("t"), "1", run_id="r")

    with pytest.raises(UsageError):
        call(saver)

    assert ["1"] == values(saver, "t")


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """It stands beside the store's, as do the files that SQLite keeps while it is open."""
    with checkpointer(f"{tmp_path}/store.db") as saver:
        put(saver, config("t"), "1")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}

    assert "store.db-checkpoints" in modes
    assert {0o600} == set(modes.values())


@pytest.mark.parametrize(("version", "journal"), [("3.40.1", "truncate"), ("3.51.3", "wal")])
def test_a_library_that_loses_commits_gets_no_log(
    version: str, journal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangGraph's setup would switch the file to a write-ahead log in any case."""
    monkeypatch.setattr(sqlite3, "sqlite_version", version)

    with checkpointer(f"{tmp_path}/store.db") as saver:
        put(saver, config("t"), "1")
        assert isinstance(saver, SQLiteCheckpoints)
        modes = [
            saver.conn.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "secure_delete")
        ]

    assert [journal, 2, 1] == modes


def test_the_versions_are_those_of_the_store() -> None:
    assert [True, False] == [files._is_fit(each) for each in ("3.51.3", "3.51.2")]
    assert engine.FIXED_IN == (3, 51, 3)


def test_an_older_file_is_migrated(tmp_path: Path) -> None:
    """LangGraph's own steps run when it is opened; what stands in it stays."""
    file = f"{tmp_path}/store.db-checkpoints"
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        old = SqliteSaver(connection)
        old.setup()
        connection.execute("ALTER TABLE writes DROP COLUMN task_path")
        connection.commit()
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"channel": ["old"]}
        old.put(config("t"), checkpoint, {"source": "input"}, {})

    with checkpointer(f"{tmp_path}/store.db") as saver:
        found = values(saver, "t")
        put(saver, config("t"), "new")

        assert ["old"] == found
        saver.put_writes(config("t", checkpoint_id=checkpoint["id"]), [("a", 1)], "task", "path")


def test_many_may_open_a_new_place_at_once(url: str) -> None:
    """The tables are made once, whoever comes first."""

    def open_and_put(number: int) -> None:
        with checkpointer(url) as saver:
            put(saver, config(f"many {number}"), "1")
            saver.delete_thread(f"many {number}")

    with ThreadPoolExecutor(4) as threads:
        try:
            assert [None] * 8 == list(threads.map(open_and_put, range(8)))
        except UniqueViolation as error:  # what LangGraph's setup alone would raise
            pytest.fail(str(error))


def test_names_come_back() -> None:
    """Whatever a scope and a thread are called, also with slashes and percent signs."""
    for scope in (("a",), ("a", "b/c"), ("%2F", "/"), ("a//b", "%"), ("é", "a.b@c", "1_%")):
        for thread in ("t", "/", "a//b", "%2F", "tea / milk"):
            assert (scope, thread) == thread_of(thread_id_of(scope, thread))
    for other in ("t", "", "//", "a//", "//t", "a//b//c", "a/%zz", "a//b/c", "a///b"):
        assert thread_of(other) is None or thread_id_of(*thread_of(other) or ((), "")) == other


@pytest.mark.parametrize("address", ["mysql://host/db", "sqlite://host/file", "sqlite:"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UsageError), checkpointer(address):
        pass


def test_what_cannot_be_opened_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no folder"), checkpointer(f"{tmp_path}/none/store.db"):
        pass
    tmp_path.joinpath("store.db-checkpoints").write_bytes(b"no database at all " * 99)
    with pytest.raises(StoreError, match="not a database"), checkpointer(f"{tmp_path}/store.db"):
        pass


def test_a_saver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph.checkpoint.sqlite", None)
    monkeypatch.delitem(sys.modules, "recollect.integrations.langgraph.sqlite_saver", raising=False)

    with pytest.raises(MissingExtraError, match=r"recollect\[langgraph\]"), checkpointer("memory:"):
        pass


def test_an_open_memory_says_where(tmp_path: Path) -> None:
    with (
        recollect.open_sync(f"{tmp_path}/store.db", embedder="none", worker=False) as memory,
        checkpointer(memory) as saver,
    ):
        put(saver, config("t"), "1")

    assert tmp_path.joinpath("store.db-checkpoints").exists()
    with pytest.raises(UsageError, match="mirror=True"):
        checkpointer(f"{tmp_path}/store.db", mirror=True)
    with pytest.raises(UsageError, match="memory is"):
        checkpointer(3)  # type: ignore[arg-type]


async def test_redis_keeps_no_checkpoints() -> None:
    """An address says so at once, an open memory when it is entered; no password is told."""
    server = require_redis()
    for address in ("redis://:secret@host:6379/0", "rediss://host", "redis+unix:///s?db=1"):
        with pytest.raises(UsageError, match="beside a redis") as told:
            checkpointer(address)
        assert "secret" not in str(told.value)

    async with recollect.open(server.emptied(REDIS), embedder="none", worker=False) as memory:
        with pytest.raises(UsageError, match="address of a file"):
            async with checkpointer(memory):
                pass


def test_a_checkpointer_is_open_once_at_a_time() -> None:
    """Opening it again meanwhile would leave the first connection behind."""
    opened = checkpointer("memory:")

    with opened:
        with pytest.raises(UsageError, match="open already"):
            opened.__enter__()
        with checkpointer("memory:"):
            pass
    with opened as saver:
        assert [] == values(saver, "t")


async def test_both_faces_wait_for_nobody(saver: CompleteSaver) -> None:
    """Many tasks write at once, from a loop on which nothing blocks."""
    configs = [config("t", checkpoint_id=str(number)) for number in range(20)]

    await asyncio.gather(*(saver.aput_writes(each, [("a", 1)], "task") for each in configs))
    await saver.aprune(["t"], strategy="delete")

    assert await saver.aget_tuple(config("t")) is None


def test_a_graph_compiled_with_what_is_not_open_says_what_to_write(tmp_path: Path) -> None:
    """Whatever it is asked first."""
    with recollect.open_sync(str(tmp_path / "m.db"), embedder="none", worker=False) as memory:
        app = graph(checkpointer(memory))  # type: ignore[arg-type] # the fault
        config: RunnableConfig = {"configurable": {"thread_id": "t"}}
        calls: tuple[Callable[[], object], ...] = (
            lambda: app.invoke({"messages": [("user", "Hi")]}, config),
            lambda: asyncio.run(app.ainvoke({"messages": [("user", "Hi")]}, config)),
            lambda: app.get_state(config),
            lambda: [*app.get_state_history(config)],
        )
        for call in calls:
            with pytest.raises(UsageError, match="with checkpointer"):
                call()


def test_a_folder_is_refused_as_a_store_would(tmp_path: Path) -> None:
    """Without a file beside it."""
    folder = tmp_path / "data"
    folder.mkdir()

    with pytest.raises(StoreError, match="is a folder: name a file in it"):
        checkpointer(str(folder)).__enter__()

    assert [folder] == [*tmp_path.iterdir()]
