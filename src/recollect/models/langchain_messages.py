"""Requests become LangChain's messages, and its messages become answers: pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from recollect.models.structured_output import calls_before
from recollect.ports import ModelAnswer, ModelRequest, ToolCall, Turn, Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

RECEIVED: Final = "Received."

# Where providers report the stop reason, and their values for a truncated answer.
_STOP_FIELDS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_LENGTH: Final = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"}
)
_REFUSAL: Final = frozenset(
    {
        *("refusal", "content_filter", "content_filtered", "guardrail_intervened", "safety"),
        *("recitation", "blocklist", "prohibited_content", "spii", "error_toxic"),
    }
)


def messages_of(request: ModelRequest, *, marks_stable_part: bool = False) -> list[BaseMessage]:
    """
    Return *request* as messages that every provider accepts.

    Providers demand that each call is valid JSON and is answered before anything else is
    said. So a call whose arguments are no JSON object is shown as text, and so is the answer
    to it; a call that no turn answers gets `RECEIVED`; calls without an id get one.

    Args:
        marks_stable_part: Marks the system text for the cache of Anthropic's service, which
            covers the tools too.
    """
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    messages: list[BaseMessage] = []
    if request.system:
        mark = {"cache_control": {"type": "ephemeral"}} if marks_stable_part else {}
        block = {"type": "text", "text": request.system, **mark}
        messages.append(SystemMessage(content=[block] if mark else request.system))
    waiting: list[str] = []
    held: list[BaseMessage] = []
    for turn in request.turns:
        if turn.role == "tool":
            if turn.answers in waiting:
                waiting.remove(turn.answers)
                messages.append(ToolMessage(content=turn.text, tool_call_id=turn.answers))
            else:
                held.append(HumanMessage(content=turn.text))
            continue
        messages += [*_received(waiting), *held]
        waiting, held = [], []
        if turn.role == "user":
            messages.append(HumanMessage(content=turn.text))
            continue
        whole, text = _spoken(turn)
        calls = [
            {"name": call.name, "args": dict(arguments), "id": call.id or f"call_at_{place}"}
            for place, (call, arguments) in enumerate(whole, len(messages))
        ]
        waiting = [str(call["id"]) for call in calls]
        messages.append(AIMessage(content=text, tool_calls=calls))
    return [*messages, *_received(waiting), *held]


def _received(waiting: Sequence[str]) -> list[BaseMessage]:
    from langchain_core.messages import ToolMessage

    return [ToolMessage(content=RECEIVED, tool_call_id=each) for each in waiting]


def _spoken(turn: Turn) -> tuple[list[tuple[ToolCall, Mapping[str, Any]]], str]:
    """Part the calls of *turn* into those with an object for arguments, and text on the others."""
    whole = []
    said = [turn.text] if turn.text else []
    for call in turn.calls:
        arguments = _object_in(call.arguments)
        if arguments is None:
            said.append(f"(I called {call.name!r} with what is no JSON object: {call.arguments})")
        else:
            whole.append((call, arguments))
    return whole, "\n".join(said)


def _object_in(arguments: object) -> Mapping[str, Any] | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, Mapping) else None


def read_message(message: AIMessage, request: ModelRequest) -> ModelAnswer:
    """
    Convert *message* to the answer to *request*.

    Calls are in the client's order: parsed ones, then unparsable ones as written. Each has a unique
    id.
    """
    refused = _refusal_in(message)
    raw = [
        *((call["name"], call["args"], call["id"]) for call in message.tool_calls),
        *((call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls),
    ]
    taken: set[str] = set()
    calls = []
    for number, (name, arguments, named) in enumerate(raw, 1 + calls_before(request)):
        id_ = named if named and named not in taken else f"call_{number}"
        taken.add(id_)
        calls.append(
            ToolCall(name=name or "", arguments="" if arguments is None else arguments, id=id_)
        )
    return ModelAnswer(
        text=text_of(message.content) or refused,
        calls=tuple(calls),
        stopped="refusal" if refused else stopped_by(message.response_metadata),
        usage=_usage(message),
    )


def text_of(content: object) -> str:
    """Return the text in a message's content, be it a string or blocks; thoughts are none."""
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
    told = message.additional_kwargs.get("refusal")
    if isinstance(told, str) and told:
        return told
    blocks = message.content if isinstance(message.content, list) else []
    return "".join(
        str(block.get("refusal") or "")
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "refusal"
    )


def stopped_by(metadata: Mapping[str, Any]) -> Literal["end", "length", "refusal"]:
    """
    Return why a model stopped, from what its provider says.

    >>> stopped_by({"finish_reason": "length"}), stopped_by({"stop_reason": "refusal"})
    ('length', 'refusal')
    """
    reasons = set(_reasons(metadata))
    if reasons & _REFUSAL:
        return "refusal"
    return "length" if reasons & _LENGTH else "end"


def _reasons(metadata: Mapping[str, Any]) -> Iterator[str]:
    details = metadata.get("incomplete_details")
    found = [metadata.get(name) for name in _STOP_FIELDS]
    found.append(details.get("reason") if isinstance(details, Mapping) else None)
    return (each.lower() for each in found if isinstance(each, str))


def _usage(message: AIMessage) -> Usage:
    counted: Mapping[str, Any] = message.usage_metadata or {}
    details: Mapping[str, Any] = counted.get("input_token_details") or {}
    return Usage(
        input_tokens=counted.get("input_tokens") or 0,
        output_tokens=counted.get("output_tokens") or 0,
        cached_tokens=details.get("cache_read") or 0,
    )
