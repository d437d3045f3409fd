"""A small cast for the contract's tests: scopes, messages, memories, and ways to look at them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from recollect.records import Evidence, Memory, Message, NewMessage, PutMemory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.stores.plans.formation import Lease
from recollect.stores.rows import Cursor, Feed
from recollect.testing.frozen_clock import FrozenClock

ADA: Final[Scope] = ("acme", "users", "ada")
BOB: Final[Scope] = ("acme", "users", "bob")
TALK: Final = "talk"
EMBEDDER: Final = "sample/1"

SOON: Final = Debounce(quiet_s=10, max_wait_s=60)
"""A debounce with figures that are easy to reckon with."""


def said(id_: str, text: str | None = None, source: str | None = None) -> NewMessage:
    """Return a message of the user's with the id *id_*."""
    return NewMessage(role="user", id=id_, text=text or f"the words of {id_}", source=source)


def fact(key: str, city: str = "Oslo", expected: int | None = None) -> PutMemory:
    """Return a write of the fact *key*, which rests on nothing."""
    return PutMemory(type="Fact", key=key, value={"city": city}, expected=expected)


def resting(key: str, *messages: str, city: str = "Oslo", thread: str = TALK) -> PutMemory:
    """Return a write of the fact *key*, whose only field rests on *messages* and quotes them."""
    found = [Evidence(thread=thread, message=each, quote=f"words of {each}") for each in messages]
    return PutMemory(type="Fact", key=key, value={"city": city}, evidence={"/city": found})


async def tell(store: Store, *ids: str, thread: str = TALK) -> tuple[Message, ...]:
    """Append messages with these ids to a thread of Ada's, and return them."""
    return await store.append(ADA, thread, [said(each) for each in ids], debounce=SOON)


async def keep_facts(store: Store, *cities: str, key: str = "home") -> Memory:
    """Write one version of a fact of Ada's after the other, and return the last."""
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
    """Return the feed of a scope as a new reader gets it."""
    return await store.changes(Cursor(scope=scope), embedder=embedder)


async def contents(store: Store, feed: Feed) -> list[Message | Memory]:
    """Return the content of the entries of *feed*, in its order, as it is now."""
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
    """Return the names of all that a new reader of a scope's feed gets, sorted."""
    return await names_changed(store, await feed_from_start(store, scope))


def counts(receipt: EraseReceipt) -> tuple[int, int, int]:
    """Return how many messages and memories were erased, and how many memories lost a part."""
    return receipt.messages, receipt.memories, receipt.revised


def seconds(number: float) -> timedelta:
    """Return a span of *number* seconds."""
    return timedelta(seconds=number)
