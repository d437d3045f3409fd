"""
Remove deleted bytes from the server's files.

The append-only file keeps every command until it is rewritten, and a snapshot keeps what was there
when it was made. So both are rewritten, and awaited.
"""

from __future__ import annotations

from time import sleep
from typing import Any, Final

from redis.exceptions import ResponseError

from recollect.errors import StoreUnavailableError
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import store_errors
from recollect.stores.system_clock import timer_s

CLEAN_S: Final = 600.0
"""How long to wait for the server to write its files."""

_LOOK_UP_S: Final = 0.02
_RUNNING: Final = (
    *("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress"),
    "aof_pending_bio_fsync",
)


def remove_deleted_bytes(server: RedisConnections) -> None:
    """
    Have the server rewrite its append-only file and snapshot, and wait for both.

    Raises:
        StoreUnavailableError: It took too long, or the server could not write.
        StoreError: Redis failed.
    """
    with store_errors(server.name):
        late_at = timer_s() + CLEAN_S
        said = _idle(server, late_at)
        if said.get("aof_enabled"):
            _write_anew(server, late_at, "BGREWRITEAOF", "aof_last_bgrewrite_status")
        # Where no snapshots are made there may be one of former times.
        _write_anew(server, late_at, "BGSAVE", "rdb_last_bgsave_status")


def _write_anew(server: RedisConnections, late_at: float, command: str, status: str) -> None:
    while True:
        try:
            server.client.execute_command(command)
            break
        except ResponseError as error:
            # Somebody else began one meanwhile, perhaps before the last erase.
            if "in progress" not in str(error):
                raise
            _idle(server, late_at)
    said = _idle(server, late_at)
    if said.get(status) != "ok":
        msg = (
            f"{server.name}: the server could not write its files anew ({command}: "
            f"{said.get(status)}), see its log; what was erased is still in them: clean again later"
        )
        raise StoreUnavailableError(msg)


def _idle(server: RedisConnections, late_at: float) -> dict[str, Any]:
    """Wait until the server is not writing a file, and return its persistence info."""
    while True:
        said: dict[str, Any] = server.client.info("persistence")
        if not any(said.get(each) for each in _RUNNING):
            return said
        if timer_s() > late_at:
            msg = (
                f"{server.name}: the server did not end writing its files in {CLEAN_S:g} s: "
                "clean again later"
            )
            raise StoreUnavailableError(msg)
        sleep(_LOOK_UP_S)
