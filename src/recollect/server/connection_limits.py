"""Connection limits: reserve some connections for valid keys, and cap those of one address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.server.connection_book import ConnectionBook, Peer, address_key, read_address
from recollect.server.http.problems import Problem

FORWARDED: str = "x-forwarded-for"


class TrustedProxies:
    """
    Addresses and networks of proxies whose ``X-Forwarded-For`` is trusted.

    Without any, the header is ignored.
    """

    def __init__(self, written: Sequence[str]) -> None:
        self._networks = [_network(each) for each in written]

    def __contains__(self, host: str) -> bool:
        address = read_address(host) if self._networks else None
        return address is not None and any(address in each for each in self._networks)

    def client_of(self, host: str, headers: Headers) -> str:
        """
        Return the client's address behind the trusted proxies.

        It is the last address in ``X-Forwarded-For`` that is not a trusted proxy. The client may
        have forged those before it.
        """
        if host not in self:
            return host
        hops = [part.strip() for each in headers.getlist(FORWARDED) for part in each.split(",")]
        return next((each for each in reversed(hops) if each not in self), host)


def _network(written: str) -> IPv4Network | IPv6Network:
    """Return a network, an address as the network that holds it alone."""
    address = read_address(written)
    return ip_network(written if address is None else address, strict=False)


class ConnectionLimits:
    """
    Middleware that rejects requests beyond the connection limits, and closes their connections.

    It runs after `Authentication`, which verifies the key. Requests with a valid key may use all of
    ``connections_max``; idle connections without one are closed to make room for them.
    """

    def __init__(self, app: ASGIApp, book: ConnectionBook, proxies: TrustedProxies) -> None:
        self._app = app
        self._book = book
        self._proxies = proxies
        self._asking: Counter[str] = Counter()
        """Requests without a key in progress, by address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 503 if its connection exceeds a limit."""
        # Address and port name the connection, which every ASGI server reports.
        peer: Peer | None = scope.get("client")
        if scope["type"] != "http" or peer is None:
            await self._app(scope, receive, send)
            return
        is_keyed = scope.get("state", {}).get("principal") is not None
        held = self._book.begin(peer, is_keyed=is_keyed)
        try:
            refused = self._check_total()
            if is_keyed or refused is not None:
                await (refused or self._app)(scope, receive, send)
            else:
                await self._answer_keyless(scope, receive, send)
        finally:
            self._book.end(held)

    async def _answer_keyless(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = scope["client"][0]
        address = address_key(self._proxies.client_of(host, Headers(scope=scope)))
        self._asking[address] += 1
        try:
            refused = self._check_keyless(host, address)
            await (refused or self._app)(scope, receive, send)
        finally:
            self._asking[address] -= 1
            if not self._asking[address]:  # or the counter would grow with every address
                del self._asking[address]

    def _check_total(self) -> Problem | None:
        """Return the refusal if more than ``connections_max`` connections are open."""
        book, limit = self._book, self._book.room.total
        if book.count > limit:
            book.make_room()
        if book.count <= limit:
            return None
        return _refusal(f"more than {limit} connections are open (connections_max)")

    def _check_keyless(self, host: str, address: str) -> Problem | None:
        """Return the refusal of a request without a key that exceeds a limit."""
        book, room = self._book, self._book.room
        held = self._asking[address]
        # Below both limits none can be exceeded: skip the walk over all connections.
        is_crowded = book.count > min(room.per_address, room.keyless)
        # The connections of a proxy belong to many clients: count only this client's requests.
        if is_crowded and host not in self._proxies:
            held = max(held, book.keyless_of(host))
        if held > room.per_address:
            return _refusal(
                f"more than {room.per_address} connections without a key are open from this "
                "address (connections_per_address)"
            )
        if is_crowded and book.busy_keyless() > room.keyless:
            return _refusal(
                f"more than {room.keyless} connections without a key are in use "
                "(connections_max less connections_reserved)"
            )
        return None


def _refusal(what: str) -> Problem:
    return Problem(
        status=503,
        code="limit",
        detail=f"{what}: close idle ones, or retry in a moment",
        headers={"retry-after": "1", "connection": "close"},
    )
