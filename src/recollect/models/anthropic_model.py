"""Anthropic's models, through its own client: its requests, and how its answers are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from recollect.errors import MissingExtraError
from recollect.models.provider_client import ProviderModel, ToolMode
from recollect.models.provider_turns import (
    acceptable_turns,
    identified_calls,
    mapping_in,
    mappings_in,
    stopped_by,
    token_count,
)
from recollect.ports import ModelAnswer, ModelRequest, Tool, Turn, Usage
from recollect.providers.provider_errors import refuse_long_pause_async
from recollect.records import Json, JsonObject

EXTRA: Final = "anthropic"


class AnthropicModel(ProviderModel):
    """A model of Anthropic's service, or of a server with the same protocol."""

    def _default_mode(self) -> ToolMode:
        return "native"

    def _opened(self, **arguments: Any) -> Any:
        try:
            from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        except ModuleNotFoundError as error:
            raise MissingExtraError(EXTRA, error.name or "anthropic") from error
        # The client's own HTTP client, with a hook.
        client = DefaultAsyncHttpxClient(event_hooks={"response": [refuse_long_pause_async]})
        return AsyncAnthropic(http_client=client, **arguments)

    async def _ask(self, body: Mapping[str, object]) -> Any:
        return await self._client.messages.create(**body)

    def _base_fields(self, request: ModelRequest) -> dict[str, Json]:
        system = system_in_wire(request)
        return {
            "model": self._model,
            "max_tokens": request.output_tokens_max,
            "messages": messages_in_wire(request),
            **({"system": system} if system else {}),
        }

    def _tools(self, request: ModelRequest) -> dict[str, Json]:
        forced = {"tool_choice": {"type": "any"}} if request.must_call else {}
        return {"tools": [tool_in_wire(tool) for tool in request.tools], **forced}

    def _schema(self, request: ModelRequest) -> dict[str, Json]:
        schema, _ = self._answer_schema(request)
        # Older clients have no parameter for this field, but send any extra body.
        form: JsonObject = {"format": {"type": "json_schema", "schema": schema}}
        return {"extra_body": {"output_config": form}}

    def _read(self, said: JsonObject, request: ModelRequest) -> ModelAnswer | None:
        return read_message(said, request)

    def _read_piece(self, event: JsonObject) -> tuple[str, bool]:
        return read_event(event)


def messages_in_wire(request: ModelRequest) -> list[dict[str, Json]]:
    """Return the turns of *request* as messages, consecutive ones of one side merged."""
    # The API wants alternating roles, and the results of all calls in the very next message.
    said = [
        (turn.role == "assistant", _blocks_of(turn)) for turn in acceptable_turns(request.turns)
    ]
    return [
        {
            "role": "assistant" if is_answer else "user",
            "content": [block for _, blocks in together for block in blocks],
        }
        for is_answer, together in groupby((each for each in said if each[1]), key=itemgetter(0))
    ]


def _blocks_of(turn: Turn) -> list[dict[str, Json]]:
    if turn.role == "tool":
        return [{"type": "tool_result", "tool_use_id": turn.answers, "content": turn.text}]
    # The API refuses empty text blocks.
    blocks: list[dict[str, Json]] = []
    if turn.text.strip():
        blocks.append({"type": "text", "text": turn.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]
    return blocks


def system_in_wire(request: ModelRequest) -> list[dict[str, Json]]:
    """Return the system text, marked for the prompt cache, which covers the tools too."""
    if not request.system:
        return []
    mark = {"type": "ephemeral"}
    return [{"type": "text", "text": request.system, "cache_control": mark}]


def tool_in_wire(tool: Tool) -> dict[str, Json]:
    """Return *tool* in the provider's format."""
    schema = json.loads(json.dumps(tool.parameters))
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def read_message(message: JsonObject, request: ModelRequest) -> ModelAnswer | None:
    """Return the answer in a message, without the model's thoughts; ``None`` if it has none."""
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


def _usage(counted: JsonObject) -> Usage:
    read, written = "cache_read_input_tokens", "cache_creation_input_tokens"
    return Usage(
        input_tokens=token_count(counted, "input_tokens", read, written),
        output_tokens=token_count(counted, "output_tokens"),
        cached_tokens=token_count(counted, read),
    )


def read_event(event: JsonObject) -> tuple[str, bool]:
    """Return the text of a streamed event, and whether the answer ends with it."""
    text = mapping_in(event.get("delta")).get("text") or ""
    is_piece = event.get("type") == "content_block_delta"
    return str(text) if is_piece else "", event.get("type") == "message_stop"
