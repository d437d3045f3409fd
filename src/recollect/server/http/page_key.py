"""A temporary API key for the page, opened for the local user and revoked at shutdown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Final

import anyio

from recollect.records import Scope
from recollect.server.api_keys import Keys
from recollect.server.authorization import PERMISSIONS

PAGE_KEY: Final = "page"
PAGE_KEY_S: Final = 86_400.0
"""Lifetime of the key, since a service that is killed cannot revoke it."""


@asynccontextmanager
async def page_key(
    keys: Keys, scope: Scope, now: datetime, tell: Callable[[str], None]
) -> AsyncIterator[None]:
    """
    Create a key of *scope* with all permissions, and revoke it at the end of the block.

    The user who starts a service can read its store anyway: the key gives no more access.

    Args:
        keys: The keys of the service.
        scope: The scope that the page shows.
        now: The store's present moment.
        tell: Called with the key.
    """
    expires_at = now + timedelta(seconds=PAGE_KEY_S)
    key, secret = await keys.create(PAGE_KEY, scope, PERMISSIONS, expires_at=expires_at)
    tell(secret)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):  # also when the shutdown cancels this task
            await keys.revoke(key.id)
