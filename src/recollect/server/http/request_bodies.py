"""Read request bodies: enforce size, time, encoding and strict JSON before a route runs."""

from __future__ import annotations

import asyncio
import math
from typing import Final

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.formation.strict_json import NotJsonError, read_json
from recollect.records import Json
from recollect.server.http.problems import Problem
from recollect.server.settings import Settings

DOCUMENT: Final = "document"
"""Name of the parsed body in a request's state."""
IMPORT_PATH: Final = "/v1/import"
FILE_IMPORT_PATH: Final = "/v1/import/file"
_FILE: Final = frozenset({"application/octet-stream"})
_LINES: Final = frozenset({"application/x-ndjson", "application/jsonl", "application/json-lines"})
_JSON: Final = "application/json"
IN_LOOP_BYTES: Final = 16_000
"""Parse a larger body in a thread, so that it does not block the event loop."""


class BodyRefusedError(Exception):
    """The body is rejected with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class RequestBodies:
    """
    Middleware that reads a body within limits of size and time, and requires strict JSON.

    The body of an import is passed on as it arrives, within the same limits.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its body, or answer with the problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_import = scope["path"] in {IMPORT_PATH, FILE_IMPORT_PATH}
        try:
            is_file = scope["path"] == FILE_IMPORT_PATH
            limit = self._check_headers(headers, is_import=is_import, is_file=is_file)
            if is_import:
                passed = self._limited(receive, limit)
                await self._app(scope, passed, send)
                return
            body = await self._body(receive, limit)
            if body:
                document = await _read_json(body, headers.get("content-type", ""))
                scope.setdefault("state", {})[DOCUMENT] = document
        except BodyRefusedError as refused:
            await refused.problem(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    def _check_headers(self, headers: Headers, *, is_import: bool, is_file: bool) -> int:
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            raise BodyRefusedError(_COMPRESSED)
        limit = self._settings.import_bytes_max if is_import else self._settings.body_bytes_max
        declared = headers.get("content-length")
        # 20 digits are enough: `int` raises on a text of thousands.
        if declared is not None and (not declared.isdecimal() or int(declared[:20]) > limit):
            raise BodyRefusedError(_too_large(limit, is_import=is_import))
        if is_import:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in (_FILE if is_file else _LINES):
                raise BodyRefusedError(_NOT_FILE if is_file else _NOT_LINES)
        return limit

    async def _body(self, receive: Receive, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            # For the whole body: a limit for each part would allow one byte at a time.
            async with asyncio.timeout(self._settings.body_timeout_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise BodyRefusedError(_GONE)
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > limit:
                        raise BodyRefusedError(_too_large(limit, is_import=False))
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            raise BodyRefusedError(_slow(self._settings.body_timeout_s)) from None

    def _limited(self, receive: Receive, limit: int) -> Receive:
        """Return a receive that raises once the body exceeds its size, or a part its time."""
        size = 0
        is_whole = False

        async def counting() -> Message:
            nonlocal size, is_whole
            if is_whole:
                # The stream of the report waits here for a disconnect, for as long as it lasts.
                return await receive()
            try:
                async with asyncio.timeout(self._settings.body_timeout_s):
                    message = await receive()
            except TimeoutError:
                raise BodyRefusedError(_slow(self._settings.body_timeout_s)) from None
            size += len(message.get("body", b""))
            if size > limit:
                raise BodyRefusedError(_too_large(limit, is_import=True))
            is_whole = not message.get("more_body", False)
            return message

        return counting


async def _read_json(body: bytes, content_type: str) -> Json:
    kind = content_type.partition(";")[0].strip().lower()
    if kind != _JSON:
        raise BodyRefusedError(_NOT_JSON)
    try:
        text = body.decode()
        if len(body) > IN_LOOP_BYTES:
            return await to_thread.run_sync(read_json, text)
        return read_json(text)
    except (UnicodeDecodeError, NotJsonError) as error:
        reason = str(error) if isinstance(error, NotJsonError) else "it is not UTF-8"
        detail = f"the body cannot be read: {reason}: send one JSON object in UTF-8"
        raise BodyRefusedError(Problem(status=400, code="body", detail=detail)) from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive that first yields the body that was read."""
    is_given = False

    async def replayed() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _too_large(limit: int, *, is_import: bool) -> Problem:
    name = "import_bytes_max" if is_import else "body_bytes_max"
    part = "the lines in several requests" if is_import else "it in several requests"
    detail = f"the body is larger than {limit} bytes ({name}), the limit: send {part}"
    return Problem(status=413, code="limit", detail=detail)


def _slow(timeout_s: float) -> Problem:
    wait = math.ceil(timeout_s)
    detail = f"the body did not come within {wait} s (body_timeout_s): send it again, faster"
    return Problem(status=408, code="slow", detail=detail)


_COMPRESSED: Final = Problem(
    status=415,
    code="encoding",
    detail="compressed bodies are not supported: send it without Content-Encoding",
    headers={"accept-encoding": "identity"},
)
_NOT_JSON: Final = Problem(
    status=415, code="media_type", detail="a body is JSON: send it as Content-Type application/json"
)
_NOT_LINES: Final = Problem(
    status=415,
    code="media_type",
    detail="an import is JSON Lines: send it as Content-Type application/x-ndjson",
)
_NOT_FILE: Final = Problem(
    status=415,
    code="media_type",
    detail="a file is sent as raw bytes: send it as Content-Type application/octet-stream",
)
_GONE: Final = Problem(status=400, code="body", detail="the body is incomplete: send it again")
