"""Housekeeping that later writes of a scope do: expire idempotency keys, compact tombstones."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from recollect.stores.rows import MICROSECONDS, IdempotencyRow, ScopeRow

KEY_S: Final = 7 * 86_400
"""Seconds after which a key expires: the same request under it is then a new one."""
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
    Return *scope* and the (scope id, seq) up to which to drop its tombstones, if it is time to.

    The last ``CHANGES_FOLLOWED_MAX`` changes can always be followed.
    """
    # In batches as large as that, so that compaction costs little per change.
    if scope.seq - scope.compacted < 2 * CHANGES_FOLLOWED_MAX:
        return scope, []
    until = scope.seq - CHANGES_FOLLOWED_MAX
    return replace(scope, compacted=until), [(scope.id, until)]
