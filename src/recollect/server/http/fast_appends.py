"""Fast path of appends: carry out the plain ones without the middleware behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import RecollectError
from recollect.formation.strict_json import NotJsonError, read_json
from recollect.server.authorization import Principal
from recollect.server.connection_book import ConnectionBook
from recollect.server.http.allowed_origins import HEADER_BYTES_MAX, AllowedHosts
from recollect.server.http.authentication import KEY_SCHEMES, admit, refuse
from recollect.server.http.compression import LEAST_BYTES, Compression
from recollect.server.http.deadlines import late_problem
from recollect.server.http.fast_routes import (
    ParsedAppend,
    answer_parsed,
    is_traced,
    read_append,
    thread_in,
)
from recollect.server.http.http11 import RECEIVED
from recollect.server.http.problems import JSON
from recollect.server.http.request_bodies import IN_LOOP_BYTES
from recollect.server.http.service import Service
from recollect.server.settings import Settings

_OTHERS: Final = frozenset({b"origin", b"content-encoding", b"transfer-encoding"})
"""Headers of requests that are left to the other middleware."""
_JSON: Final = JSON.encode()


@dataclass(frozen=True, slots=True)
class PlainHead:
    """The head of a plain append: its caller, the thread, and the size of its body."""

    principal: Principal
    stamp: int
    """The settings stamp of the cached key; see `STAMP`."""
    thread: str
    size: int


class FastAppends:
    """
    Middleware that carries out plain appends, and passes all other requests on.

    An append is plain if its whole body has arrived, its key is cached, and none of the middleware
    behind this one would refuse it. All of that is decided before anything is counted, so that a
    request which is passed on looks as if it had not been read here.
    """

    def __init__(self, app: ASGIApp, settings: Settings, book: ConnectionBook) -> None:
        self._app = app
        self._book = book
        self._hosts = AllowedHosts(settings)
        self._body_bytes_max = min(IN_LOOP_BYTES, settings.body_bytes_max)
        self._timeout_s = settings.request_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Carry out a plain append, or pass the request on."""
        received = scope.pop(RECEIVED, None)
        head = None if received is None else self._read_head(scope)
        if head and len(received) < head.size:
            # Many clients send head and body one right after the other, in two packets.
            await asyncio.sleep(0)
        asked = self._read_body(scope, head, received) if head else None
        if head is None or asked is None:
            await self._app(scope, receive, send)
            return
        await receive()  # the body that was read, so that the server counts it as received
        service: Service = scope["app"].state.service
        try:
            admit(service, scope, head.principal, head.stamp)
        except RecollectError as error:
            await refuse(service, error)(scope, receive, send)
            return
        held = self._book.begin(scope["client"], is_keyed=True)
        try:
            answer: ASGIApp = await self._carry_out(asked, scope)
            await answer(scope, receive, send)
        finally:
            self._book.end(held)

    async def _carry_out(self, asked: ParsedAppend, scope: Scope) -> ASGIApp:
        """Append the messages within the time limit; return the response."""
        response: Response
        try:
            async with asyncio.timeout(self._timeout_s) as waiting:
                response = await answer_parsed(asked, scope)
        except TimeoutError:
            if not waiting.expired():
                raise
            response = late_problem(self._timeout_s).response()
        return response if len(response.body) < LEAST_BYTES else Compression(response)

    def _read_head(self, scope: Scope) -> PlainHead | None:
        """Return the head of an append that none of the middleware would refuse, else ``None``."""
        thread = thread_in(scope)
        if thread is None or is_traced(scope) or self._book.count > self._book.room.total:
            return None
        headers = single_headers(scope["headers"])
        if headers is None or not self._is_plain(headers) or scope.get("client") is None:
            return None
        declared = headers.get(b"content-length", b"")
        size = int(declared) if declared.isdigit() and len(declared) < 9 else 0
        caller = _cached_caller(scope["app"].state.service, headers)
        if caller is None or not 0 < size <= self._body_bytes_max:
            return None
        return PlainHead(*caller, thread, size)

    def _is_plain(self, headers: Mapping[bytes, bytes]) -> bool:
        return (
            headers.keys().isdisjoint(_OTHERS)
            and headers.get(b"content-type") == _JSON
            and self._hosts.has(headers.get(b"host", b""))
        )

    def _read_body(self, scope: Scope, head: PlainHead, received: bytearray) -> ParsedAppend | None:
        """Return the append, ``None`` if its body is not valid, or has not all arrived."""
        if len(received) != head.size:
            return None
        try:
            return read_append(scope, head.thread, read_json(received.decode()))
        except (UnicodeDecodeError, NotJsonError, ValidationError):
            return None


def single_headers(headers: Sequence[tuple[bytes, bytes]]) -> dict[bytes, bytes] | None:
    """Return the headers by name; ``None`` if one comes twice, or they are too large."""
    found = dict(headers)
    size = sum(map(len, found)) + sum(map(len, found.values()))
    return found if len(found) == len(headers) and size <= HEADER_BYTES_MAX else None


def _cached_caller(
    service: Service, headers: Mapping[bytes, bytes]
) -> tuple[Principal, int] | None:
    """Return the caller and the stamp it was cached under, ``None`` if it has to be looked up."""
    if service.everybody is not None:
        stamp = service.memory.store.settings_stamp()
        return None if stamp is None else (service.everybody, stamp)
    key, authorization = headers.get(b"x-api-key"), headers.get(b"authorization")
    if (key is None) == (authorization is None):  # none, or two, which may differ
        return None
    if key is None and authorization is not None:
        scheme, _, key = authorization.partition(b" ")
        if scheme.lower().decode("latin-1") not in KEY_SCHEMES:
            return None
        key = key.strip()
    return service.keys.cached_principal((key or b"").decode("latin-1"))
