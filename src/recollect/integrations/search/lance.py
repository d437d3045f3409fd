"""`LanceDBSearch`: a document search in a LanceDB table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from recollect.conversation.document_search import FoundDocument, SearchDocument
from recollect.embedders import EmbedderChoice
from recollect.errors import MissingExtraError, UsageError
from recollect.integrations.search.embedding_search import (
    VectorSearch,
    checked_metric,
    similarity_at,
    translated_errors,
)
from recollect.records import JsonObject
from recollect.stores.validation import check_object

_METRIC_NAME: Final = {"cosine": "cosine", "euclidean": "l2", "dotproduct": "dot"}
_COLUMNS: Final = frozenset({"id", "doc", "metadata", "vector"})


@dataclass(frozen=True, slots=True)
class LanceDBDoc(SearchDocument):
    """A document with an optional vector."""

    vector: Sequence[float] | None = None


class LanceDBSearch(VectorSearch):
    """
    A search over a LanceDB table, which stores the texts.

    *uri* is a folder, or anything else that LanceDB connects to. The table is opened for each call,
    so that changes by other processes are seen.
    """

    def __init__(
        self,
        docs: Sequence[SearchDocument] = (),
        *,
        uri: str | Path = "lancedb",
        table_name: str = "table",
        metric: str = "cosine",
        encoder: EmbedderChoice = "auto",
        name: str | None = None,
        description: str = "",
    ) -> None:
        """
        Connect, and add *docs*; the first document creates the table.

        Raises:
            MissingExtraError: LanceDB is not installed.
            EmbedderError: There is no encoder.
            UsageError: The metric is not one of cosine, euclidean and dotproduct.
        """
        super().__init__(encoder, name=name, description=description)
        try:
            import lancedb
        except ImportError as error:
            raise MissingExtraError("lancedb", "lancedb") from error
        self.table_name = table_name
        self.metric = checked_metric(metric)
        with _lance_errors():
            self._database: Any = lancedb.connect(str(uri))
        self.add_docs(docs)

    def nearest(
        self, vector: list[float], top_k: int, *, alike: JsonObject | None = None
    ) -> list[FoundDocument]:
        """Return the documents with the nearest vectors, nearest first."""
        with _lance_errors():
            table = self._table()
            if table is None:
                return []
            asked = table.search(vector, vector_column_name="vector")
            if alike:
                known = check_object(alike, "what documents are alike in")
                asked = asked.where(f"metadata = {_quoted(known)}", prefilter=True)
            rows = asked.distance_type(_METRIC_NAME[self.metric]).limit(top_k).to_list()
        return [
            FoundDocument(
                doc=row["doc"],
                id=row["id"],
                metadata=json.loads(row["metadata"]),
                similarity=similarity_at(row["_distance"], self.metric),
            )
            for row in rows
        ]

    def put(self, docs: Sequence[SearchDocument], vectors: Sequence[list[float]]) -> None:
        """Write documents with their vectors; each replaces one of the same id."""
        rows = [
            {
                "id": each.id,
                "doc": each.doc,
                "metadata": check_object(each.metadata, "a document's metadata"),
                "vector": vector,
            }
            for each, vector in zip(docs, vectors, strict=True)
        ]
        with _lance_errors():
            table = self._table()
            if table is None:
                schema = _schema(self.embedder.dimensions)
                table = self._database.create_table(self.table_name, schema=schema, exist_ok=True)
            merge = table.merge_insert("id")
            merge.when_matched_update_all().when_not_matched_insert_all().execute(rows)

    def remove_docs(self, ids: Sequence[str]) -> None:
        """Remove the documents with these ids; ignore unknown ids."""
        with _lance_errors():
            table = self._table()
            if table is not None and ids:
                table.delete(f"id IN ({', '.join(map(_quoted, ids))})")

    def clear_index(self) -> None:
        """Remove the table with its files, including the earlier versions that LanceDB keeps."""
        with _lance_errors():
            self._database.drop_table(self.table_name, ignore_missing=True)

    def _table(self) -> Any:
        """Return the current table; ``None`` if there is none."""
        try:
            found: Any = self._database.open_table(self.table_name)
        except (FileNotFoundError, ValueError) as error:
            if "not found" not in str(error):
                raise
            return None
        return self._checked_table(found)

    def _checked_table(self, table: Any) -> Any:
        """Raise if the table was created by another program or encoder."""
        schema = table.schema
        if not set(schema.names) >= _COLUMNS:
            raise UsageError(
                f"the table {self.table_name!r} has the columns {schema.names}, not "
                f"{sorted(_COLUMNS)}, so another program made it: give another table_name"
            )
        dimensions = schema.field("vector").type.list_size
        if dimensions != self.embedder.dimensions:
            raise UsageError(
                f"the vectors of the table {self.table_name!r} have {dimensions} dimensions, "
                f"those of the encoder {self.embedder.identity} {self.embedder.dimensions}"
            )
        return table


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _schema(dimensions: int) -> Any:
    import pyarrow as pa

    text = [pa.field(name, pa.utf8(), nullable=False) for name in ("id", "doc", "metadata")]
    return pa.schema([*text, pa.field("vector", pa.list_(pa.float32(), dimensions))])


def _lance_errors() -> AbstractContextManager[None]:
    return translated_errors((OSError, RuntimeError, ValueError), "LanceDB")
