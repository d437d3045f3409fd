"""Collect the commands of one commit: removals first, then writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from recollect.stores.redis.optimistic_reads import Command, Value

_ARGUMENTS_MAX: Final = 1_000
"""Values in one command, at most: Lua limits the arguments that a function can pass on."""


class Commands:
    """
    Commands on one key each, in order, with removals first.

    A full server rejects a function whose first write needs memory, but lets one that has begun to
    write finish. So an erase, which begins with a removal, works on a full server.
    """

    def __init__(self) -> None:
        self._removals: list[Command] = []
        self._puts: list[Command] = []

    def __iter__(self) -> Iterator[Command]:
        yield from self._removals
        yield from self._puts

    def drop(self, key: str) -> None:
        """Remove a key."""
        self._removals.append(("DEL", key))

    def take_fields(self, key: str, names: Sequence[Value]) -> None:
        """Remove fields of a hash."""
        self._removals += _parts("HDEL", key, names)

    def take_members(self, key: str, members: Sequence[Value]) -> None:
        """Remove members of a sorted set."""
        self._removals += _parts("ZREM", key, members)

    def take_scores(self, key: str, until: int) -> None:
        """Remove the members of a sorted set up to and including a score."""
        self._removals.append(("ZREMRANGEBYSCORE", key, "-inf", until))

    def put(self, key: str, value: Value) -> None:
        """Set a key."""
        self._puts.append(("SET", key, value))

    def put_last(self, key: str, values: Sequence[Value]) -> None:
        """Append values to a list."""
        self._puts += _parts("RPUSH", key, values)

    def put_fields(self, key: str, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Set fields of a hash."""
        self._puts += _parts("HSET", key, [each for pair in pairs for each in pair])

    def put_members(self, key: str, members: Sequence[Value], score: int = 0) -> None:
        """Add members to a sorted set, all at one score."""
        self._puts += _parts("ZADD", key, [each for name in members for each in (score, name)])


def _parts(name: str, key: str, values: Sequence[Value]) -> list[Command]:
    """Split a command with many values into several; none without values."""
    parts = (values[at : at + _ARGUMENTS_MAX] for at in range(0, len(values), _ARGUMENTS_MAX))
    return [(name, key, *part) for part in parts]
