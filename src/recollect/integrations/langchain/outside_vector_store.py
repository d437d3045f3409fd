"""A LangChain vector store as an outside store, whose results take part in recall."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from langchain_core.vectorstores import VectorStore

from recollect.errors import RecollectError, StoreError, UsageError
from recollect.recall.outside_vectors import SCOPE_FIELD, scope_name
from recollect.records import Scope

UID: Final = "recollect_uid"
"""The field of a document's metadata with its entry's id, as text."""
_NOBODY: Final[Scope] = ("recollect:outside", "check")
_WORDS_OF_DIMENSION: Final = ("dimension", "query dim", "vector length", "shape")


def equal_to(scope: str) -> Any:
    """Return the filter form of most stores: the metadata that a document must have."""
    return {SCOPE_FIELD: scope}


class OutsideVectorStore:
    """
    Adapter for a LangChain vector store, for ``recollect.open(outside=…)``.

    It embeds with its own ``Embeddings``, and stores the texts: use a separate collection. Every
    search is filtered by one scope; results from another scope are rejected.
    """

    def __init__(
        self,
        vectorstore: VectorStore,
        *,
        name: str,
        filter_of: Callable[[str], object] | None = None,
        **options: object,
    ) -> None:
        """
        Wrap a vector store.

        Args:
            name: Name of the collection; the mirror's progress is recorded under it, so that an
                emptied or another collection needs another name.
            filter_of: Returns the store's filter for documents whose metadata field ``SCOPE_FIELD``
                equals a scope's name; by default a dict, as for Chroma and Pinecone. LanceDB is
                detected.
            options: Passed to every search.
        """
        self.name = name
        self._vectors = vectorstore
        is_lance = hasattr(vectorstore, "get_table") and hasattr(vectorstore, "mode")
        self._filter_of = filter_of or (_lance_filter if is_lance else equal_to)
        self._options = {"prefilter": True, **options} if is_lance else options

    def check(self) -> None:
        """
        Check by one search that the store can be used.

        Raises:
            UsageError: The store takes no filter, has vectors of another dimension than its
                embedding, returns no similarities, or is in overwrite mode.
            StoreError: The store cannot be reached, or failed.
        """
        asked = inspect.signature(self._vectors.similarity_search_with_score).parameters.values()
        if not any(each.name == "filter" for each in asked):
            raise UsageError(
                f"{self._kind} has no search with filter=…, so it would mix scopes: give a vector "
                f"store that filters by metadata"
            )
        if getattr(self._vectors, "mode", None) == "overwrite":
            raise UsageError(
                f"{self._kind} has mode='overwrite', so each document would replace all others: "
                f"open it with mode='append'"
            )
        self.search(_NOBODY, "dimension", 1)

    def add(self, scope: Scope, entries: Sequence[tuple[int, str]]) -> None:
        """Add entries as documents, with their scope and uid as metadata."""
        name = scope_name(scope)
        with self._translated_errors():
            self._vectors.add_texts(
                [text for _, text in entries],
                [{SCOPE_FIELD: name, UID: str(uid)} for uid, _ in entries],
                ids=[str(uid) for uid, _ in entries],
            )

    def remove(self, uids: Sequence[int]) -> None:
        """Remove documents by uid; unknown ones are ignored."""
        if self._is_there():
            with self._translated_errors():
                self._vectors.delete([str(uid) for uid in uids])

    def search(self, scope: Scope, query: str, limit: int) -> list[tuple[int, float]]:
        """
        Return the uids and similarities of the nearest entries of *scope*, on the store's scale.

        Raises:
            StoreError: The store failed, or returned a document of another scope.
            UsageError: Its vectors have another dimension, or it returns no similarities.
        """
        if not self._is_there():
            return []
        name = scope_name(scope)
        with self._translated_errors():
            relevance = self._vectors._select_relevance_score_fn()  # noqa: SLF001 (made for this)
            found = self._vectors.similarity_search_with_score(
                query, limit, filter=self._filter_of(name), **self._options
            )
            if any(document.metadata.get(SCOPE_FIELD) != name for document, _ in found):
                msg = f"{self._kind} returned documents of another scope: it ignores filter=…"
                raise StoreError(msg)
            return [(int(each.metadata[UID]), relevance(float(score))) for each, score in found]

    @property
    def _kind(self) -> str:
        return f"the vector store {self.name!r} ({type(self._vectors).__name__})"

    def _is_there(self) -> bool:
        """Return True if the store exists: LanceDB creates its table with the first document."""
        table = getattr(self._vectors, "get_table", None)
        if table is None:
            return True
        with self._translated_errors():
            return table() is not None

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise any error of the store as `UsageError` or `StoreError`."""
        try:
            yield
        except RecollectError:
            raise
        except NotImplementedError as error:
            msg = f"{self._kind} returns no similarities: give one that has a relevance score"
            raise UsageError(msg) from error
        except Exception as error:
            said = " ".join(str(error).split())
            if any(word in said.lower() for word in _WORDS_OF_DIMENSION):
                raise UsageError(
                    f"{self._kind} has vectors of another dimension than its embedding "
                    f"({said[:200]}): open it with the embedding that filled it, or give another "
                    f"collection"
                ) from error
            msg = f"{self._kind} failed: {type(error).__name__}: {said[:500]}"
            raise StoreError(msg) from error


def _lance_filter(scope: str) -> str:
    # Safe to interpolate: `scope_name` never contains a quote.
    return f"metadata.{SCOPE_FIELD} = '{scope}'"
