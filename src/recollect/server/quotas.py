"""
Quotas: count what each change of a tenant writes, inside its transaction.

The service meters its store, so that a write through HTTP, MCP or a compatible API is counted by
its effect, and rejected before it commits. A retry that changes nothing costs nothing.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from copy import copy
from typing import Final
from uuid import UUID

import anyio

from recollect.errors import QuotaError
from recollect.memory.facade import Recollect
from recollect.records import Scope
from recollect.server.authorization import RESERVED
from recollect.server.usage import UsageBook, UsageLimits
from recollect.side_records import (
    FORGOTTEN,
    KEYS_SCOPE,
    LIFETIME,
    SERVICE_KEY,
    UNDONE_MESSAGE,
)
from recollect.stores.contract.base import Store
from recollect.stores.meter import Meter
from recollect.stores.plans.outside_removals import LEFT
from recollect.stores.rows import MemoryRow, MessageRow, RevisionRow, ThreadRow
from recollect.stores.unit_of_work import Effect, Rows

TENANTS_MAX: Final = 10_000
"""Above this number of buckets, the full ones are dropped: they equal new ones."""
DOCUMENTS: Final = "langgraph"
"""Second segment of the scopes that hold LangGraph's threads and runs."""
UNCOUNTED_KINDS: Final = frozenset({FORGOTTEN, LIFETIME, LEFT, UNDONE_MESSAGE})
"""Kinds of side records without data from the caller."""
NOTHING: Final = "{}"
RESTORE: Final = "restore"
UNDO: Final = "undo"

Costs = dict[Scope, "Counter[str]"]
"""Messages, memories and bytes that a change writes, by the scope that is charged."""


