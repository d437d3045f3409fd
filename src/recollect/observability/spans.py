"""
Trace, time and log operations by OpenTelemetry's conventions for generative AI.

OpenTelemetry is never imported here: a program that traces has already imported it, and without it
a span costs one look-up in ``sys.modules``. No span contains a user's words, except the query if
the caller of `memory_span` passes it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias

from recollect.errors import RecollectError
from recollect.observability.logs import Repeats, kind_of, package_logger, times
from recollect.observability.metrics import is_measured, record_duration, record_tokens
from recollect.ports import Model, ModelAnswer, ModelRequest

Operation: TypeAlias = Literal[
    "search_memory", "upsert_memory", "delete_memory", "form_memory", "consolidate_memory"
]

SLOW_S: Final = 2.0
"""Duration after which an operation is logged as slow."""
SLOW_MODEL_S: Final = 60.0
MODELS: Final = package_logger("recollect.models")
# Copied from the conventions, whose package need not be installed.
OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
QUERY_TEXT: Final = "gen_ai.memory.query.text"
ERROR_TYPE: Final = "error.type"
REQUEST_MODEL: Final = "gen_ai.request.model"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"

_API: Final = "opentelemetry.trace"
# The only attributes of metrics, which therefore never contain a query.
_MEASURED: Final = (OPERATION_NAME, PROVIDER_NAME, REQUEST_MODEL)
_REPEATS: Final = Repeats()
# The outermost span: operations that call one another are traced once.
_within: ContextVar[MemorySpan | None] = ContextVar("recollect_memory_span", default=None)


class MemorySpan:
    """The span of one operation; it does nothing if the program does not trace."""

    __slots__ = ("records", "span")

    def __init__(self, span: Any = None) -> None:
        self.span = span
        self.records: int | None = None

    def set(self, name: str, value: str | int) -> None:
        """Set an attribute, which must not contain a user's words."""
        if self.span is not None:
            self.span.set_attribute(name, value)

    def count(self, records: int) -> None:
        """Record the number of records that the operation involved."""
        self.records = records
        self.set(RECORD_COUNT, records)

    def failed(self, error: BaseException) -> None:
        """Mark the operation as failed, with the error's code and without its message."""
        if self.span is not None:
            api = sys.modules[_API]
            self.span.set_attribute(ERROR_TYPE, _code_of(error))
            self.span.set_status(api.Status(api.StatusCode.ERROR))


def _code_of(error: BaseException) -> str:
    return error.code if isinstance(error, RecollectError) else kind_of(error)


def _tracer() -> Any:
    """Return the tracer, ``None`` without an SDK."""
    api = sys.modules.get(_API)
    if api is None:
        return None
    tracer = api.get_tracer("recollect", getattr(sys.modules.get("recollect"), "__version__", None))
    return None if isinstance(tracer, api.ProxyTracer) else tracer


def _record(seconds: float, attributes: Mapping[str, str], error: BaseException | None) -> None:
    """Record the duration of an operation, and the code of its error."""
    if not is_measured():
        return
    labels = {name: attributes[name] for name in _MEASURED if name in attributes}
    if error is not None:
        labels[ERROR_TYPE] = _code_of(error)
    record_duration(seconds, labels)


@contextmanager
def _timed(attributes: Mapping[str, str]) -> Iterator[None]:
    """Record the duration of the block, and the code of its error."""
    started = perf_counter()
    try:
        yield
    except BaseException as error:
        _record(perf_counter() - started, attributes, error)
        raise
    _record(perf_counter() - started, attributes, None)


@contextmanager
def _spanned(tracer: Any, name: str, kind: str, attributes: dict[str, str]) -> Iterator[MemorySpan]:
    with tracer.start_as_current_span(
        name,
        kind=getattr(sys.modules[_API].SpanKind, kind),
        # By default the SDK records the exception's message, which may quote a user.
        record_exception=False,
        set_status_on_exception=False,
        attributes=attributes,
    ) as span:
        made = MemorySpan(span)
        try:
            yield made
        except BaseException as error:
            made.failed(error)
            raise


def _spanned_or_not(
    name: str, kind: str, attributes: dict[str, str]
) -> AbstractContextManager[MemorySpan]:
    """Trace a block if the program traces."""
    tracer = _tracer()
    return nullcontext(MemorySpan()) if tracer is None else _spanned(tracer, name, kind, attributes)


