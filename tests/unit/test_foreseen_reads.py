"""What an append will read is known before it runs, through every view that reads no more."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from recollect.records import NewMessage, PutMemory
from recollect.stores.contract.base import Store
from recollect.stores.foreseen_reads import (
    CHARACTERS_TOGETHER_MAX,
    MESSAGES_TOGETHER_MAX,
    AppendReads,
    foreseen_reads,
)
from recollect.stores.memory import InProcessStore
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
        self.foreseen: list[AppendReads | None] = []

    async def _transact(self, plan: Plan[Any]) -> Any:
        self.foreseen.append(foreseen_reads(plan))
        return await super()._transact(plan)


def reads_of(call: Callable[[Store], Any]) -> AppendReads | None:
    """Return what is foreseen of a call on an empty store."""

    async def run() -> AppendReads | None:
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
