"""Ends each answer that takes longer than its key is good: streams, waits, uploads."""

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
from recollect.server.http.state import Service

LAST_PIECE_S: Final = 0.5
"""So long a reader who does not read is waited for, to be told why the answer ends."""
EVENTS: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"
PROBLEM: Final = "problem"
"""The kind of the last line of an answer in lines that was ended."""
KEYS_PATH: Final = "/v1/keys"


class Revocation:
    """
    Lets an answer go on only as long as the key of its request is good.

    It applies to every guarded request, whatever answers it: before each piece of the answer the
    key is asked for again, unless that was just done, and while nothing is sent `KeyWatch` looks.
    Once the key is not good the work is cancelled. An answer that has not begun is a problem with
    the code ``key_revoked`` then; a stream of events ends with the event ``error``, one of lines
    with a line of the kind ``problem``, each with the same problem; any other breaks off.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, as long as its key is good."""
        principal: Principal | None = scope.get("state", {}).get("principal")
        if principal is None or not principal.credential or _is_told_whole(scope):
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope["app"].state.service, principal, send)
        try:
            with answer.working:
                await self._app(scope, receive, answer.send)
        except Exception:
            if answer.error is None:
                raise  # otherwise it is what came of the cancelled work
        finally:
            answer.leave()
        if answer.error is not None:
            await answer.tell_end(scope, receive)


def _is_told_whole(scope: Scope) -> bool:
    """
    Return True of requests that are refused in their transaction alone, and answered whole.

    A key may revoke itself, or be given another secret, which its answer alone tells. An append
    whose key is known from before is carried out under its stamp.
    """
    path = scope["path"]
    is_of_keys = path == KEYS_PATH or path.startswith(f"{KEYS_PATH}/")
    return is_of_keys or scope["state"].get(STAMP) is not None


class _Answer:
    """
    An answer that is being given.

    Its head is held back until the first piece of its body: until then it can become a problem.
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
        """Stop the work, and let nothing more of it through; one that is over stays so."""
        if self.error is None and not self._is_over:
            self.error = error
            self.working.cancel()

    def leave(self) -> None:
        """Watch the key no more for it."""
        self.service.key_watch.end(self)

    async def send(self, message: Message) -> None:
        """Send a piece of the answer, if the key is still good."""
        watch = self.service.key_watch
        if message["type"] == "http.response.start":
            self._head = message
            return
        if self.error is None and not watch.is_fresh(self, self._began_at):
            try:
                await watch.check(self)
            except StoreError as error:
                self.end(error)
        if self.error is not None:
            await checkpoint()  # the work is cancelled here, unless it is shielded
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
        with anyio.move_on_after(LAST_PIECE_S):
            if self._media_type is None:
                await problem(scope, receive, self._send)
            elif last := _last_piece(self._media_type, problem.record()):
                await self._send({"type": "http.response.body", "body": last})


def _last_piece(media_type: str, record: Mapping[str, Json]) -> bytes:
    """Return the end of a stream that is broken off, ``b""`` where it can have none."""
    kind = media_type.partition(";")[0].strip().lower()
    if kind == EVENTS:
        return f"event: error\ndata: {json.dumps(record)}\n\n".encode()
    if kind == LINES:
        return json.dumps({"kind": PROBLEM, **record}).encode() + b"\n"
    return b""
