"""Erasure as JSON: targets, previews and receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.errors import UsageError
from recollect.records import Json
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseReceipt,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.quotations import Quotation
from recollect.wire.elements import Fields, record_from_json, record_to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasePreview:
    """
    Counts of what an erase would remove, and the token to confirm it until *expires_at*.

    *quoted_in* are the messages that stay and quote what goes.
    """

    messages: int
    memories: int
    revised: int
    confirm: str
    expires_at: datetime
    quoted_in: Sequence[Quotation] = ()


def target_to_json(target: EraseTarget) -> dict[str, Json]:
    """
    Encode the target of an erase.

    Raises:
        UsageError: The service does not support the target.
    """
    match target:
        case EraseScope(below=below):
            return {"scope": True, "below": below}
        case EraseThread(thread=thread):
            return {"thread": thread}
        case EraseMessages(thread=thread, messages=[message]):
            return {"message": {"thread": thread, "id": message}}
        case EraseMessages(thread=thread, messages=messages):
            return {"messages": {"thread": thread, "ids": list(messages)}}
        case EraseMemory(type=type_, key=key, expected=None):
            return {"memory": {"type": type_, "key": key}}
        case EraseSource(source=source):
            return {"source": source}
    raise UsageError(
        f"this {type(target).__name__} cannot be erased over HTTP: give a scope, a thread, "
        "messages, a memory or a source"
    )


def preview_to_json(preview: ErasePreview) -> dict[str, Json]:
    """Encode the preview of an erase."""
    quoted_in: list[Json] = [record_to_json(each) for each in preview.quoted_in]
    return {**record_to_json(preview), "quoted_in": quoted_in}


def preview_from_json(fields: Fields) -> ErasePreview:
    """Decode the result of `preview_to_json`."""
    quoted_in = tuple(
        record_from_json(Quotation, {"likely": True, **each}) for each in fields["quoted_in"]
    )
    return record_from_json(ErasePreview, fields, quoted_in=quoted_in)


def receipt_to_json(receipt: EraseReceipt) -> dict[str, Json]:
    """Encode the receipt of an erase."""
    return record_to_json(receipt)


def receipt_from_json(fields: Fields) -> EraseReceipt:
    """Decode the result of `receipt_to_json`."""
    return record_from_json(EraseReceipt, fields)
