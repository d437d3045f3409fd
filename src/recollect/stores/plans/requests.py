"""What writing requests share: the scope that they open, the key under which they repeat."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.errors import ConflictError
from recollect.records import Scope
from recollect.stores.digests import request_digest
from recollect.stores.plans.upkeep import is_old
from recollect.stores.rows import IdempotencyRow, ScopeRow
from recollect.stores.unit import Rows
from recollect.stores.validate import check_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's key for a request, and the digest of what he asked for."""

    key: str
    digest: bytes


def idempotency_of(key: str | None, *request: object) -> Idempotency | None:
    """Return the key with a digest of the *request* made under it; ``None`` without a key."""
    if key is None:
        return None
    key = check_id(key, "an idempotency key")
    return Idempotency(key=key, digest=request_digest(*request))


def opened(rows: Rows, scope: Scope, now: int) -> ScopeRow:
    """Return the row of *scope*, a new one if it has none."""
    found = rows.scope(scope)
    if found:
        return found
    return ScopeRow(id=rows.new_number(), segments=scope, created_at=now, epoch=rows.new_number())


def key_row(scope: ScopeRow, idempotency: Idempotency, result: str, now: int) -> IdempotencyRow:
    """Return what is kept of a request that was carried out under a key."""
    return IdempotencyRow(
        scope_id=scope.id,
        key=idempotency.key,
        digest=idempotency.digest,
        result=result,
        kept_at=now,
    )


def result_under_key(
    rows: Rows, scope: ScopeRow, idempotency: Idempotency | None, now: int
) -> str | None:
    """
    Return the result kept under a key, if this same request was carried out in the last ``KEY_S``.

    Raises:
        ConflictError: The key was used for another request.
    """
    if idempotency is None:
        return None
    kept = rows.idempotency(scope.id, idempotency.key)
    if kept is None or is_old(kept, now):
        return None
    if kept.digest != idempotency.digest:
        msg = f"the idempotency key {idempotency.key!r} was used for another request: use a new key"
        raise ConflictError(msg)
    return kept.result
