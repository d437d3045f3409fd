"""Wake waiting workers with PUBLISH and SUBSCRIBE."""

from __future__ import annotations

from collections.abc import Callable

from redis.exceptions import RedisError

from recollect.observability.health import TaskMonitor
from recollect.observability.logs import kind_of
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import LOG
from recollect.stores.remote.notifications import LOOK_UP_S, Listener


def notify_listeners(server: RedisConnections) -> None:
    """Notify every listener of the database; a failure is only logged, as workers also poll."""
    try:
        server.client.publish(server.channel, b"")
    except RedisError as error:
        LOG.debug("listeners were not notified: %s", kind_of(error))


class RedisListener(Listener):
    """Receives the notifications of one database."""

    name = "recollect-redis-listener"
    errors = RedisError

    def __init__(
        self, server: RedisConnections, heard: Callable[[], None], monitor: TaskMonitor
    ) -> None:
        """Start listening; *heard* is called on the listener's thread and must not block."""
        self._server = server
        super().__init__(heard, monitor)

    def listen(self) -> None:
        """Receive notifications on a dedicated connection."""
        with self._server.client.pubsub() as calls:
            calls.subscribe(self._server.channel)
            while not self.closed.is_set():
                found = calls.get_message(timeout=LOOK_UP_S)
                if found is None:
                    continue
                if found["type"] == "subscribe":
                    self.ready()
                # After subscribing too: look once for work announced before.
                self.hear()
