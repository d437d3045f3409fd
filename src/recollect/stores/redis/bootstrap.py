"""Open a database of a Redis server: check that it is suitable, and initialise a new one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from redis.exceptions import ResponseError

from recollect.errors import StoreError, StoreReadOnlyError, StoreVersionError
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import store_errors
from recollect.stores.redis.location import Durability
from recollect.stores.redis.optimistic_reads import Client

SERVER_VERSION_MIN: Final = (6, 2)
FORMAT: Final = 1
"""Version of the format of keys and rows; a release refuses a store of a later one."""

_SECRET_BYTES: Final = 32
_IDENTITY_BYTES: Final = 12
_RELAX: Final = "or open it with ?durability=relaxed, and read in its documentation what that loses"
_NO_EVICTION: Final = ("noeviction", "volatile-")
"""Beginnings of the eviction policies that never evict a key without expiry."""


def open_server(server: RedisConnections, durability: Durability) -> bytes:
    """
    Check that the server is suitable, and initialise its database if it is new.

    Returns:
        The store's own random key.

    Raises:
        StoreVersionError: The server is too old, or a later release made the store.
        StoreReadOnlyError: The server is a replica, or this user lacks a permission.
        StoreUnavailableError: There is no server, or it accepts no more connections.
        StoreError: Its settings could lose acknowledged writes, or it failed otherwise.
    """
    with store_errors(server.name):
        client = server.client
        _check_server(client, server.name)
        _check_persistence(client, server.name, durability)
        _check_eviction(client, server.name)
        server.identity, secret = _create_store(client, server.name)
        server.watch_restarts()
    return secret


def _check_server(client: Client, name: str) -> None:
    info = {**client.info("server"), **client.info("replication"), **client.info("cluster")}
    version = str(info.get("redis_version", "0"))
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdecimal())
    if numbers < SERVER_VERSION_MIN:
        needed = ".".join(map(str, SERVER_VERSION_MIN))
        msg = f"{name} is Redis {version}: this release needs {needed} or later; upgrade the server"
        raise StoreVersionError(msg)
    _check_role(info, name)
    if info.get("cluster_enabled"):
        raise StoreError(f"{name} is part of a cluster (cluster_enabled 1): name a single primary")


def check_primary(server: RedisConnections) -> None:
    """
    Check that the server still takes writes.

    Raises:
        StoreReadOnlyError: It has become a replica.
        StoreError: Redis failed.
    """
    with store_errors(server.name):
        _check_role(server.client.info("replication"), server.name)


def _check_role(info: Mapping[str, object], name: str) -> None:
    if info.get("role") != "master":
        role = info.get("role")
        msg = f"{name} is a replica (role {role!r}), which cannot be written: name the primary"
        raise StoreReadOnlyError(msg)


def setting_of(client: Client, setting: str) -> str | None:
    """Return a setting of the server, ``None`` if the server does not disclose it."""
    try:
        found: dict[object, object] = client.config_get(setting)
    except ResponseError:  # hosted servers have no CONFIG, or rename it
        return None
    settings = {_text(key): _text(value) for key, value in found.items()}
    return settings.get(setting)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _check_persistence(client: Client, name: str, durability: Durability) -> None:
    if durability == "relaxed":
        return
    for setting, wanted in (("appendonly", "yes"), ("appendfsync", "always")):
        found = setting_of(client, setting)
        if found is None:
            raise StoreError(
                f"{name} does not disclose its setting {setting!r}, which must be {wanted!r} so "
                f"that no acknowledged write is lost: let this user run CONFIG GET, {_RELAX}"
            )
        if found != wanted:
            raise StoreError(
                f"{name} has {setting} {found!r} and could lose acknowledged writes: "
                f"set it to {wanted!r} in its configuration (CONFIG SET {setting} {wanted}), "
                f"{_RELAX}"
            )


def _check_eviction(client: Client, name: str) -> None:
    policy = _text(client.info("memory").get("maxmemory_policy", ""))
    # The volatile policies evict only keys with an expiry, which no row of a store has.
    if policy and not policy.startswith(_NO_EVICTION):
        raise StoreError(
            f"{name} has maxmemory-policy {policy!r} and would evict memories when it is "
            "full: set it to 'noeviction' (CONFIG SET maxmemory-policy noeviction)"
        )


def _create_store(client: Client, name: str) -> tuple[bytes, bytes]:
    """Create the store if it does not exist; return its identity and its secret."""
    pipeline = client.pipeline(transaction=True)
    # Of several processes that open a new store, the first sets the fields and all read them.
    pipeline.hsetnx(keys.STORE, "format", FORMAT)
    pipeline.hsetnx(keys.STORE, "secret", secrets.token_bytes(_SECRET_BYTES))
    pipeline.hsetnx(keys.STORE, "identity", secrets.token_hex(_IDENTITY_BYTES))
    pipeline.hmget(keys.STORE, ["format", "identity", "secret"])
    *_, (written, identity, secret) = pipeline.execute()
    if int(written) > FORMAT:
        raise StoreVersionError(
            f"{name} was written by a later release (format {int(written)}, this one knows "
            f"{FORMAT}): upgrade Recollect"
        )
    return bytes(identity), bytes(secret)
