"""Store contract: append, read, remove and replace messages of threads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import final

from recollect.records import JsonObject, Message, NewMessage, Page, Scope, Thread, Write
from recollect.side_records import SideWrite
from recollect.stores.contract.backend import Transactor
from recollect.stores.pages import page_of
from recollect.stores.plans.due_times import Debounce, check_debounce
from recollect.stores.plans.pending_messages import check_settings
from recollect.stores.plans.positions import messages_after, messages_before, messages_until
from recollect.stores.plans.prepared_writes import prepare_write, request_beside
from recollect.stores.plans.thread_edits import (
    Replacement,
    plan_keeping,
    plan_removal,
    plan_replacement,
)
from recollect.stores.plans.threads import (
    Append,
    ThreadChanges,
    message_of,
    plan_append,
    prepare_message,
    read_changes,
    thread_of,
)
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import (
    MESSAGES_MAX,
    WRITES_MAX,
    check_count,
    check_id,
    check_ids,
    check_list,
    check_new_thread,
    check_page,
    check_position,
    check_scope,
    check_time,
)


class ThreadStore(Transactor):
    """The threads of a scope and their messages."""

    @final
    async def append(
        self,
        scope: Scope,
        thread: str,
        messages: Sequence[NewMessage],
        *,
        idempotency_key: str | None = None,
        debounce: Debounce | None = None,
        settings: JsonObject | None = None,
        writes: Sequence[Write | SideWrite] = (),
    ) -> tuple[Message, ...]:
        """
        Append *messages* to a thread, and schedule its formation, in one transaction.

        The scope and the thread are created with their first message. A message already stored with
        the same id and content is not stored again.

        Args:
            messages: At most ``MESSAGES_MAX``, in the order in which they were said.
            idempotency_key: Repeating a request with the same key changes nothing. A key is
                remembered for ``KEY_S`` seconds. If part of the result was erased, a retry returns
                the rest.
            debounce: How long formation waits; the defaults of `Debounce` if ``None``.
            settings: How to form the thread from now on; ``None`` leaves this unchanged.
            writes: Memory writes of the same transaction, at most ``WRITES_MAX``. They create the
                thread even without a message.

        Returns:
            The stored messages, one per given message, in order.

        Raises:
            ConflictError: An id or the key was used for different content.
            GoneError: Everything stored under the key has been erased since; nothing is stored.
            VersionConflictError: A write expected another version.
            UsageError: A message is invalid; nothing is stored.
        """
        scope, thread = check_scope(scope), check_new_thread(thread)
        messages, writes = check_list(messages, "message"), check_list(writes, "write")
        check_count(len(messages), MESSAGES_MAX, "MESSAGES_MAX", "messages in one call")
        now = self.now()
        prepared = [prepare_message(each, now, self._ids) for each in messages]
        given = [
            (each.id, found.digest.hex()) for each, found in zip(messages, prepared, strict=True)
        ]
        settled = None if settings is None else check_settings(settings)
        check_count(len(writes), WRITES_MAX, "WRITES_MAX", "writes in one call")
        changes = [prepare_write(each) for each in writes]
        beside = request_beside(settings, changes)
        request = Append(
            scope=scope,
            thread=thread,
            messages=prepared,
            idempotency=await self._idempotency(
                idempotency_key, scope, "append", thread, given, *beside
            ),
            debounce=check_debounce(debounce),
            now=now,
            settings=settled,
            writes=changes,
        )
        plan = partial(plan_append, request=request, ids=self._ids)
        return await self._change("append", scope, plan)

    @final
    async def threads(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """Return the threads of a scope, by id."""
        scope, limit = check_scope(scope), check_page(limit)
        if cursor is not None:
            check_id(cursor, "a cursor of this listing")

        def query(rows: Rows) -> list[Thread]:
            row = rows.scope(scope)
            found = rows.threads(row.id, cursor, limit + 1) if row else []
            return [thread_of(rows, each, scope) for each in found]

        return page_of(await self._read(query), limit, lambda thread: thread.id)

    @final
    async def thread(self, scope: Scope, thread: str) -> Thread | None:
        """Return a thread, ``None`` if it does not exist."""
        scope, thread = check_scope(scope), check_id(thread, "a thread id")

        def query(rows: Rows) -> Thread | None:
            row = rows.scope(scope)
            found = rows.thread(row.id, thread) if row else None
            return thread_of(rows, found, scope) if found else None

        return await self._read(query)

    @final
    async def thread_numbers(self, scope: Scope, threads: Sequence[str]) -> frozenset[int]:
        """Return the numbers by which the feed names those of *threads* that exist."""
        scope, ids = check_scope(scope), check_ids(threads, "a thread id")

        def query(rows: Rows) -> frozenset[int]:
            row = rows.scope(scope)
            found = [rows.thread(row.id, each) for each in ids] if row else []
            return frozenset(each.number for each in found if each)

        return await self._read(query)

    @final
    async def messages(
        self, scope: Scope, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """Return messages of a thread by position, after position *after*."""
        scope, limit = check_scope(scope), check_page(limit)
        thread = check_id(thread, "a thread id")
        after = check_position(after, "after")

        def query(rows: Rows) -> list[Message]:
            row = rows.scope(scope)
            found = rows.thread(row.id, thread) if row else None
            if row is None or found is None:
                return []
            page = messages_after(rows, found, after, limit + 1)
            return [message_of(each, thread) for each in page]

        return page_of(await self._read(query), limit, lambda message: str(message.position))

    @final
    async def last_messages(
        self,
        scope: Scope,
        thread: str,
        *,
        limit: int,
        before: int | None = None,
        until: datetime | None = None,
    ) -> tuple[Message, ...]:
        """
        Return the newest *limit* messages, optionally before a position, oldest first.

        With *until*, messages said later are left out, whatever order they were stored in.
        """
        scope, limit = check_scope(scope), check_page(limit)
        thread = check_id(thread, "a thread id")
        if before is not None:
            check_position(before, "before")
        moment = None if until is None else check_time(until, "until")

        def query(rows: Rows) -> tuple[Message, ...]:
            row = rows.scope(scope)
            found = rows.thread(row.id, thread) if row else None
            if row is None or found is None:
                return ()
            if moment is None:
                newest = messages_before(rows, found, before, limit)
            else:
                newest = messages_until(rows, found, before, limit, until=moment)
            return tuple(message_of(each, thread) for each in reversed(newest))

        return await self._read(query)

    @final
    async def known_messages(
        self, scope: Scope, names: Sequence[tuple[str, str]]
    ) -> frozenset[tuple[str, str]]:
        """Return the names (thread, id) of the messages that exist."""
        found = await self.messages_named(scope, names)
        return frozenset((each.thread, each.id) for each in found)

    @final
    async def messages_named(
        self, scope: Scope, names: Sequence[tuple[str, str]]
    ) -> tuple[Message, ...]:
        """Return the messages that exist among (thread, id) names, in any order."""
        scope, wanted = check_scope(scope), _by_thread(names)

        def query(rows: Rows) -> tuple[Message, ...]:
            row = rows.scope(scope)
            if row is None:
                return ()
            return tuple(
                message_of(each, thread)
                for thread, ids in wanted.items()
                if (found := rows.thread(row.id, thread))
                for each in rows.messages_by_id(row.id, found.number, ids)
            )

        return await self._read(query)

    @final
    async def thread_changes(
        self, scope: Scope, thread: str, *, seq: int = 0, epoch: int = 0
    ) -> ThreadChanges:
        """
        Return the changes of a thread since change *seq* of its scope's *epoch*.

        An erase, or a missing thread, resets the reader. Removals show only in the count: a reader
        whose count differs has to start over.
        """
        scope, thread = check_scope(scope), check_id(thread, "a thread id")
        seen = check_position(seq, "seq"), check_position(epoch, "epoch")
        return await self._read(partial(read_changes, scope=scope, thread=thread, seen=seen))

    @final
    async def remove(self, scope: Scope, thread: str, messages: Sequence[str]) -> int:
        """
        Remove messages by id; the others keep their positions.

        Memories derived from them stay, including their quotes; `erase` removes both.

        Returns:
            How many messages were removed.
        """
        scope, thread = check_scope(scope), check_id(thread, "a thread id")
        ids = check_ids(messages, "a message id")
        plan = partial(plan_removal, scope=scope, thread=thread, ids=ids)
        return await self._change("remove", scope, plan)

    @final
    async def keep(self, scope: Scope, thread: str, first: int, last: int | None = None) -> int:
        """Remove all messages outside positions *first* to *last*; return how many."""
        scope, thread = check_scope(scope), check_id(thread, "a thread id")
        check_position(first, "first")
        if last is not None:
            check_position(last, "last")
        plan = partial(plan_keeping, scope=scope, thread=thread, first=first, last=last)
        return await self._change("keep", scope, plan)

    @final
    async def replace(
        self,
        scope: Scope,
        thread: str,
        message: NewMessage,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """
        Replace the message that has the id of *message*; it keeps its position.

        Args:
            idempotency_key: A repeated request changes nothing and returns the current message. A
                key is remembered for ``KEY_S`` seconds.

        Raises:
            NotFoundError: No message has that id.
            ConflictError: The key was used for a different request.
            GoneError: The message stored under the key was erased since; nothing is stored.
        """
        scope, now = check_scope(scope), self.now()
        thread = check_id(thread, "a thread id")
        prepared = prepare_message(message, now, self._ids)
        check_id(message.id, "the id of the message to replace")
        key = await self._idempotency(
            idempotency_key, scope, "replace", thread, message.id, prepared.digest.hex()
        )
        request = Replacement(
            scope=scope, thread=thread, message=prepared, idempotency=key, now=now
        )
        return await self._change("replace", scope, partial(plan_replacement, request=request))


def _by_thread(messages: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for thread, message in messages:
        ids = found.setdefault(check_id(thread, "a thread id"), [])
        ids.append(check_id(message, "a message id"))
    return found
