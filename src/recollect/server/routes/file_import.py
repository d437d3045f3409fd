"""Import of files of other programs, uploaded in any form that `recollect import` reads."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import PurePath
from typing import Annotated, Final

from fastapi import Query, Request
from starlette.responses import StreamingResponse

from recollect.deferred_imports import load_modules
from recollect.server.http.event_streams import event_stream
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Name, Writing
from recollect.stores.validation import ID_CHARACTERS_MAX
from recollect.text.time_zones import read_zone

router: Final = strict_router(prefix="/v1", tags=["transfer"])


@router.post(
    "/import/file",
    summary="Import a file of another program",
    response_model=None,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
            },
        }
    },
)
async def import_file(
    reach: Writing,
    request: Request,
    name: Annotated[
        str,
        Query(
            min_length=1,
            max_length=ID_CHARACTERS_MAX,
            description="The name of the file, used for a chat without a name.",
            examples=["chats.jsonl"],
        ),
    ],
    timezone: Annotated[
        str, Query(max_length=100, description="The time zone of times without one.")
    ] = "UTC",
    thread: Name | None = None,
    restore_erased: Annotated[
        bool,
        Query(description="Also import data erased here; this needs the permission `admin`."),
    ] = False,
) -> StreamingResponse:
    """
    Import a file, plain or compressed, in any form that `recollect import` reads; idempotent.

    The response is a stream of events: `progress` with the rows so far, then `done` with the
    report, or `error`. Rows stored before an error stay. Send exports to `/v1/import`.
    """
    if restore_erased:
        reach.may("admin")
    zone = read_zone(timezone)
    await load_modules("recollect.server.uploaded_files")
    from recollect.server.uploaded_files import import_rows, receive_upload

    with ExitStack() as stack:
        # Only the last part of the name, which a browser may send with folders.
        source = await receive_upload(request, PurePath(name).name or "upload", stack)
        events = await import_rows(
            reach, source, zone=zone, thread=thread, restore_erased=restore_erased
        )
        answer = event_stream(reach, events)
        stack.pop_all()  # the stream closes the file when it ends
    return answer
