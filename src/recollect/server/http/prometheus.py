"""Prometheus metrics of the service, without data about callers or content."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The metrics of one service. Routes are labelled by template, which contains no names."""

    media_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answered: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.requests = Counter(
            "recollect_requests",
            "Requests answered, by route, method and status.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "recollect_request_seconds",
            "How long requests took to be answered.",
            ("route", "method"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.recall_seconds = Histogram(
            "recollect_recall_seconds",
            "How long recall took.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.messages = Counter(
            "recollect_messages_kept", "Messages kept.", registry=self._registry
        )
        self.formations = Counter(
            "recollect_formations",
            "Formations ended here, by end.",
            ("end",),
            registry=self._registry,
        )
        self.refused = Counter(
            "recollect_refused", "Requests refused, by code.", ("code",), registry=self._registry
        )
        self.streams = Gauge(
            "recollect_open_streams", "Streams that are open.", registry=self._registry
        )
        self.waiting = Gauge(
            "recollect_waiting_threads",
            "Threads that wait to be formed, counted up to 1,000.",
            registry=self._registry,
        )

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Record a request and its duration."""
        key = (route, method, status)
        counted = self._answered.get(key)
        if counted is None:  # labels are few, and looking them up is slow
            counted = self._answered[key] = (
                self.requests.labels(route, method, str(status)),
                self.seconds.labels(route, method),
            )
        requests, took = counted
        requests.inc()
        took.observe(seconds)

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)
