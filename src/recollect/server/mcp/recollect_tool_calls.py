"""Carry out Recollect's own tools: store a client's quotes with the memories they support."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from recollect.agents.tools import MemoryTools
from recollect.agents.tools.tool_definitions import ERASE, SEARCH, shape_of
from recollect.formation.succession import holds_from
from recollect.formation.types import MemoryType
from recollect.memory.facade import Recollect
from recollect.records import Json, JsonObject, NewMessage, Scope, Write
from recollect.server.authorization import relative
from recollect.server.mcp.callers import McpCaller
from recollect.server.mcp.recollect_tool_definitions import CONTEXT, NEEDS, PROFILE, tools_offered
from recollect.server.mcp.tool_sets import wrong_arguments
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import to_datetime
from recollect.wire.recalls import context_to_json
from recollect.worker.formation_input import read_documents

THREAD: Final = "mcp"
"""The thread of a scope that stores the words that clients quote."""
SOURCE: Final = "mcp"

# The call that quotes a message also writes the memory: formation need not read the message.
_NEVER: Final = Debounce(quiet_s=math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuoteHearing:
    """Stores the words that a client quotes as messages of the user."""

    answer: str

    async def keep(
        self,
        memory: Recollect,
        scope: Scope,
        thread: str,
        said: Sequence[NewMessage],
        writes: Sequence[Write],
    ) -> None:
        """
        Store the messages with the writes that rest on them, in one transaction.

        Raises:
            QuotaError: They exceed the tenant's daily quota.
        """
        sourced = [replace(each, source=SOURCE) for each in said]
        await memory.append(scope, thread, sourced, debounce=_NEVER, writes=writes)


class RecollectTools:
    """The tools, for every caller and the types of its scope; *secret* signs the erase tokens."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    async def call(self, caller: McpCaller, name: str, arguments: JsonObject) -> JsonObject:
        """
        Carry out one call of an offered tool; invalid arguments are reported in the result.

        Raises:
            ForbiddenError: The caller's key lacks the permission.
            QuotaError: The write exceeds the tenant's daily quota.
            RecollectError: The memory failed.
        """
        scope = caller.reach(NEEDS[name])
        types = await caller.types()
        if wrong := _wrong(types, name, arguments):
            return {"status": "refused", "id": "", "reason": wrong}
        if name == PROFILE:
            return {"status": "found", "profile": await self.profile(caller)}
        if name == CONTEXT:
            return await _context(caller, scope, arguments)
        given = dict(arguments)
        answer = str(given.pop("answer", ""))
        tools = MemoryTools(
            caller.memory,
            scope,
            THREAD,
            types=types,
            others=caller.assistants.all_types(),
            secret=self._secret,
            hearing=_QuoteHearing(answer=answer),
            source=SOURCE,
        )
        if name != ERASE:
            caller.use(scope, recalls=int(name == SEARCH))
        return await tools.acall(name, given)

    async def profile(self, caller: McpCaller) -> dict[str, Json]:
        """Return the profile documents of a scope, by type, and by name if there are several."""
        scope = caller.reach("read")
        found: dict[str, Json] = {}
        store = caller.memory.store
        now = to_datetime(store.now())
        for type_ in await caller.types():
            if type_.update_mode != "patch":
                continue
            for each in await read_documents(store, scope, type_.name):
                if holds_from(each, now):
                    found[each.label] = each.value
        return found


async def _context(caller: McpCaller, scope: Scope, arguments: JsonObject) -> JsonObject:
    """Return the context of a query; `_wrong` has checked the arguments."""
    caller.use(scope, recalls=1)
    given: Mapping[str, Any] = arguments
    found = await caller.memory.context(scope, **given)
    scope_of = partial(relative, caller.principal)
    return {"status": "found", **context_to_json(found, scope_of, whole=False)}


def _wrong(types: Sequence[MemoryType], name: str, arguments: JsonObject) -> str:
    """Return the errors in the arguments of a call, "" if there are none."""
    kinds = [shape_of(each) for each in types]
    tool = next(each for each in tools_offered(kinds) if each.name == name)
    return wrong_arguments(tool, arguments)
