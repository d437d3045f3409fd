"""
Idempotency keys, and opening the scope of a writing request.

Only a digest of a key, made with a secret of the store, is stored, with the uids of what was
written. So a key outlives an erase of its scope, and reveals nothing about what was erased.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.errors import ConflictError, GoneError
from recollect.records import Scope
from recollect.stores.digests import keyed_digest, request_digest
from recollect.stores.plans.upkeep import is_old, old_before
from recollect.stores.rows import NO_SCOPE, IdempotencyRow, ScopeRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import check_id

GONE: Final = '"gone"'
"""The result of a request of which everything that it wrote was erased, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's key for a request called *name*; digests of the *key* and of the request."""

    name: str
    key: str
    digest: bytes


def idempotency_of(secret: bytes, key: str, scope: Scope, *request: object) -> Idempotency:
    """Return the key with a digest of the *request* made with it in *scope*."""
    name = check_id(key, "an idempotency key")
    return Idempotency(
        name=name,
        key=keyed_digest(secret, "key", scope, name).hex(),
        digest=keyed_digest(secret, "request", request_digest(scope, *request).hex()),
    )


def opened(rows: Rows, scope: Scope, now: int) -> ScopeRow:
    """Return the row of *scope*, a new one if it does not exist."""
    found = rows.scope(scope)
    if found:
        return found
    return ScopeRow(id=rows.new_number(), segments=scope, created_at=now, epoch=rows.new_number())


def key_row(
    scope: ScopeRow, idempotency: Idempotency, uids: Sequence[int], now: int
) -> IdempotencyRow:
    """Return the row that records which entries a request wrote under its key."""
    return IdempotencyRow(
        scope_id=scope.id,
        key=idempotency.key,
        digest=idempotency.digest,
        result=json.dumps(uids),
        kept_at=now,
    )


def uids_under_key(
    rows: Rows, scope: ScopeRow, idempotency: Idempotency | None, now: int
) -> list[int] | None:
    """
    Return what the same request wrote under this key in the last ``KEY_S``, if it was made.

    Raises:
        ConflictError: The key was used for a different request.
        GoneError: Everything the request wrote has been erased since.
    """
    if idempotency is None:
        return None
    kept = rows.idempotency(_places(scope, now), idempotency.key)
    if kept is None or is_old(kept, now):
        return None
    if kept.digest != idempotency.digest:
        msg = (
            f"the idempotency key {idempotency.name!r} was used for another request: use a new key"
        )
        raise ConflictError(msg)
    if kept.result == GONE:
        msg = (
            f"what was written under the idempotency key {idempotency.name!r} was erased since, "
            "and nothing is written again: use a new key for a new request"
        )
        raise GoneError(msg)
    uids: list[int] = json.loads(kept.result)
    return uids


def _places(scope: ScopeRow, now: int) -> tuple[int, ...]:
    """Return where a key may be stored: outside of any scope only for recent scopes."""
    return (scope.id, NO_SCOPE) if scope.created_at >= old_before(now) else (scope.id,)


def blanked_keys(
    rows: Rows, scope_id: int, erased: Collection[int], now: int
) -> list[IdempotencyRow]:
    """
    Return the keys of a scope without the *erased* uids.

    A key with no uids left is marked as gone for ``KEY_S`` after the erase.
    """
    found = []
    for row in rows.keys_of(scope_id):
        uids = [] if row.result == GONE else json.loads(row.result)
        left = [uid for uid in uids if uid not in erased]
        if left and len(left) < len(uids):
            found.append(replace(row, result=json.dumps(left)))
        elif uids and not left:
            found.append(replace(row, result=GONE, kept_at=now))
    return found


def spent_keys(rows: Rows, scope_id: int, now: int) -> list[IdempotencyRow]:
    """Return the keys of a wholly erased scope, as stored outside of any scope."""
    return [
        replace(row, scope_id=NO_SCOPE, result=GONE, kept_at=now)
        for row in rows.keys_of(scope_id)
        if not is_old(row, now)
    ]
