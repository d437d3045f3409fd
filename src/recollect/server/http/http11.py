"""HTTP/1.1 on one connection: uvicorn's httptools protocol, with stricter limits."""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from recollect.server.http.allowed_origins import HEADER_BYTES_MAX, TOO_LONG
from recollect.server.http.problems import Problem
from recollect.server.settings import Settings

RECEIVED: Final = "recollect.received"
"""Name in the scope of the part of the body that has arrived, until `receive` is called."""
LINGER_S: Final = 1.0
"""After a refusal, read and discard the request this long, so that the client reads the refusal."""
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


def protocol_of(settings: Settings) -> type[HttpToolsProtocol]:
    """Return a protocol class with the ``header_timeout_s`` of *settings*."""

    class Protocol(_Protocol):
        header_timeout_s = settings.header_timeout_s

    return Protocol


class _Protocol(HttpToolsProtocol):
    """
    The protocol of one connection.

    httptools buffers an incomplete head, chunk size or trailer without limit: beyond
    ``HEADER_BYTES_MAX`` it is refused. Trailers are dropped, because uvicorn would mix them with
    the headers, which were checked before. Protocol upgrades are ignored (RFC 9110, 7.8 allows
    that), and the body of such a request is read.
    """

    header_timeout_s: float
    _unread = 0
    """Bytes received since the last callback of the parser."""
    _is_in_head = False
    _is_told_again = False

    @property
    def is_receiving(self) -> bool:
        """Whether a request has begun to arrive and is not complete."""
        cycle: RequestResponseCycle | None = self.cycle
        return self._is_in_head or (cycle is not None and cycle.more_body)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(cast("Any", _Lingering(transport, self)))
        self.loop.call_later(self.header_timeout_s, self._check_begun)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unread += len(data)
        self._unset_keepalive_if_required()
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self.send_400_response("")
            return
        if self._unread > HEADER_BYTES_MAX and not self.transport.is_closing():
            self._refuse(TOO_LONG)

    def _feed(self, data: bytes) -> None:
        """Feed the parser, also after it has stopped at a protocol upgrade."""
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as ended:
                data = data[ended.args[0] :]
                self._expect_body()
            else:
                return

    def _expect_body(self) -> None:
        """Make the parser read the body of a request whose head it stopped at."""
        # It expects a new request after an upgrade: repeat a head that declares the same body.
        framing = [name + b": " + value for name, value in self.headers if name in _FRAMING]
        if framing:
            self._is_told_again = True
            self.parser.feed_data(b"\r\n".join([b"POST / HTTP/1.1", *framing, b"", b""]))
            self._is_told_again = False

    def on_message_begin(self) -> None:
        if not self._is_told_again:
            self._is_in_head = True
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self._is_told_again:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._unread = 0
        if not self._is_told_again:
            super().on_headers_complete()
            # uvicorn extends this array as the body arrives, before the application runs.
            cast("dict[str, Any]", self.scope)[RECEIVED] = self.cycle.body

    def on_chunk_header(self) -> None:
        self._unread = 0

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        stops_at_head = self.parser.should_upgrade() and not self._is_told_again
        if not (stops_at_head and any(name in _FRAMING for name, _ in self.headers)):
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        detail = "the request is not valid HTTP/1.1: see RFC 9112"
        self._refuse(Problem(status=400, code="request", detail=detail))

    def _check_begun(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            wait = f"{self.header_timeout_s:g} s (header_timeout_s)"
            self._refuse(
                Problem(
                    status=408,
                    code="slow",
                    detail=f"the head of the request did not come within {wait}",
                )
            )

    def _refuse(self, problem: Problem) -> None:
        response = problem.response()
        lines = [f"HTTP/1.1 {problem.status} {problem.record()['title']}".encode()]
        lines += [name + b": " + value for name, value in response.raw_headers]
        head = b"\r\n".join([*lines, b"connection: close", b"", b""])
        self.transport.write(head + bytes(response.body))
        self.transport.close()


class _Lingering:
    """
    A transport wrapper that closes gently and joins small writes.

    Closed while a request is still arriving, it ends its own side first, since the client would
    otherwise get a reset in place of the response. A write is held back until the next one, or the
    next turn of the loop, so that the head of a response is sent in one packet with its body.
    """

    def __init__(self, transport: asyncio.Transport, protocol: _Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._is_closing = False
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return True if nothing more is to be read or written."""
        return self._is_closing or bool(self._transport.is_closing())

    def write(self, data: bytes) -> None:
        """Send *data*, or hold it back until the next write or turn of the loop."""
        if self._held:
            self._held += data
            self._send_held()
        elif data:
            self._held = bytes(data)
            self._protocol.loop.call_soon(self._send_held)

    def _send_held(self) -> None:
        held, self._held = self._held, b""
        if held and not self._transport.is_closing():  # the peer may have disconnected meanwhile
            self._transport.write(held)

    def close(self) -> None:
        """Close the connection, after discarding the rest of a request for ``LINGER_S``."""
        if self._is_closing:
            return
        self._is_closing = True
        self._send_held()
        if self._protocol.is_receiving and self._transport.can_write_eof():
            self._transport.write_eof()
            self._transport.resume_reading()
            self._protocol.loop.call_later(LINGER_S, self._transport.close)
        else:
            self._transport.close()
