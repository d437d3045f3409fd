"""Open a database of a Redis server: check that it is suitable, and initialise a new one."""

from __future__ import annotations

import secrets
from typing import Final

from redis.exceptions import ResponseError

from recollect.errors import StoreError, StoreReadOnlyError, StoreVersionError
from recollect.stores.redis import keys
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.driver_errors import store_errors
from recollect.stores.redis.location import Durability
from recollect.stores.redis.optimistic_reads import Client

SERVER_VERSION_MIN: Final = (6, 2)
FORMAT: Final = 2
"""
How keys and rows are written; a later release may write them in another way.

Since 2 a memory says when the words that it rests on were said.
"""

_SECRET_BYTES: Final = 32
_IDENTITY_BYTES: Final = 12
_RELAX: Final = "or open it with ?durability=relaxed and read what that loses"
_NO_EVICTION: Final = ("noeviction", "volatile-")


def open_server(server: RedisConnections, durability: Durability) -> bytes:
    """
    Check that the server is suitable, and initialise its database if it is new.

    Returns:
        The store's own random key.

    Raises:
        StoreVersionError: The server is too old, or a later release made the store.
        StoreReadOnlyError: It is a replica, or this user may not do what is needed.
        StoreUnavailableError: There is no server, or it takes no more connections.
        StoreError: Its settings could lose acknowledged writes, or it failed otherwise.
    """
    with store_errors(server.name):
        client = server.client
        _check_server(client, server.name)
        _check_persistence(client, server.name, durability)
        _check_eviction(client, server.name)
        server.identity, secret = _made_store(client, server.name)
        server.watch_restarts()
    return secret


def _check_server(client: Client, name: str) -> None:
    said = {**client.info("server"), **client.info("replication"), **client.info("cluster")}
    version = str(said.get("redis_version", "0"))
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdecimal())
    if numbers < SERVER_VERSION_MIN:
        needed = ".".join(map(str, SERVER_VERSION_MIN))
        msg = f"{name} is Redis {version}: this release needs {needed} or later; upgrade the server"
        raise StoreVersionError(msg)
    if said.get("role") != "master":
        role = said.get("role")
        msg = f"{name} is a replica (role {role!r}), which cannot be written: name the primary"
        raise StoreReadOnlyError(msg)
    if said.get("cluster_enabled"):
        msg = f"{name} is part of a cluster (cluster_enabled 1): name a single primary"
        raise StoreError(msg)


def setting_of(client: Client, setting: str) -> str | None:
    """
    Return a setting of the server, ``None`` if the server does not disclose it.

    Raises:
        redis.RedisError: It does not answer.
    """
    try:
        found: dict[object, object] = client.config_get(setting)
    except ResponseError:  # hosted servers have no CONFIG, or call it otherwise
        return None
    said = {_text(key): _text(value) for key, value in found.items()}
    return said.get(setting)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _check_persistence(client: Client, name: str, durability: Durability) -> None:
    if durability == "relaxed":
        return
    for setting, wanted in (("appendonly", "yes"), ("appendfsync", "always")):
        found = setting_of(client, setting)
        if found is None:
            msg = (
                f"{name} does not tell its setting {setting!r}, which must be {wanted!r} so that "
                f"nothing acknowledged is lost: let this user run CONFIG GET, {_RELAX}"
            )
            raise StoreError(msg)
        if found != wanted:
            msg = (
                f"{name} has {setting} {found!r} and would lose what was acknowledged: "
                f"set it to {wanted!r} in its configuration (CONFIG SET {setting} {wanted}), "
                f"{_RELAX}"
            )
            raise StoreError(msg)


def _check_eviction(client: Client, name: str) -> None:
    policy = _text(client.info("memory").get("maxmemory_policy", ""))
    # What has no expiry is not evicted under the volatile ones, and no row of a store has any.
    if policy and not policy.startswith(_NO_EVICTION):
        msg = (
            f"{name} has maxmemory-policy {policy!r} and would throw memories away when it is "
            "full: set it to 'noeviction' (CONFIG SET maxmemory-policy noeviction)"
        )
        raise StoreError(msg)


def _made_store(client: Client, name: str) -> tuple[bytes, bytes]:
    made = client.pipeline(transaction=True)
    # Who opens it first makes it; the others find what he made.
    made.hsetnx(keys.STORE, "format", FORMAT)
    made.hsetnx(keys.STORE, "secret", secrets.token_bytes(_SECRET_BYTES))
    made.hsetnx(keys.STORE, "identity", secrets.token_hex(_IDENTITY_BYTES))
    made.hmget(keys.STORE, ["format", "identity", "secret"])
    *_, (written, identity, secret) = made.execute()
    if int(written) > FORMAT:
        msg = (
            f"{name} was written by a later release (format {int(written)}, this one knows "
            f"{FORMAT}): upgrade Recollect"
        )
        raise StoreVersionError(msg)
    return bytes(identity), bytes(secret)
