"""The memory tools as tools of smolagents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from smolagents import Tool

from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.ports import Tool as OfferedTool

_KNOWN_TYPES: Final = frozenset({"string", "boolean", "integer", "number", "array", "object"})


def memory_tools(tools: Offered) -> list[Tool]:
    """
    Return the four memory tools for ``tools=`` of an agent.

    Each returns the result of its call as JSON text. A call must quote stored messages: use a
    `RecollectConversation` over the same thread.
    """
    return [SmolagentsMemoryTool(tools, each) for each in schemas_of(tools)]


class SmolagentsMemoryTool(Tool):  # type: ignore[misc] # it ships no types
    """One of the memory tools; an invalid call is refused in its answer."""

    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, tools: Offered, offered: OfferedTool) -> None:
        """Create the tool that *offered* describes."""
        super().__init__()
        self._tools = tools
        self.name = offered.name
        self.description = offered.description
        self.inputs = _inputs_of(offered.parameters)

    def forward(self, *args: Any, **arguments: Any) -> str:
        """Run a call; positional arguments are in the order of *inputs*."""
        given = {**dict(zip(self.inputs, args, strict=False)), **arguments}
        return answer_text(self._tools.call(self.name, given))


def _inputs_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema as smolagents' inputs, with types and descriptions."""
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
