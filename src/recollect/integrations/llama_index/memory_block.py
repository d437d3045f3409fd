"""A memory block for LlamaIndex, the recalled context of each turn, and the memory tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput
from pydantic import PrivateAttr

from recollect.errors import UsageError
from recollect.integrations.llama_index.chat_store import FORM, SESSION, STORED_THREAD, items_of
from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.integrations.thread_items import ThreadItems, check_budget
from recollect.records import JsonObject, Scope, ScopeLike
from recollect.stores.validation import check_scope
from recollect.sync.object_home import AnyRecollect, Home
from recollect.text.scope_paths import written_scope

BUDGET_TOKENS: Final = 1_000
NO_SESSION: Final = "llama_index"
"""The thread of messages without a session."""


class RecollectMemoryBlock(BaseMemoryBlock[str]):
    """
    A block for ``Memory.from_defaults(…, memory_blocks=[block])``.

    With a `RecollectChatStore` it only recalls. With another chat store give
    ``accept_short_term_memory=True``: messages that leave the conversation are then appended to the
    thread of the session.
    """

    name: str = "recollect"
    accept_short_term_memory: bool = False
    budget_tokens: int = BUDGET_TOKENS
    _memory: AnyRecollect = PrivateAttr()
    _scope: Scope = PrivateAttr()

    def __init__(self, memory: AnyRecollect, scope: ScopeLike, **fields: Any) -> None:
        """
        Create a block over an open memory.

        Args:
            fields: Fields of a block, such as *name* and *priority*, and *budget_tokens*, the most
                tokens of its context.

        Raises:
            UsageError: A field is unknown, or *budget_tokens* is no whole number from 1.
        """
        if unknown := fields.keys() - type(self).model_fields:
            raise UsageError(
                f"no field of a block is called {', '.join(sorted(unknown))}: it has "
                f"{', '.join(sorted(type(self).model_fields))}"
            )
        check_budget(fields.get("budget_tokens", BUDGET_TOKENS))
        super().__init__(**fields)
        self._memory = Home(memory).memory  # raises for anything else
        self._scope = check_scope(scope)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        self._check_store(block_kwargs.get(SESSION))
        said = [(each.role, each.content or "") for each in messages or ()]
        asked = [text for role, text in said if role == MessageRole.USER]
        items = self._items(block_kwargs.get(SESSION))
        shown = [text for _, text in said]
        return await items.context((asked or [""])[-1], self.budget_tokens, shown=shown)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        noted = (each.additional_kwargs.get(SESSION) for each in messages)
        items = self._items(next((each for each in noted if each), None))
        await items.append(items_of(messages))

    def _check_store(self, session: object) -> None:
        """Raise if the chat store that was read for this turn keeps it in an unrelated scope."""
        stored = STORED_THREAD.get()
        if stored is None or (stored[0], stored[2]) != (self._memory, session):
            return
        # A block of a scope above, such as a team's, tells what all below it may know.
        if stored[1][: len(self._scope)] != self._scope:
            raise UsageError(
                f"the chat store keeps the thread {session!r} in {written_scope(stored[1])}, and "
                f"the block would tell it what {written_scope(self._scope)} said: give both the "
                "same scope, or the block one above the store's"
            )

    def _items(self, session: str | None) -> ThreadItems:
        place = self._memory, self._scope, session
        # The store keeps each message when it is said, so the block would append it again.
        if self.accept_short_term_memory and STORED_THREAD.get() == place:
            raise UsageError(
                f"a RecollectChatStore keeps the thread {session!r}, and the block would append "
                "its messages once more: leave out accept_short_term_memory=True"
            )
        return ThreadItems(self._memory, self._scope, session or NO_SESSION, FORM)


def memory_tools(tools: Offered) -> list[AsyncBaseTool]:
    """
    Return the four memory tools for ``tools=`` of an agent.

    Each returns the result of its call as JSON text. A call must quote stored messages: use a
    `RecollectChatStore` over the same thread.
    """
    return [
        LlamaIndexMemoryTool(
            tools,
            SchemaMetadata(
                name=each.name, description=each.description, parameters=dict(each.parameters)
            ),
        )
        for each in schemas_of(tools)
    ]


@dataclass
class SchemaMetadata(ToolMetadata):
    """The definition of a tool with a JSON schema for its arguments."""

    parameters: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return the schema of the arguments."""
        return self.parameters


class LlamaIndexMemoryTool(AsyncBaseTool):
    """One of the memory tools; an invalid call is refused in its answer."""

    def __init__(self, tools: Offered, metadata: SchemaMetadata) -> None:
        """Create the tool that *metadata* describes."""
        self._tools = tools
        self._metadata = metadata

    @property
    def metadata(self) -> ToolMetadata:
        """The name, description and schema."""
        return self._metadata

    def call(self, **arguments: Any) -> ToolOutput:  # type: ignore[override] # as agents call it
        """Run a call."""
        return self._output(arguments, self._tools.call(self._metadata.get_name(), arguments))

    async def acall(self, **arguments: Any) -> ToolOutput:  # type: ignore[override] # as above
        """Async variant of `call`."""
        answer = await self._tools.acall(self._metadata.get_name(), arguments)
        return self._output(arguments, answer)

    def _output(self, arguments: JsonObject, answer: JsonObject) -> ToolOutput:
        return ToolOutput(
            content=answer_text(answer),
            tool_name=self._metadata.get_name(),
            raw_input={"kwargs": arguments},
            raw_output=answer,
            is_error=answer.get("status") == "refused",
        )
