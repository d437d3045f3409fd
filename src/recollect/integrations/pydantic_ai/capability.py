"""Memory as a capability of a Pydantic AI agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from pydantic_ai import AgentRunResult, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

from recollect.integrations.thread_items import ThreadItems
from recollect.memory.facade import Recollect
from recollect.records import Json, Message, Role, ScopeLike
from recollect.stores.validation import check_scope

KIND: Final = "pydantic_ai"
BUDGET_TOKENS: Final = 1_000


class RecollectCapability(AbstractCapability[Any]):
    """
    Appends what a run says to a thread, and gives each run what of the memory bears on its prompt.

    ``Agent(…, capabilities=[RecollectCapability(memory, scope, thread)])``; with
    ``message_history=await capability.history()`` a run also continues the thread. Messages are
    kept as they are, without the instructions, which hold what was recalled.
    """

    def __init__(
        self, memory: Recollect, scope: ScopeLike, thread: str, budget_tokens: int = BUDGET_TOKENS
    ) -> None:
        """
        Make a capability of an open memory.

        Args:
            scope: Whose memory it is.
            thread: The conversation; it need not exist.
            budget_tokens: What it adds to the instructions at most.
        """
        self._items = ThreadItems(memory, check_scope(scope), thread, kind=KIND)
        self._budget_tokens = budget_tokens

    def get_instructions(self) -> Any:
        """Return what the agent calls for instructions, once a run."""
        return self._instruct

    async def _instruct(self, ctx: RunContext[Any]) -> str:
        return await self._items.context(_text_in(ctx.prompt), self._budget_tokens)

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Append the messages of the run, all of them or none; a run that failed leaves none."""
        messages = result.new_messages()
        plain = [
            replace(each, instructions=None) if isinstance(each, ModelRequest) else each
            for each in messages
        ]
        kept: list[Json] = ModelMessagesTypeAdapter.dump_python(plain, mode="json")
        said = zip(messages, kept, strict=True)
        await self._items.append([(*_role_and_text(each), item) for each, item in said])
        return result

    async def history(self, limit: int | None = None) -> list[ModelMessage]:
        """Return the newest *limit* messages of the thread, all by default, oldest first."""
        found = [_message_of(message, kept) for message, kept in await self._items.read(limit)]
        return [each for messages in found for each in messages]


def _role_and_text(message: ModelMessage) -> tuple[Role, str]:
    if isinstance(message, ModelResponse):
        said = (part.content for part in message.parts if isinstance(part, TextPart))
        return "assistant", "\n".join(said)
    prompts = [_text_in(part.content) for part in message.parts if isinstance(part, UserPromptPart)]
    if prompts:
        return "user", "\n".join(prompts)
    returned = (
        part.model_response_str() for part in message.parts if isinstance(part, ToolReturnPart)
    )
    return "tool", "\n".join(returned)


def _text_in(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Iterable) else ()
    return "\n".join(each for each in parts if isinstance(each, str))


def _message_of(message: Message, kept: Json) -> list[ModelMessage]:
    """Return the message that was kept, or one of what another framework wrote."""
    if kept is not None:
        return ModelMessagesTypeAdapter.validate_python([kept])
    if message.role == "assistant":
        return [ModelResponse(parts=[TextPart(message.text)])]
    return [ModelRequest(parts=[UserPromptPart(message.text)])] if message.text else []
