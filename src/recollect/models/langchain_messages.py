"""Convert requests to LangChain's messages, and its messages to answers; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.models.provider_turns import (
    acceptable_turns,
    identified_calls,
    mapping_in,
    stopped_by,
    token_count,
)
from recollect.ports import ModelAnswer, ModelRequest, Turn, Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage


def messages_of(request: ModelRequest, *, marks_stable_part: bool = False) -> list[BaseMessage]:
    """
    Return *request* as messages that every provider accepts; see `acceptable_turns`.

    Args:
        marks_stable_part: Mark the system text for Anthropic's prompt cache, which covers the
            tools too.
    """
    from langchain_core.messages import SystemMessage

    messages: list[BaseMessage] = []
    if request.system:
        mark = {"cache_control": {"type": "ephemeral"}} if marks_stable_part else {}
        block = {"type": "text", "text": request.system, **mark}
        messages.append(SystemMessage(content=[block] if mark else request.system))
    return [*messages, *map(_message_of, acceptable_turns(request.turns))]


def _message_of(turn: Turn) -> BaseMessage:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    if turn.role == "tool":
        return ToolMessage(content=turn.text, tool_call_id=turn.answers)
    if turn.role == "user":
        return HumanMessage(content=turn.text)
    calls = [
        {"name": each.name, "args": each.arguments, "id": each.id, "type": "tool_call"}
        for each in turn.calls
    ]
    return AIMessage(content=turn.text, tool_calls=calls)


def read_message(message: AIMessage, request: ModelRequest) -> ModelAnswer:
    """
    Convert *message* to the answer to *request*.

    Calls are in the client's order: parsed ones, then unparsable ones as text. Each has a unique
    id.
    """
    refused = _refusal_in(message)
    raw = [
        *((call["name"], call["args"], call["id"]) for call in message.tool_calls),
        *((call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls),
    ]
    return ModelAnswer(
        text=text_of(message.content) or refused,
        calls=identified_calls(raw, request),
        stopped="refusal" if refused else stopped_by(message.response_metadata),
        usage=_usage(message),
    )


def text_of(content: object) -> str:
    """Return the text in a message's content, a string or blocks, without thoughts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    found = []
    for block in content:
        if isinstance(block, str):
            found.append(block)
        elif isinstance(block, Mapping) and block.get("type") in ("text", "output_text"):
            found.append(str(block.get("text") or ""))
    return "".join(found)


def _refusal_in(message: AIMessage) -> str:
    refusal = message.additional_kwargs.get("refusal")
    if isinstance(refusal, str) and refusal:
        return refusal
    blocks = message.content if isinstance(message.content, list) else []
    return "".join(
        str(block.get("refusal") or "")
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "refusal"
    )


def _usage(message: AIMessage) -> Usage:
    counted = mapping_in(message.usage_metadata)
    return Usage(
        input_tokens=token_count(counted, "input_tokens"),
        output_tokens=token_count(counted, "output_tokens"),
        cached_tokens=token_count(mapping_in(counted.get("input_token_details")), "cache_read"),
    )
