"""Erasure in two steps: a preview with a token, and its confirmation, which leaves a receipt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel

from recollect.errors import ConflictError, RepeatedRequestError, UsageError
from recollect.memory.facade import Recollect
from recollect.observability.spans import memory_span
from recollect.records import JsonObject, Scope
from recollect.server.authorization import RESERVED
from recollect.server.http.query_params import strict_router
from recollect.server.http.repeatable_requests import RepeatableRequest
from recollect.server.http.scope_access import Below, Erasing, IdempotencyKey, Reach
from recollect.server.langgraph.run_records import delete_erased
from recollect.server.schemas.elements import JsonAnswer
from recollect.server.schemas.erase_requests import ConfirmationRequest, EraseRequest, TargetInput
from recollect.side_records import PutSideRecord
from recollect.stores.json_pointers import texts_in
from recollect.stores.pages import each_row
from recollect.stores.plans.erase_targets import (
    EraseReceipt,
    EraseScope,
    EraseTarget,
    EraseThread,
    check_target,
)
from recollect.stores.plans.quotations import Quotation
from recollect.text.coded_text import with_code
from recollect.wire.erasures import ErasePreview, preview_to_json, receipt_to_json


class _Counts(BaseModel):
    """Number of records that an erase would remove."""

    messages: int
    memories: int
    revised: int


class _ShownErase(BaseModel):
    """The content of a token: the erase target, the counts of the preview, and the expiry."""

    target: TargetInput
    counts: _Counts
    until: datetime


router: Final = strict_router(prefix="/v1/erase", tags=["erase"])
CONFIRM_S: Final = 600.0
"""Lifetime of a confirmation token."""
QUOTATIONS_MAX: Final = 200
ERASURE: Final = "ServiceErasure"
"""Kind of the side records with the id of a receipt and opaque marks of the erased scope."""
_CONFIRMATION: Final = "confirmation"
_PAGE: Final = 500


@router.post("/preview", summary="Preview an erase")
async def preview(reach: Erasing, asked: EraseRequest) -> JsonAnswer:
    """Count what would be erased, and return a token that confirms exactly this for 10 minutes."""
    target = asked.target.target()
    if isinstance(target, EraseScope) and target.below:
        reach.may("erase", below=True)
    counts = await _counted(reach, check_target(target))
    expires_at = reach.service.now() + timedelta(seconds=CONFIRM_S)
    shown = _ShownErase(target=asked.target, counts=counts, until=expires_at)
    held = shown.model_dump(mode="json", exclude_none=True)
    token = reach.service.signer.token(held, _CONFIRMATION, reach.principal.key_id, reach.scope)
    quoted_in = await _quoted_in(reach, target)
    return preview_to_json(
        ErasePreview(**dict(counts), confirm=token, expires_at=expires_at, quoted_in=quoted_in)
    )


async def _quoted_in(reach: Reach, target: EraseTarget) -> Sequence[Quotation]:
    """Return the messages that quote what goes; none to a key that may not read them."""
    if "read" not in reach.principal.permissions:
        return ()
    return (await reach.memory.quotations(reach.scope, target))[:QUOTATIONS_MAX]


@router.post("", summary="Erase a previewed target")
async def erase(
    reach: Erasing, asked: ConfirmationRequest, idempotency_key: IdempotencyKey = None
) -> JsonAnswer:
    """
    Erase the token's target, and what rests on it alone, from values, history and files.

    It is refused (409) if the counts have changed since the preview: preview again.
    """
    store, noted_in = reach.memory.store, receipts_scope(reach.principal.tenant)
    # Unique: a confirmation expires long before its idempotency key may be reused.
    name = idempotency_key and await store.keyed("erase", idempotency_key, asked.confirm)

    async def act(memory: Recollect) -> JsonAnswer:
        receipt = await _erase(reach, asked.confirm)
        # The receipt holds the idempotency key, since the erased scope may no longer exist.
        await note_receipt(reach, receipt, name or receipt.id, memory)
        return receipt_to_json(receipt)

    async def again(_: RepeatedRequestError) -> JsonAnswer:
        note = await store.side_record(noted_in, ERASURE, str(name))
        id_ = note and note.value["receipt"]
        receipts = await reach.memory.receipts()
        return next(receipt_to_json(each) for each in receipts if each.id == id_)

    keyed = RepeatableRequest(reach, idempotency_key, "erase", asked.confirm)
    return await keyed.answer(act, again, scope=noted_in, is_audited=False)


async def _erase(reach: Reach, confirmation: str) -> EraseReceipt:
    """
    Erase the target of a token.

    Raises:
        ConflictError: The counts have changed since the preview.
    """
    target, shown = _confirmed(reach, confirmation)
    if isinstance(target, EraseScope) and target.below:
        reach.may("erase", below=True)
    # Counted again: records may have been added since the user saw the preview.
    if await _counted(reach, target) != shown:
        raise ConflictError(
            with_code(
                "erase_changed",
                "the records to erase have changed since the preview: preview it again",
            )
        )
    return await erase_target(reach, target)


async def _counted(reach: Reach, target: EraseTarget) -> _Counts:
    found = await reach.memory.store.preview_erase(reach.scope, target)
    return _Counts(messages=found.messages, memories=found.memories, revised=found.revised)


async def erase_target(reach: Reach, target: EraseTarget) -> EraseReceipt:
    """Erase *target* from the scope of *reach*, and from the service's caches and counts."""
    memory = reach.memory
    with memory_span("delete_memory"):
        receipt = await memory.erase(reach.scope, target)
    reach.service.recalled.forget(reach.scope)
    reach.service.columns.forget(reach.scope)
    if isinstance(target, EraseScope):
        await reach.service.usage.forget(reach.scope, below=target.below)
        await delete_erased(memory, reach.scope, below=target.below)
    elif isinstance(target, EraseThread):
        await delete_erased(memory, reach.scope, thread=target.thread)
    return receipt


