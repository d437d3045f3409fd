"""The end of a SQLite store: closed, forgotten, or taken along by a fork."""

import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.errors import StoreClosedError
from recollect.records import NewMessage
from recollect.stores.sqlite.store import SQLiteStore

SOURCE = Path(__file__).parents[2] / "src"
ADA = ("users", "ada")


async def say(store: SQLiteStore, text: str) -> None:
    """Append one message to Ada's talk."""
    await store.append(ADA, "talk", [NewMessage(role="user", text=text)])


async def said(store: SQLiteStore) -> list[str]:
    """Return what Ada's talk says."""
    return [each.text for each in (await store.messages(ADA, "talk")).rows]


def names_in(folder: Path) -> set[str]:
    """Return the names of what is in *folder*."""
    return {path.name for path in folder.iterdir()}


async def test_closing_answers_everybody_first(tmp_path: Path) -> None:
    """Calls made before the store is closed are carried out; nothing is left beside the file."""
    store = SQLiteStore(tmp_path / "memory.db")
    calls = [asyncio.create_task(say(store, f"text {number}")) for number in range(5)]
    calls += [asyncio.create_task(said(store)) for _ in range(5)]  # type: ignore[arg-type]
    await asyncio.sleep(0)

    await store.aclose()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert [] == [each for each in outcomes if isinstance(each, BaseException)]
    assert {"memory.db", "memory.db-reserve"} == names_in(tmp_path)


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """After it was closed every call raises `StoreClosedError`; closing again does nothing."""
    store = SQLiteStore(tmp_path / "memory.db")
    await store.aclose()
    await store.aclose()

    for call in (say(store, "x"), said(store), store._clean()):
        with pytest.raises(StoreClosedError, match="was closed: open another"):
            await call


async def test_a_forgotten_store_lets_go(tmp_path: Path) -> None:
    """The threads of a store that nobody closed end when nobody has it any more."""
    store = SQLiteStore(tmp_path / "memory.db")
    await say(store, "first")
    await said(store)
    threads = [store._writer._thread, *store._readers._threads]

    del store
    gc.collect()
    for thread in threads:
        await asyncio.to_thread(thread.join, 10)

    assert [False, False] == [thread.is_alive() for thread in threads]
    assert {"memory.db", "memory.db-reserve"} == names_in(tmp_path)


def test_a_forked_child_may_not_use_the_store(tmp_path: Path) -> None:
    """The child is refused, for whatever it wants; the parent goes on."""
    program = (
        "import asyncio, os, sys, warnings\n"
        "from recollect.errors import StoreClosedError\n"
        "from recollect.records import NewMessage\n"
        "from recollect.stores.sqlite.store import SQLiteStore\n"
        "warnings.simplefilter('ignore')\n"
        "store = SQLiteStore(sys.argv[1])\n"
        "def say():\n"
        "    return store.append(('a',), 't', [NewMessage(role='user', text='x')])\n"
        "def refused(call):\n"
        "    try:\n"
        "        asyncio.run(call())\n"
        "    except StoreClosedError as error:\n"
        "        return 'after the fork' in str(error)\n"
        "    return False\n"
        "asyncio.run(say())\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    calls = [say, store.scopes, store._clean, store.aclose]\n"
        "    os._exit(7 if all(map(refused, calls)) else 1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "asyncio.run(say())\n"
        "print(asyncio.run(store.thread(('a',), 't')).count)\n"
    )

    printed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "memory.db")],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert "2\n" == printed
