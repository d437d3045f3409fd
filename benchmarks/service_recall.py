"""Recall latency of the service: warm, cold, and of recent writes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Final

from benchmarks.http_load import LoadRequest, percentile, put
from benchmarks.library_speed import ZipfTalk
from benchmarks.service_process import Process, serving
from benchmarks.service_report import (
    HEALTH,
    LIBRARY,
    LIVE,
    STORE,
    Figure,
    ServicePlan,
    new_folder,
    order_of,
)
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.stores.locator import open_store
from recollect.stores.system_clock import timer_s

ENTRIES: Final = 600
_FILLED_AT_ONCE: Final = 50
_LETTERS: Final = "bcdfghjklm"


def _word(number: int) -> str:
    """Return a unique word for a number."""
    return "zq" + "".join(_LETTERS[int(digit)] for digit in str(number))


def lag_figures(plan: ServicePlan, service: Process) -> list[Figure]:
    """Measure the time from an append's answer until its word is recalled."""
    talk, path = ZipfTalk(), "?scope=lag"
    filling = [{"role": "user", "text": talk.text(20)} for _ in range(ENTRIES)]
    fill = [
        LoadRequest(
            method="POST",
            path=f"/v1/threads/talk/messages{path}",
            body=json.dumps({"messages": filling[start : start + _FILLED_AT_ONCE]}),
        )
        for start in range(0, ENTRIES, _FILLED_AT_ONCE)
    ]
    pairs: list[LoadRequest] = []
    for number in range(plan.lags):
        word = _word(number)
        said = json.dumps({"messages": [{"role": "user", "text": f"{talk.text(20)} {word}"}]})
        pairs.append(LoadRequest(method="POST", path=f"/v1/threads/talk/messages{path}", body=said))
        pairs.append(_recall(path, word, expected=word))
    again = [_recall(path, talk.text(8)) for _ in range(plan.lags)]
    put(order_of(service, fill, connections=1))
    lagged = put(order_of(service, pairs, connections=1))
    warm = put(order_of(service, again, connections=1))
    control = "recall without a write before"
    return [
        Figure(
            name=f"write to readable, p{percent}",
            value=lagged.percentile_ms(percent, start=1, step=2),
            unit="ms",
            goal=50.0 if percent == 99 else None,
            controls={control: warm.percentile_ms(percent)},
        )
        for percent in (50, 99)
    ] + [
        Figure(
            name=f"of {plan.lags:,} words not found by the first recall",
            value=lagged.unexpected,
            unit="words",
            goal=0,
        )
    ]


def _recall(scoped: str, query: str, *, expected: str = "") -> LoadRequest:
    return LoadRequest(
        method="POST",
        path=f"/v1/recall{scoped}",
        body=json.dumps({"query": query, "limit": 10}),
        expected=expected,
    )


def recall_figures(plan: ServicePlan) -> list[Figure]:
    """Measure recall in untouched scopes (cold), then in one of them (warm)."""
    talk = ZipfTalk()
    with new_folder() as place:
        with serving(place, store=STORE) as service:
            key = service.key
        asyncio.run(_filled(place / STORE, plan.scopes + 1))
        paths = [f"?scope=people&scope={number}" for number in range(plan.scopes + 1)]
        with serving(place, store=STORE, key=key) as service:
            put(order_of(service, [_recall(paths[0], talk.text(8))] * 3, connections=1))
            first = [_recall(each, talk.text(8)) for each in paths[1:]]
            cold = put(order_of(service, first, connections=1))
            again = [_recall(paths[0], talk.text(8)) for _ in range(plan.recalls)]
            warm = put(order_of(service, again, connections=1))
            live = put(order_of(service, [HEALTH] * plan.recalls, connections=1))
        library = asyncio.run(_library_recalls(place / STORE, plan))
    return [
        Figure(
            name=f"recall, {kind}, scopes of {ENTRIES}, p{percent}",
            value=answered.percentile_ms(percent),
            unit="ms",
            goal=goal if percent == 50 else None,
            controls={
                LIBRARY: percentile(library[kind], percent),
                LIVE: live.percentile_ms(percent),
            },
        )
        for kind, answered, goal in (("warm", warm, 10.0), ("cold", cold, 40.0))
        for percent in (50, 95)
    ]


def _person(number: int) -> Scope:
    return ("default", "people", str(number))


async def _filled(path: Path, scopes: int) -> None:
    talk = ZipfTalk()
    async with Recollect(open_store(str(path)), embedder="none") as memory:
        for number in range(scopes):
            await memory.append(_person(number), "talk", talk.messages(ENTRIES))


async def _library_recalls(path: Path, plan: ServicePlan) -> dict[str, list[float]]:
    talk = ZipfTalk()
    times: dict[str, list[float]] = {"cold": [], "warm": []}
    async with Recollect(open_store(str(path)), embedder="none") as memory:

        async def timed(kind: str, number: int) -> None:
            began = timer_s()
            await memory.recall(_person(number), talk.text(8), limit=10)
            times[kind].append((timer_s() - began) * 1_000)

        await memory.recall(_person(0), talk.text(8), limit=10)
        for number in range(1, plan.scopes + 1):
            await timed("cold", number)
        for _ in range(plan.recalls):
            await timed("warm", 0)
    return times
