"""The book of usage: what is reserved, kept and refused, alone and beside other processes."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import anyio
import pytest

from recollect.errors import QuotaError, StoreFullError, StoreUnavailableError
from recollect.records import PutMemory, Scope
from recollect.server.authorization import RESERVED
from recollect.server.quotas import DOCUMENTS, Quotas, counted_scope
from recollect.server.usage import UsageBook
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import InProcessStore
from recollect.testing import FrozenClock

ADA: Scope = ("acme", "ada")
NOTE = {"context": "drinks", "content": "Likes green tea"}


@pytest.fixture
async def kept_store() -> AsyncIterator[Store]:
    async with InProcessStore(clock=FrozenClock()) as found:
        yield found


def put(key: str) -> PutMemory:
    """Return a write of a note."""
    return PutMemory(type="Note", key=key, value=NOTE, text="tea")


async def test_processes_learn_of_one_another(kept_store: Store) -> None:
    """What another one has counted holds for a quota some seconds later at the latest."""
    times = [0.0]
    books = [UsageBook(kept_store, monotonic_s=lambda: times[0]) for _ in range(2)]
    here, there = (kept_store.metered(Quotas(each, {"memories": 3})) for each in books)
    await here.apply(ADA, [put("a"), put("b")])
    await there.apply(ADA, [put("c")])
    for each in books:
        await each.flush()
    times[0] += 10

    with pytest.raises(QuotaError, match="memories today: 3 and 1 more"):
        await here.apply(ADA, [put("d")])
    with pytest.raises(QuotaError):
        await there.apply(ADA, [put("e")])


async def test_a_new_day_has_a_quota_of_its_own(kept_store: Store) -> None:
    """The day is that of the store's clock, in UTC."""
    clock = kept_store._clock
    assert isinstance(clock, FrozenClock)
    metered_store = kept_store.metered(Quotas(UsageBook(kept_store), {"memories": 1}))
    await metered_store.apply(ADA, [put("a")])
    with pytest.raises(QuotaError):
        await metered_store.apply(ADA, [put("b")])

    clock.advance(86_400)

    await metered_store.apply(ADA, [put("b")])


async def test_counts_that_cannot_be_kept_are_kept_later(
    kept_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is away loses none, and a quota holds meanwhile."""
    book = UsageBook(kept_store)
    metered_store = kept_store.metered(Quotas(book, {"memories": 2}))
    await metered_store.apply(ADA, [put("a"), put("b")])

    async def away(*_: Any) -> None:
        raise StoreUnavailableError("away")

    with monkeypatch.context() as failing:
        failing.setattr(kept_store, "apply", away)
        await book.flush()
    with pytest.raises(QuotaError):
        await metered_store.apply(ADA, [put("c")])

    assert [2] == [counts["memories"] for _, _, counts in await book.days("acme")]


async def test_what_nobody_waits_for_is_counted_all_the_same(kept_store: Store) -> None:
    """A caller that is cancelled has written what was carried out."""
    book = UsageBook(kept_store)
    begun, end = anyio.Event(), anyio.Event()

    class Slow(InProcessStore):
        async def _transact(self, plan: Any) -> Any:
            result = await super()._transact(plan)
            begun.set()
            await end.wait()
            return result

    slow = Slow(clock=FrozenClock()).metered(Quotas(book, {}))
    async with anyio.create_task_group() as group:
        group.start_soon(slow.apply, ADA, [put("a")])
        await begun.wait()
        group.cancel_scope.cancel()

    assert [1] == [counts["memories"] for _, _, counts in await book.days("acme")]


@pytest.mark.parametrize(
    ("place", "counted"),
    [
        (("acme", "ada"), ("acme", "ada")),
        ((RESERVED, "keys"), None),
        ((RESERVED, "usage", "acme"), None),
        ((RESERVED, DOCUMENTS), None),
        ((RESERVED, DOCUMENTS, "acme", "ada", str(uuid4())), ("acme", "ada")),
        ((RESERVED, DOCUMENTS, "acme", "ada"), ("acme", "ada")),
    ],
)
def test_documents_count_for_whose_they_are(place: Scope, counted: Scope | None) -> None:
    """LangGraph's for the scope of the key, and the service's own for nobody."""
    assert counted == counted_scope(place)


class Full(InProcessStore):
    """A store that is full once: after the plan, before anything is written."""

    is_full = True

    async def _transact(self, plan: Any) -> Any:
        if self.is_full:
            plan(self._open())
            self.is_full = False
            raise StoreFullError("full")
        return await super()._transact(plan)


async def written_after_failure() -> None:
    """Write what fits a quota to a store that is full at first."""
    full = Full(clock=FrozenClock())
    metered_store = full.metered(Quotas(UsageBook(InProcessStore()), {"memories": 1}))
    with pytest.raises(StoreFullError):
        await metered_store.apply(ADA, [put("a")])
    await metered_store.apply(ADA, [put("a")])


async def test_what_was_not_written_is_given_back() -> None:
    """A failure of the store costs nothing."""
    await written_after_failure()


async def test_a_meter_that_gives_nothing_back_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: what failed is lost to the tenant."""
    monkeypatch.setattr(UsageBook, "release", lambda *_: None)

    with pytest.raises(QuotaError):
        await written_after_failure()
