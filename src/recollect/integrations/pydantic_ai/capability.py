"""Memory as a capability of a Pydantic AI agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final
from weakref import WeakValueDictionary

from pydantic_ai import AgentRunResult, FunctionToolset, RunContext, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_core import PydanticSerializationError

from recollect.agents.tools import MemoryTools
from recollect.errors import UsageError
from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.integrations.storable_items import ItemForm
from recollect.integrations.thread_items import Item, ThreadItems, check_budget, check_limit
from recollect.ports import Tool as OfferedTool
from recollect.records import Json, Message, Role, ScopeLike
from recollect.stores.validation import check_scope
from recollect.sync.object_home import AnyRecollect
from recollect.text.scope_paths import written_scope

BUDGET_TOKENS: Final = 1_000
_running: Final[WeakValueDictionary[str, RecollectCapability]] = WeakValueDictionary()
"""The capability of each run that is going on, by the run's id."""
OUTPUT_PROCESSED: Final = "Final result processed."
"""Pydantic AI's return to the call of a structured output."""


class RecollectCapability(AbstractCapability[object]):
    """
    Appends the messages of each run to a thread, and adds the context of its prompt.

    The prompt is appended before the model is asked, and stays if the run fails; the rest when the
    run ends.

    Use ``Agent(…, capabilities=[RecollectCapability(memory, scope, thread)])``; with
    ``message_history=await capability.history()`` a run also continues the thread. Messages are
    stored unchanged, but without instructions, which contain the recalled context.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeLike,
        thread: str,
        budget_tokens: int = BUDGET_TOKENS,
        *,
        tools: bool | Offered = False,
    ) -> None:
        """
        Create a capability over an open memory.

        Args:
            memory: One of `open_sync` works on any event loop, and so with ``agent.run_sync``.
            scope: The scope of the thread, and of the recalled context.
            thread: The conversation; it need not exist.
            budget_tokens: The most tokens to add to the instructions.
            tools: True to offer the model the four memory tools, or a `MemoryTools` of the same
                scope and thread. The messages of a run so far are then appended before each
                call, and stay if the run fails.
        """
        self._items = ThreadItems(memory, scope, thread, FORM)
        self._budget_tokens = check_budget(budget_tokens)
        self._tools = MemoryTools(memory, scope, thread) if tools is True else tools or None
        if self._tools is not None:
            schemas_of(self._tools)  # raises for anything else
        self._scope = check_scope(scope)
        self._origin = self
        self._appended = 0

    async def for_run(self, ctx: RunContext[object]) -> RecollectCapability:
        """
        Return a copy for one run, which counts the run's appended messages.

        Raises:
            UsageError: The run has another capability of this kind.
        """
        other = _running.get(ctx.run_id or "")
        # A run that is resumed under its id gets another copy of the same capability.
        if other is not None and other._origin is not self:  # noqa: SLF001 # the same class
            raise UsageError(
                f"the run has two capabilities, of {written_scope(other._scope)} and "  # noqa: SLF001
                f"{written_scope(self._scope)}, and its "
                "model would be told what both said: give an agent, or a run, one of them"
            )
        running = copy(self)
        running._origin = self  # noqa: SLF001 # the same class
        if ctx.run_id:
            _running[ctx.run_id] = running
        return running

    def get_toolset(self) -> FunctionToolset[object] | None:
        """Return the memory tools; ``None`` if none are offered."""
        if self._tools is None:
            return None
        return memory_toolset(self._tools, before=self._append_so_far)

    def get_instructions(self) -> Callable[[RunContext[object]], Awaitable[str]]:
        """Return the function that the agent calls for instructions, once per run."""
        return self._instruct

    async def _instruct(self, ctx: RunContext[object]) -> str:
        asked = _text_in(ctx.prompt)
        shown = [_role_and_text(each)[1] for each in ctx.messages]
        return await self._items.context(asked, self._budget_tokens, shown=[*shown, asked])

    async def before_model_request(
        self, ctx: RunContext[object], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Append the prompt of a run before its first request, which may fail."""
        if not self._appended:
            await self._append_so_far(ctx)
        return request_context

    async def after_run(
        self, ctx: RunContext[object], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """
        Append the other messages of the run atomically.

        Raises:
            UsageError: A message holds something that JSON cannot express.
        """
        await self._append(result.new_messages())
        return result

    async def _append_so_far(self, ctx: RunContext[object]) -> None:
        """Append the messages of the run so far, so that a tool call can quote them."""
        await self._append([each for each in ctx.messages if each.run_id == ctx.run_id])

    async def _append(self, said: Sequence[ModelMessage]) -> None:
        """Append the messages of a run that are not in the thread yet, first what it was asked."""
        asked = 0 if self._appended else _count_asked(said)
        await self._items.append_input(_items_of(said[:asked]))
        await self._items.append(_items_of(said[self._appended + asked :]))
        self._appended = len(said)

    async def history(self, limit: int | None = None) -> list[ModelMessage]:
        """
        Return the newest *limit* messages of the thread, all by default, oldest first.

        They never begin with what a tool returned, because providers refuse a return whose call
        is missing. What a limit leaves out is recalled where it bears on the prompt.

        Raises:
            UsageError: *limit* is no whole number from 0.
        """
        kept = await self._items.read(check_limit(limit))
        while limit is not None and kept and kept[0][0].role == "tool":
            kept = kept[1:]
        return [each for message, item in kept for each in _message_of(message, item)]


def _count_asked(said: Sequence[ModelMessage]) -> int:
    """Return the number of messages with which a run began, before any answer."""
    for at, each in enumerate(said):
        if _role_and_text(each)[0] != "user":
            return at
    return len(said)


def _items_of(messages: Sequence[ModelMessage]) -> list[Item]:
    """
    Return role, text and JSON of each message, without its instructions.

    The call that is a structured output and its return, which says nothing, are one item.

    Raises:
        UsageError: A message holds something that JSON cannot express.
    """
    plain = [
        replace(each, instructions=None) if isinstance(each, ModelRequest) else each
        for each in messages
    ]
    try:
        kept: list[Json] = ModelMessagesTypeAdapter.dump_python(plain, mode="json")
    except PydanticSerializationError as error:
        raise UsageError(f"a message of the run is not JSON: {error}") from error
    found: list[Item] = []
    for at, (message, item) in enumerate(zip(messages, kept, strict=True)):
        output = _output_of(messages[at - 1], message) if at else ""
        if output:
            found[-1] = ("assistant", output, [kept[at - 1], item])
        else:
            found.append((*_role_and_text(message), item))
    return found


def _output_of(call: ModelMessage, returned: ModelMessage) -> str:
    """Return the output that *call* gives as JSON, if *returned* only confirms it."""
    if not isinstance(call, ModelResponse) or not isinstance(returned, ModelRequest):
        return ""
    parts = [part for part in returned.parts if isinstance(part, ToolReturnPart)]
    confirmed = {part.tool_call_id for part in parts if part.content == OUTPUT_PROCESSED}
    if len(parts) < len(returned.parts) or not confirmed:
        return ""
    return "\n".join(
        part.args_as_json_str()
        for part in call.parts
        if isinstance(part, ToolCallPart) and part.tool_call_id in confirmed
    )


def _role_and_text(message: ModelMessage) -> tuple[Role, str]:
    if isinstance(message, ModelResponse):
        said = (part.content for part in message.parts if isinstance(part, TextPart))
        return "assistant", "\n".join(said)
    prompts = [_text_in(part.content) for part in message.parts if isinstance(part, UserPromptPart)]
    returned = [
        part.model_response_str() for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    # A prompt beside a return is what the tool adds by `ToolReturn(content=…)`: no user said it.
    if returned or not prompts:
        return "tool", "\n".join([*returned, *prompts])
    return "user", "\n".join(prompts)


def _text_in(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Iterable) else ()
    return "\n".join(each for each in parts if isinstance(each, str))


def _read(kept: Json) -> list[ModelMessage]:
    return ModelMessagesTypeAdapter.validate_python(kept if isinstance(kept, list) else [kept])


FORM: Final = ItemForm("pydantic_ai", read=_read)


def _message_of(message: Message, kept: Json) -> list[ModelMessage]:
    """Return the stored message, or a new one for a message that another framework stored."""
    if kept is not None:
        return _read(kept)
    if message.role == "assistant":
        return [ModelResponse(parts=[TextPart(message.text)])]
    return [ModelRequest(parts=[UserPromptPart(message.text)])] if message.text else []


async def _nothing(_: RunContext[object]) -> None:
    """Do nothing, as the messages are in the thread already."""


def memory_toolset(
    tools: Offered, *, before: Callable[[RunContext[object]], Awaitable[None]] = _nothing
) -> FunctionToolset[object]:
    """
    Return the four memory tools for ``Agent(…, toolsets=[…])``.

    Each returns the result of its call as JSON text. *before* is awaited before each call, for
    example to store the messages that the call quotes.
    """
    return FunctionToolset([_tool(tools, each, before) for each in schemas_of(tools)])


def _tool(
    tools: Offered, offered: OfferedTool, before: Callable[[RunContext[object]], Awaitable[None]]
) -> Tool[object]:
    async def work(ctx: RunContext[object], **arguments: Any) -> str:
        await before(ctx)
        return answer_text(await tools.acall(offered.name, arguments))

    return Tool.from_schema(
        work,
        name=offered.name,
        description=offered.description,
        json_schema=dict(offered.parameters),
        takes_ctx=True,
        sequential=True,  # so that a call finds what the call before it has saved
    )
