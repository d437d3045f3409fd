"""Server-sent events: encode them, keep streams alive, and end them when the service stops."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

import anyio
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from recollect.errors import QuotaError
from recollect.records import Json, JsonObject
from recollect.server.http.scope_access import Reach
from recollect.server.http.service import Service
from recollect.stores.change_feed import Cursor

MEDIA_TYPE: Final = "text/event-stream"
KEEP_ALIVE_S: Final = 15.0
_RETRY_S: Final = 5.0
_OPEN: Final = b": open\n\n"
# nginx would buffer the stream without the second.
_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event. Without a *name* it only sends its *id*, from which a reader can resume."""

    name: str = ""
    content: JsonObject | None = None
    id: str | None = None

    def encoded(self) -> bytes:
        r"""
        Return the event in wire format.

        >>> Event(name="change", content={"seq": 3}, id="1:3").encoded()
        b'id: 1:3\nevent: change\ndata: {"seq": 3}\n\n'
        """
        lines = [f"id: {self.id}"] if self.id is not None else []
        if self.name:
            data: Json = self.content or {}
            lines += [f"event: {self.name}", f"data: {json.dumps(data)}"]
        return ("\n".join(lines) + "\n\n").encode()


def event_stream(reach: Reach, events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """Return a response that streams *events*."""
    service, tenant = reach.service, reach.principal.tenant
    check_streams(service, tenant)
    return StreamingResponse(
        _encoded(service, tenant, events), media_type=MEDIA_TYPE, headers=_HEADERS
    )


async def _encoded(
    service: Service, tenant: str, events: AsyncGenerator[Event, None]
) -> AsyncIterator[bytes]:
    with _counted(service, tenant):
        try:
            yield _OPEN
            async for event in events:
                yield event.encoded()
        finally:
            # Shielded: after a disconnect the generator still has to release its resources.
            with anyio.CancelScope(shield=True):
                await events.aclose()


class Follower(Protocol):
    """The source of a stream that follows a scope."""

    @property
    def place(self) -> Cursor:
        """The cursor up to which changes were returned."""
        ...

    async def begin(self) -> Sequence[Event]:
        """Start, and return the first events."""
        ...

    async def look(self) -> Sequence[Event]:
        """Return the changes since the last call."""
        ...


class FollowingResponse(Response):
    """
    Streams the events of a follower until the reader disconnects or the service stops.

    Between changes it waits for the reader to disconnect, and the service's watch wakes it. So it
    needs no extra task, and a thousand idle readers cost little.

    Raises:
        QuotaError: The tenant has ``streams_max`` open streams.
    """

    media_type = MEDIA_TYPE

    def __init__(self, reach: Reach, follower: Follower) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]  # Starlette sets 0 for an empty body
        self._service, self._tenant = reach.service, reach.principal.tenant
        self._follower = follower
        check_streams(self._service, self._tenant)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        with _counted(self._service, self._tenant):
            head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(head)
            await send(_part(_OPEN))
            events = await self._follower.begin()
            while True:
                await send(_part(b"".join(each.encoded() for each in events)))
                if await self._is_gone(receive):
                    return
                if self._service.stopping.is_set():
                    break
                events = await self._follower.look()
            await send({"type": "http.response.body", "body": b""})

    async def _is_gone(self, receive: Receive) -> bool:
        """Wait for a change or a due keep-alive; return True if the client disconnected."""
        watch, place = self._service.watch, self._follower.place
        with anyio.move_on_after(KEEP_ALIVE_S) as waiting, watch.waking(place, waiting.cancel):
            while (await receive())["type"] != "http.disconnect":
                pass  # messages of the request's own body
            return True
        return False


def _part(body: bytes) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": True}


def check_streams(service: Service, tenant: str) -> None:
    """Raise if the tenant may not open another stream."""
    limit = service.settings.streams_max
    if service.streams.get(tenant, 0) >= limit:
        raise QuotaError("too many open streams", "streams_max", limit, _RETRY_S)


@contextmanager
def _counted(service: Service, tenant: str) -> Iterator[None]:
    """Count a stream as open during a block."""
    service.streams[tenant] = service.streams.get(tenant, 0) + 1
    service.metrics.streams.inc()
    try:
        yield
    finally:
        service.streams[tenant] -= 1
        service.metrics.streams.dec()
