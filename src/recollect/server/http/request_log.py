"""The outermost middleware: request ids, access log, metrics and unexpected errors."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final, TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect import __version__
from recollect.memory.runtime import running_loop
from recollect.observability.logs import error_place, kind_of, package_logger
from recollect.records import Json
from recollect.server.http.problems import Problem
from recollect.server.http.prometheus import Metrics
from recollect.stores.system_clock import RandomBits
from recollect.text.json_text import json_writer

LOG: Final = package_logger("recollect.server")
REQUEST_ID: ContextVar[str] = ContextVar("recollect_request_id", default="")
_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_REQUEST_IDS: Final = RandomBits(16)
_ELSEWHERE: Final = "(none)"
_REQUEST: Final = "request"
"""The event of a request's line."""
_write_line: Final = json_writer(json.JSONEncoder(ensure_ascii=True))
VERSION_HEADER: Final = b"recollect-version"
"""Response header by which a client detects a service of another version."""
SECURITY_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class JsonLines(logging.Formatter):
    """Formats a log record as a line of JSON. Of an error it has class and place, not the text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Json] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        fields = getattr(record, "fields", None)
        if isinstance(fields, dict):
            line |= fields
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["place"] = error_place(record.exc_info[1])
        return _write_line(line)


class TurnHandler(logging.StreamHandler[TextIO]):
    """
    Writes a log, with the lines of requests written together for each turn of the event loop.

    Each write lets a store's thread take the interpreter, for which the loop then has to wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Hold the line of a request back for this turn; write any other at once."""
        loop = running_loop() if record.msg == _REQUEST else None
        if loop is None:
            self.flush()
            super().emit(record)
            return
        self._held.append(record)
        if len(self._held) == 1:
            loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write the lines that are held back."""
        self.acquire()
        try:
            held, self._held = self._held, []
            self._write(held)
        finally:
            self.release()

    def _write(self, records: Sequence[logging.LogRecord]) -> None:
        try:
            lines = map(self.format, records)
            if text := "".join(f"{line}{self.terminator}" for line in lines):
                self.stream.write(text)
            super().flush()
        except (OSError, ValueError):  # a log that cannot be written must not fail the request
            if records:
                self.handleError(records[-1])


class RequestLogging:
    """
    Middleware that gives each request an id, counts it, and logs one line.

    The line has the route's template, never the path, which may name a person; no query, body or
    key. Unexpected errors get a 500 response without details.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log its outcome."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        id_ = _id_of(scope)
        token = REQUEST_ID.set(id_)
        seen = {"status": 0}
        is_read = not _has_body(scope)

        async def reading() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body", False)
            return message

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                given = {name for name, _ in message.get("headers", ())}
                added = [each for each in SECURITY_HEADERS if each[0] not in given]
                added += (b"x-request-id", id_.encode()), (VERSION_HEADER, __version__.encode())
                if not is_read:  # do not wait for the rest of the body
                    added.append((b"connection", b"close"))
                message["headers"] = [*message.get("headers", ()), *added]
            await send(message)

        try:
            await self._app(scope, reading, observed)
        except Exception as error:  # noqa: BLE001 (the outermost frame)
            self._note_fault(scope, id_, error)
            if not seen["status"]:
                await _UNEXPECTED(scope, receive, observed)
        finally:
            self._note(scope, id_, seen["status"], time.perf_counter() - started)
            REQUEST_ID.reset(token)

    @staticmethod
    def _note_fault(scope: Scope, id_: str, error: Exception) -> None:
        """Log class and place of an unexpected error, but not its text, which may quote a user."""
        fields: dict[str, Json] = {
            "request": id_,
            "route": route_of(scope),
            "error": kind_of(error),
            "place": error_place(error),
        }
        LOG.error("failed", extra={"fields": fields})
        # Only at debug level, because other formatters print the error's text with its traceback.
        LOG.debug("failed", exc_info=error)

    def _note(self, scope: Scope, id_: str, status: int, seconds: float) -> None:
        route, method = route_of(scope), _method_of(scope)
        self._metrics.answered(route, method, status, seconds)
        principal = scope.get("state", {}).get("principal")
        fields: dict[str, Json] = {
            "request": id_,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1_000, 1),
            "key": principal.key_id if principal is not None else None,
        }
        LOG.info(_REQUEST, extra={"fields": fields})


_UNEXPECTED: Final = Problem(
    status=500,
    code="error",
    detail=(
        "the service failed unexpectedly: report the x-request-id to its operator, whose log has "
        "the error under it"
    ),
)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


def _method_of(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in _METHODS else "other"


def route_of(scope: Scope) -> str:
    """Return the template of the route that a request reached."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else _ELSEWHERE


def _has_body(scope: Scope) -> bool:
    """Return True if the headers of a request declare a body."""
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


def _id_of(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            given = value.decode("latin-1")
            if _ID.fullmatch(given):
                return str(given)
    return f"{_REQUEST_IDS.take():032x}"
