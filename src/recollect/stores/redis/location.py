"""The address of a Redis server, its display name, and its timeouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, TypedDict, Unpack
from urllib.parse import parse_qsl, urlencode, urlsplit

from recollect.errors import UsageError

Durability: TypeAlias = Literal["full", "relaxed"]
_DURABILITIES: Final[Mapping[str, Durability]] = {"full": "full", "relaxed": "relaxed"}
"""
``"full"``: a write is on the server's disk before its call returns; a server with other settings is
refused.

``"relaxed"``: the server's settings decide. With ``appendfsync everysec`` a power loss may lose the
last two seconds, and so may a crash of the server alone, which holds writes back while its disk is
busy. Without ``appendonly`` every restart loses the writes since the last snapshot, which may be
all. The newest writes are lost, and only whole ones.
"""

CONNECTIONS_MAX: Final = 10
"""Units of work of one store that run at the same time, at most; others wait."""
PATIENCE_S: Final = 15.0
"""How long a unit of work is retried after conflicts with others."""
TURN_WAIT_S: Final = 30.0
"""How long a call waits for one of the connections."""
ANSWER_S: Final = 30.0
"""How long to wait for an answer before the connection counts as lost."""
CONNECT_S: Final = 5.0

_SCHEMES: Final = {"redis": "redis", "rediss": "rediss", "redis+unix": "unix"}
_OPTION: Final = "durability"


class RedisLimits(TypedDict, total=False):
    """The limits of a store that may be given when it is opened; see `RedisLocation`."""

    connections_max: int
    patience_s: float
    turn_wait_s: float
    answer_s: float
    connect_s: float


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

    def with_limits(self, **limits: Unpack[RedisLimits]) -> RedisLocation:
        """Return the same database with other limits."""
        return replace(self, **limits)


def location_of(url: str, durability: Durability = "full") -> RedisLocation:
    """
    Return the location of the database at *url*.

    Args:
        durability: Used unless the address contains ``?durability=``.

    Raises:
        UsageError: The address is not that of a Redis server, or has an unknown durability.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        msg = f"this is no address of a Redis server ({error}): write redis://host:6379/0"
        raise UsageError(msg) from None
    scheme = _SCHEMES.get(parts.scheme.lower())
    is_socket = scheme == "unix"
    if scheme is None or (not parts.path.strip("/") if is_socket else not parts.hostname):
        # Without the address itself, which may contain a password.
        raise UsageError(
            "this address names no Redis server: write redis://host:6379/0, rediss:// or "
            "redis+unix:///path/to/socket"
        )
    if not is_socket and not (parts.path.strip("/") or "0").isdecimal():
        msg = f"{parts.path!r} is no database of a Redis server: give a number, as in redis://host:6379/0"
        raise UsageError(msg)
    options = parse_qsl(parts.query)
    chosen = dict(options).get(_OPTION, durability)
    if chosen not in _DURABILITIES:
        msg = f"unknown durability {chosen!r}: write ?durability=full or ?durability=relaxed"
        raise UsageError(msg)
    left = urlencode([pair for pair in options if pair[0] != _OPTION])
    host = parts.hostname or ""
    place = f"{host}:{port}" if port else host
    return RedisLocation(
        url=f"{scheme}://{parts.netloc}{parts.path}{'?' if left else ''}{left}",
        name=f"{parts.scheme}://{place}{parts.path}",
        durability=_DURABILITIES[chosen],
    )
