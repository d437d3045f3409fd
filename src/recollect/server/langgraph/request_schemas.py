"""Request bodies of LangGraph's API; fields without meaning for a memory are ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from recollect.server.schemas.requests import Id, Object

Labels = Annotated[list[str], Field(max_length=16)]
Strategy = Literal["reject", "interrupt", "rollback", "enqueue"]
ITEMS_MAX = 1_000
Limit = Annotated[int, Field(ge=0, le=ITEMS_MAX)]
Offset = Annotated[int, Field(ge=0, le=1_000_000)]
LIMIT = 10


class Passed(BaseModel):
    """A request body whose undeclared fields are ignored."""

    model_config = ConfigDict(extra="ignore", str_max_length=1_000_000)


class ItemRequest(Passed, title="LangGraphPutItemRequest"):
    """An item to put."""

    namespace: Labels
    key: str | None = None
    value: Object
    index: Literal[False] | list[str] | None = None
    ttl: float | None = None


class ItemAddressRequest(Passed, title="LangGraphItemAddress"):
    """An item to delete."""

    namespace: Labels = Field(default_factory=list)
    key: str | None = None


class SearchRequest(Passed, title="LangGraphSearchItemsRequest"):
    """A search of items."""

    namespace_prefix: Labels | None = None
    filter: Object | None = None
    limit: Limit = LIMIT
    offset: Offset = 0
    query: str | None = Field(default=None, max_length=20_000)
    refresh_ttl: bool | None = None


class NamespacesRequest(Passed, title="LangGraphNamespacesRequest"):
    """A listing of namespaces."""

    prefix: Labels | None = None
    suffix: Labels | None = None
    max_depth: int | None = None
    limit: Limit = 100
    offset: Offset = 0


class ThreadMadeRequest(Passed, title="LangGraphCreateThreadRequest"):
    """A thread to create."""

    thread_id: str | None = None
    metadata: Object | None = None
    if_exists: Literal["raise", "do_nothing"] = "raise"


class ThreadChangeRequest(Passed, title="LangGraphUpdateThreadRequest"):
    """A change of a thread's metadata."""

    metadata: Object = Field(default_factory=dict)


class ThreadSearchRequest(Passed, title="LangGraphSearchThreadsRequest"):
    """A search of threads."""

    metadata: Object | None = None
    ids: list[str] | None = Field(default=None, max_length=ITEMS_MAX)
    status: str | None = None
    limit: Limit = LIMIT
    offset: Offset = 0


class RunRequest(Passed, title="LangGraphRunRequest"):
    """A run: messages that are stored now, and formed after a pause."""

    assistant_id: Id
    input: dict[str, Any] | list[Any] | None = None
    config: Object | None = None
    context: Object | None = None
    metadata: Object | None = None
    command: JsonValue = None
    webhook: str | None = None
    multitask_strategy: Strategy = "enqueue"
    if_not_exists: Literal["create", "reject"] = "reject"
    after_seconds: float | None = Field(default=None, ge=0, le=86_400)


class AssistantsRequest(Passed, title="LangGraphSearchAssistantsRequest"):
    """A listing of assistants."""

    graph_id: str | None = None
    name: str | None = None
    metadata: Object | None = None
    limit: Limit = LIMIT
    offset: Offset = 0
