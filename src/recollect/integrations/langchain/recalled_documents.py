"""Convert recalled entries to LangChain documents."""

from __future__ import annotations

from langchain_core.documents import Document

from recollect.recall.results import Recalled
from recollect.records import Memory, Message


def document_of(entry: Recalled) -> Document:
    """
    Return an entry as a document: its text, and where it is from.

    The metadata name its source (thread/message or type/key), time, score and the part of each
    signal; of a message role and speaker, of a memory its type, version and value.
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
