"""Spans of what a memory does, with the real SDK: operations, counts, tokens, and no words."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import recollect
from recollect import DeleteMemory, EraseThread, NewMessage, VersionConflictError
from recollect.errors import ModelDeniedError
from recollect.formation.config import FormationSettings
from recollect.formation.rule_model import RuleModel
from recollect.observability.metrics import DURATION, TOKEN_TYPE, TOKENS
from recollect.observability.spans import (
    ERROR_TYPE,
    FINISH_REASONS,
    INPUT_TOKENS,
    OPERATION_NAME,
    OUTPUT_TOKENS,
    PROVIDER_NAME,
    QUERY_TEXT,
    RECORD_COUNT,
    REQUEST_MODEL,
    memory_span,
)
from recollect.records import Scope
from recollect.testing.scripted_model import ScriptedModel
from recollect.worker.formation_run import END

SECRET = "heliotrope"
ADA: Scope = ("users", "Quarrender")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Yield what collects the spans of a program that traces."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def attributes(span: ReadableSpan) -> dict[str, object]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})


def named(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    """Return the finished spans with a name, in order."""
    return [each for each in exporter.get_finished_spans() if each.name == name]


def said(text: str) -> Sequence[NewMessage]:
    """Return a message of a user."""
    return [NewMessage(role="user", text=text, source=SECRET)]


async def day(model: object) -> None:
    """Do everything once that has a span."""
    settings = FormationSettings()
    async with recollect.open(
        model=model,
        embedder="none",
        formation=settings,
        worker=False,
    ) as memory:
        await memory.append(ADA, SECRET, said(f"I moved to Oslo, {SECRET}"))
        await memory.recall(ADA, f"Oslo {SECRET}")
        await memory.form(ADA)
        await memory.put(ADA, "Note", SECRET, {"context": SECRET, "content": SECRET})
        await memory.apply(ADA, [DeleteMemory(type="Note", key=SECRET)])
        await memory.consolidate(ADA)
        await memory.erase(ADA, EraseThread(thread=SECRET))


async def test_each_operation_has_a_span(spans: InMemorySpanExporter) -> None:
    """Named by the conventions, with the number of records and nothing that somebody said."""
    await day(RuleModel())

    told = spans.get_finished_spans()
    assert [
        "upsert_memory",
        "search_memory",
        "form_memory",
        "upsert_memory",
        "delete_memory",
        "consolidate_memory",
        "delete_memory",
    ] == [each.name for each in told if each.kind is SpanKind.INTERNAL]
    for each in told:
        assert (each.kind is SpanKind.CLIENT) == (attributes(each)[OPERATION_NAME] == "chat")
    assert {"recollect", "rules"} == {attributes(each)[PROVIDER_NAME] for each in told}
    assert (1, 1) == tuple(attributes(each)[RECORD_COUNT] for each in told[:2])
    assert "formed" == attributes(named(spans, "form_memory")[0])[END]
    written = str([each.to_json() for each in told]).lower()
    assert SECRET not in written
    assert "quarrender" not in written
    assert "oslo" not in written


async def test_a_model_request_is_a_child_of_its_formation(spans: InMemorySpanExporter) -> None:
    """By the GenAI conventions: model, provider, tokens, and why it stopped."""
    await day(ScriptedModel(["no call"] * 20, identity="openai/gpt-5-mini"))

    (forming,) = named(spans, "form_memory")
    asked = named(spans, "chat gpt-5-mini")
    assert len(asked) > 1  # the answer was of no use, and it was asked again
    for each in asked:
        told = attributes(each)
        assert each.parent is not None
        assert forming.context is not None
        assert each.parent.span_id == forming.context.span_id
        assert ("chat", "openai", "gpt-5-mini") == (
            told[OPERATION_NAME],
            told[PROVIDER_NAME],
            told[REQUEST_MODEL],
        )
        assert told[FINISH_REASONS] == ("end",)
        assert told[OUTPUT_TOKENS] == 2
    growing = [int(str(attributes(each)[INPUT_TOKENS])) for each in asked]
    assert all(one < other for one, other in pairwise(growing))
    assert "failed" == attributes(forming)[END]


async def test_a_failure_is_told_by_its_code(spans: InMemorySpanExporter) -> None:
    """No event, no traceback and no text of the error: they may quote a user."""
    model = ScriptedModel(lambda _: ModelDeniedError(f"refused {SECRET}"), identity="a/b")
    await day(model)
    async with recollect.open(embedder="none") as memory:
        with pytest.raises(VersionConflictError):
            await memory.put(ADA, "Note", SECRET, {"context": "a", "content": SECRET}, expected=7)

    asked, written = named(spans, "chat b")[0], named(spans, "upsert_memory")[-1]
    assert ("model_denied", "version_conflict") == (
        attributes(asked)[ERROR_TYPE],
        attributes(written)[ERROR_TYPE],
    )
    for each in (asked, written):
        assert (StatusCode.ERROR, None, ()) == (
            each.status.status_code,
            each.status.description,
            tuple(each.events),
        )
    assert SECRET not in str([each.to_json() for each in spans.get_finished_spans()])


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    """Yield what reads the metrics of a program that measures."""
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    monkeypatch.setattr("opentelemetry.metrics.get_meter_provider", lambda: provider)
    yield reader
    provider.shutdown()


def points(reader: InMemoryMetricReader, name: str) -> list[HistogramDataPoint]:
    """Return what was measured under a name."""
    data = reader.get_metrics_data()
    return [
        point
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
        if isinstance(point, HistogramDataPoint)
    ]


async def test_each_operation_is_measured(metrics: InMemoryMetricReader) -> None:
    """How often, how long, and by which model; the numbers of the spans, and no words."""
    await day(ScriptedModel(["no call"] * 20, identity="openai/gpt-5-mini"))

    durations = points(metrics, DURATION)
    counts = {str((each.attributes or {})[OPERATION_NAME]): each.count for each in durations}
    assert counts.pop("chat") > 1
    assert counts == {
        "upsert_memory": 2,
        "search_memory": 1,
        "form_memory": 1,
        "delete_memory": 2,
        "consolidate_memory": 1,
    }
    assert all(each.sum > 0 for each in durations)
    tokens = {(each.attributes or {})[TOKEN_TYPE]: each for each in points(metrics, TOKENS)}
    assert {"input", "output"} == tokens.keys()
    assert tokens["input"].sum > tokens["output"].sum > 0
    assert "gpt-5-mini" == (tokens["input"].attributes or {})[REQUEST_MODEL]
    written = str([dict(each.attributes or {}) for each in durations]).lower()
    assert SECRET not in written
    assert "oslo" not in written


async def test_a_failure_is_measured_by_its_code(metrics: InMemoryMetricReader) -> None:
    """And a query is in no metric, though a span may have it."""
    with memory_span("search_memory", query=SECRET):
        pass
    with pytest.raises(VersionConflictError):
        async with recollect.open(embedder="none") as memory:
            await memory.put(ADA, "Note", SECRET, {"context": "a", "content": SECRET}, expected=7)

    told = [dict(each.attributes or {}) for each in points(metrics, DURATION)]
    assert {OPERATION_NAME: "search_memory", PROVIDER_NAME: "recollect"} in told
    assert ["version_conflict"] == [each[ERROR_TYPE] for each in told if ERROR_TYPE in each]


async def test_an_operation_within_another_has_no_span_of_its_own(
    spans: InMemorySpanExporter,
) -> None:
    """`put` is one operation, and so is a request of the service that appends."""
    async with recollect.open(embedder="none") as memory:
        with memory_span("upsert_memory", query=SECRET) as outer:
            await memory.append(ADA, "t", said("hello"))
            outer.count(5)
        await memory.append(ADA, "t", said("hello again"))

    first, second = named(spans, "upsert_memory")
    assert (5, SECRET) == (attributes(first)[RECORD_COUNT], attributes(first)[QUERY_TEXT])
    assert (1, False) == (attributes(second)[RECORD_COUNT], QUERY_TEXT in attributes(second))


def test_nothing_of_opentelemetry_is_loaded_by_itself() -> None:
    """A program that does not trace pays for no import, and one that has only the API no span."""
    program = (
        "import asyncio, sys, recollect\n"
        "async def main():\n"
        "    async with recollect.open(embedder='none') as memory:\n"
        "        said = [recollect.NewMessage(role='user', text='hi')]\n"
        "        await memory.append(('a',), 't', said)\n"
        "        assert not [each for each in sys.modules if 'opentelemetry' in each]\n"
        "        import opentelemetry.trace\n"
        "        await memory.append(('a',), 't', said)\n"
        "        assert not [each for each in sys.modules if 'opentelemetry.sdk' in each]\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert (0, b"") == (done.returncode, done.stderr)