class Quotas:
    """
    The meter of a store: counts writes in a usage book, within the limits of each tenant.

    Args:
        book: The usage book.
        limits: Messages, memories and bytes that a tenant may write a day.
        kept: Called with the number of messages that were stored.
    """

    def __init__(
        self,
        book: UsageBook,
        limits: UsageLimits,
        kept: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._book = book
        self._limits = limits
        self._kept = kept
        self._is_limited = any(each is not None for each in limits.values())

    async def charge(self, action: str, scope: Scope) -> _Charge:
        """Return the charge of a change of *scope*."""
        # One day for reservation and count, also if the transaction ends after midnight.
        day = self._book.day()
        if self._is_limited and (place := counted_scope(scope)):
            day = await self._book.begun_day(place[0])
        # An undo is counted, and never refused: its token lapses long before the next day begins,
        # and with it what a change has removed.
        limits = {} if action == UNDO else self._limits
        return _Charge(self._book, limits, self._kept, day, is_restore=action == RESTORE)


class _Charge:
    """The cost of one change."""

    __slots__ = (
        "_book",
        "_costs",
        "_day",
        "_is_over",
        "_is_restore",
        "_kept",
        "_limits",
        "_tenants",
    )

    def __init__(
        self,
        book: UsageBook,
        limits: UsageLimits,
        kept: Callable[[int], None],
        day: str,
        *,
        is_restore: bool,
    ) -> None:
        self._book = book
        self._limits = limits
        self._kept = kept
        self._day = day
        self._is_restore = is_restore
        self._is_over = False
        self._costs: Costs = {}
        self._tenants: dict[str, Counter[str]] = {}

    def reserve(self, rows: Rows, effect: Effect) -> None:
        """Reserve the cost of *effect*; see `Charge.reserve`."""
        self.release()
        costs = costs_of(rows, effect, is_restore=self._is_restore)
        for tenant, more in _by_tenant(costs).items():
            try:
                self._book.reserve(self._day, tenant, self._limits, more)
            except BaseException:
                self.release()  # of the tenants reserved so far: the write fails as a whole
                raise
            self._tenants[tenant] = more
        self._costs = costs
        # The caller was cancelled and `spend` called before this write ran: count it now.
        if self._is_over:
            self.spend()

    def spend(self) -> None:
        """Turn the reservation into usage, including one that is made after this call."""
        self._is_over = True
        for scope, cost in self._costs.items():
            self._book.settle(self._day, scope, cost)
            if cost["messages"]:
                self._kept(cost["messages"])
        self._costs, self._tenants = {}, {}

    def release(self) -> None:
        for tenant, more in self._tenants.items():
            self._book.release(self._day, tenant, more)
        self._costs, self._tenants = {}, {}


def _by_tenant(costs: Costs) -> Mapping[str, Counter[str]]:
    if len(costs) == 1:
        return {scope[0]: cost for scope, cost in costs.items()}
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for scope, cost in costs.items():
        found[scope[0]].update(cost)
    return found


def costs_of(rows: Rows, effect: Effect, *, is_restore: bool = False) -> Costs:
    """
    Return the cost of an effect.

    A message costs the bytes of its text, content and metadata; a version of a memory those of its
    value and text. A side record counts as a memory and costs the bytes of its value, unless it is
    one of the `UNCOUNTED_KINDS`. A restore also pays for past versions, formation receipts and
    thread settings, since the caller supplied them.
    """
    written = [(each.scope_id, "messages", size_of_message(each)) for each in effect.messages]
    written += [(each.scope_id, "memories", size_of_memory(each)) for each in effect.memories]
    if is_restore:
        written += _brought(rows, effect)
    written += [
        (each.scope_id, "memories", _bytes_in(each.value))
        for each in effect.sides
        if each.kind not in UNCOUNTED_KINDS
    ]
    places = {row.id: counted_scope(row.segments) for row in effect.scopes}
    found: defaultdict[Scope, Counter[str]] = defaultdict(Counter)
    for scope_id, counted, size in written:
        if place := places.get(scope_id):
            found[place]["bytes"] += size
            if counted:
                found[place][counted] += 1
    return dict(found)


def _brought(rows: Rows, effect: Effect) -> Iterator[tuple[int, str, int]]:
    """Yield scope, counter and size of a restore's past versions, receipts and settings."""
    for revision in effect.revisions:
        yield revision.scope_id, "memories", size_of_memory(revision)
    for formation in effect.formations:
        yield formation.scope_id, "", _bytes_in(formation.receipt)
    for thread in effect.threads:
        yield thread.scope_id, "", _size_of_settings(rows, thread)


def size_of_message(row: MessageRow) -> int:
    """Return the number of bytes that the caller supplied for a message."""
    metadata = 0 if row.metadata == NOTHING else _bytes_in(row.metadata)
    return _bytes_in(row.text) + _bytes_in(row.content or "") + metadata


def size_of_memory(row: MemoryRow | RevisionRow) -> int:
    """Return the number of bytes in the value and text of a version of a memory."""
    return _bytes_in(row.value) + _bytes_in(row.text)


def _size_of_settings(rows: Rows, thread: ThreadRow) -> int:
    """Return the number of bytes in a thread's settings, 0 if they are unchanged."""
    if thread.settings == NOTHING:
        return 0
    before = rows.thread(thread.scope_id, thread.id)
    return 0 if before and before.settings == thread.settings else _bytes_in(thread.settings)


def _bytes_in(text: str) -> int:
    # `isascii` is constant time in CPython, which saves the copy of most texts.
    return len(text) if text.isascii() else len(text.encode())


def counted_scope(place: Scope) -> Scope | None:
    """
    Return the scope that is charged for a write in *place*, ``None`` if no scope is.

    LangGraph's documents are charged to the scope of the key that created them. Keys, receipts and
    usage counts belong to the service.

    >>> counted_scope(("acme", "ada")), counted_scope((RESERVED, "keys"))
    (('acme', 'ada'), None)
    """
    if place[0] != RESERVED:
        return place
    if place[1:2] != (DOCUMENTS,) or len(place) < 3:
        return None
    root = place[2:]
    with suppress(ValueError):
        UUID(root[-1])
        return root[:-1] or root
    return root


def metered(memory: Recollect, meter: Meter) -> Recollect:
    """Return a view of *memory* whose changes are metered; see `Store.metered`."""
    view = copy(memory)
    view.store = memory.store.metered(meter)
    return view


async def is_served(store: Store) -> bool:
    """Return True if a service uses the store, by its API keys."""
    return bool((await store.side_records(KEYS_SCOPE, SERVICE_KEY, limit=1)).rows)


@asynccontextmanager
async def counting(memory: Recollect) -> AsyncIterator[Recollect]:
    """
    Yield *memory* with usage counting, without limits, if a service uses the store.

    For programs that open the store beside the service, such as the command line.
    """
    if not await is_served(memory.store):
        yield memory
        return
    book = UsageBook(memory.store)
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(book.keep)
        try:
            yield metered(memory, Quotas(book, {}))
        except Exception as error:  # noqa: BLE001 (raised below)
            failure = error  # a task group would wrap it in an ExceptionGroup
        finally:
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await book.flush()
    if failure is not None:
        raise failure


class Rates:
    """
    Counts the requests of each tenant against its rate.

    Args:
        rate: Sustained requests per second.
        burst: Requests allowed at once after a pause.
        monotonic_s: A monotonic clock.
    """

    def __init__(
        self, *, rate: float, burst: int, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._monotonic_s = monotonic_s
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, tenant: str) -> None:
        """
        Count a request.

        Raises:
            QuotaError: The tenant exceeds its rate; the error has the seconds until it may retry.
        """
        now = self._monotonic_s()
        left, since = self._buckets.get(tenant, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        if left < 1:
            self._buckets[tenant] = (left, now)
            what = "too many requests"
            raise QuotaError(what, "requests_a_second", self._rate, (1 - left) / self._rate)
        self._buckets[tenant] = (left - 1, now)
        if len(self._buckets) > TENANTS_MAX:
            self._drop_full(now)

    def _drop_full(self, now: float) -> None:
        full = [
            tenant
            for tenant, (left, since) in self._buckets.items()
            if left + (now - since) * self._rate >= self._burst
        ]
        for tenant in full:
            del self._buckets[tenant]
