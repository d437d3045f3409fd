"""`PineconeSearch`: a document search in a Pinecone index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from recollect.conversation.document_search import FoundDocument, SearchDocument, new_id
from recollect.embedders import EmbedderChoice
from recollect.errors import LimitError, MissingExtraError, UsageError
from recollect.integrations.search.embedding_search import (
    VectorSearch,
    checked_metric,
    flat,
    similarity_of,
    translated_errors,
)
from recollect.records import JsonObject
from recollect.stores.validation import encode_json

if TYPE_CHECKING:
    from pinecone import Pinecone

StoredVector: TypeAlias = dict[str, Any]
"""A vector with its metadata, in the format of Pinecone's client."""
METADATA_BYTES_MAX: Final = 40_000
"""Bytes of a vector's metadata, the text included, at most; a limit of Pinecone."""
_TEXT: Final = "text"
_BATCH: Final = 100
_IDS: Final = 1_000
"""Ids in one request to delete, at most; a limit of Pinecone."""
_REQUEST_BYTES: Final = 1_500_000
"""Estimated bytes of one request, at most; Pinecone refuses more than 2 MB."""
_NUMBER_BYTES: Final = 24
"""Bytes of a vector's number in JSON, at most."""


@dataclass(frozen=True, slots=True)
class PineconeDoc(SearchDocument):
    """A document with an optional vector and an id."""

    vector: Sequence[float] | None = None
    id: str = field(default_factory=new_id)


