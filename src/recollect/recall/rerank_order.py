"""Reranking: another model's order for the best entries of a recall, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Final

import anyio
from anyio import to_thread

from recollect.errors import ModelError, ModelUnavailableError
from recollect.observability.logs import package_logger
from recollect.ports import Reranker
from recollect.recall.results import Recalled
from recollect.stores.contract.base import Store

LOG: Final = package_logger("recollect.recall.rerank_order")
RERANKING: Final = "reranking"
"""The name of a background task."""
RERANK: Final = "rerank"
"""The name of the signal."""
CANDIDATES: Final = 32
"""Entries given to the reranker, the best ones of the ranking."""
ANSWER_S: Final = 2.0
"""Seconds that a recall waits for the reranker before it continues without it."""
FAILURES_MAX: Final = 3
"""Failures in a row after which the reranker is skipped for a while."""
REST_S: Final = 30.0
"""Seconds to skip a failing reranker: each further failure may cost a query ``ANSWER_S``."""
CALLS_MAX: Final = 8
"""Concurrent calls: one that hangs keeps its thread, and must not use up the shared pool."""


class Reranking:
    """The reranker of an open memory, with a time limit and a pause after repeated failures."""

    def __init__(
        self, store: Store, reranker: Reranker, *, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._reranker = reranker
        self._monitor = store.tasks.monitor(RERANKING, LOG, on_demand=True)
        self._timer = timer
        self._asking = anyio.CapacityLimiter(CALLS_MAX)
        self._failures = 0
        self._rests_until = 0.0

    @property
    def identity(self) -> str:
        """Identity of the reranker."""
        return self._reranker.identity

    async def scores(self, query: str, texts: Sequence[str]) -> list[float | None] | None:
        """
        Return a finite score, or ``None``, for each of *texts*; ``None`` for all on failure.

        Wait at most ``ANSWER_S`` seconds. A failure is logged and shown in `Recollect.health`.
        """
        if self._failures >= FAILURES_MAX and self._timer() < self._rests_until:
            return None
        found: Sequence[float | None] | None = None
        error: ModelError | None = None
        with anyio.move_on_after(ANSWER_S):
            try:
                found = await to_thread.run_sync(
                    partial(self._reranker.rerank, query, texts),
                    abandon_on_cancel=True,
                    limiter=self._asking,
                )
            except ModelError as failure:
                error = failure
        name = self.identity
        if found is None:
            late = ModelUnavailableError(
                f"the reranker {name} gave no answer within {ANSWER_S:g} s (ANSWER_S)"
            )
            late.about = f"{name} gave no answer within {ANSWER_S:g} s"
            self._failed(error or late)
            return None
        scores = [None if each is None or not isfinite(each) else float(each) for each in found]
        if len(scores) != len(texts) or all(each is None for each in scores):
            usable = sum(each is not None for each in scores)
            msg = f"the reranker {name} gave {usable} usable scores for {len(texts)} texts"
            self._failed(ModelError(msg))
            return None
        self._failures = 0
        self._monitor.succeeded()
        return scores

    def _failed(self, error: ModelError) -> None:
        self._failures += 1
        self._rests_until = self._timer() + REST_S
        error.about = error.about or self.identity
        self._monitor.failed(error, about="a query")


def reordered(entries: Sequence[Recalled], scores: Sequence[float | None]) -> list[Recalled]:
    """
    Return *entries* with the first ones in the order of their *scores*.

    Entries without a score follow, in their old order. The scores of recall stay with the places:
    the first entry gets the highest. The difference is the entry's signal ``RERANK``, so that its
    signals still sum to its score.
    """
    head = entries[: len(scores)]
    keyed = [(score is None, -(score or 0.0), place) for place, score in enumerate(scores)]
    moved = [
        replace(
            head[place],
            score=target.score,
            signals={**head[place].signals, RERANK: target.score - head[place].score},
        )
        for target, (_, _, place) in zip(head, sorted(keyed), strict=True)
    ]
    return [*moved, *entries[len(scores) :]]
