"""The form of a set of MCP tools: definitions, hints, permissions and answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from recollect.errors import RecollectError
from recollect.formation.types import MemoryType
from recollect.formation.types.schema import violations
from recollect.ports import Tool
from recollect.recall.rendering import visible
from recollect.records import Json, JsonObject, Scope
from recollect.server.authorization import Permission
from recollect.server.mcp.callers import McpCaller


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHints:
    """Hints about a tool for clients, before they call it."""

    title: str
    reads_only: bool = False
    destroys: bool = False
    repeats: bool = False
    """Whether calling it again changes nothing more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The answer of a tool: *text* for the client's model, *structured* for its program."""

    structured: JsonObject
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTools:
    """
    A set of tools that the server offers.

    *tools_of* returns their definitions for the types of a scope, always in the same order.
    *answer* carries out one call, and reports a caller's errors in the answer.
    """

    hints: Mapping[str, ToolHints]
    tools_of: Callable[[Sequence[MemoryType]], Sequence[Tool]]
    answer: Callable[[McpCaller, str, JsonObject], Awaitable[ToolAnswer]]


NamedCall: TypeAlias = Callable[[McpCaller, Scope, JsonObject], Awaitable[ToolAnswer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTool:
    """A tool of a fixed set: its definition, the permission that it needs, and its function."""

    tool: Tool
    hints: ToolHints
    needs: Permission
    call: NamedCall


def fixed_set(tools: Sequence[NamedTool]) -> OfferedTools:
    """Return a set of tools that are the same for every scope."""
    by_name: Final = {each.tool.name: each for each in tools}

    async def answer(caller: McpCaller, name: str, arguments: JsonObject) -> ToolAnswer:
        called = by_name[name]
        try:
            scope = caller.reach(called.needs)
            if wrong := wrong_arguments(called.tool, arguments):
                return refused(f"MCP error -32602: Input validation error: {wrong}")
            return await called.call(caller, scope, arguments)
        except RecollectError as error:  # the model gets the error, so that it can react
            return refused(str(error))

    return OfferedTools(
        hints={name: each.hints for name, each in by_name.items()},
        tools_of=lambda _: [each.tool for each in tools],
        answer=answer,
    )


def wrong_arguments(tool: Tool, arguments: JsonObject) -> str:
    """Return the errors in the arguments of a call, "" if there are none."""
    checker = MemoryType(
        name=tool.name, description="", update_mode="insert", parameters=tool.parameters
    )
    return "; ".join(violations(checker, arguments))


def refused(reason: str) -> ToolAnswer:
    """Return an error answer with its reason, for the model."""
    return ToolAnswer(structured={"error": reason}, text=reason, is_error=True)


def done(message: str) -> ToolAnswer:
    """Return an answer that reports success in words."""
    return ToolAnswer(structured={"success": True, "message": message}, text=message)


def json_answer(structured: JsonObject, document: Json = None) -> ToolAnswer:
    """Return an answer whose text is JSON: of *document*, by default of all that is structured."""
    text = json.dumps(structured if document is None else document, ensure_ascii=False)
    return ToolAnswer(structured=structured, text=visible(text))


def object_schema(properties: Mapping[str, Json], *required: str) -> JsonObject:
    """Return the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def texts_schema(description: str) -> JsonObject:
    """Return the schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description}
