"""Documents that are found by a query: what a long-term memory asks of a search."""

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
TOP_K_MAX: Final = 1_000


def new_id() -> str:
    """Return an id that no other document has."""
    return str(uuid4())


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """
    A text to be found, with what is known of it.

    *vector* is its embedding where it has one already; a document of the same *id* is replaced.
    """

    doc: str
    _: KW_ONLY
    metadata: JsonObject = field(default_factory=dict)
    vector: Sequence[float] | None = None
    id: str = field(default_factory=new_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """
    A document that bears on a query.

    *similarity* is the cosine of the angle between their vectors, 1 at best; ``None`` where the
    search is not by vectors alone.
    """

    doc: str
    id: str
    metadata: JsonObject
    similarity: float | None


class DocumentSearch(ABC):
    """
    A document search, as an agent's tool and as long-term memory.

    The texts are stored in its index, so that another object over the same index finds them.
    """

    name: str = "Internal search"
    description: str = "Find the documents that bear on a query."

    @abstractmethod
    def search(self, query: str, top_k: int = TOP_K) -> list[FoundDocument]:
        """Return at most *top_k* documents, the most similar first; none for an empty query."""

    @abstractmethod
    def add_docs(self, docs: Sequence[SearchDocument]) -> None:
        """Add documents, each in the place of one with its id."""

    @abstractmethod
    def clear_index(self) -> None:
        """Remove all documents."""

    async def _run(self, call: PairCall, tool_input: str | Mapping[str, object]) -> str:
        r"""
        Return the texts found as lines ``Doc 0: …``, empty if there are none.

        Args:
            tool_input: The query, or ``{"query": …, "top_k": …}``.
        """
        return shown(await call(self.search, self.asearch, *_asked(tool_input)))

    def close(self) -> None:  # noqa: B027 (most have nothing open)
        """End what this object alone has open; the index stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    asearch = threaded(search)
    aadd_docs = threaded(add_docs)
    aclear_index = threaded(clear_index)
    run, arun = delegated_pair(_run)


def shown(found: Sequence[FoundDocument]) -> str:
    """Return the texts of documents as lines ``Doc 0: …``."""
    return "\n".join(f"Doc {number}: {each.doc}" for number, each in enumerate(found))


def checked_top_k(top_k: object) -> int:
    """
    Return *top_k* if so many documents may be asked for.

    Raises:
        UsageError: It is not a whole number from 1 to ``TOP_K_MAX``.
    """
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= TOP_K_MAX:
        msg = f"top_k is a whole number from 1 to {TOP_K_MAX} (TOP_K_MAX), not {top_k!r}"
        raise UsageError(msg)
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
        msg = "a list of documents and of something else is kept nowhere: save them apart"
        raise UsageError(msg)
    return kinds == {True}


def _asked(tool_input: str | Mapping[str, Any]) -> tuple[str, int]:
    if isinstance(tool_input, str):
        return tool_input, TOP_K
    if "query" not in tool_input:
        msg = f"a search is asked {{'query': …, 'top_k': …}}; this has no query: {tool_input!r}"
        raise MissingKeyError(msg)
    return tool_input["query"], tool_input.get("top_k", TOP_K)
