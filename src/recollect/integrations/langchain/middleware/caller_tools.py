"""`CallersMemoryTools`: memory tools in the scope and thread of an agent's caller."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from recollect.agents.tools import MemoryTools
from recollect.agents.tools.tool_definitions import tools_of
from recollect.formation.types import MemoryType
from recollect.formation.types.builtin import DEFAULT_TYPES
from recollect.integrations.langgraph.caller import (
    Which,
    Whose,
    check_whose,
    present_caller,
    scope_of,
    thread_of,
)
from recollect.integrations.langgraph.home_loop import forwarded
from recollect.ports import Tool
from recollect.records import JsonObject
from recollect.sync.method_pairs import PairCall, delegated_pair
from recollect.sync.object_home import AnyRecollect


class CallersMemoryTools:
    """
    `MemoryTools` in the scope and thread of the current run's caller.

    Over a `Recollect` they work from any thread and event loop, like `RecollectStore`.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Whose,
        thread: Which = None,
        *,
        types: Sequence[MemoryType] = DEFAULT_TYPES,
        secret: bytes | None = None,
    ) -> None:
        self.memory = memory
        self.scope = check_whose(scope)
        self.thread = thread
        self.types = tuple(types)
        self._secret = secrets.token_bytes(32) if secret is None else secret

    @property
    def schemas(self) -> tuple[Tool, ...]:
        """The tool definitions for a model; no argument selects the scope or the thread."""
        return tools_of(self.types)

    async def _call(self, call: PairCall, name: str, arguments: JsonObject) -> JsonObject:
        """Run a tool call in the scope and thread of the current caller."""
        tools = self._tools_of_caller()
        return await call(tools.call, tools.acall, name, arguments)

    call, acall = delegated_pair(_call)

    def _tools_of_caller(self) -> MemoryTools:
        caller = present_caller()
        scope = scope_of(self.scope, caller)
        tools = MemoryTools(
            self.memory,
            scope,
            thread_of(self.thread, caller, scope),
            types=self.types,
            secret=self._secret,
        )
        return forwarded(tools)
