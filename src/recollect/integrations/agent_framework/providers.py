"""Providers for Microsoft Agent Framework: a session's history, and recalled context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from itertools import takewhile
from typing import Any, Final, TypeAlias
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
from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.integrations.storable_items import ItemForm
from recollect.integrations.thread_items import Item, ThreadItems, check_budget, check_limit
from recollect.ports import Tool
from recollect.records import Json, Role, Scope, ScopeLike
from recollect.records import Message as KeptMessage
from recollect.stores.validation import check_scope
from recollect.sync.object_home import AnyRecollect, Home
from recollect.text.scope_paths import written_scope

Place: TypeAlias = tuple[AnyRecollect, Scope]
BUDGET_TOKENS: Final = 1_000
NO_SESSION: Final = "agent_framework"
"""The thread of runs without a session."""
APPENDED: Final = "recollect_appended"
"""The key of a provider's state with the ids of what a run began with."""
NEWEST: Final = 100
"""The newest messages of a thread among which to look for a message appended before."""
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "system": "system", "tool": "tool"}


class RecollectHistoryProvider(HistoryProvider):
    """
    A ``context_providers=`` of an agent that stores each session in the thread of its id.

    Messages are stored unchanged: the input of a run before the model is asked, so that it stays if
    the run fails, the rest when it ends. The thread is formed and recalled like any other.
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
        self.place: Place = Home(memory).memory, check_scope(scope)  # raise for anything else
        self._limit = check_limit(limit)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """
        Load the messages of the session, then append the input.

        Raises:
            UsageError: Another provider of the agent loads the same messages.
        """
        _check_single(agent, self)
        await super().before_run(agent=agent, session=session, context=context, state=state)
        if self.store_inputs:
            await append_input(self._items(context.session_id), context.input_messages, state)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: object
    ) -> list[Message]:
        """Return the messages of a session, oldest first."""
        return [message_of(*each) for each in await self._items(session_id).read(self._limit)]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: object,
    ) -> None:
        """
        Append the messages that have not been appended already, atomically.

        Raises:
            UsageError: A message holds something that JSON cannot express.
        """
        await append_new(self._items(session_id), messages, state)

    def _items(self, session_id: str | None) -> ThreadItems:
        return ThreadItems(*self.place, session_id or NO_SESSION, FORM)


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
            keep: Whether to store the messages of each run: the input before the model is asked,
                the rest when the run ends.
            tools: Offer the memory tools.
        """
        super().__init__(source_id)
        self.place: Place = Home(memory).memory, check_scope(scope)  # raise for anything else
        self._has_tools = tools
        for name, given in (("keep", keep), ("tools", tools)):
            if not isinstance(given, bool):
                raise UsageError(f"{name} is {given!r}: give True or False")
        self._keeps = keep
        self._budget_tokens = check_budget(budget_tokens)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """
        Add the context of the user's last message to the instructions, and the tools.

        Raises:
            UsageError: A provider beside it is of an unrelated scope, or adds the same context.
        """
        self._check_beside(agent)
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
        if self._keeps_runs_of(agent):
            await append_input(self._items(thread), context.input_messages, state)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Append the messages of the run, unless a `RecollectHistoryProvider` does."""
        if self._keeps_runs_of(agent):
            answered = context.response.messages if context.response else []
            said = [*context.input_messages, *answered]
            await append_new(self._items(context.session_id or NO_SESSION), said, state)

    def _keeps_runs_of(self, agent: SupportsAgentRun) -> bool:
        return self._keeps and not any(_histories_of(agent, self.place[0]))

    def _check_beside(self, agent: SupportsAgentRun) -> None:
        _check_single(agent, self)
        own = self.place[1]
        for each in getattr(agent, "context_providers", ()):
            if not isinstance(each, (RecollectHistoryProvider, RecollectContextProvider)):
                continue
            scope = each.place[1]
            is_history = isinstance(each, RecollectHistoryProvider)
            # A context of a scope above, such as a team's, tells what all below it may know.
            is_below = scope[: len(own)] == own or (not is_history and own[: len(scope)] == scope)
            if each.place[0] is self.place[0] and not is_below:
                raise UsageError(
                    f"the agent has providers of {written_scope(scope)} and "
                    f"{written_scope(own)}, and its model would be "
                    "told what both said: give them the same scope, or a context provider one "
                    "above the others'"
                )

    def _tools_of(self, thread: str, said: Sequence[Message]) -> list[FunctionTool]:
        async def before() -> None:
            # With `keep=False` they are not in the thread yet, where the call quotes them.
            await append_new(self._items(thread), said)

        return memory_tools(MemoryTools(*self.place, thread), before=before)

    def _items(self, thread: str) -> ThreadItems:
        return ThreadItems(*self.place, thread, FORM)


def _histories_of(
    agent: SupportsAgentRun, memory: AnyRecollect
) -> Iterator[RecollectHistoryProvider]:
    for each in getattr(agent, "context_providers", ()):
        if isinstance(each, RecollectHistoryProvider) and each.place[0] is memory:
            yield each


def _check_single(
    agent: SupportsAgentRun, provider: RecollectHistoryProvider | RecollectContextProvider
) -> None:
    """
    Check that no other provider of *agent* does the same at the same place.

    Raises:
        UsageError: One does, and the model would be sent everything twice.
    """
    same = [
        each
        for each in getattr(agent, "context_providers", ())
        if isinstance(each, type(provider))
        and each.place == provider.place
        and getattr(each, "load_messages", True)
    ]
    if len(same) > 1:
        raise UsageError(
            f"the agent has {len(same)} times a {type(provider).__name__} of the scope "
            f"{provider.place[1]!r}: give it one"
        )


def _read(kept: Json) -> Message:
    return Message.from_dict(dict(kept)) if isinstance(kept, Mapping) else Message("user", [])


FORM: Final = ItemForm(
    "agent_framework", text_part=lambda text: {"type": "text", "text": text}, read=_read
)


async def append_input(
    items: ThreadItems, messages: Sequence[Message], state: MutableMapping[str, Any]
) -> None:
    """
    Append what the user says at the start of a run, unless the run is tried again.

    Their ids are noted in *state*, that of the provider in the session.
    """
    asked = list(takewhile(lambda each: each.role == "user", messages))
    _name(asked)
    if not await items.append_input([_item_of(each) for each in asked]):
        # The messages stand for those in the thread, so that `append_new` finds them there.
        for message, kept in zip(asked, await items.read(len(asked)), strict=False):
            message.message_id = _id_of(kept[1]) or message.message_id
    state[APPENDED] = [each.message_id for each in asked]


async def append_new(
    items: ThreadItems,
    messages: Sequence[Message],
    state: MutableMapping[str, Any] | None = None,
) -> None:
    """
    Append the messages whose ids are not among the thread's newest items, atomically.

    What `append_input` appended stays away if it was erased during the run: *state* has its ids.
    """
    known = {_id_of(item) for _, item in await items.read(NEWEST)}
    known.update((state or {}).get(APPENDED, ()))
    new = [each for each in messages if each.message_id is None or each.message_id not in known]
    _name(new)
    await items.append([_item_of(each) for each in new])


def message_of(message: KeptMessage, kept: Json) -> Message:
    """Return the stored message, or a new one for a message that another framework stored."""
    if isinstance(kept, Mapping):
        return _read(kept)
    role = "user" if message.role == "tool" else message.role
    return Message(role, [message.text])


def _name(messages: Sequence[Message]) -> None:
    """Give each message an id, by which it is known to be in the thread already."""
    for each in messages:
        each.message_id = each.message_id or uuid4().hex


def _id_of(item: Json) -> str | None:
    named = item.get("message_id") if isinstance(item, Mapping) else None
    return named if isinstance(named, str) else None


def _item_of(message: Message) -> Item:
    """Return role, text and JSON of a message; the text of a tool message is its result."""
    returned = (getattr(each, "result", None) for each in message.contents)
    text = message.text or "\n".join(each for each in returned if isinstance(each, str))
    return _ROLES.get(message.role, "assistant"), text, message.to_dict()


async def _nothing() -> None:
    """Do nothing, as the messages are in the thread already."""


def memory_tools(
    tools: Offered, *, before: Callable[[], Awaitable[None]] = _nothing
) -> list[FunctionTool]:
    """
    Return the four memory tools for ``tools=`` of an agent.

    Each returns the result of its call as JSON text. *before* is awaited before each call, for
    example to store the messages that the call quotes, as ``RecollectContextProvider(…,
    tools=True)`` does.
    """
    return [_tool(tools, each, before) for each in schemas_of(tools)]


def _tool(tools: Offered, offered: Tool, before: Callable[[], Awaitable[None]]) -> FunctionTool:
    async def work(**arguments: Any) -> str:
        await before()
        return answer_text(await tools.acall(offered.name, arguments))

    return FunctionTool(
        name=offered.name,
        description=offered.description,
        func=work,
        input_model=dict(offered.parameters),
    )
