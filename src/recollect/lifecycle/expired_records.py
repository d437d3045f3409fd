"""Leave what has expired out of the records of an export."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.lifecycle.erased_records import name_of, versions_in
from recollect.records import JsonObject
from recollect.stores.plans.erase_ledger import cited_in
from recollect.stores.remainder import MEMORY_THREAD, named_version


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
        if thread == MEMORY_THREAD and (named := named_version(id_))
    }
    return [each for each in records if not _is_expired(each, now) or name_of(each) in cited]


def _is_expired(record: JsonObject, now: int) -> bool:
    until = record.get("expires_at")
    return isinstance(until, int) and until <= now
