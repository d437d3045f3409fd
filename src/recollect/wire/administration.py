"""The JSON of API keys: the caller's own, and a list of all."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.records import Json, JsonObject, Scope
from recollect.wire.elements import Fields, ScopeNaming, time_to_json


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


class DescribedKey(Protocol):
    """The public fields of a key, without its secret."""

    @property
    def id(self) -> str:
        """Return its id."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def scope(self) -> Scope:
        """Return the scope to which it is bound."""

    @property
    def permissions(self) -> Collection[str]:
        """Return what it may do."""

    @property
    def created_at(self) -> datetime:
        """Return when it was made."""

    @property
    def expires_at(self) -> datetime | None:
        """Return when it ends."""

    @property
    def last_used_at(self) -> datetime | None:
        """Return when it was used last, as far as that is known."""


def answerer_to_json(answerer: Answerer) -> dict[str, Json]:
    """Return who a client is to the service, and how that is set up."""
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
    """Return what `answerer_to_json` wrote."""
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
    """Return what is known of a key."""
    return {
        "id": key.id,
        "name": key.name,
        "scope": scope_of(key.scope),
        "permissions": sorted(key.permissions),
        "created_at": time_to_json(key.created_at),
        "expires_at": time_to_json(key.expires_at),
        "last_used_at": time_to_json(key.last_used_at),
    }
