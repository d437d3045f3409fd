"""API keys: administrators of a scope create, rotate and revoke keys to it and below it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Depends, Request, Response

from recollect.errors import GoneError, NotFoundError
from recollect.memory.facade import Recollect
from recollect.server.api_keys import ID_CHARACTERS, Key, SecretSource, random_secret
from recollect.server.authorization import check_bound, check_giving
from recollect.server.http.authentication import key_in
from recollect.server.http.query_params import NamedRoute, strict_router
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import Administering, IdempotencyKey, Reach
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import KeyRequest, RotationRequest
from recollect.side_records import KEYS_SCOPE
from recollect.text.coded_text import with_code


async def caller_key(request: Request) -> str:
    """Return the API key of a request, empty when authentication is off."""
    return "" if request.app.state.service.everybody else key_in(request.headers)


CallerKey = Annotated[str, Depends(caller_key)]
router: Final = strict_router(prefix="/v1/keys", tags=["keys"], route_class=NamedRoute)


@router.get("", summary="List the keys of a scope and below it")
async def keys(reach: Administering) -> JsonAnswer:
    """Return the keys that are bound to the scope or below it, oldest first."""
    found = await reach.service.keys.all(reach.scope)
    return {"keys": [each.public_fields(reach.relative) for each in found], "cursor": None}


@router.post("", summary="Create a key", status_code=201)
async def create(
    reach: Administering,
    asked: KeyRequest,
    caller: CallerKey,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """Create a key with at most the caller's permissions; only this response contains it."""
    bound = check_bound((*reach.scope, *asked.scope))
    permissions = check_giving(reach.principal, asked.permissions)
    source = _source(reach, caller, idempotency_key, "create")

    async def act(memory: Recollect) -> JsonAnswer:
        key, secret = await reach.keys_in(memory, source).create(
            asked.name, bound, permissions, expires_at=asked.expires_at
        )
        return key.public_fields(reach.relative) | {"key": secret}

    async def again(_: object) -> JsonAnswer:
        return await _repeat_secret(reach, source("id", "", 0).hex()[:ID_CHARACTERS], source)

    keyed = RepeatableRequest(reach, idempotency_key, "create", asked.model_dump(mode="json"))
    return await keyed.answer(act, again, scope=KEYS_SCOPE)


def _source(reach: Reach, caller: str, idempotency_key: str | None, operation: str) -> SecretSource:
    """
    Return the source of a new key's secret.

    Under an idempotency key the response must be repeatable, although the store keeps only a
    digest. The secret is then derived from the service's signing secret and the caller's own key,
    so that neither of the two is enough to recreate it.
    """
    if idempotency_key is None:
        return random_secret
    purpose = ("api key", operation, caller, *reach.scope, idempotency_key)

    def derived(use: str, id_: str, version: int) -> bytes:
        return reach.service.signer.derived(*purpose, use, id_, str(version))

    return derived


async def _repeat_secret(reach: Reach, id_: str, source: SecretSource) -> JsonAnswer:
    """
    Return a key that was created or rotated before, with its secret.

    Raises:
        GoneError: The key was revoked, or has another secret by now.
    """
    try:
        key = await _administered(reach, id_)
    except NotFoundError as error:
        msg = with_code(
            "key_revoked_since",
            f"the key {id_!r} was revoked since: create another under a new idempotency key",
            id=id_,
        )
        raise GoneError(msg) from error
    secret = reach.keys_in(reach.memory, source).recreate_secret(key)
    return key.public_fields(reach.relative) | {"key": secret}


async def _administered(reach: Reach, id_: str) -> Key:
    """
    Return a key of the requested scope, or of one below.

    Raises:
        NotFoundError: The key does not exist, or belongs to another tenant; the two are
            indistinguishable.
        ForbiddenError: The key has permissions that the caller's key lacks.
    """
    found = await reach.service.keys.key(id_)
    # The same error as for an unknown id, so that ids of other tenants cannot be probed.
    if found.scope[: len(reach.scope)] != reach.scope:
        raise NotFoundError(f"there is no key {id_!r}: GET /v1/keys lists the existing keys")
    check_giving(reach.principal, found.permissions)
    return found


@router.delete("/{id}", summary="Revoke a key", status_code=204)
async def revoke(reach: Administering, id: str, idempotency_key: IdempotencyKey = None) -> Response:
    """Revoke a key at once."""

    async def act(memory: Recollect) -> Response:
        await _administered(reach, id)
        await reach.keys_in(memory).revoke(id)
        return await again()

    async def again(_: object = None) -> Response:
        return Response(status_code=204)

    keyed = RepeatableRequest(reach, idempotency_key, "revoke", id)
    return await keyed.answer(act, again, scope=KEYS_SCOPE)


@router.post("/{id}/rotate", summary="Rotate a key")
async def rotate(
    reach: Administering,
    id: str,
    caller: CallerKey,
    asked: RotationRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """Give a key a new secret, shown only in this response; the old one stays valid for a while."""
    overlap_s = asked.overlap_s if asked else 0.0
    source = _source(reach, caller, idempotency_key, "rotate")

    async def act(memory: Recollect) -> JsonAnswer:
        await _administered(reach, id)
        key, secret = await reach.keys_in(memory, source).rotate(id, overlap_s=overlap_s)
        return key.public_fields(reach.relative) | {"key": secret}

    async def again(_: object) -> JsonAnswer:
        return await _repeat_secret(reach, id, source)

    keyed = RepeatableRequest(reach, idempotency_key, "rotate", id, overlap_s)
    return await keyed.answer(act, again, scope=KEYS_SCOPE)
