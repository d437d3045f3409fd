"""Log damage of a store at ``ERROR``, so that operators see it whichever call met it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from recollect.errors import StoreCorruptError, StoreError
from recollect.observability.logs import Repeats, kind_of, summary_of, times

_REPEATS: Final = Repeats()


def note_damage(log: logging.Logger, name: str, error: StoreError) -> StoreError:
    """Return *error*; if it reports damage of the store *name*, log it at ``ERROR``."""
    if isinstance(error, StoreCorruptError):
        # One damaged page fails many calls: log each kind of damage only now and then.
        summary = summary_of(error)
        if count := _REPEATS.due((name, summary)):
            log.error("%s is damaged: %s%s", name, summary, times(count))
    return error


def note_failure(log: logging.Logger, name: str, cause: Exception, error: StoreError) -> StoreError:
    """Return *error*, with a description of its *cause* that logs may contain; log damage."""
    error.about = f"{name} ({kind_of(cause)})"
    return note_damage(log, name, error)


def lost_entries(scope_id: int | None, uids: Sequence[int]) -> StoreCorruptError:
    """Return the error for entries that an index lists but that have no row."""
    error = StoreCorruptError(
        f"{len(uids)} entries that an index lists are missing, such as that with uid {uids[0]}: "
        "run `recollect doctor`, and restore the store from a backup"
    )
    error.about = f"scope {scope_id}, uid {uids[0]}"
    return error