def _confirmed(reach: Reach, token: str) -> tuple[EraseTarget, _Counts]:
    """
    Return the target and the previewed counts of a token.

    Raises:
        UsageError: The token belongs to another key or scope, or has expired.
    """
    service = reach.service
    content = service.signer.value(token, _CONFIRMATION, reach.principal.key_id, reach.scope)
    held = _ShownErase.model_validate(content)
    if held.until <= service.now():
        msg = with_code(
            "confirmation_old",
            f"the confirmation is older than {CONFIRM_S:g} s (CONFIRM_S): preview it again",
            seconds=CONFIRM_S,
        )
        raise UsageError(msg)
    return held.target.target(), held.counts


def receipts_scope(tenant: str) -> Scope:
    """Return the scope that records which receipts belong to a tenant."""
    return (RESERVED, "erasures", tenant)


def _marks(reach: Reach, scope: Scope) -> list[str]:
    signer = reach.service.signer
    return [signer.token(None, "scope", scope[:depth]) for depth in range(1, len(scope) + 1)]


async def note_receipt(
    reach: Reach, receipt: EraseReceipt, key: str, memory: Recollect | None = None
) -> None:
    """Record at *key* that a receipt belongs to the scope of *reach*."""
    # The name of an erased scope may be a person's: store only opaque marks of it.
    value: JsonObject = {"receipt": receipt.id, "marks": _marks(reach, reach.scope)}
    note = PutSideRecord(kind=ERASURE, key=key, value=value)
    await (memory or reach.memory).store.apply(receipts_scope(reach.principal.tenant), [note])


@router.get("/receipts", summary="List the receipts of erases")
async def receipts(
    reach: Erasing,
    below: Below = False,
    unclean: Annotated[
        bool, Query(description="Only those whose bytes are not removed from the files yet.")
    ] = False,
) -> JsonAnswer:
    """Return the receipts of erases made through this service, newest first."""
    if below:
        reach.may("erase", below=True)
    mark = _marks(reach, reach.scope)[-1]
    memory = reach.memory
    ours: set[str] = set()
    async for each in each_row(
        lambda cursor: memory.store.side_records(
            receipts_scope(reach.principal.tenant), ERASURE, cursor=cursor, limit=_PAGE
        )
    ):
        marks = texts_in(each.value["marks"])
        if mark in marks if below else mark == marks[-1]:
            ours.add(str(each.value["receipt"]))
    found = [each for each in await memory.receipts(unclean=unclean) if each.id in ours]
    return {"receipts": [receipt_to_json(each) for each in reversed(found)], "cursor": None}
