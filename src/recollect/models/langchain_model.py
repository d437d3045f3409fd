"""`LangChainModel`: a LangChain chat model as a model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, Final

from recollect.errors import ModelError, UsageError
from recollect.models.langchain_messages import messages_of, read_message, text_of
from recollect.models.openai_wire import function_of
from recollect.models.provider_client import TIMEOUT_S, TOOL_MODES, ToolMode
from recollect.models.structured_output import calls_schema, in_words, with_calls
from recollect.ports import ModelAnswer, ModelRequest, Usage
from recollect.providers.provider_errors import pieces_within, provider_call
from recollect.providers.redaction import secrets_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

# The names of the limit of output tokens in providers' classes.
_LIMIT_FIELDS: Final = ("max_tokens", "max_output_tokens", "num_predict", "max_completion_tokens")


class LangChainModel:
    """
    A LangChain chat model, or a runnable around one.

    With ``tools="auto"`` the model gets tools natively if its class can bind them, else as the
    schema of its answer if it has structured output, else in the prompt.
    """

    def __init__(
        self,
        model: object,
        *,
        identity: str | None = None,
        tools: ToolMode = "auto",
        timeout_s: float = TIMEOUT_S,
        secrets: Iterable[str] = (),
    ) -> None:
        """
        Wrap *model*.

        Args:
            identity: Defaults to provider and model, read from the class and attributes.
            timeout_s: The timeout of a whole answer; the client may have a shorter one.
            secrets: Keys to redact in error messages, in addition to those that *model* marks as
                secret.

        Raises:
            UsageError: *tools* or *timeout_s* is invalid.
        """
        if tools not in TOOL_MODES or not timeout_s > 0:
            msg = f"tools={tools!r}, timeout_s={timeout_s!r}: use one of {TOOL_MODES}, above 0 s"
            raise UsageError(msg)
        self._model: object = model
        self._identity = identity or identity_of(model)
        self._mode = _mode_of(model) if tools == "auto" else tools
        self._timeout_s = timeout_s
        self._secrets = frozenset({*secrets, *secrets_of(model)})
        self._limited: dict[int, object] = {}

    def __repr__(self) -> str:
        return f"LangChainModel({self._identity!r}, tools={self._mode!r})"

    @property
    def identity(self) -> str:
        """The model as ``provider/model``."""
        return self._identity

    async def answer(self, request: ModelRequest) -> ModelAnswer:
        """Return the whole answer within the timeout."""
        try:
            async with provider_call(
                self._identity, timeout_s=self._timeout_s, secrets=self._secrets
            ):
                message = await self._ask(request)
        except ModelError as failure:
            answer = cut_short(failure.__cause__)
            if answer is None:
                raise
        else:
            answer = read_message(message, request)
        if request.tools and self._mode != "native":
            return with_calls(answer, request)
        return answer

    def stream(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the text of the answer piece by piece; no tools are offered."""
        return pieces_within(
            self._pieces(request),
            self._identity,
            timeout_s=self._timeout_s,
            secrets=self._secrets,
        )

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[str, None]:
        model = self._limited_to(request.output_tokens_max)
        async for chunk in model.astream(self._messages(in_words(request, describe=False))):
            if piece := text_of(chunk.content):
                yield piece

    async def _ask(self, request: ModelRequest) -> AIMessage:
        model = self._limited_to(request.output_tokens_max)
        if not request.tools:
            return _message(await model.ainvoke(self._messages(request)))
        if self._mode == "native":
            forced = {"tool_choice": "any"} if request.must_call else {}
            bound = model.bind_tools([function_of(tool) for tool in request.tools], **forced)
            return _message(await bound.ainvoke(self._messages(request)))
        described = self._messages(in_words(request, describe=self._mode == "prompt"))
        if self._mode == "prompt":
            return _message(await model.ainvoke(described))
        schema = calls_schema(request.tools, must_call=request.must_call)
        bound = model.with_structured_output(schema, method="json_schema", include_raw=True)
        return _message((await bound.ainvoke(described))["raw"])

    def _messages(self, request: ModelRequest) -> list[BaseMessage]:
        is_marked = type(self._model).__module__.startswith("langchain_anthropic")
        return messages_of(request, marks_stable_part=is_marked)

    def _limited_to(self, output_tokens_max: int) -> Any:
        if output_tokens_max not in self._limited:
            self._limited = {output_tokens_max: _limited(self._model, output_tokens_max)}
        return self._limited[output_tokens_max]


def _limited(model: Any, output_tokens_max: int) -> Any:
    fields = getattr(type(model), "model_fields", {})
    name = next((name for name in _LIMIT_FIELDS if name in fields), None)
    if name is None:
        return model
    own = getattr(model, name)
    limit = min(own, output_tokens_max) if isinstance(own, int) and own > 0 else output_tokens_max
    return model.model_copy(update={name: limit})


def _mode_of(model: object) -> ToolMode:
    """Detect whether the class overrides ``bind_tools`` or ``with_structured_output``."""
    from langchain_core.language_models import BaseChatModel

    kind: type[BaseChatModel] | None = type(model) if isinstance(model, BaseChatModel) else None
    if kind is None:
        return "native" if hasattr(model, "bind_tools") else "prompt"
    if kind.bind_tools is not BaseChatModel.bind_tools:
        return "native"
    has_schema = kind.with_structured_output is not BaseChatModel.with_structured_output
    return "json_schema" if has_schema else "prompt"


def _message(answer: object) -> AIMessage:
    from langchain_core.messages import AIMessage

    if isinstance(answer, AIMessage):
        return answer
    raise ModelError(f"the model returned a {type(answer).__name__}, not an AIMessage")


def cut_short(error: object) -> ModelAnswer | None:
    """Return the answer in an error by which OpenAI's client reports an early stop."""
    kind = type(error).__name__
    if kind == "ContentFilterFinishReasonError":
        return ModelAnswer(stopped="refusal")
    if kind != "LengthFinishReasonError":
        return None
    completion: Any = getattr(error, "completion", None)
    usage = getattr(completion, "usage", None)
    return ModelAnswer(
        text=completion.choices[0].message.content or "",
        stopped="length",
        usage=Usage(
            input_tokens=getattr(usage, "prompt_tokens", 0),
            output_tokens=getattr(usage, "completion_tokens", 0),
        ),
    )


def identity_of(model: object) -> str:
    """
    Return ``provider/model`` of a LangChain object, from its class and attributes.

    ``ChatOpenAI`` of the package ``langchain_openai`` with ``model_name="m"`` is ``openai/m``.
    """
    package = type(model).__module__.partition(".")[0]
    provider = package.removeprefix("langchain_") if package != "langchain_core" else ""
    named = (getattr(model, name, None) for name in ("model_name", "model", "model_id"))
    name = next((each for each in named if isinstance(each, str) and each), type(model).__name__)
    return f"{provider or 'langchain'}/{name}"


def is_langchain(choice: object) -> bool:
    """Return True if *choice* is a runnable of LangChain, without importing LangChain."""
    return all(callable(getattr(choice, name, None)) for name in ("ainvoke", "astream"))
