"""A `VectorSearch` as an outside store, whose results take part in recall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.conversation.document_search import SearchDocument
from recollect.errors import StoreError, UsageError
from recollect.integrations.search.embedding_search import VectorSearch
from recollect.recall.outside_vectors import SCOPE_FIELD, scope_name
from recollect.records import Scope

_WORDS_OF_DIMENSION: Final = ("dimension", "vector length")
_NOBODY: Final[Scope] = ("recollect:outside", "check")


class OutsideSearch:
    """
    Adapter for a `VectorSearch`, for ``recollect.open(outside=…)``.

    It wraps a `ChromaDBSearch`, `LanceDBSearch` or `PineconeSearch`, which embeds with its own
    encoder and stores the texts: use a separate index. Texts that the encoder does not support are
    left out. Every search is filtered by one scope.
    """

    def __init__(self, search: VectorSearch, *, name: str) -> None:
        """Wrap a search; the mirror's progress is recorded under *name*."""
        self.name = name
        self._search = search

    def check(self) -> None:
        """
        Check by one search that the index can be used.

        Raises:
            UsageError: The index has vectors of another dimension than the encoder's.
            StoreError: The index cannot be reached, or failed.
        """
        try:
            self.search(_NOBODY, "dimension", 1)
        except (StoreError, UsageError) as error:
            if not any(word in str(error).lower() for word in _WORDS_OF_DIMENSION):
                raise
            raise UsageError(
                f"the index of {self.name!r} ({type(self._search).__name__}) has vectors of "
                f"another dimension than its encoder ({error}): open it with the encoder that "
                f"filled it, or give another index"
            ) from error

    def add(self, scope: Scope, entries: Sequence[tuple[int, str]]) -> None:
        """Add entries as documents, with their scope as metadata and their uid as id."""
        vectors = self._search.embedder.embed([text for _, text in entries])
        known = {SCOPE_FIELD: scope_name(scope)}
        self._search.add_docs(
            [
                SearchDocument(doc=text, id=str(uid), metadata=known, vector=vector.tolist())
                for (uid, text), vector in zip(entries, vectors, strict=True)
                if vector is not None
            ]
        )

    def remove(self, uids: Sequence[int]) -> None:
        """Remove documents by uid; ignore unknown ones."""
        self._search.remove_docs([str(uid) for uid in uids])

    def search(self, scope: Scope, query: str, limit: int) -> list[tuple[int, float]]:
        """
        Return the uids and cosine similarities of the nearest entries of *scope*.

        Raises:
            StoreError: The index failed, or returned a document of another scope.
        """
        (vector,) = self._search.embedder.embed([query])
        if vector is None:
            return []
        known = {SCOPE_FIELD: scope_name(scope)}
        found = self._search.nearest(vector.tolist(), limit, alike=known)
        if any(each.metadata != known for each in found):
            raise StoreError(f"the index of {self.name!r} returned documents of another scope")
        return [(int(each.id), each.similarity or 0.0) for each in found]
