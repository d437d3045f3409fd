"""Middleware that changes each request before the model is called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse

from recollect.sync.method_pairs import PairCall, delegated_pair

AgentRequest: TypeAlias = ModelRequest[Any]
AgentResponse: TypeAlias = ModelResponse[Any]


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
