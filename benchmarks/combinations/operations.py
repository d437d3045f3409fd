"""The table of all operations, filled by the modules beside it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from benchmarks.combinations.world import World

Act: TypeAlias = Callable[[World], Awaitable[None]]


class NothingToDoError(Exception):
    """There is nothing yet that the operation could be done to."""


@dataclass(frozen=True, slots=True)
class HistoryOperation:
    """Something that is done to a memory; *weight* says how often."""

    act: Act
    weight: int
    needs_lasting: bool
    """Whether it needs a store that outlives the object that opened it."""


OPERATIONS: Final[dict[str, HistoryOperation]] = {}


def operation(name: str, weight: int = 2, *, needs_lasting: bool = False) -> Callable[[Act], Act]:
    """Add a function to the table of operations."""

    def add(act: Act) -> Act:
        OPERATIONS[name] = HistoryOperation(act, weight, needs_lasting)
        return act

    return add
