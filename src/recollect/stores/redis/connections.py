"""Connections to one server, and detection of its restarts."""

from __future__ import annotations

from threading import Lock
from typing import Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.location import RedisLocation
from recollect.stores.redis.optimistic_reads import Client, Connection, run_script
from recollect.stores.redis.scripts import SCRIPTS


def run_of(client: Client) -> str:
    """Return the server's run id, which changes with every start."""
    return str(client.info("server").get("run_id", ""))


class RedisConnections:
    """
    A client of one server, with as many connections as threads use.

    The driver's retries are off, because only the caller knows what can be repeated.
    """

    def __init__(self, location: RedisLocation) -> None:
        """Create a client without connecting."""
        self.name: Final = location.name
        self.identity = b""
        """Random id of the store; every commit checks that it is still the one that was opened."""
        self.generation = 0
        """Least epoch of every scope: a restart that may have lost writes raises it."""
        self._is_relaxed = location.durability == "relaxed"
        self._run = ""
        self._turn = Lock()
        self._pool = redis.ConnectionPool.from_url(
            location.url,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=location.answer_s,
            socket_connect_timeout=location.connect_s,
            **({} if location.url.startswith("unix:") else {"socket_keepalive": True}),
            decode_responses=False,
            redis_connect_func=self._connected,
        )
        database = self._pool.connection_kwargs.get("db", 0)
        self.channel: Final = f"{keys.CHANNEL}:{database}"
        """The channel of notifications; it names the database, as all databases share channels."""
        self.client: Client = redis.Redis(connection_pool=self._pool)

    def watch_restarts(self) -> None:
        """
        From now on, check with every new connection whether the server was restarted.

        Only a relaxed store does so: with full durability a restart loses nothing.

        Raises:
            redis.RedisError: The server does not answer.
        """
        if not self._is_relaxed:
            self.generation = int(self.client.hget(keys.STORE, "generation") or 0)
            return
        run = run_of(self.client)
        found = run_script(self.client, "restarted", [keys.STORE, keys.NUMBER], [run])
        self._run, self.generation = run, int(found)

    def moment_us(self) -> int:
        """Return the server's time, in microseconds since 1970, UTC."""
        seconds, microseconds = self.client.time()
        return int(seconds) * 1_000_000 + int(microseconds)

    def close(self) -> None:
        """Close all connections."""
        self._pool.disconnect()

    def _connected(self, connection: Connection) -> None:
        """Prepare a new connection; raise the generation if the server was restarted."""
        connection.on_connect()
        if not (self._is_relaxed and self._run):
            return
        connection.send_command("INFO", "server")
        info = bytes(connection.read_response()).decode()
        run = next((line[7:] for line in info.splitlines() if line.startswith("run_id:")), "")
        # Several connections may be made at once after a restart: raise the generation once.
        with self._turn:
            if run == self._run:
                return
            connection.send_command("EVAL", SCRIPTS["restarted"], 2, keys.STORE, keys.NUMBER, run)
            self.generation = int(connection.read_response())
            self._run = run
