"""Convert recalled entries to LangChain's documents."""

from __future__ import annotations

from langchain_core.documents import Document

from recollect.recall.results import Recalled
from recollect.records import Memory, Message


def document_of(entry: Recalled) -> Document:
    """
    Return a recalled entry as a document: its text, with its origin as metadata.

    The metadata hold its source (thread/message or type/key), scope, time, score and signals; for a
    message its role, speaker and thread, for a memory its type, version and value.
    """
    return Document(
        id=entry.source,
        page_content=entry.text,
        metadata={
            "source": entry.source,
            "scope": list(entry.scope),
            "time": entry.time.isoformat(),
            "score": entry.score,
            "signals": dict(entry.signals),
            **_about(entry.content),
        },
    )


def _about(content: Message | Memory) -> dict[str, object]:
    if isinstance(content, Message):
        return {"role": content.role, "name": content.name, "thread": content.thread}
    return {"type": content.type, "version": content.version, "value": dict(content.value)}
