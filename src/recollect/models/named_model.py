"""Open models named ``provider/model``, through the provider's client or LangChain's class."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from recollect.errors import (
    MissingExtraError,
    ModelDeniedError,
    ModelError,
    RecollectError,
    UsageError,
)
from recollect.models.langchain_model import LangChainModel
from recollect.models.provider_client import ProviderModel, ToolMode
from recollect.ports import Model
from recollect.providers.endpoints import endpoint_of
from recollect.providers.provider_errors import REASON_CHARACTERS_MAX, translated_errors
from recollect.providers.redaction import redacted

# Common names of providers, and LangChain's names for them.
_ALIASES: Final = {
    "azure": "azure_openai",
    "gemini": "google_genai",
    "google": "google_genai",
    "mistral": "mistralai",
    "vertex_ai": "google_vertexai",
}
# Providers called through their own clients; all others through LangChain's classes.
NATIVE: Final = frozenset({"anthropic", "ollama", "openai"})
LANGCHAIN_EXTRA: Final = "langchain"
# Providers whose LangChain class has no `max_retries`.
_WITHOUT_RETRIES: Final = frozenset({"huggingface"})
# Providers whose client is shared by all event loops of a process, though a connection belongs to
# one loop: close each connection after its answer, so that no other loop reuses it.
_SHARED_CLIENTS: Final = frozenset({"azure_openai"})
_KEY_MISSING: Final = re.compile(r"api[_ ]key|credential|authenticat", re.IGNORECASE)


def parsed_choice(choice: str) -> tuple[str, str]:
    """
    Return the provider and model in *choice*, separated by the first ``:`` or ``/``.

    >>> parsed_choice("openai/gpt-4.1"), parsed_choice("openrouter:org/model:free")
    (('openai', 'gpt-4.1'), ('openrouter', 'org/model:free'))

    Raises:
        UsageError: *choice* names no provider, or no model.
    """
    found = re.fullmatch(r"([A-Za-z][\w.-]*)[:/](\S.*)", choice.strip())
    if found is None:
        raise UsageError(
            f"{choice!r} names no provider: write 'provider/model', e.g. 'openai/{choice}'"
            if choice.strip() and not re.search("[:/]", choice)
            else f"{choice!r} is no model: write 'provider/model', e.g. 'ollama/llama3.2'"
        )
    provider = found[1].lower().replace("-", "_")
    return _ALIASES.get(provider, provider), found[2]


class NamedModel:
    """A model named by a string, with its address, key and settings."""

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
        """The model as ``provider/model``."""
        return f"{self.provider}/{self.model}"

    def opened(self, tools: ToolMode, timeout_s: float) -> Model:
        """Open the model, through the provider's own client or LangChain's class."""
        if self.provider in NATIVE:
            return self._native(tools, timeout_s)
        secrets = self._secrets()
        chat = self._of_langchain()
        return LangChainModel(
            chat, identity=self.identity, tools=tools, timeout_s=timeout_s, secrets=secrets
        )

    def _native(self, tools: ToolMode, timeout_s: float) -> Model:
        endpoint = endpoint_of(self.provider, base_url=self._base_url, api_key=self._api_key)
        kind: type[ProviderModel]
        if self.provider == "anthropic":
            from recollect.models.anthropic_model import AnthropicModel as kind  # noqa: N813
        else:
            from recollect.models.openai_model import OpenAIModel as kind  # noqa: N813
        with translated_errors(self._refused, endpoint.secrets):
            return kind(
                self.model,
                endpoint,
                identity=self.identity,
                tools=tools,
                timeout_s=timeout_s,
                settings=self._settings,
            )

    def _of_langchain(self) -> object:
        """Open LangChain's chat model; its errors are raised as ours."""
        try:
            from langchain.chat_models import init_chat_model
        except ModuleNotFoundError as error:
            raise MissingExtraError(LANGCHAIN_EXTRA, error.name or "langchain") from error
        with translated_errors(self._refused, self._secrets()):
            return init_chat_model(self.model, model_provider=self.provider, **self._arguments())

    def _arguments(self) -> dict[str, Any]:
        from pydantic import SecretStr

        key = self._api_key
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
        return ModelError(f"{self.identity} needs the package {package}: pip install {package}")

    def _refused(self, error: Exception) -> RecollectError:
        if isinstance(error, ImportError):
            return self._uninstalled(error)
        reason = redacted(str(error), self._secrets())[:REASON_CHARACTERS_MAX]
        if "Unsupported provider" in reason:
            return UsageError(
                f"{self.provider!r} is no provider that LangChain knows; for a server that speaks "
                f"OpenAI's protocol use 'openai/{self.model}' with its base URL"
            )
        if _KEY_MISSING.search(reason) and self._api_key is None:
            return ModelDeniedError(
                f"there is no key for {self.provider}: set {self.provider.upper()}_API_KEY in the "
                f"environment or in .env, or pass api_key ({reason})"
            )
        return ModelError(f"{self.identity} cannot be opened: {type(error).__name__}: {reason}")
