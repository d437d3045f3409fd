"""Early release of leases."""

from __future__ import annotations

from typing import Final

import anyio

from recollect.errors import LeaseLostError, StoreError
from recollect.observability.logs import package_logger, summary_of
from recollect.stores.contract.base import Store
from recollect.stores.plans.leases import Lease

LOG: Final = package_logger("recollect.worker")
RELEASE_S: Final = 2.0
"""Grace period for a cancelled run to release its lease."""


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
