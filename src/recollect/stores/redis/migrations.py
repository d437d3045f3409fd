"""Migrate the rows of an earlier release, scope by scope."""

from __future__ import annotations

from functools import partial
from typing import Final

from recollect.records import Scope
from recollect.stores.plans.said_times import plan_said_times
from recollect.stores.redis import keys
from recollect.stores.redis.bootstrap import FORMAT
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import store_errors
from recollect.stores.redis.unit_runner import RedisUnits
from recollect.stores.unit_of_work import Effect, Rows

MEMORIES_AT_ONCE: Final = 500
"""Memories migrated in one transaction, at most."""


def migrate(server: RedisConnections, units: RedisUnits) -> None:
    """
    Rewrite the rows of an earlier release, if there are any; it can be interrupted and repeated.

    Several programs may do this at once. Older releases cannot open the database afterwards.

    Raises:
        StoreError: Redis failed, or every attempt conflicted with the writes of others.
    """
    with store_errors(server.name):
        written = int(server.client.hget(keys.STORE, "format") or FORMAT)
    if written >= FORMAT:
        return
    for scope in units.read(_scopes):
        after: tuple[str, str] | None = None
        while True:
            plan = partial(plan_said_times, scope=scope, after=after, limit=MEMORIES_AT_ONCE)
            after = units.carry_out(plan, _ignore)
            if after is None:
                break
    with store_errors(server.name):
        server.client.hset(keys.STORE, "format", FORMAT)


def _scopes(rows: Rows) -> list[Scope]:
    return [row.segments for row in rows.scopes_below((), None)]


def _ignore(effect: Effect) -> None:
    """Notify no worker: a migration makes nothing due."""
    del effect
