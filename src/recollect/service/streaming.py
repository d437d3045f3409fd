"""Server-sent events: written, kept alive, and ended when the service stops."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Final

import anyio
from starlette.responses import StreamingResponse

from recollect.errors import QuotaError
from recollect.records import Json, JsonObject
from recollect.service.opening import Service
from recollect.service.reaching import Reach

MEDIA_TYPE: Final = "text/event-stream"
KEEP_ALIVE_S: Final = 15.0
_RETRY_S: Final = 5.0
_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event; without a *name* only its *id* is told, from which a reader goes on."""

    name: str = ""
    content: JsonObject | None = None
    id: str | None = None

    def encoded(self) -> bytes:
        r"""
        Return it as it goes over the wire.

        >>> Event(name="change", content={"seq": 3}, id="1:3").encoded()
        b'id: 1:3\nevent: change\ndata: {"seq": 3}\n\n'
        """
        lines = [f"id: {self.id}"] if self.id is not None else []
        if self.name:
            data: Json = self.content or {}
            lines += [f"event: {self.name}", f"data: {json.dumps(data)}"]
        return ("\n".join(lines) + "\n\n").encode()


def event_stream(reach: Reach, events: AsyncGenerator[Event, None]) -> StreamingResponse:
    """
    Return an answer that streams *events*.

    Raises:
        QuotaError: The tenant has as many streams open as it may.
    """
    service, tenant = reach.service, reach.principal.tenant
    limit = service.settings.streams_max
    if service.streams.get(tenant, 0) >= limit:
        what = "too many open streams"
        raise QuotaError(what, "streams_max", limit, _RETRY_S)
    return StreamingResponse(
        _encoded(service, tenant, events), media_type=MEDIA_TYPE, headers=_HEADERS
    )


async def _encoded(
    service: Service, tenant: str, events: AsyncGenerator[Event, None]
) -> AsyncIterator[bytes]:
    service.streams[tenant] = service.streams.get(tenant, 0) + 1
    service.metrics.streams.inc()
    try:
        yield b": open\n\n"
        async for event in events:
            yield event.encoded()
    finally:
        service.streams[tenant] -= 1
        service.metrics.streams.dec()
        with anyio.CancelScope(shield=True):
            await events.aclose()
