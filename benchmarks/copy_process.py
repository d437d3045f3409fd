"""Copy a store in a separate process that reports each part written and can be killed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any, Final

from recollect.lifecycle.copy_journal import MARK
from recollect.lifecycle.store_copy import copy_store
from recollect.records import JsonObject, Scope
from recollect.stores.contract.base import Store
from recollect.stores.locator import open_store

PART: Final = "part"
"""The line printed after each restored part."""
TRUSTING: Final = "resumed by scope"
"""The control: a copy that treats a scope with any data as complete."""


def told(store: Store) -> None:
    """Make *store* print a line after each restored part."""
    open_ended: Any = store
    restore = store.restore

    async def restored(scope: Scope, records: Sequence[JsonObject]) -> int:
        written = await restore(scope, records)
        sys.stdout.write(f"{PART}\n")
        sys.stdout.flush()
        return written

    open_ended.restore = restored


def trust(source: Store, destination: Store) -> None:
    """Make *source* show only the destination's records of a scope, if it has any."""
    open_ended: Any = source
    archive = source.archive

    async def archived(scope: Scope) -> list[JsonObject]:
        held = [] if scope == MARK else await destination.archive(scope)
        return held or await archive(scope)

    open_ended.archive = archived


async def copy(source: str, destination: str, control: str = "") -> None:
    """Copy, print a line per part, and print the report at the end."""
    async with open_store(source) as one, open_store(destination) as other:
        told(other)
        if control:
            trust(one, other)
        done = await copy_store(one, other)
    said = {"records": done.records, "digest": done.destination, "verified": done.is_verified}
    sys.stdout.write(f"{json.dumps(said)}\n")


if __name__ == "__main__":
    asyncio.run(copy(*sys.argv[1:]))
