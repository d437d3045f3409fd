"""Eight workers that race for one user, in tasks, threads and processes of their own."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import runpy
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest

import recollect
from recollect.errors import StoreUnavailableError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import NOTE
from recollect.memory.facade import Recollect
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import NewMessage, Scope
from recollect.stores.locator import open_store
from recollect.stores.plans import formation as planning
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.leases import Lease
from recollect.stores.rows import ScopeRow
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.formation_result import FormationResult
from tests.harness.installed_servers import require_empty_database, require_redis

ADA: Final[Scope] = ("users", "ada")
WORKERS: Final = 8
DATABASE: Final = 4
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
SETTINGS: Final = FormationSettings(types=(NOTE,), debounce=Debounce(quiet_s=0))


def word(length: int = 12) -> str:
    """Return a word that nobody has said before."""
    return "".join(random.choices(LETTERS, k=length))  # noqa: S311 (it protects nothing)


async def answer_to(request: ModelRequest) -> ModelAnswer:
    """Note each new message in other words every time, so that no two notes are equal."""
    await asyncio.sleep(0)
    calls = []
    for number, _, words in shown_in(request).new:
        value = {"context": "in passing", "content": f"{words}, {word()}"}
        because = [{"message": number, "quote": words}]
        arguments = json.dumps({"value": value, "because": because})
        calls.append(ToolCall(name="Note", arguments=arguments))
    return ModelAnswer(calls=tuple(calls))


def opened(path: Path | str) -> Recollect:
    """Return the memory of one worker over the store in a file or on a server."""
    store = open_store(path, durability="relaxed")
    model = ScriptedModel(answer_to)
    return Recollect(store, embedder="none", model=model, formation=SETTINGS, worker=False)


async def say(memory: Recollect, turn: int) -> list[str]:
    """Let Ada say something in two threads; return it."""
    said = [f"I like {word()}" for _ in range(2)]
    for number, text in enumerate(said):
        message = NewMessage(role="user", text=text)
        await memory.append(ADA, f"talk{(turn + number) % 3}", [message])
    return said


async def wrong_in(memory: Recollect, said: Sequence[str]) -> Counter[str]:
    """Count messages that no note is of, and those that two notes are of."""
    notes: Counter[str] = Counter()
    cursor: str | None = None
    while True:
        page = await memory.memories(ADA, type_="Note", cursor=cursor, limit=1_000)
        notes.update(str(note.value["content"]).partition(",")[0] for note in page.rows)
        cursor = page.cursor
        if cursor is None:
            break
    wrong: Counter[str] = Counter()
    wrong["lost"] = sum(not notes[text] for text in said)
    wrong["doubled"] = sum(notes[text] > 1 for text in said)
    wrong["unformed"] = len((await memory.pending()).rows)
    return +wrong


async def raced(path: Path | str, races: int) -> tuple[Counter[str], list[FormationResult]]:
    """Let eight tasks, each with a store of its own, race so often; return what is wrong."""
    said: list[str] = []
    results: list[FormationResult] = []
    async with AsyncExitStack() as exit_:
        memories = [await exit_.enter_async_context(opened(path)) for _ in range(WORKERS)]
        for turn in range(races):
            said += await say(memories[turn % WORKERS], turn)
            drained = await asyncio.gather(*(each.worker.drain(ADA) for each in memories))  # type: ignore[union-attr]
            results += [result for each in drained for result in each]
        return await wrong_in(memories[0], said), results


@pytest.mark.parametrize("races", [50, pytest.param(1_000, marks=pytest.mark.prove)])
async def test_workers_in_tasks_form_each_message_once(races: int, tmp_path: Path) -> None:
    """However their claims, calls and commits fall between each other."""
    wrong, results = await raced(tmp_path / "store.db", races)

    assert {} == wrong
    assert {"formed"} == {each.end for each in results}


@pytest.fixture(params=["postgres", "redis"])
def address(request: pytest.FixtureRequest) -> str:
    """Return the address of an empty store on a server."""
    if request.param == "redis":
        server = require_redis()
        return server.emptied(DATABASE)
    return require_empty_database()


@pytest.mark.parametrize("races", [5, pytest.param(1_000, marks=pytest.mark.prove)])
@pytest.mark.timeout(7_200)
async def test_workers_on_a_server_form_each_message_once(races: int, address: str) -> None:
    """The same on the stores that many machines share, each worker with connections of its own."""
    wrong, results = await raced(address, races)

    assert {} == wrong
    assert {"formed"} == {each.end for each in results}


@pytest.mark.parametrize("races", [10, pytest.param(1_000, marks=pytest.mark.prove)])
async def test_workers_in_threads_form_each_message_once(races: int, tmp_path: Path) -> None:
    """Each with a loop and a store of its own, while messages keep coming."""
    path, said = tmp_path / "store.db", list[str]()
    async with opened(path) as memory:
        done = threading.Event()
        threads = [threading.Thread(target=work, args=(path, done)) for _ in range(WORKERS)]
        for each in threads:
            each.start()
        for turn in range(races):
            said += await say(memory, turn)
        await drained(memory)
        done.set()
        for each in threads:
            await asyncio.to_thread(each.join)

        assert {} == await wrong_in(memory, said)


def work(path: Path, done: threading.Event) -> None:
    """Form what is due until told to end: one thread, or one process."""

    async def main() -> None:
        async with opened(path) as memory:
            while not done.is_set():
                assert memory.worker is not None
                try:
                    await memory.worker.drain()
                except StoreUnavailableError:
                    continue
                await asyncio.sleep(0.002)

    asyncio.run(main())


async def drained(memory: Recollect) -> None:
    """Wait until nothing is left to be formed."""
    with_patience = 6_000
    for _ in range(with_patience):
        if not (await memory.pending()).rows:
            return
        await asyncio.sleep(0.01)


if __name__ == "child":
    work(*globals()["given"])


@pytest.mark.parametrize("races", [pytest.param(1_000, marks=pytest.mark.prove)])
async def test_workers_in_processes_form_each_message_once(races: int, tmp_path: Path) -> None:
    """Eight of them on one file, while messages keep coming."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(
        ["recollect.memory.facade", "recollect.testing.scripted_model"]
    )
    path, said, done = tmp_path / "store.db", list[str](), processes.Event()
    async with opened(path) as memory:
        named = {"init_globals": {"given": (path, done)}, "run_name": "child"}
        children = [
            processes.Process(target=runpy.run_path, args=(__file__,), kwargs=named)
            for _ in range(WORKERS)
        ]
        for each in children:
            each.start()
        for turn in range(races):
            said += await say(memory, turn)
        await drained(memory)
        done.set()
        for each in children:
            await asyncio.to_thread(each.join)

        assert {} == await wrong_in(memory, said)