class PineconeSearch(VectorSearch):
    """
    A search over a namespace of a Pinecone index, which stores the texts beside the vectors.

    Pinecone is eventually consistent: searches may find new documents with a short delay.
    """

    def __init__(
        self,
        docs: Sequence[SearchDocument] = (),
        *,
        index_name: str = "index",
        dimension: int | None = None,
        metric: str = "euclidean",
        encoder: EmbedderChoice = "auto",
        client: Pinecone | None = None,
        namespace: str = "",
        spec: object = None,
        name: str | None = None,
    ) -> None:
        """
        Open the index, create it if it is missing, and add *docs*.

        Args:
            dimension: Defaults to the encoder's; any other is refused.
            client: Defaults to a client with the API key from the environment.
            spec: Pinecone's spec for creating a missing index; by default serverless, in AWS
                us-east-1.

        Raises:
            MissingExtraError: Pinecone's client is not installed.
            EmbedderError: There is no encoder.
            UsageError: The index has another dimension or metric.
        """
        super().__init__(encoder, name=name)
        self.metric = checked_metric(metric)
        self.dimension = self.embedder.dimensions if dimension is None else dimension
        self.index_name = index_name
        self.namespace = namespace
        self._check_dimension(self.dimension)
        self._errors, self._absent = _errors()
        with translated_errors(self._errors, "Pinecone"):
            self._index = self._opened(client, spec)
        self.add_docs(docs)

    def nearest(
        self, vector: list[float], top_k: int, *, alike: JsonObject | None = None
    ) -> list[FoundDocument]:
        """Return the documents with the nearest vectors, nearest first."""
        only = {"filter": {key: {"$eq": each} for key, each in alike.items()}} if alike else {}
        with translated_errors(self._errors, "Pinecone"):
            answer = self._index.query(
                vector=vector,
                top_k=top_k,
                include_metadata=True,
                namespace=self.namespace,
                **only,
            )
        return [
            FoundDocument(
                doc=str((each.metadata or {}).get(_TEXT, "")),
                id=each.id,
                metadata={k: v for k, v in (each.metadata or {}).items() if k != _TEXT},
                similarity=similarity_of(each.score, self.metric),
            )
            for each in answer.matches
        ]

    def put(self, docs: Sequence[SearchDocument], vectors: Sequence[list[float]]) -> None:
        """
        Write documents with their vectors; each replaces one of the same id.

        Raises:
            LimitError: A text with its metadata is larger than ``METADATA_BYTES_MAX``; nothing
                was written.
        """
        rows = [
            {"id": each.id, "values": vector, "metadata": _beside(each)}
            for each, vector in zip(docs, vectors, strict=True)
        ]
        with translated_errors(self._errors, "Pinecone"):
            for part in _batches(rows):
                self._index.upsert(vectors=part, namespace=self.namespace, show_progress=False)

    def remove_docs(self, ids: Sequence[str]) -> None:
        """Remove the documents with these ids; ignore unknown ids."""
        with translated_errors(self._errors, "Pinecone"):
            for start in range(0, len(ids), _IDS):
                try:
                    part = list(ids[start : start + _IDS])
                    self._index.delete(ids=part, namespace=self.namespace)
                except self._absent:
                    return  # an empty namespace does not exist

    def clear_index(self) -> None:
        """Remove all documents of the namespace; the index stays."""
        with translated_errors(self._errors, "Pinecone"):
            try:
                self._index.delete(delete_all=True, namespace=self.namespace)
            except self._absent:
                return  # an empty namespace does not exist

    def close(self) -> None:
        """Close the connection to the index; a given *client* stays open."""
        self._index.close()
        if self._own is not None:
            self._own.close()

    def _opened(self, client: Pinecone | None, spec: Any) -> Any:
        import pinecone

        self._own = None if client else pinecone.Pinecone()
        opened: Any = client or self._own
        if not opened.has_index(self.index_name):
            opened.create_index(
                self.index_name,
                dimension=self.dimension,
                metric=self.metric,
                spec=spec or pinecone.ServerlessSpec(cloud="aws", region="us-east-1"),
            )
        described = opened.describe_index(self.index_name)
        for each in described.schema.fields.values():
            if (dimension := getattr(each, "dimension", None)) is not None:
                self._check_dimension(dimension)
                self._check_metric(getattr(each, "metric", None))
        return opened.Index(host=described.host)

    def _check_dimension(self, dimension: int) -> None:
        if dimension != self.embedder.dimensions:
            raise UsageError(
                f"the index {self.index_name!r} is for vectors of {dimension} dimensions; those "
                f"of the encoder {self.embedder.identity} have {self.embedder.dimensions}"
            )

    def _check_metric(self, metric: str | None) -> None:
        if metric != self.metric:
            raise UsageError(
                f"the index {self.index_name!r} measures {metric}, not {self.metric}: give "
                f"metric={metric!r}, or another index_name"
            )


def _batches(rows: Sequence[StoredVector]) -> Iterator[list[StoredVector]]:
    """Yield *rows* in batches within the size limits of Pinecone's requests."""
    batch: list[StoredVector] = []
    size = 0
    for row in rows:
        text = encode_json(row["metadata"], "a document")
        row_size = len(text.encode()) + len(row["values"]) * _NUMBER_BYTES
        if batch and (len(batch) == _BATCH or size + row_size > _REQUEST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row_size
    if batch:
        yield batch


def _beside(doc: SearchDocument) -> StoredVector:
    if _TEXT in doc.metadata:
        msg = f"the metadata of {doc.id!r} have the key {_TEXT!r}, which holds its text: rename it"
        raise UsageError(msg)
    beside = {_TEXT: doc.doc, **flat(doc.metadata, "Pinecone")}
    size = len(encode_json(beside, f"the document {doc.id!r}").encode())
    if size > METADATA_BYTES_MAX:
        what = f"bytes of the document {doc.id!r} with its metadata"
        raise LimitError(what, size, METADATA_BYTES_MAX, "METADATA_BYTES_MAX")
    return beside


def _errors() -> tuple[tuple[type[Exception], ...], type[Exception]]:
    try:
        from pinecone.exceptions import NotFoundException, PineconeException
    except ImportError as error:
        raise MissingExtraError("pinecone", "pinecone") from error
    return (PineconeException,), NotFoundException
