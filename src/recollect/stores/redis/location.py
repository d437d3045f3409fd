"""The address of a Redis server, its display name, and its timeouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from recollect.errors import UsageError

Durability: TypeAlias = Literal["full", "relaxed"]
_DURABILITIES: Final[Mapping[str, Durability]] = {"full": "full", "relaxed": "relaxed"}
"""
``"full"``: a write is on the server's disk before its call returns; a server that is not set so
is refused.

``"relaxed"``: what the server's own settings say. With ``appendfsync everysec`` a power loss
takes the last two seconds, and so may the death of the server alone, which holds writes back
while its disk is busy; without ``appendonly`` every restart loses what came after the last
snapshot, which may be all. What is lost is always the newest, and whole writes.
"""

CONNECTIONS_MAX: Final = 10
"""So many units of work of one store run at the same time; what comes meanwhile waits."""
PATIENCE_S: Final = 15.0
"""How long a unit of work is tried again while others are quicker, or hold what it needs."""
TURN_WAIT_S: Final = 30.0
"""How long a call waits for one of the connections."""
ANSWER_S: Final = 30.0
"""A server that did not answer for so long is taken for gone."""
CONNECT_S: Final = 5.0

_SCHEMES: Final = {"redis": "redis", "rediss": "rediss", "redis+unix": "unix"}
_OPTION: Final = "durability"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisLocation:
    """A database of a server and its timeouts; *name* contains no secret."""

    url: str
    name: str
    durability: Durability = "full"
    connections_max: int = CONNECTIONS_MAX
    patience_s: float = PATIENCE_S
    turn_wait_s: float = TURN_WAIT_S
    answer_s: float = ANSWER_S
    connect_s: float = CONNECT_S

    def with_limits(self, **limits: float) -> RedisLocation:
        """Return the same place, with other limits."""
        return replace(self, **limits)  # type: ignore[arg-type]


def location_of(url: str, durability: Durability = "full") -> RedisLocation:
    """
    Return the place that an address names.

    Args:
        durability: Holds unless the address says ``?durability=``.

    Raises:
        UsageError: It is no address of a Redis server, or names an unknown durability.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        msg = f"this is no address of a Redis server ({error}): see redis://host:6379/0"
        raise UsageError(msg) from None
    scheme = _SCHEMES.get(parts.scheme.lower())
    is_socket = scheme == "unix"
    if scheme is None or (not parts.path.strip("/") if is_socket else not parts.hostname):
        msg = "this address names no Redis server: see redis://host:6379/0, rediss:// or redis+unix:///path/to/socket"
        raise UsageError(msg)
    if not is_socket and not (parts.path.strip("/") or "0").isdecimal():
        msg = f"{parts.path!r} is no database of a Redis server: they are numbers, as in redis://host:6379/0"
        raise UsageError(msg)
    options = parse_qsl(parts.query)
    chosen = dict(options).get(_OPTION, durability)
    if chosen not in _DURABILITIES:
        msg = f"{chosen!r} is no durability: write ?durability=full or ?durability=relaxed"
        raise UsageError(msg)
    left = urlencode([pair for pair in options if pair[0] != _OPTION])
    host = parts.hostname or ""
    place = f"{host}:{port}" if port else host
    return RedisLocation(
        url=f"{scheme}://{parts.netloc}{parts.path}{'?' if left else ''}{left}",
        name=f"{parts.scheme}://{place}{parts.path}",
        durability=_DURABILITIES[chosen],
    )
