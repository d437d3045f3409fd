"""API keys: create, verify, rotate and revoke them. The store keeps only a digest of each."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from recollect.errors import GoneError, NotFoundError, UnknownKeyError, UsageError
from recollect.memory.settings_cache import SettingsCache
from recollect.records import Json, JsonObject, Scope
from recollect.server.authorization import (
    Permission,
    Principal,
    check_bound,
    check_permissions,
)
from recollect.side_records import (
    KEYS_SCOPE,
    SERVICE_KEY,
    SERVICE_KEY_USE,
    DeleteSideRecord,
    PutSideRecord,
    SideAddress,
    SideRecord,
)
from recollect.stores.contract.base import Store
from recollect.stores.json_pointers import texts_in
from recollect.stores.pages import each_row
from recollect.stores.validation import check_id, check_scope, check_time, to_datetime
from recollect.text.coded_text import with_code
from recollect.wire.elements import ScopeNaming, time_to_json

ID_CHARACTERS: Final = 16
KEY_PREFIX: Final = "rk"
KEY_CHARACTERS_MAX: Final = 128
KEYS_PAGE: Final = 500
ROTATION_OVERLAP_S_MAX: Final = 7 * 86_400.0
USED_EVERY_S: Final = 300.0
"""Minimum time between two writes of a key's last use, so that requests rarely write."""
_KEY: Final = re.compile(r"rk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """Metadata of an API key; of the key itself only a digest is stored."""

    id: str
    name: str
    scope: Scope
    permissions: frozenset[Permission]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    digest: str
    old_digest: str | None = None
    """Digest of the secret before the last rotation; valid until *old_until*."""
    old_until: datetime | None = None
    version: int = 0
    """Version of the stored document, 0 before it is stored."""

    def principal(self, credential: str) -> Principal:
        """Return the caller that presents this key with the digest *credential*."""
        return Principal(
            key_id=self.id,
            name=self.name,
            scope=self.scope,
            permissions=self.permissions,
            credential=credential,
        )

    def public_fields(self, scope_of: ScopeNaming) -> dict[str, Json]:
        """Return the key as JSON, without its secret or a digest of it."""
        return {
            "id": self.id,
            "name": self.name,
            "scope": scope_of(self.scope),
            "permissions": sorted(self.permissions),
            "created_at": time_to_json(self.created_at),
            "expires_at": time_to_json(self.expires_at),
            "last_used_at": time_to_json(self.last_used_at),
        }

    def invalid_reason(self, credential: str, now: datetime) -> str | None:
        """
        Return why the secret with the digest *credential* is invalid, ``None`` if it is valid.

        A secret is valid if it is the current one, or the previous one during the overlap of a
        rotation, and the key has not expired.
        """
        # Both digests are compared in constant time, so that timing reveals nothing about them.
        is_known = hmac.compare_digest(credential, self.digest)
        if self.old_digest and self.old_until and now < self.old_until:
            is_known |= hmac.compare_digest(credential, self.old_digest)
        if not is_known:
            return "was replaced by another"
        return "has expired" if self.expires_at and self.expires_at <= now else None


SecretSource: TypeAlias = Callable[[str, str, int], bytes]
"""Returns 32 bytes for a purpose ("id" or "secret"), a key's id and its current version."""


def random_secret(_use: str, _id: str, _version: int) -> bytes:
    """Return 32 random bytes; the arguments are ignored."""
    return secrets.token_bytes(32)


class Keys:
    """
    The API keys of a service, kept in its store.

    A key is 256 random bits, so that a plain digest protects it; comparing takes the same time
    whether the key is wrong in its first or in its last character.
    """

    def __init__(
        self,
        store: Store,
        changed: Callable[[], None] = lambda: None,
        secrets_of: SecretSource = random_secret,
    ) -> None:
        """
        Keep keys in *store*.

        Args:
            store: The store of the service.
            changed: Called after a key was revoked or rotated.
            secrets_of: The source of ids and secrets.
        """
        self._store = store
        self._changed = changed
        self._secrets_of = secrets_of
        self._cache = SettingsCache[tuple[Key, SideRecord | None]](store)

    async def principal(self, key: str) -> Principal:
        """
        Return the caller that presents *key*.

        Raises:
            UnknownKeyError: The key is unknown, expired or revoked.
        """
        # The stamp is read before the key: a change in between outdates the cached key.
        id_, stamp = _id_in(key), self._store.settings_stamp()
        kept, used = await self._read_key_and_use(id_) if id_ else (None, None)
        now = to_datetime(self._store.now())
        credential = digest_of(key)
        if kept is None or kept.invalid_reason(credential, now):
            raise UnknownKeyError(
                "the API key is unknown, revoked or expired: send a valid key of this service as "
                "'Authorization: Bearer KEY' or 'x-api-key: KEY', or give it to your client as its "
                "api_key or key"
            )
        # Not cached then: the write outdates *used*, which would make the key due again at once.
        if _is_use_due(used, now):
            await self._record_use(kept.id)
        else:
            self._cache.keep(kept.id, (kept, used), stamp)
        return kept.principal(credential)

    def cached_principal(self, key: str) -> tuple[Principal, int] | None:
        """
        Return the cached caller of *key*, and the stamp of the settings when it was read.

        Carry the request out under that stamp (`Store.acting`), since another process may have
        revoked the key meanwhile. Return ``None`` if the key is not cached: call `principal` then.
        """
        held = self._cache.get(_id_in(key))
        if held is None:
            return None
        (kept, used), stamp = held
        now, credential = to_datetime(self._store.now()), digest_of(key)
        if kept.invalid_reason(credential, now) or _is_use_due(used, now):
            return None
        return kept.principal(credential), stamp

    async def create(
        self,
        name: str,
        scope: Sequence[str],
        permissions: Collection[str],
        *,
        expires_at: datetime | None = None,
    ) -> tuple[Key, str]:
        """Create a key; return its metadata and the key itself, which is not stored."""
        now = to_datetime(self._store.now())
        if expires_at is not None:
            check_time(expires_at, "expires_at")
            if expires_at <= now:
                msg = with_code(
                    "expiry_past",
                    f"expires_at {expires_at.isoformat()} is past: give a later time, or none",
                    time=expires_at.isoformat(),
                )
                raise UsageError(msg)
        id_ = self._secrets_of("id", "", 0).hex()[:ID_CHARACTERS]
        secret = self._new_key(id_, 0)
        key = Key(
            id=id_,
            name=check_id(name, "a key's name"),
            scope=check_bound(scope),
            permissions=check_permissions(permissions),
            created_at=now,
            expires_at=expires_at,
            last_used_at=None,
            digest=digest_of(secret),
        )
        await self._write_key(key)
        return key, secret

    async def rotate(self, id_: str, *, overlap_s: float = 0.0) -> tuple[Key, str]:
        """
        Give a key a new secret; the old one remains valid for *overlap_s* seconds.

        Raises:
            NotFoundError: There is no such key.
            UsageError: The overlap is outside 0 to ``ROTATION_OVERLAP_S_MAX``.
        """
        if not 0 <= overlap_s <= ROTATION_OVERLAP_S_MAX:
            raise UsageError(
                f"overlap_s {overlap_s:g} is outside 0 to {ROTATION_OVERLAP_S_MAX:g} "
                "(ROTATION_OVERLAP_S_MAX)"
            )
        old = await self.key(id_)
        secret = self._new_key(id_, old.version)
        until = to_datetime(self._store.now()) + timedelta(seconds=overlap_s)
        rotated = replace(
            old,
            digest=digest_of(secret),
            old_digest=old.digest if overlap_s else None,
            old_until=until if overlap_s else None,
        )
        await self._write_key(rotated)
        # Only after the commit: the watch must read the new secret, not the old one again.
        self._changed()
        return rotated, secret

    def recreate_secret(self, key: Key) -> str:
        """
        Return the secret that `create` or `rotate` derived for *key* from the same source.

        Raises:
            GoneError: The key was rotated since, or derived from another source.
        """
        secret = self._new_key(key.id, key.version - 1)
        if not hmac.compare_digest(digest_of(secret), key.digest):
            msg = with_code(
                "key_rotated",
                f"the key {key.id!r} has another secret by now: rotate it to get a new one",
                id=key.id,
            )
            raise GoneError(msg)
        return secret

    def _new_key(self, id_: str, version: int) -> str:
        token = base64.urlsafe_b64encode(self._secrets_of("secret", id_, version)).decode()
        return f"{KEY_PREFIX}_{id_}_{token.rstrip('=')}"

    async def revoke(self, id_: str) -> None:
        """Revoke a key at once; an unknown id is ignored."""
        kinds = (SERVICE_KEY, SERVICE_KEY_USE)
        writes = [DeleteSideRecord(kind=each, key=id_) for each in kinds]
        await self._store.apply(KEYS_SCOPE, writes)
        self._changed()

    async def key(self, id_: str) -> Key:
        """
        Return the metadata of a key.

        Raises:
            NotFoundError: The id is unknown.
        """
        found, used = await self._read_key_and_use(check_id(id_, "a key's id"))
        if found is None:
            raise NotFoundError(f"there is no key {id_!r}: list the existing keys")
        return replace(found, last_used_at=used.updated_at if used else None)

    async def by_id(self, ids: Collection[str]) -> dict[str, Key]:
        """Return the existing keys among these ids."""
        wanted = [SideAddress(SERVICE_KEY, each) for each in ids]
        found: dict[str, Key] = {}
        for start in range(0, len(wanted), KEYS_PAGE):
            part = wanted[start : start + KEYS_PAGE]
            page = await self._store.side_records_at(KEYS_SCOPE, part)
            found |= {each.key: _key_of(each) for each in page if each is not None}
        return found

    async def all(self, within: Scope = ()) -> list[Key]:
        """Return the keys that are bound to *within* or below it, oldest first."""
        used = {each.key: each.updated_at for each in await self._read_all(SERVICE_KEY_USE)}
        found = [
            replace(_key_of(each), last_used_at=used.get(each.key))
            for each in await self._read_all(SERVICE_KEY)
        ]
        inside = [each for each in found if each.scope[: len(within)] == within]
        return sorted(inside, key=lambda each: (each.created_at, each.id))

    async def _read_all(self, kind: str) -> list[SideRecord]:
        return [
            row
            async for row in each_row(
                lambda cursor: self._store.side_records(
                    KEYS_SCOPE, kind, cursor=cursor, limit=KEYS_PAGE
                )
            )
        ]

    async def _read_key_and_use(self, id_: str) -> tuple[Key | None, SideRecord | None]:
        """Read a key and its last use in one query, since every request needs both."""
        wanted = [SideAddress(SERVICE_KEY, id_), SideAddress(SERVICE_KEY_USE, id_)]
        found, used = await self._store.side_records_at(KEYS_SCOPE, wanted)
        return None if found is None else _key_of(found), used

    async def _record_use(self, id_: str) -> None:
        # A record of its own: writing the last use must not bring back a key revoked meanwhile.
        put = PutSideRecord(kind=SERVICE_KEY_USE, key=id_, value={})
        await self._store.apply(KEYS_SCOPE, [put])

    async def _write_key(self, key: Key) -> None:
        put = PutSideRecord(
            kind=SERVICE_KEY, key=key.id, value=_value_of(key), expected=key.version
        )
        await self._store.apply(KEYS_SCOPE, [put])


def digest_of(key: str) -> str:
    """Return the digest by which a key is stored and verified."""
    # A plain hash is enough for 256 random bits. The prefix keeps digests of other uses apart.
    return hashlib.sha256(b"recollect key\0" + key.encode("utf-8", "replace")).hexdigest()


def _id_in(key: str) -> str | None:
    """Return the id in a key, ``None`` if *key* does not have the form of one."""
    # The length first, so that a huge header costs no matching.
    found = _KEY.fullmatch(key) if len(key) <= KEY_CHARACTERS_MAX else None
    return found[1] if found else None


def _is_use_due(used: SideRecord | None, now: datetime) -> bool:
    """Return True if the last recorded use is ``USED_EVERY_S`` old, or there is none."""
    return used is None or now - used.updated_at >= timedelta(seconds=USED_EVERY_S)


def _value_of(key: Key) -> JsonObject:
    return {
        "name": key.name,
        "scope": list(key.scope),
        "permissions": sorted(key.permissions),
        "created_at": key.created_at.isoformat(),
        "expires_at": _isoformat(key.expires_at),
        "digest": key.digest,
        "old_digest": key.old_digest,
        "old_until": _isoformat(key.old_until),
    }


def _isoformat(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _key_of(kept: SideRecord) -> Key:
    return key_from(kept.key, kept.value, kept.version)


def key_from(id_: str, value: Mapping[str, Json], version: int) -> Key:
    """Build a key from its stored document."""

    def time(name: str) -> datetime | None:
        found = value.get(name)
        return datetime.fromisoformat(found) if isinstance(found, str) else None

    old = value.get("old_digest")
    return Key(
        id=id_,
        name=str(value["name"]),
        scope=check_scope(texts_in(value["scope"])),
        permissions=check_permissions(texts_in(value["permissions"])),
        created_at=datetime.fromisoformat(str(value["created_at"])),
        expires_at=time("expires_at"),
        last_used_at=None,
        digest=str(value["digest"]),
        old_digest=old if isinstance(old, str) else None,
        old_until=time("old_until"),
        version=version,
    )
