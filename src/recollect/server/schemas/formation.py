"""Responses about formation, erasure and import."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recollect.formation.operations import FaultKind
from recollect.records import FormationStatus, Role
from recollect.server.schemas.elements import (
    Count,
    Cursor,
    Object,
    ResponseModel,
    Segments,
    Time,
    with_examples,
)
from recollect.server.schemas.threads import ThreadResponse
from recollect.worker.formation_result import FormationEnding

_REVISED = "Memories that lose some fields and keep the rest."


class WaitingResponse(ThreadResponse, title="PendingThread"):
    """A thread with pending formation."""

    thread: str
    messages: Count = Field(description="Number of pending messages.")
    reason: Literal["paused", "failed", "talk"]


class BreakerResponse(ResponseModel, title="CircuitBreaker"):
    """The state of the model; while the breaker is open, the model is not called."""

    open: bool
    outages: Count
    open_until: Time | None
    reason: str


class PendingResponse(ResponseModel, title="PendingPage"):
    """A page of threads with pending formation."""

    pending: list[WaitingResponse]
    paused: bool
    breaker: BreakerResponse | None
    cursor: Cursor


class FormationResponse(ResponseModel, title="Formation"):
    """The receipt of a formation."""

    model_config = with_examples(
        {
            "scope": ["users", "ada"],
            "id": "01970a3e-0000-7000-8000-000000000000",
            "status": "formed",
            "at": "2026-05-01T10:01:00Z",
            "fence": 1,
            "calls": 1,
            "tokens": 812,
            "watermarks": {"holidays": 2},
            "failed": {},
            "receipt": {},
        }
    )

    scope: Segments
    id: str
    status: FormationStatus
    at: Time
    fence: Count
    calls: Count
    tokens: Count
    watermarks: dict[str, int]
    failed: dict[str, list[int]] = Field(description="Positions given up, by thread.")
    receipt: Object


class FormationsResponse(ResponseModel, title="FormationPage"):
    """A page of receipts of formations."""

    formations: list[FormationResponse]
    cursor: Cursor


class RefusedCallResponse(ResponseModel, title="RefusedCall"):
    """A call of the model that was not carried out."""

    kind: FaultKind
    reason: str = Field(description="Empty for a key that may not read.")
    type: str | None = Field(default=None, description="Type of the memory it would have made.")
    value: str | None = Field(default=None, description="That memory's value, as JSON text.")
    target: str | None = Field(default=None, description="Short id of the memory to change.")


class FormationResultResponse(ResponseModel, title="FormationResult"):
    """How one formation ended; one that was postponed or lost has no receipt."""

    end: FormationEnding
    reason: str = Field(
        description="Why it was not formed. Only administrators see a provider's error text."
    )
    refused: list[RefusedCallResponse] = Field(description="If all were, nothing is remembered.")


class FormResponse(ResponseModel, title="FormationResults"):
    """The formations that a request started, and how each ended."""

    formations: list[FormationResponse]
    results: list[FormationResultResponse]


class SteeredResponse(ResponseModel, title="SteeredThreads"):
    """The number of threads that were paused or resumed."""

    threads: Count


class RetriedResponse(ResponseModel, title="RetriedMessages"):
    """The number of messages that are pending again."""

    messages: Count


class QuotationResponse(ResponseModel, title="Quotation"):
    """A message that an erase leaves in place, and the words in it that the erase removes."""

    thread: str
    message: str
    role: Role
    time: Time
    quote: str
    likely: bool = Field(
        description="False for words of the user that merely resemble: they repeat neither a whole"
        " clause nor a long stretch or a code of what is erased."
    )


class PreviewResponse(ResponseModel, title="ErasePreview"):
    """Counts of what an erase would remove, and the token that confirms it."""

    model_config = with_examples(
        {
            "messages": 2,
            "memories": 1,
            "revised": 0,
            "confirm": "eyJ0YXJnZXQiOiB7fX0.c2lnbmF0dXJl",
            "expires_at": "2026-05-01T10:10:00Z",
            "quoted_in": [
                {
                    "thread": "holidays",
                    "message": "m2",
                    "role": "assistant",
                    "time": "2026-05-01T09:58:00Z",
                    "quote": "the code of your garage is 4711",
                    "likely": True,
                }
            ],
        }
    )

    messages: Count
    memories: Count
    revised: Count = Field(description=_REVISED)
    confirm: str
    expires_at: Time
    quoted_in: list[QuotationResponse] = Field(
        description="The first 200 messages that would stay and quote what is erased; none for a"
        " key that may not read."
    )


class ReceiptResponse(ResponseModel, title="EraseReceipt"):
    """Counts of erased records; *clean_at* is when their bytes were removed from the files."""

    id: str
    messages: Count
    memories: Count
    revised: Count = Field(description=_REVISED)
    erased_at: Time
    clean_at: Time | None


class ReceiptsResponse(ResponseModel, title="EraseReceiptPage"):
    """The erases made through this service, newest first."""

    receipts: list[ReceiptResponse]
    cursor: Cursor


class RefusedLine(ResponseModel, title="ImportNote"):
    """A line that was refused or changed, and the reason."""

    line: int = Field(ge=1)
    reason: str
    reason_code: str = ""
    values: Object = Field(default={})


class ImportedThread(ResponseModel, title="ImportedThread"):
    """A thread of an import, by which its messages can be found."""

    scope: list[str]
    id: str


class ImportResponse(ResponseModel, title="ImportResult"):
    """The number of stored records, and the lines that were refused or changed."""

    taken: Count
    refused: list[RefusedLine]
    refused_count: Count
    changed: list[RefusedLine]
    changed_count: Count
    erased_count: Count = Field(description="Lines left out because their data was erased here.")
    threads: Count = Field(description="Threads of the import, those included that were here.")
    first_threads: list[ImportedThread] = Field(description="The first of them.")
