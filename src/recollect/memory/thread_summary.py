"""The summary that is kept of a thread: a text, and up to which message it goes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from recollect.records import Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.validation import ID_CHARACTERS_MAX

SUMMARY_TYPE: Final = "Summary"
SUMMARY_POLICIES: Final = ("summary", "summary buffer")
"""The kinds of conversation memory that keep one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSummary:
    """A summary, which holds what was said up to the position *until*; version 0 is none."""

    content: str = ""
    until: int = 0
    version: int = 0


def key_of(policy: str, thread: str) -> str:
    """
    Return the key of the document that *policy* keeps of *thread*, short for a long name.

    >>> key_of("summary", "talk")
    'summary/talk'
    """
    return short_key(f"{policy}/{thread}", f"{policy}/{sha256(thread.encode()).hexdigest()}")


def short_key(key: str, instead: str) -> str:
    """Return *key*, or *instead* where evidence could not name its versions any more."""
    return key if len(key) <= ID_CHARACTERS_MAX // 2 else instead


def summary_in(kept: Memory | None) -> ThreadSummary:
    """Return the summary that a document holds; an erase may have taken its words."""
    if kept is None:
        return ThreadSummary()
    content, until = kept.value.get("content"), kept.value.get("until")
    if not isinstance(content, str) or not isinstance(until, int):
        # It is formed anew, from the messages that are left.
        return ThreadSummary(version=kept.version)
    return ThreadSummary(content=content, until=until, version=kept.version)


async def newest_summary(store: Store, scope: Scope, thread: str) -> ThreadSummary:
    """Return the kept summary of a thread that reaches furthest; version 0 if there is none."""
    addresses = [(SUMMARY_TYPE, key_of(policy, thread)) for policy in SUMMARY_POLICIES]
    kept = await store.get_many(scope, addresses)
    return max(map(summary_in, kept), key=lambda each: each.until)
