"""Responses about memories, their history and their types."""

from __future__ import annotations

from pydantic import Field

from recollect.records import EvidenceKind, MemoryState, Trust
from recollect.server.schemas.elements import (
    Count,
    Cursor,
    FieldProblem,
    Object,
    ResponseModel,
    Segments,
    Time,
    with_examples,
)

SENTENCE = "The memory in words, for people: a fact, a note, or its fields by name."
UNDO = "With `?undo=true`: a token with which POST /v1/undo reverts the change."


class FileLinesResponse(ResponseModel, title="FileLines"):
    """Lines of a file, as an agent read them; the service never opens the file."""

    path: str
    line: int = Field(ge=1)
    last_line: int | None = None
    digest: str | None = None


class EvidenceResponse(ResponseModel, title="Evidence"):
    """
    The evidence of a field: a message and a quote from it, or a finding of an agent.

    A finding has its own id in `message`, and is erased with its `thread`.
    """

    thread: str
    message: str
    quote: str | None
    group: int = Field(
        default=0,
        ge=0,
        description="0: sufficient alone; evidence of another group counts only together.",
    )
    kind: EvidenceKind = "message"
    file: FileLinesResponse | None = Field(default=None, description="For the kind `file` only.")
    source: str | None = Field(
        default=None, description="The program that made a finding, to erase it by."
    )


EvidenceByPointer = dict[str, list[EvidenceResponse]]


class MemoryResponse(ResponseModel, title="Memory"):
    """The current version of a memory."""

    model_config = with_examples(
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
                "/object": [{"thread": "holidays", "message": "m1", "quote": "I moved to Oslo"}]
            },
            "trust": "user",
            "state": "active",
            "said_at": "2026-05-01T09:58:00Z",
        }
    )

    scope: Segments
    type: str
    key: str
    value: Object
    text: str = Field(description="The text that search indexes.")
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
        description="Time of the newest message in its evidence; null without one, or if a person "
        "wrote a part of it over what one says."
    )


class ChangedMemoryResponse(MemoryResponse, title="ChangedMemory"):
    """A memory after a change."""

    undo: str | None = Field(default=None, description=UNDO)


class UndoResponse(ResponseModel, title="UndoToken"):
    """The token that reverts a change with no other result."""

    undo: str | None = Field(description=UNDO)


class MemoryCountsResponse(ResponseModel, title="MemoryCounts"):
    """Counts of a whole sorted listing."""

    total: Count
    types: dict[str, int] = Field(description="Memories of each type, without the type filter.")
    states: dict[str, int] = Field(description="Memories in each state, without the state filter.")
    recalls: list[int] | None = Field(
        description="With `order=recalled`: the number of recalls of each of `memories`."
    )


class MemoriesResponse(ResponseModel, title="MemoryPage"):
    """A page of memories."""

    memories: list[MemoryResponse]
    cursor: Cursor
    counts: MemoryCountsResponse | None = Field(default=None, description="With `order`.")


class LaterWordsResponse(ResponseModel, title="LaterWords"):
    """Newer words about what a memory that waits for review says."""

    memory: MemoryResponse
    value: Object = Field(description="The fields of the memory that bear on it.")
    sentence: str = Field(description="Those fields in words, for people.")
    said_at: Time = Field(description="When it was said, or when a person wrote it.")
    evidence: EvidenceResponse | None = Field(
        description="The newest message behind it; null if a person wrote it."
    )
    ended: bool = Field(description="True if the message ended the memory, which is over.")


class WaitingMemoryResponse(MemoryResponse, title="WaitingMemory"):
    """A quarantined memory, with what was said about it since."""

    since: list[LaterWordsResponse] = Field(description="The newest first, up to 5.")


class ReviewResponse(ResponseModel, title="ReviewPage"):
    """A page of what waits for review."""

    memories: list[WaitingMemoryResponse]
    cursor: Cursor


class ChangedMemoriesResponse(ResponseModel, title="ChangedMemories"):
    """The number of memories that a bulk change changed, and the token that undoes it."""

    changed: int = Field(ge=1)
    undo: str | None = Field(default=None, description=UNDO)


class RevisionResponse(ResponseModel, title="Revision"):
    """One version of a memory, and the time in which it was current."""

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
    """A recently written memory."""

    memory: MemoryResponse
    former: Object | None = Field(
        description="The value of the previous version; null for a first version or older memories."
    )


class RecalledOftenResponse(ResponseModel, title="RecallCount"):
    """The number of recalls of a memory since the process started, and the last query."""

    memory: MemoryResponse
    count: int = Field(ge=1)
    query: str
    at: Time


class FieldQuotesResponse(ResponseModel, title="FieldQuotes"):
    """The words that the fields of a memory rest on."""

    type: str
    key: str
    fields: dict[str, str] = Field(
        description="By JSON pointer, the first quote of each field; none where a person wrote it."
    )


class OverviewResponse(ResponseModel, title="Overview"):
    """A scope at a glance."""

    profiles: list[MemoryResponse] = Field(
        description="Documents of types with the update mode `patch`."
    )
    known: list[MemoryResponse] = Field(
        description="What is in force besides: the most recalled, and the newest of each type."
    )
    quotes: list[FieldQuotesResponse] = Field(description="Of `profiles` and `known`, in order.")
    newest: list[NewestMemoryResponse] = Field(description="The last written, newest first.")
    waiting: list[MemoryResponse] = Field(description="Some of those that wait for review.")
    more_waiting: bool
    recalled: list[RecalledOftenResponse] = Field(description="The most recalled, in order.")
    below: list[Segments] = Field(
        description="If the scope is empty: scopes below it that hold something."
    )


class TypesResponse(ResponseModel, title="MemoryTypes"):
    """Memory types, each in the form of the configuration file."""

    types: list[Object]
    own: bool = Field(description="Whether they were set for this scope or one above it.")
    problem: str | None = Field(
        description="Why the types set for the scope cannot be used, so that others apply."
    )
    undo: str | None = Field(default=None, description=UNDO)


class CheckResponse(ResponseModel, title="MemoryTypesCheck"):
    """Whether memory types are valid, and their errors."""

    ok: bool
    complaints: list[FieldProblem]
