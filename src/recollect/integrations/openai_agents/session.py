"""A session of the OpenAI Agents SDK, stored in a thread of a memory, and the memory tools."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from weakref import WeakKeyDictionary

from agents import FunctionTool

from recollect.errors import UsageError
from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.integrations.storable_items import ItemForm
from recollect.integrations.thread_items import ThreadItems, check_budget
from recollect.ports import Tool
from recollect.records import Json, Message, Role, ScopeLike
from recollect.stores.validation import check_scope
from recollect.sync.object_home import AnyRecollect

if TYPE_CHECKING:
    from agents import Agent, RunContextWrapper, TResponseInputItem
    from agents.memory import SessionSettings
    from agents.tool_context import ToolContext

FORM: Final = ItemForm("openai_agents", lambda text: {"type": "input_text", "text": text})
BUDGET_TOKENS: Final = 1_000
Instruct: TypeAlias = "Callable[[RunContextWrapper[Any], Agent[Any]], str | Awaitable[str]]"
_running: Final[WeakKeyDictionary[RunContextWrapper[Any], RecollectSession]] = WeakKeyDictionary()
"""The session of each run that is going on, by the run's context."""


class RecollectSession:
    """
    A ``Session`` for ``Runner.run(…, session=…)``: the SDK's items in one thread of a memory.

    Items are stored unchanged. The thread is formed and recalled like any other; `instructions`
    adds the context of earlier sessions. `clear_session` and `pop_item` remove messages; to remove
    memories formed from them as well, erase the thread.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        session_id: str,
        *,
        session_settings: SessionSettings | None = None,
        budget_tokens: int = BUDGET_TOKENS,
    ) -> None:
        """
        Create a session over an open memory.

        Args:
            memory: One of `open_sync` works on any event loop, and so with ``Runner.run_sync``.
            scope: The scope of the thread, and of the recalled context.
            session_id: The thread; it need not exist.
            session_settings: Settings of the SDK, such as a limit of items.
            budget_tokens: The most tokens that `instructions` adds.
        """
        self.session_id = session_id
        self.session_settings = session_settings
        self._items = ThreadItems(memory, scope, session_id, FORM)
        self._place = memory, check_scope(scope), session_id
        self._budget_tokens = check_budget(budget_tokens)
        # The texts that each run that is going on has added. The SDK sends them again in the run's
        # later turns, but its ``turn_input`` is without them.
        self._added: WeakKeyDictionary[RunContextWrapper[Any], list[str]] = WeakKeyDictionary()

    # The SDK passes *wrapper*, the context of its run, only if all four methods take it.
    async def get_items(
        self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """Return the newest *limit* items, all by default, oldest first."""
        self._note_run(wrapper)
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return [_item_of(message, kept) for message, kept in await self._items.read(limit)]

    async def add_items(
        self, items: list[TResponseInputItem], *, wrapper: RunContextWrapper[Any] | None = None
    ) -> None:
        """Append *items* atomically."""
        self._note_run(wrapper)
        messages = [_message_of(item) for item in items]
        await self._items.append(messages)
        if wrapper is not None:
            self._added.setdefault(wrapper, []).extend(text for _, text, _ in messages)

    async def pop_item(
        self, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> TResponseInputItem | None:
        """Remove the newest item, and return it; ``None`` if there is none."""
        self._note_run(wrapper)
        newest = await self._items.pop()
        return None if newest is None else _item_of(*newest)

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Remove all items."""
        self._note_run(wrapper)
        await self._items.clear()

    def instructions(
        self, base: str | Instruct = ""
    ) -> Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]:
        """
        Return ``instructions=`` of an agent: *base*, and the context of the turn's input.

        An agent with them belongs to this session: a run of another `RecollectSession` raises
        `UsageError` before its model is asked.

        Args:
            base: A text, or a function of the run's context and the agent, as the SDK takes.

        Raises:
            UsageError: *base* is neither.
        """
        if not isinstance(base, str) and not callable(base):
            msg = f"base is {base!r}: give a text, or a function of the run's context and the agent"
            raise UsageError(msg)

        async def instruct(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
            self._check_run(context)
            own = base if isinstance(base, str) else base(context, agent)
            if inspect.isawaitable(own):
                own = await own
            said = [_message_of(item) for item in context.turn_input]
            query = next((text for role, text, _ in reversed(said) if role == "user"), "")
            shown = [text for _, text, _ in said] + self._added.get(context, [])
            remembered = await self._items.context(query, self._budget_tokens, shown=shown)
            return "\n\n".join(part for part in (own, remembered) if part)

        return instruct

    def _note_run(self, run: RunContextWrapper[Any] | None) -> None:
        if run is not None:
            _running[run] = self

    def _check_run(self, run: RunContextWrapper[Any]) -> None:
        """Raise if *run* is another session's: its model would be told this one's memories."""
        other = _running.get(run)
        if other is not None and other._place != self._place:  # noqa: SLF001 # the same class
            raise UsageError(
                f"the agent has the instructions of session {self.session_id!r}, and this run is "
                f"of session {other.session_id!r}, of another thread, scope or memory: give each "
                "session its own, by agent.clone(instructions=session.instructions(...))"
            )


_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


def _message_of(item: TResponseInputItem) -> tuple[Role, str, Json]:
    """
    Return role, text and JSON of an item; items for the provider only have no text.

    Raises:
        UsageError: *item* is no item of the SDK, as a text that stands alone.
    """
    if not isinstance(item, Mapping):
        msg = f"an item is {item!r}: give a dict, as {{'role': 'user', 'content': 'Hello'}}"
        raise UsageError(msg)
    kept: dict[str, Any] = {**item}
    role = _ROLES.get(str(kept.get("role")))
    if role is not None:
        return role, _text_in(kept.get("content")), kept
    if kept.get("type") == "function_call_output":
        return "tool", _text_in(kept.get("output")), kept
    return "assistant", "", kept


def _text_in(content: object) -> str:
    if isinstance(content, str):
        return content
    parts: Sequence[object] = content if isinstance(content, list | tuple) else ()
    found = (each.get("text") for each in parts if isinstance(each, Mapping))
    return "\n".join(each for each in found if isinstance(each, str) and each)


def _item_of(message: Message, kept: Json) -> TResponseInputItem:
    """Return the stored item, or a new one for a message that another framework stored."""
    if isinstance(kept, Mapping):
        return cast("TResponseInputItem", dict(kept))
    role = "user" if message.role == "tool" else message.role
    return {"role": role, "content": message.text}


def memory_tools(tools: Offered) -> list[FunctionTool]:
    """
    Return the four memory tools for ``Agent(…, tools=…)``.

    Each returns the result of its call as JSON text. A call must quote stored messages: use a
    `RecollectSession` over the same thread.
    """
    return [_tool(tools, each) for each in schemas_of(tools)]


def _tool(tools: Offered, offered: Tool) -> FunctionTool:
    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            given = None
        if not isinstance(given, dict):
            reason = "the arguments are not a JSON object"
            return answer_text({"status": "refused", "reason": reason})
        return answer_text(await tools.acall(offered.name, given))

    return FunctionTool(
        name=offered.name,
        description=offered.description,
        params_json_schema=dict(offered.parameters),
        on_invoke_tool=invoke,
        strict_json_schema=False,  # strict schemas allow no optional fields
    )
