"""The stored summary of a thread: its text and the position it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from recollect.formation.succession import holds_from
from recollect.records import Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.validation import ID_CHARACTERS_MAX, to_datetime

SUMMARY_TYPE: Final = "Summary"
SUMMARY_POLICIES: Final = ("summary", "summary buffer")
"""The conversation policies that store a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSummary:
    """A summary of a thread up to position *until*; version 0 means that there is none."""

    content: str = ""
    until: int = 0
    version: int = 0
    is_withheld: bool = False
    """Whether its version was rejected or awaits a verdict, so that nothing may build on it."""


def key_of(policy: str, thread: str) -> str:
    """
    Return the key of the summary document of *thread* by *policy*, hashed if it is too long.

    >>> key_of("summary", "talk")
    'summary/talk'
    """
    return short_key(f"{policy}/{thread}", f"{policy}/{sha256(thread.encode()).hexdigest()}")


def short_key(key: str, instead: str) -> str:
    """Return *key*, or *instead* if it is too long for evidence to name a version of it."""
    # Evidence names a version as "type/key@version", in one id: half its limit is left for that.
    return key if len(key) <= ID_CHARACTERS_MAX // 2 else instead


def summary_in(kept: Memory | None, now: datetime) -> ThreadSummary:
    """Return the summary in a document, without content if it was erased or is not in force."""
    if kept is None:
        return ThreadSummary()
    content, until = kept.value.get("content"), kept.value.get("until")
    if not isinstance(content, str) or not isinstance(until, int) or not holds_from(kept, now):
        # Keep the version for the next write, and summarise the remaining messages again.
        return ThreadSummary(version=kept.version, is_withheld=kept.state != "active")
    return ThreadSummary(content=content, until=until, version=kept.version)


async def newest_summary(store: Store, scope: Scope, thread: str) -> ThreadSummary:
    """Return the stored summary of a thread that reaches furthest; version 0 if there is none."""
    addresses = [(SUMMARY_TYPE, key_of(policy, thread)) for policy in SUMMARY_POLICIES]
    kept = await store.get_many(scope, addresses)
    now = to_datetime(store.now())
    return max((summary_in(each, now) for each in kept), key=lambda each: each.until)
