"""A plugin for Google's ADK: adds recalled context to model requests, and stores sessions."""

from __future__ import annotations

from typing import Final

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin

from recollect.integrations.google_adk.memory_service import (
    ENTRIES,
    RecollectMemoryService,
    ScopeChoice,
    scope_function,
    text_in,
    user_scope,
)
from recollect.integrations.storable_items import storable_text
from recollect.integrations.thread_items import check_budget
from recollect.recall.context import guide_for
from recollect.recall.query import query_in
from recollect.sync.object_home import AnyRecollect, Home

NAME: Final = "recollect"
BUDGET_TOKENS: Final = 1_000


class RecollectPlugin(BasePlugin):  # type: ignore[misc] # not installed
    """
    A plugin for a ``Runner``: memory for all its agents, without memory tools.

    Each model request gets the context of the turn as instructions. The user's message is appended
    to the thread of the session before the run, the rest when it ends; a failed run leaves the
    message. ADK's tool ``load_memory`` uses
    a `RecollectMemoryService` over the same memory.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: ScopeChoice = user_scope,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        limit: int = ENTRIES,
    ) -> None:
        """
        Create a plugin over an open memory.

        Args:
            scope: A function that returns the scope for an application's name and a user's id; or
                one scope, which all users share. By default the user's id.
            budget_tokens: The most tokens to add to the instructions.
            limit: The most entries that a tool's search returns.

        Raises:
            UsageError: *scope* is neither; or a number is not a whole one from 1.
        """
        super().__init__(name=NAME)
        self._service = RecollectMemoryService(memory, scope=scope, limit=limit)
        self._home = Home(memory)
        self._scope = scope_function(scope)
        self._budget_tokens = check_budget(budget_tokens)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Give the run's tools the memory service, and append the user's message."""
        invocation_context.memory_service = self._service
        # Before the model is asked: a run that fails does not call the other callback.
        await self._append(invocation_context)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Add the context of the turn to the instructions, without what the request contains."""
        query = text_in(callback_context.user_content)
        if not query.strip():
            return
        session = callback_context.session
        scope = self._scope(session.app_name, session.user_id)
        shown = [storable_text(text) for each in llm_request.contents if (text := text_in(each))]
        found = await self._home.visit(
            lambda memory: memory.context(
                scope,
                query_in(query),
                thread=session.id,
                recent=shown,
                budget_tokens=self._budget_tokens,
            )
        )
        if text := str(found):
            llm_request.append_instructions([guide_for(query), text])

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Append the new events of the session."""
        await self._append(invocation_context)

    async def _append(self, invocation_context: InvocationContext) -> None:
        known = invocation_context.session
        # Older runners pass the session as it was before the run: read the current one.
        session = await invocation_context.session_service.get_session(
            app_name=known.app_name, user_id=known.user_id, session_id=known.id
        )
        await self._service.add_session_to_memory(session or known)
