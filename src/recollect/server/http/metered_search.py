"""Measure a search: its span, its time and its count in the usage of a scope."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from recollect.observability.spans import memory_span
from recollect.records import Scope
from recollect.server.http.service import Service


@dataclass(slots=True)
class MeteredSearch:
    """A search, with the number of its results and, once it has ended, its time."""

    found: int = 0
    seconds: float = 0.0

    @property
    def ms(self) -> float:
        """The time in milliseconds, as responses give it."""
        return round(self.seconds * 1_000, 2)


@contextmanager
def metered_search(service: Service, scope: Scope, query: str) -> Iterator[MeteredSearch]:
    """Measure the search of the block, which sets *found*; a search that fails is not counted."""
    search, started = MeteredSearch(), time.perf_counter()
    # The query holds a user's words: traces have it only where the operator asked for that.
    traced = query if service.settings.trace_content else None
    with memory_span("search_memory", query=traced) as span:
        yield search
        span.count(search.found)
    search.seconds = time.perf_counter() - started
    service.metrics.recall_seconds.observe(search.seconds)
    service.usage.add(scope, recalls=1)
