"""The audit, health, and the service's description of its caller, as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.observability.health import Health, StoreHealth, TaskError, TaskHealth
from recollect.records import Json, JsonObject
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.wire.elements import (
    Fields,
    record_from_json,
    record_to_json,
    time_from_json,
    time_to_json,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """The service as its caller sees it: version, models and limits, with the caller's own key."""

    prefix: tuple[str, ...]
    name: str
    permissions: frozenset[str]
    version: str
    model: str | None
    embedder: str
    limits: JsonObject


def answerer_to_json(answerer: Answerer) -> dict[str, Json]:
    """Encode the service's description of itself and its caller."""
    return record_to_json(answerer)


def answerer_from_json(fields: Fields) -> Answerer:
    """Decode the result of `answerer_to_json`."""
    return record_from_json(Answerer, fields)


def audit_entry_to_json(entry: AuditEntry) -> dict[str, Json]:
    """Encode an audited change; *description* puts *subject* and *names* in words."""
    return {
        "n": entry.n,
        "at": time_to_json(entry.at),
        "actor": entry.actor,
        "actor_key": entry.actor_key,
        "action": entry.action,
        "subject": entry.subject,
        "names": list(entry.names),
        "description": describe_subject(entry),
        "digest": entry.digest,
        "previous": entry.previous,
        "hash": entry.hash,
    }


def audit_entry_from_json(fields: Fields) -> AuditEntry:
    """Decode the result of `audit_entry_to_json`."""
    return record_from_json(AuditEntry, fields)


def describe_subject(entry: AuditEntry) -> str:
    """Return the remaining names of a change's objects, or the number of objects without one."""
    listed = sum(len(found) for found in entry.subject.values() if isinstance(found, list))
    kinds = ", ".join(entry.subject)
    return ", ".join(entry.names) if entry.names else f"{listed} without a name: {kinds}"


def verdict_to_json(verdict: AuditVerdict) -> dict[str, Json]:
    """Encode the verdict on a hash chain."""
    return {"ok": verdict.ok, **record_to_json(verdict)}


def verdict_from_json(fields: Fields) -> AuditVerdict:
    """Decode the result of `verdict_to_json`."""
    return record_from_json(AuditVerdict, fields)


def health_to_json(health: Health) -> dict[str, Json]:
    """Encode the health of a memory, its store and its background tasks."""
    return {
        "status": health.status,
        "at": time_to_json(health.at),
        "store": record_to_json(health.store),
        "tasks": [task_to_json(each) for each in health.tasks],
    }


def health_from_json(fields: Fields) -> Health:
    """Decode the result of `health_to_json`."""
    return Health(
        at=time_from_json(fields["at"]),
        store=record_from_json(StoreHealth, fields["store"]),
        tasks=tuple(map(task_from_json, fields["tasks"])),
    )


def task_to_json(task: TaskHealth) -> dict[str, Json]:
    """Encode the health of a background task."""
    error = task.last_error
    last_error = None if error is None else record_to_json(error)
    return {**record_to_json(task), "last_error": last_error}


def task_from_json(fields: Fields) -> TaskHealth:
    """Decode the result of `task_to_json`."""
    error = fields["last_error"]
    last_error = None if error is None else record_from_json(TaskError, error)
    return record_from_json(TaskHealth, fields, last_error=last_error)
