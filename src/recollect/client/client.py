"""`Client`: the methods of `Recollect` over HTTP, with the same records and errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, Final, Self
from uuid import uuid4

import anyio

from recollect.client.http_requests import (
    RETRIES,
    Asker,
    ServiceRequest,
    ServiceResponse,
    is_repeated,
    opened_web,
    path_of,
)
from recollect.client.problem_errors import error_of
from recollect.client.request_params import target_sent, where_sent
from recollect.client.response_records import (
    Answerer,
    ErasePreview,
    answerer_of,
    audit_entry_of,
    evidence_sent,
    formation_of,
    health_of,
    memory_of,
    message_of,
    message_sent,
    preview_of,
    recall_of,
    receipt_of,
    revision_of,
    thread_of,
    written,
)
from recollect.errors import ConflictError, NotFoundError, StoreClosedError
from recollect.observability.health import Health
from recollect.recall.query import Where
from recollect.recall.results import Recall
from recollect.records import (
    EvidenceMap,
    Formation,
    FormationStatus,
    JsonObject,
    Memory,
    MemoryState,
    Message,
    NewMessage,
    Page,
    Revision,
    Scope,
    Thread,
)
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.stores.plans.erasure import EraseReceipt, EraseTarget
from recollect.wire.record_digests import END

TIMEOUT_S: Final = 60.0
_LINES: Final = "application/x-ndjson"
PROBLEM: Final = "problem"
"""The kind of the last line of an export that the service broke off."""


class Client:
    """
    A remote memory with the API of `Recollect`; enter it with ``async with``.

    Scopes are relative to that of the key, which is ``()``; so are those of returned records.
    Reads, and writes that the service can recognise (`append`, `replace` and `put` by an
    idempotency key, `forget` by the expected version), are retried when the connection breaks or
    the service is busy (429, 503). Other writes are not.

    Every method raises the errors of `recollect.errors`: those that the service reports, and
    `StoreUnavailableError` if it cannot be reached.
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """
        Create a client, without connecting.

        Args:
            url: The address of the service, such as ``https://memory.example.org``.
            key: An API key, if the service requires one.
            timeout_s: The timeout for a connection, and for each part of a response, in seconds.
            retries: Most retries of a request.
            sleep: Waits between two attempts.
        """
        self._url = url.rstrip("/")
        self._key = key
        self._timeout_s = timeout_s
        self._retries = retries
        self._sleep = sleep
        self._asker: Asker | None = None
        self._exit = AsyncExitStack()

    async def __aenter__(self) -> Self:
        web = opened_web(self._url, self._key, self._timeout_s)
        await self._exit.enter_async_context(web)
        self._asker = Asker(web, retries=self._retries, sleep=self._sleep)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._asker = None
        await self._exit.aclose()

    def _opened(self) -> Asker:
        if self._asker is None:
            msg = "this client is not open: use it inside 'async with Client(...)'"
            raise StoreClosedError(msg)
        return self._asker

    async def _read(self, scope: Scope, *parts: str, **query: Any) -> Any:
        request = ServiceRequest(
            method="GET", path=path_of(*parts), scope=scope, query=query, is_repeatable=True
        )
        return (await self._opened().ask(request)).json

    async def _found(self, scope: Scope, *parts: str, **query: Any) -> Any:
        """Return the response; ``None`` for 404."""
        try:
            return await self._read(scope, *parts, **query)
        except NotFoundError:
            return None

    async def _write(
        self,
        method: str,
        scope: Scope,
        *parts: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        is_repeatable: bool = False,
    ) -> ServiceResponse:
        request = ServiceRequest(
            method=method,
            path=path_of(*parts),
            scope=scope,
            json=body,
            headers=headers or {},
            is_repeatable=is_repeatable,
        )
        return await self._opened().ask(request)

    async def me(self) -> Answerer:
        """Return the client's key, permissions and scope, and the service's configuration."""
        return answerer_of(await self._read((), "me"))

    # Keep

    async def append(
        self,
        scope: Scope,
        thread: str,
        messages: Sequence[NewMessage],
        *,
        idempotency_key: str | None = None,
        quiet_s: float | None = None,
        assistant: str | None = None,
    ) -> tuple[Message, ...]:
        """
        Append messages to a thread; on return they are durable in the service.

        Without an *idempotency_key* one is generated, so that the call can be retried. *quiet_s* is
        that of `Debounce`, *assistant* names the thread's assistant.
        """
        body = {
            "messages": [message_sent(each) for each in messages],
            "quiet_s": quiet_s,
            "assistant": assistant,
        }
        headers = {"idempotency-key": idempotency_key} if idempotency_key else _made_key()
        answer = await self._write(
            "POST",
            scope,
            *("threads", thread, "messages"),
            body=body,
            headers=headers,
            is_repeatable=True,
        )
        return tuple(message_of(each) for each in answer.json["messages"])

    async def threads(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """See `Recollect.threads`."""
        told = await self._read(scope, "threads", cursor=cursor, limit=limit)
        return Page(rows=tuple(map(thread_of, told["threads"])), cursor=told["cursor"])

    async def thread(self, scope: Scope, thread: str) -> Thread | None:
        """See `Recollect.thread`."""
        told = await self._found(scope, "threads", thread)
        return None if told is None else thread_of(told)

    async def messages(
        self, scope: Scope, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """See `Recollect.messages`."""
        told = await self._found(scope, "threads", thread, "messages", after=after, limit=limit)
        rows = tuple(map(message_of, told["messages"])) if told else ()
        is_more = bool(told and told["cursor"])
        return Page(rows=rows, cursor=str(rows[-1].position) if is_more else None)

    async def last_messages(
        self, scope: Scope, thread: str, *, limit: int, before: int | None = None
    ) -> tuple[Message, ...]:
        """See `Recollect.last_messages`."""
        path = ("threads", thread, "messages")
        told = await self._found(scope, *path, last=limit, before=before)
        return tuple(map(message_of, told["messages"])) if told else ()

    async def remove(self, scope: Scope, thread: str, messages: Sequence[str]) -> int:
        """Remove messages of a thread, one request each; see `Recollect.remove`."""
        count = 0
        for each in messages:
            try:
                await self._write("DELETE", scope, "threads", thread, "messages", each)
            except NotFoundError:
                continue
            count += 1
        return count

    async def replace(
        self,
        scope: Scope,
        thread: str,
        message: NewMessage,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """See `Recollect.replace`; without an *idempotency_key* one is generated."""
        path = ("threads", thread, "messages", message.id or "")
        headers = {"idempotency-key": idempotency_key} if idempotency_key else _made_key()
        answer = await self._write(
            "PUT", scope, *path, body=message_sent(message), headers=headers, is_repeatable=True
        )
        return message_of(answer.json)

    # Memories

    async def put(
        self,
        scope: Scope,
        type_: str,
        key: str,
        value: JsonObject,
        *,
        expected: int | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        evidence: EvidenceMap | None = None,
    ) -> Memory:
        """
        See `Recollect.put`; retried if the connection breaks.

        If an earlier attempt had succeeded, the current memory is returned.
        """
        times = {"valid_from": valid_from, "valid_until": valid_until, "expires_at": expires_at}
        body = {
            "value": value,
            **{name: written(each) for name, each in times.items()},
            "evidence": evidence_sent(evidence or {}),
        }
        answer = await self._write(
            "PUT",
            scope,
            *("memories", type_, key),
            body=body,
            headers={**_expecting(expected), **_made_key()},
            is_repeatable=True,
        )
        return memory_of(answer.json)

    async def get(self, scope: Scope, type_: str, key: str) -> Memory | None:
        """See `Recollect.get`."""
        told = await self._found(scope, "memories", type_, key)
        return None if told is None else memory_of(told)

    async def memories(
        self,
        scope: Scope,
        *,
        type_: str | None = None,
        state: MemoryState | None = None,
        filter_: JsonObject | None = None,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Memory]:
        """See `Recollect.memories`."""
        told = await self._read(
            scope,
            "memories",
            type=type_,
            state=state,
            filter=None if filter_ is None else json.dumps(filter_),
            valid_at=written(valid_at),
            cursor=cursor,
            limit=limit,
        )
        return Page(rows=tuple(map(memory_of, told["memories"])), cursor=told["cursor"])

    async def history(self, scope: Scope, type_: str, key: str) -> tuple[Revision, ...]:
        """See `Recollect.history`."""
        told = await self._found(scope, "memories", type_, key, "history")
        return tuple(map(revision_of, reversed(told["revisions"]))) if told else ()

    async def forget(
        self, scope: Scope, type_: str, key: str, *, expected: int | None = None
    ) -> bool:
        """Remove a memory with its history, as `DeleteMemory` does; say whether there was one."""
        headers, is_known = _expecting(expected), expected is not None
        path = ("memories", type_, key)
        try:
            await self._write("DELETE", scope, *path, headers=headers, is_repeatable=is_known)
        except NotFoundError as error:
            return is_repeated(error)
        return True

    async def scopes(
        self, *, prefix: Scope = (), cursor: str | None = None, limit: int = 100
    ) -> Page[Scope]:
        """Return the scopes below *prefix* that hold something; it takes no patterns."""
        told = await self._read(prefix, "scopes", below=True, cursor=cursor, limit=limit)
        return Page(rows=tuple(map(tuple, told["scopes"])), cursor=told["cursor"])

    # Recall

    async def recall(
        self,
        scope: Scope,
        query: str,
        *,
        limit: int = 10,
        budget_tokens: int | None = None,
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
    ) -> Recall:
        """See `Recollect.recall`; takes one scope, optionally with all scopes below."""
        body = {
            "query": query,
            "limit": limit,
            "budget_tokens": budget_tokens,
            "below": below,
            "asked_at": written(asked_at),
            **where_sent(where or Where()),
            "render": False,
            "whole": True,
        }
        answer = await self._write("POST", scope, "recall", body=body, is_repeatable=True)
        return recall_of(answer.json, query)

    # Formation

    async def form(self, scope: Scope, thread: str | None = None) -> tuple[Formation, ...]:
        """Form now what waits in a thread, or in a scope; return what that did."""
        request = ServiceRequest(
            method="POST",
            path=path_of("formation", "run"),
            scope=scope,
            json={"thread": thread},
            is_patient=True,
        )
        answer = await self._opened().ask(request)
        return tuple(map(formation_of, answer.json["formations"]))

    async def pending(
        self,
        scope: Scope | None = None,
        *,
        below: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Thread]:
        """See `Recollect.pending`; without a scope, all scopes of the key."""
        all_below = below or scope is None
        told = await self._read(
            scope or (), "formation", below=all_below, cursor=cursor, limit=limit
        )
        return Page(rows=tuple(map(thread_of, told["pending"])), cursor=told["cursor"])

    async def formations(
        self,
        scope: Scope,
        *,
        status: FormationStatus | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Formation]:
        """See `Recollect.formations`; receipts come without prompts and answers."""
        told = await self._read(scope, "formations", status=status, cursor=cursor, limit=limit)
        return Page(rows=tuple(map(formation_of, told["formations"])), cursor=told["cursor"])

    async def formation(self, scope: Scope, formation_id: str) -> Formation | None:
        """See `Recollect.formation`."""
        told = await self._found(scope, "formations", formation_id)
        return None if told is None else formation_of(told)

    async def pause(self, scope: Scope, thread: str | None = None) -> None:
        """Pause formation of a thread, or of all current threads of a scope."""
        await self._write("POST", scope, "formation", "pause", body={"thread": thread})

    async def resume(self, scope: Scope, thread: str | None = None) -> None:
        """Resume formation of a thread, or of all threads of a scope."""
        await self._write("POST", scope, "formation", "resume", body={"thread": thread})

    async def retry(self, scope: Scope, thread: str) -> None:
        """Make a thread's pending messages, and those given up, due at once."""
        await self._write("POST", scope, "formation", "retry", body={"thread": thread})

    async def reject(
        self,
        scope: Scope,
        type_: str,
        key: str,
        *,
        pointer: str = "",
        expected: int | None = None,
    ) -> Memory:
        """Reject a memory, or the value at *pointer* in it, for good; see `Recollect.reject`."""
        answer = await self._write(
            "POST",
            scope,
            *("memories", type_, key, "reject"),
            body={"pointer": pointer},
            headers=_expecting(expected),
        )
        return memory_of(answer.json)

    async def approve(
        self, scope: Scope, type_: str, key: str, *, expected: int | None = None
    ) -> Memory:
        """
        Put a quarantined memory in force, exactly as proposed; see `Recollect.approve`.

        Without *expected* the current version is approved.
        """
        if expected is None:
            expected = memory_of(await self._read(scope, "memories", type_, key)).version
        body = {"decision": "approve", "version": expected}
        answer = await self._write("POST", scope, "review", type_, key, body=body)
        return memory_of(answer.json)

    # Forget

    async def preview_erase(self, scope: Scope, target: EraseTarget) -> ErasePreview:
        """Return what an erase would remove; `confirm_erase` carries it out within ten minutes."""
        body = {"target": target_sent(target)}
        answer = await self._write("POST", scope, "erase", "preview", body=body, is_repeatable=True)
        return preview_of(answer.json)

    async def confirm_erase(self, scope: Scope, preview: ErasePreview) -> EraseReceipt:
        """
        Erase exactly what was previewed.

        Raises:
            ConflictError: It would take something else by now: preview it again.
        """
        answer = await self._write("POST", scope, "erase", body={"confirm": preview.confirm})
        return receipt_of(answer.json)

    async def erase(self, scope: Scope, target: EraseTarget) -> EraseReceipt:
        """Preview and confirm in one; see `Recollect.erase`."""
        return await self.confirm_erase(scope, await self.preview_erase(scope, target))

    async def receipts(
        self, scope: Scope = (), *, below: bool = False, unclean: bool = False
    ) -> list[EraseReceipt]:
        """Return the receipts of what was erased in a scope through the service, by time."""
        told = await self._read(scope, "erase", "receipts", below=below, unclean=unclean)
        return [receipt_of(each) for each in reversed(told["receipts"])]

    # Export and import

    async def export(self, scope: Scope, *, below: bool = False) -> AsyncIterator[JsonObject]:
        """Yield everything that a scope holds as records, as they come; see `Recollect.export`."""
        request = ServiceRequest(
            method="GET", path=path_of("export"), scope=scope, query={"below": below}
        )
        async for line in self._opened().lines(request):
            record = json.loads(line)
            if record["kind"] == PROBLEM:  # the service broke it off
                raise error_of(record["status"], record, {})
            if record["kind"] != END:
                yield record

    async def restore(self, records: Sequence[JsonObject], *, restore_erased: bool = False) -> int:
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
            headers={"content-type": _LINES},
        )
        told = (await self._opened().ask(request)).json
        if told["refused"]:
            first = told["refused"][0]
            msg = (
                f"{told['refused_count']} of {len(records)} records were refused; "
                f"record {first['line']}: {first['reason']}"
            )
            raise ConflictError(msg)
        return int(told["taken"])

    # Operating it

    async def health(self) -> Health:
        """
        Return the health of the service's memory; see `Recollect.health`.

        The tasks are those of the responding process. Needs the permission ``admin``.
        """
        return health_of(await self._read((), "health"))

    # Audit

    async def audit(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """See `Recollect.audit`."""
        told = await self._read(scope, "audit", cursor=cursor, limit=limit)
        return Page(rows=tuple(map(audit_entry_of, told["audit"])), cursor=told["cursor"])

    async def audit_verified(
        self, scope: Scope, *, noted: tuple[int, str] | None = None
    ) -> AuditVerdict:
        """See `Recollect.audit_verified`."""
        n, hash_ = noted or (None, None)
        told = await self._read(scope, "audit", "verify", n=n, hash=hash_)
        told.pop("ok")
        return AuditVerdict(**told)


def _made_key() -> dict[str, str]:
    """Return the header by which the service knows all attempts of one call for one request."""
    return {"idempotency-key": uuid4().hex}


def _expecting(expected: int | None) -> dict[str, str]:
    """Return the header that names the version that the caller read."""
    if expected is None:
        return {}
    return {"if-match": f'"{expected}"'} if expected else {"if-none-match": "*"}
