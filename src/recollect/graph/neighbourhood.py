"""Find the entities and facts around an entity by breadth-first search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias

from recollect.errors import LimitError, UsageError
from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact, in_order

Direction: TypeAlias = Literal["out", "in", "both"]
"""The facts to follow: with the entity as subject, as object, or both."""

DIRECTIONS: Final = ("out", "in", "both")
DEPTH_MAX: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """The entities within some steps, nearest first, and the facts on the way, once each."""

    keys: tuple[str, ...]
    facts: tuple[KnownFact, ...]


def neighbourhood(
    view: GraphSnapshot, key: str, *, depth: int, direction: Direction, at: datetime
) -> Neighbourhood:
    """
    Return the facts around the entity *key*, nearest first, then oldest first.

    It contains all facts of every entity nearer than *depth*, also those that lead back to an
    entity already visited.

    Raises:
        UsageError: *direction* or *depth* is invalid.
        LimitError: *depth* is more than ``DEPTH_MAX``.
    """
    check_steps(depth, "depth")
    if direction not in DIRECTIONS:
        raise UsageError(f"direction is {direction!r}: give one of {', '.join(DIRECTIONS)}")
    met: dict[str, None] = {key: None}
    facts: dict[str, KnownFact] = {}
    front = [key]
    for _ in range(depth):
        beyond: list[str] = []
        for each in front:
            for fact, other in _steps(view, each, direction, at):
                facts.setdefault(fact.memory.key, fact)
                if other is not None and other not in met:
                    met[other] = None
                    beyond.append(other)
        front = beyond
    return Neighbourhood(keys=tuple(met), facts=tuple(facts.values()))


def check_steps(steps: int, what: str) -> None:
    """Raise if *steps* is not a number from 0 to ``DEPTH_MAX``."""
    if isinstance(steps, bool) or steps < 0:
        raise UsageError(f"{what} is {steps!r}: give a number of steps from 0")
    if steps > DEPTH_MAX:
        raise LimitError(what, steps, DEPTH_MAX, "DEPTH_MAX")


def _steps(
    view: GraphSnapshot, key: str, direction: Direction, at: datetime
) -> Iterator[tuple[KnownFact, str | None]]:
    """Yield the facts of an entity, oldest first, each with the entity at its other end."""
    outgoing = view.outgoing(key, at) if direction != "in" else []
    incoming = view.incoming(key, at) if direction != "out" else []
    own = {each.memory.key for each in outgoing}
    both = [*outgoing, *(each for each in incoming if each.memory.key not in own)]
    for fact in sorted(both, key=lambda each: in_order(each.memory)):
        if fact.memory.key in own:
            target = fact.object_key
            yield fact, None if target is None else view.aliases.key_of(target)
        else:
            yield fact, view.aliases.key_of(fact.subject_key)
