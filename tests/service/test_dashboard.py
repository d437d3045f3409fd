"""The dashboard for Grafana asks for metrics, and labels, that the service really exports."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.server.http.prometheus import Metrics

FILE = Path(__file__).parents[2] / "deploy" / "grafana_dashboard.json"
METRIC = re.compile(r"\brecollect_[a-z_]+")
LABELS = re.compile(r"\bby \(([^)]*)\)|\{\{(\w+)\}\}|[{,]\s*(\w+)=~?\"")
OWN = {"job", "le"}
"""What Prometheus adds, and what a histogram has."""


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def queries(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each expression of a dashboard, and the legend of what it gives."""
    for panel in document["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]
    for variable in document["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"], ""


def exported() -> dict[str, set[str]]:
    """Return the labels of each series that a service can export, by its name."""
    metrics = Metrics()
    metrics.answered("/v1/me", "GET", 200, 0.1)
    metrics.formations.labels("formed").inc()
    metrics.refused.labels("quota").inc()
    found: dict[str, set[str]] = {}
    for line in metrics.exposition().decode().splitlines():
        name, labels = re.fullmatch(r"(\w+)(?:\{(.*)\})? \S+", line).groups() if (  # type: ignore[union-attr]
            not line.startswith("#")) else ("", "")  # fmt: skip
        if name:
            found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels or ""))
    return found


def complaints(document: Mapping[str, Any]) -> list[str]:
    """Say which metric or label of a dashboard no service exports."""
    known, found = exported(), []
    for expression, legend in queries(document):
        names = METRIC.findall(expression)
        found += [f"there is no metric {each}" for each in names if each not in known]
        labels = OWN.union(*(known.get(each, set()) for each in names))
        for several, shown, matched in LABELS.findall(f"{expression} {legend}"):
            given = [each.strip() for each in several.split(",")] if several else [shown or matched]
            found += [f"{names[0]} has no label {each}" for each in given if each not in labels]
    return found


def test_every_metric_of_the_dashboard_exists() -> None:
    assert [] == complaints(dashboard())


def test_every_metric_is_on_the_dashboard() -> None:
    """A figure that is exported, and shown nowhere, is forgotten."""
    shown = " ".join(each for each, _ in queries(dashboard()))
    families = {re.sub(r"_(total|created|bucket|count|sum)$", "", each) for each in exported()}

    assert [] == [each for each in sorted(families) if each not in shown]


def test_a_service_exports_them(client: httpx.Client) -> None:
    """At /metrics, as Prometheus reads them."""
    client.get("/v1/me")
    told = client.get("/metrics").text
    declared = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))
    names = {name for each, _ in queries(dashboard()) for name in METRIC.findall(each)}

    assert [] == [
        each for each in names if re.sub(r"_(bucket|count|sum)$", "", each) not in declared
    ]


def test_panels_lie_beside_each_other() -> None:
    """Each has its own number and place, and asks the source that is chosen above."""
    panels = dashboard()["panels"]
    places = [
        (x, y)
        for each in panels
        for x in range(each["gridPos"]["x"], each["gridPos"]["x"] + each["gridPos"]["w"])
        for y in range(each["gridPos"]["y"], each["gridPos"]["y"] + each["gridPos"]["h"])
    ]

    assert len(places) == len(set(places))
    assert len(panels) == len({each["id"] for each in panels})
    assert max(x for x, _ in places) < 24
    assert {"${datasource}"} == {
        part["datasource"]["uid"] for each in panels for part in (each, *each["targets"])
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("recollect_refused_total", "recollect_refusals_total", "no metric"),
        ("by (status)", "by (state)", "no label state"),
        ("{{end}}", "{{ending}}", "no label ending"),
        ("{job=~", "{jobs=~", "no label jobs"),
    ],
)  # fmt: skip
def test_a_name_that_is_wrong_is_reported(old: str, new: str, said: str) -> None:
    """The mutants: a metric that was renamed, and labels that no series has."""
    text = json.dumps(dashboard(), ensure_ascii=False)
    assert old in text

    found = complaints(json.loads(text.replace(old, new)))

    assert any(said in each for each in found)
