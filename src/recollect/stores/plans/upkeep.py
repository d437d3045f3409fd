"""Housekeeping done with later writes of a scope: old idempotency keys and tombstones."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from recollect.stores.rows import MICROSECONDS, IdempotencyRow, ScopeRow

KEY_S: Final = 7 * 86_400
"""A request under a key that was used so long ago is a new request."""
CHANGES_FOLLOWED_MAX: Final = 10_000
"""A reader that missed more changes of a scope than this may have to start over."""


def is_old(row: IdempotencyRow, now: int) -> bool:
    """Return True if the key in *row* has expired."""
    return row.kept_at < old_before(now)


def old_before(now: int) -> int:
    """Return the time before which keys have expired at *now*."""
    return now - KEY_S * MICROSECONDS


def compacted(scope: ScopeRow) -> tuple[ScopeRow, list[tuple[int, int]]]:
    """
    Return *scope* without its oldest tombstones, and their ranges, if it is time.

    Tombstones are removed in batches, so that compaction costs little per change. The last
    ``CHANGES_FOLLOWED_MAX`` changes can always be followed.
    """
    if scope.seq - scope.compacted < 2 * CHANGES_FOLLOWED_MAX:
        return scope, []
    until = scope.seq - CHANGES_FOLLOWED_MAX
    return replace(scope, compacted=until), [(scope.id, until)]
