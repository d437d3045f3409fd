"""The first API key of a store, how it is replaced when it is lost, and the page's own key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import anyio

from recollect.errors import UsageError
from recollect.records import Scope
from recollect.server.api_keys import Key, Keys
from recollect.server.authorization import PERMISSIONS, RESERVED
from recollect.stores.contract.base import Store
from recollect.stores.validation import SEGMENTS_MAX

PAGE_KEY: Final = "page"
PAGE_KEY_S: Final = 86_400.0
"""Lifetime of the key, since a service that is killed cannot revoke it."""
DEFAULT_SCOPE: Final[Scope] = ("default",)
FIRST_KEY: Final = "first"


async def read_common_scope(store: Store) -> Scope:
    """Return the deepest common ancestor of a store's scopes, ``()`` if there is none."""
    found: Scope = ()
    while len(found) < SEGMENTS_MAX:
        page = await store.scopes(prefix=found, depth_max=len(found) + 1, limit=3)
        rows = [each for each in page.rows if each[0] != RESERVED]
        if len(rows) != 1 or rows[0] == found:
            break
        (found,) = rows
    return found


def first_scope(chosen: Scope | None, common: Scope) -> Scope:
    """
    Return the scope of a first key: *chosen*, else the only tenant of the store.

    By default it is never narrower than a tenant, because more users may come.

    >>> first_scope(None, ("demo", "mira")), first_scope(None, ()), first_scope(("a", "b"), ())
    (('demo',), ('default',), ('a', 'b'))
    """
    return chosen or common[:1] or DEFAULT_SCOPE


def page_scope(chosen: Scope | None, common: Scope) -> Scope:
    """
    Return the scope that the page shows when it is opened for the local user.

    >>> page_scope(None, ("demo", "mira")), page_scope(None, ("default", "ada"))
    (('demo', 'mira'), ('default',))
    """
    is_default = common[:1] in {(), DEFAULT_SCOPE}
    return chosen or (DEFAULT_SCOPE if is_default else common)


async def ensure_first_key(keys: Keys, chosen: Scope | None, common: Scope) -> str | None:
    """Create and return the first key of a store, or return ``None`` if it has keys."""
    if await keys.all():
        return None
    _, secret = await keys.create(FIRST_KEY, first_scope(chosen, common), PERMISSIONS)
    return secret


def check_scope_is_bound(scope: Scope, keys: Sequence[Key]) -> None:
    """
    Check that a key is bound to *scope*, or that there is no key yet.

    Raises:
        UsageError: The scope would be ignored, since a first key is only created without others.
    """
    bound = {each.scope for each in keys}
    if not bound or scope in bound:
        return
    named = ", ".join(sorted("/".join(each) for each in bound))
    wanted = "/".join(scope)
    raise UsageError(
        f"the scope {wanted!r} would be ignored: the store has keys already, for {named}. "
        f"Create one with `recollect keys create NAME --scope {wanted}`, "
        "or start without a scope"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredKey:
    """A new first key, and the earlier keys that may administer the same scope."""

    key: Key
    secret: str
    earlier: tuple[Key, ...]


async def recover_first_key(keys: Keys, store: Store, chosen: Scope | None) -> RecoveredKey:
    """
    Create another key with all permissions, for *chosen* or the scope of the first key.

    No key is revoked, because programs may still use the existing ones.
    """
    present = await keys.all()
    able = tuple(each for each in present if each.permissions >= frozenset(PERMISSIONS))
    named = [each.scope for each in present if each.name == FIRST_KEY]
    scope = chosen or next(iter(named), None)
    bound = first_scope(scope, () if scope else await read_common_scope(store))
    key, secret = await keys.create(FIRST_KEY, bound, PERMISSIONS)
    earlier = tuple(each for each in able if each.scope == bound[: len(each.scope)])
    return RecoveredKey(key=key, secret=secret, earlier=earlier)


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
