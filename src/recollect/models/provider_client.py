"""`ProviderModel`: the base of models called through a provider's own client."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from recollect.errors import ModelError, ModelUnavailableError, UsageError
from recollect.models.provider_turns import mapping_in
from recollect.models.strict_schema import strict_schema, without_added_nulls
from recollect.models.structured_output import calls_schema, in_words, with_calls
from recollect.ports import ModelAnswer, ModelRequest
from recollect.providers.endpoints import Endpoint
from recollect.providers.provider_errors import page_title, pieces_within, provider_call
from recollect.records import Json, JsonObject

ToolMode: TypeAlias = Literal["auto", "native", "json_schema", "prompt"]
"""How a model gets tools: natively, as the schema of its answer, or in the prompt."""
TOOL_MODES: Final = ("auto", "native", "json_schema", "prompt")
TIMEOUT_S: Final = 120.0

# Settings of the client; all others are fields of each request.
_CLIENT_SETTINGS: Final = frozenset({"max_retries", "default_headers", "default_query"})


class ProviderModel(ABC):
    """
    A model called through a provider's own client, which retries transient failures.

    The client is shared by all event loops of a process, but a connection belongs to one loop: each
    connection is closed after its answer.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        identity: str,
        tools: ToolMode = "auto",
        timeout_s: float = TIMEOUT_S,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """
        Open the client; no request is sent yet.

        Args:
            identity: The model as ``provider/model``.
            timeout_s: The timeout of a whole answer, including retries.
            settings: ``max_retries`` (2 by default), ``default_headers`` and ``default_query`` of
                the client, and fields of each request, e.g. ``temperature``.

        Raises:
            MissingExtraError: The provider's package is not installed.
            ModelError: The client refuses the settings.
        """
        given = dict(settings or {})
        headers = given.pop("default_headers", {})
        if not isinstance(headers, Mapping):
            raise UsageError(f"default_headers is {headers!r}: give a mapping of names to values")
        client = {name: given.pop(name) for name in _CLIENT_SETTINGS & given.keys()}
        client["default_headers"] = {"Connection": "close", **headers}
        self._model = model
        self._endpoint = endpoint
        self._identity = identity
        self._mode = self._default_mode() if tools == "auto" else tools
        self._timeout_s = timeout_s
        self._fields = given
        self._client = self._opened(
            base_url=endpoint.base_url, api_key=endpoint.api_key, timeout=timeout_s, **client
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._identity!r}, tools={self._mode!r})"

    @property
    def identity(self) -> str:
        """The model as ``provider/model``."""
        return self._identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer within the timeout."""
        secrets = self._endpoint.secrets
        async with provider_call(self._identity, timeout_s=self._timeout_s, secrets=secrets):
            said = plain_answer(await self._ask(self._body(request)), self._identity)
        answer = self._read(said, request)
        if answer is None:
            msg = f"{self._identity} answered with JSON that is no answer: check the base URL"
            raise ModelError(msg)
        if not request.tools or self._mode == "native":
            return answer
        return self._without_nulls(with_calls(answer, request), request)

    def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """
        Yield the text of the answer piece by piece; no tools are offered.

        Raises:
            ModelUnavailableError: The service is unavailable, or the stream ended before the
                answer was complete.
        """
        return pieces_within(
            self._pieces(in_words(request, describe=False)),
            self._identity,
            timeout_s=self._timeout_s,
            secrets=self._endpoint.secrets,
        )

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[str, None]:
        is_complete = False
        async with await self._ask({**self._body(request), "stream": True}) as events:
            check_stream(events.response.headers, self._identity)
            async for event in events:
                text, is_last = self._read_piece(plain_answer(event, self._identity))
                is_complete |= is_last
                if text:
                    yield text
        if not is_complete:
            raise broken_off(self._identity)

    def _body(self, request: ModelRequest) -> dict[str, object]:
        """Return the fields of a request; the settings override them."""
        if not request.tools:
            body = self._base_fields(request)
        elif self._mode == "native":
            body = {**self._base_fields(request), **self._tools(request)}
        else:
            body = self._base_fields(in_words(request, describe=self._mode == "prompt"))
            if self._mode == "json_schema":
                body |= self._schema(request)
        return {**body, "extra_body": {**mapping_in(body.get("extra_body")), **self._fields}}

    def _answer_schema(self, request: ModelRequest) -> tuple[JsonObject, bool]:
        """Return the schema of an answer, and whether it is in strict form."""
        schema = calls_schema(request.tools, must_call=request.must_call)
        strict = None if self._endpoint.is_elsewhere else strict_schema(schema)
        chosen = schema if strict is None else strict
        return json.loads(json.dumps(chosen)), strict is not None

    def _without_nulls(self, answer: ModelAnswer, request: ModelRequest) -> ModelAnswer:
        if self._mode != "json_schema" or self._endpoint.is_elsewhere:
            return answer
        schemas = {tool.name: tool.parameters for tool in request.tools}
        calls = [
            replace(call, arguments=without_added_nulls(call.arguments, schemas[call.name]))
            if isinstance(call.arguments, str) and call.name in schemas
            else call
            for call in answer.calls
        ]
        return replace(answer, calls=tuple(calls))

    @abstractmethod
    def _default_mode(self) -> ToolMode:
        """Return the tool mode for ``"auto"``."""

    @abstractmethod
    def _opened(self, **arguments: object) -> Any:
        """Return the provider's client."""

    @abstractmethod
    async def _ask(self, body: Mapping[str, object]) -> Any:
        """Send a request, and return the client's answer object."""

    @abstractmethod
    def _base_fields(self, request: ModelRequest) -> dict[str, Json]:
        """Return the fields of a request without tools."""

    @abstractmethod
    def _tools(self, request: ModelRequest) -> dict[str, Json]:
        """Return the fields of a request that offer tools."""

    @abstractmethod
    def _schema(self, request: ModelRequest) -> dict[str, Json]:
        """Return the fields of a request that set the schema of the answer."""

    @abstractmethod
    def _read(self, said: JsonObject, request: ModelRequest) -> ModelAnswer | None:
        """Return the answer in *said*; ``None`` if it has none."""

    @abstractmethod
    def _read_piece(self, event: JsonObject) -> tuple[str, bool]:
        """Return the text of a streamed event, and whether the answer ends with it."""


