"""Any of LangChain's vector stores as an external store, which has a say in our recall."""

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
    """Return the filter that most stores take: the metadata that a document must have."""
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
        Search once, to see that it can be done.

        Raises:
            UsageError: It takes no filter, has vectors of another dimension than those of its
                embedding, tells no similarities, or replaces everything with what it is given.
            StoreError: It is away.
        """
        asked = inspect.signature(self._vectors.similarity_search_with_score).parameters.values()
        if not any(each.name == "filter" for each in asked):
            msg = (
                f"{self._kind} has no search with filter=…, and without one a scope would be "
                f"searched with others: give a vector store that filters by metadata"
            )
            raise UsageError(msg)
        if getattr(self._vectors, "mode", None) == "overwrite":
            msg = (
                f"{self._kind} has mode='overwrite', so each document would take the place of "
                f"all others: open it with mode='append'"
            )
            raise UsageError(msg)
        self.search(_NOBODY, "dimension", 1)

    def add(self, scope: Scope, entries: Sequence[tuple[int, str]]) -> None:
        """Add entries as documents with their scope and uid."""
        name = scope_name(scope)
        with self._told():
            self._vectors.add_texts(
                [text for _, text in entries],
                [{SCOPE_FIELD: name, UID: str(uid)} for uid, _ in entries],
                ids=[str(uid) for uid, _ in entries],
            )

    def remove(self, uids: Sequence[int]) -> None:
        """Remove documents by uid, those that there are."""
        if self._is_there():
            with self._told():
                self._vectors.delete([str(uid) for uid in uids])

    def search(self, scope: Scope, query: str, limit: int) -> list[tuple[int, float]]:
        """
        Return uids and similarities of the nearest in *scope*, on the store's own scale.

        Raises:
            StoreError: It failed, or answered with a document of another scope.
            UsageError: Its vectors have another dimension, or it tells no similarities.
        """
        if not self._is_there():
            return []
        name = scope_name(scope)
        with self._told():
            relevance = self._vectors._select_relevance_score_fn()  # noqa: SLF001 (made for this)
            found = self._vectors.similarity_search_with_score(
                query, limit, filter=self._filter_of(name), **self._options
            )
            if any(document.metadata.get(SCOPE_FIELD) != name for document, _ in found):
                msg = f"{self._kind} answered with documents of another scope: it ignores filter=…"
                raise StoreError(msg)
            return [(int(each.metadata[UID]), relevance(float(score))) for each, score in found]

    @property
    def _kind(self) -> str:
        return f"the vector store {self.name!r} ({type(self._vectors).__name__})"

    def _is_there(self) -> bool:
        """Return True if there is anything: LanceDB's table begins with the first document."""
        table = getattr(self._vectors, "get_table", None)
        if table is None:
            return True
        with self._told():
            return table() is not None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what a stranger's store raises into ours."""
        try:
            yield
        except RecollectError:
            raise
        except NotImplementedError as error:
            msg = f"{self._kind} tells no similarities: give one that has a relevance score"
            raise UsageError(msg) from error
        except Exception as error:
            said = " ".join(str(error).split())
            if any(word in said.lower() for word in _WORDS_OF_DIMENSION):
                msg = (
                    f"{self._kind} has vectors of another dimension than its embedding makes "
                    f"({said[:200]}): open it with the embedding that it was filled with, or "
                    f"give another collection"
                )
                raise UsageError(msg) from error
            msg = f"{self._kind} failed: {type(error).__name__}: {said[:500]}"
            raise StoreError(msg) from error


def _lance_filter(scope: str) -> str:
    # A scope's name has no quote in it.
    return f"metadata.{SCOPE_FIELD} = '{scope}'"
