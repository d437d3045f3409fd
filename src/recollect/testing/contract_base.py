"""The base class of the contract tests, the clock of the stores, and what the tests write."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

import pytest

from recollect.records import Evidence, Memory, Message, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.stores.plans.leases import Lease
from recollect.testing.frozen_clock import FrozenClock

FoundT = TypeVar("FoundT")
ADA: Final[Scope] = ("acme", "users", "ada")
BOB: Final[Scope] = ("acme", "users", "bob")
TALK: Final = "talk"
EMBEDDER: Final = "sample/1"
SOON: Final = Debounce(quiet_s=10, max_wait_s=60)
"""A debounce with round numbers."""


def _show_compared_values() -> None:
    """Make pytest rewrite the contract's assertions, so that failures show compared values."""
    parts = [f"recollect.testing.{path.stem}" for path in Path(__file__).parent.glob("contract_*")]
    pytest.register_assert_rewrite(*(part for part in parts if part not in sys.modules))


_show_compared_values()


@pytest.mark.anyio
class Contract:
    """
    A part of the store contract as tests, run by AnyIO's pytest plugin.

    Subclass it, and define an async fixture ``store`` that yields an empty store made
    with the class's fixture ``clock``.
    """

    @pytest.fixture
    def clock(self) -> FrozenClock:
        """Return the clock of the store."""
        return FrozenClock()


def said(id_: str, text: str | None = None, source: str | None = None) -> NewMessage:
    """Return a user's message with the id *id_*."""
    return NewMessage(role="user", id=id_, text=text or f"the words of {id_}", source=source)


def fact(key: str, city: str = "Oslo", expected: int | None = None) -> PutMemory:
    """Return a write of the fact *key*, without evidence."""
    return PutMemory(type="Fact", key=key, value={"city": city}, expected=expected)


def resting(key: str, *messages: str, city: str = "Oslo", thread: str = TALK) -> PutMemory:
    """Return a write of the fact *key*, whose only field cites *messages* with quotes."""
    found = [Evidence(thread=thread, message=each, quote=f"words of {each}") for each in messages]
    return PutMemory(type="Fact", key=key, value={"city": city}, evidence={"/city": found})


def existing(found: FoundT | None) -> FoundT:
    """Return *found*, which is not ``None``."""
    assert found is not None
    return found


async def tell(store: Store, *ids: str, thread: str = TALK) -> tuple[Message, ...]:
    """Append messages with these ids to a thread of Ada, and return them."""
    return await store.append(ADA, thread, [said(each) for each in ids], debounce=SOON)


async def keep_facts(store: Store, *cities: str, key: str = "home") -> Memory:
    """Write several versions of a fact of Ada, one after another, and return the last."""
    written = await store.apply(ADA, [fact(key, city) for city in cities])
    last = written[-1]
    assert last is not None
    return last


async def claimed(store: Store, clock: FrozenClock, owner: str = "worker") -> Lease:
    """Make pending messages due, claim them, and return the lease."""
    clock.advance(SOON.max_wait_s)
    lease = await store.claim(owner)
    assert lease is not None
    return lease


async def ids_in(store: Store, thread: str = TALK, scope: Scope = ADA) -> list[str]:
    """Return the ids of the messages of a thread, by position."""
    return [each.id for each in (await store.messages(scope, thread)).rows]


async def keys_in(store: Store, scope: Scope = ADA) -> list[str]:
    """Return the keys of a scope's memories, in the order of the listing."""
    return [each.key for each in (await store.memories(scope)).rows]


async def feed_after(store: Store, feed: Feed) -> Feed:
    """Return the changes since *feed* was read."""
    return await store.changes(Cursor(scope=feed.scope, seq=feed.seq, epoch=feed.epoch))


async def feed_from_start(store: Store, scope: Scope = ADA, embedder: str | None = None) -> Feed:
    """Return the whole feed of a scope, as a new reader gets it."""
    return await store.changes(Cursor(scope=scope), embedder=embedder)


async def contents(store: Store, feed: Feed) -> list[Message | Memory]:
    """Return the current content of the entries of *feed*, in its order."""
    chosen = [(feed.scope, each.uid) for each in feed.entries]
    found = await store.read(lambda snapshot: snapshot.entries(chosen))
    return [each.content for each in found]


async def names_changed(store: Store, feed: Feed) -> list[str]:
    """Return the message ids and memory keys of the entries of *feed*, sorted."""
    return sorted(name_of(each) for each in await contents(store, feed))


def name_of(content: Message | Memory) -> str:
    """Return the id of a message or the key of a memory."""
    return content.id if isinstance(content, Message) else content.key


async def names_in(store: Store, scope: Scope = ADA) -> list[str]:
    """Return the names of all entries in a scope's feed, sorted."""
    return await names_changed(store, await feed_from_start(store, scope))


def counts(receipt: EraseReceipt) -> tuple[int, int, int]:
    """Return the numbers of erased messages and memories, and of memories that lost a part."""
    return receipt.messages, receipt.memories, receipt.revised


def seconds(number: float) -> timedelta:
    """Return a duration of *number* seconds."""
    return timedelta(seconds=number)
