"""Collect the commands of one commit: removals first, then writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from recollect.stores.redis.optimistic_reads import Command, Value

_ARGUMENTS_MAX: Final = 1_000
"""So many values go into one command: what a Lua function may pass on is limited."""


class Commands:
    """
    Commands on one key each, in order.

    Removals come first. A full server rejects a commit whose first command needs memory, but runs
    one it has begun to its end, so that pure removals still work there.
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
        """Remove the members of a sorted set up to a score."""
        self._removals.append(("ZREMRANGEBYSCORE", key, "-inf", until))

    def put(self, key: str, value: Value) -> None:
        """Set a key."""
        self._puts.append(("SET", key, value))

    def put_last(self, key: str, values: Sequence[Value]) -> None:
        """Add values to the end of a list."""
        self._puts += _parts("RPUSH", key, values)

    def put_fields(self, key: str, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Set fields of a hash."""
        self._puts += _parts("HSET", key, [each for pair in pairs for each in pair])

    def put_members(self, key: str, members: Sequence[Value], score: int = 0) -> None:
        """Add members to a sorted set, all at one score."""
        self._puts += _parts("ZADD", key, [each for name in members for each in (score, name)])


def _parts(name: str, key: str, values: Sequence[Value]) -> list[Command]:
    parts = (values[at : at + _ARGUMENTS_MAX] for at in range(0, len(values), _ARGUMENTS_MAX))
    return [(name, key, *part) for part in parts]
