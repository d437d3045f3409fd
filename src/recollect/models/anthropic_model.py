"""Anthropic's models, through its own client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from recollect.errors import MissingExtraError
from recollect.models.anthropic_wire import (
    messages_in_wire,
    read_event,
    read_message,
    system_in_wire,
    tool_in_wire,
)
from recollect.models.provider_client import ProviderModel, ToolMode
from recollect.ports import ModelAnswer, ModelRequest
from recollect.providers.retry_pauses import refuse_long_pause_async
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
