"""The audit as JSON: entries, and the verdict on a hash chain."""

from __future__ import annotations

from recollect.records import Json
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.wire.elements import Fields, time_from_json, time_to_json


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
    return AuditEntry(
        n=fields["n"],
        at=time_from_json(fields["at"]),
        actor=fields["actor"],
        actor_key=fields["actor_key"],
        action=fields["action"],
        subject=fields["subject"],
        names=tuple(fields["names"]),
        digest=fields["digest"],
        previous=fields["previous"],
        hash=fields["hash"],
    )


def describe_subject(entry: AuditEntry) -> str:
    """Return the remaining names of a change's objects, or the number of objects without one."""
    listed = sum(len(found) for found in entry.subject.values() if isinstance(found, list))
    kinds = ", ".join(entry.subject)
    return ", ".join(entry.names) if entry.names else f"{listed} without a name: {kinds}"


def verdict_to_json(verdict: AuditVerdict) -> dict[str, Json]:
    """Encode the verdict on a hash chain."""
    return {
        "ok": verdict.ok,
        "rows": verdict.rows,
        "head": verdict.head,
        "broken_at": verdict.broken_at,
        "reason": verdict.reason,
    }


def verdict_from_json(fields: Fields) -> AuditVerdict:
    """Decode the result of `verdict_to_json`."""
    return AuditVerdict(
        rows=fields["rows"],
        head=fields["head"],
        broken_at=fields["broken_at"],
        reason=fields["reason"],
    )
