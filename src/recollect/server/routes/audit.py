"""The audit: who changed what in a scope, and whether that record is whole."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from recollect.errors import UsageError
from recollect.server.http.scope_access import LIMIT, Administering, CursorParameter, Limit
from recollect.server.schemas.elements import JsonAnswer
from recollect.wire.audits import audit_entry_to_json, verdict_to_json

router: Final = APIRouter(prefix="/v1/audit", tags=["audit"])
_AUDIT: Final = "audit"
_HASH: Final = r"^[0-9a-f]{64}$"


@router.get("", summary="Who changed what")
async def audit(
    reach: Administering, cursor: CursorParameter = None, limit: Limit = LIMIT
) -> JsonAnswer:
    """
    Return the audited changes of exactly this scope, the newest first; each is a row of a chain.

    Of what was erased no name is left. *description* says in words what *subject* and *names* list.
    """
    inner = reach.after(_AUDIT, cursor)
    page = await reach.memory.audit(
        reach.scope, cursor=inner if isinstance(inner, str) else None, limit=limit
    )
    return {
        "audit": [audit_entry_to_json(each) for each in page.rows],
        "cursor": reach.cursor(_AUDIT, page.cursor),
    }


@router.get("/verify", summary="Whether the audit is whole")
async def verify(
    reach: Administering,
    n: Annotated[
        int | None, Query(ge=1, le=2**53, description="The number of a row that was noted before.")
    ] = None,
    hash: Annotated[str | None, Query(pattern=_HASH, description="The hash of that row.")] = None,
) -> JsonAnswer:
    """
    Follow the scope's chain, and say where it first is not as it was written.

    Keep *rows* and *head* elsewhere: given back as *n* and *hash*, they show as well whether the
    chain was rewritten as a whole.
    """
    if (n is None) != (hash is None):
        msg = "a row that was noted is told by both n and hash: give both, or neither"
        raise UsageError(msg)
    noted = None if n is None or hash is None else (n, hash)
    return verdict_to_json(await reach.memory.verify_audit(reach.scope, noted=noted))
