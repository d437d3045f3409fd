"""The fields common to all messages, of our classes or LangChain's."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache
from typing import Final, Literal, Protocol, TypeAlias, TypeGuard, TypeVar

from recollect.records import Json, JsonObject

Block: TypeAlias = str | Mapping[str, Json]
Content: TypeAlias = str | Sequence[Block]
"""The content of a message: text, or content blocks."""
Kind: TypeAlias = Literal["human", "ai", "system", "tool", "function", "chat", "remove"]

KIND_OF_CLASS: Final[Mapping[str, Kind]] = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
}
"""The kind of each message class, by its name, as both families use the same names."""
_TEXT_TYPES: Final = ("text", "input_text", "output_text")
OF_PIECES: Final = frozenset({"type", "tool_call_chunks", "chunk_position"})
"""Fields of a stream's chunk that a complete message does not have."""


class AnyMessage(Protocol):
    """A message of our classes or of langchain-core's."""

    @property
    def type(self) -> str:
        """The kind of message, e.g. ``human``."""
        ...

    @property
    def content(self) -> Content:
        """The content: text, or content blocks."""
        ...

    @property
    def id(self) -> str | None:
        """The id within its list."""
        ...

    @property
    def name(self) -> str | None:
        """The speaker's name, if several speak in one role."""
        ...


MessageT = TypeVar("MessageT", bound=AnyMessage)


def is_message(like: object) -> TypeGuard[AnyMessage]:
    """Return True if *like* is a message object of either family, or has its attributes."""
    return not isinstance(like, type) and all(
        hasattr(like, name) for name in ("type", "content", "id", "name")
    )


@cache
def _kind_of_class(kind: type) -> Kind | None:
    return next((KIND_OF_CLASS[each.__name__] for each in kind.__mro__ if _is_named(each)), None)


def _is_named(kind: type) -> bool:
    return kind.__name__ in KIND_OF_CLASS


def kind_of(message: AnyMessage) -> str:
    """
    Return the kind of *message*; a stream's chunk has the kind of the complete message.

    For a class outside both families it is the message's ``type``.
    """
    return _kind_of_class(type(message)) or message.type


def text_of(message: AnyMessage) -> str:
    """
    Return the text of *message*: its content, or its text blocks joined.

    Blocks are joined without a space, as a provider splits one sentence over several.
    """
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(words for block in content if (words := block_text(block)) is not None)


def block_text(block: Block) -> str | None:
    """Return the text of a text block; ``None`` for any other block."""
    if isinstance(block, str):
        return block
    words = block.get("text") if block.get("type") == "text" else None
    return words if isinstance(words, str) else None


def said_words(content: Sequence[Json]) -> str:
    r"""
    Return the words of content blocks as a record's text: one block per line.

    So words at the edges of blocks are not joined. The text parts of OpenAI's Responses API count
    as well, which LangChain's ``text`` leaves out.

    >>> said_words([{"type": "input_text", "text": "Look!"}, {"type": "input_image"}, "A kite."])
    'Look!\nA kite.'
    """
    return "\n".join(words for block in content if (words := _said_in_block(block)))


def _said_in_block(block: Json) -> str | None:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping) or block.get("type") not in _TEXT_TYPES:
        return None
    words = block.get("text")
    return words if isinstance(words, str) else None


def tool_calls_of(message: AnyMessage) -> Sequence[JsonObject]:
    """Return the tool calls of an AI message, in order; empty for any other message."""
    calls: Sequence[JsonObject] = getattr(message, "tool_calls", None) or ()
    return calls if kind_of(message) == "ai" else ()


def tool_call_id_of(message: AnyMessage) -> str | None:
    """Return the id of the call that a tool message answers; ``None`` for any other message."""
    answered: str | None = getattr(message, "tool_call_id", None)
    return answered if kind_of(message) == "tool" else None


def mapping_of(message: AnyMessage, field: str) -> JsonObject:
    """Return ``additional_kwargs`` or another *field* of mapping type; empty if it has none."""
    found = getattr(message, field, None)
    return found if isinstance(found, Mapping) else {}


def changed(message: MessageT, **fields: object) -> MessageT:
    """Return a copy of *message*, of the same class, with changed *fields*."""
    if is_dataclass(message) and not isinstance(message, type):
        return replace(message, **fields)
    if callable(model_copy := getattr(message, "model_copy", None)):
        copied: MessageT = model_copy(update=fields)
        return copied
    shallow = copy.copy(message)
    for name, value in fields.items():
        setattr(shallow, name, value)
    return shallow


def whole(message: AnyMessage) -> AnyMessage:
    """Return a stream's chunk as a complete message; any other message unchanged."""
    kind = type(message)
    if not kind.__name__.endswith("MessageChunk") or not hasattr(message, "model_copy"):
        return message
    kept = {name: each for name, each in vars(message).items() if name not in OF_PIECES}
    made: AnyMessage = kind.__mro__[1](**kept)
    return made


def is_type(message: AnyMessage, wanted: str | type | Sequence[str | type]) -> bool:
    """
    Return True if *message* is of one of the types *wanted*, given as names or classes.

    A class also matches the class of the same name in the other family.
    """
    types = [wanted] if isinstance(wanted, str | type) else wanted
    return any(
        message.type == each
        if isinstance(each, str)
        else isinstance(message, each) or KIND_OF_CLASS.get(each.__name__) == kind_of(message)
        for each in types
    )
