"""The worker's options, which `open` takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from recollect.errors import UsageError
from recollect.records import Scope

if TYPE_CHECKING:  # formation is loaded when something is to be formed
    from recollect.worker.formation_run import FormationResult

FORMATION: Final = "formation"
"""The name of the background task that forms."""
CONCURRENCY: Final = 4
CONCURRENCY_MAX: Final = 64

FormationCallback: TypeAlias = "Callable[[Scope, FormationResult], None]"
"""Is told of every formation that ended; it is called in the event loop, and raises nothing."""


def tell_nobody(_scope: Scope, _result: FormationResult) -> None:
    """Ignore a finished formation; the default callback."""


def check_concurrency(concurrency: int) -> int:
    """
    Return *concurrency* if so many formations may run at once.

    Raises:
        UsageError: It is no whole number from 1 to ``CONCURRENCY_MAX``.
    """
    if type(concurrency) is not int or not 1 <= concurrency <= CONCURRENCY_MAX:
        msg = (
            f"concurrency is {concurrency!r}: give a whole number from 1 to {CONCURRENCY_MAX} "
            "(CONCURRENCY_MAX)"
        )
        raise UsageError(msg)
    return concurrency
