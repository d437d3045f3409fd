"""Convert messages to a form that every store accepts, with as little loss as possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Final

from recollect.errors import UsageError
from recollect.integrations.storable_items import storable_json
from recollect.messages import AnyMessage, changed, kind_of, message_of, record_of, text_of
from recollect.records import NewMessage, Role
from recollect.stores.validation import (
    ID_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    check_content,
    check_id,
    check_object,
    check_text,
    readable,
)

_ROLES: Final[Mapping[str, Role]] = {
    "human": "user",
    "chat": "user",
    "ai": "assistant",
    "system": "system",
}
_UNKEPT: Final = (UsageError, RecursionError)
_BARE: Final[Mapping[str, object]] = {"additional_kwargs": {}, "response_metadata": {}}


def keepable(message: AnyMessage) -> AnyMessage:
    """
    Return *message* in a form that every store can hold: unchanged, if possible.

    Characters and ids that no store accepts are replaced. If the message is not JSON or too large,
    the data that providers and tools attach are dropped first, then content other than text, and
    finally the end of the text.
    """
    for form in _forms(message):
        if _is_keepable(form):
            return form
    return message_of(_text_only(message))


def keepable_id(id_: str) -> str:
    """Return *id_* if it is a valid message id, otherwise its digest."""
    try:
        return check_id(id_, "a message id")
    except UsageError:
        return blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _forms(message: AnyMessage) -> Iterator[AnyMessage]:
    """Yield *message* with less and less besides its text."""
    yield message
    yield from _with_readable_texts(message)
    fields: dict[str, object] = {**_BARE, **({"artifact": None} if _is_tool(message) else {})}
    bare: AnyMessage = changed(message, **fields)
    yield from _with_readable_texts(bare)
    yield from _with_readable_texts(changed(bare, content=_cut_text(message)))


def _with_readable_texts(message: AnyMessage) -> Iterator[AnyMessage]:
    """Yield *message* with unstorable characters replaced; nothing if it is not JSON."""
    try:
        record = record_of(message)
        shown = replace(
            record,
            id=record.id and keepable_id(record.id),
            name=record.name and readable(record.name)[:ID_CHARACTERS_MAX],
            text=readable(record.text),
            content=storable_json(record.content),
            metadata=storable_json(record.metadata),
        )
    except _UNKEPT:
        return
    yield message_of(shown)


def _is_keepable(message: AnyMessage) -> bool:
    try:
        record = record_of(message)
        check_text(record.text, "a text")
        check_content(record.content)
        check_object(record.metadata, "metadata")
        for named in (record.id, record.name):
            if named is not None:
                check_id(named, "a name")
    except _UNKEPT:
        return False
    return True


def _text_only(message: AnyMessage) -> NewMessage:
    called = str(getattr(message, "tool_call_id", ""))
    return NewMessage(
        role=_ROLES.get(kind_of(message), "tool"),
        text=_cut_text(message) or "(no words)",
        id=keepable_id(message.id) if message.id else None,
        metadata={"tool_call_id": readable(called)[:ID_CHARACTERS_MAX]}
        if _is_tool(message)
        else {},
    )


def _cut_text(message: AnyMessage) -> str:
    return readable(text_of(message))[:TEXT_CHARACTERS_MAX]


def _is_tool(message: AnyMessage) -> bool:
    return kind_of(message) == "tool"
