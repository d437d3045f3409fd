"""A common interface for each store: put items, and query them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from benchmarks.item_texts import text_of
from benchmarks.peer_stores.known_vectors import VectorTable

LIMIT: Final = 10
BULK_MIN: Final = 200
"""Batches of at least this size fill the store, untimed."""
NAMESPACE: Final = ("users", "ada")
_COLLECTION: Final = "items"
_ROOT: Final = ("bench",)


class PeerStore(Protocol):
    """An open store, which the end of its process closes."""

    def put(self, numbers: Sequence[int]) -> None:
        """Put items; on return they are as durable as the store makes them."""
        ...

    def query(self, text: str) -> int:
        """Return the number of items that a query finds."""
        ...

    def settle(self) -> None:
        """Wait, untimed, until background work has ended."""
        ...


class _Settled:
    """A store without background work."""

    def settle(self) -> None:
        """Return at once."""


class _NoStore(_Settled):
    """The control for memory and start-up: texts and vectors without a store."""

    def __init__(self, folder: Path, vectors: VectorTable) -> None:
        self._vectors = vectors

    def put(self, numbers: Sequence[int]) -> None:
        """Read the vectors."""
        for number in numbers:
            self._vectors.of(text_of(number))

    def query(self, text: str) -> int:
        """Read the query's vector."""
        return int(self._vectors.of(text).shape[0] > 0)


class _TableEmbedder:
    """The known vectors as an embedder for our store and LangGraph's."""

    identity = "known/256/1"

    def __init__(self, vectors: VectorTable) -> None:
        self._vectors = vectors
        self.dimensions = vectors.dimensions

    def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32] | None]:
        """Return a vector for each text."""
        return [self._vectors.of(text) for text in texts]

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors as lists."""
        return [self._vectors.of(text).tolist() for text in texts]


class _Ours:
    """Our store: messages of a thread on SQLite, found by words and vectors."""

    def __init__(self, folder: Path, vectors: VectorTable) -> None:
        import recollect

        self._memory = recollect.open_sync(
            str(folder / "ours.db"), embedder=_TableEmbedder(vectors), worker=False
        ).__enter__()

    def put(self, numbers: Sequence[int]) -> None:
        """Append messages."""
        self._memory.append(NAMESPACE, "talk", [text_of(number) for number in numbers])

    def query(self, text: str) -> int:
        """Recall."""
        return len(self._memory.recall(NAMESPACE, text, limit=LIMIT).entries)

    def settle(self) -> None:
        """Wait until the appended messages are embedded."""
        self._memory.settled(NAMESPACE)


class _LangGraph:
    """A store with LangGraph's interface."""

    def __init__(self, store: Any, memory: Any = None) -> None:
        self._store = store
        self._memory = memory

    def put(self, numbers: Sequence[int]) -> None:
        """Put one item, or many in a batch."""
        if len(numbers) == 1:
            text = text_of(numbers[0])
            self._store.put(NAMESPACE, f"k{numbers[0]}", {"text": text})
            return
        op = import_module("langgraph.store.base").PutOp
        self._store.batch([op(NAMESPACE, f"k{each}", {"text": text_of(each)}) for each in numbers])

    def query(self, text: str) -> int:
        """Search over all."""
        return len(self._store.search((), query=text, limit=LIMIT))

    def settle(self) -> None:
        """Wait until our store has embedded the items."""
        if self._memory is not None:
            self._memory.settled(_ROOT, below=True)


def _our_langgraph(folder: Path, vectors: VectorTable) -> PeerStore:
    import recollect
    from recollect.integrations.langgraph import RecollectStore

    memory = recollect.open_sync(
        str(folder / "items.db"), embedder=_TableEmbedder(vectors), worker=False
    ).__enter__()
    return _LangGraph(RecollectStore(memory, _ROOT, index={"fields": ["text"]}), memory)


def _index(vectors: VectorTable, field: str = "text") -> dict[str, Any]:
    """Return an index of one field, as InMemoryStore names it and as SqliteStore does."""
    embedder = _TableEmbedder(vectors)
    fields = {"fields": [field], "text_fields": [field]}
    return {"dims": vectors.dimensions, "embed": embedder, **fields}


def _in_memory(_: Path, vectors: VectorTable) -> PeerStore:
    return _LangGraph(import_module("langgraph.store.memory").InMemoryStore(index=_index(vectors)))


def _sqlite(journal: str) -> Callable[[Path, VectorTable], PeerStore]:
    def opened(folder: Path, vectors: VectorTable) -> PeerStore:
        from benchmarks.langgraph_driver import sqlite_store

        place = folder / f"{journal}.db"
        store = sqlite_store(ExitStack(), place, _index(vectors), journal)
        if store is None or store.index_config is None:
            raise ImportError("no driver of SQLite loads extensions", name="pysqlite3")
        return _LangGraph(store)

    return opened


