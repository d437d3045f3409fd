"""Keys: who administers a scope gives keys to it and below it, and takes them back."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Response

from recollect.errors import NotFoundError
from recollect.server.authorization import Key, check_bound, check_giving
from recollect.server.http.path_names import NamedRoute
from recollect.server.http.scope_access import Administering, Reach
from recollect.server.schemas.requests import KeyRequest, RotationRequest
from recollect.wire.administration import key_to_json

router: Final = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=NamedRoute)


@router.get("", summary="The keys of a scope and below it")
async def keys(reach: Administering) -> dict[str, Any]:
    """Return the keys that are bound to the scope or below it, oldest first."""
    found = await reach.service.keys.all(reach.scope)
    return {"keys": [key_to_json(each, reach.relative) for each in found], "cursor": None}


@router.post("", summary="Make a key", status_code=201)
async def create(reach: Administering, asked: KeyRequest) -> dict[str, Any]:
    """Make a key that may do at most what the caller's may; it is shown in this answer alone."""
    bound = check_bound((*reach.scope, *asked.scope))
    permissions = check_giving(reach.principal, asked.permissions)
    key, secret = await reach.keys.create(
        asked.name, bound, permissions, expires_at=asked.expires_at
    )
    return key_to_json(key, reach.relative) | {"key": secret}


async def _administered(reach: Reach, id_: str) -> Key:
    """
    Return a key of the scope that is meant, or of one below it.

    Raises:
        NotFoundError: There is none, or it belongs to somebody else, which is not told apart.
        ForbiddenError: It may do what the caller's key may not.
    """
    found = await reach.service.keys.key(id_)
    if found.scope[: len(reach.scope)] != reach.scope:
        msg = f"there is no key {id_!r}: GET /v1/keys lists those that there are"
        raise NotFoundError(msg)
    check_giving(reach.principal, found.permissions)
    return found


@router.delete("/{id}", summary="Revoke a key", status_code=204)
async def revoke(reach: Administering, id: str) -> Response:
    """Let a key be good no longer, at once."""
    await _administered(reach, id)
    await reach.keys.revoke(id)
    return Response(status_code=204)


@router.post("/{id}/rotate", summary="Give a key another secret")
async def rotate(
    reach: Administering, id: str, asked: RotationRequest | None = None
) -> dict[str, Any]:
    """Give a key another secret, shown in this answer alone; the old one is good a while longer."""
    await _administered(reach, id)
    overlap_s = asked.overlap_s if asked else 0.0
    key, secret = await reach.keys.rotate(id, overlap_s=overlap_s)
    return key_to_json(key, reach.relative) | {"key": secret}
