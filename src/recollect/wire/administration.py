"""API keys, the audit, and the service's description of its caller as JSON."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.records import Json, JsonObject, Scope
from recollect.stores.plans.audit import AuditEntry, AuditVerdict
from recollect.wire.elements import Fields, ScopeNaming, record_from_json, time_to_json


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


class DescribedKey(Protocol):
    """The public fields of a key, without its secret."""

    @property
    def id(self) -> str:
        """The id of the key."""

    @property
    def name(self) -> str:
        """The name of the key."""

    @property
    def scope(self) -> Scope:
        """The scope that the key is bound to."""

    @property
    def permissions(self) -> Collection[str]:
        """The permissions of the key."""

    @property
    def created_at(self) -> datetime:
        """Time of creation."""

    @property
    def expires_at(self) -> datetime | None:
        """Time of expiry, if any."""

    @property
    def last_used_at(self) -> datetime | None:
        """Time of the last use, as far as it is known."""


def answerer_to_json(answerer: Answerer) -> dict[str, Json]:
    """Encode the service's description of itself and its caller."""
    return {
        "prefix": list(answerer.prefix),
        "name": answerer.name,
        "permissions": sorted(answerer.permissions),
        "version": answerer.version,
        "model": answerer.model,
        "embedder": answerer.embedder,
        "limits": answerer.limits,
    }


def answerer_from_json(fields: Fields) -> Answerer:
    """Decode the result of `answerer_to_json`."""
    return record_from_json(Answerer, fields)


def key_to_json(key: DescribedKey, scope_of: ScopeNaming) -> dict[str, Json]:
    """Encode the public fields of a key."""
    return {
        "id": key.id,
        "name": key.name,
        "scope": scope_of(key.scope),
        "permissions": sorted(key.permissions),
        "created_at": time_to_json(key.created_at),
        "expires_at": time_to_json(key.expires_at),
        "last_used_at": time_to_json(key.last_used_at),
    }


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
    return {
        "ok": verdict.ok,
        "rows": verdict.rows,
        "head": verdict.head,
        "broken_at": verdict.broken_at,
        "reason": verdict.reason,
    }


def verdict_from_json(fields: Fields) -> AuditVerdict:
    """Decode the result of `verdict_to_json`."""
    return record_from_json(AuditVerdict, fields)
