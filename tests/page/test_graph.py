"""The graph of 40, 500 and 2,000 entities: how soon it is there, and how soon it answers."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import recollect
from recollect.records import PutMemory

if TYPE_CHECKING:
    from tests.page.conftest import Walks

SIZES: Final = (40, 500, 2_000)
FACTS_PER_ENTITY: Final = 2
GROUP: Final = 40
WRITES_AT_ONCE: Final = 500
SHOWN_MS: Final = {40: 1_500, 500: 3_000, 2_000: 6_000}
TASK_MS_MAX: Final = 200
INPUT_MS_MAX: Final = 100
GIVEN: Final = ("Ada", "Bo", "Chen", "Dora", "Emil", "Fatima", "Goran", "Hana", "Ivo", "林", "周")
FAMILY: Final = ("Alder", "Birch", "Costa", "Duarte", "Elm", "Ferreira", "Grove", "晓雯", "明")
PREDICATES: Final = ("knows", "works with", "lives near", "teaches", "is a friend of", "认识")


def names(count: int) -> list[str]:
    """Return different names, some of them Chinese."""
    return [
        f"{GIVEN[at % len(GIVEN)]} {FAMILY[at // len(GIVEN) % len(FAMILY)]} {at}"
        for at in range(count)
    ]


def facts(count: int) -> Iterator[tuple[str, str, str]]:
    """Yield facts between entities: most within a group, some of these with many."""
    chance = random.Random(count)  # noqa: S311 - repeatable on purpose
    people = names(count)
    for at in range(count):
        group = at // GROUP * GROUP
        size = min(GROUP, count - group)
        for fact in range(FACTS_PER_ENTITY):
            is_near = fact == 0 or chance.random() < 0.75
            to = group + int(size * chance.random() ** 2) if is_near else chance.randrange(count)
            if to != at:
                yield people[at], chance.choice(PREDICATES), people[to]


async def fill(folder: Path) -> None:
    """Keep a graph of each size in a scope of its own."""
    async with recollect.open(str(folder / "page.db"), embedder="none", worker=False) as memory:
        for size in SIZES:
            writes = [
                PutMemory(
                    type="Fact",
                    key=f"f{at:05}",
                    value={"subject": one, "predicate": predicate, "object": other},
                )
                for at, (one, predicate, other) in enumerate(facts(size))
            ]
            for start in range(0, len(writes), WRITES_AT_ONCE):
                await memory.apply(("default", f"g{size}"), writes[start : start + WRITES_AT_ONCE])


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_a_graph_of_two_thousand_entities_answers_at_once(
    walks: Walks, tmp_path: Path, record_testsuite_property: Callable[[str, object], None]
) -> None:
    """No task over 200 ms, the next picture within 100 ms of each act, at 40, 500 and 2,000."""
    asyncio.run(fill(tmp_path))
    with walks.serving(tmp_path, "--no-auth", after_s=600) as (address, _):
        story = walks.walked(address, extent="graph", script="graph.mjs")
    told = story.facts
    for size in SIZES:
        for name in ("waits_ms", "tasks"):
            record_testsuite_property(f"{name} {size}", told[f"{name} {size}"])
            sys.stdout.write(f"{size} entities, {name}: {told[f'{name} {size}']}\n")

    assert {f"of{size}": "well" for size in SIZES} == story.chapters
    for size in SIZES:
        tasks = told[f"tasks {size}"]
        assert told[f"size {size}"].startswith(f"{size} entities")
        assert told[f"waits_ms {size}"]["shown"] <= SHOWN_MS[size]
        assert max(each["longest_task_ms"] for each in tasks.values()) <= TASK_MS_MAX, tasks
        assert max(each["input_ms"] for each in tasks.values()) <= INPUT_MS_MAX, tasks
        assert told[f"way {size}"] >= 1
    assert "boxes" == told["look 40"]
    assert "dots" == told["look 2000"]
    assert [] == story.serious
    assert {"elsewhere": [], "violations": [], "errors": []} == told["noted"]
