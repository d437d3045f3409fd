"""Adapters that make callables and other libraries' objects rerankers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from inspect import isawaitable
from typing import Any, SupportsFloat, TypeAlias

from recollect.errors import ModelError
from recollect.ports import Reranker
from recollect.providers.object_names import check_plain, identity_of, weights_name
from recollect.providers.provider_errors import read_failure, translated_errors

Scoring: TypeAlias = "Callable[[str, list[str]], Iterable[Any]]"
_PLACE = "recollect_place"


class CallableReranker:
    """
    A callable from a query and texts to one score per text, in order.

    Its identity is its ``identity`` attribute if it has one, else its module and name. It is called
    in threads.

    Raises:
        UsageError: It is defined with ``async def``.
    """

    def __init__(self, score: Scoring, *, identity: str | None = None) -> None:
        check_plain(score, "reranker")
        self._score = score
        self._identity = identity or identity_of(score)

    @property
    def identity(self) -> str:
        """The callable's name."""
        return self._identity

    def rerank(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """
        Return the scores; ``None`` for a score that is not a number.

        Raises:
            ModelError: The callable failed, or returned another number of scores than texts.
        """
        with translated_errors(lambda error: read_failure(error, self._identity), ()):
            answered = self._score(query, list(texts))
            if isawaitable(answered):
                getattr(answered, "close", lambda: None)()
                msg = f"the reranker {self._identity} is async: pass a synchronous function"
                raise ModelError(msg)
            scores = [_number(each) for each in answered]
        if len(scores) != len(texts):
            msg = f"the reranker {self._identity} gave {len(scores)} scores for {len(texts)} texts"
            raise ModelError(msg)
        return scores


def adapted_reranker(choice: Any) -> Reranker | None:
    """Return an object of a library, or a callable, as a reranker; ``None`` if it is neither."""
    if hasattr(choice, "compress_documents"):
        return CallableReranker(_compressing(choice), identity=identity_of(choice))
    # Before `callable`: a torch module is callable too, but takes tensors.
    if hasattr(choice, "predict"):
        return CallableReranker(_predicting(choice), identity=_named(choice))
    if hasattr(choice, "rerank"):
        return CallableReranker(choice.rerank, identity=_named(choice))
    return CallableReranker(choice) if callable(choice) else None


def _predicting(encoder: Any) -> Scoring:
    def score(query: str, texts: list[str]) -> Iterable[object]:
        found: Iterable[object] = encoder.predict([(query, text) for text in texts])
        return found

    return score


def _compressing(compressor: Any) -> Scoring:
    """Return a scorer by a LangChain compressor: its relevance scores, else the order it keeps."""

    def score(query: str, texts: list[str]) -> Iterable[object]:
        from langchain_core.documents import Document

        given = [
            Document(page_content=text, metadata={_PLACE: place}, id=str(place))
            for place, text in enumerate(texts)
        ]
        scores: list[float | None] = [None] * len(texts)
        for rank, kept in enumerate(compressor.compress_documents(given, query)):
            place = kept.metadata.get(_PLACE)
            if isinstance(place, int) and scores[place] is None:
                scores[place] = kept.metadata.get("relevance_score", -float(rank))
        return scores

    return score


def _number(value: object) -> float | None:
    # Libraries return number types of their own, and numbers as text.
    if not isinstance(value, str | SupportsFloat):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def _named(choice: object) -> str:
    name = getattr(choice, "model_name", None)
    known = name if isinstance(name, str) and name else weights_name(choice)
    return f"{type(choice).__name__}/{known}" if known else identity_of(choice)
