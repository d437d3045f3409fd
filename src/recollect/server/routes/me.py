"""The caller's own key, the service's features, and the scopes below."""

from __future__ import annotations

from typing import Final

from recollect import __version__
from recollect.records import JsonObject
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import (
    LIMIT,
    LIMIT_MAX,
    Below,
    CursorParameter,
    Limit,
    Reading,
)
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.settings import Settings
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import JSON_DEPTH_MAX
from recollect.wire.administration import Answerer, answerer_to_json

router: Final = strict_router(prefix="/v1", tags=["service"])
_SCOPES: Final = "scopes"


@router.get("/me", summary="The caller's key, and the service's features")
async def me(reach: Reading) -> JsonAnswer:
    """Return the key's permissions and scope, and the service's configuration."""
    service = reach.service
    settings = service.settings
    default = service.assistants.default
    model = service.model.identity if service.model else default.model
    debounce: Debounce = default.debounce
    answerer = Answerer(
        prefix=reach.principal.scope,
        name=reach.principal.name,
        permissions=reach.principal.permissions,
        version=__version__,
        model=model,
        embedder=service.memory.embedder or "none",
        limits=_limits(settings),
    )
    return {
        **answerer_to_json(answerer),
        "scope": reach.relative(reach.scope),
        "assistants": sorted(service.assistants.named),
        "quiet_s": debounce.quiet_s,
        "store": service.store_id,
        "temporary": service.is_temporary,
    }


def _limits(settings: Settings) -> JsonObject:
    return {
        "body_bytes_max": settings.body_bytes_max,
        "import_bytes_max": settings.import_bytes_max,
        "json_depth_max": JSON_DEPTH_MAX,
        "page_rows_max": LIMIT_MAX,
        "requests_a_second": settings.requests_a_second,
        "burst": settings.burst,
        "messages_a_day": settings.messages_a_day,
        "memories_a_day": settings.memories_a_day,
        "bytes_a_day": settings.bytes_a_day,
    }


@router.get("/scopes", summary="Scopes that hold something")
async def scopes(
    reach: Reading, below: Below = False, cursor: CursorParameter = None, limit: Limit = LIMIT
) -> JsonAnswer:
    """Return the requested scope, with *below* those below too, if they hold something."""
    if not below:  # in their order, a scope is before those below it
        first = (await reach.memory.scopes(prefix=reach.scope, limit=1)).rows
        held = [reach.relative(each) for each in first if each == reach.scope]
        return {"scopes": held, "cursor": None}
    reach.may("read", below=True)
    inner = reach.after(_SCOPES, cursor)
    page = await reach.memory.scopes(
        prefix=reach.scope, cursor=inner if isinstance(inner, str) else None, limit=limit
    )
    return {
        "scopes": [reach.relative(each) for each in page.rows],
        "cursor": reach.cursor(_SCOPES, page.cursor),
    }
