"""
The store contract: what every backend promises, and nothing more.

Callers use the public methods, which are final: they settle validation, limits and order
once. What an operation means stands in `recollect.stores.plans`; a backend gives the plans
their rows and carries out their effects.
"""

from __future__ import annotations

from recollect.stores.archive import ArchiveStore
from recollect.stores.erase import EraseStore
from recollect.stores.feed import FeedStore
from recollect.stores.formation import FormationStore
from recollect.stores.memories import MemoryStore
from recollect.stores.scopes import ScopeStore
from recollect.stores.threads import ThreadStore


class Store(
    ThreadStore, MemoryStore, ScopeStore, FormationStore, FeedStore, EraseStore, ArchiveStore
):
    """
    A durable, transactional home for threads, messages and memories, with a change feed.

    Every public method is one transaction: all of it happened, or none. A method that
    returned has made its writes durable (see each backend for what it survives). Methods
    may be called from many tasks at once; writes in one scope happen one after the other,
    in the order of the scope's *seq*.

    All methods raise `StoreError` when the backend fails; nothing was written then, but for
    `StoreUnavailableError`, where a write may have happened: repeat it with the same ids
    or idempotency key.
    """