def plain_answer(said: object, identity: str) -> JsonObject:
    """
    Return the JSON object behind a client's object *said*, with only the fields that were sent.

    Raises:
        ModelError: *said* is a web page, or not an object; the error says what to check.
    """
    dump = getattr(said, "to_dict", None)
    if callable(dump):
        found = dump(warnings=False)
        if isinstance(found, Mapping):
            return found
    page = page_title(said) if isinstance(said, str) else None
    kind = "JSON that is no answer" if page is None else f"a web page ({page}) instead of JSON"
    msg = f"{identity} answered with {kind}: check the base URL, and proxies on the way to it"
    error = ModelError(msg)
    error.about = f"{identity} answered with no JSON of an answer"
    raise error


def check_stream(headers: Mapping[str, str], identity: str) -> None:
    """Raise a `ModelError` if *headers* announce a web page instead of a stream of events."""
    if headers.get("content-type", "").lower().startswith("text/html"):
        about = f"{identity} answered with a web page instead of a stream of events"
        error = ModelError(f"{about}: check the base URL, and proxies on the way to it")
        error.about = about
        raise error


def broken_off(identity: str) -> ModelUnavailableError:
    """Return the error for a stream that ended without the provider's end marker."""
    error = ModelUnavailableError(
        f"{identity} broke off its answer: the stream ended before the answer was complete; "
        "discard it and try again"
    )
    error.about = f"{identity} broke off its answer"
    return error
