"""What each scope used a day: counted here, kept in the store every few seconds."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

import anyio

from recollect.access import RESERVED
from recollect.errors import QuotaError, StoreError, VersionConflictError
from recollect.records import SERVICE_USAGE, DeleteMemory, Memory, PutMemory, Scope
from recollect.service.observing import LOG
from recollect.stores.base import Store
from recollect.stores.digests import text_hash
from recollect.stores.validate import to_datetime

USAGE: Final = "usage"
"""The name of the background task."""
FLUSH_EVERY_S: Final = 5.0
COUNTS: Final = ("requests", "messages", "bytes", "recalls")
_TRIES: Final = 5
_TOGETHER: Final = 100
"""Counts of so many scopes of a tenant are written in one transaction."""
_PAGE: Final = 500
_DAY_MICROSECONDS: Final = 86_400_000_000


_Counted: TypeAlias = tuple[str, Scope, "Counter[str]"]
"""A day, a scope, and what it used."""


def usage_scope(tenant: str) -> Scope:
    """Return where the counts of a tenant are kept."""
    return (RESERVED, "usage", tenant)


class UsageBook:
    """
    Counts what is used by scope and day (UTC), and holds tenants to their quotas a day.

    Counts are written to the store every ``FLUSH_EVERY_S`` and at the end; of a process that is
    killed the last ones are missing. Several processes add theirs to the same documents.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._monitor = store.tasks.monitor(USAGE, LOG)
        self._fresh: defaultdict[tuple[str, Scope], Counter[str]] = defaultdict(Counter)
        self._today: dict[tuple[str, str], Counter[str]] = {}
        self._named_day = (-1, "")

    def add(self, scope: Scope, **counts: int) -> None:
        """Count something of a scope."""
        day = self._day()
        fresh, today = self._fresh[day, scope], self._today.get((day, scope[0]))
        for name, count in counts.items():
            fresh[name] += count
            if today is not None:
                today[name] += count

    async def check(self, tenant: str, limits: Mapping[str, int | None], **more: int) -> None:
        """
        Refuse what would take a tenant over one of its *limits* a day.

        Raises:
            QuotaError: It would; it says when the next day begins.
        """
        if all(limits.get(name) is None for name in more):
            return
        today = await self._counted_today(tenant)
        for name, count in more.items():
            limit = limits.get(name)
            if limit is not None and today[name] + count > limit:
                what = f"{name} today: {today[name]} and {count} more"
                raise QuotaError(what, f"{name}_a_day", limit, self._left_s())

    async def days(self, tenant: str) -> list[tuple[str, Scope, dict[str, int]]]:
        """Return day, scope and counts of all that a tenant used, the newest day first."""
        await self.flush()
        found: list[tuple[str, Scope, dict[str, int]]] = []
        cursor: str | None = None
        while True:
            page = await self._store.memories(
                usage_scope(tenant), type_=SERVICE_USAGE, cursor=cursor, limit=_PAGE
            )
            found += [_row_of(each) for each in page.rows]
            cursor = page.cursor
            if cursor is None:
                return sorted(found, key=lambda each: (each[0], each[1]), reverse=True)

    async def forget(self, scope: Scope, *, below: bool) -> None:
        """Forget what an erased scope used."""
        for day, counted, _ in await self.days(scope[0]):
            if counted == scope or (below and counted[: len(scope)] == scope):
                delete = DeleteMemory(type=SERVICE_USAGE, key=_key(day, counted))
                await self._store.apply(usage_scope(scope[0]), [delete])

    async def keep(self) -> None:
        """Write the counts every few seconds, for ever."""
        with self._monitor.running():
            while True:
                await anyio.sleep(FLUSH_EVERY_S)
                await self.flush()

    async def flush(self) -> None:
        """Write what was counted since the last time."""
        fresh, self._fresh = self._fresh, defaultdict(Counter)
        by_tenant: defaultdict[str, list[_Counted]] = defaultdict(list)
        failure: StoreError | VersionConflictError | None = None
        for (day, scope), counts in fresh.items():
            by_tenant[scope[0]].append((day, scope, counts))
        for tenant, counted in by_tenant.items():
            for start in range(0, len(counted), _TOGETHER):
                together = counted[start : start + _TOGETHER]
                try:
                    await self._add(usage_scope(tenant), together)
                except (StoreError, VersionConflictError) as error:
                    failure = error
                    for day, scope, counts in together:
                        self._fresh[day, scope].update(counts)  # with the next
        if failure is not None:
            self._monitor.failed(failure, retry_s=FLUSH_EVERY_S)
        else:
            self._monitor.succeeded()

    async def _add(self, place: Scope, counted: Sequence[_Counted]) -> None:
        """Add counts of a tenant to what was kept of the same days and scopes, all at once."""
        expires_at = to_datetime(self._store.now()) + timedelta(days=400)
        addresses = [(SERVICE_USAGE, _key(day, scope)) for day, scope, _ in counted]
        for attempt in range(1, _TRIES + 1):
            kept = await self._store.get_many(place, addresses)
            puts = [_summed(each, old, expires_at) for each, old in zip(counted, kept, strict=True)]
            try:
                await self._store.apply(place, puts)
            except VersionConflictError:
                if attempt == _TRIES:
                    raise
            else:
                return

    async def _counted_today(self, tenant: str) -> Counter[str]:
        day = self._day()
        if (day, tenant) not in self._today:
            summed: Counter[str] = Counter()
            for counted_on, _, counts in await self.days(tenant):
                if counted_on == day:
                    summed.update(counts)
            self._today = {at: each for at, each in self._today.items() if at[0] == day}
            self._today[day, tenant] = summed
        return self._today[day, tenant]

    def _now(self) -> datetime:
        return to_datetime(self._store.now())

    def _day(self) -> str:
        # Asked several times for each request, and the same all day.
        number = self._store.now() // _DAY_MICROSECONDS
        if number != self._named_day[0]:
            self._named_day = (number, self._now().strftime("%Y-%m-%d"))
        return self._named_day[1]

    def _left_s(self) -> float:
        now = self._now()
        next_day = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        return (next_day - now).total_seconds()


def _summed(counted: _Counted, old: Memory | None, expires_at: datetime) -> PutMemory:
    """Return what writes the counts of a scope's day, with those that were kept of it."""
    day, scope, counts = counted
    before = _row_of(old)[2] if old else {}
    summed = {name: before.get(name, 0) + counts[name] for name in COUNTS}
    return PutMemory(
        type=SERVICE_USAGE,
        key=_key(day, scope),
        value={"day": day, "scope": list(scope), **summed},
        text="",
        expected=old.version if old else 0,
        expires_at=expires_at,
    )


def _key(day: str, scope: Scope) -> str:
    return f"{day}/{text_hash(json.dumps(scope)).hex()}"


def _row_of(memory: Memory) -> tuple[str, Scope, dict[str, int]]:
    value = memory.value
    scope = value.get("scope")
    segments = tuple(str(each) for each in scope) if isinstance(scope, list | tuple) else ()
    counts = {name: each for name in COUNTS if isinstance(each := value.get(name), int)}
    return str(value.get("day")), segments, counts
