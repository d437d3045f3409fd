"""Recollect's own tools as a set that the MCP server offers."""

from __future__ import annotations

import json

from recollect.errors import RecollectError
from recollect.recall.rendering import visible
from recollect.records import JsonObject
from recollect.server.mcp.callers import McpCaller
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.mcp.recollect_tool_definitions import CONTEXT, TOOL_HINTS, tools_offered
from recollect.server.mcp.resources import NOTHING_RELEVANT
from recollect.server.mcp.tool_sets import OfferedTools, ToolAnswer


def recollect_tools(tools: RecollectTools) -> OfferedTools:
    """Return Recollect's tools, carried out by *tools*."""

    async def answer(caller: McpCaller, name: str, arguments: JsonObject) -> ToolAnswer:
        try:
            result = await tools.call(caller, name, arguments)
        except RecollectError as error:
            # The model gets the error as a result, so that it can react.
            result = {"status": "failed", "id": "", "reason": str(error), "code": error.code}
        return _answered(name, result)

    return OfferedTools(hints=TOOL_HINTS, tools_of=tools_offered, answer=answer)


def _answered(name: str, result: JsonObject) -> ToolAnswer:
    """Return a tool's answer. The text of a context stays as it is, since its budget counts it."""
    if name == CONTEXT and result["status"] == "found":
        text = str(result["text"]) or NOTHING_RELEVANT
    else:
        text = visible(json.dumps(result, ensure_ascii=False))
    is_error = result["status"] in {"refused", "failed"}
    return ToolAnswer(structured=result, text=text, is_error=is_error)
