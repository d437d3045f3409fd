"""The page, the spans and the figures: what is told, and what is never told."""

import json
import logging
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from recollect.cli.service_run import BUILD_PAGE
from recollect.client import SyncClient
from recollect.errors import ModelDeniedError, StoreReadOnlyError, UnknownKeyError
from recollect.observability import spans as telemetry
from recollect.server.http.request_log import JsonLines
from recollect.server.testing import Served
from recollect.testing.scripted_model import ScriptedModel

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
    browser = {"accept": "text/html"}
    deep = client.get("/memories/Fact/home?scope=mira", headers=browser)
    deep_head = client.head("/memories/Fact/h%C3%B6me?scope=mira", headers=browser)
    described = client.get("/docs/", headers=browser)
    nowhere = client.get("/no%20where", headers=browser)
    heads = [client.head(each) for each in ("/", "/docs", "/assets/app-1.js")]
    asset = client.get("/assets/app-1.js")
    above = [client.get(f"/{each}secret.txt") for each in ("../", "%2e%2e/", "..%2f", "assets/../")]

    assert "<html>the page</html>" == index.text == client.get("/docs").text
    assert (307, "../../#/memories/Fact/home?scope=mira") == (
        deep.status_code, deep.headers["location"],
    )  # fmt: skip
    assert (307, "../../#/memories/Fact/h%C3%B6me?scope=mira") == (
        deep_head.status_code, deep_head.headers["location"],
    )  # fmt: skip
    assert 404 == client.head("/memories/Fact/home").status_code
    assert "../#/api" in described.headers["location"]
    assert 404 == nowhere.status_code
    assert "url=./#/no%20where" in nowhere.text
    assert [(200, "")] * 3 == [(each.status_code, each.text) for each in heads]
    assert 404 == client.head("/nowhere").status_code
    assert "script-src 'self'" in index.headers["content-security-policy"]
    assert "immutable" in asset.headers["cache-control"]
    assert 304 == client.get("/", headers={"if-none-match": index.headers["etag"]}).status_code
    assert {404} == {each.status_code for each in above}
    assert 404 == client.get("/assets/none.js").status_code


def test_a_page_that_is_not_built_says_how_to_build_it(
    starting: Start, connect: Connect, tmp_path: Path
) -> None:
    """In each language of the page, with the steps that the command line names."""
    told = connect(starting(static=tmp_path), "").get("/").text
    languages = re.findall('lang="(.+?)"', told)

    assert ["en", "zh-Hans", "zh-Hant"] == languages
    steps = ("Node 20", "npm", "<code>make page</code>", "<code>pip install .</code>")
    assert [3] * 4 == [told.count(each) for each in steps]
    assert [] == [each for each in steps if re.sub("</?code>", "`", each) not in BUILD_PAGE]


def test_a_monitor_may_ask_for_the_state_alone(starting: Start, connect: Connect) -> None:
    """HEAD has the status of GET and no body; a service that stops is not ready for it either."""
    served = starting()
    client = connect(served, "")
    found = [client.head(f"/health/{each}") for each in ("live", "ready")]
    served.service.stopping.set()
    stopping = client.head("/health/ready")

    assert [(200, b"")] * 2 == [(each.status_code, each.content) for each in found]
    assert (503, b"") == (stopping.status_code, stopping.content)
    assert "head" not in client.get("/openapi.json").json()["paths"]["/health/ready"]


def test_the_page_is_sent_compressed_to_who_can_unpack_it(
    starting: Start, connect: Connect, tmp_path: Path
) -> None:
    """The same file either way, each under a tag of its own; what hardly shrinks stays as it is."""
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.html").write_text("<p>the page</p>" * 500, "utf-8")
    noise = random.Random(1).randbytes(4_000)  # noqa: S311
    (static / "picture.png").write_bytes(noise)
    client = connect(starting(static=static), "")

    plain = client.get("/", headers={"accept-encoding": "identity"})
    packed = client.get("/", headers={"accept-encoding": "br, gzip;q=0.8"})
    refused = client.get("/", headers={"accept-encoding": "gzip;q=0.0"})
    picture = client.get("/picture.png", headers={"accept-encoding": "gzip"})

    assert plain.content == packed.content == refused.content
    assert "gzip" == packed.headers["content-encoding"]
    assert int(packed.headers["content-length"]) < len(packed.content) / 10
    assert "content-encoding" not in plain.headers.keys() | refused.headers.keys()
    assert {"accept-encoding"} == {each.headers["vary"] for each in (plain, packed, refused)}
    assert plain.headers["etag"] == refused.headers["etag"] != packed.headers["etag"]
    for tag, encoding, status in (
        (packed, "gzip", 304), (plain, "identity", 304), (packed, "identity", 200),
    ):  # fmt: skip
        headers = {"if-none-match": tag.headers["etag"], "accept-encoding": encoding}
        assert status == client.get("/", headers=headers).status_code
    assert noise == picture.content
    assert not {"content-encoding", "vary"} & picture.headers.keys()


