"""A thread as the message history of another framework, with its items stored unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import recollect
from recollect.errors import UsageError
from recollect.memory.facade import Recollect
from recollect.records import Json, Message, NewMessage, Role, Scope
from recollect.stores.validation import PAGE_ROWS_MAX, TEXT_CHARACTERS_MAX, check_id, readable
from recollect.sync.object_home import AnyRecollect, Home

PAGE: Final = 100
"""Messages per read of a thread."""


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

    def __init__(self, memory: AnyRecollect, scope: Scope, thread: str, *, kind: str) -> None:
        """
        Create a view of *thread*; *kind* names the framework, and so the items' format.

        Over a `SyncRecollect` it works on any event loop, over a `Recollect` on the memory's own.

        Raises:
            UsageError: *thread* is no text, as when scope and thread were swapped.
        """
        self._home = Home(memory)
        self._scope = scope
        self._thread = check_id(thread, "a thread id, the argument after the scope,")
        self._kind = kind

    async def append(self, items: Sequence[tuple[Role, str, Json]]) -> None:
        """
        Append items with the role and text of each, atomically.

        Raises:
            UsageError: An item is not JSON.
        """
        messages = [
            NewMessage(role=role, text=text, metadata={self._kind: item})
            for role, text, item in items
        ]
        if messages:
            await self._home.visit(
                lambda memory: memory.append(self._scope, self._thread, messages)
            )

    async def read(self, limit: int | None = None, *, after: int = 0) -> list[tuple[Message, Json]]:
        """
        Return the newest *limit* messages, all by default, oldest first, each with its item.

        Without a limit, *after* selects the messages after a position.
        """
        if limit is not None and limit <= 0:
            return []
        found = await self._home.visit(lambda memory: self._messages(memory, limit, after))
        return [(each, each.metadata.get(self._kind)) for each in found]

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
        Return the context of *query* for a prompt, with a guide; ``""`` if there is none.

        *shown* are the texts that the model is sent anyway: only these need no repeating.
        """
        recent = [readable(each)[:TEXT_CHARACTERS_MAX] for each in shown]
        found = await self._home.visit(
            lambda memory: memory.context(
                self._scope,
                query,
                thread=self._thread,
                recent=recent,
                budget_tokens=budget_tokens,
            )
        )
        text = str(found)
        return f"{recollect.context_guide()}\n\n{text}" if text else ""

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


def check_limit(limit: object) -> int | None:
    """
    Return a number of newest messages.

    Raises:
        UsageError: It is neither a whole number from 0 nor ``None``.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise UsageError(f"limit is {limit!r}: give a whole number from 0, or None for all")
    return limit
