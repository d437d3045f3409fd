"""The worker's options, which `recollect.open` accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NotRequired, TypeAlias, TypedDict

from recollect.errors import UsageError
from recollect.records import Scope

if TYPE_CHECKING:  # formation is loaded when something is to be formed
    from recollect.worker.formation_result import FormationResult

FORMATION: Final = "formation"
"""Name of the background task that forms memories."""
SCHEDULE_EVERY_S: Final = 30.0
"""Interval at which cron schedules are looked at."""
CONCURRENCY: Final = 4
CONCURRENCY_MAX: Final = 64

FormationCallback: TypeAlias = "Callable[[Scope, FormationResult], None]"
"""Called in the event loop with every finished formation; it must not raise."""


class WorkerOptions(TypedDict):
    """The options of a `Worker`."""

    name: str
    concurrency: NotRequired[int]
    notice: NotRequired[FormationCallback]


def tell_nobody(_scope: Scope, _result: FormationResult) -> None:
    """Ignore a finished formation; the default callback."""


def check_concurrency(concurrency: int) -> int:
    """
    Return *concurrency* if it is a valid number of simultaneous formations.

    Raises:
        UsageError: It is not a whole number from 1 to ``CONCURRENCY_MAX``.
    """
    if type(concurrency) is not int or not 1 <= concurrency <= CONCURRENCY_MAX:
        raise UsageError(
            f"concurrency is {concurrency!r}: give a whole number from 1 to {CONCURRENCY_MAX} "
            "(CONCURRENCY_MAX)"
        )
    return concurrency
