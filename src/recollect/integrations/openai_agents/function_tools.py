"""The memory tools as function tools of OpenAI's Agents SDK."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agents import FunctionTool

from recollect.integrations.offered_tools import Offered, answer_text
from recollect.ports import Tool

if TYPE_CHECKING:
    from agents.tool_context import ToolContext


def memory_tools(tools: Offered) -> list[FunctionTool]:
    """
    Return the four tools for ``Agent(…, tools=…)``; each answers with what became of the call.

    With `RecollectSession` over the same thread, the user's words are there to be quoted.
    """
    return [_tool(tools, each) for each in tools.schemas]


def _tool(tools: Offered, offered: Tool) -> FunctionTool:
    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError:
            given = None
        if not isinstance(given, dict):
            return answer_text({"status": "refused", "reason": "the arguments are no JSON object"})
        return answer_text(await tools.acall(offered.name, given))

    return FunctionTool(
        name=offered.name,
        description=offered.description,
        params_json_schema=dict(offered.parameters),
        on_invoke_tool=invoke,
        strict_json_schema=False,  # strict schemas have no optional fields
    )
