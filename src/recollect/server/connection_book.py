"""Track open connections, and close idle ones to make room."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final, Protocol, TypeAlias

import anyio

from recollect.server.settings import Settings

LOOK_EVERY_S: Final = 0.5
"""Interval of `ConnectionBook.make_room`; a look costs about a microsecond a connection."""
ABORT_S: Final = 2.0
"""Grace period for a closed connection to flush its output, before it is aborted."""
KEYED_IDLE_S: Final = 60.0
"""Idle timeout of connections that presented a valid key."""
_IPV6_PREFIX: Final = 64
"""IPv6 peers are counted by this prefix: one host owns every address below it."""
_WITH_PORT: Final = re.compile(r"\[([^\[\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5}")
"""An address as some proxies write it: with the port, IPv6 in brackets."""

Peer: TypeAlias = tuple[str, int]
"""Address and port at the other end of a connection."""


class _Transport(Protocol):
    def abort(self) -> None: ...


class Connection(Protocol):
    """A connection, as each of uvicorn's protocols implements it."""

    client: Peer | None
    transport: _Transport

    def shutdown(self) -> None:
        """Close the connection, after the response if one is being sent."""


@dataclass(slots=True)
class Held:
    """An open connection."""

    peer: Peer
    idle_since: float | None = None
    """Monotonic time at which it was first seen idle; ``None`` while it is busy."""
    requests: int = 0
    """Requests in progress."""
    is_keyed: bool = False
    """Whether it has carried a request with a valid key, or comes from a trusted proxy."""
    closed_at: float | None = None
    connection: Connection | None = None

    @property
    def is_idle(self) -> bool:
        """Whether it can be closed without cutting off a response."""
        return not self.requests and self.closed_at is None

    def idle_s(self, now: float) -> float:
        """Return the idle time in seconds."""
        return 0.0 if self.idle_since is None else now - self.idle_since


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Limits on connections; see `Settings`."""

    total: int
    keyless: int
    per_address: int
    idle_s: float

    @classmethod
    def of(cls, settings: Settings) -> Room:
        """Return the limits of *settings*; a quarter of the connections is reserved by default."""
        total = settings.connections_max
        reserved = settings.connections_reserved
        reserved = total // 4 if reserved is None else reserved
        return cls(
            total=total,
            keyless=total - reserved,
            per_address=settings.connections_per_address,
            idle_s=settings.idle_timeout_s,
        )


def to_close(held: Iterable[Held], room: Room, now: float) -> list[Held]:
    """
    Return the idle connections to close.

    Connections with a key are closed after ``KEYED_IDLE_S`` only. Those without one are closed,
    longest idle first, when they time out or exceed the limit of their address, of all connections
    without a key, or of all connections.
    """
    there = [each for each in held if each.closed_at is None]
    keyless = [each for each in there if not each.is_keyed]
    of_address = Counter(address_key(each.peer[0]) for each in keyless)
    late = [
        each
        for each in there
        if each.is_keyed and each.is_idle and each.idle_s(now) >= KEYED_IDLE_S
    ]
    # The larger excess decides: closing keyless connections lowers both counts.
    beyond = max(len(keyless) - room.keyless, len(there) - len(late) - room.total)
    found: list[Held] = []
    idle = [each for each in keyless if each.is_idle]
    for each in sorted(idle, key=lambda one: one.idle_s(now), reverse=True):
        key = address_key(each.peer[0])
        is_late = each.idle_s(now) >= room.idle_s
        if is_late or of_address[key] > room.per_address or len(found) < beyond:
            of_address[key] -= 1
            found.append(each)
    return [*late, *found]


@lru_cache(maxsize=4_096)
def address_key(host: str) -> str:
    """
    Return the form of an address under which its connections are counted.

    >>> address_key("10.0.0.7"), address_key("::ffff:10.0.0.7"), address_key("2001:db8::1:2:3")
    ('10.0.0.7', '10.0.0.7', '2001:db8::/64')
    """
    address = read_address(host)
    if isinstance(address, IPv6Address):
        return str(ip_network((address, _IPV6_PREFIX), strict=False))
    return host if address is None else str(address)


def read_address(written: str) -> IPv4Address | IPv6Address | None:
    """
    Return the address that a socket or a proxy names, ``None`` if it is none.

    Its port does not count, and an IPv4 address that is written as IPv6 is the IPv4 address.

    >>> str(read_address("10.0.0.7:4711")), str(read_address("[::ffff:10.0.0.7]"))
    ('10.0.0.7', '10.0.0.7')
    """
    bare = _WITH_PORT.fullmatch(written.strip())
    try:
        address = ip_address((bare[1] or bare[2]) if bare else written.strip())
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


class ConnectionBook:
    """
    Tracks a server's connections, and closes idle ones when others need room.

    Connections that presented a valid key are closed last. An incomplete request is invisible here:
    such a connection counts as idle, so that sending a head slowly does not hold its place.
    """

    def __init__(
        self,
        room: Room,
        connections: Callable[[], Collection[Connection]],
        *,
        is_trusted: Callable[[str], bool] = lambda _: False,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.room = room
        self._connections = connections
        self._open: Collection[Connection] = ()
        self._is_trusted = is_trusted
        self._monotonic_s = monotonic_s
        self._held: dict[Peer, Held] = {}
        self._closing = 0

    def begin(self, peer: Peer, *, is_keyed: bool) -> Held:
        """Record that a request is being answered, with a valid key or without."""
        held = self._held.get(peer)
        # A port can be reused at once: the entry of a closed connection may be another peer's.
        if held is None or (held.connection and held.connection not in self._open):
            held = self._held[peer] = self._new(peer)
        held.requests += 1
        held.idle_since = None
        if is_keyed:
            held.is_keyed = True
        return held

    def end(self, held: Held) -> None:
        """Record that a request was answered."""
        held.requests -= 1
        # It was closed while its head was read. The grace period starts with the response.
        if held.closed_at is not None:
            held.closed_at = self._monotonic_s()

    @property
    def count(self) -> int:
        """Number of connections open and not about to be closed."""
        return len(self._open) - self._closing

    def busy_keyless(self) -> int:
        """Return the number of connections without a key that have a request in progress."""
        return sum(bool(each.requests) and not each.is_keyed for each in self._held.values())

    def keyless_of(self, host: str) -> int:
        """Return the number of connections without a key from an address."""
        key = address_key(host)
        return sum(
            not each.is_keyed and each.closed_at is None and address_key(each.peer[0]) == key
            for each in self._held.values()
        )

    def make_room(self) -> None:
        """Close idle connections beyond the limits, and abort those that do not finish closing."""
        now = self._monotonic_s()
        self._note_open(now)
        for each in to_close(self._held.values(), self.room, now):
            each.closed_at = now
            if each.connection:
                each.connection.shutdown()
        # `shutdown` waits for the peer to read: abort those that do not.
        closing = [each for each in self._held.values() if each.closed_at is not None]
        self._closing = len(closing)
        for each in closing:
            is_late = each.closed_at is not None and now - each.closed_at >= ABORT_S
            if is_late and not each.requests and each.connection:
                each.connection.transport.abort()

    def _note_open(self, now: float) -> None:
        """Add new connections, and drop closed ones."""
        self._open = self._connections()
        open_ = {each.client: each for each in self._open if each.client}
        for peer in [each for each in self._held if each not in open_]:
            # A request in progress still calls `end` with its entry.
            if not self._held[peer].requests:
                del self._held[peer]
        for peer, connection in open_.items():
            held = self._held.get(peer)
            if held is None or held.connection not in (None, connection):
                held = self._held[peer] = self._new(peer)
            held.connection = connection
            if held.idle_since is None and not held.requests:
                held.idle_since = now

    def _new(self, peer: Peer) -> Held:
        return Held(peer=peer, is_keyed=self._is_trusted(peer[0]))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run `make_room` every ``LOOK_EVERY_S`` during the block."""
        self._open = self._connections()
        async with anyio.create_task_group() as group:
            group.start_soon(self._run)
            yield
            group.cancel_scope.cancel()

    async def _run(self) -> None:
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            self.make_room()
