"""Write the batches of an import: those of one scope in order, several scopes concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.lifecycle.record_import import RecordImport, RecordImportCounts
from recollect.records import JsonObject, Scope
from recollect.side_records import SCOPE_SETTINGS
from recollect.stores.plans.archive import scope_of
from recollect.stores.plans.side_archive import SIDE

Batch: TypeAlias = Sequence[JsonObject]
"""Records of one scope."""
TakeBatch: TypeAlias = Callable[[Batch], Awaitable[RecordImportCounts]]

SCOPES_TOGETHER: Final = 8
"""Scopes of an import that are written concurrently."""


@dataclass(frozen=True, slots=True)
class BatchOutcomes:
    """
    The counts of batches, in their order, and the first error.

    After an error the later batches of its scope are skipped. *error* is that of the earliest
    failed batch. A failed or skipped batch has no counts.
    """

    counts: Sequence[RecordImportCounts | None]
    error: BaseException | None


def windows_of(batches: Sequence[Batch]) -> Iterator[Sequence[Batch]]:
    """
    Split *batches*, in order, into windows of at most ``SCOPES_TOGETHER`` scopes.

    A batch with settings of a scope is a window of its own, since later batches may depend on them.
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
    """Return the scope of *batch*, ``None`` if it is invalid: storing it reports that."""
    try:
        return scope_of(batch[0])
    except UsageError:
        return None


def _is_settings(record: JsonObject) -> bool:
    return record.get("kind") == SIDE and record.get("side_kind") == SCOPE_SETTINGS


async def take_window(
    record_import: RecordImport, window: Sequence[Batch], take: TakeBatch
) -> BatchOutcomes:
    """
    Pass the batches of *window* to *take*, which puts them into *record_import*, and wait for all.

    Batches of one scope run in order, those of different scopes concurrently.
    """
    counts: list[RecordImportCounts | None] = [None] * len(window)
    lanes: dict[Scope | None, list[int]] = {}
    for place, batch in enumerate(window):
        lanes.setdefault(_scope_of(batch), []).append(place)

    async def take_in_order(places: Sequence[int]) -> None:
        for place in places:
            counts[place] = await take(window[place])

    await record_import.look_ahead([each for each in lanes if each])
    # Wait for all scopes even if one fails: no write may still run when the error is raised.
    ends = await asyncio.gather(*map(take_in_order, lanes.values()), return_exceptions=True)
    errors = {
        next(place for place in places if counts[place] is None): end
        for places, end in zip(lanes.values(), ends, strict=True)
        if end is not None
    }
    return BatchOutcomes(counts, errors[min(errors)] if errors else None)
