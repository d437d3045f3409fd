"""The digest of everything in a store, to compare a copy with its source."""

from __future__ import annotations

from recollect.lifecycle.copy_journal import each_scope
from recollect.stores.contract.base import Store
from recollect.wire.record_digests import Digest


async def content_digest(store: Store) -> Digest:
    """Return the digest of all records of a store, each scope read at one point in time."""
    found = Digest()
    async for scope in each_scope(store):
        found.add(await store.archive(scope))
    return found
