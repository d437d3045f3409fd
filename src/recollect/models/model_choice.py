"""Finds the model that a choice names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, overload

from recollect.errors import (
    MissingExtraError,
    ModelDeniedError,
    ModelError,
    RecollectError,
    UsageError,
)
from recollect.models.callables import Ask, CallableModel
from recollect.models.environment import EXTRA, load_environment
from recollect.models.langchain_model import (
    TIMEOUT_S,
    TOOL_MODES,
    LangChainModel,
    ToolMode,
    is_langchain,
)
from recollect.models.provider_errors import REASON_CHARACTERS_MAX, told
from recollect.models.redaction import hidden
from recollect.models.structured_output import PromptedModel
from recollect.ports import Model

ModelChoice: TypeAlias = "str | Model | Ask | object | None"
"""What `open_model` takes; an ``object`` is a LangChain chat model."""

RULES: Final = "rules"
"""The name of the model of rules."""
# What people write, and what LangChain calls it.
_ALIASES: Final = {
    "azure": "azure_openai",
    "gemini": "google_genai",
    "google": "google_genai",
    "mistral": "mistralai",
    "vertex_ai": "google_vertexai",
}
# The extras that bring a provider's package; the others are installed by their own name.
PROVIDER_EXTRAS: Final = {
    "anthropic": "anthropic",
    "azure_openai": "openai",
    "ollama": "ollama",
    "openai": "openai",
}
# Their classes take no number of retries.
_WITHOUT_RETRIES: Final = frozenset({"ollama", "huggingface"})
# Their clients are shared by all event loops of a process, with connections that belong to one
# loop: a connection that ends with its answer is never met by another loop.
_SHARED_CLIENTS: Final = frozenset({"anthropic", "azure_openai", "openai"})
_NO_KEY: Final = "none"  # a local server asks for none, but the client wants to send one
_KEY_MISSING: Final = re.compile(r"api[_ ]key|credential|authenticat", re.IGNORECASE)


@overload
def open_model(  # type: ignore[overload-overlap]  # None alone gives None
    choice: None,
    *,
    base_url: None = None,
    api_key: None = None,
    tools: ToolMode = "auto",
    timeout_s: float = TIMEOUT_S,
    settings: None = None,
    env_file: str | Path | None = None,
) -> None: ...
@overload
def open_model(
    choice: str | Model | Ask | object,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    tools: ToolMode = "auto",
    timeout_s: float = TIMEOUT_S,
    settings: Mapping[str, object] | None = None,
    env_file: str | Path | None = None,
) -> Model: ...
def open_model(
    choice: ModelChoice,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    tools: ToolMode = "auto",
    timeout_s: float = TIMEOUT_S,
    settings: Mapping[str, object] | None = None,
    env_file: str | Path | None = None,
) -> Model | None:
    """
    Return the model that *choice* names; nothing is asked of it yet.

    Args:
        choice: ``"provider/model"`` or ``"provider:model"``, e.g. ``"openrouter:org/model"``;
            ``"rules"`` for one of fixed rules, which needs no provider and understands a few
            plain sentences, to try things out; a LangChain chat model; an async callable, see
            `CallableModel`; a `Model`, which keeps time and fails as it likes; ``None`` for none.
        base_url: Where a string's model is served: ``"openai/<name>"`` with it is any server
            that speaks OpenAI's protocol (Ollama, vLLM, llama.cpp). Such a model gets tools as
            a JSON Schema if *tools* is ``"auto"``: local servers keep to one reliably. No key of
            the environment is sent there.
        api_key: For a string; by default the provider's variable in the environment.
        tools: How it is given tools: ``"native"``, as a ``"json_schema"`` of its answer, in the
            ``"prompt"``, or ``"auto"``: as it can.
        timeout_s: For a whole answer.
        settings: For a string: more arguments of LangChain's class, e.g. ``temperature``.
        env_file: For a string: a file of variables to read first, see `load_environment`.

    Raises:
        UsageError: It is none of these, or names no provider.
        MissingExtraError: LangChain, or the provider's package, is not installed.
        ModelDeniedError: The provider needs a key, and there is none.
        ModelError: The provider's class refuses the settings.
    """
    if tools not in TOOL_MODES or not timeout_s > 0:
        msg = f"tools={tools!r}, timeout_s={timeout_s!r}: use one of {TOOL_MODES}, above 0 s"
        raise UsageError(msg)
    if choice == RULES:
        from recollect.formation.rule_model import RuleModel

        choice = RuleModel()
    if isinstance(choice, str):
        if env_file is not None:
            load_environment(env_file)
        asked = _Asked(choice, base_url=base_url, api_key=api_key, settings=settings)
        mode: ToolMode = "json_schema" if tools == "auto" and asked.is_elsewhere else tools
        return LangChainModel(
            asked.opened(),
            identity=asked.identity,
            tools=mode,
            timeout_s=timeout_s,
            secrets=[api_key] if api_key else (),
        )
    if base_url is not None or api_key is not None or settings is not None:
        msg = "base_url, api_key and settings go with 'provider/model': an object has its own"
        raise UsageError(msg)
    return None if choice is None else _adapted(choice, tools, timeout_s)


def _adapted(choice: object, tools: ToolMode, timeout_s: float) -> Model:
    """Return a foreign object as a `Model`."""
    if isinstance(choice, type):
        msg = f"{choice.__name__} is a class: pass an object made from it"
        raise UsageError(msg)
    if not isinstance(choice, Model) and is_langchain(choice):
        return LangChainModel(choice, tools=tools, timeout_s=timeout_s)
    if tools == "json_schema":
        msg = "tools='json_schema' needs a LangChain model or 'provider/model'; use 'prompt'"
        raise UsageError(msg)
    model: Model
    if isinstance(choice, Model):
        model = choice
    elif callable(choice):
        model = CallableModel(choice, timeout_s=timeout_s)
    else:
        msg = f"{type(choice).__name__} is no model: it has neither answer(), ainvoke() nor a call"
        raise UsageError(msg)
    return PromptedModel(model) if tools == "prompt" else model


def parsed_choice(choice: str) -> tuple[str, str]:
    """
    Return provider and model of *choice*; the first ``:`` or ``/`` parts them.

    >>> parsed_choice("openai/gpt-4.1"), parsed_choice("openrouter:org/model:free")
    (('openai', 'gpt-4.1'), ('openrouter', 'org/model:free'))

    Raises:
        UsageError: It names no provider, or no model.
    """
    found = re.fullmatch(r"([A-Za-z][\w.-]*)[:/](\S.*)", choice.strip())
    if found is None:
        msg = (
            f"{choice!r} names no provider: write 'provider/model', e.g. 'openai/{choice}'"
            if choice.strip() and not re.search("[:/]", choice)
            else f"{choice!r} is no model: write 'provider/model', e.g. 'ollama/llama3.2'"
        )
        raise UsageError(msg)
    provider = found[1].lower().replace("-", "_")
    return _ALIASES.get(provider, provider), found[2]


class _Asked:
    """A model that a string names, and where it is."""

    def __init__(
        self,
        choice: str,
        *,
        base_url: str | None,
        api_key: str | None,
        settings: Mapping[str, object] | None,
    ) -> None:
        self.provider, self.model = parsed_choice(choice)
        self._base_url = base_url
        self._api_key = api_key
        self._settings = dict(settings or {})

    @property
    def identity(self) -> str:
        return f"{self.provider}/{self.model}"

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is some server that speaks OpenAI's protocol."""
        return self.provider == "openai" and self._base_url is not None

    def opened(self) -> object:
        """Return LangChain's object; its errors become ours."""
        try:
            from langchain.chat_models import init_chat_model
        except ModuleNotFoundError as error:
            raise MissingExtraError(EXTRA, error.name or "langchain") from error
        with told(self._refused, self._secrets()):
            return init_chat_model(self.model, model_provider=self.provider, **self._arguments())

    def _arguments(self) -> dict[str, Any]:
        from pydantic import SecretStr

        key = self._api_key
        if key is None and self.is_elsewhere:
            key = _NO_KEY
        given: dict[str, Any] = {} if self.provider in _WITHOUT_RETRIES else {"max_retries": 0}
        if self._base_url is not None:
            given["base_url"] = self._base_url
        if key is not None:
            given["api_key"] = SecretStr(key)
        given |= self._settings
        if self.provider in _SHARED_CLIENTS:
            given["default_headers"] = {"Connection": "close"} | given.get("default_headers", {})
        return given

    def _secrets(self) -> tuple[str, ...]:
        return () if self._api_key is None else (self._api_key,)

    def _uninstalled(self, error: ImportError) -> RecollectError:
        cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        package = (cause.name or f"langchain_{self.provider}").partition(".")[0].replace("_", "-")
        if self.provider in PROVIDER_EXTRAS:
            return MissingExtraError(PROVIDER_EXTRAS[self.provider], package)
        return ModelError(f"{self.identity} needs the package {package}: pip install {package}")

    def _refused(self, error: Exception) -> RecollectError:
        if isinstance(error, ImportError):
            return self._uninstalled(error)
        reason = hidden(str(error), self._secrets())[:REASON_CHARACTERS_MAX]
        if "Unsupported provider" in reason:
            return UsageError(
                f"{self.provider!r} is no provider that LangChain knows; a server that speaks "
                f"OpenAI's protocol is 'openai/{self.model}' with its base URL"
            )
        if _KEY_MISSING.search(reason) and self._api_key is None:
            return ModelDeniedError(
                f"there is no key for {self.provider}: set {self.provider.upper()}_API_KEY in the "
                f"environment or in .env, or pass api_key ({reason})"
            )
        return ModelError(f"{self.identity} cannot be opened: {type(error).__name__}: {reason}")
