"""The memory tools as tools of smolagents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from smolagents import Tool

from recollect.integrations.offered_tools import Offered, answer_text
from recollect.ports import Tool as OfferedTool

_KNOWN_TYPES: Final = frozenset({"string", "boolean", "integer", "number", "array", "object"})


def memory_tools(tools: Offered) -> list[Tool]:
    """
    Return the four tools for ``tools=`` of an agent; each answers with what became of the call.

    With `RecollectConversation` over the same thread, the user's words are there to be quoted.
    """
    return [SmolagentsMemoryTool(tools, each) for each in tools.schemas]


class SmolagentsMemoryTool(Tool):  # type: ignore[misc] # it ships no types
    """One of the memory tools; what is wrong with a call is told in its answer."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, tools: Offered, offered: OfferedTool) -> None:
        """Make the tool that *offered* describes."""
        super().__init__()
        self._tools = tools
        self.name = offered.name
        self.description = offered.description
        self.inputs = _inputs_of(offered.parameters)

    def forward(self, *args: Any, **arguments: Any) -> str:
        """Carry out a call; arguments by position are those of *inputs*, in their order."""
        given = {**dict(zip(self.inputs, args, strict=False)), **arguments}
        return answer_text(self._tools.call(self.name, given))


def _inputs_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema as inputs, each with a type and a description."""
    required = set(parameters.get("required", ()))
    inputs = {}
    for name, schema in parameters.get("properties", {}).items():
        type_ = schema.get("type")
        inputs[name] = {
            **schema,
            "type": type_ if type_ in _KNOWN_TYPES else "object",
            "description": str(schema.get("description", name)),
            **({} if name in required else {"nullable": True}),
        }
    return inputs
