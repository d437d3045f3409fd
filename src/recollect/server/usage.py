"""Daily usage per scope: counted in this process, stored every few seconds."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Final, TypeAlias

import anyio

from recollect.errors import QuotaError, StoreError, VersionConflictError
from recollect.observability.logs import package_logger
from recollect.records import Scope
from recollect.server.authorization import RESERVED
from recollect.side_records import (
    SERVICE_USAGE,
    DeleteSideRecord,
    PutSideRecord,
    SideAddress,
    SideRecord,
)
from recollect.stores.contract.base import Store
from recollect.stores.digests import text_hash
from recollect.stores.pages import each_page
from recollect.stores.validation import to_datetime

LOG: Final = package_logger("recollect.server")
USAGE: Final = "usage"
"""The name of the background task."""
FLUSH_EVERY_S: Final = 5.0
COUNTS: Final = ("requests", "messages", "memories", "bytes", "recalls")
_TRIES: Final = 5
_TOGETHER: Final = 100
"""Maximum scopes whose counts are written in one transaction."""
_PAGE: Final = 500
_DAY_MICROSECONDS: Final = 86_400_000_000
_TOTAL: Final = "total"
"""Suffix of the key of a tenant's total counts, against which quotas are checked."""

UsageLimits: TypeAlias = Mapping[str, int | None]
"""A tenant's daily limit of each counter; ``None`` for no limit."""
_Counted: TypeAlias = tuple[str, Scope, "Counter[str]"]
"""A day, a scope and its counts."""


def usage_scope(tenant: str) -> Scope:
    """Return the scope that stores a tenant's counts."""
    return (RESERVED, "usage", tenant)


@dataclass(slots=True)
class _Balance:
    """A tenant's usage on a day: the total stored by all processes, plus ours since."""

    kept: Counter[str] = field(default_factory=Counter)
    since: Counter[str] = field(default_factory=Counter)
    """Counted or reserved in this process, and not stored yet."""
    read_at: float | None = None


