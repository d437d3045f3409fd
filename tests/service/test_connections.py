"""Connections without a key do not keep holders of keys out, however many there are."""

import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.server import connection_book
from recollect.server.authorization import Principal
from recollect.server.connection_book import (
    ABORT_S,
    KEYED_IDLE_S,
    ConnectionBook,
    Held,
    Room,
    address_key,
    to_close,
)
from recollect.server.connection_limits import ConnectionLimits, TrustedProxies
from recollect.server.testing import Served

pytestmark = pytest.mark.timeout(240)
Connect = Callable[..., httpx.Client]
Start = Callable[..., Served]
CROWD = 200
PATH = "/v1/threads/t/messages"
SAID = {"messages": [{"role": "user", "text": "hello"}]}
SOON_S = 10.0


# A crowd at a real service.


@contextmanager
def crowd(served: Served, addresses: Sequence[str], sent: bytes = b"") -> Iterator[list[Any]]:
    """Open idle connections without a key, from some addresses of this machine in turn."""
    at = urlsplit(served.url)
    with ExitStack() as stack:
        found = []
        for number in range(CROWD):
            source = (addresses[number % len(addresses)], 0)
            each = socket.create_connection((at.hostname, at.port), 10.0, source)
            stack.callback(each.close)
            if sent:
                each.sendall(sent)
            found.append(each)
        until = time.monotonic() + SOON_S
        while len(served.app.state.connections) < CROWD / 4 and time.monotonic() < until:
            time.sleep(0.01)  # until the service has taken in what stood in its line
        yield found


def statuses(served: Served, connect: Connect, count: int = 20) -> set[int]:
    """Return how a holder of a key is answered, on new connections and on one that is kept."""
    kept = connect(served)
    found = set()
    for _ in range(count):
        found.add(kept.post(PATH, json=SAID).status_code)
        with httpx.Client(base_url=served.url, headers={"x-api-key": served.key}) as fresh:
            found.add(fresh.get("/v1/threads").status_code)
    return found


CROWDS = {
    "one address": (["127.0.0.1"], b""),
    "four addresses": ([f"127.0.0.{each}" for each in range(2, 6)], b""),
    "two hundred addresses": ([f"127.0.1.{each}" for each in range(1, 201)], b""),
    "slow heads": ([f"127.0.0.{each}" for each in range(2, 6)], b"GET /v1/me HTTP/1.1\r\nhost: l"),
    "answered once": (
        [f"127.0.0.{each}" for each in range(2, 6)],
        b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ),
}


@pytest.mark.parametrize("name", sorted(CROWDS))
def test_a_crowd_without_keys_keeps_nobody_with_a_key_out(
    starting: Start, connect: Connect, name: str
) -> None:
    """Two hundred that send nothing, or half a head, or stay: holders of keys are answered."""
    served = starting()
    addresses, sent = CROWDS[name]

    with crowd(served, addresses, sent):
        found = statuses(served, connect)

    assert {200, 201} == found