class _LangMem(_Settled):
    """The tools that LangMem gives an agent, over LangGraph's store in memory."""

    def __init__(self, folder: Path, vectors: VectorTable) -> None:
        langmem = import_module("langmem")
        index = _index(vectors, "content")
        store = import_module("langgraph.store.memory").InMemoryStore(index=index)
        self._store = store
        self._write = langmem.create_manage_memory_tool(NAMESPACE, store=store)
        self._search = langmem.create_search_memory_tool(NAMESPACE, store=store)

    def put(self, numbers: Sequence[int]) -> None:
        """Create memories one by one with the tool; large batches go to the underlying store."""
        if len(numbers) >= BULK_MIN:
            op = import_module("langgraph.store.base").PutOp
            texts = {f"k{number}": {"content": text_of(number)} for number in numbers}
            self._store.batch([op(NAMESPACE, key, value) for key, value in texts.items()])
            return
        for number in numbers:
            self._write.invoke({"content": text_of(number), "action": "create"})

    def query(self, text: str) -> int:
        """Search."""
        return int(bool(self._search.invoke({"query": text, "limit": LIMIT})))


class _Mem0(_Settled):
    """mem0's memory on Qdrant's files, without its model: texts are stored unchanged."""

    def __init__(self, folder: Path, vectors: VectorTable) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder / "mem0"))
        place = {"path": str(folder / "qdrant"), "on_disk": True, "collection_name": _COLLECTION}
        config = {
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "vector_store": {
                "provider": "qdrant",
                "config": {**place, "embedding_model_dims": vectors.dimensions},
            },
            "history_db_path": str(folder / "history.db"),
        }
        self._vectors = vectors
        self._memory = import_module("mem0").Memory.from_config(config)
        self._memory.embedding_model = _Mem0Vectors(vectors)

    def put(self, numbers: Sequence[int]) -> None:
        """Add texts one by one; large batches go to the underlying vectors."""
        if len(numbers) >= BULK_MIN:
            texts = [text_of(number) for number in numbers]
            self._memory.vector_store.insert(
                vectors=[self._vectors.of(text).tolist() for text in texts],
                payloads=[{"data": text, "user_id": NAMESPACE[-1]} for text in texts],
                ids=[str(uuid4()) for _ in texts],
            )
            return
        for number in numbers:
            self._memory.add(text_of(number), user_id=NAMESPACE[-1], infer=False)

    def query(self, text: str) -> int:
        """Search."""
        return len(self._memory.search(text, filters={"user_id": NAMESPACE[-1]})["results"])


class _Mem0Vectors:
    """The known vectors as an embedder for mem0."""

    def __init__(self, vectors: VectorTable) -> None:
        self._vectors = vectors

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return a text's vector."""
        found: list[float] = self._vectors.of(text).tolist()
        return found

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> Any:
        """Return a vector for each text."""
        return [self.embed(text) for text in texts]


class _Chroma(_Settled):
    """A collection of Chroma in a folder."""

    def __init__(self, folder: Path, vectors: VectorTable) -> None:
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        client = import_module("chromadb").PersistentClient(path=str(folder / "chroma"))
        self._collection = client.get_or_create_collection(_COLLECTION, embedding_function=None)
        self._vectors = vectors

    def put(self, numbers: Sequence[int]) -> None:
        """Add documents with their vectors."""
        texts = [text_of(number) for number in numbers]
        self._collection.upsert(
            ids=[f"k{number}" for number in numbers],
            documents=texts,
            embeddings=[self._vectors.of(text) for text in texts],
        )

    def query(self, text: str) -> int:
        """Query by the vector."""
        wanted = [self._vectors.of(text)]
        found = self._collection.query(query_embeddings=wanted, n_results=LIMIT)
        return len(found["ids"][0])


class _Lance(_Settled):
    """A LanceDB table in a folder, without an index: every vector is compared."""

    def __init__(self, folder: Path, vectors: VectorTable) -> None:
        self._base = import_module("lancedb").connect(str(folder / "lance"))
        self._vectors = vectors
        self._table: Any = None
        if _COLLECTION in self._base.list_tables().tables:
            self._table = self._base.open_table(_COLLECTION)

    def put(self, numbers: Sequence[int]) -> None:
        """Add rows."""
        texts = [text_of(number) for number in numbers]
        rows = [{"text": text, "vector": self._vectors.of(text)} for text in texts]
        if self._table is None:
            self._table = self._base.create_table(_COLLECTION, rows)
        else:
            self._table.add(rows)

    def query(self, text: str) -> int:
        """Search by the vector."""
        search = self._table.search(np.asarray(self._vectors.of(text)))
        return len(search.distance_type("cosine").limit(LIMIT).to_list())


NOTHING: Final = "no store"
OURS: Final = "recollect"
OUR_ITEMS: Final = "RecollectStore"
ADAPTERS: Final[Mapping[str, Callable[[Path, VectorTable], PeerStore]]] = {
    NOTHING: _NoStore,
    OURS: _Ours,
    OUR_ITEMS: _our_langgraph,
    "SqliteStore": _sqlite("DELETE"),
    "SqliteStore, WAL": _sqlite("WAL"),
    "InMemoryStore": _in_memory,
    "LangMem": _LangMem,
    "mem0": _Mem0,
    "Chroma": _Chroma,
    "LanceDB": _Lance,
}
IN_MEMORY: Final = frozenset({"InMemoryStore", "LangMem"})
"""Stores that keep nothing after their process ends."""
