"""`RerankEndpoint`: a reranker over HTTP, as served by Cohere, Jina, vLLM, llama.cpp and TEI."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from email.message import Message as Headers
from typing import IO, Any, Final
from urllib.error import HTTPError
from urllib.parse import urldefrag, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from recollect.errors import ModelDeniedError, ModelError, UsageError
from recollect.providers.endpoints import checked_url
from recollect.providers.provider_errors import page_title, read_failure, translated_errors

TIMEOUT_S: Final = 10.0
TEXT_CHARACTERS_MAX: Final = 4_000
ANSWER_BYTES_MAX: Final = 4_000_000
KEY_VARIABLE: Final = "RECOLLECT_RERANK_KEY"
_SERVICES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "cohere": ("https://api.cohere.com/v2/rerank", ("COHERE_API_KEY", "CO_API_KEY")),
    "jina": ("https://api.jina.ai/v1/rerank", ("JINA_API_KEY",)),
}


def named_endpoint(choice: str) -> RerankEndpoint:
    """
    Return the endpoint of a URL, with the model after ``#``, or of ``cohere/model``.

    Raises:
        UsageError: *choice* is neither.
        ModelDeniedError: The service needs a key, and there is none.
    """
    service, slash, model = choice.partition("/")
    if service in _SERVICES and slash and model:
        url, variables = _SERVICES[service]
        key = next((os.environ[each] for each in variables if os.environ.get(each)), None)
        if key is None:
            msg = f"there is no key for {service}: set {variables[0]} in the environment"
            raise ModelDeniedError(msg)
        return RerankEndpoint(url, model=model, api_key=key, identity=choice)
    if not choice.startswith(("http://", "https://")):
        raise UsageError(
            f"{choice!r} is no reranker: write its URL, such as http://127.0.0.1:8080/rerank or "
            "http://127.0.0.1:8000/v1/rerank#model, 'cohere/MODEL', 'jina/MODEL' or "
            "'module:attribute'"
        )
    url, model = urldefrag(choice)
    return RerankEndpoint(url, model=model or None, api_key=os.environ.get(KEY_VARIABLE))


class RerankEndpoint:
    """A route ``/rerank`` or ``/v1/rerank`` or ``/v2/rerank``, as of Cohere, Jina or TEI."""

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        api_key: str | None = None,
        identity: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """
        Create the client of an endpoint; no request is sent yet.

        Args:
            identity: Defaults to host and model.
            timeout_s: The timeout of each socket operation; recall has a shorter timeout in all.

        Raises:
            UsageError: The URL is invalid.
        """
        self._url = checked_url(url)
        self._model = model
        self._secrets = (api_key,) if api_key else ()
        self._timeout_s = timeout_s
        host = urlsplit(url).netloc.rpartition("@")[2]
        self._identity = identity or f"{host}/{model or 'rerank'}"
        self._opener = build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"RerankEndpoint({self._identity!r})"

    @property
    def identity(self) -> str:
        """The host or service, and the model."""
        return self._identity

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """
        Return the score of each text; ``None`` for a text without a score in the answer.

        Raises:
            ModelError: The server failed, or its answer has no scores; the error says what to do.
        """
        with translated_errors(
            lambda error: read_failure(error, self._identity, self._secrets), self._secrets
        ):
            answered = self._request(query, [text[:TEXT_CHARACTERS_MAX] for text in texts])
        scores = read_scores(answered, len(texts))
        if all(each is None for each in scores):
            error = ModelError(
                f"{self._identity} answered with JSON that holds no scores: check the URL"
            )
            error.about = f"{self._identity} answered with JSON that holds no scores"
            raise error
        return scores

    def _request(self, query: str, texts: list[str]) -> object:
        body: dict[str, object] = {"query": query, "documents": texts, "top_n": len(texts)}
        if self._model is not None:
            body["model"] = self._model
        if not re.search("/v[12]/", urlsplit(self._url).path):
            body["texts"] = texts  # TEI's name for the documents
        headers = {"content-type": "application/json", "accept": "application/json"}
        for key in self._secrets:
            headers["authorization"] = f"Bearer {key}"
        data = json.dumps(body).encode()
        # `checked_url` allows only http and https.
        request = Request(self._url, data, headers, method="POST")  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                written: bytes = answer.read(ANSWER_BYTES_MAX)
        except HTTPError as error:
            error.close()  # the error keeps the connection open
            raise
        title = page_title(written[:10_000].decode("utf-8", "replace"))
        if title is not None:
            refusal = ModelError(
                f"{self._identity} answered with a web page ({title}) instead of JSON: check the "
                "URL, and proxies on the way to it"
            )
            refusal.about = f"{self._identity} answered with a web page instead of JSON"
            raise refusal
        return json.loads(written)


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects, as the key would be sent along to another host."""

    def redirect_request(  # noqa: PLR0917  # as urllib calls it
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Headers, newurl: str
    ) -> Request | None:
        return None


def read_scores(answered: object, count: int) -> list[float | None]:
    """
    Return *count* scores from an answer, by their indexes; ``None`` for a missing score.

    >>> read_scores({"results": [{"index": 1, "relevance_score": 0.5}]}, 2)
    [None, 0.5]
    >>> read_scores([{"index": 0, "score": 0.9}, {"index": 7, "score": 1}], 1)
    [0.9]
    """
    listed = answered
    if isinstance(answered, Mapping):
        listed = answered.get("results", answered.get("data"))
    scores: list[float | None] = [None] * count
    for each in listed if isinstance(listed, list) else ():
        found: Mapping[str, Any] = each if isinstance(each, Mapping) else {}
        place, score = found.get("index"), found.get("relevance_score", found.get("score"))
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if isinstance(place, int) and 0 <= place < count and is_number:
            scores[place] = float(score)
    return scores
