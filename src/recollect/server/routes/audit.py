"""The audit: read the changes of a scope, and verify their hash chain."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query

from recollect.errors import UsageError
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import LIMIT, Administering, CursorParameter, Limit
from recollect.server.schemas.elements import JsonAnswer
from recollect.wire.administration import audit_entry_to_json, verdict_to_json

router: Final = strict_router(prefix="/v1/audit", tags=["audit"])
_AUDIT: Final = "audit"
_HASH: Final = r"^[0-9a-f]{64}$"


@router.get("", summary="List audited changes")
async def audit(
    reach: Administering, cursor: CursorParameter = None, limit: Limit = LIMIT
) -> JsonAnswer:
    """
    Return the audited changes of exactly this scope, newest first; each is a row of a hash chain.

    The names of erased records are removed. *description* puts *subject* and *names* in words.
    """
    inner = reach.after(_AUDIT, cursor)
    page = await reach.memory.audit(
        reach.scope, cursor=inner if isinstance(inner, str) else None, limit=limit
    )
    return {
        "audit": [audit_entry_to_json(each) for each in page.rows],
        "cursor": reach.cursor(_AUDIT, page.cursor),
    }


@router.get("/verify", summary="Verify the audit")
async def verify(
    reach: Administering,
    n: Annotated[
        int | None, Query(ge=1, le=2**53, description="The number of a row recorded earlier.")
    ] = None,
    hash: Annotated[str | None, Query(pattern=_HASH, description="The hash of that row.")] = None,
) -> JsonAnswer:
    """
    Verify the scope's hash chain, and return the first row that was altered.

    Store *rows* and *head* elsewhere, and pass them back as *n* and *hash*: they also reveal a
    chain that was rewritten as a whole.
    """
    if (n is None) != (hash is None):
        raise UsageError("a recorded row has both n and hash: give both, or neither")
    noted = None if n is None or hash is None else (n, hash)
    return verdict_to_json(await reach.memory.verify_audit(reach.scope, noted=noted))
