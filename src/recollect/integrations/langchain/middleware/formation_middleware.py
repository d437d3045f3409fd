"""`FormationMiddleware`: stores each turn of an agent in a thread, for formation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final, NotRequired, TypeAlias

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.runtime import Runtime

from recollect.errors import ConflictError
from recollect.integrations.langchain.middleware.request_middleware import asked_in, is_said
from recollect.integrations.langgraph.caller import (
    GraphCaller,
    Which,
    Whose,
    check_whose,
    present_caller,
    scope_of,
    thread_of,
)
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.integrations.langgraph.storable_messages import keepable
from recollect.memory.conflict_retries import decided_unerased
from recollect.memory.facade import Recollect
from recollect.messages import kind_of, record_of
from recollect.records import JsonObject, NewMessage, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.validation import MESSAGES_MAX
from recollect.sync.method_pairs import prepared_pair
from recollect.sync.object_home import AnyRecollect

_KINDS = frozenset({"human", "ai", "tool", "function", "chat"})
APPENDED: Final = "recollect_appended"
"""The field of an agent's state with the place and the ids of the appended messages of a turn."""
_Update: TypeAlias = dict[str, dict[str, list[str]]]


class AppendedState(AgentState[Any]):
    """The state of an agent, with the messages of the turn that are appended already."""

    recollect_appended: NotRequired[Annotated[dict[str, list[str]] | None, PrivateStateAttr]]


class FormationMiddleware(AgentMiddleware[Any, Any, Any]):
    """
    Stores the turns of an agent in a thread, for formation.

    The user's message is durable before the agent answers, so that its tools can quote it
    (`MemoryTools`); the agent's messages and tool results follow at the end of the turn. Each
    message is stored once, by id; a changed message replaces the old one. One that was erased or
    removed during the turn stays away. Summaries, and blocks that recall inserted into a message,
    are never formed.

    Args:
        memory: A `SyncRecollect`, or a `Recollect`; an agent on the latter's loop must be awaited.
        scope: The scope, or a function of the `GraphCaller`; never taken from model output.
        thread: The thread, or a function of the `GraphCaller`; by default the run's ``thread_id``.
        settings: Formation settings of the thread, see `Recollect.append`.
        debounce: How long formation waits after a message; by default from the settings.
    """

    state_schema = AppendedState

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Whose,
        *,
        thread: Which = None,
        settings: JsonObject | None = None,
        debounce: Debounce | None = None,
    ) -> None:
        super().__init__()
        self.scope = check_whose(scope)
        self.thread = thread
        self.home = HomeLoop(memory)
        self._settings = settings
        self._debounce = debounce

    def _keep_turn(
        self, state: Any, runtime: Runtime[Any]
    ) -> Callable[[Recollect], Awaitable[_Update]]:
        """Store the turn so far, for formation when the conversation pauses."""
        caller: GraphCaller = present_caller(runtime)
        scope = scope_of(self.scope, caller)
        thread = thread_of(self.thread, caller, scope)
        before = state.get(APPENDED) or {}
        return partial(
            self._keep,
            scope=scope,
            thread=thread,
            records=[record_of(keepable(each)) for each in turn_in(state["messages"])],
            appended=before["ids"] if before.get("place") == [*scope, thread] else [],
        )

    # Before the agent runs, the turn is the user's message; afterwards, it is the whole turn.
    before_agent, abefore_agent = prepared_pair(_keep_turn, "before_agent")
    after_agent, aafter_agent = prepared_pair(_keep_turn, "after_agent")

    async def _keep(
        self,
        memory: Recollect,
        *,
        scope: Scope,
        thread: str,
        records: Sequence[NewMessage],
        appended: Sequence[str],
    ) -> _Update:
        """Store the messages of a turn, but for those *appended* before that are gone since."""
        known = {(thread, each) for each in appended}

        async def keep(store: Store) -> None:
            gone = known - await store.known_messages(scope, sorted(known))
            left = [each for each in records if (thread, each.id) not in gone]
            await self._append_all(memory.over(store), scope, thread, left)

        if known:
            await decided_unerased(memory.store, scope, keep)
        else:
            await self._append_all(memory, scope, thread, records)
        ids = [each.id for each in records if each.id is not None]
        return {APPENDED: {"place": [*scope, thread], "ids": ids}}

    async def _append_all(
        self, memory: Recollect, scope: Scope, thread: str, records: Sequence[NewMessage]
    ) -> None:
        for start in range(0, len(records), MESSAGES_MAX):
            batch = records[start : start + MESSAGES_MAX]
            try:
                await self._append(memory, scope, thread, batch)
            except ConflictError:
                # A message of the batch is stored already with another content.
                for each in batch:
                    await self._append_or_replace(memory, scope, thread, each)

    async def _append_or_replace(
        self, memory: Recollect, scope: Scope, thread: str, record: NewMessage
    ) -> None:
        try:
            await self._append(memory, scope, thread, [record])
        except ConflictError:
            await memory.replace(scope, thread, record)

    async def _append(
        self, memory: Recollect, scope: Scope, thread: str, records: Sequence[NewMessage]
    ) -> None:
        await memory.append(
            scope, thread, records, debounce=self._debounce, settings=self._settings
        )


def turn_in(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """
    Return the messages of the last turn, from the user's message on.

    Consecutive user messages are one turn, as after a failed run. Earlier messages passed in by the
    program are not stored again.
    """
    last = asked_in(messages)
    if last is None:
        return []
    first = last
    while first > 0 and isinstance(messages[first - 1], HumanMessage):
        first -= 1
    return [each for each in messages[first:] if is_said(each) and kind_of(each) in _KINDS]
