"""Batches of an import by scope: those of one scope in order, several scopes at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.lifecycle.record_intake import Intake, IntakeCounts
from recollect.records import SCOPE_SETTINGS, JsonObject, Scope
from recollect.stores.plans.archive import scope_of
from recollect.stores.plans.side_archive import SIDE

Batch: TypeAlias = Sequence[JsonObject]
"""Records of one scope."""
TakeBatch: TypeAlias = Callable[[Batch], Awaitable[IntakeCounts]]

SCOPES_TOGETHER: Final = 8
"""So many scopes of an import are written at a time."""


@dataclass(frozen=True, slots=True)
class BatchOutcomes:
    """
    The counts of batches, in their order, and the first error.

    An error ends the batches of its scope, and *error* is that of the first such batch. A batch
    that failed, or was left out, has no counts.
    """

    counts: Sequence[IntakeCounts | None]
    error: BaseException | None


def windows_of(batches: Sequence[Batch]) -> Iterator[Sequence[Batch]]:
    """
    Split *batches*, in order, into parts of at most ``SCOPES_TOGETHER`` scopes.

    Settings of a scope are a part of their own: what comes later may depend on them.
    """
    window: list[Batch] = []
    scopes: set[Scope | None] = set()
    for batch in batches:
        scope, is_alone = _scope_of(batch), any(map(_is_settings, batch))
        is_full = scope not in scopes and len(scopes) == SCOPES_TOGETHER
        if window and (is_alone or is_full):
            yield window
            window, scopes = [], set()
        window.append(batch)
        scopes.add(scope)
        if is_alone:
            yield window
            window, scopes = [], set()
    if window:
        yield window


def _scope_of(batch: Batch) -> Scope | None:
    """Return the scope of *batch*, ``None`` if it is invalid: taking it will say so."""
    try:
        return scope_of(batch[0])
    except UsageError:
        return None


def _is_settings(record: JsonObject) -> bool:
    return record.get("kind") == SIDE and record.get("side_kind") == SCOPE_SETTINGS


async def take_window(intake: Intake, window: Sequence[Batch], take: TakeBatch) -> BatchOutcomes:
    """
    Pass the batches of *window* to *take*, which puts them into *intake*, and wait for all.

    Those of one scope go one after another, those of different scopes at the same time.
    """
    counts: list[IntakeCounts | None] = [None] * len(window)
    lanes: dict[Scope | None, list[int]] = {}
    for place, batch in enumerate(window):
        lanes.setdefault(_scope_of(batch), []).append(place)

    async def take_in_order(places: Sequence[int]) -> None:
        for place in places:
            counts[place] = await take(window[place])

    await intake.look_ahead([each for each in lanes if each])
    ends = await asyncio.gather(*map(take_in_order, lanes.values()), return_exceptions=True)
    errors = {
        next(place for place in places if counts[place] is None): end
        for places, end in zip(lanes.values(), ends, strict=True)
        if end is not None
    }
    return BatchOutcomes(counts, errors[min(errors)] if errors else None)
