"""Send a commit so that it takes effect exactly once, even if it is sent again."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from random import SystemRandom
from time import sleep
from typing import Final, Literal

from redis.exceptions import ConnectionError as LostError
from redis.exceptions import TimeoutError as SilentError

from recollect.errors import StoreCorruptError, StoreUnavailableError
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.effects import scopes_of
from recollect.stores.redis.optimistic_reads import Command, OptimisticReads, Value, run_script
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect

LOST_MAX: Final = 5
"""Attempts of a unit of work or a commit, at most, after lost connections in a row."""
LOST_PAUSE_S: Final = 0.02
"""Pause before the second attempt; each further one is five times as long."""

_HELD_PAUSE_S: Final = 0.01
_CHANCE: Final = SystemRandom()


def written_by(effect: Effect, reading: OptimisticReads) -> list[str]:
    """Return the keys of the versions that *effect* changes."""
    ids = sorted(scopes_of(effect))
    dropped = set(effect.dropped_scopes)
    found = [keys.version_of(each) for each in ids if each not in dropped]
    # A scope without a version is new, and changes the list of scopes.
    is_new = any(not reading.versions.get(keys.version_of(row.id)) for row in effect.scopes)
    if is_new or dropped:
        found.append(keys.LISTING)
    if effect.receipts:
        found.append(keys.RECEIPTS_VERSION)
    chains = {row.chain for row in effect.audit}
    # Removing the names of a chain without a version changes nothing: create no version for it.
    chains |= {each for each in effect.unnamed if reading.versions.get(keys.version_of_chain(each))}
    return found + sorted(map(keys.version_of_chain, chains))


def takes_room(effect: Effect) -> bool:
    """Return True if a full server must reject *effect*, because it does not erase or delete."""
    frees = (effect.removed, effect.dropped_scopes, effect.dropped_threads, effect.receipts)
    return not any(frees)


class Commit:
    """
    The arguments of the Lua function ``commit``: versions to compare, and commands to run.

    A random token identifies a commit that writes, so that it is not carried out twice.
    """

    def __init__(
        self,
        reading: OptimisticReads,
        hold: bytes,
        *,
        written: Sequence[str] = (),
        commands: Iterable[Command] = (),
        takes_room: bool = True,
    ) -> None:
        """
        Assemble the arguments; without *written*, the function only compares versions.

        With *takes_room*, the first command needs memory, so that a full server rejects the commit
        as a whole (see `Commands`).
        """
        opening = [("SET", key, b"") for key in written[:1] if takes_room]
        self.is_writing: Final = bool(written)
        self._keys: list[str] = [keys.COMMITS, keys.NAMES, keys.STORE]
        self._places: dict[str, int] = {}
        # In the order in which commit.lua takes them; each list begins with its length.
        values: list[Value] = [secrets.token_bytes(12) if written else b"", hold]
        values.append(len(reading.names))
        for pair in reading.names.items():
            values += pair
        values.append(len(reading.versions))
        for key, seen in reading.versions.items():
            values += (self._place(key), seen)
        values.append(len(written))
        values += [self._place(key) for key in written]
        listed = [*opening, *commands]
        values.append(len(listed))
        for command, at, *given in listed:
            values += (command, self._place(str(at)), len(given), *given)
        self._values: Final = values

    def _place(self, key: str) -> int:
        """Return the position of *key* among the function's keys, from 1."""
        if key not in self._places:
            self._keys.append(key)
            self._places[key] = len(self._keys)
        return self._places[key]

    def send(self, server: RedisConnections, late_at: float) -> Literal["done", "moved"]:
        """
        Send the commit; return ``"moved"`` if a version that was read has changed.

        After a lost connection it is sent again: the server recognises the token of a commit that
        it has run, and versions never repeat, so that an outdated commit cannot run.

        Raises:
            redis.RedisError: The server refused; nothing was written.
            StoreCorruptError: The store's keys are gone.
            StoreUnavailableError: No answer came in time, and the commit may have been carried out;
                or another process held a scope for too long.
        """
        lost = 0
        while True:
            try:
                values = [server.identity, *self._values]
                answer = run_script(server.client, "commit", self._keys, values)
            except (LostError, SilentError) as error:
                lost += 1
                if not self.is_writing:  # a query has no token: the whole unit is run again
                    raise
                if lost == LOST_MAX or timer_s() > late_at:
                    raise _unknown(server.name, error) from error
                sleep(LOST_PAUSE_S * 5 ** (lost - 1) * _CHANCE.uniform(0.5, 1.5))
                continue
            if answer == b"gone":
                raise StoreCorruptError(
                    f"{server.name}: the keys of this store are gone, or replaced by those of "
                    "another store: restore them from a backup, or open the database again"
                )
            if answer != b"held":
                return "done" if answer == b"done" else "moved"
            if timer_s() > late_at:
                raise _unknown(server.name, None) if lost else conflict_error(server.name)
            sleep(_HELD_PAUSE_S * _CHANCE.random())


def conflict_error(name: str) -> StoreUnavailableError:
    """Return the error for a unit of work with a conflict in every attempt."""
    return StoreUnavailableError(
        f"{name}: others wrote in the same scope during every attempt, and nothing was written: "
        "try again"
    )


def _unknown(name: str, error: Exception | None) -> StoreUnavailableError:
    reason = type(error).__name__ if error else "held by another"
    return StoreUnavailableError(
        f"{name}: the connection was lost during the commit; whether it was carried out is "
        f"unknown: repeat it with the same ids or idempotency key ({reason})"
    )
