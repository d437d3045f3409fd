"""Optimistic reads of one unit of work, with the versions to compare at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from redis.exceptions import NoScriptError

from recollect.records import Scope
from recollect.stores.redis import keys
from recollect.stores.redis.codec import decode_scope
from recollect.stores.redis.scripts import DIGESTS, SCRIPTS
from recollect.stores.rows import ScopeRow
from recollect.stores.scope_paths import stored_path

Client: TypeAlias = Any
"""
A `redis.Redis` whose answers are bytes, and which sends nothing twice.

Few of its methods say what they return, and some are not typed at all.
"""
Value: TypeAlias = bytes | str | int
Command: TypeAlias = tuple[Value, ...]


def run_script(
    client: Client, name: str, script_keys: Sequence[str], values: Iterable[Value]
) -> Any:
    """
    Run one of our functions on the server, which keeps its text after the first time.

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
    Sends the commands of one unit of work, and collects the versions of what it read.

    The version of a scope is read before its first row, and compared at the end by the function
    that writes. So all reads are consistent although they took several round trips.
    """

    def __init__(self, client: Client, generation: int, before: Callable[[bytes], None]) -> None:
        """Start; *before* is called with the name of each place before it is read."""
        self.client: Final = client
        self._before: Final = before
        self.generation: Final = generation
        self.names: dict[bytes, bytes] = {}
        """By path, the id that it has, empty if it has none."""
        self.versions: dict[str, bytes] = {}
        """By key, the version that was seen, empty if there was none."""

    def ask(self, scope_id: int, *commands: Command) -> list[Any]:
        """Return the replies to commands on one scope, in one round trip."""
        return self.ask_guarded(keys.version_of(scope_id), *commands)

    def ask_guarded(self, guard: str, *commands: Command) -> list[Any]:
        """Return replies on data that changes only together with the key *guard*."""
        if guard in self.versions:
            return self._send(commands)
        seen, *answers = self._send((("GET", guard), *commands))
        self.versions[guard] = seen or b""
        return answers

    def script(self, name: str, script_keys: Sequence[str], *values: Value) -> Any:
        """Run a Lua function; concurrent searches for due threads wait for each other."""
        if name == "due":
            self._before(b"")
        return run_script(self.client, name, script_keys, values)

    def saw(self, scope_id: int, version: bytes) -> None:
        """Record the version of a scope that was read together with its rows."""
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
        """Return a decoded scope; a restart that may have lost writes raises its epoch."""
        return decode_scope(stored, self.generation)

    def _send(self, commands: Sequence[Command]) -> list[Any]:
        if not commands:
            return []
        if len(commands) == 1:
            return [self.client.execute_command(*commands[0])]
        pipeline = self.client.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return list(pipeline.execute())
