"""A thread as the message history of another framework, with its items stored unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.integrations.storable_items import ItemForm, storable_message, storable_text
from recollect.memory.facade import Recollect
from recollect.recall.context import guide_for
from recollect.recall.query import query_in
from recollect.records import Json, Message, NewMessage, Role, ScopeLike
from recollect.stores.json_pointers import is_list
from recollect.stores.rows import MICROSECONDS
from recollect.stores.validation import PAGE_ROWS_MAX, check_id, check_scope, check_time
from recollect.sync.object_home import AnyRecollect, Home

Item: TypeAlias = tuple[Role, str, Json]
"""Role, text and JSON of a framework's message."""
PAGE: Final = 100
"""Messages per read of a thread."""
RETRIED_S: Final = 600
"""Within this time, the same words after a run without an answer are the same attempt."""
_OF_A_RUN: Final = frozenset({"timestamp", "run_id", "conversation_id", "message_id"})
"""Fields of items that are new in each attempt."""


def check_count(number: object, name: str) -> int:
    """
    Return *number*, the argument called *name*.

    Raises:
        UsageError: It is no whole number from 1.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise UsageError(f"{name} is {number!r}: give a whole number from 1")
    return number


def check_budget(budget_tokens: object) -> int:
    """
    Return *budget_tokens*, the most tokens of a context.

    Raises:
        UsageError: It is no whole number from 1.
    """
    return check_count(budget_tokens, "budget_tokens")


class ThreadItems:
    """
    The items (messages) of a framework in one thread of a memory.

    An item is stored unchanged, as JSON, beside the text by which its message is recalled and
    formed. A message that another program added to the thread has no item.
    """

    def __init__(self, memory: AnyRecollect, scope: ScopeLike, thread: str, form: ItemForm) -> None:
        """
        Create a view of *thread*, whose items have the *form* of a framework.

        Over a `SyncRecollect` it works on any event loop, over a `Recollect` on the memory's own.

        Raises:
            UsageError: An argument is invalid, as when two of them were swapped.
        """
        self._home = Home(memory)
        self._scope = check_scope(scope)
        self._thread = check_id(thread, "a thread id, the argument after the scope,")
        self._form = form

    async def append(self, items: Sequence[Item]) -> None:
        """
        Append items with the role and text of each, atomically.

        What no store accepts is replaced, as `storable_message` does it.

        Raises:
            UsageError: An item is not JSON.
        """
        await self._append([storable_message(*each, self._form) for each in items])

    async def append_input(self, items: Sequence[Item]) -> bool:
        """
        Append what a run begins with, before its model is asked, and return True.

        Do nothing if the thread ends with the same, said within ``RETRIED_S``: a run that failed is
        tried again.

        Raises:
            UsageError: An item is not JSON.
        """
        messages = [storable_message(*each, self._form) for each in items]
        if await self._home.visit(lambda memory: self._ends_with(memory, messages)):
            return False
        await self._append(messages)
        return True

    async def _append(self, messages: Sequence[NewMessage]) -> None:
        if messages:
            await self._home.visit(
                lambda memory: memory.append(self._scope, self._thread, messages)
            )

    async def _ends_with(self, memory: Recollect, messages: Sequence[NewMessage]) -> bool:
        if not messages:
            return True
        newest = await memory.last_messages(self._scope, self._thread, limit=len(messages))
        oldest = memory.store.now() - RETRIED_S * MICROSECONDS
        return len(newest) == len(messages) and all(
            self._is_same(kept, new) and check_time(kept.time, "a time") >= oldest
            for kept, new in zip(newest, messages, strict=True)
        )

    def _is_same(self, kept: Message, new: NewMessage) -> bool:
        """Return True if a message says the same, with the same pictures and files."""
        items = [each.metadata.get(self._form.kind) for each in (kept, new)]
        # Another program, or another framework, stores no item: then the words alone count.
        is_same_item = None in items or _given_in(items[0]) == _given_in(items[1])
        return (kept.role, kept.text) == (new.role, new.text) and is_same_item

    async def read(self, limit: int | None = None, *, after: int = 0) -> list[tuple[Message, Json]]:
        """
        Return the newest *limit* messages, all by default, oldest first, each with its item.

        Without a limit, *after* selects the messages after a position.
        """
        if limit is not None and limit <= 0:
            return []
        found = await self._home.visit(lambda memory: self._messages(memory, limit, after))
        return [(each, each.metadata.get(self._form.kind)) for each in found]

    async def pop(self) -> tuple[Message, Json] | None:
        """Remove the newest message, and return it with its item; ``None`` if there is none."""
        newest = await self.read(1)
        if not newest:
            return None
        await self.remove(newest)
        return newest[0]

    async def remove(self, items: Sequence[tuple[Message, Json]]) -> None:
        """Remove messages, given with their items; memories formed from them stay."""
        ids = [message.id for message, _ in items]
        if ids:
            await self._home.visit(lambda memory: memory.remove(self._scope, self._thread, ids))

    async def clear(self) -> None:
        """Remove all messages; memories formed from them stay."""
        while page := await self.read(PAGE):
            await self.remove(page)

    async def context(self, query: str, budget_tokens: int, *, shown: Iterable[str]) -> str:
        """
        Return the context of *query* for a prompt, below a guide in its language; ``""`` for none.

        *shown* are the texts that the model is sent anyway: only these need no repeating.
        """
        recent = [storable_text(each) for each in shown]
        found = await self._home.visit(
            lambda memory: memory.context(
                self._scope,
                query_in(query),
                thread=self._thread,
                recent=recent,
                budget_tokens=budget_tokens,
            )
        )
        text = str(found)
        return f"{guide_for(query)}\n\n{text}" if text else ""

    async def _messages(
        self, memory: Recollect, limit: int | None, after: int
    ) -> Sequence[Message]:
        if limit is not None and limit <= PAGE_ROWS_MAX:
            return await memory.last_messages(self._scope, self._thread, limit=limit)
        found: list[Message] = []
        while True:
            page = await memory.messages(self._scope, self._thread, after=after, limit=PAGE)
            found += page.rows
            if len(page.rows) < PAGE:
                return found[-(limit or 0) :]
            after = page.rows[-1].position


def _given_in(item: Json) -> Json:
    """Return what the user gave in an item: all of it but the fields of the attempt."""
    if isinstance(item, Mapping):
        return {name: _given_in(each) for name, each in item.items() if name not in _OF_A_RUN}
    return [_given_in(each) for each in item] if is_list(item) else item


def check_limit(limit: object) -> int | None:
    """
    Return a number of newest messages.

    Raises:
        UsageError: It is neither a whole number from 0 nor ``None``.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise UsageError(f"limit is {limit!r}: give a whole number from 0, or None for all")
    return limit
