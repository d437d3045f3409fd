"""The guard of event loops notices what stops one, and lets be what a caller means to wait for."""

import asyncio
from pathlib import Path
from typing import Any

import apsw
import pytest
from blockbuster import BlockingError

import recollect
from recollect import NewMessage, Recollect
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.sqlite.store import SQLiteStore
from recollect.sync.bridge import AsyncBridge
from recollect.sync.method_pairs import PairCall, delegated_pair
from recollect.sync.object_home import Home
from tests.harness.loop_guard import guarded_loops

ADA = ("users", "ada")
TESTS = Path(__file__).parents[1]


async def read_one(memory: Recollect) -> int:
    return len(await memory.last_messages(ADA, "talk", limit=1))


def waiting_submission(self: AsyncBridge[Recollect], function: Any, memory: Recollect) -> Any:
    """Submit as AnyIO's portal does: it waits until the other loop takes the task."""
    assert self._portal is not None
    return self._portal.start_task_soon(function, memory)


def reading_in_place(self: SQLiteStore, query: Any) -> Any:
    """Read on the thread of the loop."""
    return asyncio.sleep(0, self._readers.run_here(query))


def test_a_submission_that_waits_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: an awaited method over a `SyncRecollect` that stops the caller's loop."""
    monkeypatch.setattr(AsyncBridge, "_submitted", waiting_submission)
    with recollect.open_sync(embedder="none") as memory:
        with guarded_loops(TESTS) as found, pytest.raises(BlockingError):
            asyncio.run(Home(memory).visit(read_one))
        assert "BlockingPortal.start_task_soon" in {each.function for each in found}
        assert "home.py" in str(found[0])


def test_sqlite_on_a_loop_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a store that reads a file on the thread of the loop."""

    async def use() -> None:
        async with recollect.open(str(tmp_path / "memory.db"), embedder="none") as memory:
            await memory.append(ADA, "talk", [NewMessage(role="user", text="Hello")])
            monkeypatch.setattr(SQLiteStore, "_read", reading_in_place)
            with guarded_loops(TESTS) as found:
                with pytest.raises(BlockingError):
                    await read_one(memory)
                assert found

    asyncio.run(use())


def test_the_driver_on_a_loop_is_noticed(tmp_path: Path) -> None:
    """Of which the guard that is built on knows nothing."""
    path = str(tmp_path / "memory.db")
    SQLiteStore(path)
    rows = SQLiteRows(apsw.Connection(path))

    async def use() -> None:
        rows.secret()

    with guarded_loops(Path("/elsewhere")) as found, pytest.raises(BlockingError):
        asyncio.run(use())
    assert ["Connection.execute"] == [each.function for each in found]


def test_who_calls_the_synchronous_api_means_to_wait(tmp_path: Path) -> None:
    """A coroutine of a test that opens a memory and calls it, as a notebook does."""

    async def use() -> int:
        with recollect.open_sync(str(tmp_path / "memory.db"), embedder="none") as memory:
            memory.append(ADA, "talk", [NewMessage(role="user", text="Hello")])
            return memory.call(read_one)

    with guarded_loops(TESTS) as found:
        assert 1 == asyncio.run(use())
    assert [] == found


def test_another_coroutine_that_waits_is_noticed() -> None:
    """The exemption is for those below the folder that is named."""
    with recollect.open_sync(embedder="none") as memory:

        async def use() -> int:
            return memory.call(read_one)

        with guarded_loops(Path("/elsewhere")) as found, pytest.raises(BlockingError):
            asyncio.run(use())
        assert found


async def _read(memory: recollect.SyncRecollect, call: PairCall) -> int:
    async def aread() -> int:
        return await memory.acall(read_one)

    return await call(lambda: memory.call(read_one), aread)


read, aread = delegated_pair(_read)


@pytest.mark.parametrize(("callers", "is_noticed"), [(TESTS, False), (Path("/elsewhere"), True)])
def test_a_pair_run_in_place_belongs_to_its_caller(callers: Path, is_noticed: bool) -> None:  # noqa: FBT001 (a parameter of the test)
    """No loop awaits its coroutine: the one counts that called the method without ``await``."""
    with recollect.open_sync(embedder="none") as memory:

        async def use() -> int:
            return read(memory)

        with guarded_loops(callers) as found:
            if is_noticed:
                with pytest.raises(BlockingError):
                    asyncio.run(use())
            else:
                assert 0 == asyncio.run(use())
                assert 0 == asyncio.run(aread(memory))
        assert is_noticed == bool(found)
