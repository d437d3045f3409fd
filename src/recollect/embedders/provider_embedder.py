"""Embedders of OpenAI, Ollama, and any OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, NoReturn, TypeVar

from recollect.deferred_imports import check_installed
from recollect.embedders.adapters import CallableEmbedder
from recollect.errors import EmbedderError, MissingExtraError, ModelDeniedError
from recollect.providers.endpoints import Endpoint, endpoint_of
from recollect.providers.process_clients import OnePerProcess
from recollect.providers.provider_errors import (
    page_title,
    read_failure,
    refuse_long_pause,
    status_of,
    translated_errors,
)

SaidT = TypeVar("SaidT")

EXTRA: Final = "openai"
TEXT_CHARACTERS_MAX: Final = 6_000
"""Characters of a text, at most; if a model refuses it as too long, it is cut further."""
TEXT_CHARACTERS_MIN: Final = 250
"""A refused text of this length is not cut further: its length is not the reason."""
BATCH_MAX: Final = 64
TIMEOUT_S: Final = 20.0
QUERY_TIMEOUT_S: Final = 4.0
"""The timeout for one text, mostly a query; after it, recall uses words alone."""
# Errors of parsing an answer that is not in the expected form.
_UNREAD: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
# Statuses of a text that is too long; Ollama returns 500.
_TOO_LONG: Final = frozenset({400, 413, 422, 500})


class ProviderEmbedder(CallableEmbedder):
    """
    An embedding model of an OpenAI-compatible server, through OpenAI's own client.

    Its identity is ``provider/model`` and the number of dimensions, regardless of its address. The
    client's errors are raised as `EmbedderError`, which says what to do.
    """

    def __init__(
        self,
        model: str,
        *,
        provider: str = "openai",
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """
        Open the client; no request is sent yet.

        Args:
            provider: ``"openai"`` or ``"ollama"``.
            base_url: The address; by default as for models, see `endpoint_of`.
            timeout_s: The timeout of a request with several texts, which is retried twice after a
                transient failure.

        Raises:
            MissingExtraError: OpenAI's package is not installed.
            EmbedderError: There is no key.
            UsageError: The base URL is invalid.
        """
        endpoint = _endpoint(provider, base_url=base_url, api_key=api_key)
        client = _EmbeddingsClient(model, endpoint, name=f"{provider}/{model}", timeout_s=timeout_s)
        super().__init__(client, identity=f"{provider}/{model}")


def check_provider(provider: str) -> None:
    """
    Raise if no embedder of *provider* can be opened; OpenAI's package is not imported.

    Raises:
        MissingExtraError: OpenAI's package is not installed.
        EmbedderError: There is no key.
        UsageError: The base URL in the environment is invalid.
    """
    _endpoint(provider)
    check_installed(EXTRA, "openai")


def _endpoint(
    provider: str, *, base_url: str | None = None, api_key: str | None = None
) -> Endpoint:
    try:
        return endpoint_of(provider, base_url=base_url, api_key=api_key)
    except ModelDeniedError as error:
        raise EmbedderError(str(error)) from None


class _EmbeddingsClient:
    """Requests vectors in batches; a text that is refused as too long is cut and sent again."""

    def __init__(self, model: str, endpoint: Endpoint, *, name: str, timeout_s: float) -> None:
        try:
            from openai import APIStatusError, DefaultHttpxClient, OpenAI, OpenAIError
        except ModuleNotFoundError as error:
            raise MissingExtraError(EXTRA, error.name or "openai") from error
        self._model = model
        self._name = name
        self._secrets = endpoint.secrets
        self._refusal: type[Exception] = APIStatusError
        self._failures = (OpenAIError, *_UNREAD)

        def opened() -> OpenAI:
            return OpenAI(
                base_url=endpoint.base_url,
                api_key=endpoint.api_key,
                timeout=timeout_s,
                http_client=DefaultHttpxClient(event_hooks={"response": [refuse_long_pause]}),
            )

        with translated_errors(self._failed, self._secrets):
            self._clients = OnePerProcess(opened)

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vector of each text, in order."""
        cut = [text[:TEXT_CHARACTERS_MAX] for text in texts]
        batches = [cut[start : start + BATCH_MAX] for start in range(0, len(cut), BATCH_MAX)]
        with translated_errors(self._failed, self._secrets):
            return [vector for batch in batches for vector in self._vectors(batch)]

    def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            return self._request(texts)
        except self._refusal as error:
            if status_of(error) not in _TOO_LONG or max(map(len, texts)) <= TEXT_CHARACTERS_MIN:
                raise
        if len(texts) > 1:
            return [vector for text in texts for vector in self._vectors([text])]
        return self._vectors([texts[0][: len(texts[0]) // 2]])

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        client = self._clients.get()
        if len(texts) == 1:
            client = client.with_options(timeout=QUERY_TIMEOUT_S, max_retries=0)

        def ask() -> Any:
            return client.embeddings.create(
                model=self._model, input=list(texts), encoding_format="float"
            )

        said = self._in_time(ask) if len(texts) == 1 else ask()
        found = sorted(self._listed(said), key=lambda each: each.index)
        return [list(each.embedding) for each in found]

    def _in_time(self, ask: Callable[[], SaidT]) -> SaidT:
        """Return the answer within the timeout; the client's own timeout limits only each read."""
        answered: SimpleQueue[Callable[[], SaidT]] = SimpleQueue()
        context = copy_context()

        def run() -> None:
            answered.put(context.run(_outcome, ask, self._failures))

        Thread(target=run, name="recollect-query", daemon=True).start()
        try:
            return answered.get(timeout=QUERY_TIMEOUT_S)()
        except Empty:
            late = EmbedderError(f"{self._name} did not answer within {QUERY_TIMEOUT_S:g} s")
            late.about = str(late)
            raise late from None

    def _listed(self, said: object) -> list[Any]:
        data = getattr(said, "data", None)
        if isinstance(data, list) and all(hasattr(each, "embedding") for each in data):
            return data
        page = page_title(said) if isinstance(said, str) else None
        kind = "JSON that holds no vectors" if page is None else f"a web page ({page})"
        error = EmbedderError(
            f"{self._name} answered with {kind}: check the base URL, proxies on the way to it, "
            "and that it serves an embedding model"
        )
        error.about = f"{self._name} answered with no vectors"
        raise error

    def _failed(self, error: Exception) -> EmbedderError:
        found = read_failure(error, self._name, self._secrets)
        failed = EmbedderError(str(found))
        failed.about = found.about
        return failed


def _outcome(
    ask: Callable[[], SaidT], failures: tuple[type[Exception], ...]
) -> Callable[[], SaidT]:
    """Call *ask*, and return a function that returns its result or raises its error."""
    try:
        found = ask()
    except failures as error:
        return partial(_raised, error)
    return lambda: found


def _raised(error: Exception) -> NoReturn:
    raise error
