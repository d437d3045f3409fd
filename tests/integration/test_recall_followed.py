"""What a process recalls from its caches is what one that has just started finds."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.memory.facade import Recollect
from recollect.recall import collection_update
from recollect.recall.eligibility import EligibilityPeriod
from recollect.recall.query import Where
from recollect.records import DeleteMemory, EndMemory, PutMemory, Scope
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_targets import EraseMemory, EraseScope, EraseThread
from recollect.stores.validation import to_datetime
from recollect.testing import FrozenClock

pytestmark = pytest.mark.anyio

ROOT: Scope = ("team",)
NAMES = tuple(f"u{number:02}" for number in range(24))
WORDS = ("tea", "garden", "bridge", "violin", "harbour", "Sunday")
STEPS = 40
SEEDS = range(6)
WHERES = (
    Where(),
    Where(messages=False),
    Where(types=("Note",)),
    Where(messages=False, types=("Plan",), valid_at="ever"),
    Where(valid_at="ever"),
)


def opened(file: Path, clock: FrozenClock) -> Recollect:
    """Return a memory over the file, as another process would open it."""
    return Recollect(open_store(file, clock=clock), embedder="none", worker=False)


async def change(memory: Recollect, choose: Random, clock: FrozenClock) -> None:
    """Change one scope: often a message, or a memory that begins, ends or expires soon."""
    scope = (*ROOT, choose.choice(NAMES))
    text = " ".join(choose.choices(WORDS, k=3))
    key, soon = f"k{choose.randrange(2)}", to_datetime(memory.store.now()) + timedelta(minutes=5)
    match choose.randrange(10):
        case 0:
            await memory.erase(scope, EraseScope())
        case 1:
            await memory.erase(scope, EraseThread(thread="t"))
        case 2:
            await memory.erase(scope, EraseMemory(type="Note", key=key))
        case 3:
            await memory.apply(scope, [DeleteMemory(type="Note", key=key)])
        case 4:
            if found := await memory.get(scope, "Note", key):
                await memory.apply(scope, [EndMemory(type="Note", key=found.key, at=soon)])
        case 5 | 6:
            dates: dict[str, Any] = {choose.choice(("valid_until", "expires_at")): soon}
            await memory.apply(
                scope, [PutMemory(type="Plan", key=key, value={"content": text}, **dates)]
            )
        case 7:
            await memory.apply(scope, [PutMemory(type="Note", key=key, value={"content": text})])
        case _:
            await memory.append(scope, "t", text)
    clock.advance(choose.choice((1, 60, 200)))


async def found_by(memory: Recollect, where: Where, scopes: Sequence[Scope]) -> list[Any]:
    """Return what a question finds below the root, or in *scopes*."""
    recall = await memory.recall(
        list(scopes) or ROOT, "tea in the garden", below=not scopes, where=where, limit=50
    )
    counts = recall.searched, recall.eligible
    return [counts, *((each.scope, each.text, round(each.score, 4)) for each in recall.entries)]


async def differences(folder: Path, seed: int) -> list[Any]:
    """Return the steps at which a memory that has searched before finds something else."""
    choose, clock = Random(seed), FrozenClock()  # noqa: S311 (repeatable)
    file, missed = folder / f"{seed}.db", list[Any]()
    async with opened(file, clock) as memory, opened(file, clock) as other:
        for name in NAMES[: 6 * (1 + seed % 4)]:
            await memory.append((*ROOT, name), "t", " ".join(choose.choices(WORDS, k=3)))
        for step in range(STEPS):
            await change(choose.choice((memory, memory, other)), choose, clock)
            async with opened(file, clock) as fresh:
                for where in choose.sample(WHERES, 2):
                    named = choose.choice(((), (), [(*ROOT, each) for each in NAMES]))
                    truth = await found_by(fresh, where, named)
                    if truth != await found_by(memory, where, named):
                        missed.append((step, where))
    return missed


async def is_noticed(folder: Path) -> bool:
    """Return True if a memory finds something else with some seed; the first will do."""
    for seed in SEEDS:
        try:
            if await differences(folder, seed):
                return True
        except IndexError:
            return True
    return False


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_recall_after_others_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Below a scope and by name, while entries come, go, end and expire."""
    monkeypatch.setattr(collection_update, "SCOPES_MIN", 4)
    monkeypatch.setattr(collection_update, "CHANGED_SHARE", 2)

    assert [] == await differences(tmp_path, seed)


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        (EligibilityPeriod, "includes", lambda _self, _wanted: True),
        (collection_update, "_moved", lambda slices, _place: list(slices)),
    ],
)
async def test_what_is_taken_on_wrongly_is_noticed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: object,
    name: str,
    mutant: Callable[..., object],
) -> None:
    """The check fails for who holds ended memories for true, or old places for new ones."""
    monkeypatch.setattr(collection_update, "SCOPES_MIN", 4)
    monkeypatch.setattr(collection_update, "CHANGED_SHARE", 2)
    monkeypatch.setattr(owner, name, mutant)

    assert await is_noticed(tmp_path)
