"""Contract tests for notifications, hints that something is due, which a store may never send."""

from __future__ import annotations

from recollect.stores.contract.base import Store
from recollect.testing.contract_base import Contract
from recollect.testing.contract_samples import ADA, TALK, tell


async def due_is_claimed(store: Store) -> bool:
    """Return True if a thread made due at once is claimed."""
    await tell(store, "m1")
    await store.signal(ADA, TALK)
    return await store.claim("worker") is not None


class ListeningContract(Contract):
    """Listening for due threads."""

    async def test_who_listens_can_stop(self, store: Store) -> None:
        """Call *heard* when a thread may have become due, until the subscription is closed."""
        listening = store.listen(lambda: None)
        listening.close()
        listening.close()

        assert await due_is_claimed(store)

    async def test_nothing_is_lost_unheard(self, store: Store) -> None:
        """This is only a hint: calls may be lost, and some stores never call it."""
        assert await due_is_claimed(store)

    async def test_who_hears_may_use_the_store(self, store: Store) -> None:
        """*heard* may run on any thread and must not block."""
        heard: list[int] = []
        listening = store.listen(lambda: heard.append(store.now()))

        assert await due_is_claimed(store)
        listening.close()
        assert all(moment <= store.now() for moment in heard)
