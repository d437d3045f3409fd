"""The page, the spans and the figures: what is told, and what is never told."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from recollect.service import telemetry
from recollect.service.observing import JsonLines
from recollect.service.testing import Served

Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]
SECRET = "heliotrope"


def spans_of(
    served: Served, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, dict[str, object]]]:
    """Return name and attributes of the spans of a few requests."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
    client = connect(served)
    body = {"messages": [{"role": "user", "text": SECRET}]}
    client.post("/v1/threads/t/messages", json=body)
    client.post("/v1/recall", json={"query": SECRET})
    stale = {"if-match": '"7"'}
    client.put("/v1/memories/Thing/k", json={"value": {"a": SECRET}}, headers=stale)
    return [(each.name, dict(each.attributes or {})) for each in exporter.get_finished_spans()]


def test_spans_follow_the_conventions_and_tell_no_contents(
    starting: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Operations and counts are told, an error by its code; no text, no name, no key."""
    found = spans_of(starting(), connect, monkeypatch)

    assert ["upsert_memory", "search_memory", "upsert_memory"] == [name for name, _ in found]
    assert [1, 1, None] == [each.get(telemetry.RECORD_COUNT) for _, each in found]
    assert "version_conflict" == found[2][1][telemetry.ERROR_TYPE]
    assert SECRET not in str(found)
    assert "acme" not in str(found)


def test_queries_are_traced_where_that_is_set(
    starting: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With trace_content a span carries the query."""
    found = spans_of(starting(trace_content=True), connect, monkeypatch)

    assert SECRET == found[1][1][telemetry.QUERY_TEXT]


def test_the_log_tells_the_kind_of_a_fault_and_not_its_words() -> None:
    """An error's message may hold contents: its class and place are logged alone."""
    try:
        int(SECRET)
    except ValueError:
        record = logging.LogRecord("n", logging.ERROR, "p", 1, "failed", (), sys.exc_info())

    line = JsonLines().format(record)

    assert ("ValueError", "failed") == (json.loads(line)["error"], json.loads(line)["event"])
    assert SECRET not in line


def test_the_built_page_is_served_from_memory(
    starting: Start, connect: Connect, tmp_path: Path
) -> None:
    """Assets are cached for ever, paths of the page are its index, and nothing above is reached."""
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<html>the page</html>", "utf-8")
    (static / "assets" / "app-1.js").write_text("1", "utf-8")
    (tmp_path / "secret.txt").write_text(SECRET, "utf-8")
    client = connect(starting(static=static), "")

    index = client.get("/", headers={"accept": "text/html"})
    deep = client.get("/memories/Fact/home", headers={"accept": "text/html"})
    asset = client.get("/assets/app-1.js")
    above = [client.get(f"/{each}secret.txt") for each in ("../", "%2e%2e/", "..%2f", "assets/../")]

    assert index.text == deep.text == "<html>the page</html>"
    assert "script-src 'self'" in index.headers["content-security-policy"]
    assert "immutable" in asset.headers["cache-control"]
    assert 304 == client.get("/", headers={"if-none-match": index.headers["etag"]}).status_code
    assert {404} == {each.status_code for each in above}
    assert 404 == client.get("/assets/none.js").status_code


def test_a_service_without_keys_is_everybodys_on_this_machine(
    starting: Start, connect: Connect
) -> None:
    """Without keys whoever is on this machine may do everything in the one scope."""
    served = starting(auth=False)

    found = connect(served, "").get("/v1/me").json()

    assert ("", "local") == (served.key, found["name"])
    assert 5 == len(found["permissions"])
