"""Create scopes with a due thread, and count their formations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio
import psycopg

from benchmarks.fault_counts import FaultOutcome
from recollect.records import NewMessage, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce

NOTE: Final = "On Monday my ticket to Bergen cost nine coins."
_DUE: Final = (
    "SELECT count(*) FROM recollect.thread t JOIN recollect.scope s ON s.id = t.scope_id"
    " WHERE t.formed < t.last AND s.path = ANY(%s)"
)


async def add_due(store: Store, scopes: Sequence[Scope], quiet_s: float) -> None:
    """Append one message to each of *scopes*, due for formation after *quiet_s* seconds."""
    said = [NewMessage(role="user", text=NOTE)]
    async with anyio.create_task_group() as group:
        for scope in scopes:
            group.start_soon(_add, store, scope, said, Debounce(quiet_s=quiet_s))


async def _add(store: Store, scope: Scope, said: Sequence[NewMessage], debounce: Debounce) -> None:
    await store.append(scope, "talk", said, debounce=debounce)


def unformed(url: str, scopes: Sequence[Scope]) -> int:
    """Return the number of *scopes* that are not formed yet."""
    paths = [b"".join(segment.encode() + b"\0" for segment in scope) for scope in scopes]
    with psycopg.connect(url, autocommit=True) as connection:
        ((found,),) = connection.execute(_DUE, (paths,)).fetchall()
        return int(found)


async def count_formations(store: Store, scopes: Sequence[Scope], outcome: FaultOutcome) -> None:
    """Count the *scopes* that were never formed, and those formed twice."""
    for scope in scopes:
        runs = (await store.formations(scope, status="formed")).rows
        notes = (await store.memories(scope)).rows
        outcome.add("not formed", [str(scope)] * (not runs or not notes))
        outcome.add("formed twice", [str(scope)] * (len(runs) > 1 or len(notes) > 1))
