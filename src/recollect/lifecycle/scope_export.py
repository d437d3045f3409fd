"""Export one scope, record by record, without what is erased before its turn comes."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from time import monotonic
from typing import Final

from recollect.lifecycle.erased_records import name_of
from recollect.lifecycle.expired_records import without_expired
from recollect.records import JsonObject, Scope
from recollect.stores.contract.base import Store

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
