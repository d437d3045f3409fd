"""Checks that a key which was good when a request began is so still, and may do as much."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

from recollect.errors import KeyRevokedError
from recollect.records import SERVICE_KEY
from recollect.server.api_keys import KEYS_SCOPE, Key, key_from
from recollect.server.authorization import Principal
from recollect.stores.unit_of_work import Proviso, Rows


def revocation_of(principal: Principal, key: Key | None, now: datetime) -> KeyRevokedError | None:
    """Return why *principal* may not go on as it began, ``None`` if it may; *key* is as it is."""
    reason = _reason(principal, key, now)
    if reason is None:
        return None
    msg = (
        f"the API key {principal.key_id!r} {reason} since the request began: nothing more is "
        "answered or written; ask again with a key that is good now"
    )
    return KeyRevokedError(msg)


def _reason(principal: Principal, key: Key | None, now: datetime) -> str | None:
    if key is None:
        return "was revoked"
    if found := key.lacks(principal.credential, now):
        return found
    if key.scope != principal.scope:
        return "was bound to another scope"
    if missing := sorted(principal.permissions - key.permissions):
        return f"lost permissions ({', '.join(missing)})"
    return None


def proviso_of(principal: Principal, now: Callable[[], datetime]) -> Proviso | None:
    """
    Return a check that refuses *principal*'s change once the key is invalid.

    ``None`` for a caller that needs no key. See `Store.acting`.
    """
    if not principal.credential:
        return None

    def proviso(rows: Rows) -> None:
        row = rows.setting(KEYS_SCOPE, SERVICE_KEY, principal.key_id)
        key = key_from(row.key, json.loads(row.value), row.version) if row else None
        if error := revocation_of(principal, key, now()):
            raise error

    return proviso
