"""The address of a database, its display name, and its timeouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from recollect.errors import UsageError

CONNECTIONS_MAX: Final = 10
"""So many transactions of one store run at the same time; what comes meanwhile waits."""
STATEMENT_S: Final = 30.0
"""A statement that takes longer is ended by the server."""
LOCK_WAIT_S: Final = 10.0
"""How long a transaction waits for another one of the same scope."""
TURN_WAIT_S: Final = 30.0
"""How long a call waits for one of the connections."""
ANSWER_S: Final = 60.0
"""A server that did not answer for so long is taken for gone; longer than its own limits."""
CONNECT_S: Final = 5
_KEPT_ALIVE: Final = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


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
        """Return the server's timeouts: of a statement, of a lock, and of idling."""
        return (
            _milliseconds(self.statement_s),
            _milliseconds(self.lock_wait_s),
            _milliseconds(self.statement_s),
        )

    def with_limits(self, **limits: float) -> PostgresLocation:
        """Return the same database, with other limits."""
        return replace(self, **limits)  # type: ignore[arg-type]


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1_000))}ms"


def location_of(url: str) -> PostgresLocation:
    """
    Return the location that a ``postgresql://`` address names.

    Raises:
        UsageError: It is no such address.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        msg = f"this is no address of a PostgreSQL database ({error}): see postgresql://user@host/database"
        # The driver quotes the address, in which a password may stand.
        raise UsageError(msg.replace(url, "postgresql://…")) from None
    parameters = {
        "application_name": "recollect",
        "connect_timeout": CONNECT_S,
        **_KEPT_ALIVE,
        # Of several servers one is the primary, and which one changes.
        **({"target_session_attrs": "read-write"} if len(_hosts(given)) > 1 else {}),
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
