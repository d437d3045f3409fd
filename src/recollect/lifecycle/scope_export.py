"""Export one scope, record by record, without what has expired or is erased meanwhile."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from time import monotonic
from typing import Final

from recollect.lifecycle.erased_records import name_of, versions_in
from recollect.records import JsonObject, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_ledger import cited_in
from recollect.stores.remainder import cited_version

CHECK_S: Final = 0.05
"""No record is handed out longer than this after the last look for an erase."""


async def exported_records(store: Store, scope: Scope) -> AsyncIterator[JsonObject]:
    """
    Yield the records of exactly *scope*, as they are at one moment.

    A reader may be slow: after an erase in the scope, the records that are still to come are read
    again. Those that are gone are left out, and the others are as the erase left them.
    """
    # The place first: an erase between the two reads is then found again, and not missed.
    checked_at = monotonic()
    (place,) = await store.places([scope])
    waiting = deque(await _read(store, scope))
    while waiting:
        if (now := monotonic()) - checked_at >= CHECK_S:
            checked_at = now
            (current,) = await store.places([scope])
            if current.epoch != place.epoch:
                place = current
                waiting = deque(_left_of(waiting, await _read(store, scope)))
                continue
        yield waiting.popleft()


async def _read(store: Store, scope: Scope) -> list[JsonObject]:
    return without_expired(await store.archive(scope), store.now())


def _left_of(waiting: Iterable[JsonObject], there: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the records *waiting* that are still *there*, as they are there."""
    current = {name_of(each): each for each in there}
    # A thread holds no words, and its positions have to fit the messages of the first read.
    return [
        each if each["kind"] == "thread" else current[name_of(each)]
        for each in waiting
        if name_of(each) in current
    ]


def without_expired(records: Sequence[JsonObject], now: int) -> list[JsonObject]:
    """
    Return a scope's *records* without those that have expired at *now* (in µs).

    A memory that others are derived from stays: only through it do they rest on the messages with
    which they have to be erased. No read of the store that imports it returns it either.
    """
    expired = [each for each in records if _is_expired(each, now)]
    if not expired:
        return list(records)
    cited = {
        ("memory", *named[:2])
        for record in records
        if record["kind"] == "memory"
        for version in versions_in(record)
        for thread, id_ in cited_in(version)
        if (named := cited_version(thread, id_))
    }
    return [each for each in records if not _is_expired(each, now) or name_of(each) in cited]


def _is_expired(record: JsonObject, now: int) -> bool:
    until = record.get("expires_at")
    return isinstance(until, int) and until <= now
