"""The contract, threads and messages: append, read, remove, keep, replace."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import final

from recollect.records import JsonObject, Message, NewMessage, Page, Scope, SideWrite, Thread, Write
from recollect.stores.contract.backend import Transactor
from recollect.stores.pages import page_of
from recollect.stores.plans.formation import Debounce, check_debounce
from recollect.stores.plans.memories import prepare_write
from recollect.stores.plans.pending_messages import check_settings
from recollect.stores.plans.positions import messages_after, messages_before
from recollect.stores.plans.threads import (
    Append,
    Replacement,
    ThreadChanges,
    message_of,
    plan_append,
    plan_keeping,
    plan_removal,
    plan_replacement,
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
)


class ThreadStore(Transactor):
    """Threads of a scope, and the messages in them."""

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
        Append *messages* to a thread, and signal its formation, in one transaction.

        Scope and thread begin to exist with their first message. A message whose id is
        already there with the same content is not stored again.

        Args:
            messages: At most ``MESSAGES_MAX``, in the order in which they were said.
            idempotency_key: A repeated request under the same key changes nothing. A key is
                good for ``KEY_S`` after its request. Of a request of which a part was erased, a
                retry returns what is left.
            debounce: How long formation waits; the defaults of `Debounce` if ``None``.
            settings: How the thread is to be formed from now on; ``None`` leaves it as it is.
            writes: Memories written in the same transaction, at most ``WRITES_MAX``. They make
                the thread exist even without a message.

        Returns:
            The messages as stored, one per message given, in that order.

        Raises:
            ConflictError: An id, or the key, was used before for something else.
            GoneError: All that was kept under the key was erased since; nothing is stored.
            VersionConflictError: A write expected another version.
            UsageError: A message is not allowed; nothing of the batch is stored.
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
        beside = [each for each in (settled, changes) if each]
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
            return [thread_of(each, scope) for each in found]

        return page_of(await self._read(query), limit, lambda thread: thread.id)

    @final
    async def thread(self, scope: Scope, thread: str) -> Thread | None:
        """Return a thread, ``None`` if it does not exist."""
        scope, thread = check_scope(scope), check_id(thread, "a thread id")

        def query(rows: Rows) -> Thread | None:
            row = rows.scope(scope)
            found = rows.thread(row.id, thread) if row else None
            return thread_of(found, scope) if found else None

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
        """Return messages of a thread by position, after the position *after*; or none."""
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
        self, scope: Scope, thread: str, *, limit: int, before: int | None = None
    ) -> tuple[Message, ...]:
        """Return the newest *limit* messages of a thread (before a position), oldest first."""
        scope, limit = check_scope(scope), check_page(limit)
        thread = check_id(thread, "a thread id")
        if before is not None:
            check_position(before, "before")

        def query(rows: Rows) -> tuple[Message, ...]:
            row = rows.scope(scope)
            found = rows.thread(row.id, thread) if row else None
            if row is None or found is None:
                return ()
            newest = messages_before(rows, found, before, limit)
            return tuple(message_of(each, thread) for each in reversed(newest))

        return await self._read(query)

    @final
    async def known_messages(
        self, scope: Scope, names: Sequence[tuple[str, str]]
    ) -> frozenset[tuple[str, str]]:
        """Return those of the names (thread, id) of messages of a scope that are there."""
        found = await self.messages_named(scope, names)
        return frozenset((each.thread, each.id) for each in found)

    @final
    async def messages_named(
        self, scope: Scope, names: Sequence[tuple[str, str]]
    ) -> tuple[Message, ...]:
        """Return those of the messages (thread, id) of a scope that are there, in any order."""
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
        Return what changed in a thread since the change *seq* of its scope's *epoch*.

        An erase, or a thread that does not exist, resets the reader. A removed message shows
        only in the count: a reader with another number starts over.
        """
        scope, thread = check_scope(scope), check_id(thread, "a thread id")
        seen = check_position(seq, "seq"), check_position(epoch, "epoch")
        return await self._read(partial(read_changes, scope=scope, thread=thread, seen=seen))

    @final
    async def remove(self, scope: Scope, thread: str, messages: Sequence[str]) -> int:
        """
        Remove messages by id; the others keep their positions.

        Memories that rest on them stay, with the words they quote; `erase` takes both.

        Returns:
            How many there were.
        """
        scope, thread = check_scope(scope), check_id(thread, "a thread id")
        ids = check_ids(messages, "a message id")
        plan = partial(plan_removal, scope=scope, thread=thread, ids=ids)
        return await self._change("remove", scope, plan)

    @final
    async def keep(self, scope: Scope, thread: str, first: int, last: int | None = None) -> int:
        """Remove all messages of a thread outside the positions *first* to *last*; say how many."""
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
        Put *message* in the place of the one with its id; it keeps its position.

        Args:
            idempotency_key: A repeated request under the same key changes nothing, and returns
                the message as it is now. A key is good for ``KEY_S`` after its request.

        Raises:
            NotFoundError: There is no message with that id.
            ConflictError: The key was used before for another request.
            GoneError: What was replaced under the key was erased since; nothing is stored.
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
