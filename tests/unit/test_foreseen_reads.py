"""What an append will read is known before it runs, through every view that reads no more."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from recollect.records import Evidence, NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.foreseen_reads import (
    CHARACTERS_TOGETHER_MAX,
    MESSAGES_TOGETHER_MAX,
    WRITES_TOGETHER_MAX,
    ForeseenReads,
    foreseen_reads,
)
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.undo import UndoLog
from recollect.stores.unit_of_work import Effect, Plan, Rows

ADA, BOB = ("users", "ada"), ("users", "bob")
HELLO = NewMessage(role="user", text="hello", id="m1")


class FreeMeter:
    """A meter that lets everything pass."""

    async def charge(self, *_: object) -> "FreeMeter":
        """Return itself, as the charge."""
        return self

    def reserve(self, rows: Rows, effect: Effect) -> None:
        """Reserve nothing."""

    def spend(self) -> None:
        """Spend nothing."""

    def release(self) -> None:
        """Release nothing."""


class Listening(InProcessStore):
    """A store that notes what its plans were foreseen to read."""

    def __init__(self) -> None:
        super().__init__()
        self.foreseen: list[ForeseenReads | None] = []

    async def _transact(self, plan: Plan[Any]) -> Any:
        self.foreseen.append(foreseen_reads(plan))
        return await super()._transact(plan)


def reads_of(call: Callable[[Store], Any]) -> ForeseenReads | None:
    """Return what is foreseen of a call on an empty store."""

    async def run() -> ForeseenReads | None:
        async with Listening() as store:
            await call(store)
            return store.foreseen[-1]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("view", "audited"),
    [
        (lambda store: store, False),
        (lambda store: store.acting("sam"), True),
        (lambda store: store.acting("sam", proviso=lambda _: None).metered(FreeMeter()), True),
        (lambda store: store.metered(FreeMeter()).acting("sam"), True),
        (lambda store: store.since(ADA, 0), False),
    ],
)
def test_an_append_is_foreseen_through_views(
    view: Callable[[Store], Store],
    audited: bool,  # noqa: FBT001
) -> None:
    """Scope, thread, ids and audit chain are known, whatever view it is made through."""
    found = reads_of(lambda store: view(store).append(ADA, "talk", [HELLO], idempotency_key="k"))

    assert found is not None
    assert (ADA, "talk", ("m1",)) == (found.scope, found.thread, found.messages)
    assert found.key
    assert audited == bool(found.chain)


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.apply(ADA, [PutMemory(type="Fact", key="k", value={})]),
        lambda store: store.append(
            ADA, "talk", [HELLO], writes=[PutMemory(type="Fact", key="k", value={})]
        ),
        lambda store: store.append(
            ADA, "talk", [NewMessage(role="user", text="x")] * (MESSAGES_TOGETHER_MAX + 1)
        ),
        lambda store: store.append(
            ADA, "talk", [NewMessage(role="user", text="x" * (CHARACTERS_TOGETHER_MAX + 1))]
        ),
        lambda store: store.noting(UndoLog()).append(ADA, "talk", [HELLO]),
        lambda store: store.once("key", "request").append(ADA, "talk", [HELLO]),
        lambda store: store.since(BOB, 0).append(ADA, "talk", [HELLO]),
    ],
    ids=["memories", "with writes", "many", "long", "noting", "once", "another scope"],
)
def test_what_reads_more_is_not_foreseen(call: Callable[[Store], Any]) -> None:
    """Other changes, large ones, and views that read more are left to themselves."""
    assert reads_of(call) is None


def commit(writes: int, formed: Formed, view: Callable[[Store], Store]) -> Callable[[Store], Any]:
    """Return a call that claims a scope and commits a formation there through a view."""

    async def call(store: Store) -> None:
        await store.append(ADA, "talk", [HELLO], debounce=Debounce(quiet_s=0))
        lease = await store.claim("worker")
        assert lease is not None
        proof = {"": [Evidence(thread="talk", message="m1", quote="hello")]}
        notes = [
            PutMemory(type="Note", key=f"k{n}", value={"content": "x"}, evidence=proof)
            for n in range(writes)
        ]
        await view(store).commit(lease, notes, formed)

    return call


FORMED = Formed(watermarks={"talk": 1})


@pytest.mark.parametrize("is_audited", [False, True])
def test_a_commit_of_a_formation_is_foreseen(*, is_audited: bool) -> None:
    """Its thread, the messages that it cites there, and the memories that it writes."""
    found = reads_of(commit(2, FORMED, lambda e: e.acting("worker") if is_audited else e))

    assert found is not None
    assert found.is_formation
    assert (ADA, "talk", ("m1",)) == (found.scope, found.thread, found.messages)
    assert (("Note", "k0"), ("Note", "k1")) == found.memories
    assert is_audited == bool(found.chain)


@pytest.mark.parametrize(
    ("writes", "formed"),
    [
        (WRITES_TOGETHER_MAX + 1, FORMED),
        (1, Formed(watermarks={"talk": 1}, status="consolidated")),
        (1, Formed(watermarks={})),
    ],
    ids=["many", "consolidation", "no thread"],
)
def test_what_a_formation_reads_besides_is_not_foreseen(writes: int, formed: Formed) -> None:
    """A large one, one that can be undone, and one without a thread go alone."""
    assert reads_of(commit(writes, formed, lambda each: each)) is None
