"""Our message classes, for use without langchain-core, and the choice between both families."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Final, Literal

from recollect.errors import UsageError
from recollect.messages.message_fields import AnyMessage, Block, Content, Kind, text_of
from recollect.records import Json, JsonObject


@dataclass(frozen=True, slots=True)
class _BaseMessage:
    """The base of all messages except `RemoveMessage`."""

    content: Content
    _: KW_ONLY
    id: str | None = None
    name: str | None = None
    additional_kwargs: JsonObject = field(default_factory=dict)
    response_metadata: JsonObject = field(default_factory=dict)

    type: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", _checked(self.content, type(self).__name__))

    @property
    def text(self) -> str:
        """The text, or the text blocks joined."""
        return text_of(self)


@dataclass(frozen=True, slots=True)
class HumanMessage(_BaseMessage):
    """A message of a user."""

    type: ClassVar[Literal["human"]] = "human"


@dataclass(frozen=True, slots=True)
class AIMessage(_BaseMessage):
    """
    A message of a model.

    Each of *tool_calls* is ``{"name": …, "args": {…}, "id": …}``. *invalid_tool_calls* are calls
    with unparsable arguments, *usage_metadata* are its token counts.
    """

    type: ClassVar[Literal["ai"]] = "ai"

    _: KW_ONLY
    tool_calls: Sequence[JsonObject] = ()
    invalid_tool_calls: Sequence[JsonObject] = ()
    usage_metadata: JsonObject | None = None

    def __post_init__(self) -> None:
        _BaseMessage.__post_init__(self)
        object.__setattr__(self, "tool_calls", [_call(each) for each in self.tool_calls])
        object.__setattr__(self, "invalid_tool_calls", list(self.invalid_tool_calls))


@dataclass(frozen=True, slots=True)
class SystemMessage(_BaseMessage):
    """Instructions to the model, usually before the conversation."""

    type: ClassVar[Literal["system"]] = "system"


@dataclass(frozen=True, slots=True)
class ToolMessage(_BaseMessage):
    """
    The result of the tool call *tool_call_id*.

    *artifact* is additional data, not shown to the model.
    """

    type: ClassVar[Literal["tool"]] = "tool"

    _: KW_ONLY
    tool_call_id: str
    artifact: Json = None
    status: Literal["success", "error"] = "success"

    def __post_init__(self) -> None:
        if self.status not in {"success", "error"}:
            msg = f"the status of a ToolMessage is 'success' or 'error', not {self.status!r}"
            raise UsageError(msg)
        if not isinstance(self.content, str | list | tuple):
            object.__setattr__(self, "content", str(self.content))
        _BaseMessage.__post_init__(self)


@dataclass(frozen=True, slots=True)
class FunctionMessage(_BaseMessage):
    """The result of the function *name*, in OpenAI's older format without call ids."""

    type: ClassVar[Literal["function"]] = "function"

    _: KW_ONLY
    name: str


@dataclass(frozen=True, slots=True)
class ChatMessage(_BaseMessage):
    """A message of a speaker with an arbitrary *role*."""

    type: ClassVar[Literal["chat"]] = "chat"

    _: KW_ONLY
    role: str


@dataclass(frozen=True, slots=True)
class RemoveMessage:
    """An instruction for `add_messages` to remove the message with this *id*."""

    id: str
    _: KW_ONLY
    name: str | None = None
    content: Content = ""
    additional_kwargs: JsonObject = field(default_factory=dict)
    response_metadata: JsonObject = field(default_factory=dict)

    type: ClassVar[Literal["remove"]] = "remove"

    def __post_init__(self) -> None:
        if self.content:
            raise UsageError("RemoveMessage does not support 'content' field.")

    @property
    def text(self) -> str:
        """The empty text."""
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageClasses:
    """A family of message classes, one per kind."""

    human: Callable[..., AnyMessage]
    ai: Callable[..., AnyMessage]
    system: Callable[..., AnyMessage]
    tool: Callable[..., AnyMessage]
    function: Callable[..., AnyMessage]
    chat: Callable[..., AnyMessage]
    remove: Callable[..., AnyMessage]

    def make(self, kind: Kind, content: object, fields: Mapping[str, object]) -> AnyMessage:
        """
        Return a message of this family; our own classes ignore unknown fields.

        Raises:
            UsageError: A required field of this *kind* is missing or invalid.
        """
        made: Callable[..., AnyMessage] = getattr(self, kind)
        if isinstance(made, type) and dataclasses.is_dataclass(made):
            known = {each.name for each in dataclasses.fields(made)}
            fields = {name: value for name, value in fields.items() if name in known}
        try:
            return made(**fields) if kind == "remove" else made(content=content, **fields)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, UsageError):
                raise
            msg = f"a {kind} message cannot be made of {sorted(fields)}: {error}"
            raise UsageError(msg) from error


OWN_CLASSES: Final = MessageClasses(
    human=HumanMessage,
    ai=AIMessage,
    system=SystemMessage,
    tool=ToolMessage,
    function=FunctionMessage,
    chat=ChatMessage,
    remove=RemoveMessage,
)
"""Our own classes, which need no other package."""


def message_classes() -> MessageClasses:
    """Return langchain-core's classes if it is installed (this imports it), else ours."""
    try:
        from langchain_core import messages
    except ImportError:
        return OWN_CLASSES
    return MessageClasses(
        human=messages.HumanMessage,
        ai=messages.AIMessage,
        system=messages.SystemMessage,
        tool=messages.ToolMessage,
        function=messages.FunctionMessage,
        chat=messages.ChatMessage,
        remove=messages.RemoveMessage,
    )


def family_of(messages: Sequence[AnyMessage]) -> MessageClasses:
    """Return the family of the first message; for an empty list, `message_classes()`."""
    first = messages[0] if messages else None
    is_own = isinstance(first, _BaseMessage | RemoveMessage)
    return OWN_CLASSES if is_own else message_classes()


def _checked(content: Content, what: str) -> Content:
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple) or not all(_is_block(each) for each in content):
        msg = f"the content of {what} is text or a list of blocks (texts, objects), not {content!r}"
        raise UsageError(msg)
    return list(content)


def _is_block(block: Block) -> bool:
    return isinstance(block, str | Mapping)


def _call(call: JsonObject) -> JsonObject:
    """Return a tool call with all its fields, in a fixed order."""
    name, args = call.get("name"), call.get("args")
    if not isinstance(name, str) or not isinstance(args, Mapping):
        raise UsageError(f"a tool call is {{'name': …, 'args': {{…}}, 'id': …}}, not {call!r}")
    return {"name": name, "args": args, "id": call.get("id"), "type": "tool_call"}
