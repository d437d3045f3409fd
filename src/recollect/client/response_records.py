"""Answers of the service as the frozen records of the library; and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from recollect.observability.health import Health, StoreHealth, TaskError, TaskHealth
from recollect.recall.results import DroppedEntry, Recall, Recalled
from recollect.records import (
    Evidence,
    EvidenceMap,
    Formation,
    JsonObject,
    Lane,
    Memory,
    Message,
    NewMessage,
    Revision,
    Thread,
)
from recollect.stores.plans.audit import AuditEntry
from recollect.stores.plans.erasure import EraseReceipt


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasePreview:
    """What an erase would remove, and the token that confirms exactly this until *expires_at*."""

    messages: int
    memories: int
    revised: int
    confirm: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """The client as the service sees it: the scope of its key, and its permissions."""

    prefix: tuple[str, ...]
    name: str
    permissions: frozenset[str]
    version: str
    model: str | None
    embedder: str
    limits: JsonObject


_TIMES: Final = frozenset(
    {
        *("time", "created_at", "updated_at", "valid_from", "valid_until", "expires_at", "at"),
        *("believed_from", "believed_until", "due", "not_before", "said_at"),
        *("last_success", "retry_at"),
    }
)


def moment_of(written: str | None) -> datetime | None:
    """
    Return a time as it was answered.

    >>> moment_of("2026-05-01T12:00:00Z")
    datetime.datetime(2026, 5, 1, 12, 0, tzinfo=datetime.timezone.utc)
    """
    return None if written is None else datetime.fromisoformat(written)


def _fields_of(record: type, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record among what was told; what is new in a service is left out."""
    names = {each.name for each in fields(record)}
    return {
        name: moment_of(value) if name in _TIMES else value
        for name, value in told.items()
        if name in names
    }


def message_of(told: Mapping[str, Any]) -> Message:
    """Return a message."""
    return Message(**_fields_of(Message, told))


def memory_of(told: Mapping[str, Any]) -> Memory:
    """Return a memory."""
    found = _fields_of(Memory, told)
    return Memory(
        **found | {"scope": tuple(told["scope"]), "evidence": _evidence_of(told["evidence"])}
    )


def revision_of(told: Mapping[str, Any]) -> Revision:
    """Return a version of a memory."""
    return Revision(**_fields_of(Revision, told) | {"evidence": _evidence_of(told["evidence"])})


def _evidence_of(told: Mapping[str, Any]) -> EvidenceMap:
    return {
        pointer: tuple(Evidence(**_fields_of(Evidence, each)) for each in found)
        for pointer, found in told.items()
    }


def thread_of(told: Mapping[str, Any]) -> Thread:
    """Return a thread."""
    lanes = {
        name: Lane(**_fields_of(Lane, each) | {"again": tuple(each["again"])})
        for name, each in told["lanes"].items()
    }
    return Thread(
        **_fields_of(Thread, told)
        | {"scope": tuple(told["scope"]), "again": tuple(told["again"]), "lanes": lanes}
    )


def formation_of(told: Mapping[str, Any]) -> Formation:
    """Return the formation in a response."""
    failed = {thread: tuple(each) for thread, each in told["failed"].items()}
    return Formation(
        **_fields_of(Formation, told) | {"scope": tuple(told["scope"]), "failed": failed}
    )


def health_of(told: Mapping[str, Any]) -> Health:
    """Return the health in a response."""
    tasks = tuple(
        TaskHealth(**_fields_of(TaskHealth, each) | {"last_error": _error_of(each["last_error"])})
        for each in told["tasks"]
    )
    store = StoreHealth(**_fields_of(StoreHealth, told["store"]))
    return Health(**_fields_of(Health, told) | {"store": store, "tasks": tasks})


def _error_of(told: Mapping[str, Any] | None) -> TaskError | None:
    return TaskError(**_fields_of(TaskError, told)) if told else None


def recall_of(told: Mapping[str, Any], query: str) -> Recall:
    """Return the recall in a response that was requested in full."""
    return Recall(
        query=query,
        entries=tuple(_recalled_of(each) for each in told["entries"]),
        dropped=tuple(
            DroppedEntry(entry=_recalled_of(each), reason=each["reason"])
            for each in told["dropped"]
        ),
        tokens=told["tokens"],
        searched=told["searched"],
        eligible=told["eligible"],
        embedder=told["embedder"],
        outside=told["outside"],
    )


def _recalled_of(told: Mapping[str, Any]) -> Recalled:
    whole = told["whole"]
    read = message_of if told["kind"] == "message" else memory_of
    return Recalled(
        scope=tuple(told["scope"]),
        content=read(whole["content"]),
        score=whole["score"],
        relevance=whole["relevance"],
        signals=whole["signals"],
    )


def receipt_of(told: Mapping[str, Any]) -> EraseReceipt:
    """Return the receipt of an erase."""
    return EraseReceipt(
        id=told["id"],
        erased_at=datetime.fromisoformat(told["at"]),
        clean_at=moment_of(told["clean_at"]),
        **told["counts"],
    )


def preview_of(told: Mapping[str, Any]) -> ErasePreview:
    """Return the erase preview in a response."""
    return ErasePreview(
        **told["counts"],
        confirm=told["confirm"],
        expires_at=datetime.fromisoformat(told["expires_at"]),
    )


def audit_entry_of(told: Mapping[str, Any]) -> AuditEntry:
    """Return an audited change."""
    found = _fields_of(AuditEntry, told)
    return AuditEntry(**found | {"subject": told["ids"], "names": tuple(told["names"])})


def answerer_of(told: Mapping[str, Any]) -> Answerer:
    """Return the caller's data in a response."""
    found = _fields_of(Answerer, told)
    return Answerer(
        **found | {"prefix": tuple(told["prefix"]), "permissions": frozenset(told["permissions"])}
    )


def written(time: datetime | None) -> str | None:
    """Return a time as it is sent."""
    return None if time is None else time.isoformat()


def message_sent(message: NewMessage) -> dict[str, Any]:
    """Return a message as it is sent; what the caller left out is left to the service."""
    found = {each.name: getattr(message, each.name) for each in fields(message)}
    found["time"] = written(message.time)
    return {name: value for name, value in found.items() if value is not None}


def evidence_sent(evidence: EvidenceMap) -> dict[str, Any]:
    """Return evidence as it is sent."""
    return {
        pointer: [
            {"thread": each.thread, "message": each.message, "quote": each.quote}
            | ({"group": each.group} if each.group else {})
            for each in found
        ]
        for pointer, found in evidence.items()
    }
