"""A TCP proxy before a server, which delays, drops and resets what a test wants to see lost."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Final, Literal, Self, TypeAlias

Cut: TypeAlias = Literal["before", "after"]
"""Whether a connection is cut before the server hears the mark, or after it has answered."""

_CHUNK_BYTES: Final = 65_536
_Ends: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_RESET: Final = struct.pack("ii", 1, 0)


class FaultyProxy:
    """
    Passes bytes between clients on this machine's loopback and a server.

    *upstream* is the server's socket, or its port on the loopback.

    It has a thread and an event loop of its own, so that clients may block theirs. *cuts*
    says what happens to the next connections on which *mark* comes by, in order; *delay_s*
    is how long every piece waits, and while *is_silent* nothing comes through at all.
    """

    def __init__(self, upstream: Path | int, mark: bytes = b"COMMIT\0") -> None:
        self.cuts: deque[Cut] = deque()
        self.delay_s = 0.0
        self.is_silent = False
        self.connections = 0
        """How many clients are connected now."""
        self._upstream = upstream
        self._mark = mark
        self._links: set[_Link] = set()
        self._loop = asyncio.new_event_loop()
        self._port: Future[int] = Future()
        self._thread = Thread(target=self._serve, name="faulty-proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._port.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def port(self) -> int:
        """Return where clients connect."""
        return self._port.result()

    def cut_all(self) -> None:
        """Reset every connection there is."""
        asyncio.run_coroutine_threadsafe(self._cut_all(), self._loop).result()

    async def _cut_all(self) -> None:
        for link in list(self._links):
            link.cut()

    def _serve(self) -> None:
        server = self._loop.run_until_complete(
            asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_CHUNK_BYTES)
        )
        self._port.set_result(server.sockets[0].getsockname()[1])
        self._loop.run_forever()
        server.close()
        self.is_silent = False
        for link in list(self._links):
            link.cut()
        self._loop.run_until_complete(self._finish())
        self._loop.close()

    async def _finish(self) -> None:
        """Wait for whatever passes bytes, which ends with its connections."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.sleep(0)  # in their next turn the sockets are closed

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            upstream = await self._connected()
        except OSError:
            writer.transport.abort()
            return
        link = _Link(self, (reader, writer), upstream)
        self._links.add(link)
        self.connections += 1
        await link.run()
        self.connections -= 1
        self._links.discard(link)

    async def _connected(self) -> _Ends:
        if isinstance(self._upstream, int):
            return await asyncio.open_connection("127.0.0.1", self._upstream)
        return await asyncio.open_unix_connection(str(self._upstream))

    async def weigh(self, chunk: bytes, before: bytes) -> Cut | None:
        """Let a piece from a client wait, and return True if its connection is to be cut."""
        await self.wait()
        if self.cuts and self._mark in before[-len(self._mark) :] + chunk:
            return self.cuts.popleft()
        return None

    async def wait(self) -> None:
        """Wait as long as a piece is to be delayed."""
        while self.is_silent:  # noqa: ASYNC110 - it is set from another thread
            await asyncio.sleep(0.005)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)


class _Link:
    """One client's connection, and the one to the server that serves it."""

    def __init__(self, proxy: FaultyProxy, client: _Ends, server: _Ends) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._swallows = False

    async def run(self) -> None:
        """Pass bytes both ways until either side ends."""
        pumps = [asyncio.ensure_future(self._ask()), asyncio.ensure_future(self._answer())]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        self.cut()
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)

    def cut(self) -> None:
        """Reset both sides."""
        for _, writer in (self._client, self._server):
            found = writer.get_extra_info("socket")
            if found is not None and found.family != socket.AF_UNIX and found.fileno() >= 0:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()

    async def _ask(self) -> None:
        before = b""
        while chunk := await self._client[0].read(_CHUNK_BYTES):
            cut = await self._proxy.weigh(chunk, before)
            if cut == "before":
                return
            self._swallows = self._swallows or cut == "after"
            before = chunk
            self._server[1].write(chunk)

    async def _answer(self) -> None:
        while chunk := await self._server[0].read(_CHUNK_BYTES):
            await self._proxy.wait()
            if self._swallows:
                return
            self._client[1].write(chunk)
