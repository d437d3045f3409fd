"""Requests in the form of Anthropic's messages, and their answers read back; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recollect.models.provider_turns import (
    acceptable_turns,
    identified_calls,
    mapping_in,
    mappings_in,
    stopped_by,
    token_count,
)
from recollect.ports import ModelAnswer, ModelRequest, Tool, Turn, Usage


def messages_in_wire(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the turns of *request* as messages; the answers to all calls are in the next one."""
    messages: list[dict[str, Any]] = []
    for turn in acceptable_turns(request.turns):
        role = "assistant" if turn.role == "assistant" else "user"
        blocks = _blocks_of(turn)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    return messages


def _blocks_of(turn: Turn) -> list[dict[str, Any]]:
    if turn.role == "tool":
        return [{"type": "tool_result", "tool_use_id": turn.answers, "content": turn.text}]
    # An empty text is refused.
    text = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]
    return [*text, *calls]


def system_in_wire(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the system text, marked for the provider's cache, which covers the tools too."""
    if not request.system:
        return []
    mark = {"type": "ephemeral"}
    return [{"type": "text", "text": request.system, "cache_control": mark}]


def tool_in_wire(tool: Tool) -> dict[str, Any]:
    """Return *tool* as the provider describes one."""
    schema = json.loads(json.dumps(tool.parameters))
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def read_message(message: Mapping[str, Any], request: ModelRequest) -> ModelAnswer | None:
    """Return the answer in a message, ``None`` without one; thoughts are left out."""
    if not isinstance(message.get("content"), list):
        return None
    blocks = mappings_in(message["content"])
    text = "".join(str(each.get("text") or "") for each in blocks if each.get("type") == "text")
    raw = [
        (each.get("name"), each.get("input"), each.get("id"))
        for each in blocks
        if each.get("type") == "tool_use"
    ]
    return ModelAnswer(
        text=text,
        calls=identified_calls(raw, request),
        stopped=stopped_by(message),
        usage=_usage(mapping_in(message.get("usage"))),
    )


def _usage(counted: Mapping[str, Any]) -> Usage:
    read, written = "cache_read_input_tokens", "cache_creation_input_tokens"
    return Usage(
        input_tokens=token_count(counted, "input_tokens", read, written),
        output_tokens=token_count(counted, "output_tokens"),
        cached_tokens=token_count(counted, read),
    )


def read_event(event: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the text of a streamed event, and True if the answer ends with it."""
    text = mapping_in(event.get("delta")).get("text") or ""
    is_piece = event.get("type") == "content_block_delta"
    return str(text) if is_piece else "", event.get("type") == "message_stop"
