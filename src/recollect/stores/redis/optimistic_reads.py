"""Optimistic reads of one unit of work, with the versions that its commit compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from redis.exceptions import NoScriptError

from recollect.records import Scope
from recollect.stores.redis import key_layout as keys
from recollect.stores.redis.codec import decode_scope
from recollect.stores.redis.scripts import DIGESTS, SCRIPTS
from recollect.stores.rows import ScopeRow
from recollect.stores.scope_paths import stored_path

Client: TypeAlias = Any
"""
A `redis.Redis` that returns bytes and repeats no command.

Few of its methods declare what they return, and some are not typed at all.
"""
Connection: TypeAlias = Any
"""A connection of the driver, whose classes have no common type."""
Value: TypeAlias = bytes | str | int
Command: TypeAlias = tuple[Value, ...]


def run_script(
    client: Client, name: str, script_keys: Sequence[str], values: Iterable[Value]
) -> Any:
    """
    Run a Lua function on the server; its text is sent only if the server does not know it yet.

    Raises:
        redis.RedisError: The server refused, or did not answer.
    """
    given = (len(script_keys), *script_keys, *values)
    try:
        return client.execute_command("EVALSHA", DIGESTS[name], *given)
    except NoScriptError:
        return client.execute_command("EVAL", SCRIPTS[name], *given)


class OptimisticReads:
    """
    Sends the read commands of one unit of work, and collects the versions of what it read.

    The version of a scope is read before its first row, and compared at the end by the Lua function
    that writes. So the reads are consistent although they take several round trips.
    """

    def __init__(self, client: Client, generation: int, before: Callable[[bytes], None]) -> None:
        """Start a unit; *before* is called with the path of each scope before it is read."""
        self.client: Final = client
        self._before: Final = before
        self.generation: Final = generation
        self.names: dict[bytes, bytes] = {}
        """The id read for each path, empty if there was none."""
        self.versions: dict[str, bytes] = {}
        """The version read from each key, empty if there was none."""

    def ask(self, scope_id: int, *commands: Command) -> list[Any]:
        """Return the replies to commands on one scope, in one round trip."""
        return self.ask_guarded(keys.version_of(scope_id), *commands)

    def ask_guarded(self, guard: str, *commands: Command) -> list[Any]:
        """Return replies to commands on data that changes only together with the key *guard*."""
        # The commit compares the first version read; a later one could hide a change.
        if guard in self.versions:
            return self._send(commands)
        # The version first: a commit between the two then shows as a changed version.
        seen, *answers = self._send((("GET", guard), *commands))
        self.versions[guard] = seen or b""
        return answers

    def script(self, name: str, script_keys: Sequence[str], *values: Value) -> Any:
        """Run a Lua function; concurrent searches for due threads wait for each other."""
        if name == "due":
            self._before(b"")
        return run_script(self.client, name, script_keys, values)

    def saw(self, scope_id: int, version: bytes) -> None:
        """Record the version of a scope that was read together with its row."""
        # The first one seen counts: rows read under it must not have changed either.
        self.versions.setdefault(keys.version_of(scope_id), version)

    def scope(self, segments: Scope) -> ScopeRow | None:
        """Return the row of a scope by its path."""
        path = stored_path(segments)
        self._before(path)
        found = self.script("scope", [keys.NAMES], path, keys.PREFIX)
        self.names.setdefault(path, found[0] if found else b"")
        if not found:
            return None
        self.saw(int(found[0]), found[1])
        return self.row_of(found[2])

    def row_of(self, stored: bytes) -> ScopeRow:
        """Return the decoded row of a scope, with an epoch of at least the generation."""
        return decode_scope(stored, self.generation)

    def _send(self, commands: Sequence[Command]) -> list[Any]:
        if not commands:
            return []
        if len(commands) == 1:
            return [self.client.execute_command(*commands[0])]
        # Without MULTI: the comparison of versions, not the server, makes the reads consistent.
        pipeline = self.client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return list(pipeline.execute())
