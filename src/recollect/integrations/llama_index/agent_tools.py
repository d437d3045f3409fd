"""The memory tools as tools of LlamaIndex."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput

from recollect.integrations.offered_tools import Offered, answer_text
from recollect.records import JsonObject


def memory_tools(tools: Offered) -> list[AsyncBaseTool]:
    """
    Return the four tools for ``tools=`` of an agent; each answers with what became of the call.

    With `RecollectChatStore` over the same thread, the user's words are there to be quoted.
    """
    return [
        LlamaIndexMemoryTool(
            tools,
            SchemaMetadata(
                name=each.name, description=each.description, parameters=dict(each.parameters)
            ),
        )
        for each in tools.schemas
    ]


@dataclass
class SchemaMetadata(ToolMetadata):
    """The definition of a tool whose arguments a JSON schema describes."""

    parameters: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return the schema."""
        return self.parameters


class LlamaIndexMemoryTool(AsyncBaseTool):
    """One of the memory tools; what is wrong with a call is told in its answer."""

    def __init__(self, tools: Offered, metadata: SchemaMetadata) -> None:
        """Make the tool that *metadata* describes."""
        self._tools = tools
        self._metadata = metadata

    @property
    def metadata(self) -> ToolMetadata:
        """Name, description and schema."""
        return self._metadata

    def call(self, **arguments: Any) -> ToolOutput:  # type: ignore[override] # as agents call it
        """Carry out a call."""
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