class UsageBook:
    """
    Counts usage by scope and day (UTC), and enforces the daily quotas of tenants.

    Counts are written to the store every ``FLUSH_EVERY_S`` and at the end; a process that is killed
    loses the last ones. Several processes add theirs to the same documents, and read the others'
    counts as often. A reservation counts at once. Reservations are thread-safe; all other methods
    run on the event loop.
    """

    def __init__(self, store: Store, *, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._monitor = store.tasks.monitor(USAGE, LOG)
        self._monotonic_s = monotonic_s
        self._unsaved: defaultdict[tuple[str, Scope], Counter[str]] = defaultdict(Counter)
        self._balances: defaultdict[tuple[str, str], _Balance] = defaultdict(_Balance)
        self._lock = Lock()
        self._keeping = anyio.Lock()
        self._named_day = (-1, "")

    def add(self, scope: Scope, **counts: int) -> None:
        """Add *counts* to the usage of a scope."""
        day = self.day()
        with self._lock:
            _add_to(self._balances[day, scope[0]].since, counts)
            _add_to(self._unsaved[day, scope], counts)

    def reserve(self, day: str, tenant: str, limits: UsageLimits, more: Mapping[str, int]) -> None:
        """
        Reserve usage against the *limits* of a tenant, before it is written.

        Raises:
            QuotaError: It would exceed one; the error has the seconds until the next day.
        """
        with self._lock:
            balance = self._balances[day, tenant]
            for name, limit in limits.items():
                if limit is None or not (count := more.get(name, 0)):
                    continue
                used = balance.kept[name] + balance.since[name]
                if used + count > limit:
                    what = f"{name} today: {used} and {count} more"
                    raise QuotaError(what, f"{name}_a_day", limit, self._left_s())
            _add_to(balance.since, more)

    def release(self, day: str, tenant: str, reserved: Mapping[str, int]) -> None:
        """Cancel a reservation."""
        with self._lock:
            self._balances[day, tenant].since.subtract(reserved)

    def settle(self, day: str, scope: Scope, reserved: Mapping[str, int]) -> None:
        """Turn a reservation into usage of *scope*."""
        with self._lock:
            _add_to(self._unsaved[day, scope], reserved)

    async def check(self, tenant: str, limits: UsageLimits, **more: int) -> None:
        """
        Raise if *more* would take a tenant over one of its daily *limits*; count nothing.

        Raises:
            QuotaError: It would; the error has the seconds until the next day.
        """
        if all(limits.get(name) is None for name in more):
            return
        day = await self.begun_day(tenant)
        self.reserve(day, tenant, limits, more)
        self.release(day, tenant, more)

    async def begun_day(self, tenant: str) -> str:
        """Return today, after reading what all processes have counted of a tenant today."""
        day = self.day()
        read_at = self._balances[day, tenant].read_at
        if read_at is None or self._monotonic_s() - read_at >= FLUSH_EVERY_S:
            await self._read_balance(day, tenant)
        return day

    async def days(self, tenant: str) -> list[tuple[str, Scope, dict[str, int]]]:
        """Return a tenant's usage as rows of day, scope and counts, newest day first."""
        await self.flush()
        found: list[tuple[str, Scope, dict[str, int]]] = []
        async for page in each_page(
            lambda cursor: self._store.side_records(
                usage_scope(tenant), SERVICE_USAGE, cursor=cursor, limit=_PAGE
            )
        ):
            found += [_row_of(each) for each in page.rows if not each.key.endswith(f"/{_TOTAL}")]
        return sorted(found, key=lambda each: (each[0], each[1]), reverse=True)

    async def forget(self, scope: Scope, *, below: bool) -> None:
        """Delete the counts of an erased scope; its tenant's daily quota stays used."""
        for day, counted, _ in await self.days(scope[0]):
            if counted == scope or (below and counted[: len(scope)] == scope):
                delete = DeleteSideRecord(kind=SERVICE_USAGE, key=_key(day, counted))
                await self._store.apply(usage_scope(scope[0]), [delete])

    async def keep(self) -> None:
        """Write the counts every ``FLUSH_EVERY_S``, forever."""
        with self._monitor.running():
            while True:
                await anyio.sleep(FLUSH_EVERY_S)
                await self.flush()

    async def flush(self) -> None:
        """Write the counts since the last flush; those that cannot be written are retried."""
        async with self._keeping:
            # Swapped, so that requests keep counting while the store is written.
            with self._lock:
                fresh, self._unsaved = self._unsaved, defaultdict(Counter)
            by_tenant: defaultdict[str, list[_Counted]] = defaultdict(list)
            for (day, scope), counts in fresh.items():
                by_tenant[scope[0]].append((day, scope, counts))
            failure: Exception | None = None
            for tenant, counted in by_tenant.items():
                for start in range(0, len(counted), _TOGETHER):
                    together = counted[start : start + _TOGETHER]
                    failure = await self._keep(tenant, together) or failure
            self._drop_past()
        if failure is not None:
            self._monitor.failed(failure, retry_s=FLUSH_EVERY_S)
        else:
            self._monitor.succeeded()

    async def _keep(self, tenant: str, counted: Sequence[_Counted]) -> Exception | None:
        """Add counts to the stored ones. On an error keep them for the next flush and return it."""
        try:
            totals = await self._add(usage_scope(tenant), counted)
        except (StoreError, VersionConflictError) as error:
            with self._lock:
                for day, scope, counts in counted:
                    self._unsaved[day, scope].update(counts)
            return error
        with self._lock:
            for day, _, counts in counted:
                balance = self._balances[day, tenant]
                balance.since.subtract(counts)
                balance.kept, balance.read_at = totals[day], self._monotonic_s()
        return None

    async def _add(self, place: Scope, counted: Sequence[_Counted]) -> dict[str, Counter[str]]:
        """
        Add counts of a tenant to the stored ones, in one transaction.

        Returns:
            The tenant's new total of each day.
        """
        expires_at = self._now() + timedelta(days=400)
        whole: list[tuple[str, Scope | None, Counter[str]]] = [*counted, *_totals(counted)]
        addresses = [SideAddress(SERVICE_USAGE, _key(day, scope)) for day, scope, _ in whole]
        for attempt in range(1, _TRIES + 1):
            kept = await self._store.side_records_at(place, addresses)
            puts = [_summed(each, old, expires_at) for each, old in zip(whole, kept, strict=True)]
            try:
                await self._store.apply(place, puts)
            except VersionConflictError:  # another process wrote its counts first
                if attempt == _TRIES:
                    raise
            else:
                break
        written = zip(whole, puts, strict=True)
        return {day: Counter(_counts_of(put.value)) for (day, of, _), put in written if of is None}

    async def _read_balance(self, day: str, tenant: str) -> None:
        """Read the stored total of a tenant's day."""
        # Not during a flush, which moves counts from `since` to `kept`: a total read halfway would
        # count them twice, or not at all.
        async with self._keeping:
            began_at = self._monotonic_s()
            place, key = usage_scope(tenant), _key(day, None)
            found = await self._store.side_record(place, SERVICE_USAGE, key)
            with self._lock:
                balance = self._balances[day, tenant]
                balance.kept = Counter(_counts_of(found.value) if found else {})
                balance.read_at = began_at

    def _drop_past(self) -> None:
        """Drop past days without unsaved counts."""
        today = self.day()
        with self._lock:
            for at in [each for each in self._balances if each[0] != today]:
                # A balance with unsaved counts is still needed by the next flush.
                if not any(self._balances[at].since.values()):
                    del self._balances[at]

    def _now(self) -> datetime:
        return to_datetime(self._store.now())

    def day(self) -> str:
        """Return today's date (UTC)."""
        # Called several times a request, so the formatted date is cached.
        number = self._store.now() // _DAY_MICROSECONDS
        if number != self._named_day[0]:
            self._named_day = (number, self._now().strftime("%Y-%m-%d"))
        return self._named_day[1]

    def _left_s(self) -> float:
        now = self._now()
        next_day = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        return (next_day - now).total_seconds()


def _add_to(counts: Counter[str], more: Mapping[str, int]) -> None:
    for name, count in more.items():  # several times faster than `Counter.update`
        counts[name] += count


def _totals(counted: Sequence[_Counted]) -> list[tuple[str, None, Counter[str]]]:
    """Sum the usage of all scopes, by day."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for day, _, counts in counted:
        found[day].update(counts)
    return [(day, None, counts) for day, counts in found.items()]


def _summed(
    counted: tuple[str, Scope | None, Counter[str]], old: SideRecord | None, expires_at: datetime
) -> PutSideRecord:
    """Return the write that adds a scope's daily counts to the stored ones."""
    day, scope, counts = counted
    before = _counts_of(old.value) if old else {}
    summed = {name: before.get(name, 0) + counts[name] for name in COUNTS}
    return PutSideRecord(
        kind=SERVICE_USAGE,
        key=_key(day, scope),
        value={"day": day, "scope": list(scope or ()), **summed},
        expected=old.version if old else 0,
        expires_at=expires_at,
    )


def _key(day: str, scope: Scope | None) -> str:
    """Return the key of a scope's counts; ``None`` is the total of the tenant."""
    return f"{day}/{_TOTAL if scope is None else text_hash(json.dumps(scope)).hex()}"


def _row_of(kept: SideRecord) -> tuple[str, Scope, dict[str, int]]:
    value = kept.value
    scope = value.get("scope")
    segments = tuple(str(each) for each in scope) if isinstance(scope, list | tuple) else ()
    return str(value.get("day")), segments, _counts_of(value)


def _counts_of(value: Mapping[str, object]) -> dict[str, int]:
    return {name: each for name in COUNTS if isinstance(each := value.get(name), int)}
