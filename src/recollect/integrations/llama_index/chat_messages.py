"""Convert LlamaIndex's chat messages to items of a thread, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Final

from llama_index.core.llms import ChatMessage, MessageRole
from pydantic_core import PydanticSerializationError

from recollect.errors import UsageError
from recollect.integrations.item_forms import ItemForm
from recollect.records import Json, Message, Role, Scope
from recollect.sync.object_home import AnyRecollect

FORM: Final = ItemForm(
    "llama_index",
    text_part=lambda text: {"block_type": "text", "text": text},
    read=ChatMessage.model_validate,
)
SESSION: Final = "session_id"
"""The key under which LlamaIndex notes the session in messages that it gives to a block."""
STORED_THREAD: Final[ContextVar[tuple[AnyRecollect, Scope, str] | None]] = ContextVar(
    "recollect_stored_thread", default=None
)
"""Memory, scope and thread that a `RecollectChatStore` visited last in this task."""
_ROLES: Final[Mapping[MessageRole, Role]] = {
    MessageRole.USER: "user",
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}


def items_of(messages: Sequence[ChatMessage]) -> list[tuple[Role, str, Json]]:
    """
    Return role, text and JSON of each message.

    Raises:
        UsageError: A message holds something that JSON cannot express.
    """
    found: list[tuple[Role, str, Json]] = []
    for each in messages:
        try:
            item = each.model_dump(mode="json")
        except (PydanticSerializationError, ValueError) as error:
            msg = f"a message of LlamaIndex is not JSON, and nothing was stored: {error}"
            raise UsageError(msg) from error
        item["additional_kwargs"].pop(SESSION, None)
        found.append((_ROLES.get(each.role, "assistant"), each.content or "", item))
    return found


def message_of(message: Message, kept: Json) -> ChatMessage:
    """Return the stored message, or a new one for a message that another framework stored."""
    if isinstance(kept, Mapping):
        return ChatMessage.model_validate(kept)
    return ChatMessage(role=MessageRole(message.role), content=message.text)
