"""Erasing a thread erases its graph checkpoints, including the bytes in their files."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

import recollect
from recollect import NewMessage, StoreUnavailableError
from recollect.integrations.langgraph import checkpointer, thread_id_of
from recollect.integrations.langgraph.saver_base import CompleteSaver
from recollect.records import Scope
from recollect.stores.checkpoint_threads import CheckpointThreads
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.postgres import store as cleaning
from recollect.stores.postgres import store as postgres_store
from recollect.stores.sqlite import checkpoints as files
from recollect.stores.sqlite.store import SQLiteStore
from tests.harness.installed_servers import open_own_postgres
from tests.harness.postgres_server import PostgresServer

ADA, ADAS_PETS, BOB = ("users", "ada"), ("users", "ada", "pets"), ("users", "ad")
CANARY = "canary-in-the-mine"
THREADS = [(ADA, "talk"), (ADA, "other"), (ADAS_PETS, "talk"), (BOB, "talk"), (("users",), "ada/")]


def keep(saver: CompleteSaver, thread_id: str, word: str) -> None:
    """Save some checkpoints and writes of a thread in which *word* stands, and prune some."""
    parent: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    for number in range(8):
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": [f"{word} {number} " * 40], "one": word}
        checkpoint["channel_versions"] = {"messages": str(number), "one": str(number)}
        saved = saver.put(
            parent,
            checkpoint,
            {"source": "loop", "step": number, "run_id": word},
            checkpoint["channel_versions"],
        )
        saver.put_writes(saved, [("messages", [f"{word} {number} " * 30])], "task", word)
        parent = saved


def held(saver: CompleteSaver) -> set[tuple[Scope, str]]:
    """Return the threads that have a checkpoint."""
    return {
        place
        for place in THREADS
        if saver.get_tuple({"configurable": {"thread_id": thread_id_of(*place)}})
    }


async def tell_and_erase(
    url: str, scope: Scope, target: EraseTarget, actor: str | None = None
) -> tuple[set[tuple[Scope, str]], bool]:
    """Fill all threads, erase; return the threads that hold a checkpoint, and if all is clean."""
    async with (
        recollect.open(url, embedder="none", worker=False) as memory,
        checkpointer(memory) as saver,
    ):
        for place in THREADS:
            word = "harmless" if place[0] == BOB else CANARY
            said = NewMessage(role="user", id="m1", text="hello", source=f"of {place[1]}")
            await memory.append(*place, [said])
            await asyncio.to_thread(keep, saver, thread_id_of(*place), word)
        used = memory if actor is None else memory.acting(actor)
        receipt = await used.erase(scope, target)
        return held(saver), receipt.clean_at is not None


TARGETS: list[tuple[EraseTarget, set[tuple[Scope, str]]]] = [
    (EraseThread(thread="talk"), {(ADA, "talk")}),
    (EraseMessages(thread="talk", messages=["m1"]), {(ADA, "talk")}),
    (EraseSource(source="of other"), {(ADA, "other")}),
    (EraseScope(), {(ADA, "talk"), (ADA, "other")}),
    (EraseScope(below=True), {(ADA, "talk"), (ADA, "other"), (ADAS_PETS, "talk")}),
    (EraseMemory(type="Note", key="k"), set()),
]


@pytest.mark.parametrize("kind", ["memory:", "sqlite"])
@pytest.mark.parametrize(("target", "lost"), TARGETS, ids=lambda each: type(each).__name__)
async def test_an_erase_takes_the_checkpoints(
    target: EraseTarget, lost: set[tuple[Scope, str]], kind: str, tmp_path: Path
) -> None:
    """Those of the thread or scope, and of no other whose name begins alike."""
    url = kind if kind == "memory:" else f"sqlite:///{tmp_path}/store.db"

    left, is_clean = await tell_and_erase(url, ADA, target)

    assert (set(THREADS) - lost, True) == (left, is_clean)


@pytest.mark.parametrize("kind", ["memory:", "sqlite"])
async def test_an_erase_that_is_audited_takes_them_as_well(kind: str, tmp_path: Path) -> None:
    """As the service erases, in the name of a key."""
    url = kind if kind == "memory:" else f"sqlite:///{tmp_path}/store.db"

    left, is_clean = await tell_and_erase(url, ADA, EraseThread(thread="talk"), "key-1")

    assert (set(THREADS) - {(ADA, "talk")}, True) == (left, is_clean)


def canaries(folder: Path) -> list[str]:
    return [
        path.name
        for path in sorted(folder.iterdir())
        if path.is_file() and CANARY.encode() in path.read_bytes()
    ]


async def erase_all(folder: Path) -> None:
    """Fill all threads, then erase all that hold a canary, while the saver stays open."""
    async with (
        recollect.open(f"{folder}/store.db", embedder="none", worker=False) as memory,
        checkpointer(memory) as saver,
    ):
        for place in THREADS:
            word = "harmless" if place[0] == BOB else CANARY
            await asyncio.to_thread(keep, saver, thread_id_of(*place), word)
        assert canaries(folder)
        await memory.erase(ADA, EraseScope(below=True))
        await memory.erase(("users",), EraseScope())
        assert [] == await memory.receipts(unclean=True)
        found = canaries(folder)
        assert {(BOB, "talk")} == held(saver)
    assert found == canaries(folder)


@pytest.mark.parametrize("version", ["3.40.1", "3.51.3"], ids=["without log", "with log"])
async def test_no_byte_is_left_in_any_file(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the file of the checkpoints nor in its log, as soon as the receipt is clean."""
    monkeypatch.setattr(sqlite3, "sqlite_version", version)

    await erase_all(tmp_path)

    assert [] == canaries(tmp_path)


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the checkpoints stay": lambda patch: patch.setattr(
        files, "erase_checkpoints", lambda *_, **__: None
    ),
    "the log is not cut": lambda patch: patch.setattr(
        files, "remove_erased_bytes", lambda *_, **__: None
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
async def test_careless_erasing_would_be_noticed(
    mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.51.3")
    MUTANTS[mutant](monkeypatch)

    try:
        await erase_all(tmp_path)
    except AssertionError:
        return

    assert [] != canaries(tmp_path)


async def test_an_erase_of_another_process_takes_them_too(tmp_path: Path) -> None:
    """The command line, which knows nothing of LangGraph, while a saver is open here."""
    store = f"{tmp_path}/store.db"
    async with recollect.open(store, embedder="none", worker=False) as memory:
        await memory.append(ADA, "talk", [NewMessage(role="user", text="hello")])
    program = (
        "import sys; from recollect.cli import main\n"
        "try: main()\n"
        "finally: assert not any(name.startswith('langgraph') for name in sys.modules)\n"
    )
    command = ["erase", "--store", store, "--scope", "users/ada", "--thread", "talk", "--yes"]
    with checkpointer(store) as saver:
        keep(saver, thread_id_of(ADA, "talk"), CANARY)
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", program, *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

        assert (0, "") == (done.returncode, done.stderr), done.stdout
        assert set() == held(saver)
        assert [] == canaries(tmp_path)


async def test_a_locked_file_leaves_the_talk(tmp_path: Path) -> None:
    """Nothing is called erased as long as a copy cannot be; the call can be repeated."""
    store = SQLiteStore(f"{tmp_path}/store.db", lock_wait_s=0.1)
    thread_id = thread_id_of(ADA, "talk")
    async with store:
        await store.append(ADA, "talk", [NewMessage(role="user", text="hello")])
        with checkpointer(f"{tmp_path}/store.db") as saver:
            keep(saver, thread_id, CANARY)
            with closing(sqlite3.connect(f"{tmp_path}/store.db-checkpoints")) as other:
                other.execute("BEGIN EXCLUSIVE")
                with pytest.raises(StoreUnavailableError, match="locked"):
                    await store.erase(ADA, EraseThread(thread="talk"))
                assert 1 == len((await store.messages(ADA, "talk")).rows)
                other.rollback()

            await store.erase(ADA, EraseThread(thread="talk"))

            assert () == (await store.messages(ADA, "talk")).rows
            assert set() == held(saver)


async def test_a_receipt_is_not_clean_while_bytes_may_be_left(tmp_path: Path) -> None:
    """Another connection reads from the log of the checkpoints: the next cleaning does it."""
    store = SQLiteStore(f"{tmp_path}/store.db", lock_wait_s=0.1)
    async with store:
        with checkpointer(f"{tmp_path}/store.db") as saver:
            keep(saver, thread_id_of(ADA, "talk"), CANARY)
            await store.erase(ADA, EraseThread(thread="talk"))
            with closing(sqlite3.connect(f"{tmp_path}/store.db-checkpoints")) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StoreUnavailableError):
                    await store.clean()
                waiting = await store.receipts(unclean=True)
                other.rollback()
            await store.clean()

            assert 1 == len(waiting)
            assert [] == await store.receipts(unclean=True)
            assert [] == canaries(tmp_path)


def test_an_erase_meanwhile_is_cleaned_as_well(tmp_path: Path) -> None:
    """Who has cleaned takes back only the mark of the erase after which it began."""
    file = f"{tmp_path}/store.db-checkpoints"
    with checkpointer(f"{tmp_path}/store.db") as saver:
        keep(saver, thread_id_of(ADA, "talk"), CANARY)
        keep(saver, thread_id_of(ADA, "other"), CANARY)
        files.erase_checkpoints(file, CheckpointThreads(ids=(thread_id_of(ADA, "talk"),)))
        cut = files._truncate_log

        def cut_late(connection: sqlite3.Connection, name: str) -> None:
            cut(connection, name)
            files.erase_checkpoints(file, CheckpointThreads(ids=(thread_id_of(ADA, "other"),)))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "_truncate_log", cut_late)
            files.remove_erased_bytes(file)
        files.remove_erased_bytes(file)

        assert [] == canaries(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Yield a server whose files no other test writes."""
    with open_own_postgres() as server:
        yield server


def on_server(server: PostgresServer, database: str) -> list[str]:
    server.execute("CHECKPOINT")
    found = server.execute(f"SELECT oid FROM pg_database WHERE datname = '{database}'")  # noqa: S608
    return canaries(server.folder / "data" / "base" / str(found[0][0]))


@pytest.mark.parametrize(("target", "lost"), TARGETS, ids=lambda each: type(each).__name__)
def test_on_a_server_an_erase_takes_the_checkpoints(
    server: PostgresServer, target: EraseTarget, lost: set[tuple[Scope, str]]
) -> None:
    url = server.make_database(f"erased_{type(target).__name__.lower()}_{len(lost)}")

    left, is_clean = asyncio.run(tell_and_erase(url, ADA, target))

    assert (set(THREADS) - lost, True) == (left, is_clean)


@pytest.mark.parametrize("mutant", [False, True], ids=["ours", "tables not written anew"])
def test_on_a_server_no_byte_is_left(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch, *, mutant: bool
) -> None:
    """No file of a table or index keeps the words of checkpoints, writes or blobs."""
    name = f"cleaned_{mutant}".lower()
    url = server.make_database(name)
    if mutant:
        monkeypatch.setattr(cleaning, "rewrite_checkpoints", lambda *_: None)

    async def erase() -> None:
        async with recollect.open(url, embedder="none", worker=False) as memory:
            async with checkpointer(url) as saver:
                await asyncio.to_thread(keep, saver, thread_id_of(ADA, "talk"), CANARY)
            assert on_server(server, name)
            await memory.erase(ADA, EraseThread(thread="talk"))
            assert [] == await memory.receipts(unclean=True)

    asyncio.run(erase())

    assert mutant == bool(on_server(server, name))


def test_tables_of_others_are_left_alone(server: PostgresServer) -> None:
    """A table called as one of LangGraph's, without the others, belongs to somebody else."""
    url = server.make_database("others")
    asyncio.run(postgres_store.PostgresStore(url).aclose())
    server.execute("CREATE TABLE checkpoints (thread_id text, lap int)", "others")
    server.execute(f"INSERT INTO checkpoints VALUES ('{thread_id_of(ADA, 'talk')}', 1)", "others")  # noqa: S608

    async def erase() -> None:
        async with postgres_store.PostgresStore(url) as store:
            await store.erase(ADA, EraseThread(thread="talk"))
            await store.clean()

    asyncio.run(erase())

    assert [(1,)] == server.execute("SELECT lap FROM checkpoints", "others")
