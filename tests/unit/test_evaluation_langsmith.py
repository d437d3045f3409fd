"""Cases become rows of a LangSmith dataset, sent with the user's own key or not at all."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from recollect.errors import RecollectError, UsageError
from recollect.evaluation import Measured, deeds_of, form, shipped_cases
from recollect.evaluation.langsmith_export import dataset_rows, export, send_rows
from recollect.records import Json
from recollect.testing.oracle import Oracle

DATASET = {
    "id": "22222222-2222-4222-8222-222222222222",
    "name": "mine",
    "created_at": "2024-05-06T12:00:00Z",
    "tenant_id": "33333333-3333-4333-8333-333333333333",
}
INFO = {
    "version": "0.10.0",
    "instance_flags": {"dataset_examples_multipart_enabled": True},
}
KEY = "made-up-key"


class Service(ThreadingHTTPServer):
    """A LangSmith of this machine: it knows one dataset once that is made, and keeps rows."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.rows: list[bytes] = []
        self.datasets: list[dict[str, str]] = []
        self.status = 200


class Answering(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Service

    def do_GET(self) -> None:
        found: object = INFO if self.path.startswith("/info") else self.server.datasets
        self._answer(found if "sessions" not in self.path else [])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/datasets":
            self.server.datasets.append(DATASET)
            self._answer(DATASET)
        else:
            self.server.rows.append(body)
            self._answer({"count": 1, "example_ids": [DATASET["id"]]})

    def _answer(self, document: object) -> None:
        text = json.dumps(document).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 (the base has it so)
        """Say nothing."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """Serve a LangSmith on this machine, with a key for it."""
    with Service() as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{served.server_port}")
        monkeypatch.setenv("LANGSMITH_API_KEY", KEY)
        yield served
        served.shutdown()


async def some_measured() -> list[Measured]:
    """Return three cases as an oracle forms them."""
    return [await form(case, Oracle(deeds_of(case))) for case in shipped_cases()[:3]]


async def test_rows_are_plain_json() -> None:
    """Inputs are the talks, reference outputs the expectations, metadata the run."""
    rows = dataset_rows(await some_measured())

    assert rows == json.loads(json.dumps(rows))
    assert [["inputs", "reference_outputs", "metadata"]] * 3 == [list(row) for row in rows]
    inputs = rows[0]["inputs"]
    assert isinstance(inputs, dict)
    assert "Hello! My name is Alexandra Quist." in json.dumps(inputs)


async def test_rows_are_sent_to_a_dataset_that_is_made_once() -> None:
    class Client:
        def __init__(self) -> None:
            self.datasets: list[str] = []
            self.examples: list[Mapping[str, Json]] = []

        def has_dataset(self, *, dataset_name: str) -> bool:
            return dataset_name in self.datasets

        def create_dataset(self, dataset_name: str, *, description: str) -> object:
            self.datasets.append(dataset_name)
            return description

        def create_examples(
            self, *, dataset_name: str, examples: Sequence[Mapping[str, Json]]
        ) -> object:
            self.examples += examples
            return dataset_name

    client = Client()
    rows = dataset_rows(await some_measured())

    counts = [send_rows(rows, "mine", client) for _ in range(2)]

    assert [3, 3] == counts
    assert ["mine"] == client.datasets
    assert 6 == len(client.examples)


async def test_rows_reach_a_service_over_the_wire(service: Service) -> None:
    """The real client speaks to a service on this machine."""
    rows = dataset_rows(await some_measured())

    count = export(rows, "mine")

    assert 3 == count
    sent = b"".join(service.rows).decode()
    assert sent.count("Content-Disposition: form-data") >= 3
    assert "Alexandra Quist" in sent


async def test_a_refusal_is_told_without_the_key(service: Service) -> None:
    service.status = 401

    with pytest.raises(RecollectError, match="did not take the rows") as raised:
        export(dataset_rows(await some_measured()), "mine")

    assert KEY not in str(raised.value)


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(UsageError, match="LANGSMITH_API_KEY"):
        export([], "mine")
