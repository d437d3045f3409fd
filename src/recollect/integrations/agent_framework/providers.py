"""Providers for Microsoft Agent Framework: a session's history, and recalled context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from agent_framework import (
    AgentSession,
    ContextProvider,
    FunctionTool,
    HistoryProvider,
    Message,
    SessionContext,
    SupportsAgentRun,
)

from recollect.agents.tools import MemoryTools
from recollect.errors import UsageError
from recollect.integrations.agent_framework.function_tools import memory_tools
from recollect.integrations.thread_items import ThreadItems, check_budget, check_limit
from recollect.records import Json, Role, ScopeLike
from recollect.records import Message as KeptMessage
from recollect.stores.validation import check_scope
from recollect.sync.object_home import AnyRecollect, Home

KIND: Final = "agent_framework"
BUDGET_TOKENS: Final = 1_000
NEWEST: Final = 100
"""The newest messages of a thread among which to look for a message appended before."""
NO_SESSION: Final = "agent_framework"
"""The thread of runs without a session."""


class RecollectHistoryProvider(HistoryProvider):
    """
    A ``context_providers=`` of an agent that stores each session in the thread of its id.

    Messages are stored unchanged; a failed run stores none. The thread is formed and recalled like
    any other.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        *,
        limit: int | None = None,
        source_id: str = "recollect_history",
        **options: Any,
    ) -> None:
        """
        Create a provider over an open memory.

        Args:
            limit: The number of newest messages to send; ``None`` for all.
            options: Options of `HistoryProvider`, such as *load_messages* and *store_outputs*.
        """
        super().__init__(source_id, **options)
        self._memory = Home(memory).memory  # raises for anything else
        self._scope = check_scope(scope)
        self._limit = check_limit(limit)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: object
    ) -> list[Message]:
        """Return the messages of a session, oldest first."""
        return [_message_of(*each) for each in await self._items(session_id).read(self._limit)]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: object,
    ) -> None:
        """
        Append the messages that the memory tools have not appended already, atomically.

        Raises:
            UsageError: A message holds something that JSON cannot express.
        """
        await _append_new(self._items(session_id), messages)

    def _items(self, session_id: str | None) -> ThreadItems:
        return ThreadItems(self._memory, self._scope, session_id or NO_SESSION, kind=KIND)


class RecollectContextProvider(ContextProvider):
    """
    A ``context_providers=`` of an agent that adds the context of each run's input, and stores runs.

    A run is appended to the thread of its session; beside a `RecollectHistoryProvider`, which
    stores it as well, only by that one. With *tools* it offers the four memory tools as well.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        source_id: str = "recollect",
        tools: bool = False,
        keep: bool = True,
    ) -> None:
        """
        Create a provider over an open memory.

        Args:
            budget_tokens: The most tokens to add to the instructions.
            keep: Whether to store the messages of each run; a failed run stores none.
            tools: Offer the memory tools. A run's input is then appended before their first call,
                so that the call can quote it, and stays if the run fails.
        """
        super().__init__(source_id)
        self._memory = Home(memory).memory  # raises for anything else
        self._has_tools = tools
        if not isinstance(keep, bool):
            raise UsageError(f"keep is {keep!r}: give True or False")
        self._keeps = keep
        self._scope = check_scope(scope)
        self._budget_tokens = check_budget(budget_tokens)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add the context of the user's last message to the instructions, and the tools."""
        asked = [each.text for each in context.input_messages if each.role == "user"]
        thread = context.session_id or NO_SESSION
        # Providers that come later in the agent's list may add messages that are not seen here.
        shown = [each.text for each in context.get_messages(include_input=True)]
        found = await self._items(thread).context(
            (asked or [""])[-1], self._budget_tokens, shown=shown
        )
        if found:
            context.extend_instructions(self.source_id, found)
        if self._has_tools:
            context.extend_tools(self.source_id, self._tools_of(thread, context.input_messages))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Append the messages of the run, unless a `RecollectHistoryProvider` does."""
        beside = getattr(agent, "context_providers", ())
        if self._keeps and not any(isinstance(each, RecollectHistoryProvider) for each in beside):
            answered = context.response.messages if context.response else []
            said = [*context.input_messages, *answered]
            await _append_new(self._items(context.session_id or NO_SESSION), said)

    def _tools_of(self, thread: str, said: Sequence[Message]) -> list[FunctionTool]:
        # The id later tells `_append_new` that the message has been appended already.
        for each in said:
            each.message_id = each.message_id or uuid4().hex

        async def before() -> None:
            await _append_new(self._items(thread), said)

        return memory_tools(MemoryTools(self._memory, self._scope, thread), before=before)

    def _items(self, thread: str) -> ThreadItems:
        return ThreadItems(self._memory, self._scope, thread, kind=KIND)


async def _append_new(items: ThreadItems, messages: Sequence[Message]) -> None:
    """Append the messages whose ids are not among the thread's newest items."""
    kept = (item for _, item in await items.read(NEWEST))
    known = {item.get("message_id") for item in kept if isinstance(item, Mapping)} - {None}
    await items.append([_item_of(each) for each in messages if each.message_id not in known])


_ROLES: Final[Mapping[str, Role]] = {"user": "user", "system": "system", "tool": "tool"}


def _item_of(message: Message) -> tuple[Role, str, Json]:
    """Return role, text and JSON of a message; the text of a tool message is its result."""
    returned = (getattr(each, "result", None) for each in message.contents)
    text = message.text or "\n".join(each for each in returned if isinstance(each, str))
    return _ROLES.get(message.role, "assistant"), text, message.to_dict()


def _message_of(message: KeptMessage, kept: Json) -> Message:
    """Return the stored message, or a new one for a message that another framework stored."""
    if isinstance(kept, Mapping):
        return Message.from_dict(dict(kept))
    role = "user" if message.role == "tool" else message.role
    return Message(role, [message.text])
