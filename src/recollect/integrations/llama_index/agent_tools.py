"""The memory tools as tools of LlamaIndex."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput

from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.records import JsonObject


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
