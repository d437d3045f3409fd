"""Middleware that changes each request, and places what changes per turn late in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage

from recollect.formation.grounding.foreign_text import without_recalled
from recollect.messages import changed, is_summary, text_of
from recollect.recall.query import query_in
from recollect.sync.method_pairs import PairCall, delegated_pair

AgentRequest: TypeAlias = ModelRequest[Any]
AgentResponse: TypeAlias = ModelResponse[Any]
LC_SOURCE = "lc_source"


class RequestMiddleware(AgentMiddleware[Any, Any, Any], ABC):
    """Calls the model with the request that `_prepared` returns; the agent's state stays."""

    def wrap_model_call(
        self,
        request: AgentRequest,
        handler: Callable[[AgentRequest], AgentResponse],
    ) -> AgentResponse:
        """Call the model with the prepared request."""
        return handler(self.prepare(request))

    async def awrap_model_call(
        self,
        request: AgentRequest,
        handler: Callable[[AgentRequest], Awaitable[AgentResponse]],
    ) -> AgentResponse:
        """Call the model with the prepared request."""
        return await handler(await self.aprepare(request))

    @abstractmethod
    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return the changed request; *call* runs the sync or async method of a pair."""

    async def _prepare(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return the request to call the model with."""
        return await self._prepared(call, request)

    prepare, aprepare = delegated_pair(_prepare)


def asked_in(messages: Sequence[BaseMessage]) -> int | None:
    """Return the index of the last user message; ``None`` if there is none."""
    places = (at for at in reversed(range(len(messages))) if is_said(messages[at]))
    return next((at for at in places if isinstance(messages[at], HumanMessage)), None)


def is_said(message: BaseMessage) -> bool:
    """Return True if *message* is not a summary, ours or LangChain's."""
    return not is_summary(message) and LC_SOURCE not in message.additional_kwargs


def own_text(message: BaseMessage) -> str:
    """Return the text of a message without inserted blocks of data."""
    return without_recalled(text_of(message)).strip()


def query_of(message: BaseMessage) -> str:
    """Return *message* as a recall query, cut to the allowed length."""
    return query_in(own_text(message))


def with_block(messages: Sequence[AnyMessage], block: str) -> list[AnyMessage]:
    """
    Return *messages* with *block* before the text of the user's last message.

    Everything before that message is unchanged, so that a provider's prompt cache applies. No
    message is added, as some providers refuse two messages of one role in a row.
    """
    found = list(messages)
    place = asked_in(found)
    if place is not None:
        content = found[place].content
        shown = (
            f"{block}\n\n{content}"
            if isinstance(content, str)
            else [{"type": "text", "text": block}, *content]
        )
        found[place] = changed(found[place], content=shown)
    return found
