"""The registry of operations, filled by the modules of this package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from benchmarks.combinations.world import World

Act: TypeAlias = Callable[[World], Awaitable[None]]


class NothingToDoError(Exception):
    """Nothing exists yet that the operation applies to."""


@dataclass(frozen=True, slots=True)
class HistoryOperation:
    """An operation on a memory; *weight* is its relative frequency."""

    act: Act
    weight: int
    needs_lasting: bool
    """Whether it needs a store that outlives the object that opened it."""


OPERATIONS: Final[dict[str, HistoryOperation]] = {}


def operation(name: str, weight: int = 2, *, needs_lasting: bool = False) -> Callable[[Act], Act]:
    """Register a function as an operation."""

    def add(act: Act) -> Act:
        OPERATIONS[name] = HistoryOperation(act, weight, needs_lasting)
        return act

    return add