def test_a_service_without_keys_is_everybodys_on_this_machine(
    starting: Start, connect: Connect
) -> None:
    """Without keys whoever is on this machine may do everything in the one scope."""
    served = starting(auth=False)

    found = connect(served, "").get("/v1/me").json()

    assert ("", "local") == (served.key, found["name"])
    assert 5 == len(found["permissions"])


def test_a_service_whose_store_takes_no_writes_says_so_and_stays_ready(
    starting: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can still be asked; where the store is, it does not say."""
    served = starting()
    client, anybody = connect(served), connect(served, "")

    async def refuse(_: object) -> None:
        raise StoreReadOnlyError(f"{SECRET}: it is a standby")

    with monkeypatch.context() as standby:
        standby.setattr(type(served.service.memory.store), "check_writable", refuse)
        told_anybody = anybody.get("/health/ready")
        told = client.get("/v1/health").json()
    again = anybody.get("/health/ready")

    assert (200, {"status": "degraded"}) == (told_anybody.status_code, told_anybody.json())
    assert SECRET not in str(told)
    assert ("degraded", "read_only") == (told["status"], told["store"]["state"])
    assert {"status": "ok"} == again.json()


def test_the_details_of_its_health_need_a_key_that_may_administer(
    starting: Start, connect: Connect
) -> None:
    """Without one there is a single word; with it the same as the library's `health`."""
    model = ScriptedModel(lambda _: ModelDeniedError(f"refused: {SECRET}"))
    served = starting(model=model)
    client = connect(served)
    weak = client.post("/v1/keys", json={"name": "weak", "permissions": ["read"]}).json()["key"]
    before = connect(served, "").get("/health/ready").json()
    said = {"messages": [{"role": "user", "text": SECRET}]}
    client.post("/v1/threads/t/messages", json=said).raise_for_status()
    client.post("/v1/form").raise_for_status()

    public = [connect(served, key).get("/health/ready").json() for key in ("", weak)]
    told = [client.get(path).json() for path in ("/health/ready", "/v1/health")]
    refused = connect(served, weak).get("/v1/health").status_code

    assert {"status": "ok"} == before
    assert [{"status": "degraded"}] * 2 == public
    assert 403 == refused
    for each in told:
        forming = next(task for task in each["tasks"] if task["name"] == "formation")
        assert ("degraded", "ok") == (each["status"], each["store"]["state"])
        assert ("failing", "ModelDeniedError") == (forming["state"], forming["last_error"]["type"])
        assert {"usage", "watching"} <= {task["name"] for task in each["tasks"]}
        assert SECRET not in str(each)


def test_the_client_reads_the_health_as_the_library_does(starting: Start) -> None:
    """It is the same frozen record."""
    served = starting()
    with SyncClient(served.url, served.key) as client:
        health = client.health()

    assert ("ok", "ok") == (health.status, health.store.state)
    found = health.task("usage")
    assert found is not None
    assert ("running", 0, None) == (found.state, found.failures, found.last_error)
    with SyncClient(served.url, "") as nobody, pytest.raises(UnknownKeyError):
        nobody.health()


def test_a_fault_is_logged_without_its_words(
    starting: Start,
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What nobody expected is answered with 500; above DEBUG the log has its kind and place."""
    caplog.set_level(logging.DEBUG)
    served = starting()

    async def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(served.service.memory._runtime.recaller, "recall", fail)
    answer = connect(served, is_held=False).post("/v1/recall", json={"query": SECRET})

    (told,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    fields = vars(told)["fields"]
    assert (500, "ZeroDivisionError") == (answer.status_code, fields["error"])
    assert "fail" in fields["place"]
    loud = [each for each in caplog.records if each.levelno > logging.DEBUG]
    assert SECRET not in str([(each.getMessage(), vars(each)) for each in loud])
    assert [each for each in caplog.records if each.exc_info and each.levelno == logging.DEBUG]
