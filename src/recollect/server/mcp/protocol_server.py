"""The MCP server: maps the protocol's requests to callers and tools."""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from recollect import __version__
from recollect.errors import NotFoundError, RecollectError
from recollect.ports import Tool
from recollect.recall.rendering import visible
from recollect.records import JsonObject
from recollect.server.mcp.callers import CallerOf, McpCaller
from recollect.server.mcp.recollect_tool_calls import RecollectTools
from recollect.server.mcp.recollect_tool_definitions import (
    CONTEXT,
    INSTRUCTIONS,
    PROFILE,
    RECALL,
    REMEMBER,
    TOOL_HINTS,
    tools_offered,
)
from recollect.server.mcp.resources import (
    MEMORY_TEMPLATE,
    NOTHING_RELEVANT,
    PROFILE_URI,
    PROMPT_OF_REMEMBERING,
    THREAD_TEMPLATE,
    THREADS_PAGE,
    prompt_of_recall,
    read_resource,
    thread_uri,
)
from recollect.server.mcp.tool_sets import OfferedTools, ToolAnswer, ToolHints

JSON: Final = "application/json"
_QUESTION: Final = "question"

Context: TypeAlias = ServerRequestContext[Any, Any]
"""The SDK's context of a request, with the transport's request in it."""


def mcp_server(
    tools: RecollectTools, caller_of: CallerOf, offered: OfferedTools | None = None
) -> Server[Any]:
    """
    Return a server that runs every request for the caller that *caller_of* returns.

    It offers *tools* under Recollect's names, or *offered* in their place.
    """
    handlers = _Handlers(tools, caller_of, offered or recollect_tools(tools))
    return Server(
        "recollect",
        version=__version__,
        title="Recollect",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """The handlers of the protocol's requests."""

    def __init__(self, tools: RecollectTools, caller_of: CallerOf, offered: OfferedTools) -> None:
        self._tools = tools
        self._caller_of = caller_of
        self._offered = offered

    async def list_tools(self, context: Context, _params: object) -> types.ListToolsResult:
        try:
            kept = await self._caller_of(context.request).types()
        except RecollectError as error:
            raise _protocol_error(error) from error
        hints = self._offered.hints
        offered = self._offered.tools_of(kept)
        return types.ListToolsResult(
            tools=[_protocol_tool(each, hints[each.name]) for each in offered]
        )

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if params.name not in self._offered.hints:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:80]!r}")
        caller = self._caller_of(context.request)
        answer = await self._offered.answer(caller, params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=dict(answer.structured),
            is_error=answer.is_error,
        )

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        caller = self._caller_of(context.request)
        try:
            page = await caller.memory.threads(
                caller.reach("read"), cursor=cursor, limit=THREADS_PAGE
            )
        except RecollectError as error:
            raise _protocol_error(error) from error
        threads = [
            types.Resource(uri=thread_uri(each.id), name=each.id, mime_type=JSON)
            for each in page.rows
        ]
        profile = types.Resource(
            uri=PROFILE_URI, name=PROFILE, description="Who the user is", mime_type=JSON
        )
        listed = threads if cursor else [profile, *threads]
        return types.ListResourcesResult(resources=listed, next_cursor=page.cursor)

    async def list_templates(
        self, _context: object, _params: object
    ) -> types.ListResourceTemplatesResult:
        thread = types.ResourceTemplate(
            uri_template=THREAD_TEMPLATE,
            name="thread",
            description="The newest messages of a thread",
            mime_type=JSON,
        )
        memory = types.ResourceTemplate(
            uri_template=MEMORY_TEMPLATE,
            name="memory",
            description="A memory with every version that it had",
            mime_type=JSON,
        )
        return types.ListResourceTemplatesResult(resource_templates=[thread, memory])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        caller = self._caller_of(context.request)
        try:
            text = await read_resource(caller, self._tools, uri)
        except RecollectError as error:
            raise _protocol_error(error) from error
        found = types.TextResourceContents(uri=uri, mime_type=JSON, text=text)
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(self, _context: object, _params: object) -> types.ListPromptsResult:
        question = types.PromptArgument(
            name=_QUESTION, description="What you want to know", required=True
        )
        recall = types.Prompt(
            name=RECALL,
            description="A question with its remembered context",
            arguments=[question],
        )
        remember = types.Prompt(
            name=REMEMBER, description="Look over this talk, and save what will matter later"
        )
        return types.ListPromptsResult(prompts=[recall, remember])

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        caller = self._caller_of(context.request)
        if params.name == REMEMBER:
            return _prompt(PROMPT_OF_REMEMBERING)
        if params.name != RECALL:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}")
        try:
            return _prompt(await prompt_of_recall(caller, (params.arguments or {})[_QUESTION]))
        except KeyError as error:
            raise MCPError(types.INVALID_PARAMS, f"{RECALL} needs a {_QUESTION}") from error
        except RecollectError as error:
            raise _protocol_error(error) from error


def _protocol_error(error: RecollectError) -> MCPError:
    data = {"code": error.code}
    if isinstance(error, NotFoundError):
        return MCPError(types.INVALID_PARAMS, f"not found: {error}", data)
    return MCPError(types.INVALID_PARAMS, str(error), data)


def _protocol_tool(tool: Tool, hints: ToolHints) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=hints.title,
        description=tool.description,
        input_schema=dict(tool.parameters),
        annotations=types.ToolAnnotations(
            read_only_hint=hints.reads_only,
            destructive_hint=hints.destroys,
            idempotent_hint=hints.repeats,
            open_world_hint=False,
        ),
    )


def _prompt(text: str) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=text)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


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