def test_without_room_made_the_crowd_would_keep_them_out(
    starting: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control, and mutant: where no idle connection is closed, they are told 503."""
    monkeypatch.setattr(ConnectionBook, "make_room", lambda _: None)
    served = starting(header_timeout_s=60.0)

    with crowd(served, ["127.0.0.1"]):
        found = statuses(served, connect, 1)

    assert {503} == found


def test_an_address_keeps_no_more_than_its_share(starting: Start) -> None:
    """What is beyond is closed, the longest idle first; other addresses keep theirs."""
    served = starting(connections_per_address=10, idle_timeout_s=60.0, header_timeout_s=60.0)
    with crowd(served, ["127.0.0.2", "127.0.0.3"]) as open_:
        time.sleep(2.0)
        left = [each for each in open_ if is_open(each)]
        assert [10, 10] == [
            sum(each.getsockname()[0] == host for each in left)
            for host in ("127.0.0.2", "127.0.0.3")
        ]


def is_open(connection: Any) -> bool:
    """Return True if the service has not closed a connection."""
    connection.setblocking(False)  # noqa: FBT003 (as sockets have it)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True


IDLE_S = 0.6
HEAD = b"GET /v1/me HTTP/1.1\r\nhost: localhost\r\n"


def test_a_head_that_never_ends_is_closed_the_second_time_as_well(starting: Start) -> None:
    """Also after an answer, while a byte comes again and again."""
    served = starting(idle_timeout_s=IDLE_S)
    at = urlsplit(served.url)
    with socket.create_connection((at.hostname, at.port), 10.0) as slow:
        slow.sendall(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert slow.recv(65_536).startswith(b"HTTP/1.1 200")
        began_at = time.monotonic()
        slow.sendall(HEAD)
        slow.settimeout(0.1)
        ended = False
        while not ended and time.monotonic() - began_at < SOON_S:
            try:
                slow.sendall(b"x")
                ended = slow.recv(65_536) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
        took_s = time.monotonic() - began_at

    assert ended
    assert took_s < SOON_S / 2


def test_who_has_shown_a_key_keeps_the_connection(starting: Start, connect: Connect) -> None:
    """Idle ones without a key are closed soon, those with one are not."""
    served = starting(idle_timeout_s=IDLE_S)
    keyed, keyless = connect(served), connect(served, "")
    keyed.get("/v1/threads")
    keyless.get("/health/live")
    time.sleep(IDLE_S + 1.5)

    def new_ones(client: httpx.Client, path: str) -> int:
        before = served_peers(served)
        assert 200 == client.get(path).status_code
        return len(served_peers(served) - before)

    assert 0 == new_ones(keyed, "/v1/threads")
    assert 1 == new_ones(keyless, "/health/live")


def served_peers(served: Served) -> set[Any]:
    """Return the other ends of the connections that are open."""
    return {each.client for each in served.app.state.connections}


# Which connections are closed.

ROOM = Room(total=10, keyless=6, per_address=3, idle_s=5.0)


def held(host: str, since: float, **more: Any) -> Held:
    """Return a connection."""
    return Held(peer=(host, round(since * 100)), idle_since=since, **more)


def hosts(found: Sequence[Held]) -> list[str]:
    """Return whose connections are closed, in order."""
    return [each.peer[0] for each in found]


def test_the_longest_idle_goes_first() -> None:
    """As many as are beyond the room of an address, and no more."""
    found = to_close([held("a", each) for each in (3.0, 1.0, 2.0, 4.0, 0.5)], ROOM, 4.5)

    assert [0.5, 1.0] == [each.idle_since for each in found]


def test_room_is_reserved_for_keys() -> None:
    """Beyond the room of those without a key the longest idle go, whoever they are."""
    keyless = [held(f"h{number}", 1 + number / 10) for number in range(8)]

    assert ["h0", "h1"] == hosts(to_close(keyless, ROOM, 2.0))
    keyed = [held(f"k{number}", 0.0, is_keyed=True) for number in range(6)]
    assert ["h0", "h1", "h2", "h3"] == hosts(to_close([*keyed, *keyless], ROOM, 2.0))


def test_what_is_answered_is_not_broken_off() -> None:
    """A connection on which something is answered, or that is being closed, is left alone."""
    busy = [held("a", 0.0, requests=1) for _ in range(6)]
    closing = [held("a", 0.0, closed_at=1.0) for _ in range(6)]

    assert [] == to_close([*busy, *closing], ROOM, 100.0)


def test_idle_ones_go_after_a_while() -> None:
    """Soon without a key, late with one: also where no more than half a head comes."""
    both = [held("a", 0.0), held("b", 0.0, is_keyed=True)]

    assert [] == to_close(both, ROOM, 4.9)
    assert ["a"] == hosts(to_close(both, ROOM, 5.0))
    assert ["b", "a"] == hosts(to_close(both, ROOM, KEYED_IDLE_S))


class Connected:
    """A connection of a server."""

    def __init__(self, port: int, host: str = "a") -> None:
        self.client = (host, port)
        self.transport = self
        self.ends: list[str] = []

    def shutdown(self) -> None:
        """Note it."""
        self.ends.append("closed")

    def abort(self) -> None:
        """Note it."""
        self.ends.append("cut")


def test_what_does_not_close_is_cut() -> None:
    """Who does not read the last of an answer is not waited for; an answer is."""
    open_: list[Any] = [Connected(1), Connected(2)]
    times = [0.0]
    book = ConnectionBook(ROOM, lambda: open_, monotonic_s=lambda: times[0])
    book.make_room()
    times[0] = 5.0
    book.make_room()
    late = book.begin(("a", 2), is_keyed=False)  # its head came at the same time
    times[0] += ABORT_S
    book.make_room()
    assert [["closed", "cut"], ["closed"]] == [each.ends for each in open_]
    assert 0 == book.count

    book.end(late)
    book.make_room()
    assert ["closed"] == open_[1].ends
    times[0] += ABORT_S
    book.make_room()
    assert ["closed", "cut"] == open_[1].ends


def test_a_port_that_is_used_again_is_another_connection() -> None:
    """It is not taken for one with a key because the one before was."""
    open_: list[Any] = [Connected(1)]
    book = ConnectionBook(ROOM, lambda: open_)
    book.end(book.begin(("a", 1), is_keyed=True))
    book.make_room()
    open_[:] = [Connected(1)]

    assert not book.begin(("a", 1), is_keyed=False).is_keyed


# Which requests are refused.


class Asked:
    """Requests to limits, which are answered once all have come."""

    def __init__(self, room: Room = ROOM, proxies: Sequence[str] = ()) -> None:
        trusted = TrustedProxies(proxies)
        self._open: list[Any] = []
        self._all_came = anyio.Event()
        book = ConnectionBook(room, lambda: self._open, is_trusted=trusted.__contains__)
        self._book, self._limits = book, ConnectionLimits(self._answer, book, trusted)
        self.statuses: dict[int, int] = {}

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._all_came.wait()
        await Response(status_code=200)(scope, receive, send)

    async def at_once(self, requests: Sequence[dict[str, Any]]) -> list[int]:
        """Make requests one after the other, and return their statuses in that order."""
        async with self._book.running(), anyio.create_task_group() as group:
            for number, each in enumerate(requests):
                group.start_soon(partial(self._ask, number, **each))
                await anyio.wait_all_tasks_blocked()
            self._all_came.set()
        return [self.statuses[number] for number in range(len(requests))]

    async def _ask(
        self, number: int, host: str = "10.0.0.1", *, is_keyed: bool = False, told: str = ""
    ) -> None:
        """Make a request on a connection of its own."""
        connection = Connected(number, host)
        self._open.append(connection)
        principal = Principal(key_id="k", name="n", scope=("a",), permissions=frozenset())
        scope: dict[str, Any] = {
            "type": "http",
            "client": connection.client,
            "headers": [(b"x-forwarded-for", told.encode())] if told else [],
            "state": {"principal": principal} if is_keyed else {},
        }

        async def receive() -> Any:
            return {"type": "http.request"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.statuses[number] = message["status"]

        await self._limits(scope, receive, send)


async def test_holders_of_keys_have_the_room_that_is_reserved() -> None:
    """Those without are refused beyond theirs, those with a key beyond all of it."""
    keyless: list[dict[str, Any]] = [{"host": f"10.0.0.{number}"} for number in range(8)]
    keyed: list[dict[str, Any]] = [{"host": "10.0.0.99", "is_keyed": True} for _ in range(6)]

    found = await Asked().at_once([*keyless[:7], *keyed[:5]])

    assert [200] * 6 + [503] == found[:7]
    assert [200] * 4 + [503] == found[7:]


async def test_an_address_is_refused_beyond_its_share() -> None:
    """With a key it is not counted; another address is answered."""
    same: list[dict[str, Any]] = [{"host": "10.0.0.1"} for _ in range(4)]
    others: list[dict[str, Any]] = [
        {"host": "10.0.0.1", "is_keyed": True},
        {"host": "10.0.0.2"},
    ]

    assert [200, 200, 200, 503, 200, 200] == await Asked().at_once([*same, *others])


PROXY = "10.9.9.9"


async def test_a_trusted_proxy_tells_whose_request_it_is() -> None:
    """Each of its clients has an address's share; what they write before is not believed."""
    one = [{"host": PROXY, "told": f"203.0.113.{number}, 198.51.100.7"} for number in range(4)]
    other = {"host": PROXY, "told": "198.51.100.8, 10.9.0.1"}

    found = await Asked(proxies=["10.9.0.0/16"]).at_once([*one, other])

    assert [200, 200, 200, 503, 200] == found


@pytest.mark.parametrize(
    "told", ["198.51.100.7:{}", "[2001:db8::7]:{}", "[2001:db8::{}]", "::ffff:198.51.100.7"]
)
async def test_the_port_of_a_client_is_none_of_its_address(told: str) -> None:
    """Some proxies tell it as well, another one with each connection; or IPv4 as IPv6."""
    requests = [{"host": PROXY, "told": told.format(1000 + number)} for number in range(4)]

    assert [200, 200, 200, 503] == await Asked(proxies=[PROXY]).at_once(requests)


@pytest.mark.parametrize(
    "hop", ["10.9.9.9", "10.9.9.9:443", "::ffff:10.9.9.9", "[::ffff:10.9.9.9]:443"]
)
async def test_a_proxy_is_trusted_however_its_address_is_written(hop: str) -> None:
    """As IPv6 by a socket for both, or with its port by the proxy before it."""
    host = hop if hop.startswith("::") else PROXY
    told = [{"host": host, "told": f"198.51.100.{number}, {hop}"} for number in range(5)]

    assert [200] * 5 == await Asked(proxies=[PROXY]).at_once(told)


async def test_nobody_else_is_believed() -> None:
    """Without the setting the header is not read: all that come from there are one address."""
    told = [{"host": PROXY, "told": f"203.0.113.{number}"} for number in range(4)]

    assert [200, 200, 200, 503] == await Asked().at_once(told)


async def test_a_limit_that_believes_everybody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: whoever writes the header has as many addresses as it likes."""

    def client_of(_: Any, host: str, headers: Any) -> str:
        return str(headers.get("x-forwarded-for", host))

    monkeypatch.setattr(TrustedProxies, "client_of", client_of)
    monkeypatch.setattr(ConnectionBook, "keyless_of", lambda *_: 0)
    told = [{"host": PROXY, "told": f"203.0.113.{number}"} for number in range(4)]

    assert [200] * 4 == await Asked().at_once(told)


async def test_a_limit_that_counts_ports_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: each connection of a client is another address."""
    monkeypatch.setattr(connection_book, "_WITH_PORT", re.compile("nothing"))
    # An address of its own: what was counted for one is remembered.
    told = [{"host": PROXY, "told": f"198.51.100.99:{1000 + number}"} for number in range(4)]

    assert [200] * 4 == await Asked(proxies=[PROXY]).at_once(told)


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_what_one_holder_has(host: str, key: str) -> None:
    """Of IPv6 a whole network, which any holder can fill."""
    assert key == address_key(host)
