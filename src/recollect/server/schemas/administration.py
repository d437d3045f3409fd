"""Responses about the service: keys, usage, audit, scopes and health; and about the graph."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from recollect.server.authorization import Permission
from recollect.server.schemas.elements import (
    Count,
    Cursor,
    Object,
    ResponseModel,
    Segments,
    Time,
    with_examples,
)


class LimitsResponse(ResponseModel, title="Limits"):
    """The limits on requests; null means no limit."""

    body_bytes_max: Count
    import_bytes_max: Count
    json_depth_max: Count
    page_rows_max: Count
    requests_a_second: float
    burst: Count
    messages_a_day: int | None
    memories_a_day: int | None
    bytes_a_day: int | None


class MeResponse(ResponseModel, title="Me"):
    """The caller's key, and the service's features."""

    version: str
    scope: Segments
    prefix: list[str] = Field(description="The scope that the key is bound to.")
    name: str
    permissions: list[Permission]
    model: str | None
    embedder: str
    assistants: list[str]
    quiet_s: float
    store: str = Field(
        description="An id of the store: stays the same, and is another one for each store."
    )
    temporary: bool = Field(
        description="Whether the store is removed when the service stops, as in a demo."
    )
    limits: LimitsResponse


class ScopesResponse(ResponseModel, title="ScopePage"):
    """A page of scopes."""

    scopes: list[Segments]
    cursor: Cursor


class KeyResponse(ResponseModel, title="Key"):
    """Metadata of a key."""

    model_config = with_examples(
        {
            "id": "0123456789abcdef",
            "name": "chat",
            "scope": ["users"],
            "permissions": ["read", "write"],
            "created_at": "2026-05-01T10:00:00Z",
            "expires_at": None,
            "last_used_at": None,
        }
    )

    id: str
    name: str
    scope: Segments
    permissions: list[Permission]
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None


class KeysResponse(ResponseModel, title="KeyPage"):
    """Keys, oldest first."""

    keys: list[KeyResponse]
    cursor: Cursor


class NewKeyResponse(KeyResponse, title="NewKey"):
    """A key with its secret, which only this response contains."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={})

    key: str


class UsageDayResponse(ResponseModel, title="UsageDay"):
    """The usage of one day (UTC)."""

    day: str = Field(examples=["2026-05-01"])
    requests: Count
    messages: Count
    memories: Count = Field(description="Versions of memories, items and documents of threads.")
    bytes: Count
    recalls: Count
    calls: Count = Field(description="Model calls of formation.")
    tokens: Count = Field(description="Model tokens of formation.")


class UsageResponse(ResponseModel, title="Usage"):
    """Usage by day, newest first."""

    days: list[UsageDayResponse]


class AuditEntryResponse(ResponseModel, title="AuditEntry"):
    """An audited change: a row of a hash chain."""

    n: int = Field(ge=1)
    at: Time
    actor: str | None
    actor_key: str
    action: str
    subject: Object
    names: list[str]
    description: str = Field(description="`subject` and `names` in words.")
    digest: str
    previous: str
    hash: str


class AuditResponse(ResponseModel, title="AuditPage"):
    """A page of audited changes, newest first."""

    audit: list[AuditEntryResponse]
    cursor: Cursor


class VerdictResponse(ResponseModel, title="AuditVerdict"):
    """Whether a hash chain is intact; if not, the row where it breaks, and the reason."""

    ok: bool
    rows: Count
    head: str | None
    broken_at: int | None
    reason: str | None


class GraphNode(ResponseModel):
    """An entity."""

    id: str
    name: str
    kind: str | None


class GraphEdge(ResponseModel):
    """A fact between two entities."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    predicate: str
    fact: str
    valid_from: Time | None
    valid_until: Time | None


class GraphResponse(ResponseModel, title="Graph"):
    """Entities and the facts between them; *more* is true if the limit left some out."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    more: bool


class TaskFailure(ResponseModel, title="TaskError"):
    """The last error of a background task: its class, an explanation, and the time."""

    type: str
    text: str = Field(description="Never the error's own text, which may quote a user.")
    at: Time


class TaskResponse(ResponseModel, title="TaskHealth"):
    """The state of a background task of the responding process."""

    name: str = Field(examples=["formation"])
    state: Literal["running", "failing", "stopped"]
    last_success: Time | None
    last_error: TaskFailure | None
    failures: Count = Field(description="Consecutive failures up to now.")
    retry_at: Time | None
    backlog: Count | None = Field(
        description="Pending threads, entries or erases; null if the task has no count."
    )


class StoreResponse(ResponseModel, title="StoreHealth"):
    """Whether the store responds, and the latency of one small read."""

    state: str
    latency_ms: float | None


class HealthResponse(ResponseModel, title="Health"):
    """The health of the memory, as seen from the responding process."""

    status: Literal["ok", "degraded", "down"]
    at: Time
    store: StoreResponse
    embedder: str
    model: bool
    tasks: list[TaskResponse]


class ReadyResponse(ResponseModel, title="Readiness"):
    """The service can store and recall; the details need a key with the permission ``admin``."""

    status: Literal["ok", "degraded"]
    at: Time | None = None
    store: StoreResponse | None = None
    embedder: str | None = None
    model: bool | None = None
    tasks: list[TaskResponse] | None = None
