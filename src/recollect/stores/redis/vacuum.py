"""
Remove deleted bytes from the server's files.

The append-only file contains every command until it is rewritten, and a snapshot contains the data
of the time when it was made. So both are rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import sleep
from typing import Final

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
    Make the server rewrite its append-only file and its snapshot, and wait for both.

    Raises:
        StoreUnavailableError: It took too long, or the server could not write.
        StoreError: Redis failed.
    """
    with store_errors(server.name):
        late_at = timer_s() + CLEAN_S
        info = _wait_until_idle(server, late_at)
        if info.get("aof_enabled"):
            _rewrite(server, late_at, "BGREWRITEAOF", "aof_last_bgrewrite_status")
        # Even if no snapshots are scheduled, an old one may exist.
        _rewrite(server, late_at, "BGSAVE", "rdb_last_bgsave_status")


def _rewrite(server: RedisConnections, late_at: float, command: str, status: str) -> None:
    while True:
        try:
            server.client.execute_command(command)
            break
        except ResponseError as error:
            # A run that another client started may have begun before the last erase: wait for it,
            # then start one of our own.
            if "in progress" not in str(error):
                raise
            _wait_until_idle(server, late_at)
    info = _wait_until_idle(server, late_at)
    if info.get(status) != "ok":
        raise StoreUnavailableError(
            f"{server.name}: the server could not rewrite its files ({command}: "
            f"{info.get(status)}), which still contain erased data: see the server's log, then "
            "clean again"
        )


def _wait_until_idle(server: RedisConnections, late_at: float) -> Mapping[str, object]:
    """Wait until the server is not writing a file; return the persistence section of its INFO."""
    while True:
        info: Mapping[str, object] = server.client.info("persistence")
        if not any(info.get(each) for each in _RUNNING):
            return info
        if timer_s() > late_at:
            raise StoreUnavailableError(
                f"{server.name}: the server did not finish writing its files in {CLEAN_S:g} s: "
                "clean again later"
            )
        sleep(_LOOK_UP_S)
