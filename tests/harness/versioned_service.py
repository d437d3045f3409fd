"""A service as one of another version answers: what is here, changed on its way by a proxy."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import httpx

Lacking: TypeAlias = Callable[[str, str, Any], tuple[int, Any] | None]
"""Returns the refusal of a request, by its method, path and body; ``None`` where it is known."""
Changing: TypeAlias = Callable[[Any], Any]


DATA = frozenset({"value", "metadata", "evidence", "signals", "facts", "lanes"})
"""Objects whose names are data."""


def newer(told: Any) -> Any:
    """Add a field, of which no client knows, to each object of an answer but users' own."""
    if isinstance(told, dict):
        changed = {name: each if name in DATA else newer(each) for name, each in told.items()}
        return {**changed, "since_next": {"a": [1]}}
    return [newer(each) for each in told] if isinstance(told, list) else told


def without(*names: str) -> Changing:
    """Return what takes fields out of an answer, wherever they are."""

    def older(told: Any) -> Any:
        if isinstance(told, dict):
            return {name: older(each) for name, each in told.items() if name not in names}
        return [older(each) for each in told] if isinstance(told, list) else told

    return older


def same(told: Any) -> Any:
    """Leave an answer as it is."""
    return told


def lacks_nothing(_method: str, _path: str, _body: Any) -> None:
    """Know every request."""


def lacks(route: str, *fields: str) -> Lacking:
    """Return the refusals of a service before a route, or before fields of bodies, were added."""

    def refused(method: str, path: str, body: Any) -> tuple[int, Any] | None:
        if f"{method} {path}".startswith(route):
            told = {"code": "no_path", "status": 404, "detail": "there is no such path"}
            return 404, told
        unknown = [name for name in fields if isinstance(body, dict) and name in body]
        if not unknown:
            return None
        extra = "Extra inputs are not permitted"
        errors = [{"path": f"body/{name}", "message": extra} for name in unknown]
        detail = f"body/{unknown[0]}: {extra}; see /openapi.json"
        return 422, {"code": "usage", "status": 422, "detail": detail, "errors": errors}

    return refused


SENT = frozenset({"x-api-key", "content-type", "if-match", "if-none-match", "idempotency-key"})
"""Headers that are passed on."""


@contextmanager
def version_of(
    url: str, version: str | None, lacking: Lacking = lacks_nothing, changing: Changing = same
) -> Iterator[str]:
    """Yield the address of the service at *url* as if it were of another version."""

    class Versioned(BaseHTTPRequestHandler):
        def answer(self) -> None:
            size = int(self.headers.get("content-length", 0))
            content = self.rfile.read(size)
            path = self.path.partition("?")[0]
            is_json = "json" in self.headers.get("content-type", "") and b"\n" not in content
            body = json.loads(content) if content and is_json else None
            refused = lacking(self.command, path, body)
            if refused is not None:
                self.send(refused[0], "application/problem+json", refused[1])
                return
            headers = {name: each for name, each in self.headers.items() if name.lower() in SENT}
            told = httpx.request(
                self.command, url + self.path, content=content, headers=headers, timeout=30
            )
            kind = told.headers.get("content-type", "")
            whole = changing(told.json()) if told.content and "json" in kind else None
            self.send(told.status_code, kind, whole)

        def send(self, status: int, kind: str, told: Any) -> None:
            content = b"" if told is None else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            if content:
                self.send_header("content-type", kind)
            if version is not None:
                self.send_header("recollect-version", version)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 (as http.server calls them)

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Versioned) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(30)


@contextmanager
def answering(status: int, kind: str, text: str) -> Iterator[str]:
    """Run a program that is no service of ours."""

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(30)
