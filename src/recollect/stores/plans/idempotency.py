"""
Idempotency keys: recognise a repeated request, and answer it without writing again.

Only a digest of a key, made with a secret of the store, is stored, with the uids of the entries
written. So a key outlives an erase of its scope, and reveals nothing about the erased content.
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
from recollect.stores.unit_of_work import (
    Effect,
    Plan,
    PlannedWrite,
    Removal,
    ResultT,
    Rows,
    changed_effect,
)
from recollect.stores.validation import check_id
from recollect.text.coded_text import with_code

GONE: Final = '"gone"'
"""Result stored for a request once everything that it wrote has been erased, as JSON text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's key *name* for a request, with the digests of both that are stored."""

    name: str
    key: str
    digest: bytes


def idempotency_of(
    secret: bytes, key: str, scope: Scope, *request: object, owner: Scope = ()
) -> Idempotency:
    """
    Return the key with a digest of the *request* made under it in *scope*.

    *owner* separates the keys of callers that share a scope.
    """
    name = check_id(key, "an idempotency key")
    return Idempotency(
        name=name,
        key=keyed_digest(secret, "key", scope, name, *owner).hex(),
        digest=keyed_digest(secret, "request", request_digest(scope, *request).hex()),
    )


def open_scope(rows: Rows, scope: Scope, now: int) -> ScopeRow:
    """Return the row of *scope*, a new one if it does not exist."""
    found = rows.scope(scope)
    if found:
        return found
    return ScopeRow(id=rows.new_number(), segments=scope, created_at=now, epoch=rows.new_number())


def with_key(
    effect: Effect,
    scope: ScopeRow,
    idempotency: Idempotency | None,
    wrote: Sequence[int] | int,
    now: int,
) -> Effect:
    """
    Return *effect*, which also stores the request's key and drops the keys that have expired.

    *wrote* lists the uids of the entries that the request wrote. A request that wrote none and
    returns a number has that number instead.
    """
    if idempotency is None:
        return effect
    row = IdempotencyRow(
        scope_id=scope.id,
        key=idempotency.key,
        digest=idempotency.digest,
        result=json.dumps(wrote),
        kept_at=now,
    )
    return changed_effect(
        effect,
        idempotency=[*effect.idempotency, row],
        old_keys=[*effect.old_keys, (scope.id, old_before(now))],
    )


def check_not_repeated(rows: Rows, scope: Scope, idempotency: Idempotency, now: int) -> None:
    """
    Check that no request was carried out in *scope* under the key yet.

    Raises:
        RepeatedRequestError: This request was carried out before.
        ConflictError: The key was used for another request.
        GoneError: Everything that the request wrote has been erased since.
    """
    row = rows.scope(scope)
    wrote = _wrote_at(rows, _places(row, now) if row else (NO_SCOPE,), idempotency, now)
    if wrote is not None:
        uids = uids_of(wrote)
        found = rows.memories_by_uid(row.id, uids) if row and uids else ()
        msg = f"the request was carried out before under the idempotency key {idempotency.name!r}"
        error = RepeatedRequestError(msg)
        error.memories = tuple((each.type, each.key) for each in found)
        error.count = wrote if isinstance(wrote, int) else len(uids)
        raise error


def plan_once(
    rows: Rows, plan: Plan[ResultT], *, scope: Scope, idempotency: Idempotency, now: int
) -> PlannedWrite[ResultT]:
    """
    Run *plan*, which changes *scope*, and store the key with it; see `check_not_repeated`.

    The key is stored even if there was nothing to change, so that a late repetition does not
    override what others have written meanwhile.
    """
    check_not_repeated(rows, scope, idempotency, now)
    planned = plan(rows)
    effect = planned.effect
    changed = [each for each in effect.scopes if each.segments == scope]
    row = changed[0] if changed else open_scope(rows, scope, now)
    result = planned.result
    wrote: list[int] | int = _uids_of(effect, row)
    if not wrote and isinstance(result, int) and not isinstance(result, bool):
        wrote = result
    if not changed:
        effect = replace(effect, scopes=[*effect.scopes, row])
    return PlannedWrite(with_key(effect, row, idempotency, wrote, now), planned.result)


def _uids_of(effect: Effect, scope: ScopeRow) -> list[int]:
    """Return the uids of the entries that an effect writes in a scope, or else removes."""
    rows: Sequence[MessageRow | MemoryRow | Removal] = (*effect.messages, *effect.memories)
    return [each.uid for each in rows or effect.removed if each.scope_id == scope.id]


def uids_under_key(
    rows: Rows, scope: ScopeRow, idempotency: Idempotency | None, now: int
) -> list[int] | None:
    """
    Return the uids that the same request wrote under this key in the last ``KEY_S`` seconds.

    ``None`` if it was not made, or has no key.

    Raises:
        ConflictError: The key was used for a different request.
        GoneError: Everything the request wrote has been erased since.
    """
    if idempotency is None:
        return None
    wrote = _wrote_at(rows, _places(scope, now), idempotency, now)
    return None if wrote is None else uids_of(wrote)


def uids_of(wrote: list[int] | int) -> list[int]:
    """Return the uids in the stored result of a request; see `with_key`."""
    return [] if isinstance(wrote, int) else wrote


def _wrote_at(
    rows: Rows, places: Sequence[int], idempotency: Idempotency, now: int
) -> list[int] | int | None:
    """Return the result stored under a key in the scopes *places*, if any; see `with_key`."""
    kept = rows.idempotency(places, idempotency.key)
    if kept is None or is_old(kept, now):
        return None
    if kept.digest != idempotency.digest:
        msg = with_code(
            "request_reused",
            f"the idempotency key {idempotency.name!r} was used for another request: use a new key",
        )
        raise ConflictError(msg)
    if kept.result == GONE:
        raise GoneError(
            with_code(
                "request_erased",
                f"everything written under the idempotency key {idempotency.name!r} was erased "
                "since, so nothing is written again: use a new key for a new request",
            )
        )
    wrote: list[int] | int = json.loads(kept.result)
    return wrote


def _places(scope: ScopeRow, now: int) -> tuple[int, ...]:
    # Keys of an erased scope stay at NO_SCOPE for ``KEY_S``: an older scope has none there.
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
    """Return the keys of a scope that is dropped, marked as gone and moved outside of any scope."""
    return [
        replace(row, scope_id=NO_SCOPE, result=GONE, kept_at=now)
        for row in rows.keys_of(scope_id)
        if not is_old(row, now)
    ]
