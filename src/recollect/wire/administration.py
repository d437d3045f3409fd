"""API keys as JSON, and the service's description of its caller."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.records import Json, JsonObject, Scope
from recollect.wire.elements import Fields, ScopeNaming, time_to_json


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
    return Answerer(
        prefix=tuple(fields["prefix"]),
        name=fields["name"],
        permissions=frozenset(fields["permissions"]),
        version=fields["version"],
        model=fields["model"],
        embedder=fields["embedder"],
        limits=fields["limits"],
    )


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
