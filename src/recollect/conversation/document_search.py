"""Interface of the document search that a long-term memory uses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Self
from uuid import uuid4

from recollect.errors import MissingKeyError, UsageError
from recollect.records import JsonObject
from recollect.sync.method_pairs import PairCall, delegated_pair, threaded

TOP_K: Final = 2
"""Documents returned by default."""
TOP_K_MAX: Final = 1_000


def new_id() -> str:
    """Return a new unique document id."""
    return str(uuid4())


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """
    A document to add to a search.

    It replaces a document of the same *id*. *vector* is its embedding, if already computed.
    """

    doc: str
    _: KW_ONLY
    metadata: JsonObject = field(default_factory=dict)
    vector: Sequence[float] | None = None
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """
    A document found by a search.

    *similarity* is the cosine similarity to the query, at most 1; ``None`` if the search does not
    rank by vectors alone.
    """

    doc: str
    id: str
    metadata: JsonObject
    similarity: float | None


class DocumentSearch(ABC):
    """
    A document search, usable as an agent's tool and as long-term memory.

    The index stores the texts, so that another object over the same index finds them.
    """

    name: str = "Internal search"
    description: str = "Find the documents that are relevant to a query."

    @abstractmethod
    def search(self, query: str, top_k: int = TOP_K) -> list[FoundDocument]:
        """Return at most *top_k* documents, the most similar first; none for an empty query."""

    @abstractmethod
    def add_docs(self, docs: Sequence[SearchDocument]) -> None:
        """Add documents; each replaces one of the same id."""

    @abstractmethod
    def clear_index(self) -> None:
        """Remove all documents."""

    async def _run(self, call: PairCall, tool_input: str | Mapping[str, object]) -> str:
        """
        Return the texts found as lines ``Doc 0: …``, empty if there are none.

        Args:
            tool_input: The query, or ``{"query": …, "top_k": …}``.
        """
        return numbered_documents(
            await call(self.search, self.asearch, *_read_tool_input(tool_input))
        )

    def close(self) -> None:  # noqa: B027 (most have nothing open)
        """Close the resources that this object opened; the index stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    asearch = threaded(search)
    aadd_docs = threaded(add_docs)
    aclear_index = threaded(clear_index)
    run, arun = delegated_pair(_run)


def numbered_documents(found: Sequence[FoundDocument]) -> str:
    """Return the texts of documents as lines ``Doc 0: …``."""
    return "\n".join(f"Doc {number}: {each.doc}" for number, each in enumerate(found))


def checked_top_k(top_k: object) -> int:
    """
    Return *top_k* if it is valid.

    Raises:
        UsageError: It is not an integer from 1 to ``TOP_K_MAX``.
    """
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= TOP_K_MAX:
        raise UsageError(f"top_k is {top_k!r}: give an integer from 1 to {TOP_K_MAX} (TOP_K_MAX)")
    return top_k


def are_documents(value: object) -> bool:
    """
    Return True if *value* is a list of documents.

    Raises:
        UsageError: Some of its elements are documents, and others are not.
    """
    if not isinstance(value, list | tuple):
        return False
    kinds = {isinstance(each, SearchDocument) for each in value}
    if len(kinds) > 1:
        raise UsageError("the list mixes documents and other values: save them separately")
    return kinds == {True}


def _read_tool_input(tool_input: str | Mapping[str, Any]) -> tuple[str, int]:
    if isinstance(tool_input, str):
        return tool_input, TOP_K
    if "query" not in tool_input:
        msg = f"the search input has no query: {tool_input!r}; give {{'query': …, 'top_k': …}}"
        raise MissingKeyError(msg)
    return tool_input["query"], tool_input.get("top_k", TOP_K)
