"""Send a commit so that it takes effect once, however often it is sent."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from random import SystemRandom
from time import sleep
from typing import Final, Literal

from redis.exceptions import ConnectionError as LostError
from redis.exceptions import TimeoutError as SilentError

from recollect.errors import StoreCorruptError, StoreUnavailableError
from recollect.stores.redis import keys
from recollect.stores.redis.connections import RedisConnections
from recollect.stores.redis.effects import scopes_of
from recollect.stores.redis.optimistic_reads import Command, OptimisticReads, Value, run_script
from recollect.stores.system_clock import timer_s
from recollect.stores.unit_of_work import Effect

LOST_MAX: Final = 5
"""So often in a row is a unit of work, or a commit, sent again after a connection was lost."""
LOST_PAUSE_S: Final = 0.02
"""How long to wait before the second time; each time five times as long."""

_HELD_PAUSE_S: Final = 0.01
_CHANCE: Final = SystemRandom()


def written_by(effect: Effect, reading: OptimisticReads) -> list[str]:
    """Return the keys of the versions that *effect* changes."""
    ids = sorted(scopes_of(effect))
    dropped = set(effect.dropped_scopes)
    found = [keys.version_of(each) for each in ids if each not in dropped]
    made = any(not reading.versions.get(keys.version_of(row.id)) for row in effect.scopes)
    if made or dropped:
        found.append(keys.LISTING)
    if effect.receipts:
        found.append(keys.RECEIPTS_VERSION)
    chains = {row.chain for row in effect.audit}
    # Of a chain that never was nothing is left, not even a version.
    chains |= {each for each in effect.unnamed if reading.versions.get(keys.version_of_chain(each))}
    return found + sorted(map(keys.version_of_chain, chains))


def takes_room(effect: Effect) -> bool:
    """Return True if a full server must reject *effect*, as it does more than remove."""
    frees = (effect.removed, effect.dropped_scopes, effect.dropped_threads, effect.receipts)
    return not any(frees)


class Commit:
    """The versions read and the commands to run, with a token that identifies the commit."""

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
        Assemble the function's arguments; without *written* it only compares versions.

        A full server rejects a function whose first write needs memory, but runs one to its end
        whose first write needs none. So with *takes_room* the first command is one that needs
        memory.
        """
        opening = [("SET", key, b"") for key in written[:1] if takes_room]
        self.is_writing: Final = bool(written)
        self._keys: list[str] = [keys.COMMITS, keys.NAMES, keys.STORE]
        self._places: dict[str, int] = {}
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
        if key not in self._places:
            self._keys.append(key)
            self._places[key] = len(self._keys)
        return self._places[key]

    def send(self, server: RedisConnections, late_at: float) -> Literal["done", "moved"]:
        """
        Send it; return ``"moved"`` if a version that was read has changed.

        It may be sent again: the server recognises the token of a commit it has run, and versions
        never repeat, so that an outdated commit cannot run.

        Raises:
            redis.RedisError: The server refused; nothing was written.
            StoreCorruptError: The store is no longer there.
            StoreUnavailableError: No answer came in time, and it may have been carried out; or
                somebody else holds a scope for too long.
        """
        lost = 0
        while True:
            try:
                values = [server.identity, *self._values]
                answer = run_script(server.client, "commit", self._keys, values)
            except (LostError, SilentError) as error:
                lost += 1
                if not self.is_writing:
                    raise
                if lost == LOST_MAX or timer_s() > late_at:
                    raise _unknown(server.name, error) from error
                sleep(LOST_PAUSE_S * 5 ** (lost - 1) * _CHANCE.uniform(0.5, 1.5))
                continue
            if answer == b"gone":
                msg = (
                    f"{server.name}: the keys of this store are gone, or are another store's by "
                    "now: restore them from a backup, or open it anew"
                )
                raise StoreCorruptError(msg)
            if answer != b"held":
                return "done" if answer == b"done" else "moved"
            if timer_s() > late_at:
                raise _unknown(server.name, None) if lost else outrun(server.name)
            sleep(_HELD_PAUSE_S * _CHANCE.random())


def outrun(name: str) -> StoreUnavailableError:
    """Return the error for a unit of work that lost every race."""
    return StoreUnavailableError(
        f"{name}: others wrote in the same place again and again, and nothing was written: "
        "try again"
    )


def _unknown(name: str, error: Exception | None) -> StoreUnavailableError:
    said = type(error).__name__ if error else "held by another"
    return StoreUnavailableError(
        f"{name}: the connection was lost during the commit, and whether it happened is unknown: "
        f"repeat it with the same ids or idempotency key ({said})"
    )
