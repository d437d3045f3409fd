"""Responses to LangGraph's clients, in the form of its own server."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, JsonValue

from recollect.server.langgraph.run_records import RunStatus
from recollect.server.schemas.elements import Object, ResponseModel

Moment = str
"""A time as LangGraph's server writes it, with the offset ``+00:00``."""


class ItemResponse(ResponseModel, title="LangGraphItem"):
    """An item of LangGraph's store."""

    namespace: list[str]
    key: str
    value: Object
    created_at: Moment
    updated_at: Moment


class FoundItemResponse(ItemResponse, title="LangGraphFoundItem"):
    """An item that a search found."""

    score: float | None


class FoundItemsResponse(ResponseModel, title="LangGraphFoundItems"):
    """The items that a search found, best first."""

    items: list[FoundItemResponse]


class NamespacesResponse(ResponseModel, title="LangGraphNamespaces"):
    """Namespaces, in order."""

    namespaces: list[list[str]]


class AssistantResponse(ResponseModel, title="LangGraphAssistant"):
    """A formation configuration, presented as an assistant."""

    assistant_id: str
    graph_id: str
    name: str
    description: str | None
    config: Object
    context: Object
    metadata: Object
    version: int
    created_at: Moment
    updated_at: Moment


class ThreadValues(ResponseModel, title="LangGraphValues"):
    """The last messages of a thread as LangChain writes them, or the error of its run."""

    messages: list[Object] | None = None
    error: Object | None = Field(default=None, alias="__error__")


class GraphThreadResponse(ResponseModel, title="LangGraphThread"):
    """A thread with the status of its runs."""

    thread_id: str
    created_at: Moment
    updated_at: Moment
    state_updated_at: Moment
    metadata: Object
    config: Object
    status: Literal["idle", "busy", "error"]
    values: ThreadValues | None
    interrupts: Object


class ThreadStateResponse(ResponseModel, title="LangGraphThreadState"):
    """The messages of a thread, and whether formation is pending."""

    values: ThreadValues
    next: list[str]
    tasks: list[Any]
    metadata: Object
    created_at: Moment
    checkpoint: JsonValue
    parent_checkpoint: JsonValue
    interrupts: list[Any]


class GraphRunResponse(ResponseModel, title="LangGraphRun"):
    """A run: stored messages, which are formed when its delay has passed."""

    run_id: str
    thread_id: str
    assistant_id: str
    created_at: Moment
    updated_at: Moment
    status: RunStatus
    metadata: Object
    kwargs: Object
    multitask_strategy: str
    cancel_reason: str | None = None
