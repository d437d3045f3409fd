"""`Client`: the methods of `Recollect` over HTTP, with the same records and errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from recollect.client.answer_parts import import_outcome, page_of, receipts_of, results_of
from recollect.client.http_requests import ServiceRequest, error_of, path_of
from recollect.client.memory_requests import MemoryRequests
from recollect.client.thread_requests import ThreadRequests
from recollect.errors import ConflictError
from recollect.observability.health import Health
from recollect.recall.context import Context
from recollect.recall.context_defaults import CONTEXT_TOKENS
from recollect.recall.query import Where
from recollect.recall.results import Recall
from recollect.records import Formation, FormationStatus, JsonObject, Page, ScopeLike, Thread
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.stores.plans.erase_targets import EraseReceipt, EraseTarget
from recollect.wire.administration import (
    Answerer,
    answerer_from_json,
    audit_entry_from_json,
    health_from_json,
    verdict_from_json,
)
from recollect.wire.elements import time_to_json
from recollect.wire.erasures import (
    ErasePreview,
    preview_from_json,
    receipt_from_json,
    target_to_json,
)
from recollect.wire.recalls import context_from_json, recall_from_json, where_to_json
from recollect.wire.record_digests import END, LINES, PROBLEM
from recollect.wire.threads import formation_from_json, thread_from_json
from recollect.worker.formation_result import FormationResult


class Client(ThreadRequests, MemoryRequests):
    """
    A remote memory with the API of `Recollect`; enter it with ``async with``.

    Scopes, also in returned records, are relative to that of the key; ``()`` is the key's own.

    Reads are retried when the connection breaks or the service asks to retry (429, 503). So are
    writes that the service recognises: `append`, `replace`, `put` and `remember` by an idempotency
    key, and `delete` by the expected version. No other write is retried.

    Every method raises the errors of `recollect.errors`: those that the service reports, and
    `StoreUnavailableError` if it cannot be reached.
    """

    async def me(self) -> Answerer:
        """Return the client's key, permissions and scope, and the service's configuration."""
        return (await self._read((), "me")).read(answerer_from_json)

    # Recall

    async def recall(
        self,
        scope: ScopeLike,
        query: str,
        *,
        limit: int = 10,
        budget_tokens: int | None = None,
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
        min_score: float = 0.0,
        stale_s_max: float | None = None,
    ) -> Recall:
        """See `Recollect.recall`; searches one scope, optionally with all scopes below."""
        body = {
            "query": query,
            "limit": limit,
            "budget_tokens": budget_tokens,
            "below": below,
            "asked_at": time_to_json(asked_at),
            "min_score": min_score,
            "stale_s_max": stale_s_max,
            **where_to_json(where or Where()),
            "render": False,
            "whole": True,
        }
        answer = await self._write("POST", scope, "recall", body=body, is_repeatable=True)
        return answer.read(recall_from_json)

    async def context(  # noqa: PLR0913 (each part of a prompt may be chosen)
        self,
        scope: ScopeLike,
        query: str,
        *,
        thread: str | None = None,
        recent: int | Sequence[str] | None = None,
        history_tokens: int = 0,
        budget_tokens: int = CONTEXT_TOKENS,
        min_score: float | None = None,
        profile: bool | Sequence[str] = True,
        instructions: str = "",
        examples: Sequence[str] = (),
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
        stale_s_max: float | None = None,
    ) -> Context:
        """See `Recollect.context`; tokens are counted by the service."""
        body = {
            "query": query,
            "thread": thread,
            "recent": recent,
            "history_tokens": history_tokens,
            "budget_tokens": budget_tokens,
            "min_score": min_score,
            "profile": profile,
            "instructions": instructions,
            "examples": examples,
            "below": below,
            "asked_at": time_to_json(asked_at),
            "stale_s_max": stale_s_max,
            **where_to_json(where or Where()),
            "whole": True,
        }
        answer = await self._write("POST", scope, "context", body=body, is_repeatable=True)
        return answer.read(context_from_json)

    # Formation

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

    # Erasing

    async def preview_erase(self, scope: ScopeLike, target: EraseTarget) -> ErasePreview:
        """Preview an erase; `confirm_erase` carries it out within ten minutes."""
        body = {"target": target_to_json(target)}
        answer = await self._write("POST", scope, "erase", "preview", body=body, is_repeatable=True)
        return answer.read(preview_from_json)

    async def confirm_erase(self, scope: ScopeLike, preview: ErasePreview) -> EraseReceipt:
        """
        Carry out a previewed erase exactly.

        Raises:
            ConflictError: The counts have changed since the preview: preview again.
        """
        answer = await self._write("POST", scope, "erase", body={"confirm": preview.confirm})
        return answer.read(receipt_from_json)

    async def erase(self, scope: ScopeLike, target: EraseTarget) -> EraseReceipt:
        """Preview and confirm in one call; see `Recollect.erase`."""
        return await self.confirm_erase(scope, await self.preview_erase(scope, target))

    async def receipts(
        self, scope: ScopeLike = (), *, below: bool = False, unclean: bool = False
    ) -> list[EraseReceipt]:
        """Return the receipts of erases in a scope through the service, oldest first."""
        answer = await self._read(scope, "erase", "receipts", below=below, unclean=unclean)
        return answer.read(receipts_of)

    # Export and import

    async def export(self, scope: ScopeLike, *, below: bool = False) -> AsyncIterator[JsonObject]:
        """Yield all records of a scope as they arrive; see `Recollect.export`."""
        request = ServiceRequest(
            method="GET", path=path_of("export"), scope=scope, query={"below": below}
        )
        async for line in self._opened().lines(request):
            record = json.loads(line)
            if record["kind"] == PROBLEM:  # the service ended the stream with an error
                raise error_of(record["status"], record, {})
            if record["kind"] != END:
                yield record

    async def import_records(
        self, records: Sequence[JsonObject], *, restore_erased: bool = False
    ) -> int:
        """
        Restore exported records; return how many were stored. Idempotent.

        Data erased there is left out, unless *restore_erased*, which needs the permission
        ``admin``; so is evidence in messages that are neither there nor among the records.

        Raises:
            ConflictError: Records were refused; the others are stored.
        """
        lines = "\n".join(json.dumps(each, ensure_ascii=False) for each in records)
        request = ServiceRequest(
            method="POST",
            path=path_of("import"),
            query={"restore_erased": restore_erased},
            content=lines.encode(),
            headers={"content-type": LINES},
        )
        taken, refused, first = (await self._opened().ask(request)).read(import_outcome)
        if refused:
            raise ConflictError(f"{refused} of {len(records)} records were refused; {first}")
        return taken

    # Operating it

    async def health(self) -> Health:
        """
        Return the health of the service's memory; see `Recollect.health`.

        The tasks are those of the responding process. Needs the permission ``admin``.
        """
        return (await self._read((), "health")).read(health_from_json)

    # Audit

    async def audit(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """See `Recollect.audit`."""
        answer = await self._read(scope, "audit", cursor=cursor, limit=limit)
        return answer.read(page_of("audit", audit_entry_from_json))

    async def verify_audit(
        self, scope: ScopeLike, *, noted: tuple[int, str] | None = None
    ) -> AuditVerdict:
        """See `Recollect.verify_audit`."""
        n, hash_ = noted or (None, None)
        answer = await self._read(scope, "audit", "verify", n=n, hash=hash_)
        return answer.read(verdict_from_json)
