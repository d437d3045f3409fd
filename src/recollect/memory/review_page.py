"""The listing of a review: what waits for a person, each with what was said since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from heapq import nlargest
from typing import Final

from anyio import to_thread

from recollect.formation.config import Assistants
from recollect.formation.later_words import (
    Because,
    TypeInReview,
    is_end,
    is_over,
    later_words,
    with_evidence,
)
from recollect.formation.review_records import WaitingMemory
from recollect.formation.scope_types import type_in_force
from recollect.formation.succession import told_at
from recollect.memory.review import proposed_target
from recollect.records import Json, Memory, MemoryAddress, Page, Revision, Scope
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import MessageTimes, messages_cited
from recollect.stores.pages import each_page, each_row
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.validation import to_datetime

OTHERS_READ: Final = 10_000
"""Memories of one type that are read for a review; of more, those that changed last."""
OTHERS_MAX: Final = 2_000
"""The newest of them that are compared with what waits."""
FORMATIONS_READ: Final = 100
"""Newest formations in which the messages are looked for that ended a memory."""
_ROWS_A_PAGE: Final = 500
_RECEIPTS_A_PAGE: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    """The memory that a waiting one would change or end, and its versions."""

    target: Memory | None = None
    history: Sequence[Revision] = ()


async def read_review(
    store: Store,
    scope: Scope,
    assistants: Assistants,
    *,
    valid_at: datetime | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[WaitingMemory]:
    """Return the quarantined memories of *scope* by (type, key), with what was said since."""
    page = await store.memories(
        scope, state="quarantined", valid_at=valid_at, cursor=cursor, limit=limit
    )
    names = dict.fromkeys(each.type for each in page.rows)
    rows: list[WaitingMemory] = []
    for name in names:
        waiting = [each for each in page.rows if each.type == name]
        rows += await _reviewed(store, scope, assistants, name, waiting)
    return Page(rows=tuple(rows), cursor=page.cursor)


async def _reviewed(
    store: Store, scope: Scope, assistants: Assistants, type_: str, waiting: Sequence[Memory]
) -> list[WaitingMemory]:
    """Return the waiting memories of one type with what was said since."""
    now = to_datetime(store.now())
    review = TypeInReview(
        type=await type_in_force(store, scope, assistants, type_),
        now=now,
        others=await _read_others(store, scope, type_, min(map(_oldest, waiting)), now),
    )
    proposals = [await _read_proposal(store, scope, each) for each in waiting]
    targets = [each.target for each in proposals if each.target is not None]
    review = await _with_messages(store, scope, review, waiting, targets)
    compare = partial(_compared, waiting, proposals, review)
    # Comparing many words is CPU-bound: a thread keeps it off the loop.
    found = await to_thread.run_sync(compare)
    said = await _times_of(store, scope, [e.memory for each in found for e in each.since])
    return [
        replace(each, since=tuple(with_evidence(words, said) for words in each.since))
        for each in found
    ]


def _compared(
    waiting: Sequence[Memory], proposals: Sequence[_Proposal], review: TypeInReview
) -> list[WaitingMemory]:
    return [
        WaitingMemory(memory=each, since=later_words(each, review, found.target, found.history))
        for each, found in zip(waiting, proposals, strict=True)
    ]


async def _read_others(
    store: Store, scope: Scope, type_: str, oldest: datetime, now: datetime
) -> list[Memory]:
    """Return what may have been said since *oldest*, and what may have ended since."""
    read: list[Memory] = []
    async for page in each_page(
        lambda cursor: store.memories(scope, type_=type_, cursor=cursor, limit=_ROWS_A_PAGE)
    ):
        read += page.rows
        if len(read) >= OTHERS_READ and page.cursor is not None:
            # The listing is by key: what was said last may be at its end.
            read = await store.read(partial(_changed_last, scope=scope, type_=type_))
            break
    found = [
        each
        for each in read
        if each.state != "quarantined"
        and (each.updated_at if is_over(each, now) else told_at(each)) >= oldest
    ]
    return sorted(found, key=told_at)[-OTHERS_MAX:]


def _changed_last(snapshot: StoreSnapshot, scope: Scope, type_: str) -> list[Memory]:
    """Return the memories of a type that changed last, ``OTHERS_READ`` at most."""
    _, known = snapshot.summaries(scope)
    rows = zip(known.updated_at, known.uid, known.type, strict=True)
    newest = nlargest(OTHERS_READ, ((at, uid) for at, uid, name in rows if name == type_))
    found = snapshot.entries([(scope, uid) for _, uid in newest], are_memories=True)
    return [each.content for each in found if isinstance(each.content, Memory)]


def _oldest(waiting: Memory) -> datetime:
    """Return a time before which nothing was said since a memory waits."""
    return min(told_at(waiting), waiting.created_at)


async def _read_proposal(store: Store, scope: Scope, waiting: Memory) -> _Proposal:
    target = await proposed_target(store, scope, waiting.type, waiting.key)
    if target is None:
        return _Proposal()
    return _Proposal(target=target, history=await store.history(scope, target.type, target.key))


async def _with_messages(
    store: Store,
    scope: Scope,
    review: TypeInReview,
    waiting: Sequence[Memory],
    targets: Sequence[Memory],
) -> TypeInReview:
    """Return *review* with the messages that ended memories, and the times of those that count."""
    oldest = min(each.created_at for each in waiting)
    over = {
        (each.type, each.key)
        for each in (*review.others, *targets)
        if is_over(each, review.now) and each.updated_at >= oldest
    }
    doubted = {(each.type, each.key) for each in waiting if is_end(each)}
    if over or doubted:
        ended, asked = await _read_because(store, scope, over, doubted, oldest)
        review = replace(review, ended=ended, asked=asked)
    named = [at for each in (review.ended, review.asked) for found in each.values() for at in found]
    return replace(review, said=await _times_of(store, scope, targets, named))


async def _times_of(
    store: Store,
    scope: Scope,
    memories: Sequence[Memory],
    named: Sequence[tuple[str, str]] = (),
) -> MessageTimes:
    """Return the times of the messages that *memories* cite, and of those *named*."""
    cited = sorted({*messages_cited([each.evidence for each in memories]), *named})
    messages = await store.messages_named(scope, cited) if cited else ()
    return {(each.thread, each.id): each.time for each in messages}


async def _read_because(
    store: Store,
    scope: Scope,
    over: set[MemoryAddress],
    doubted: set[MemoryAddress],
    oldest: datetime,
) -> tuple[Because, Because]:
    """Return the messages that ended memories, and that asked for an end, by what receipts tell."""
    ended: dict[MemoryAddress, list[tuple[str, str]]] = {}
    asked: dict[MemoryAddress, list[tuple[str, str]]] = {}
    left = FORMATIONS_READ
    async for each in each_row(
        lambda cursor: store.formations(scope, cursor=cursor, limit=_RECEIPTS_A_PAGE)
    ):
        outcomes = each.receipt.get("outcomes")
        for outcome in outcomes if isinstance(outcomes, list | tuple) else ():
            if not isinstance(outcome, Mapping):
                continue
            address = str(outcome.get("type")), str(outcome.get("key"))
            if outcome.get("action") == "ended" and address in over:
                ended.setdefault(address, []).extend(_messages_of(outcome))
            elif outcome.get("action") == "quarantined" and address in doubted:
                asked.setdefault(address, []).extend(_messages_of(outcome))
        left -= 1
        if not left or each.at < oldest:
            break
    return ended, asked


def _messages_of(outcome: Mapping[str, Json]) -> list[tuple[str, str]]:
    because = outcome.get("because")
    return [
        (str(each.get("thread")), str(each.get("message")))
        for each in (because if isinstance(because, list | tuple) else ())
        if isinstance(each, Mapping)
    ]
