"""Latency of the service over its real port, each figure with a control of the same run."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from benchmarks.commit_counts import append_all
from benchmarks.http_load import LoadError, LoadRequest, LoadResult, allow_many_files, holding, put
from benchmarks.library_speed import ZipfTalk
from benchmarks.service_kills import run as run_kills
from benchmarks.service_process import Process, serving, serving_bare
from benchmarks.service_recall import lag_figures, recall_figures
from benchmarks.service_report import (
    BARE,
    CONNECTIONS,
    HEALTH,
    LIBRARY,
    LIVE,
    STORE,
    Figure,
    ServicePlan,
    ServiceReport,
    new_folder,
    order_of,
)
from recollect.stores.plans.due_times import Debounce
from recollect.stores.system_clock import timer_s

_QUIET_S: Final = 3.0

Progress = Callable[[str], None]


@dataclass(slots=True)
class _Turns:
    """The results of several rounds, by system: medians of alternating measurements."""

    found: dict[str, list[LoadResult]] = field(default_factory=dict)

    def add(self, name: str, answered: LoadResult, status: str) -> None:
        if set(answered.statuses) != {status}:
            msg = f"{name} answered {answered.statuses}, not {status}"
            raise LoadError(msg)
        self.found.setdefault(name, []).append(answered)

    def figure(self, of: str, measure: Callable[[LoadResult], float]) -> float:
        return statistics.median(measure(each) for each in self.found[of])

    def controls(self, measure: Callable[[LoadResult], float]) -> dict[str, float]:
        names = [each for each in self.found if each != "service"]
        return {each: self.figure(each, measure) for each in names}


def run(plan: ServicePlan, progress: Progress = lambda _: None) -> ServiceReport:
    """Measure everything of *plan* in temporary folders; print nothing."""
    allow_many_files()
    report = ServiceReport()
    with (
        new_folder() as place,
        new_folder() as beside,
        serving_bare(beside) as bare,
        serving(place, store=STORE) as service,
    ):
        report.figures += _append_figures(plan, service, bare, progress)
        progress("write to readable")
        report.figures += lag_figures(plan, service)
        progress(f"{plan.streams:,} streams")
        report.figures += _stream_figures(plan, service, bare)
    progress("recall")
    report.figures += recall_figures(plan)
    if plan.kills:
        report.kills = run_kills(plan.kills, progress)
    return report


def _appends(talk: ZipfTalk, count: int) -> list[LoadRequest]:
    """Return the appends of messages of about twenty words, one per caller."""
    return [
        LoadRequest(
            method="POST",
            path=f"/v1/threads/talk/messages?scope=users&scope={number % CONNECTIONS}",
            body=json.dumps({"messages": [{"role": "user", "text": talk.text(20)}]}),
        )
        for number in range(count)
    ]


def _append_figures(
    plan: ServicePlan, service: Process, bare: Process, progress: Progress
) -> list[Figure]:
    talk, scheduled, most = ZipfTalk(), _Turns(), _Turns()
    library: list[float] = []
    put(order_of(service, _appends(talk, CONNECTIONS * 4)))
    count = max(1, round(plan.rate * plan.seconds))
    for turn in range(plan.turns):
        progress(f"appends, turn {turn + 1} of {plan.turns}")
        for turns, requests, rate in ((scheduled, count, plan.rate), (most, plan.most, None)):
            told, health = _appends(talk, requests), [HEALTH] * requests
            turns.add("service", _put(service, told, rate), "201")
            turns.add(LIVE, _put(service, health, rate), "200")
            turns.add(BARE, _put(bare, told, rate), "201")
        library.append(_library_appends(plan.most))
    return [*_rate_figures(plan, scheduled), *_most_figures(most, statistics.median(library))]


def _put(process: Process, requests: list[LoadRequest], rate: float | None) -> LoadResult:
    """Run a load on a service, and record its processor time."""
    before_s = process.cpu_s()
    answered = put(order_of(process, requests, rate=rate))
    after_s = process.cpu_s()
    took_s = None if before_s is None or after_s is None else after_s - before_s
    return replace(answered, service_cpu_s=took_s)


def _rate_figures(plan: ServicePlan, scheduled: _Turns) -> list[Figure]:
    at = f"append, {plan.rate:g} a second over {CONNECTIONS} connections"
    return [
        _scheduled(f"{at}, p50", scheduled, 50, 10.0),
        _scheduled(f"{at}, p99", scheduled, 99, 50.0),
        Figure(
            name=f"appends answered of {plan.rate:g} a second",
            value=scheduled.figure("service", lambda each: each.a_second),
            unit="a second",
        ),
        Figure(
            name="how late the sender is itself, p99",
            value=scheduled.figure("service", lambda each: each.late_ms),
            unit="ms",
            controls=scheduled.controls(lambda each: each.late_ms),
        ),
        *_processor_figures(f"{plan.rate:g} a second", scheduled),
    ]


def _most_figures(most: _Turns, library: float) -> list[Figure]:
    return [
        Figure(
            name=f"appends, the most over {CONNECTIONS} connections",
            value=most.figure("service", lambda each: each.a_second),
            unit="a second",
            goal=1_000.0,
            is_least=True,
            controls=most.controls(lambda each: each.a_second)
            | {f"{LIBRARY}, {CONNECTIONS} callers": library},
        ),
        *_processor_figures("the most", most),
    ]


def _processor_figures(at: str, turns: _Turns) -> list[Figure]:
    """Return the processor time per request, which other load on the machine disturbs least."""
    if any(each.service_cpu_s is None for found in turns.found.values() for each in found):
        return []

    def service_ms(each: LoadResult) -> float:
        return (each.service_cpu_s or 0.0) / len(each.latencies_ms) * 1_000

    def sender_ms(each: LoadResult) -> float:
        return each.cpu_s / len(each.latencies_ms) * 1_000

    return [
        Figure(
            name=f"processor time of the service for an append, {at}",
            value=turns.figure("service", service_ms),
            unit="ms",
            controls=turns.controls(service_ms)
            | {"the sender": turns.figure("service", sender_ms)},
        )
    ]


def _scheduled(name: str, turns: _Turns, percent: float, goal: float) -> Figure:
    def measure(each: LoadResult) -> float:
        return each.percentile_ms(percent)

    return Figure(
        name=name,
        value=turns.figure("service", measure),
        unit="ms",
        goal=goal,
        controls=turns.controls(measure),
    )


def _library_appends(count: int) -> float:
    messages = ZipfTalk().messages(count)
    with new_folder() as place:
        path = place / STORE
        took_s = asyncio.run(append_all(path, messages, callers=CONNECTIONS, debounce=Debounce()))
    return count / took_s


def _stream_figures(plan: ServicePlan, service: Process, bare: Process) -> list[Figure]:
    quiet_s = min(_QUIET_S, plan.seconds)
    held = _held(service, "/v1/changes", plan.streams, quiet_s)
    beside = _held(bare, "/stream", plan.streams, quiet_s)
    name = f"{plan.streams:,} idle readers of changes"
    figures = [
        Figure(
            name=f"{name}, all that the service keeps resident",
            value=held.mb,
            unit="MB",
            goal=150.0,
            controls={BARE: beside.mb, "without them": held.alone_mb},
        ),
        Figure(
            name=f"{name}, what they add",
            value=held.mb - held.alone_mb,
            unit="MB",
            controls={BARE: beside.mb - beside.alone_mb},
        ),
    ]
    if held.processor is not None and beside.processor is not None:
        figures.append(
            Figure(
                name=f"{name}, of one processor",
                value=100 * held.processor,
                unit="%",
                controls={BARE: 100 * beside.processor},
            )
        )
    return figures


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The cost of streams: memory before and during them, and processor share."""

    alone_mb: float
    mb: float
    processor: float | None


def _held(service: Process, path: str, streams: int, quiet_s: float) -> _Held:
    alone_mb = service.memory_mb()
    order = order_of(service, [LoadRequest(method="GET", path=path)], connections=streams)
    with holding(order) as opened:
        if opened != streams:
            msg = f"{opened} of {streams} streams were opened"
            raise LoadError(msg)
        began, before_s = timer_s(), service.cpu_s()
        time.sleep(quiet_s)
        after_s, took_s = service.cpu_s(), timer_s() - began
        share = None if before_s is None or after_s is None else (after_s - before_s) / took_s
        return _Held(alone_mb=alone_mb, mb=service.memory_mb(), processor=share)
