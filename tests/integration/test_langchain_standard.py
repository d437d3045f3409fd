"""LangChain's own suites for vector stores and retrievers, over ours."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

import recollect
from recollect import NewMessage, SyncRecollect
from recollect.integrations.langchain import RecollectRetriever, RecollectVectorStore

DOCUMENTS = ("documents",)


@pytest.fixture
def memory() -> Iterator[SyncRecollect]:
    with recollect.open_sync(embedder="none") as memory:
        yield memory


class TestVectorStore(VectorStoreIntegrationTests):
    """A vector store over one scope of a memory."""

    @pytest.fixture
    def vectorstore(self, memory: SyncRecollect) -> VectorStore:
        """Return an empty store."""
        return RecollectVectorStore(memory, DOCUMENTS)


class TestRetriever(RetrieversIntegrationTests):
    """Recall as a retriever."""

    @pytest.fixture(autouse=True)
    def _opened(self, memory: SyncRecollect) -> None:
        said = [f"Apples and pears, number {number}" for number in range(9)]
        memory.append(DOCUMENTS, "talk", [NewMessage(role="user", text=each) for each in said])
        type(self).memory = memory  # type: ignore[attr-defined]  # the suite asks the class

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        """Return the class."""
        return RecollectRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        """Return what it is made with."""
        return {"memory": type(self).memory, "scope": DOCUMENTS}  # type: ignore[attr-defined]

    @property
    def retriever_query_example(self) -> str:
        """Return a question."""
        return "apples"
