"""The processor time of deciding: reading an answer of a model, grounding and reconciling it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from recollect.formation.newer_writes import reconcile_beside_others
from recollect.worker import formation_run
from recollect.worker.model_calls import FormationDialogue


@dataclass(slots=True)
class DecidingTime:
    """The *seconds* of processor time that the measured functions took on their threads."""

    seconds: float = 0.0

    def measured(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return *function*, measured."""

        def call(*arguments: Any) -> Any:
            began = time.thread_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.thread_time() - began

        return call


@contextmanager
def measured_deciding() -> Iterator[DecidingTime]:
    """Measure the deciding of all formations inside the block."""
    deciding = DecidingTime()
    take = deciding.measured(FormationDialogue._take)  # noqa: SLF001 (what is measured is inside)
    reconcile = deciding.measured(reconcile_beside_others)
    with (
        mock.patch.object(FormationDialogue, "_take", take),
        mock.patch.object(formation_run, "reconcile_beside_others", reconcile),
    ):
        yield deciding
