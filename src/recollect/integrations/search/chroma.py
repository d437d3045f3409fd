"""`ChromaDBSearch`: a document search in a Chroma collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4
from weakref import finalize

from recollect.conversation.document_search import FoundDocument, SearchDocument, new_id
from recollect.embedders import EmbedderChoice
from recollect.errors import MissingExtraError
from recollect.integrations.search.embedding_search import (
    VectorSearch,
    flat,
    similarity_at,
    translated_errors,
)
from recollect.records import JsonObject

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_BATCH: Final = 1_000
_METRIC_OF_SPACE: Final = {"l2": "euclidean", "cosine": "cosine", "ip": "dotproduct"}


@dataclass(frozen=True, slots=True)
class ChromaDoc(SearchDocument):
    """A document with flat metadata and an id."""

    metadata: JsonObject = field(default_factory=dict)
    id: str = field(default_factory=new_id)


class ChromaDBSearch(VectorSearch):
    """
    A search over a Chroma collection, which stores the texts.

    *client* is any Chroma client, *path* a folder for a persistent one; with neither the documents
    are in memory and end with this object. Chroma's embedding function is not used, so that no
    model is downloaded, and telemetry is off. Its index is approximate: among many documents a near
    one may be missed.
    """

    def __init__(
        self,
        docs: Sequence[SearchDocument] = (),
        *,
        collection_name: str = "index",
        client: ClientAPI | None = None,
        path: str | None = None,
        encoder: EmbedderChoice = "auto",
        name: str | None = None,
        description: str = "",
    ) -> None:
        """
        Open the collection, create it if it is missing, and add *docs*.

        Raises:
            MissingExtraError: Chroma is not installed.
            EmbedderError: There is no encoder.
        """
        super().__init__(encoder, name=name, description=description)
        self.collection_name = collection_name
        self._errors = _errors()
        self._gone: finalize[..., ChromaDBSearch] | None = None
        # All in-memory clients share one database: a unique name keeps collections apart.
        is_own = client is None and path is None
        self._place = f"{collection_name}-{uuid4().hex}" if is_own else collection_name
        self._space = "cosine"
        with translated_errors(self._errors, "Chroma"):
            self._client = client or _opened(path)
            self._collection()
        if is_own:
            self._gone = finalize(self, _remove, self._client, self._place)
            self._gone.atexit = False
        self.add_docs(docs)

    def nearest(
        self, vector: list[float], top_k: int, *, alike: JsonObject | None = None
    ) -> list[FoundDocument]:
        """Return the documents with the nearest vectors, nearest first."""
        with translated_errors(self._errors, "Chroma"):
            answer = self._collection().query(
                query_embeddings=[vector], n_results=top_k, where=dict(alike) if alike else None
            )
        columns = [answer[each][0] for each in ("documents", "ids", "metadatas", "distances")]
        return [
            FoundDocument(
                doc=doc or "",
                id=id_,
                metadata=metadata if isinstance(metadata, Mapping) else {},
                similarity=similarity_at(distance, self.metric),
            )
            for doc, id_, metadata, distance in zip(*columns, strict=True)
        ]

    def put(self, docs: Sequence[SearchDocument], vectors: Sequence[list[float]]) -> None:
        """Write documents with their vectors; each replaces one of the same id."""
        metadata = [flat(each.metadata, "Chroma") or None for each in docs]
        with translated_errors(self._errors, "Chroma"):
            collection = self._collection()
            for start in range(0, len(docs), _BATCH):
                part = slice(start, start + _BATCH)
                collection.upsert(
                    ids=[each.id for each in docs[part]],
                    documents=[each.doc for each in docs[part]],
                    embeddings=list(vectors[part]),
                    metadatas=metadata[part],
                )

    def remove_docs(self, ids: Sequence[str]) -> None:
        """Remove the documents with these ids; ignore unknown ids."""
        with translated_errors(self._errors, "Chroma"):
            for start in range(0, len(ids), _BATCH):
                self._collection().delete(ids=list(ids[start : start + _BATCH]))

    def clear_index(self) -> None:
        """
        Remove the collection and create it again, as Chroma's log keeps deleted documents.

        In a folder the bytes stay in Chroma's file until you run ``chroma vacuum`` on it.
        """
        with translated_errors(self._errors, "Chroma"):
            metadata = self._collection().metadata
            _remove(self._client, self._place)
            self._collection(metadata)

    def close(self) -> None:
        """Remove in-memory documents of this object; those of a client or a path stay."""
        if self._gone is not None:
            self._gone()

    def _collection(self, metadata: Mapping[str, Any] | None = None) -> Any:
        """Return the current collection, which another client may have cleared meanwhile."""
        client: Any = self._client  # Chroma's types require every setting of the index
        found: Any = client.get_or_create_collection(
            self._place,
            embedding_function=None,
            metadata=dict(metadata) if metadata else None,
            configuration={"hnsw": {"space": self._space}},
        )
        # Read the configuration as JSON: the object warns of a missing embedding function.
        hnsw = found.configuration_json.get("hnsw") or {}
        self._space = hnsw.get("space", "l2")
        return found

    @property
    def metric(self) -> str:
        """The metric of the collection: cosine, euclidean or dotproduct."""
        return _METRIC_OF_SPACE[self._space]


def _remove(client: ClientAPI, place: str) -> None:
    from chromadb.errors import NotFoundError

    with suppress(NotFoundError):
        client.delete_collection(place)


def _opened(path: str | None) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    if path is None:
        return chromadb.EphemeralClient(settings=settings)
    return chromadb.PersistentClient(path, settings=settings)


def _errors() -> tuple[type[Exception], ...]:
    try:
        from chromadb.errors import ChromaError
    except ImportError as error:
        raise MissingExtraError("chroma", "chromadb") from error
    return (ChromaError, ValueError)
