"""JSON encoding of threads, messages, memories and receipts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recollect.records import EvidenceMap, Json, Memory, Message, Revision, Scope, Thread

if TYPE_CHECKING:
    from recollect.observability.health import Health, TaskHealth
    from recollect.recall.results import Recall, Recalled
    from recollect.stores.plans.erasure import EraseReceipt


def moment(time: datetime | None) -> str | None:
    """Return a time in ISO 8601, in UTC."""
    return None if time is None else time.isoformat().replace("+00:00", "Z")


def minute(time: datetime | None) -> str:
    """Return a time as tables show it, to the minute, in UTC; nothing for none."""
    return "" if time is None else time.strftime("%Y-%m-%d %H:%M")


def scope_list(scope: Scope) -> list[Json]:
    """Return the segments of a scope."""
    return list(scope)


def thread_record(thread: Thread, newest: Message | None) -> dict[str, Json]:
    """Return a thread; *newest* is its newest message."""
    return {
        "scope": scope_list(thread.scope),
        "id": thread.id,
        "messages": thread.count,
        "last": thread.last,
        "formed": thread.formed,
        "state": thread.state,
        "due": moment(thread.due),
        "attempts": thread.attempts,
        "created_at": moment(thread.created_at),
        "newest": moment(newest.time) if newest else None,
    }


def message_record(message: Message) -> dict[str, Json]:
    """Return a message with everything that is kept of it."""
    return {
        "kind": "message",
        "thread": message.thread,
        "id": message.id,
        "position": message.position,
        "role": message.role,
        "name": message.name,
        "text": message.text,
        "time": moment(message.time),
        "session": message.session,
        "source": message.source,
        "content": message.content,
        "metadata": message.metadata,
    }


def memory_record(memory: Memory) -> dict[str, Json]:
    """Return a memory in its present version."""
    return {
        "kind": "memory",
        "scope": scope_list(memory.scope),
        "type": memory.type,
        "key": memory.key,
        "value": memory.value,
        "text": memory.text,
        "version": memory.version,
        "created_at": moment(memory.created_at),
        "updated_at": moment(memory.updated_at),
        "valid_from": moment(memory.valid_from),
        "valid_until": moment(memory.valid_until),
        "expires_at": moment(memory.expires_at),
        "evidence": evidence_record(memory.evidence),
        "trust": memory.trust,
        "state": memory.state,
        "said_at": moment(memory.said_at),
    }


def revision_record(revision: Revision) -> dict[str, Json]:
    """Return a version of a memory as JSON."""
    return {
        "version": revision.version,
        "value": revision.value,
        "text": revision.text,
        "valid_from": moment(revision.valid_from),
        "valid_until": moment(revision.valid_until),
        "evidence": evidence_record(revision.evidence),
        "trust": revision.trust,
        "state": revision.state,
        "cause": revision.cause,
        "believed_from": moment(revision.believed_from),
        "believed_until": moment(revision.believed_until),
    }


def evidence_record(evidence: EvidenceMap) -> dict[str, Json]:
    """Return evidence by JSON pointer."""
    return {
        pointer: [
            {"thread": each.thread, "message": each.message, "quote": each.quote}
            | ({"group": each.group} if each.group else {})
            for each in found
        ]
        for pointer, found in evidence.items()
    }


def receipt_record(receipt: EraseReceipt) -> dict[str, Json]:
    """Return the receipt of an erase."""
    return {
        "id": receipt.id,
        "messages": receipt.messages,
        "memories": receipt.memories,
        "revised": receipt.revised,
        "erased_at": moment(receipt.erased_at),
        "clean_at": moment(receipt.clean_at),
    }


def health_record(health: Health) -> dict[str, Json]:
    """Return the health of a memory as JSON."""
    return {
        "status": health.status,
        "at": moment(health.at),
        "store": {"state": health.store.state, "latency_ms": health.store.latency_ms},
        "tasks": [task_record(each) for each in health.tasks],
    }


def task_record(task: TaskHealth) -> dict[str, Json]:
    """Return the health of a background task as JSON."""
    error = task.last_error
    told: dict[str, Json] | None = None
    if error is not None:
        told = {"type": error.type, "text": error.text, "at": moment(error.at)}
    return {
        "name": task.name,
        "state": task.state,
        "last_success": moment(task.last_success),
        "last_error": told,
        "failures": task.failures,
        "retry_at": moment(task.retry_at),
        "backlog": task.backlog,
    }


def who_of(content: Message | Memory) -> str:
    """Return the speaker of a message, or the label of a memory."""
    if isinstance(content, Message):
        return content.name or content.role
    return content.label


def entry_record(entry: Recalled, rank: int) -> dict[str, Json]:
    """Return an entry that was recalled, with its reasons."""
    content = entry.content
    return {
        "rank": rank,
        "score": round(entry.score, 4),
        "signals": {name: round(float(part), 4) for name, part in entry.signals.items()},
        "source": entry.source,
        "who": who_of(content),
        "date": moment(entry.time),
        "scope": scope_list(entry.scope),
        "content": message_record(content)
        if isinstance(content, Message)
        else memory_record(content),
    }


def recall_record(recall: Recall) -> dict[str, Json]:
    """Return an answer: its entries with their reasons, and what it was searched among."""
    return {
        "query": recall.query,
        "entries": [entry_record(each, rank) for rank, each in enumerate(recall.entries, start=1)],
        "dropped": [
            {
                "source": each.entry.source,
                "score": round(each.entry.score, 4),
                "reason": each.reason,
            }
            for each in recall.dropped
        ],
        "tokens": recall.tokens,
        "searched": recall.searched,
        "eligible": recall.eligible,
        "is_partial": recall.is_partial,
        "embedder": recall.embedder,
        "outside": recall.outside,
    }
