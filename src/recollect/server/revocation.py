"""End streams, long waits and uploads as soon as their API key becomes invalid."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import anyio
from anyio.lowlevel import checkpoint
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.errors import KeyRevokedError, StoreError
from recollect.records import Json
from recollect.server.authorization import Principal
from recollect.server.http.authentication import STAMP
from recollect.server.http.problems import problem_of
from recollect.server.http.service import Service
from recollect.wire.record_digests import LINES, PROBLEM

LAST_PIECE_S: Final = 0.5
"""Timeout for sending the final error to a reader that does not read."""
EVENTS: Final = "text/event-stream"
"""The kind of the final error line in a stream of JSON lines."""
KEYS_PATH: Final = "/v1/keys"


class Revocation:
    """
    Middleware that ends a response once the key of its request becomes invalid.

    It covers every guarded request. Before each chunk of the body the key is checked again, unless
    that was just done; `KeyWatch` checks it while nothing is sent. When the key becomes invalid,
    the work is cancelled. A response that has not begun becomes a problem with the code
    ``key_revoked``. A stream of events ends with the event ``error``, a stream of JSON lines with
    a line of the kind ``problem``, each with the same problem. Any other response breaks off.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and end it when its key becomes invalid."""
        principal: Principal | None = scope.get("state", {}).get("principal")
        if principal is None or not principal.credential or _needs_no_watch(scope):
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope["app"].state.service, principal, send)
        try:
            with answer.working:
                await self._app(scope, receive, answer.send)
        except Exception:
            if answer.error is None:
                raise  # with an error of the answer, this one is a mere result of the cancellation
        finally:
            answer.leave()
        if answer.error is not None:
            await answer.tell_end(scope, receive)


def _needs_no_watch(scope: Scope) -> bool:
    """
    Return True if the key is checked in the write transaction only, and the response kept whole.

    A request to ``/v1/keys`` may revoke or rotate its own key, and only its response has the new
    secret. An append with a cached key is carried out under the key's stamp.
    """
    path = scope["path"]
    is_of_keys = path == KEYS_PATH or path.startswith(f"{KEYS_PATH}/")
    return is_of_keys or scope["state"].get(STAMP) is not None


class _Answer:
    """
    A response in progress.

    Its head is held back until the first chunk of its body, so that it can still become a problem.
    """

    def __init__(self, service: Service, principal: Principal, send: Send) -> None:
        self.service = service
        self.working = anyio.CancelScope()
        self.error: KeyRevokedError | StoreError | None = None
        self.principal = principal
        self._send = send
        self._head: Message | None = None
        self._media_type: str | None = None
        self._is_over = False
        self._began_at = service.key_watch.begin(self)

    def end(self, error: KeyRevokedError | StoreError) -> None:
        """Cancel the work and send nothing more, unless the response is complete."""
        if self.error is None and not self._is_over:
            self.error = error
            self.working.cancel()

    def leave(self) -> None:
        self.service.key_watch.end(self)

    async def send(self, message: Message) -> None:
        """Send a message of the response, if the key is still valid."""
        watch = self.service.key_watch
        if message["type"] == "http.response.start":
            self._head = message  # sent with the first chunk
            return
        if self.error is None and not watch.is_fresh(self, self._began_at):
            try:
                await watch.check(self)
            except StoreError as error:
                self.end(error)
        if self.error is not None:
            await checkpoint()  # raises the cancellation, unless the work is shielded
        else:
            self._is_over = not message.get("more_body", False)
            await self._send_head()
            await self._send(message)

    async def _send_head(self) -> None:
        head, self._head = self._head, None
        if head is not None:
            self._media_type = Headers(raw=head["headers"]).get("content-type", "")
            await self._send(head)

    async def tell_end(self, scope: Scope, receive: Receive) -> None:
        """Tell the client why the response ends."""
        if self.error is None:
            return
        self.service.metrics.refused.labels(self.error.code).inc()
        problem = problem_of(self.error)
        # A reader that has stopped reading must not hold the connection.
        with anyio.move_on_after(LAST_PIECE_S):
            if self._media_type is None:
                await problem(scope, receive, self._send)
            elif last := _last_piece(self._media_type, problem.record()):
                await self._send({"type": "http.response.body", "body": last})


def _last_piece(media_type: str, record: Mapping[str, Json]) -> bytes:
    """Return the final error of a stream, ``b""`` if its media type has no room for one."""
    kind = media_type.partition(";")[0].strip().lower()
    if kind == EVENTS:
        return f"event: error\ndata: {json.dumps(record)}\n\n".encode()
    if kind == LINES:
        return json.dumps({"kind": PROBLEM, **record}).encode() + b"\n"
    return b""
