"""Check that a request's key is still valid, with the scope and permissions it began with."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

from recollect.errors import KeyRevokedError
from recollect.server.api_keys import Key, key_from
from recollect.server.authorization import Principal
from recollect.side_records import KEYS_SCOPE, SERVICE_KEY
from recollect.stores.unit_of_work import Proviso, Rows


def revocation_of(principal: Principal, key: Key | None, now: datetime) -> KeyRevokedError | None:
    """Return the error if *key*, the caller's key as stored now, no longer allows the request."""
    reason = _reason(principal, key, now)
    if reason is None:
        return None
    msg = (
        f"the API key {principal.key_id!r} {reason} since the request began: nothing more is "
        "answered or written; repeat the request with a valid key"
    )
    return KeyRevokedError(msg)


def _reason(principal: Principal, key: Key | None, now: datetime) -> str | None:
    if key is None:
        return "was revoked"
    if found := key.invalid_reason(principal.credential, now):
        return found
    if key.scope != principal.scope:
        return "was bound to another scope"
    if missing := sorted(principal.permissions - key.permissions):
        return f"lost permissions ({', '.join(missing)})"
    return None


def proviso_of(principal: Principal, now: Callable[[], datetime]) -> Proviso | None:
    """
    Return a check, run inside the write transaction, that fails once the key is invalid.

    ``None`` for a caller without a key. See `Store.acting`.
    """
    if not principal.credential:
        return None

    def proviso(rows: Rows) -> None:
        # Read in the write's own transaction, so that a revocation cannot slip in between.
        row = rows.setting(KEYS_SCOPE, SERVICE_KEY, principal.key_id)
        key = key_from(row.key, json.loads(row.value), row.version) if row else None
        if error := revocation_of(principal, key, now()):
            raise error

    return proviso
