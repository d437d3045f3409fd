"""
Wake waiting workers with NOTIFY and LISTEN.

NOTIFY is sent outside the transaction it announces: PostgreSQL serialises the commits of
transactions that contain one.
"""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from recollect.observability.health import TaskMonitor
from recollect.observability.logs import kind_of
from recollect.stores.postgres.connections import close_quietly, connect
from recollect.stores.postgres.driver_errors import LOG
from recollect.stores.postgres.location import PostgresLocation
from recollect.stores.postgres.statements import SESSION
from recollect.stores.postgres.transaction import Connection
from recollect.stores.remote.notifications import LOOK_UP_S, Listener


def notify_listeners(connection: Connection) -> None:
    """Notify all listeners of the database; call it outside a transaction."""
    try:
        connection.execute(SESSION["ring"])
    except psycopg.Error as error:
        LOG.debug("listeners were not notified: %s", kind_of(error))


class PostgresListener(Listener):
    """Receives the notifications of one database."""

    name = "recollect-postgres-listener"
    errors = psycopg.Error

    def __init__(
        self, location: PostgresLocation, heard: Callable[[], None], monitor: TaskMonitor
    ) -> None:
        """Start listening; *heard* is called on the listener's thread and must not block."""
        self._location = location
        super().__init__(heard, monitor)

    def listen(self) -> None:
        """Receive notifications on a dedicated connection."""
        connection = connect(self._location)
        try:
            self._hear_from(connection)
        finally:
            close_quietly(connection)

    def _hear_from(self, connection: Connection) -> None:
        if connection.prepare_threshold is None:
            # Behind a pooler in transaction mode LISTEN reaches another session: do not try.
            self.closed.wait()
            return
        connection.execute(SESSION["listen"])
        self.ready()
        # Notifications sent before LISTEN are lost, so look for work once now.
        self.hear()
        while not self.closed.is_set():
            for _ in connection.notifies(timeout=LOOK_UP_S, stop_after=1):
                self.hear()
