"""The messages of threads: append, list, replace and remove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.memory.health import LOG
from recollect.memory.runtime import MemoryRuntime
from recollect.memory.thread_state import ThreadStateMethods, state_writes
from recollect.messages.new_message import NewMessageLike, new_message, new_messages
from recollect.observability.spans import observed
from recollect.records import Attachment, Json, JsonObject, Message, Page, ScopeLike, Thread, Write
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import check_list, check_mapping, check_scope


class MessageMethods(ThreadStateMethods):
    """The part of `Recollect` that stores threads and their messages."""

    _runtime: MemoryRuntime

    async def append(
        self,
        scope: ScopeLike,
        thread: str,
        messages: NewMessageLike | Sequence[NewMessageLike],
        *,
        idempotency_key: str | None = None,
        debounce: Debounce | None = None,
        settings: JsonObject | None = None,
        state: Mapping[str, Json] | None = None,
        attachments: Sequence[Attachment] = (),
        writes: Sequence[Write] = (),
    ) -> tuple[Message, ...]:
        """
        Append messages to a thread; on return they are durable and found by their words.

        *messages* is one or several: a `NewMessage`, a text (the user's), or a dict such as
        ``{"role": "assistant", "content": "Hello!"}``, or a message of LangChain's or of a
        provider's SDK; see `recollect.messages.new_message`.

        *settings* are the thread's formation settings from now on (`recollect.formation.config`),
        such as its assistant; *debounce* defaults to theirs. *state*, *attachments* and *writes*
        are stored in the same transaction, as by `set_state`, `attach` and `apply`. See
        `Store.append`.
        """
        scope = check_scope(scope)
        with observed("append", "upsert_memory", LOG, scope, thread) as seen:
            named = {} if settings is None else check_mapping(settings, "a thread's settings")
            default = await self._runtime.debounce_of(named, scope)
            attaching = await self._attaching(scope, thread, attachments)
            beside = [*state_writes(thread, state or {}), *attaching, *check_list(writes, "write")]
            kept = await self.store.append(
                scope,
                thread,
                new_messages(messages),
                idempotency_key=idempotency_key,
                debounce=debounce or default,
                settings=settings,
                writes=beside,
            )
            seen.count(len(kept))
        self._runtime.wrote(scope)
        return kept

    async def threads(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """Return the threads of a scope, by id; see `Store.threads`."""
        return await self.store.threads(check_scope(scope), cursor=cursor, limit=limit)

    async def thread(self, scope: ScopeLike, thread: str) -> Thread | None:
        """Return a thread, ``None`` if it does not exist."""
        return await self.store.thread(check_scope(scope), thread)

    async def messages(
        self, scope: ScopeLike, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """Return messages of a thread by position, starting after position *after*."""
        return await self.store.messages(check_scope(scope), thread, after=after, limit=limit)

    async def last_messages(
        self,
        scope: ScopeLike,
        thread: str,
        *,
        limit: int,
        before: int | None = None,
        until: datetime | None = None,
    ) -> tuple[Message, ...]:
        """
        Return the newest messages of a thread, optionally before a position, oldest first.

        *until* leaves out messages said later, whenever they were stored.
        """
        return await self.store.last_messages(
            check_scope(scope), thread, limit=limit, before=before, until=until
        )

    async def remove(self, scope: ScopeLike, thread: str, messages: Sequence[str]) -> int:
        """Remove messages of a thread by id; see `Store.remove`."""
        return await self.store.remove(check_scope(scope), thread, messages)

    async def keep(self, scope: ScopeLike, thread: str, first: int, last: int | None = None) -> int:
        """Remove all messages of a thread outside positions *first* to *last* (inclusive)."""
        return await self.store.keep(check_scope(scope), thread, first, last)

    async def replace(
        self,
        scope: ScopeLike,
        thread: str,
        message: NewMessageLike,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """Replace the message that has the same id as *message*; see `Store.replace`."""
        new, scope = new_message(message), check_scope(scope)
        replaced = await self.store.replace(scope, thread, new, idempotency_key=idempotency_key)
        self._runtime.wrote(scope)
        return replaced
