"""Recall over scopes below one another, where most of what was read before still holds."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import current_thread
from time import sleep
from typing import Any

import pytest

import recollect
from recollect.errors import StoreCorruptError
from recollect.memory.facade import Recollect
from recollect.recall import collection_update
from recollect.recall.index_cache import Indexes, TakenIndex
from recollect.recall.query import Kinds, Where
from recollect.records import DeleteMemory, PutMemory, Scope
from recollect.stores.change_feed import ReadMoment, ReadMoments
from recollect.stores.plans.changes import Below
from recollect.stores.plans.erase_targets import EraseScope
from recollect.stores.sqlite import readers
from recollect.stores.sqlite.rows import SQLiteRows
from recollect.stores.thread_calls import ThreadCall, answer

pytestmark = pytest.mark.anyio

ROOT: Scope = ("team",)
SCOPES = [(*ROOT, name) for name in ("ada", "bob", "eve")] + [(*ROOT, "ada", "work")]
WORDS = ("tea", "garden", "bridge", "violin")
STEPS = 60
NOTES = Where(messages=False, types=("Note",), valid_at="ever")


@asynccontextmanager
async def opened(file: Path) -> AsyncIterator[Recollect]:
    """Open the file as another process would."""
    async with recollect.open(f"sqlite:///{file}", embedder="none", worker=False) as memory:
        yield memory


def note(choose: Random) -> PutMemory:
    """Return what writes a note that a question finds."""
    text = " ".join(choose.choices(WORDS, k=3))
    return PutMemory(type="Note", key=f"n{choose.randrange(3)}", value={"content": text})


async def change(memory: Recollect, choose: Random) -> None:
    """Change something, or nothing."""
    scope = choose.choice(SCOPES)
    match choose.randrange(8):
        case 0:
            await memory.erase(scope, EraseScope())
        case 1:
            await memory.apply(scope, [DeleteMemory(type="Note", key="n0")])
        case 2 | 3 | 4:
            await memory.apply(scope, [note(choose)])
        case _:
            pass


async def found_by(memory: Recollect, *scopes: Scope) -> list[tuple[Scope, str, float]]:
    """Return what a question finds in *scopes*, or anywhere below the first of all."""
    recall = await memory.recall(
        list(scopes) or ROOT, "tea in the garden", below=not scopes, where=NOTES, limit=20
    )
    return [(each.scope, each.text, round(each.score, 5)) for each in recall.entries]


async def follow(folder: Path, seed: int) -> list[int]:
    """
    Change the file by two who also recall; return the steps at which they missed something.

    An entry that an index lists and the file lacks is noticed by the store itself, and told.
    """
    choose, missed = Random(seed), list[int]()  # noqa: S311 (repeatable)
    file = folder / f"{seed}.db"
    async with opened(file) as one, opened(file) as other:
        for step in range(STEPS):
            before = (await one.store.scopes(prefix=ROOT, type_="Note")).rows
            await change(choose.choice((one, other)), choose)
            if before:  # searched by name they are known to be the latest, but not to be all
                await found_by(one, *before)
            async with opened(file) as fresh:
                truth = await found_by(fresh)
            try:
                found = [await found_by(one), await found_by(other)]
            except StoreCorruptError:
                return [*missed, step]
            if [truth, truth] != found:
                missed.append(step)
    return missed


@pytest.mark.parametrize("is_updated", [False, True])
@pytest.mark.parametrize("seed", range(3))
async def test_nothing_that_changed_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, *, is_updated: bool
) -> None:
    """Whoever changed it, and however much was kept of the searches before."""
    if is_updated:  # as with many scopes
        monkeypatch.setattr(collection_update, "SCOPES_MIN", 1)
        monkeypatch.setattr(collection_update, "CHANGED_SHARE", 1)

    assert [] == await follow(tmp_path, seed)


async def test_unchanged_scopes_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither which there are, nor their feeds; until something is written."""
    async with opened(tmp_path / "memory.db") as memory:
        for scope in SCOPES:
            await memory.apply(scope, [note(Random(3))])  # noqa: S311 (repeatable)
        await found_by(memory)
        listed: list[str] = []
        scopes_holding = SQLiteRows.scopes_holding

        def counted(rows: SQLiteRows, type_: str, *given: Any) -> Any:
            listed.append(type_)
            return scopes_holding(rows, type_, *given)

        monkeypatch.setattr(SQLiteRows, "scopes_holding", counted)
        assert await found_by(memory)
        assert [] == listed

        await memory.apply(SCOPES[0], [note(Random(4))])  # noqa: S311 (repeatable)
        await found_by(memory)

        assert ["Note"] == listed


async def test_one_by_one_is_answered_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However slow the thread that answered is to take the next: only that one knows the moment."""
    names: set[str] = set()

    def late(calls: list[ThreadCall[Any]]) -> None:
        names.add(current_thread().name)
        answer(calls)
        sleep(0.01)  # the caller has the answer, and asks again

    monkeypatch.setattr(readers, "answer", late)
    async with opened(tmp_path / "memory.db") as memory:
        for _ in range(9):
            await memory.store.scopes()

    assert {"recollect-sqlite-reader-0"} == names


def _always(_self: ReadMoments, _moment: object) -> bool:
    """Hold anything for the latest."""
    return True


def _deaf(_self: SQLiteRows) -> ReadMoment:
    """Name one moment, whatever was written."""
    return ReadMoment(1, 1)


class Ever(ReadMoments):
    """Holds anything for the latest."""

    __contains__ = _always


def _credulous(self: Indexes, below: Below, kinds: Kinds | None) -> TakenIndex:
    """Take as `Indexes.take_below`, and hold for all scopes those that were all once."""
    return replace(real_take_below(self, below, kinds), listed_at=Ever())


real_take_below = Indexes.take_below


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        (ReadMoments, "__contains__", _always),
        (SQLiteRows, "moment", property(_deaf)),
        (Indexes, "take_below", _credulous),
    ],
)
async def test_what_is_held_for_the_latest_too_long_is_noticed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    mutant: Callable[..., object] | property,
) -> None:
    """The first check above fails for who takes old feeds, or an old list of scopes, for new."""
    monkeypatch.setattr(owner, name, mutant)

    assert [] != await follow(tmp_path, 0)
