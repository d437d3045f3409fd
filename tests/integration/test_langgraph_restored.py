"""Checkpoints in a store that a backup of the server or the disk brought back."""

from collections.abc import Callable
from pathlib import Path

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from recollect import EraseScope, EraseThread, NewMessage
from recollect.integrations.langgraph import checkpointer, thread_id_of
from recollect.lifecycle.backup_restore import apply_ledger, read_ledger
from recollect.records import Scope
from recollect.stores.contract.erasure import EraseStore
from recollect.stores.locator import open_store
from tests.harness.installed_servers import require_database

ADA, BOB, EVE = (("acme", name) for name in ("ada", "bob", "eve"))
CANARY = "zebra crossing"
THREADS = [*((scope, each) for scope in (ADA, BOB, EVE) for each in ("t1", "t2"))]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """Return a function that returns the address of a store, by its name."""
    if request.param == "postgres":
        return lambda name: require_database(f"restored_{name}")
    return lambda name: str(tmp_path / f"{name}.db")


async def fill(url: str) -> None:
    """Save checkpoints of threads of which the store has no messages."""
    async with open_store(url) as store:
        await store.append(("acme", "zoe"), "talk", [NewMessage(role="user", text="hello")])
    async with checkpointer(url) as saver:
        for name in [*(thread_id_of(*each) for each in THREADS), "plain"]:
            await saver.adelete_thread(name)
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"said": [CANARY]}
            checkpoint["channel_versions"] = {"said": "1"}
            config = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
            await saver.aput(config, checkpoint, {}, {"said": "1"})  # type: ignore[arg-type]


async def threads_in(url: str) -> set[str]:
    """Return the thread ids of all checkpoints."""
    async with checkpointer(url) as saver:
        return {each.config["configurable"]["thread_id"] async for each in saver.alist(None)}


def ids(*threads: tuple[Scope, str]) -> set[str]:
    return {thread_id_of(*each) for each in threads}


async def test_a_ledger_takes_the_checkpoints_of_what_it_names(
    place: Callable[[str], str],
) -> None:
    """Of a thread or a whole scope, also where nothing else is stored of it; others stay."""
    in_use, old = place("in_use"), place("old")
    await fill(in_use)
    await fill(old)
    async with open_store(in_use) as store:
        await store.erase(ADA, EraseThread(thread="t1"))
        await store.erase(BOB, EraseScope(below=True))
    assert ids((ADA, "t2"), (EVE, "t1"), (EVE, "t2")) | {"plain"} == await threads_in(in_use)

    await apply_ledger(old, await read_ledger(in_use))

    assert await threads_in(in_use) == await threads_in(old)
    async with open_store(old) as store:
        assert not await store.receipts(unclean=True)


async def test_checkpoints_that_come_back_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: a ledger is compared with the store's own records alone."""

    async def nothing(*_: object) -> int:
        return 0

    monkeypatch.setattr(EraseStore, "erase_checkpoints", nothing)

    with pytest.raises(AssertionError):
        await test_a_ledger_takes_the_checkpoints_of_what_it_names(
            lambda name: str(tmp_path / f"{name}.db")
        )
