"""`RecollectSearch`: a document search over memories of a scope, without another index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from recollect.conversation.document_search import (
    TOP_K,
    DocumentSearch,
    FoundDocument,
    SearchDocument,
    checked_top_k,
    new_id,
)
from recollect.memory.facade import Recollect
from recollect.recall.query import Where, query_in
from recollect.records import DeleteMemory, JsonObject, Memory, PutMemory, Scope
from recollect.stores.validation import PAGE_ROWS_MAX, WRITES_MAX
from recollect.sync.method_pairs import method_pair
from recollect.sync.object_home import AnyRecollect, Home

TYPE: Final = "Item"
_COLLECTION: Final = "collection"


@dataclass(frozen=True, slots=True)
class RecollectDoc(SearchDocument):
    """A document with metadata; the memory computes its vector."""

    metadata: JsonObject = field(default_factory=dict)
    id: str = field(default_factory=new_id)


class RecollectSearch(DocumentSearch):
    """
    A search over documents in *scope*, by words and, if the memory has an embedder, by meaning.

    A scope can have several separate collections. Erasing the scope erases its documents.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Scope,
        docs: Sequence[SearchDocument] = (),
        *,
        collection_name: str = "index",
    ) -> None:
        """Use a scope of *memory*; initial *docs* require a synchronous memory."""
        self.home = Home(memory)
        self.scope = scope
        self.collection_name = collection_name
        if docs:
            self.add_docs(docs)

    async def _search(
        self, memory: Recollect, query: str, top_k: int = TOP_K
    ) -> list[FoundDocument]:
        """Return at most *top_k* documents, best first; none for an empty query."""
        checked_top_k(top_k)
        if not query.strip():
            return []
        where = Where(messages=False, types=(TYPE,), filter=self._filter)
        recall = await memory.recall(self.scope, query_in(query), limit=top_k, where=where)
        kept = [each.content for each in recall.entries if isinstance(each.content, Memory)]
        return [_document_of(each) for each in kept]

    async def _add_docs(self, memory: Recollect, docs: Sequence[SearchDocument]) -> None:
        """Add documents; each replaces one of the same id. Searches then find them at once."""
        writes = [self._write(each) for each in docs]
        for start in range(0, len(writes), WRITES_MAX):
            await memory.apply(self.scope, writes[start : start + WRITES_MAX])
        await memory.settled(self.scope)

    async def _clear_index(self, memory: Recollect) -> None:
        """Remove all documents of this collection, with their history."""
        while True:
            page = await memory.memories(
                self.scope, type_=TYPE, filter_=self._filter, limit=PAGE_ROWS_MAX
            )
            if not page.rows:
                return
            gone = [DeleteMemory(type=TYPE, key=each.key) for each in page.rows]
            await memory.apply(self.scope, gone)

    search, asearch = method_pair(_search)
    add_docs, aadd_docs = method_pair(_add_docs)
    clear_index, aclear_index = method_pair(_clear_index)

    @property
    def _filter(self) -> JsonObject:
        return {_COLLECTION: self.collection_name}

    def _write(self, doc: SearchDocument) -> PutMemory:
        key = f"document/{quote(self.collection_name, safe='')}/{quote(doc.id, safe='')}"
        value: JsonObject = {
            _COLLECTION: self.collection_name,
            "id": doc.id,
            "doc": doc.doc,
            "metadata": dict(doc.metadata),
        }
        return PutMemory(type=TYPE, key=key, value=value, text=doc.doc, trust="external")


def _document_of(memory: Memory) -> FoundDocument:
    metadata = memory.value["metadata"]
    return FoundDocument(
        doc=str(memory.value["doc"]),
        id=str(memory.value["id"]),
        metadata=metadata if isinstance(metadata, dict) else {},
        similarity=None,
    )
