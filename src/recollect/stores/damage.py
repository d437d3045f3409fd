"""Damage of a store in the log: an error that an operator has to see, whoever met it."""

from __future__ import annotations

import logging
from typing import Final

from recollect.errors import StoreCorruptError, StoreError
from recollect.logs import Repeats, summary_of, times

_REPEATS: Final = Repeats()


def note_damage(log: logging.Logger, name: str, error: StoreError) -> StoreError:
    """Return *error*; if it says that the store *name* is damaged, log that at ``ERROR``."""
    if isinstance(error, StoreCorruptError):
        summary = summary_of(error)
        if count := _REPEATS.due((name, summary)):
            log.error("%s is damaged: %s%s", name, summary, times(count))
    return error
