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

from recollect.errors import ConflictError, GoneError, RepeatedRequestError
from recollect.records import Scope
from recollect.stores.digests import keyed_digest, request_digest
from recollect.stores.plans.upkeep import is_old, old_before
from recollect.stores.rows import NO_SCOPE, IdempotencyRow, MemoryRow, MessageRow, ScopeRow
from recollect.stores.unit_of_work import Effect, Plan, PlannedWrite, Removal, ResultT, Rows
from recollect.stores.validation import check_id

GONE: Final = '"gone"'
"""The result of a request of which everything that it wrote was erased, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's key for a request called *name*; digests of the *key* and of the request."""

    name: str
    key: str
    digest: bytes


def idempotency_of(
    secret: bytes, key: str, scope: Scope, *request: object, owner: Scope = ()
) -> Idempotency:
    """
    Return the key with a digest of the *request* made under it in *scope*.

    Where several share a scope, *owner* tells their keys apart.
    """
    name = check_id(key, "an idempotency key")
    return Idempotency(
        name=name,
        key=keyed_digest(secret, "key", scope, name, *owner).hex(),
        digest=keyed_digest(secret, "request", request_digest(scope, *request).hex()),
    )


def opened(rows: Rows, scope: Scope, now: int) -> ScopeRow:
    """Return the row of *scope*, a new one if it does not exist."""
    found = rows.scope(scope)
    if found:
        return found
    return ScopeRow(id=rows.new_number(), segments=scope, created_at=now, epoch=rows.new_number())


def key_row(
    scope: ScopeRow, idempotency: Idempotency, wrote: Sequence[int] | int, now: int
) -> IdempotencyRow:
    """
    Return what is kept of a request under a key: the uids of the entries that it *wrote*.

    Of a request that wrote no entry, and answers with a number, that number is kept.
    """
    return IdempotencyRow(
        scope_id=scope.id,
        key=idempotency.key,
        digest=idempotency.digest,
        result=json.dumps(wrote),
        kept_at=now,
    )


def check_not_repeated(rows: Rows, scope: Scope, idempotency: Idempotency, now: int) -> None:
    """
    Return if nothing was done in *scope* under the key yet.

    Raises:
        RepeatedRequestError: This request was carried out.
        ConflictError: The key was used for another request.
        GoneError: All that the request wrote was erased since.
    """
    row = rows.scope(scope)
    wrote = _wrote_at(rows, _places(row, now) if row else (NO_SCOPE,), idempotency, now)
    if wrote is not None:
        uids = uids_of(wrote)
        found = rows.memories_by_uid(row.id, uids) if row and uids else ()
        msg = f"the request was carried out before under the key {idempotency.name!r}"
        error = RepeatedRequestError(msg)
        error.memories = tuple((each.type, each.key) for each in found)
        error.count = wrote if isinstance(wrote, int) else len(uids)
        raise error


def plan_once(
    rows: Rows, plan: Plan[ResultT], *, scope: Scope, idempotency: Idempotency, now: int
) -> PlannedWrite[ResultT]:
    """
    Carry out *plan*, which changes *scope*, and keep the key with it; see `check_not_repeated`.

    The key is kept also where there was nothing to change: a late repetition finds it all the
    same, and does not undo what others did meanwhile.
    """
    check_not_repeated(rows, scope, idempotency, now)
    planned = plan(rows)
    effect = planned.effect
    changed = [each for each in effect.scopes if each.segments == scope]
    row = changed[0] if changed else opened(rows, scope, now)
    result = planned.result
    wrote: list[int] | int = _uids_of(effect, row)
    if not wrote and isinstance(result, int) and not isinstance(result, bool):
        wrote = result
    kept = replace(
        effect,
        scopes=effect.scopes if changed else [*effect.scopes, row],
        idempotency=[*effect.idempotency, key_row(row, idempotency, wrote, now)],
        old_keys=[*effect.old_keys, (row.id, old_before(now))],
    )
    return PlannedWrite(kept, planned.result)


def _uids_of(effect: Effect, scope: ScopeRow) -> list[int]:
    """Return the entries of a scope that an effect writes, or if there are none, removes."""
    rows: Sequence[MessageRow | MemoryRow | Removal] = (*effect.messages, *effect.memories)
    return [each.uid for each in rows or effect.removed if each.scope_id == scope.id]


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
    wrote = _wrote_at(rows, _places(scope, now), idempotency, now)
    return None if wrote is None else uids_of(wrote)


def uids_of(wrote: list[int] | int) -> list[int]:
    """Return the uids of what is kept of a request; see `key_row`."""
    return [] if isinstance(wrote, int) else wrote


def _wrote_at(
    rows: Rows, places: Sequence[int], idempotency: Idempotency, now: int
) -> list[int] | int | None:
    """Return what a request wrote under a key that may stand in *places*; see `key_row`."""
    kept = rows.idempotency(places, idempotency.key)
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
    wrote: list[int] | int = json.loads(kept.result)
    return wrote


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
        uids = [] if row.result == GONE else uids_of(json.loads(row.result))
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
