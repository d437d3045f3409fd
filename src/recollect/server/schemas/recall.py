"""Responses of recall."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from recollect.recall.recall_packing import DropReason
from recollect.records import Role
from recollect.server.schemas.elements import (
    Count,
    Object,
    ResponseModel,
    Segments,
    Time,
    with_examples,
)
from recollect.server.schemas.memories import SENTENCE, MemoryResponse
from recollect.server.schemas.threads import MessageResponse

_WHOLE = "The complete record, with `whole`."


class SignalResponse(ResponseModel, title="Signal"):
    """A signal's share of a score: its weight times its standardised value z."""

    name: str
    z: float
    weight: float
    part: float


class _Entry(ResponseModel):
    scope: Segments
    text: str
    time: Time
    score: float
    relevance: float = Field(
        ge=0, le=1, description="Probability of relevance, on one scale for all queries."
    )
    signals: list[SignalResponse]
    tokens: Count


class _MessageEntry(_Entry):
    kind: Literal["message"]
    thread: str
    id: str
    role: Role
    name: str | None
    has_lapsed: bool = Field(
        description="Whether nothing of it holds any more, by what memories say; not asked of what "
        "was left out."
    )
    content: MessageResponse | None = Field(default=None, description=_WHOLE)


class _MemoryEntry(_Entry):
    kind: Literal["memory"]
    type: str
    key: str
    version: int = Field(ge=1)
    value: Object
    sentence: str = Field(description=SENTENCE)
    content: MemoryResponse | None = Field(default=None, description=_WHOLE)


class RecalledMessage(_MessageEntry):
    """A recalled message, with its signals."""


class RecalledMemory(_MemoryEntry):
    """A recalled memory, with its signals."""


class DroppedMessage(_MessageEntry):
    """A message that was left out, and the reason."""

    reason: DropReason


class DroppedMemory(_MemoryEntry):
    """A memory that was left out, and the reason."""

    reason: DropReason


class RecallResponse(ResponseModel, title="Recall"):
    """The entries relevant to a query, best first, and those left out."""

    model_config = with_examples(
        {
            "query": "Where does Ada live?",
            "entries": [
                {
                    "kind": "message",
                    "scope": ["users", "ada"],
                    "text": "I moved to Oslo.",
                    "time": "2026-05-01T10:00:00Z",
                    "score": 1.2,
                    "relevance": 0.62,
                    "signals": [{"name": "words", "z": 2.0, "weight": 0.6, "part": 1.2}],
                    "tokens": 4,
                    "thread": "holidays",
                    "id": "m1",
                    "role": "user",
                    "name": "Ada",
                    "has_lapsed": False,
                }
            ],
            "dropped": [],
            "tokens": 4,
            "searched": 12,
            "eligible": 12,
            "partial": False,
            "embedder": None,
            "outside": None,
            "reranker": None,
            "replica": None,
            "behind_s": 0.0,
            "ms": 1.9,
            "rendered": None,
            "rendered_tokens": None,
        }
    )

    query: str
    entries: list[Annotated[RecalledMessage | RecalledMemory, Field(discriminator="kind")]]
    dropped: list[Annotated[DroppedMessage | DroppedMemory, Field(discriminator="kind")]]
    tokens: Count
    searched: Count
    eligible: Count
    partial: bool = Field(description="Whether only the newest entries were searched.")
    embedder: str | None
    outside: str | None
    reranker: str | None
    replica: int | None = Field(
        description="Number of the read replica that answered; null for the primary."
    )
    behind_s: float = Field(
        description="How old the answer was at most, in seconds; 0 if it lacked nothing."
    )
    ms: float
    rendered: str | None = Field(description="The text for a prompt, marked as data.")
    rendered_tokens: int | None = Field(
        description="An estimate of the tokens of `rendered`; `tokens` and the budget count only "
        "the texts of the entries."
    )
