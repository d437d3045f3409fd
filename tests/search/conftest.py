"""
A Pinecone on this machine's loopback, for Pinecone's own client.

It answers the requests of the published interface (2026-07) that searches need: indexes are made
and described, vectors upserted, queried with real similarities and filters, and deleted. What the
interface refuses it refuses: a request too large, an unknown field, a wrong dimension, metadata
of a wrong kind, an operator that is none, a namespace that is not there.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

API_KEY = "made-up-key"
API_VERSION = "2026-07"
METADATA_BYTES_MAX = 40_960
REQUEST_BYTES_MAX = 2 * 1024 * 1024
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, operand: value == operand,
    "$ne": lambda value, operand: value != operand,
    "$gt": lambda value, operand: value > operand,
    "$gte": lambda value, operand: value >= operand,
    "$lt": lambda value, operand: value < operand,
    "$lte": lambda value, operand: value <= operand,
    "$in": lambda value, operand: value in operand,
    "$nin": lambda value, operand: value not in operand,
}


class RefusedError(Exception):
    """A request that the interface refuses, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class PineconeDouble:
    """Indexes with their namespaces, in this process."""

    def __init__(self) -> None:
        self.host = ""
        self.indexes: dict[str, dict[str, Any]] = {}
        self.vectors: dict[str, dict[str, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Return status and body of the answer to a request."""
        with self._lock:
            parts = path.strip("/").split("/")
            if parts[0] == "indexes":
                return self._control(method, parts[1:], body)
            name, *operation = parts[1:]
            if parts[0] != "data" or name not in self.indexes:
                raise RefusedError(404, f"no such place: {path}")
            operations = {
                ("POST", "vectors/upsert"): self._upsert,
                ("POST", "query"): self._query,
                ("POST", "vectors/delete"): self._delete,
            }
            if (asked := (method, "/".join(operation))) not in operations:
                raise RefusedError(404, f"no such operation: {asked}")
            return 200, operations[asked](name, body)

    def _control(self, method: str, rest: list[str], body: Mapping[str, Any]) -> tuple[int, Any]:
        if method == "POST" and not rest:
            return 201, self._created(body)
        if method == "GET" and len(rest) == 1 and rest[0] in self.indexes:
            return 200, self.indexes[rest[0]]
        raise RefusedError(404, f"no index {rest}")

    def _created(self, body: Mapping[str, Any]) -> dict[str, Any]:
        check_fields(body, {"name", "schema", "deployment"}, {"deletion_protection", "tags"})
        name = body["name"]
        if name in self.indexes:
            raise RefusedError(409, f"the index {name} exists")
        (field,) = body["schema"]["fields"].values()
        check_fields(field, {"type", "dimension", "metric"})
        if not 1 <= field["dimension"] <= 20_000:
            raise RefusedError(400, f"dimension {field['dimension']}")
        if field["metric"] not in {"cosine", "euclidean", "dotproduct"}:
            raise RefusedError(400, f"metric {field['metric']}")
        self.vectors[name] = {}
        self.indexes[name] = {
            "name": name,
            "host": f"{self.host}/data/{name}",
            "schema": body["schema"],
            "deployment": body["deployment"],
            "status": {"ready": True, "state": "Ready"},
            "deletion_protection": "disabled",
        }
        return self.indexes[name]

    def _measure(self, name: str) -> tuple[int, str]:
        (field,) = self.indexes[name]["schema"]["fields"].values()
        return field["dimension"], field["metric"]

    def _upsert(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        check_fields(body, {"vectors"}, {"namespace"})
        dimension, _ = self._measure(name)
        if not 1 <= len(body["vectors"]) <= 1_000:
            raise RefusedError(400, f"{len(body['vectors'])} vectors in one request")
        for each in body["vectors"]:
            check_fields(each, {"id", "values"}, {"metadata"})
            check_vector(each["values"], dimension)
            check_metadata(each.get("metadata", {}))
        kept = self.vectors[name].setdefault(body.get("namespace", ""), {})
        kept.update({each["id"]: each for each in body["vectors"]})
        return {"upsertedCount": len(body["vectors"])}

    def _query(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        allowed = {"namespace", "filter", "includeValues", "includeMetadata"}
        check_fields(body, {"topK", "vector"}, allowed)
        dimension, metric = self._measure(name)
        check_vector(body["vector"], dimension)
        if not 1 <= body["topK"] <= 10_000:
            raise RefusedError(400, f"topK {body['topK']}")
        namespace = body.get("namespace", "")
        matches = [
            {
                "id": each["id"],
                "score": score(body["vector"], each["values"], metric),
                **({"values": each["values"]} if body.get("includeValues") else {}),
                **({"metadata": each.get("metadata")} if body.get("includeMetadata") else {}),
            }
            for each in self.vectors[name].get(namespace, {}).values()
            if satisfies(each.get("metadata", {}), body.get("filter", {}))
        ]
        matches.sort(key=lambda each: each["score"], reverse=metric != "euclidean")
        found = matches[: body["topK"]]
        return {"matches": found, "namespace": namespace, "usage": {"readUnits": 1}}

    def _delete(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        check_fields(body, set(), {"ids", "deleteAll", "namespace"})
        namespaces = self.vectors[name]
        namespace = body.get("namespace", "")
        if namespace not in namespaces:
            raise RefusedError(404, "Namespace not found")
        if body.get("deleteAll"):
            del namespaces[namespace]
        for each in body.get("ids", []):
            namespaces[namespace].pop(each, None)
        return {}


def check_headers(headers: Message) -> None:
    """Reject who has no key, or speaks another version of the interface."""
    if headers["Api-Key"] != API_KEY:
        raise RefusedError(401, "Invalid API key")
    if headers["X-Pinecone-Api-Version"] != API_VERSION:
        raise RefusedError(400, f"this is version {API_VERSION} of the interface")


def check_size(sent: bytes) -> None:
    """Reject a request that is too large."""
    if len(sent) > REQUEST_BYTES_MAX:
        raise RefusedError(400, f"{len(sent)} bytes; a request has {REQUEST_BYTES_MAX} at most")


def check_fields(
    body: Mapping[str, Any], needed: set[str], allowed: set[str] | None = None
) -> None:
    """Reject a body that lacks a field, or has one that the interface does not know."""
    if needed - body.keys() or body.keys() - needed - (allowed or set()):
        raise RefusedError(400, f"fields {sorted(body)}; needed {sorted(needed)}")


def check_vector(values: list[float], dimension: int) -> None:
    """Reject a vector of another length, or one that nothing is similar to."""
    if len(values) != dimension:
        message = f"Vector dimension {len(values)} does not match the dimension of the index "
        raise RefusedError(400, f"{message}{dimension}")
    if not any(values):
        raise RefusedError(400, "Dense vectors must contain at least one non-zero value")


def check_metadata(metadata: Mapping[str, Any]) -> None:
    """Reject metadata that are too large, or of another kind than the interface takes."""
    for key, value in metadata.items():
        texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not (isinstance(value, str | int | float | bool) or texts):
            raise RefusedError(400, f"metadata {key}: {value!r}")
    if len(json.dumps(metadata, ensure_ascii=False).encode()) > METADATA_BYTES_MAX:
        raise RefusedError(400, f"metadata of more than {METADATA_BYTES_MAX} bytes")


def satisfies(metadata: Mapping[str, Any], filter_: Mapping[str, Any]) -> bool:
    """Return True if *metadata* satisfy a filter; refuse one with an operator that is none."""
    for key, condition in filter_.items():
        operators = condition if isinstance(condition, Mapping) else {"$eq": condition}
        for operator, operand in operators.items():
            if operator not in COMPARISONS:
                raise RefusedError(400, f"{operator} is not a valid operator")
            if key not in metadata or not COMPARISONS[operator](metadata[key], operand):
                return False
    return True


def score(one: list[float], other: list[float], metric: str) -> float:
    """Return how similar two vectors are: a squared distance, a cosine, or a product."""
    a, b = np.asarray(one), np.asarray(other)
    if metric == "euclidean":
        return float(((a - b) ** 2).sum())
    product = float(a @ b)
    return (
        product
        if metric == "dotproduct"
        else product / float(np.linalg.norm(a) * np.linalg.norm(b))
    )


def request_handler(double: PineconeDouble) -> type[BaseHTTPRequestHandler]:
    """Return the class that reads requests for *double*."""

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply()

        def do_POST(self) -> None:
            self._reply()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def _reply(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                check_headers(self.headers)
                check_size(sent)
                status, body = double.answer(self.command, self.path, json.loads(sent or b"{}"))
            except RefusedError as error:
                status = error.status
                body = {"error": {"code": "REFUSED", "message": str(error)}, "status": status}
            written = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

    return Requests


@pytest.fixture
def pinecone_double() -> Iterator[PineconeDouble]:
    """Yield a Pinecone of this test's own."""
    double = PineconeDouble()
    with ThreadingHTTPServer(("127.0.0.1", 0), request_handler(double)) as server:
        double.host = f"http://127.0.0.1:{server.server_port}"
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield double
        server.shutdown()
        thread.join(timeout=30)