class _MemoryOperation:
    """
    The block of one operation on memories.

    A class and no generator: every append and recall enters two of these, mostly without a tracer.
    """

    __slots__ = ("_attributes", "_operation", "_started", "_token", "_traced")

    def __init__(self, operation: Operation, attributes: dict[str, str]) -> None:
        self._operation = operation
        self._attributes = attributes
        self._token: Token[MemorySpan | None] | None = None
        self._traced: AbstractContextManager[MemorySpan] | None = None
        self._started = 0.0

    def __enter__(self) -> MemorySpan:
        outer = _within.get()
        if outer is not None:
            return outer
        self._started = perf_counter()
        tracer = _tracer()
        if tracer is None:
            made = MemorySpan()
        else:
            self._traced = _spanned(tracer, self._operation, "INTERNAL", self._attributes)
            made = self._traced.__enter__()
        self._token = _within.set(made)
        return made

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._token is None:  # inside another operation
            return
        _within.reset(self._token)
        try:
            if self._traced is not None:
                self._traced.__exit__(kind, error, traceback)
        finally:
            _record(perf_counter() - self._started, self._attributes, error)


def memory_span(
    operation: Operation, *, query: str | None = None
) -> AbstractContextManager[MemorySpan]:
    """
    Trace one operation on memories; inside another one, yield the outer span instead.

    Args:
        operation: The operation's name in the conventions.
        query: The query; pass it only if contents may be traced.
    """
    attributes = {OPERATION_NAME: operation, PROVIDER_NAME: "recollect"}
    if query is not None:
        attributes[QUERY_TEXT] = query
    return _MemoryOperation(operation, attributes)


@contextmanager
def observed(
    name: str, operation: Operation, log: logging.Logger, *where: object, slow_s: float = SLOW_S
) -> Iterator[MemorySpan]:
    """
    Trace an operation, log it at ``DEBUG``, and at ``WARNING`` if it was slow.

    Args:
        name: Its name in the log.
        operation: Its name in the semantic conventions.
        log: The logger of the package.
        where: Its context, such as a scope; logged at ``DEBUG`` only.
        slow_s: The duration from which it counts as slow, in seconds.
    """
    started = perf_counter()
    with memory_span(operation) as span:
        try:
            yield span
        finally:
            took_s = perf_counter() - started
            if log.isEnabledFor(logging.DEBUG):
                log.debug("%s %r: %s in %.1f ms", name, where, span.records, took_s * 1_000)
            note_slow(log, name, took_s, slow_s)


def note_slow(log: logging.Logger, name: str, took_s: float, slow_s: float) -> None:
    """Log a warning if *took_s* exceeds *slow_s*; repeated warnings are rate-limited."""
    if took_s > slow_s and (count := _REPEATS.due(name)):
        log.warning("%s was slow: %.1f s%s", name, took_s, times(count))


async def answer_of(model: Model, request: ModelRequest) -> ModelAnswer:
    """
    Return the model's answer, traced in a span.

    Raises:
        ModelError: The model failed.
    """
    identity = model.identity
    provider, _, name = identity.partition("/")
    attributes = {OPERATION_NAME: "chat", PROVIDER_NAME: provider, REQUEST_MODEL: name or provider}
    started = perf_counter()
    with (
        _timed(attributes),
        _spanned_or_not(f"chat {name or provider}", "CLIENT", attributes) as span,
    ):
        answer = await model.answer(request)
        usage = answer.usage
        span.set(INPUT_TOKENS, usage.input_tokens)
        span.set(OUTPUT_TOKENS, usage.output_tokens)
        record_tokens(usage.input_tokens, usage.output_tokens, attributes)
        if span.span is not None:
            span.span.set_attribute(FINISH_REASONS, [answer.stopped])
    took_s = perf_counter() - started
    MODELS.debug(
        "%s answered with %d calls (%s) in %.1f s; %d and %d tokens",
        *(identity, len(answer.calls), answer.stopped, took_s),
        *(usage.input_tokens, usage.output_tokens),
    )
    note_slow(MODELS, identity, took_s, SLOW_MODEL_S)
    return answer
