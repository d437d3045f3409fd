"""`VectorSearch`: the base of document searches that embed texts and compare vectors."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

from recollect.conversation.document_search import (
    TOP_K,
    DocumentSearch,
    FoundDocument,
    SearchDocument,
    checked_top_k,
)
from recollect.embedders import EmbedderChoice, open_embedder
from recollect.errors import EmbedderError, RecollectError, StoreError, UsageError
from recollect.ports import Embedder
from recollect.records import Json, JsonObject

Metric: TypeAlias = Literal["cosine", "euclidean", "dotproduct"]
Metadata: TypeAlias = dict[str, str | int | float | bool]

METRICS: Final = ("cosine", "euclidean", "dotproduct")


class VectorSearch(DocumentSearch):
    """
    A search that compares the vector of a query with those of the documents.

    *encoder* makes the vectors: an embedder as for `recollect.open`, or an object with AutoChain's
    ``encode``. A document with a vector of its own keeps it.
    """

    def __init__(
        self, encoder: EmbedderChoice = "auto", *, name: str | None = None, description: str = ""
    ) -> None:
        """
        Open *encoder*.

        Raises:
            EmbedderError: There is no encoder: none is given, and MiniLM is not installed.
        """
        self.embedder = opened_encoder(encoder)
        self.name = name or DocumentSearch.name
        self.description = description or DocumentSearch.description

    @abstractmethod
    def nearest(
        self, vector: list[float], top_k: int, *, alike: JsonObject | None = None
    ) -> list[FoundDocument]:
        """
        Return the documents with the nearest vectors, nearest first.

        With *alike*, only documents with exactly these attributes (a non-empty object of texts).
        """

    @abstractmethod
    def remove_docs(self, ids: Sequence[str]) -> None:
        """Remove the documents with these ids; ignore unknown ids."""

    @abstractmethod
    def put(self, docs: Sequence[SearchDocument], vectors: Sequence[list[float]]) -> None:
        """Write documents with their vectors; each replaces one of the same id."""

    def search(self, query: str, top_k: int = TOP_K) -> list[FoundDocument]:
        """Return at most *top_k* documents, the most similar first; none for an empty query."""
        checked_top_k(top_k)
        (vector,) = self.embedder.embed([query])
        return [] if vector is None else self.nearest([float(each) for each in vector], top_k)

    def add_docs(self, docs: Sequence[SearchDocument]) -> None:
        """
        Add documents; each replaces one of the same id.

        Raises:
            EmbedderError: The encoder failed, or does not support a text; nothing was added.
            UsageError: A document's vector has another dimension than the encoder's.
        """
        latest = list({each.id: each for each in docs}.values())
        if latest:
            self.put(latest, self._vectors(latest))

    def _vectors(self, docs: Sequence[SearchDocument]) -> list[list[float]]:
        asked = [each.doc for each in docs if each.vector is None]
        made = iter(self.embedder.embed(asked) if asked else ())
        found = []
        for each in docs:
            vector = next(made) if each.vector is None else each.vector
            if vector is None:
                raise EmbedderError(
                    f"the encoder {self.embedder.identity} does not support the text of the "
                    f"document {each.id!r}: give it a vector, or use another encoder"
                )
            found.append(self._checked([float(number) for number in vector], each))
        return found

    def _checked(self, vector: list[float], doc: SearchDocument) -> list[float]:
        if len(vector) != self.embedder.dimensions or not all(map(math.isfinite, vector)):
            raise UsageError(
                f"the vector of the document {doc.id!r} has {len(vector)} dimensions or numbers "
                f"that are not finite: give {self.embedder.dimensions} finite numbers"
            )
        return vector


def opened_encoder(encoder: EmbedderChoice) -> Embedder:
    """Return *encoder*, a name or an object, as an embedder."""
    encode = None if isinstance(encoder, str) else getattr(encoder, "encode", None)
    return _required(open_embedder(_autochain(encode) if callable(encode) else encoder))


def _autochain(encode: Any) -> Any:
    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors: Sequence[Sequence[float]] = encode(list(texts)).embeddings
        return vectors

    return embed


def _required(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise EmbedderError(
            "a search by vectors needs an encoder: install MiniLM (recollect embedder install), "
            "or give encoder=…"
        )
    return embedder


def similarity_of(measured: float, metric: str) -> float:
    """
    Return the cosine similarity of two unit vectors from the value that an index *measured*.

    For cosine and dot product this is the value itself; a euclidean distance is measured squared:
    ``|a - b|² = 2 - 2 cos``.
    """
    return 1 - measured / 2 if metric == "euclidean" else measured


def similarity_at(distance: float, metric: str) -> float:
    """Return the cosine similarity for an index whose other distances are 1 minus the value."""
    return similarity_of(distance if metric == "euclidean" else 1 - distance, metric)


def flat(metadata: JsonObject, what: str) -> Metadata:
    """
    Return *metadata* if its values are text, numbers or booleans.

    Raises:
        UsageError: A value is something else.
    """
    return {key: _scalar(key, each, what) for key, each in metadata.items()}


def _scalar(key: str, value: Json, what: str) -> str | int | float | bool:
    if isinstance(value, str | int | float | bool):
        return value
    raise UsageError(f"{what} takes text, numbers and booleans as metadata; {key!r} is {value!r}")


def checked_metric(metric: str) -> Metric:
    """Return *metric* if it is one of ``METRICS``."""
    for each in ("cosine", "euclidean", "dotproduct"):
        if each == metric:
            return each
    raise UsageError(f"unknown metric {metric!r}: use one of {', '.join(METRICS)}")


@contextmanager
def translated_errors(
    kinds: type[Exception] | tuple[type[Exception], ...], who: str
) -> Iterator[None]:
    """Raise errors of these *kinds*, those of the client *who*, as `StoreError`."""
    try:
        yield
    except RecollectError:
        raise
    except kinds as error:
        raise StoreError(f"{who} failed: {error}") from error
