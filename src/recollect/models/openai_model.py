"""Models of OpenAI and of any OpenAI-compatible server, through OpenAI's own client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from recollect.errors import MissingExtraError
from recollect.models.openai_wire import function_of, messages_in_wire, read_chunk, read_completion
from recollect.models.provider_client import ProviderModel, ToolMode
from recollect.models.structured_output import CALLS_TITLE
from recollect.ports import ModelAnswer, ModelRequest
from recollect.providers.provider_errors import refuse_long_pause_async
from recollect.records import Json, JsonObject

EXTRA: Final = "openai"
_LIMITS: Final = ("max_completion_tokens", "max_tokens")


class OpenAIModel(ProviderModel):
    """
    A model of OpenAI's service, or ``ollama``, or any OpenAI-compatible server.

    With ``tools="auto"`` OpenAI's own models get tools natively. Other servers get them as the
    schema of the answer, which local ones follow reliably.
    """

    def _default_mode(self) -> ToolMode:
        return "json_schema" if self._endpoint.is_elsewhere else "native"

    def _opened(self, **arguments: Any) -> Any:
        try:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient
        except ModuleNotFoundError as error:
            raise MissingExtraError(EXTRA, error.name or "openai") from error
        # The client's own HTTP client, with a hook.
        client = DefaultAsyncHttpxClient(event_hooks={"response": [refuse_long_pause_async]})
        return AsyncOpenAI(http_client=client, **arguments)

    async def _ask(self, body: Mapping[str, object]) -> Any:
        return await self._client.chat.completions.create(**body)

    def _base_fields(self, request: ModelRequest) -> dict[str, Json]:
        fields: dict[str, Json] = {"model": self._model, "messages": messages_in_wire(request)}
        if self._fields.keys().isdisjoint(_LIMITS):
            # OpenAI requires the newer name; other servers know only the older one.
            name = _LIMITS[self._endpoint.is_elsewhere]
            fields[name] = request.output_tokens_max
        return fields

    def _tools(self, request: ModelRequest) -> dict[str, Json]:
        forced = {"tool_choice": "required"} if request.must_call else {}
        return {"tools": [function_of(tool) for tool in request.tools], **forced}

    def _schema(self, request: ModelRequest) -> dict[str, Json]:
        schema, is_strict = self._answer_schema(request)
        form: dict[str, Json] = {"name": CALLS_TITLE, "schema": schema}
        if is_strict:
            form["strict"] = True
        return {"response_format": {"type": "json_schema", "json_schema": form}}

    def _read(self, said: JsonObject, request: ModelRequest) -> ModelAnswer | None:
        return read_completion(said, request)

    def _read_piece(self, event: JsonObject) -> tuple[str, bool]:
        return read_chunk(event)
