"""Build requests in OpenAI's chat format, and parse its answers; pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping

from recollect.models.provider_turns import (
    acceptable_turns,
    identified_calls,
    mapping_in,
    mappings_in,
    stopped_by,
    token_count,
)
from recollect.ports import ModelAnswer, ModelRequest, Tool, Turn, Usage
from recollect.records import Json, JsonObject


def messages_in_wire(request: ModelRequest) -> list[dict[str, Json]]:
    """Return the turns of *request* as messages, its system text first."""
    system: list[dict[str, Json]] = []
    if request.system:
        system.append({"role": "system", "content": request.system})
    return [*system, *(_message_of(turn) for turn in acceptable_turns(request.turns))]


def _message_of(turn: Turn) -> dict[str, Json]:
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": turn.answers, "content": turn.text}
    if not turn.calls:
        return {"role": turn.role, "content": turn.text}
    calls: list[Json] = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": json.dumps(call.arguments, ensure_ascii=False),
            },
        }
        for call in turn.calls
    ]
    return {"role": turn.role, "content": turn.text or None, "tool_calls": calls}


def function_of(tool: Tool) -> dict[str, Json]:
    """Return *tool* as a function in OpenAI's format."""
    # Copy through JSON: clients check for dicts and lists, not for mappings and sequences.
    parameters = json.loads(json.dumps(tool.parameters))
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def read_completion(completion: JsonObject, request: ModelRequest) -> ModelAnswer | None:
    """Return the answer in a chat completion, with unparsed arguments; ``None`` if it has none."""
    choice = next(iter(mappings_in(completion.get("choices"))), {})
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return None
    functions = [
        (mapping_in(each.get("function")), each.get("id"))
        for each in mappings_in(message.get("tool_calls"))
    ]
    raw = [(function.get("name"), function.get("arguments"), id_) for function, id_ in functions]
    refused = message.get("refusal") or ""
    return ModelAnswer(
        text=str(message.get("content") or refused),
        calls=identified_calls(raw, request),
        stopped="refusal" if refused else stopped_by(choice),
        usage=_usage(mapping_in(completion.get("usage"))),
    )


def _usage(counted: JsonObject) -> Usage:
    details = mapping_in(counted.get("prompt_tokens_details"))
    return Usage(
        input_tokens=token_count(counted, "prompt_tokens"),
        output_tokens=token_count(counted, "completion_tokens"),
        cached_tokens=token_count(details, "cached_tokens"),
    )


def read_chunk(chunk: JsonObject) -> tuple[str, bool]:
    """Return the text of a streamed chunk, and whether the answer ends with it."""
    choice = next(iter(mappings_in(chunk.get("choices"))), {})
    text = mapping_in(choice.get("delta")).get("content")
    return text if isinstance(text, str) else "", bool(choice.get("finish_reason"))
