"""
No feature breaks what another one promised, whatever is done in which order.

A history is played on a whole memory (`benchmarks.combinations`): every operation that a
program, a person or an operator has, in any order, with messages of words that stand nowhere else.
After each step all that can be read is held against what was said and done:

kept     nothing acknowledged is lost or doubled, for whoever retries, pages or follows either
gone     nothing erased is left or comes back
apart    no scope tells what was said in another
past     what was read of the past reads the same
founded  each word of an active value has living evidence, or a person who typed it

Which operations are followed by a check of which promise, with something there to be broken:

|                           | kept | gone | apart | past | founded |
|---------------------------|------|------|-------|------|---------|
| form                      | x    | x    | x     | x    | x       |
| consolidate               | x    | x    | x     | x    | x       |
| migrate a type            | x    | x    | x     | x    | x       |
| put                       | x    | x    | x     | x    | x       |
| put in two scopes         | x    | x    | x     | x    | x       |
| forget                    | x    | x    | x     | x    | x       |
| undo                      | x    | x    | x     | x    | x       |
| take back a message       | x    | x    | x     | x    | x       |
| review                    | x    | x    | x     | x    | x       |
| say a rejected note again | x    | x    | x     | x    | x       |
| edit                      | x    | x    | x     | x    | x       |
| append                    | x    | x    | x     | x    | x       |
| append under a key        | x    | x    | x     | x    | x       |
| retry                     | x    | x    | x     | x    | x       |
| replace                   | x    | x    | x     | x    | x       |
| remove                    | x    | x    | x     | x    | x       |
| open a page               | x    | x    | x     | x    | x       |
| read the next page        | x    | x    | x     | x    | x       |
| follow the changes        | x    | x    | x     | x    | x       |
| write with a revoked key  | x    | x    | x     | x    | x       |
| revoke while forming      | x    | x    | x     | x    | x       |
| write over quota          | x    | x    | x     | x    | x       |
| write at once over quota  | x    | x    | x     | x    | x       |
| set the types of a scope  | x    | x    | x     | x    | x       |
| erase messages            | x    | x    | x     | x    | x       |
| erase a thread            | x    | x    | x     | x    | x       |
| erase a source            | x    | x    | x     | x    | x       |
| erase a memory            | x    | x    | x     | x    | x       |
| erase a scope             | x    | x    | x     | x    | x       |
| erase while forming       | x    | x    | x     | x    | x       |
| reopen                    | x    | x    | x     | x    | x       |
| crash in an append        | x    | x    | x     | x    | x       |
| crash in an erase         | x    | x    | x     | x    | x       |
| crash while forming       | x    | x    | x     | x    | x       |
| copy                      | x    | x    | x     | x    | x       |
| copy one scope            | x    | x    | x     | x    | x       |
| back up                   | x    | x    | x     | x    | x       |
| restore a backup          | x    | x    | x     | x    | x       |
| export                    | x    | x    | x     | x    | x       |
| import                    | x    | x    | x     | x    | x       |
| change the embedder       | x    | x    | x     | x    | x       |

One test compares the table with the operations, the promises, and what a tour through all covers.
"""

import asyncio
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from benchmarks.between import places_of
from benchmarks.combinations.histories import operations_on, take_step
from benchmarks.combinations.operations import OPERATIONS
from benchmarks.combinations.promises import PROMISES
from benchmarks.combinations.stage import FilePlaces, Places
from benchmarks.combinations.world import World

COVERED: Final = "x"
PRELUDE: Final = (
    *("append", "form", "put in two scopes", "put in two scopes", "append under a key", "form"),
    *("append", "form", "edit", "export", "back up", "erase messages", "append", "form", "append"),
)
"""After these operations each promise has something to be broken."""
LAST: Final = ("erase a thread", "erase a source", "erase a scope")
TOURS: Final = (11, 10, 6, 8, 9, 12)
"""Seeds; mostly the first one alone covers all."""
COUNTS: Final = {"memory": 8, "sqlite": 4, "postgres": 1, "redis": 2}
STEPS: Final = 15
MANY: Final = {"memory": 1_000, "sqlite": 500, "postgres": 60, "redis": 150}
MANY_STEPS: Final = 50


class MemoryMachine(RuleBasedStateMachine):
    """Does operations on a memory; the rules are added by `machine_of`, one an operation."""

    places: ClassVar[Places]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.world = World(type(self).places, 1)
        self.runner.run(self.world.stage.open())

    def teardown(self) -> None:
        """Close the memory and its loop."""
        self.runner.run(self.world.stage.end())
        self.runner.close()


def machine_of(places: Places) -> type[MemoryMachine]:
    """Return a machine with a rule for each operation that stores at *places* can take."""

    def rule_of(name: str) -> Any:
        @rule(seed=st.integers(0, 2**32 - 1))
        def step(self: MemoryMachine, seed: int) -> None:
            _, broken = self.runner.run(take_step(self.world, name, seed))
            assert broken == []

        return step

    rules = {name.replace(" ", "_"): rule_of(name) for name in operations_on(lasts=places.lasts)}
    return type("OpenedMachine", (MemoryMachine,), {**rules, "places": places})


def check(backend: str, histories: int, steps: int, **more: Any) -> None:
    """Let Hypothesis play so many histories on one kind of store."""
    sample = settings(
        settings.get_profile("sample"),
        max_examples=histories,
        stateful_step_count=steps,
        **more,
    )
    with places_of(backend) as places:
        assert places is not None
        run_state_machine_as_test(machine_of(places), settings=sample)


def test_every_promise_is_kept_in_every_order(backend: str) -> None:
    """In a few orders, the same in each run; `python -m benchmarks between` plays others."""
    check(backend, COUNTS[backend], STEPS, derandomize=True, database=None)


@pytest.mark.prove
def test_every_promise_is_kept_in_many_orders(backend: str) -> None:
    """The same, at full count."""
    check(backend, MANY[backend], MANY_STEPS)


def table() -> dict[str, list[str]]:
    """Return the operations of the docstring's table, and which promises are covered of each."""
    lines = [line for line in str(__doc__).splitlines() if line.startswith("|")]
    (_, *promises), _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines
    ]
    return {
        name: [each for each, cell in zip(promises, cells, strict=True) if cell == COVERED]
        for name, *cells in rows
    }


async def tour(places: Places, seed: int) -> dict[str, set[str]]:
    """Do every operation once after the prelude; return the promises that it could have broken."""
    chance, world = Random(seed), World(places, seed)  # noqa: S311 (it protects nothing)
    names = [each for each in OPERATIONS if each not in LAST]
    covered: dict[str, set[str]] = {}
    try:
        await world.stage.open()
        for name in (*PRELUDE, *names, *PRELUDE, *LAST):
            tested, broken = await take_step(world, name, chance.getrandbits(32))
            assert broken == [], name
            covered[name] = covered.get(name, set()) | tested
    finally:
        await world.stage.end()
    return covered


def test_the_table_says_what_is_covered(tmp_path: Path) -> None:
    """Operations and promises are those that there are; tours through all cover each cell."""
    covered = {name: set[str]() for name in OPERATIONS}
    found: dict[str, list[str]] = {}
    for seed in TOURS:
        (inside := tmp_path / str(seed)).mkdir()
        for name, tested in asyncio.run(tour(FilePlaces(inside), seed)).items():
            covered[name] |= tested
        found = {name: [e for e in PROMISES if e in tested] for name, tested in covered.items()}
        if found == table():
            break

    assert found == table()
