"""Killing a process during a formation: each effect happens exactly once."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import runpy
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from recollect.errors import ModelError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_requests import shown_in
from recollect.formation.types import NOTE, USER
from recollect.memory.facade import Recollect
from recollect.ports import ModelAnswer, ModelRequest, ToolCall
from recollect.records import Json, NewMessage, PutMemory, Scope, Write
from recollect.stores.locator import open_store
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.sqlite import writer
from recollect.stores.sqlite.effects import write_effect
from recollect.stores.unit_of_work import Effect
from recollect.testing import FrozenClock
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker import model_calls as asking
from tests.harness.invariants import violations

SCOPE: Final[Scope] = ("users", "ada")
POINTS: Final = (
    "claimed",
    "model asked",
    "model answered",
    "before commit",
    "inside the transaction",
    "after commit",
    "before release",
)
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
SETTINGS: Final = FormationSettings(types=(USER, NOTE))

_processes = multiprocessing.get_context("forkserver")


def answer_to(request: ModelRequest) -> ModelAnswer:
    """Return a note of each new message in other words, and its interest for the profile."""
    chance = random.SystemRandom()
    calls, changes = [], list[Json]()
    for number, _, words in shown_in(request).new:
        interest = words.removeprefix("I like ")
        word = "".join(chance.choices(LETTERS, k=12))
        value = {"context": "in passing", "content": f"{words}, {word}"}
        because = [{"message": number, "quote": words}]
        arguments = json.dumps({"value": value, "because": because})
        calls.append(ToolCall(name="Note", arguments=arguments))
        path, brought = "/interests/-", f"{interest} {word}"
        cited: dict[str, Json] = {"message": number, "quote": words}
        changes.append({"op": "add", "path": path, "value": brought, **cited})
    arguments = json.dumps({"id": "m1", "changes": changes})
    return ModelAnswer(calls=(*calls, ToolCall(name="patch_memory", arguments=arguments)))


def opened(path: Path, clock: FrozenClock, model: ScriptedModel) -> Recollect:
    """Return the memory of one process over the file."""
    store = open_store(path, clock=clock, durability="relaxed")
    return Recollect(store, embedder="none", model=model, formation=SETTINGS, worker=False)


def die() -> None:
    """End this process as the operating system would."""
    os.kill(os.getpid(), signal.SIGKILL)


def form_until(path: str, age_s: float, point: str, *, torn: bool) -> None:
    """Form what is due, and die at a point of it: the child."""
    clock = FrozenClock()
    clock.advance(age_s)

    def script(request: ModelRequest) -> ModelAnswer:
        if point == "model asked":
            die()
        if point == "before release":
            raise ModelError("no answer")
        return answer_to(request)

    async def main() -> None:
        async with opened(Path(path), clock, ScriptedModel(script)) as memory:
            _arm(memory, point, torn=torn)
            assert memory.worker is not None
            await memory.worker.drain()

    asyncio.run(main())


def _arm(memory: Recollect, point: str, *, torn: bool) -> None:  # noqa: C901 (each point once)
    """Make this process die at *point*; a *torn* store commits effect and watermark separately."""
    store: Any = memory.store
    claim, commit = store.claim, store.commit

    async def claimed(*given: Any, **named: Any) -> object:
        lease = await claim(*given, **named)
        if lease is not None and point == "claimed":
            die()
        return lease

    async def committed(lease: Lease, writes: Sequence[Write], formed: Formed) -> object:
        if point == "before commit":
            die()
        if torn:
            await store.apply(lease.scope, writes)
            die()
        result = await commit(lease, writes, formed)
        if point == "after commit":
            die()
        return result

    async def released(*_: object, **__: object) -> None:
        die()

    def answered(*_: object, **__: object) -> None:
        die()

    def written(connection: Any, effect: Effect) -> None:
        write_effect(connection, effect)
        if effect.formations:
            die()

    store.claim, store.commit, store.release = claimed, committed, released
    if point == "model answered":
        vars(asking)["read_answer"] = answered
    if point == "inside the transaction":
        vars(writer)["write_effect"] = written


def killed(path: Path, age_s: float, point: str, *, torn: bool = False) -> None:
    """Run a child that dies at *point*."""
    _processes.set_forkserver_preload(
        ["recollect.memory.facade", "recollect.testing.scripted_model"]
    )
    given = {"given": (str(path), age_s, point, torn)}
    child = _processes.Process(
        target=runpy.run_path, args=(__file__,), kwargs={"init_globals": given, "run_name": "child"}
    )
    child.start()
    child.join()
    assert -signal.SIGKILL == child.exitcode


async def left_after(
    path: Path, kills: int, point: str, *, torn: bool = False
) -> Mapping[str, int]:
    """Kill a process so often, let another finish its work each time; count what is wrong."""
    wrong: Counter[str] = Counter()
    clock, said = FrozenClock(), list[str]()
    for life in range(kills):
        async with opened(path, clock, ScriptedModel(answer_to)) as memory:
            if life == 0:
                await memory.apply(
                    SCOPE, [PutMemory(type="User", key="User", value={"interests": []})]
                )
            for thread in ("one", "two"):
                said.append(f"I like {''.join(random.choices(LETTERS, k=9))}")  # noqa: S311
                await memory.append(SCOPE, thread, [NewMessage(role="user", text=said[-1])])
        clock.advance(3_600)
        age_s = (clock.now() - FrozenClock().now()).total_seconds()
        killed(path, age_s, point, torn=torn)
        clock.advance(3_600)
        async with opened(path, clock, ScriptedModel(answer_to)) as memory:
            assert memory.worker is not None
            await memory.worker.drain()
            wrong["unformed"] += len((await memory.pending()).rows)
            wrong.update(await counted(memory, said))
        wrong["corrupt"] += len(violations(path))
    return +wrong


async def counted(memory: Recollect, said: list[str]) -> Counter[str]:
    """Count the messages that are in no memory, and those that are in one twice."""
    user = await memory.get(SCOPE, "User", "User")
    assert user is not None
    interests = [str(each) for each in user.value["interests"]]  # type: ignore[union-attr]
    rows = (await memory.memories(SCOPE, type_="Note", limit=1_000)).rows
    notes = [str(note.value["content"]) for note in rows]
    wrong: Counter[str] = Counter()
    for text in said:
        for kept in (
            [each for each in notes if each.startswith(f"{text},")],
            [each for each in interests if each.startswith(f"{text.removeprefix('I like ')} ")],
        ):
            wrong["lost"] += not kept
            wrong["doubled"] += len(kept) > 1
    return wrong


if __name__ == "child":
    _path, _age_s, _point, _torn = globals()["given"]
    form_until(_path, _age_s, _point, torn=_torn)


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.prove)])
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_repeats_the_work_and_never_the_effect(
    point: str, kills: int, tmp_path: Path
) -> None:
    """Whatever had been done: nothing of it is lost, and nothing is there twice."""
    assert {} == await left_after(tmp_path / "store.db", kills, point)


async def test_effect_and_watermark_in_two_transactions_are_seen(tmp_path: Path) -> None:
    """The mutant: what was stored before the death is stored once more after it."""
    wrong = await left_after(tmp_path / "store.db", 1, "between", torn=True)

    assert wrong["doubled"] > 0
