"""The first step of LangGraph's and mem0's routes: authorize the caller at its key's scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Path, Request
from starlette.exceptions import HTTPException

from recollect.server.authorization import Permission, granted
from recollect.server.http.scope_access import Reach, reach_at

UNPROCESSABLE: Final = 422
BAD_REQUEST: Final = 400


def reach_of_key(needs: Permission) -> Callable[[Request], Awaitable[Reach]]:
    """Return a dependency that provides a route's `Reach` at the key's scope."""

    # A coroutine, because FastAPI runs a plain function in a thread.
    async def reach(request: Request) -> Reach:
        return reach_at(request, needs)

    return reach


Reading = Annotated[Reach, Depends(reach_of_key("read"))]
Writing = Annotated[Reach, Depends(reach_of_key("write"))]


def reach_below(reach: Reach, segments: Sequence[str], needs: Permission) -> Reach:
    """
    Return the reach of the scope that *segments* name below the key's own.

    Raises:
        ForbiddenError: The key lacks the permission.
        LimitError: The scope has too many segments.
    """
    return replace(reach, scope=granted(reach.principal, needs, segments), stamp=None)


def check_uuid(id_: str, what: str) -> str:
    """
    Return an id in the canonical form of a UUID, as LangGraph's server does.

    Raises:
        HTTPException: It is not a UUID; 422.
    """
    try:
        return str(UUID(id_))
    except ValueError:
        raise HTTPException(
            UNPROCESSABLE, f"Invalid {what} ID {id_[:100]!r}: must be a UUID"
        ) from None


def _thread_id(thread_id: Annotated[str, Path(max_length=100)]) -> str:
    return check_uuid(thread_id, "thread")


def _run_id(run_id: Annotated[str, Path(max_length=100)]) -> str:
    return check_uuid(run_id, "run")


ThreadId = Annotated[str, Depends(_thread_id)]
RunId = Annotated[str, Depends(_run_id)]
