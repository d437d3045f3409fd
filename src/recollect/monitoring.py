"""What a memory says of itself: whether its store answers, and how its background tasks do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import anyio

from recollect.embedding import EMBEDDING, Embedding
from recollect.errors import RecollectError, StoreError
from recollect.health import Health, StoreHealth, TaskHealth, Tasks
from recollect.logs import package_logger
from recollect.outside import OUTSIDE, Outside
from recollect.stores.base import Store
from recollect.stores.validate import to_datetime
from recollect.stores.world import timer_s
from recollect.worker.loop import FORMATION

LOG: Final = package_logger("recollect.memory")
ANSWER_S: Final = 5.0
"""A store that answers no sooner counts as down."""
BACKLOG_MAX: Final = 1_000
"""What waits is counted up to here."""
CLEANING: Final = "cleaning"
MERGING: Final = "merging"


class Monitoring:
    """The part of `Recollect` that tells how it is."""

    store: Store
    _embedding: Embedding | None
    _outside: Outside | None

    @property
    def tasks(self) -> Tasks:
        """The background tasks of this memory, in which others may have theirs recorded."""
        return self.store.tasks

    async def health(self) -> Health:
        """
        Return how this memory is, as seen from this process; it raises nothing.

        The store is asked for what waits. Background tasks are those of this process: with
        ``worker=False``, or where another program forms, formation is not among them.
        """
        at = to_datetime(self.store.now())
        store = await store_health(self.store)
        tasks = self.store.tasks.health()
        if store.state != "ok":
            return Health(at=at, store=store, tasks=tasks)
        try:
            with anyio.fail_after(ANSWER_S):
                tasks = await self._with_backlog(tasks)
        except (RecollectError, TimeoutError) as error:
            state = error.code if isinstance(error, RecollectError) else "timeout"
            store = replace(store, state=state)
        return Health(at=at, store=store, tasks=tasks)

    async def _with_backlog(self, tasks: tuple[TaskHealth, ...]) -> tuple[TaskHealth, ...]:
        waiting: dict[str, int] = {}
        names = {each.name for each in tasks}
        if FORMATION in names:
            waiting[FORMATION] = await self.store.due_count(limit=BACKLOG_MAX)
        if CLEANING in names:
            waiting[CLEANING] = len(await self.store.receipts(unclean=True))
        for name, part in ((EMBEDDING, self._embedding), (OUTSIDE, self._outside)):
            if name in names and part is not None and part.known_identity is not None:
                count = await self.store.unembedded_count(part.known_identity, limit=BACKLOG_MAX)
                waiting[name] = count
        return tuple(replace(each, backlog=waiting.get(each.name)) for each in tasks)


async def store_health(store: Store, *, within_s: float = ANSWER_S) -> StoreHealth:
    """Return whether *store* answers one small read, and how fast."""
    started = timer_s()
    try:
        with anyio.fail_after(within_s):
            await store.scopes(limit=1)
    except StoreError as error:
        return StoreHealth(state=error.code, latency_ms=None)
    except TimeoutError:
        return StoreHealth(state="timeout", latency_ms=None)
    return StoreHealth(state="ok", latency_ms=round((timer_s() - started) * 1_000, 3))
