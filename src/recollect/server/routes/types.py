"""Memory types of a scope: list, validate and replace them."""

from __future__ import annotations

from typing import Final

from recollect.errors import UsageError
from recollect.formation.scope_types import problem_of, scope_settings
from recollect.formation.types import load_types
from recollect.formation.types.memory_type import MemoryType, check_types_change
from recollect.memory.facade import Recollect
from recollect.records import Json
from recollect.server.http.query_params import strict_router
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import IdempotencyKey, Reading, Writing
from recollect.server.http.type_registry import keep_types, own_settings, types_of
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.requests import TypesRequest
from recollect.server.undo import Changing
from recollect.side_records import SCOPE_SETTINGS, DeleteSideRecord

router: Final = strict_router(prefix="/v1", tags=["types"])


@router.get("/types", summary="List the memory types of a scope")
async def types(reach: Reading) -> JsonAnswer:
    """Return the scope's own types, else those of the nearest scope above, else the service's."""
    found = await types_of(reach)
    store, depth = reach.memory.store, len(reach.principal.scope)
    nearest = await scope_settings(store, reach.scope, depth=depth)
    return {
        "types": [_type_json(each) for each in found],
        "own": bool(await own_settings(reach)),
        "problem": None if nearest is None else problem_of(nearest),
    }


def _type_json(type_: MemoryType) -> JsonAnswer:
    return dict(type_.as_config())


@router.put("/types", summary="Replace the memory types of a scope")
async def put_types(
    reach: Writing,
    change: Changing,
    asked: TypesRequest,
    idempotency_key: IdempotencyKey = None,
) -> JsonAnswer:
    """Set the types of the scope, and of scopes below without their own; [] resets them."""

    async def act(memory: Recollect) -> JsonAnswer:
        noted = change.noting(memory)
        if not asked.types:
            write = DeleteSideRecord(kind=SCOPE_SETTINGS, key=SCOPE_SETTINGS)
            await noted.store.apply(reach.scope, [write])
        else:
            new = load_types(asked.types)
            check_types_change(await types_of(reach), new)
            await keep_types(noted, reach.scope, new)
        return await again()

    async def again(_: object = None) -> JsonAnswer:
        found = await types_of(reach)
        own = bool(await own_settings(reach))
        return change.with_token(
            {"types": [_type_json(each) for each in found], "own": own, "problem": None}
        )

    return await RepeatableRequest(reach, idempotency_key, "types", asked.types).answer(act, again)


@router.post("/types/check", summary="Validate memory types")
async def check_types(reach: Reading, asked: TypesRequest) -> JsonAnswer:
    """Validate types without changing anything, and return the errors of each."""
    complaints: list[dict[str, Json]] = []
    good: list[MemoryType] = []
    for place, each in enumerate(asked.types):
        try:
            good += load_types([each])
        except UsageError as error:
            complaints.append(_complaint(str(error), place))
    if not complaints:
        try:
            load_types(asked.types)
            check_types_change(await types_of(reach), good)
        except UsageError as error:
            complaints.append(_complaint(str(error), 0))
    return {"ok": not complaints, "complaints": complaints}


def _complaint(sentence: str, place: int) -> dict[str, Json]:
    """Split the error of a type into its path and its message."""
    path, colon, message = sentence.partition(": ")
    if not colon or " " in path:
        return {"path": f"types[{place}]", "message": sentence}
    return {"path": path.replace("types[0]", f"types[{place}]", 1), "message": message}
