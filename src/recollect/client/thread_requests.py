"""Requests of a client about threads and their messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.client.answer_parts import messages_of, page_of
from recollect.client.connection import ServiceConnection, made_key
from recollect.errors import NotFoundError
from recollect.messages.new_message import NewMessageLike, new_message, new_messages
from recollect.records import Message, Page, ScopeLike, Thread
from recollect.wire.threads import message_from_json, new_message_to_json, thread_from_json


class ThreadRequests(ServiceConnection):
    """Append, list, replace and remove messages of threads."""

    async def append(
        self,
        scope: ScopeLike,
        thread: str,
        messages: NewMessageLike | Sequence[NewMessageLike],
        *,
        idempotency_key: str | None = None,
        quiet_s: float | None = None,
        assistant: str | None = None,
    ) -> tuple[Message, ...]:
        """
        Append messages to a thread; on return they are durable in the service.

        Without an *idempotency_key* one is generated, so that the call can be retried. *quiet_s* is
        the pause before formation (see `Debounce`), *assistant* the thread's assistant.
        """
        body = {
            "messages": [new_message_to_json(each) for each in new_messages(messages)],
            "quiet_s": quiet_s,
            "assistant": assistant,
        }
        headers = {"idempotency-key": idempotency_key} if idempotency_key else made_key()
        path = ("threads", thread, "messages")
        answer = await self._write(
            "POST", scope, *path, body=body, headers=headers, is_repeatable=True
        )
        return answer.read(messages_of)

    async def threads(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """See `Recollect.threads`."""
        answer = await self._read(scope, "threads", cursor=cursor, limit=limit)
        return answer.read(page_of("threads", thread_from_json))

    async def thread(self, scope: ScopeLike, thread: str) -> Thread | None:
        """See `Recollect.thread`."""
        answer = await self._found(scope, "threads", thread)
        return None if answer is None else answer.read(thread_from_json)

    async def messages(
        self, scope: ScopeLike, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """See `Recollect.messages`."""
        answer = await self._found(scope, "threads", thread, "messages", after=after, limit=limit)
        found = answer.read(page_of("messages", message_from_json)) if answer else None
        if found is None or found.cursor is None:
            return found or Page(rows=(), cursor=None)
        return Page(rows=found.rows, cursor=str(found.rows[-1].position))

    async def last_messages(
        self,
        scope: ScopeLike,
        thread: str,
        *,
        limit: int,
        before: int | None = None,
        until: datetime | None = None,
    ) -> tuple[Message, ...]:
        """See `Recollect.last_messages`."""
        path = ("threads", thread, "messages")
        moment = None if until is None else until.isoformat()
        answer = await self._found(scope, *path, last=limit, before=before, until=moment)
        return answer.read(messages_of) if answer else ()

    async def remove(self, scope: ScopeLike, thread: str, messages: Sequence[str]) -> int:
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
        scope: ScopeLike,
        thread: str,
        message: NewMessageLike,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """See `Recollect.replace`; without an *idempotency_key* one is generated."""
        new = new_message(message)
        path = ("threads", thread, "messages", new.id or "")
        headers = {"idempotency-key": idempotency_key} if idempotency_key else made_key()
        body = new_message_to_json(new)
        answer = await self._write(
            "PUT", scope, *path, body=body, headers=headers, is_repeatable=True
        )
        return answer.read(message_from_json)
