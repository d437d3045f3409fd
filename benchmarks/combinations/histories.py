"""Run random histories: operations in random order, with every promise checked after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Final

from benchmarks.combinations import access, decisions, erasures, moves, talk
from benchmarks.combinations.operations import OPERATIONS, NothingToDoError
from benchmarks.combinations.promises import PROMISES, read_scope, tested_by
from benchmarks.combinations.stage import Places
from benchmarks.combinations.world import SCOPES, STEP_S, World
from recollect.errors import RecollectError
from recollect.stores.locator import file_of

MODULES: Final = (access, decisions, erasures, moves, talk)
"""The modules that register operations."""


@dataclass
class Tally:
    """Counts over some histories, and the violations found."""

    histories: int = 0
    steps: int = 0
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    """(Operation, promise) pairs that were tested."""
    followed: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of consecutive operations."""
    broken: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the counts of other histories."""
        self.histories += other.histories
        self.steps += other.steps
        self.done += other.done
        self.refused += other.refused
        self.pairs |= other.pairs
        self.followed |= other.followed
        self.broken += other.broken


def operations_on(*, lasts: bool, only: Collection[str] = ()) -> list[str]:
    """Return the operations that a kind of store supports, optionally *only* some."""
    return [
        name
        for name, each in OPERATIONS.items()
        if (lasts or not each.needs_lasting) and (not only or name in only)
    ]


async def take_step(world: World, name: str, seed: int) -> tuple[set[str], list[str]]:
    """Run one operation; return the promises that it tested and those that it broke."""
    world.chance.seed(seed)
    world.clock.advance(STEP_S)
    world.loses, world.told = set(), []
    try:
        await OPERATIONS[name].act(world)
        world.done[name] += 1
    except NothingToDoError:
        return set(), world.told
    except RecollectError as error:  # it cannot be done to what is there, and did nothing
        world.refused[f"{name}: {type(error).__name__}"] += 1
    readings = [await read_scope(world, scope) for scope in SCOPES]
    broken = list(world.told)
    if world.allowance.reserved:
        broken.append(f"kept: {world.allowance.reserved} is reserved, and nobody writes")
    for promise, check in PROMISES.items():
        for reading in readings:
            broken += [f"{promise}: {each}" for each in await check(world, reading)]
    return tested_by(world, readings), broken


async def left_in_file(world: World) -> list[str]:
    """Return the words whose bytes remain in the store's file after cleaning."""
    file = file_of(world.stage.url)
    if file is None:
        return []
    await world.stage.close_abandoned()
    await world.memory.clean()
    content = b"".join(
        each.read_bytes() for each in file.parent.iterdir() if each.name.startswith(file.name)
    )
    return [
        f"gone: bytes of {each} are left"
        for each in sorted(world.expected.gone())
        if each.encode() in content
    ]


async def play(places: Places, seed: int, steps: int, *, only: Collection[str] = ()) -> Tally:
    """Run one random history until it ends or a promise is broken."""
    chance, tally = Random(seed), Tally(histories=1)  # noqa: S311 (it protects nothing)
    names = operations_on(lasts=places.lasts, only=only)
    weights = [OPERATIONS[each].weight for each in names]
    world, taken = World(places, seed), list[str]()
    try:
        await world.stage.open()
        for number in range(steps):
            (name,) = chance.choices(names, weights)
            taken.append(name)
            tested, broken = await take_step(world, name, chance.getrandbits(32))
            tally.pairs |= {(name, promise) for promise in tested}
            tally.broken += [f"history {seed}, step {number}, {name}: {each}" for each in broken]
            if broken:
                break
        tally.broken += [
            f"history {seed}, at its end: {each}" for each in await left_in_file(world)
        ]
    finally:
        await world.stage.end()
    tally.steps, tally.followed = len(taken), set(pairwise(taken))
    tally.done, tally.refused = world.done, world.refused
    return tally
