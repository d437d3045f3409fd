"""Rerankers: an endpoint, a library's cross-encoder, a LangChain compressor, or a callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from recollect.errors import UsageError
from recollect.ports import Reranker
from recollect.providers.object_names import check_module, is_object_name, named_object

RerankChoice: TypeAlias = (
    "str | Reranker | Callable[[str, Sequence[str]], Sequence[float]] | object | None"
)


def check_reranker(choice: RerankChoice) -> None:
    """
    Raise if *choice* names no reranker, or one that lacks its key; no module is run.

    Raises:
        UsageError: The name is unknown.
        ModelDeniedError: The provider's key is missing.
    """
    if not isinstance(choice, str) or choice == "none":
        return
    if is_object_name(choice.strip()):
        check_module(choice.strip())
    else:
        open_reranker(choice)


def open_reranker(choice: RerankChoice) -> Reranker | None:
    """
    Return the reranker that *choice* names, ``None`` for none; no request is sent yet.

    Args:
        choice: A URL such as ``"http://127.0.0.1:8080/rerank"``, with ``#model`` at its end if the
            server needs a model's name; ``"cohere/model"`` or ``"jina/model"``;
            ``"module:attribute"``; a `Reranker`; a ``CrossEncoder`` of sentence-transformers, a
            ``TextCrossEncoder`` of FastEmbed, a document compressor of LangChain; or a callable
            from a query and texts to their scores.

    Raises:
        UsageError: *choice* is none of these.
        ModelDeniedError: The provider's key is missing.
    """
    if choice is None or choice == "none":
        return None
    if isinstance(choice, str) and is_object_name(choice.strip()):
        choice = named_object(choice.strip())
    if isinstance(choice, str):
        from recollect.rerankers.endpoint import named_endpoint

        return named_endpoint(choice.strip())
    if isinstance(choice, Reranker) and not isinstance(choice, type):
        return choice
    from recollect.rerankers.adapters import adapted_reranker

    found = None if isinstance(choice, type) else adapted_reranker(choice)
    if found is None:
        raise UsageError(
            f"{choice!r} is no reranker: it has neither rerank(), predict(), "
            "compress_documents() nor a call"
        )
    return found
