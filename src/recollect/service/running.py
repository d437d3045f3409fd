"""Running the service: one uvicorn server on one socket, which stops well."""

from __future__ import annotations

import logging
import socket
import sys
from types import FrameType
from typing import Any, Final, cast

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.errors import UsageError
from recollect.service.observing import LOG, JsonLines
from recollect.service.origins import HEADER_BYTES_MAX
from recollect.service.problem import Problem
from recollect.service.settings import Settings

LINGER_S: Final = 1.0
"""So long a refused body is read on and thrown away, so that the refusal is read, too."""
_KEEP_ALIVE_S: Final = 30
_BACKLOG: Final = 256


class Server(uvicorn.Server):
    """A server that ends open streams when it is told to stop, before it waits for requests."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; a second signal ends it at once."""
        self._app.state.stopping.set()
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # it would raise them again at the end, and die of them


def protocol_of(settings: Settings) -> type[H11Protocol]:
    """Return a protocol that waits for the head of a request only so long, and answers problems."""

    class Protocol(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(cast("Any", _Lingering(transport, self)))
            self.loop.call_later(settings.header_timeout_s, self._check_begun)

        def data_received(self, data: bytes) -> None:
            if not self.transport.is_closing():
                super().data_received(data)

        def _check_begun(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                wait = f"{settings.header_timeout_s:g} s (header_timeout_s)"
                self._refuse(
                    Problem(
                        status=408,
                        code="slow",
                        detail=f"the head of the request did not come within {wait}",
                    )
                )

        def send_400_response(self, msg: str) -> None:
            detail = "this is no HTTP request that can be read: see RFC 9112 for its form"
            self._refuse(Problem(status=400, code="request", detail=detail))

        def _refuse(self, problem: Problem) -> None:
            response = problem.response()
            lines = [f"HTTP/1.1 {problem.status} {problem.record()['title']}".encode()]
            lines += [name + b": " + value for name, value in response.raw_headers]
            head = b"\r\n".join([*lines, b"connection: close", b"", b""])
            self.transport.write(head + bytes(response.body))
            self.transport.close()

    return Protocol


class _Lingering:
    """A transport that, closed while a body is still coming, ends its own side first."""

    def __init__(self, transport: Any, protocol: H11Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._is_closing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Say whether nothing more is read or written."""
        return self._is_closing or bool(self._transport.is_closing())

    def close(self) -> None:
        """Close it; where more is to come, after it was thrown away for a while."""
        if self._is_closing:
            return
        self._is_closing = True
        is_coming = self._protocol.conn.their_state is h11.SEND_BODY
        if is_coming and self._transport.can_write_eof():
            self._transport.write_eof()
            self._transport.resume_reading()
            self._protocol.loop.call_later(LINGER_S, self._transport.close)
        else:
            self._transport.close()


def bound_socket(settings: Settings) -> socket.socket:
    """
    Return a socket that listens at the address of the settings; port 0 is any that is free.

    Raises:
        UsageError: The address cannot be had.
    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        msg = (
            f"{settings.host}:{settings.port} cannot be listened at: {error.strerror or error}: "
            "give another --host or --port"
        )
        raise UsageError(msg) from error
    found.listen(_BACKLOG)
    return found


def server_of(app: FastAPI, settings: Settings) -> Server:
    """Return a server for the application; run it with a `bound_socket`."""
    config = uvicorn.Config(
        app,
        http=cast("Any", protocol_of(settings)),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=settings.connections_max,
        h11_max_incomplete_event_size=HEADER_BYTES_MAX,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, round(settings.grace_s)),
    )
    return Server(config, app)


def url_of(listening: socket.socket) -> str:
    """Return the address at which a socket can be asked."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def log_to(stream: Any = None, *, level: str = "info") -> None:
    """Write the service's log as JSON lines; what libraries log below a warning is left out."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    LOG.setLevel(level.upper())
