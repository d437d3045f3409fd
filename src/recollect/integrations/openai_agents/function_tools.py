"""The memory tools as function tools of the OpenAI Agents SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agents import FunctionTool

from recollect.integrations.offered_tools import Offered, answer_text, schemas_of
from recollect.ports import Tool

if TYPE_CHECKING:
    from agents.tool_context import ToolContext


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
