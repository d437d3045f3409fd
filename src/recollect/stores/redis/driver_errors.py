"""Translate errors of the driver (redis-py) into ours, with the server and advice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from redis import exceptions

from recollect.errors import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
    UsageError,
)
from recollect.observability.logs import package_logger
from recollect.stores.damage_log import note_failure
from recollect.stores.redis.codec import DamagedError

LOG: Final = package_logger("recollect.stores.redis")


@dataclass(frozen=True, slots=True)
class _Failure:
    """The error class and the advice for error replies with one of these words."""

    words: tuple[str, ...]
    ours: type[StoreError]
    advice: str


_FAILURES: Final = (
    _Failure(
        ("OOM", "command not allowed when used memory"),
        StoreFullError,
        "the server has no memory left and nothing was written: raise its maxmemory, or erase "
        "something, then try again",
    ),
    _Failure(
        ("MISCONF",),
        StoreFullError,
        "the server cannot write its files and refuses writes: give its disk room and see its log, "
        "then try again",
    ),
    _Failure(
        ("READONLY", "You can't write against a read only"),
        StoreReadOnlyError,
        "it may not be written, because it is a replica: name the primary",
    ),
    _Failure(
        ("NOPERM", "this user has no permissions", "ACL failure"),
        StoreReadOnlyError,
        "this user lacks a right: grant it ~{recollect}:* &{recollect}:* +@all -@dangerous +info "
        "+config|get +bgrewriteaof +bgsave",
    ),
    _Failure(
        (
            "WRONGPASS",
            "NOAUTH",
            "Authentication required",
            "invalid username",
            "Client sent AUTH",
            "HELLO must be called",
        ),
        StoreError,
        "the server refuses this user or password: correct the address",
    ),
    _Failure(
        ("MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN"),
        StoreError,
        "it is part of a cluster, and a store needs a single server: name a primary of its own",
    ),
    _Failure(
        ("NOREPLICAS", "LOADING", "BUSY", "TRYAGAIN", "MASTERDOWN", "UNBLOCKED"),
        StoreUnavailableError,
        "the server is not ready to write: try again",
    ),
    _Failure(
        ("max number of clients",),
        StoreUnavailableError,
        "the server takes no more connections: try again, or raise its maxclients",
    ),
    _Failure(
        ("DB index", "invalid DB index"),
        StoreError,
        "there is no such database: correct the address",
    ),
    _Failure(
        ("WRONGTYPE",),
        StoreCorruptError,
        "its keys were changed by another program: restore it from a backup",
    ),
)
_LOST: Final = _Failure(
    (), StoreUnavailableError, "the server cannot be reached, or is stopping: try again"
)
_OTHER: Final = _Failure((), StoreError, "Redis refused, which is a bug of this store: report it")
_UNREACHABLE: Final = (
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.BusyLoadingError,
)
_REPLY_MAX: Final = 200
"""Characters of the server's reply in an error, at most."""


@contextmanager
def store_errors(name: str) -> Iterator[None]:
    """
    Translate every error of the driver into one of ours, with the original as its cause.

    Raises:
        StoreError: Redis failed, or a row is damaged; the class tells why.
        UsageError: A value was given that cannot be stored.
    """
    try:
        yield
    except exceptions.RedisError as error:
        raise note_failure(LOG, name, error, store_error(name, error)) from error
    except UnicodeEncodeError as error:
        msg = f"a value of the request can neither be stored nor looked for: {error}"
        raise UsageError(msg) from error
    except (UnicodeDecodeError, DamagedError) as error:
        msg = f"{name}: it is damaged: restore it from a backup ({error})"
        raise note_failure(LOG, name, error, StoreCorruptError(msg)) from error


def store_error(name: str, error: exceptions.RedisError) -> StoreError:
    """Return our error for the driver's *error* on the server *name*."""
    reply = " ".join(str(error).split())[:_REPLY_MAX]
    fitting = (each for each in _FAILURES if any(word in reply for word in each.words))
    # To the driver a wrong password is a lost connection too.
    is_lost = isinstance(error, _UNREACHABLE) and not isinstance(
        error, exceptions.AuthenticationError
    )
    failure = next(fitting, _LOST if is_lost else _OTHER)
    return failure.ours(f"{name}: {failure.advice} ({type(error).__name__}: {reply})")
