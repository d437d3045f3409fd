"""The history of a channel that checkpoints keep as changes: what LangGraph reads a state from."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from recollect.integrations.langgraph import checkpointer
from recollect.integrations.langgraph.saver_base import CompleteSaver
from tests.harness.installed_servers import require_database

THREAD = "delta"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CompleteSaver]:
    url = {"memory": "memory:", "sqlite": f"{tmp_path}/store.db"}.get(request.param)
    url = url or require_database("checkpoints")
    async with checkpointer(url) as saver:
        await saver.adelete_thread(THREAD)
        yield saver


@dataclass(frozen=True)
class Step:
    """One checkpoint: the channels that it keeps whole, and the writes that follow from it."""

    whole: Mapping[str, object]
    writes: Mapping[str, object]


async def kept(saver: CompleteSaver, steps: Sequence[Step]) -> list[RunnableConfig]:
    """Save checkpoints one after the other; return their configs."""
    found: list[RunnableConfig] = []
    parent: RunnableConfig = {"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}}
    for number, step in enumerate(steps, 1):
        versions: Any = dict.fromkeys(step.whole, f"{number:032}.0")
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = dict(step.whole)
        checkpoint["channel_versions"] = versions
        parent = await saver.aput(parent, checkpoint, {"source": "loop", "step": number}, versions)
        for channel, value in step.writes.items():
            await saver.aput_writes(parent, [(channel, value)], f"task-{number}-{channel}")
        found.append(parent)
    return found


def writes_of(history: Mapping[str, Any], channel: str) -> list[object]:
    return [value for _, _, value in history[channel]["writes"]]


def step(number: int, **whole: object) -> Step:
    return Step(whole, {"a": f"a{number}", "b": f"b{number}"})


async def test_writes_come_oldest_first_from_the_nearest_whole_value(saver: CompleteSaver) -> None:
    """What stands before that value is in it; what followed from it is not."""
    steps = [step(1, a=_DeltaSnapshot(["old"])), step(2), step(3, a=_DeltaSnapshot(["new"]))]
    configs = await kept(saver, [*steps, step(4), step(5)])

    found = await saver.aget_delta_channel_history(config=configs[-1], channels=["a"])

    assert ["new"] == found["a"]["seed"].value
    assert ["a3", "a4"] == writes_of(found, "a")


async def test_what_waits_at_the_checkpoint_itself_is_left_out(saver: CompleteSaver) -> None:
    """It makes the next state, and not this one."""
    configs = await kept(saver, [step(1, a=_DeltaSnapshot([])), step(2)])
    await saver.aput_writes(configs[-1], [("a", "later")], "another")

    found = await saver.aget_delta_channel_history(config=configs[-1], channels=["a"])

    assert ["a1"] == writes_of(found, "a")


async def test_each_channel_has_its_own_beginning(saver: CompleteSaver) -> None:
    steps = [step(1, a=_DeltaSnapshot(["a"])), step(2, b=_DeltaSnapshot(["b"])), step(3)]
    configs = await kept(saver, steps)

    found = await saver.aget_delta_channel_history(config=configs[-1], channels=["a", "b"])
    none = await saver.aget_delta_channel_history(config=configs[-1], channels=[])

    assert (["a1", "a2"], ["b2"]) == (writes_of(found, "a"), writes_of(found, "b"))
    assert {} == none


async def test_without_a_whole_value_there_is_no_seed(saver: CompleteSaver) -> None:
    configs = await kept(saver, [step(1), step(2), step(3)])

    found = await saver.aget_delta_channel_history(config=configs[-1], channels=["a"])

    assert "seed" not in found["a"]
    assert ["a1", "a2"] == writes_of(found, "a")


async def test_a_plain_value_begins_the_history_of_an_older_thread(saver: CompleteSaver) -> None:
    """One that was kept before the channel kept changes."""
    configs = await kept(saver, [step(1), step(2, a=["plain"]), step(3)])

    found = await saver.aget_delta_channel_history(config=configs[-1], channels=["a"])

    assert ["plain"] == found["a"]["seed"]
    assert ["a2"] == writes_of(found, "a")


async def test_writes_of_one_step_come_in_the_order_of_its_tasks(saver: CompleteSaver) -> None:
    """By their paths in the graph and not by their random ids; the input's come first."""
    configs = await kept(saver, [Step({"a": _DeltaSnapshot([])}, {}), Step({}, {})])
    await saver.aput_writes(configs[0], [("a", "second")], "0", "~pull, 02")
    await saver.aput_writes(configs[0], [("a", "first")], "f", "~pull, 01")
    await saver.aput_writes(configs[0], [("a", "input")], "z")

    found = await saver.aget_delta_channel_history(config=configs[-1], channels=["a"])

    assert ["input", "first", "second"] == writes_of(found, "a")


async def test_an_emptied_history_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a saver that answers as if nothing had been written."""

    def empty(_: Any, *, channels: Sequence[str], **__: Any) -> Any:
        return {each: {"writes": []} for each in channels}

    monkeypatch.setattr(BaseCheckpointSaver, "get_delta_channel_history", empty)
    async with checkpointer("memory:") as saver:
        monkeypatch.setattr(type(saver), "get_delta_channel_history", empty)
        with pytest.raises((AssertionError, KeyError)):
            await test_writes_come_oldest_first_from_the_nearest_whole_value(saver)
