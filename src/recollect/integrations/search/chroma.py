"""Documents in a Chroma collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from recollect.conversation.documents import Found, SearchDocument, new_id
from recollect.embedders import EmbedderChoice
from recollect.errors import MissingExtraError
from recollect.integrations.search.vectors import VectorSearch, flat, similarity_of, told
from recollect.records import JsonObject

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_BATCH: Final = 1_000
_METRIC_OF_SPACE: Final = {"l2": "euclidean", "cosine": "cosine", "ip": "dotproduct"}


@dataclass(frozen=True, slots=True)
class ChromaDoc(SearchDocument):
    """A text, flat metadata, and its id."""

    metadata: JsonObject = field(default_factory=dict)
    id: str = field(default_factory=new_id)


class ChromaDBSearch(VectorSearch):
    """
    A search over a Chroma collection, which keeps the texts.

    *client* is any of Chroma's; *path* a folder for one that is kept on disk; with neither the
    collection is in this process's memory. Chroma's own embedding function is not used, so no
    model is downloaded, and nothing is reported to anybody.
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
        Take the collection, made if it does not exist, and add *docs*.

        Raises:
            MissingExtraError: Chroma is not installed.
            EmbedderError: There is no encoder.
        """
        super().__init__(encoder, name=name, description=description)
        self.collection_name = collection_name
        self._errors = _errors()
        with told(self._errors, "Chroma"):
            self._client = client or _opened(path)
            self._collection: Any = self._client.get_or_create_collection(
                collection_name,
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
            )
        # Read as JSON: as an object it warns of the embedding function that is not there.
        hnsw = self._collection.configuration_json.get("hnsw") or {}
        self.metric = _METRIC_OF_SPACE[hnsw.get("space", "l2")]
        self.add_docs(docs)

    def nearest(self, vector: list[float], top_k: int) -> list[Found]:
        """Return the documents whose vectors are nearest, the nearest first."""
        with told(self._errors, "Chroma"):
            answer = self._collection.query(query_embeddings=[vector], n_results=top_k)
        columns = [answer[each][0] for each in ("documents", "ids", "metadatas", "distances")]
        return [
            Found(
                doc=doc or "",
                id=id_,
                metadata=metadata if isinstance(metadata, Mapping) else {},
                similarity=self._similarity(distance),
            )
            for doc, id_, metadata, distance in zip(*columns, strict=True)
        ]

    def put(self, docs: Sequence[SearchDocument], vectors: Sequence[list[float]]) -> None:
        """Write documents with their vectors, each in the place of one with its id."""
        metadata = [flat(each.metadata, "Chroma") or None for each in docs]
        with told(self._errors, "Chroma"):
            for start in range(0, len(docs), _BATCH):
                part = slice(start, start + _BATCH)
                self._collection.upsert(
                    ids=[each.id for each in docs[part]],
                    documents=[each.doc for each in docs[part]],
                    embeddings=list(vectors[part]),
                    metadatas=metadata[part],
                )

    def clear_index(self) -> None:
        """Remove all documents; the collection stays, also for others that have it open."""
        with told(self._errors, "Chroma"):
            while ids := self._collection.get(include=[], limit=_BATCH)["ids"]:
                self._collection.delete(ids=ids)

    def _similarity(self, distance: float) -> float:
        # Chroma's distances of cosine and inner product are 1 less their value.
        return similarity_of(distance if self.metric == "euclidean" else 1 - distance, self.metric)


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
