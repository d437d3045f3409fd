"""Answers about memories, their history and their types."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from recollect.records import EvidenceKind, MemoryState, Trust
from recollect.server.schemas.elements import (
    Count,
    Cursor,
    FieldProblem,
    Object,
    ResponseModel,
    Segments,
    Time,
)

SENTENCE = "What it says, for people: a fact in its words, a note, else the fields by name."
UNDO = "With `?undo=true`: a token with which POST /v1/undo takes the change back."


class FileLinesResponse(ResponseModel, title="FileLines"):
    """Lines of a file, as an agent read them; the service never opens it."""

    path: str
    line: int = Field(ge=1)
    last_line: int | None = None
    digest: str | None = None


class EvidenceResponse(ResponseModel, title="Evidence"):
    """
    The support of a field: a message and the words in it, or a finding of an agent.

    A finding has an id of its own as `message`, and goes with the `thread` it was made in.
    """

    thread: str
    message: str
    quote: str | None
    group: int = Field(
        default=0,
        ge=0,
        description="0: enough by itself; evidence of the same other number only together.",
    )
    kind: EvidenceKind = "message"
    file: FileLinesResponse | None = Field(default=None, description="Of the kind `file` only.")
    source: str | None = Field(
        default=None, description="The program that a finding came from, to erase it by."
    )


EvidenceByPointer = dict[str, list[EvidenceResponse]]


class MemoryResponse(ResponseModel, title="Memory"):
    """A memory in its present version."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "scope": ["users", "ada"],
                    "type": "Fact",
                    "key": "home",
                    "value": {"subject": "Ada", "predicate": "lives in", "object": "Oslo"},
                    "text": "Ada lives in Oslo",
                    "sentence": "Ada lives in Oslo",
                    "version": 1,
                    "created_at": "2026-05-01T10:00:00Z",
                    "updated_at": "2026-05-01T10:00:00Z",
                    "valid_from": "2026-05-01T00:00:00Z",
                    "valid_until": None,
                    "expires_at": None,
                    "evidence": {
                        "/object": [
                            {"thread": "holidays", "message": "m1", "quote": "I moved to Oslo"}
                        ]
                    },
                    "trust": "user",
                    "state": "active",
                    "said_at": "2026-05-01T09:58:00Z",
                }
            ]
        },
    )

    scope: Segments
    type: str
    key: str
    value: Object
    text: str = Field(description="The text by which it is found.")
    sentence: str = Field(description=SENTENCE)
    version: int = Field(ge=1)
    created_at: Time
    updated_at: Time
    valid_from: Time | None
    valid_until: Time | None
    expires_at: Time | None
    evidence: EvidenceByPointer
    trust: Trust
    state: MemoryState
    said_at: Time | None = Field(
        description="When the newest message was said that it rests on; null if it rests on none."
    )


class ChangedMemoryResponse(MemoryResponse, title="ChangedMemory"):
    """A memory after a change."""

    undo: str | None = Field(default=None, description=UNDO)


class UndoResponse(ResponseModel, title="UndoToken"):
    """The token that reverts a change with no other result."""

    undo: str | None = Field(description=UNDO)


class MemoryCountsResponse(ResponseModel, title="MemoryCounts"):
    """How many memories a listing in an order has in all."""

    total: Count
    types: dict[str, int] = Field(description="Of each type, whatever type was asked for.")
    states: dict[str, int] = Field(description="In each state, whatever state was asked for.")
    recalls: list[int] | None = Field(
        description="With `order=recalled`: how often each of `memories` was recalled."
    )


class MemoriesResponse(ResponseModel, title="MemoryPage"):
    """A page of memories."""

    memories: list[MemoryResponse]
    cursor: Cursor
    counts: MemoryCountsResponse | None = Field(default=None, description="With `order`.")


class ChangedMemoriesResponse(ResponseModel, title="ChangedMemories"):
    """The number of memories that a bulk change changed, and the token that undoes it."""

    changed: int = Field(ge=1)
    undo: str | None = Field(default=None, description=UNDO)


class RevisionResponse(ResponseModel, title="Revision"):
    """One version of a memory, and in which time it was the current one."""

    version: int = Field(ge=1)
    value: Object
    text: str
    sentence: str = Field(description=SENTENCE)
    valid_from: Time | None
    valid_until: Time | None
    evidence: EvidenceByPointer
    trust: Trust
    state: MemoryState
    cause: str
    believed_from: Time
    believed_until: Time | None


class HistoryResponse(ResponseModel, title="MemoryHistory"):
    """Every version of a memory, newest first."""

    revisions: list[RevisionResponse]


class MemoryUseResponse(ResponseModel, title="MemoryUse"):
    """A recall that returned a memory."""

    at: Time
    query: str
    rank: int = Field(ge=1)
    score: float


class MemoryUsesResponse(ResponseModel, title="MemoryUses"):
    """The last recalls that returned a memory, newest first."""

    recalls: list[MemoryUseResponse]


class NewestMemoryResponse(ResponseModel, title="NewestMemory"):
    """A memory that was written lately."""

    memory: MemoryResponse
    former: Object | None = Field(
        description="The value of the version before; null of a first one, and of older memories."
    )


class RecalledOftenResponse(ResponseModel, title="RecallCount"):
    """How often recalls returned a memory since the process started, and the last query."""

    memory: MemoryResponse
    count: int = Field(ge=1)
    query: str
    at: Time


class OverviewResponse(ResponseModel, title="Overview"):
    """A scope at a glance."""

    profiles: list[MemoryResponse] = Field(description="Documents that are revised.")
    newest: list[NewestMemoryResponse] = Field(description="What was written last, newest first.")
    waiting: list[MemoryResponse] = Field(description="Some of what waits for a review.")
    more_waiting: bool
    recalled: list[RecalledOftenResponse] = Field(description="Recalled most, most first.")
    below: list[Segments] = Field(
        description="Of a scope that holds nothing: some below it that hold something."
    )


class TypesResponse(ResponseModel, title="MemoryTypes"):
    """Memory types, each as the configuration file has it."""

    types: list[Object]
    own: bool = Field(description="Whether they were set for this scope or one above it.")
    problem: str | None = Field(
        description="Why what was set for the scope cannot be used, and others hold in its place."
    )
    undo: str | None = Field(default=None, description=UNDO)


class CheckResponse(ResponseModel, title="MemoryTypesCheck"):
    """Whether memory types would do, and what is wrong with them."""

    ok: bool
    complaints: list[FieldProblem]
