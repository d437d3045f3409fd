"""Requests of a client about the formation of memories."""

from __future__ import annotations

from recollect.client.answer_parts import page_of, results_of
from recollect.client.connection import ServiceConnection
from recollect.client.http_requests import ServiceRequest, path_of
from recollect.records import Formation, FormationStatus, Page, ScopeLike, Thread
from recollect.wire.formations import formation_from_json
from recollect.wire.threads import thread_from_json
from recollect.worker.formation_result import FormationResult


class FormationRequests(ServiceConnection):
    """Form memories, list what waits and what was formed, pause and retry."""

    async def form(self, scope: ScopeLike, thread: str | None = None) -> list[FormationResult]:
        """See `Recollect.form`; results have only *end* and *reason*. See `formations` for more."""
        request = ServiceRequest(
            method="POST",
            path=path_of("form"),
            scope=scope,
            json={"thread": thread},
            is_patient=True,
        )
        return (await self._opened().ask(request)).read(results_of)

    async def pending(
        self,
        scope: ScopeLike | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """See `Recollect.pending`; without a scope, all scopes of the key."""
        all_below = below or scope is None
        answer = await self._read(
            scope or (), "formation", "pending", below=all_below, cursor=cursor, limit=limit
        )
        return answer.read(page_of("pending", thread_from_json))

    async def formations(
        self,
        scope: ScopeLike,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """See `Recollect.formations`; receipts come without prompts and answers."""
        answer = await self._read(scope, "formations", status=status, cursor=cursor, limit=limit)
        return answer.read(page_of("formations", formation_from_json))

    async def formation(self, scope: ScopeLike, formation_id: str) -> Formation | None:
        """See `Recollect.formation`."""
        answer = await self._found(scope, "formations", formation_id)
        return None if answer is None else answer.read(formation_from_json)

    async def pause(self, scope: ScopeLike, thread: str | None = None) -> int:
        """See `Recollect.pause`."""
        answer = await self._write("POST", scope, "formation", "pause", body={"thread": thread})
        return answer.read(lambda fields: int(fields["threads"]))

    async def resume(self, scope: ScopeLike, thread: str | None = None) -> int:
        """See `Recollect.resume`."""
        answer = await self._write("POST", scope, "formation", "resume", body={"thread": thread})
        return answer.read(lambda fields: int(fields["threads"]))

    async def retry(
        self, scope: ScopeLike, thread: str | None = None, *, formation_id: str | None = None
    ) -> int:
        """See `Recollect.retry`."""
        body = {"thread": thread, "formation": formation_id}
        answer = await self._write("POST", scope, "formation", "retry", body=body)
        return answer.read(lambda fields: int(fields["messages"]))
