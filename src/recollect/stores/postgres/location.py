"""Addresses of PostgreSQL databases: connection parameters, display name, and timeouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypedDict, Unpack

import psycopg
from psycopg.conninfo import conninfo_to_dict

from recollect.errors import UsageError

CONNECTIONS_MAX: Final = 10
"""Most connections of one store, and so most concurrent transactions; other calls wait."""
STATEMENT_S: Final = 30.0
"""Seconds after which the server cancels a statement."""
LOCK_WAIT_S: Final = 10.0
"""Longest wait for a lock, in seconds: for another transaction of the same scope."""
TURN_WAIT_S: Final = 30.0
"""Longest wait for a free connection, in seconds."""
ANSWER_S: Final = 60.0
"""Seconds without an answer after which a connection is closed; more than the server's limits."""
CONNECT_S: Final = 5
"""Longest wait for one host to accept a connection, in seconds."""
CONNECT_REPLICA_S: Final = 2
"""The same for a read replica, without which the primary answers; libpq's least."""
# A machine that vanishes closes no connection: 10 + 3 × 5 s of silence end an idle one, 30 s
# without an acknowledgement one that is in use.
_KEEPALIVES: Final = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class PostgresLimits(TypedDict, total=False):
    """The limits of a store that may be given when it is opened; see `PostgresLocation`."""

    connections_max: int
    statement_s: float
    lock_wait_s: float
    turn_wait_s: float
    answer_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresLocation:
    """A database and its timeouts; *name* identifies it without secrets."""

    parameters: dict[str, Any]
    name: str
    connections_max: int = CONNECTIONS_MAX
    statement_s: float = STATEMENT_S
    lock_wait_s: float = LOCK_WAIT_S
    turn_wait_s: float = TURN_WAIT_S
    answer_s: float = ANSWER_S

    def limits(self) -> tuple[str, str, str]:
        """Return the server's timeouts: of a statement, a lock wait, and an idle transaction."""
        return (
            _milliseconds(self.statement_s),
            _milliseconds(self.lock_wait_s),
            _milliseconds(self.statement_s),
        )

    def with_limits(self, **limits: Unpack[PostgresLimits]) -> PostgresLocation:
        """Return the same database with these limits changed."""
        return replace(self, **limits)


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1_000))}ms"


def location_of(url: str, *, is_replica: bool = False) -> PostgresLocation:
    """
    Return the location that a ``postgresql://`` address names.

    Args:
        url: The address.
        is_replica: Among several servers choose a standby; otherwise the one that takes writes.

    Raises:
        UsageError: *url* is not a PostgreSQL address.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        msg = f"this is no address of a PostgreSQL database ({error}): see postgresql://user@host/database"
        # The driver's error quotes the address, which may contain a password.
        raise UsageError(msg.replace(url, "postgresql://…")) from None
    # One of several servers is the primary, and a failover changes which: skip the others.
    wanted = "standby" if is_replica else "read-write"
    parameters = {
        "application_name": "recollect",
        "connect_timeout": CONNECT_REPLICA_S if is_replica else CONNECT_S,
        **_KEEPALIVES,
        **({"target_session_attrs": wanted} if len(_hosts(given)) > 1 else {}),
        **given,
        "client_encoding": "UTF8",
    }
    return PostgresLocation(parameters=parameters, name=_name(given))


def _hosts(given: Mapping[str, object]) -> list[str]:
    return str(given.get("host") or given.get("hostaddr") or "localhost").split(",")


def _name(given: Mapping[str, object]) -> str:
    hosts, ports = _hosts(given), str(given.get("port") or "").split(",")
    # One port is that of every host.
    pairs = zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False)
    places = ",".join(f"{host}:{port}" if port else host for host, port in pairs)
    database = given.get("dbname") or given.get("user") or ""
    return f"postgresql://{places}/{database}"
