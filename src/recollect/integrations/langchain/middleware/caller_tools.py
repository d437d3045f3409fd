"""`CallersMemoryTools`: the memory tools of whoever calls an agent, never of what a model says."""

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
    The memory tools of whoever calls an agent: `MemoryTools` in the scope and thread of the run.

    Over a `Recollect` they are reached from any thread and loop, as `RecollectStore` is.
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
        """The tools as a model is offered them; none of their arguments says whose memory."""
        return tools_of(self.types)

    async def _call(self, call: PairCall, name: str, arguments: JsonObject) -> JsonObject:
        """Carry out a call for whoever runs the agent."""
        tools = self._present()
        return await call(tools.call, tools.acall, name, arguments)

    call, acall = delegated_pair(_call)

    def _present(self) -> MemoryTools:
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
