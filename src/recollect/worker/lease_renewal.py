"""Claim a lease, keep it while a run works, and release it early when the run is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio

from recollect.errors import LeaseLostError, StoreError, StoreUnavailableError
from recollect.observability.logs import kind_of, package_logger, summary_of
from recollect.records import Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.leases import Lease

LOG: Final = package_logger("recollect.worker")
LEASE_S: Final = 60.0
"""Time of a lease, which runs extend while they work."""
RELEASE_S: Final = 2.0
"""Grace period for a cancelled run to release its lease."""


async def claim_or_release(
    store: Store, owner: str, *, scope: Scope | None = None, idle: bool = False
) -> Lease | None:
    """Claim a lease of `LEASE_S` as `Store.claim` does; release it if the caller is cancelled."""
    claim = asyncio.ensure_future(store.claim(owner, lease_s=LEASE_S, scope=scope, idle=idle))
    try:
        return await asyncio.shield(claim)
    except asyncio.CancelledError:
        # The store may have committed the claim already, and only its holder can release it.
        await _release_claimed(store, claim)
        raise


async def _release_claimed(store: Store, claim: asyncio.Future[Lease | None]) -> None:
    """Release the lease that *claim* returns within `RELEASE_S`, if it returns one."""
    with anyio.move_on_after(RELEASE_S, shield=True):
        try:
            lease = await claim
        except StoreError:
            return  # nothing was claimed
        if lease is not None:
            await release_if_possible(store, lease)


async def release_if_possible(store: Store, lease: Lease) -> None:
    """Release *lease*; if that fails, the lease expires by itself."""
    # Shielded: this runs while the caller is being cancelled.
    with anyio.move_on_after(RELEASE_S, shield=True):
        try:
            await store.release(lease)
        except LeaseLostError:
            return  # another worker has it already
        except StoreError as error:
            LOG.warning("a lease was not released and will expire by itself: %s", summary_of(error))


@asynccontextmanager
async def extending(store: Store, lease: Lease) -> AsyncIterator[None]:
    """Extend *lease* repeatedly while the block runs."""
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_extend, store, lease)
            try:
                yield
            finally:
                group.cancel_scope.cancel()
    except BaseExceptionGroup as raised:
        if len(raised.exceptions) > 1:
            raise
        raise raised.exceptions[0] from None  # the block's own error, without the group


async def _extend(store: Store, lease: Lease) -> None:
    while True:
        await anyio.sleep(LEASE_S / 3)  # leaves time for two more tries before it expires
        try:
            await store.extend(lease, lease_s=LEASE_S)
        except StoreUnavailableError as error:
            # The store may be back before the lease expires.
            LOG.warning("a lease was not extended, trying again: %s", summary_of(error))
        except (LeaseLostError, StoreError) as error:
            LOG.debug("a lease can no longer be extended: %s", kind_of(error))
            return  # the commit raises this error
