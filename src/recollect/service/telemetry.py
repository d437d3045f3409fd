"""Spans by OpenTelemetry's conventions for memory; without an SDK they cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from recollect import __version__
from recollect.errors import RecollectError

Operation: TypeAlias = Literal["search_memory", "upsert_memory", "delete_memory"]

# The package of conventions does not name them yet.
OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
QUERY_TEXT: Final = "gen_ai.memory.query.text"
ERROR_TYPE: Final = "error.type"


@contextmanager
def memory_span(operation: Operation, *, query: str | None = None) -> Iterator[Span]:
    """
    Trace one operation on memories; an error of ours is told by its code, never its words.

    Args:
        operation: What is done, by the conventions' name.
        query: What was asked; only given where contents may be traced.
    """
    tracer = trace.get_tracer("recollect.service", __version__)
    if isinstance(tracer, trace.ProxyTracer):  # it stands for none: there is no SDK
        yield trace.INVALID_SPAN
        return
    with tracer.start_as_current_span(
        operation,
        kind=SpanKind.INTERNAL,
        record_exception=False,
        set_status_on_exception=False,
        attributes={OPERATION_NAME: operation, PROVIDER_NAME: "recollect"},
    ) as span:
        if query is not None:
            span.set_attribute(QUERY_TEXT, query)
        try:
            yield span
        except RecollectError as error:
            span.set_attribute(ERROR_TYPE, error.code)
            span.set_status(Status(StatusCode.ERROR))
            raise


def count_records(span: Span, count: int) -> None:
    """Note how many records an operation was about."""
    span.set_attribute(RECORD_COUNT, count)