async def test_workers_that_heed_no_lease_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: whoever comes may claim, and whoever claimed may commit."""

    def unchecked(scope: ScopeRow | None, _: Lease) -> ScopeRow:
        assert scope is not None
        return scope

    monkeypatch.setattr(planning, "is_leased", lambda *_: False)
    monkeypatch.setattr(planning, "check_lease", unchecked)

    wrong, _ = await raced(tmp_path / "store.db", 10)

    assert wrong["doubled"] > 0


async def test_a_user_erased_while_eight_workers_race_stays_erased(tmp_path: Path) -> None:
    """Whatever was under way at that moment is dropped."""
    path = tmp_path / "store.db"
    async with AsyncExitStack() as exit_:
        memories = [await exit_.enter_async_context(opened(path)) for _ in range(WORKERS)]
        ends: Counter[str] = Counter()
        for turn in range(20):
            await say(memories[0], turn)
            erasing = asyncio.create_task(memories[1].erase(ADA, recollect.EraseScope()))
            drained = await asyncio.gather(*(each.worker.drain(ADA) for each in memories))  # type: ignore[union-attr]
            await erasing
            ends.update(result.end for each in drained for result in each)
            await memories[2].form(ADA)

            assert () == (await memories[0].memories(ADA)).rows
    assert ends.keys() <= {"formed", "lost"}
