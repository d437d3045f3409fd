"""
The index of one scope: immutable segments with masks of live entries.

An index is immutable: `refreshed` returns a new one, so that a running search can finish on the
index it started with. Following a feed step by step gives the same entries as reading it from its
beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recollect.recall.feed_columns import FeedColumns, columns_of_blocks, columns_of_entries
from recollect.recall.index_names import IndexNames
from recollect.recall.segment import (
    AnyArray,
    Segment,
    build_segment,
    constant,
    is_constant,
    is_mapped,
    places_by_uid,
)
from recollect.recall.segment_joins import joined_postings, joined_vectors
from recollect.records import Scope
from recollect.stores.change_feed import Cursor, Feed

MERGE_ENTRIES_MAX: Final = 2_048
"""Size up to which segments are merged by a search; larger ones in the background by `merged`."""
MERGE_RATIO: Final = 4
"""A segment is merged with newer ones only if it is at most this many times their size."""
SEGMENTS_MAX: Final = 8
"""An index of more segments is merged in the background, so that searches stay fast."""


@dataclass(frozen=True, slots=True)
class LiveSegment:
    """A segment and the mask of its live entries."""

    segment: Segment
    is_live: NDArray[np.bool_]

    @property
    def live(self) -> int:
        """Number of live entries."""
        return int(np.count_nonzero(self.is_live))


@dataclass(frozen=True, kw_only=True)
class ScopeIndex:
    """The entries of a scope's feed up to *seq*, ready to be searched."""

    scope: Scope
    seq: int = 0
    epoch: int = -1
    parts: tuple[LiveSegment, ...] = ()
    names: IndexNames = field(default_factory=IndexNames)

    @cached_property
    def cursor(self) -> Cursor:
        """The feed cursor up to which this index is current."""
        return Cursor(scope=self.scope, seq=self.seq, epoch=self.epoch)

    @property
    def live(self) -> int:
        """Number of live entries."""
        return sum(part.live for part in self.parts)

    @property
    def size_bytes(self) -> int:
        """Size of its arrays in bytes, without those that are pages of a file."""
        masks = (part.is_live for part in self.parts if not is_mapped(part.is_live))
        return sum(part.segment.size_bytes for part in self.parts) + sum(e.nbytes for e in masks)


def refreshed(index: ScopeIndex, feed: Feed) -> ScopeIndex:
    """Return *index* updated with *feed*, which was read from the index's cursor."""
    if not (feed.reset or feed.entries or feed.blocks or feed.removed):
        # The very same index, if nothing changed: cached collections are compared by identity.
        return replace(index, seq=feed.seq) if feed.seq != index.seq else index
    if feed.reset:
        # Another epoch: the scope was erased or restored, and nothing of the old index holds.
        index = ScopeIndex(scope=index.scope)
    found = _columns_of(feed)
    gone = np.array(feed.removed, np.int64)
    if found:
        # An entry in the feed replaces its older version.
        gone = np.concatenate([found.uid, gone])
    parts = tuple(_without(part, gone) for part in index.parts)
    if found:
        parts = (*parts, _part_of(found, index.names))
    parts = tuple(part for part in parts if part.live)
    return replace(index, seq=feed.seq, epoch=feed.epoch, parts=_merged(parts, MERGE_ENTRIES_MAX))


def _columns_of(feed: Feed) -> FeedColumns | None:
    if feed.blocks:
        return columns_of_blocks(feed.blocks)
    return columns_of_entries(feed.entries) if feed.entries else None


def _part_of(found: FeedColumns, names: IndexNames) -> LiveSegment:
    segment = build_segment(found, names)
    return LiveSegment(segment, np.ones(len(segment), np.bool_))


def _without(part: LiveSegment, gone: NDArray[np.int64]) -> LiveSegment:
    places = part.segment.places_of(gone)
    if not len(places):
        return part
    is_live = part.is_live.copy()
    is_live[places] = False
    return LiveSegment(part.segment, is_live)


def needs_merging(index: ScopeIndex) -> bool:
    """Return True if the index has so many parts or dead entries that merging pays off."""
    stored = sum(len(part.segment) for part in index.parts)
    return len(index.parts) > SEGMENTS_MAX or stored > 2 * index.live + MERGE_ENTRIES_MAX


def merged(index: ScopeIndex) -> ScopeIndex:
    """Return an equivalent index of one part; takes time linear in its size."""
    return replace(index, parts=_merged(index.parts, None))


def _merged(parts: tuple[LiveSegment, ...], entries_max: int | None) -> tuple[LiveSegment, ...]:
    """
    Merge the newest parts while they stay within *entries_max* together.

    A part over ``MERGE_RATIO`` times as large as all newer ones together is left alone; otherwise
    each append would copy it again.
    """
    tail: list[LiveSegment] = []
    size = 0
    for part in reversed(parts):
        added = len(part.segment)
        if entries_max is not None and (
            size + added > entries_max or 0 < MERGE_RATIO * size < added
        ):
            break
        size += added
        tail.insert(0, part)
    if len(tail) < 2 and not any(part.live < len(part.segment) for part in tail):
        return parts
    kept = parts[: len(parts) - len(tail)]
    return (*kept, concatenated(tail)) if tail else kept


def concatenated(parts: Sequence[LiveSegment]) -> LiveSegment:
    """Return the live entries of *parts* as one part, in order."""
    segments = [part.segment for part in parts]
    places = [np.flatnonzero(part.is_live) for part in parts]
    key = np.concatenate([s.key[at] for s, at in zip(segments, places, strict=True)])
    order = np.argsort(key, kind="stable")
    uid = _column(segments, places, order, "uid")
    ranks = _ranks(segments, places, order)
    segment = Segment(
        uid=uid,
        key=key[order],
        **{name: _column(segments, places, order, name) for name in _COLUMNS},
        **joined_vectors(segments, ranks, len(order))._asdict(),
        **joined_postings(segments, ranks)._asdict(),
        by_uid=places_by_uid(uid),
        is_timeless=all(segment.is_timeless for segment in segments),
    )
    return LiveSegment(segment, np.ones(len(segment), np.bool_))


_COLUMNS: Final = (
    "time", "speaker", "role", "kind", "thread", "length", "has_time_expression", "is_first_person",
    "is_active",
    "valid_from", "valid_until", "expires_at",
)  # fmt: skip


def _column(
    segments: Sequence[Segment],
    places: Sequence[NDArray[np.intp]],
    order: NDArray[np.intp],
    name: str,
) -> AnyArray:
    whole = [getattr(segment, name) for segment in segments]
    if all(map(is_constant, whole)):  # validity and expiry, where no entry has one
        return constant(int(whole[0][0]), len(order))
    columns = [column[at] for column, at in zip(whole, places, strict=True)]
    return np.concatenate(columns)[order]


def _ranks(
    segments: Sequence[Segment], places: Sequence[NDArray[np.intp]], order: NDArray[np.intp]
) -> list[NDArray[np.int32]]:
    """Return, per segment, each entry's position in the joined order; -1 if it is dead."""
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    found = []
    start = 0
    for segment, at in zip(segments, places, strict=True):
        new = np.full(len(segment), -1, np.int32)
        new[at] = rank[start : start + len(at)]
        start += len(at)
        found.append(new)
    return found
