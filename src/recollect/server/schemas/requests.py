"""Request bodies: unknown fields are rejected."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from recollect.errors import UsageError
from recollect.records import EndMemory, EvidenceKind, NewMessage, PutMemory, Role, Trust, Write
from recollect.server.api_keys import ROTATION_OVERLAP_S_MAX
from recollect.server.authorization import Permission
from recollect.server.schemas.elements import with_examples
from recollect.stores.file_lines import PATH_CHARACTERS_MAX
from recollect.stores.validation import ID_CHARACTERS_MAX
from recollect.text.coded_text import with_code
from recollect.wire.elements import evidence_from_json

_DATE_IN_DIGITS: Final = re.compile(r"(?:19|20)\d\d(?:\d\d){0,2}")


def _refuse_date_in_digits(given: object) -> object:
    """Raise ValueError for 2025 or 202510, which pydantic takes for seconds since 1970."""
    if isinstance(given, str | int) and _DATE_IN_DIGITS.fullmatch(str(given)):
        msg = f"{given} is a date without a time: write it whole, as in 2026-01-31T09:00:00Z"
        raise ValueError(msg)
    return given


Id = Annotated[str, Field(min_length=1, max_length=ID_CHARACTERS_MAX)]
Time = Annotated[AwareDatetime, BeforeValidator(_refuse_date_in_digits)]
Object = dict[str, JsonValue]
CHANGED_MAX: Final = 200
"""Maximum memories in one bulk change."""

GROUP = "0: sufficient alone; evidence of another group is sufficient only together."


class RequestModel(BaseModel):
    """A request body, or a part of one; undeclared fields are rejected."""

    model_config = ConfigDict(extra="forbid", str_max_length=1_000_000)


class MessageInput(RequestModel, title="NewMessage"):
    """A message to store."""

    role: Role = Field(description="Who says it.")
    text: str = Field(default="", description="What is said.")
    id: Id | None = Field(default=None, description="By default a new one.")
    name: Id | None = Field(
        default=None, description="The speaker, in a conversation of named people."
    )
    time: Time | None = Field(default=None, description="When it was said; by default now.")
    session: Id | None = Field(
        default=None,
        description="The session of the thread; by default a long pause begins another.",
    )
    source: Id | None = Field(
        default=None,
        description="Where it comes from: everything of a source can be erased together.",
    )
    content: list[JsonValue] | str | None = Field(
        default=None,
        description="Content blocks, whose words stand for a missing text; or the text.",
    )
    metadata: Object = Field(
        default_factory=dict, description="Your own fields, by which messages can be filtered."
    )

    def new_message(self, id_: str | None = None) -> NewMessage:
        """Return the library's message; *id_* overrides its own id."""
        text, content = self.text, self.content
        if isinstance(content, str):
            if text:
                raise UsageError("a message has both text and content: give its words once")
            text, content = content, None
        return NewMessage(
            role=self.role,
            text=text,
            id=id_ or self.id,
            name=self.name,
            time=self.time,
            session=self.session,
            source=self.source,
            content=content,
            metadata=self.metadata,
        )


class AppendRequest(RequestModel):
    """Messages to append to a thread."""

    model_config = with_examples(
        {"messages": [{"role": "user", "text": "I moved to Oslo.", "name": "Ada"}]},
    )

    messages: list[MessageInput] = Field(min_length=1, max_length=1_000)
    quiet_s: float | None = Field(
        default=None, ge=0, le=86_400, description="Seconds without a message before formation."
    )
    assistant: Id | None = Field(default=None, description="The assistant that forms the thread.")


class FileLinesInput(RequestModel, title="NewFileLines"):
    """Lines of a file as an agent read them, `line` to `last_line`; it is never opened here."""

    path: str = Field(max_length=PATH_CHARACTERS_MAX, description="Relative to the project.")
    line: int = Field(ge=1, le=2**53)
    last_line: int | None = Field(default=None, ge=1, le=2**53)
    digest: str | None = Field(
        default=None, max_length=100, description="`sha256:` and 64 hexadecimal digits."
    )


class EvidenceInput(RequestModel, title="NewEvidence"):
    """
    The evidence of a field: a message and a quote from it, or a finding of an agent.

    A finding has its own id in `message`, and is erased with its `thread`. A memory that rests on
    one has the trust `agent`.
    """

    thread: Id
    message: Id
    quote: str | None = None
    group: int = Field(default=0, ge=0, le=2**53, description=GROUP)
    kind: EvidenceKind = "message"
    file: FileLinesInput | None = Field(default=None, description="For the kind `file` only.")
    source: Id | None = Field(
        default=None, description="The program that made a finding, to erase it by."
    )


class MemoryVersionInput(RequestModel, title="MemoryVersion"):
    """A memory at the version that the caller has read."""

    type: Id
    key: Id
    version: int = Field(ge=1, le=2**53)


class MemoryRequest(RequestModel, title="PutMemoryRequest"):
    """A memory to write."""

    model_config = with_examples(
        {
            "value": {"subject": "Ada", "predicate": "lives in", "object": "Oslo"},
            "valid_from": "2026-05-01T00:00:00Z",
        }
    )

    value: Object = Field(description="What it says, by the schema of its type.")
    text: str | None = Field(
        default=None, description="The words by which it is found; by default those of the value."
    )
    valid_from: Time | None = Field(default=None, description="When it became true.")
    valid_until: Time | None = Field(default=None, description="When it is no longer true.")
    expires_at: Time | None = Field(
        default=None, description="From this time on nothing returns it."
    )
    evidence: dict[str, list[EvidenceInput]] = Field(
        default_factory=dict,
        description="The messages that each field rests on, by its JSON pointer.",
    )
    replaces: MemoryVersionInput | None = Field(
        default=None,
        description=(
            "A memory that was true until `valid_from`: it ends then, in the same transaction, "
            "and one undo token reverts both."
        ),
    )
    changed_at: Time | None = Field(
        default=None,
        description=(
            "When the value of this memory changed, as of a profile: its version so far was true "
            "until then, and stays in the history. In the same transaction, and one undo token "
            "reverts both."
        ),
    )

    def writes(self, type_: str, key: str, expected: int | None) -> list[Write]:
        """
        Return the writes at an address, conditional on the *expected* version; the put is last.

        Raises:
            UsageError: It replaces itself, or nothing says when the former value ends.
        """
        if self.changed_at is None:
            return [*self._end_of_replaced(type_, key), self._put(type_, key, expected)]
        if self.replaces is not None:
            raise UsageError("changed_at and replaces exclude each other: leave one out")
        # The end checks the version, and the put follows it in the same transaction.
        ended = EndMemory(type=type_, key=key, at=self.changed_at, expected=expected)
        return [ended, self._put(type_, key, None)]

    def _end_of_replaced(self, type_: str, key: str) -> list[EndMemory]:
        former = self.replaces
        if former is None:
            return []
        if self.valid_from is None:
            raise UsageError("replaces needs valid_from: the time at which the former memory ends")
        if (former.type, former.key) == (type_, key):
            msg = with_code(
                "replaces_itself",
                f"{type_}/{key} cannot replace itself: write it under another key",
                memory=f"{type_}/{key}",
            )
            raise UsageError(msg)
        return [
            EndMemory(type=former.type, key=former.key, at=self.valid_from, expected=former.version)
        ]

    def _put(self, type_: str, key: str, expected: int | None) -> PutMemory:
        return PutMemory(
            type=type_,
            key=key,
            value=self.value,
            text=self.text,
            expected=expected,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            expires_at=self.expires_at,
            evidence=evidence_from_json(self.model_dump(include={"evidence"})["evidence"]),
        )


class RestoreRequest(RequestModel, title="RestoreMemoryRequest"):
    """The version to restore."""

    version: int = Field(ge=1, le=2**53)
    ends: list[MemoryVersionInput] = Field(
        default_factory=list,
        max_length=100,
        description=(
            "Memories that were true in its place: they end now, in the same transaction, and one "
            "undo token reverts all."
        ),
    )


class UndoRequest(RequestModel):
    """The token of a change."""

    undo: str = Field(min_length=1, max_length=1_000_000)


class EndRequest(RequestModel, title="EndMemoryRequest"):
    """The time from which a memory is no longer true."""

    at: Time


class FormedMessageInput(RequestModel, title="FormedMessage"):
    """A message whose formation is undone."""

    thread: Id
    message: Id


class ChangeMemoriesRequest(RequestModel, title="ChangeMemoriesRequest"):
    """One change to several memories of a scope."""

    model_config = with_examples(
        {"act": "end", "memories": [{"type": "Fact", "key": "home", "version": 1}]}
    )

    act: Literal["delete", "end", "approve", "reject", "undo"]
    memories: list[MemoryVersionInput] = Field(min_length=1, max_length=CHANGED_MAX)
    at: Time | None = Field(
        default=None, description="With `end`: when they ceased to be true; by default now."
    )
    because: FormedMessageInput | None = Field(
        default=None, description="With `undo`: the message whose formation is taken back."
    )


class RememberRequest(RequestModel, title="RememberRequest"):
    """A sentence to remember, readable on its own."""

    text: str = Field(min_length=1)
    context: str = Field(default="", description="When it applies, and its limits.")
    trust: Trust = "user"
    source: Id | None = Field(
        default=None,
        description="With the `trust` `agent`: the program that found it, to erase it by.",
    )


class RejectRequest(RequestModel, title="RejectMemoryRequest"):
    """The part of a memory to reject; all of it by default."""

    pointer: str = Field(default="", max_length=1_000)


class TypesRequest(RequestModel, title="MemoryTypesRequest"):
    """Memory types, each in the form of the configuration file."""

    types: list[Object] = Field(max_length=100)


class ThreadRequest(RequestModel, title="FormationRequest"):
    """The thread; by default all of the scope."""

    thread: Id | None = None


class RetryRequest(RequestModel, title="RetryFormationRequest"):
    """The thread or the dead formation; by default all of the scope."""

    thread: Id | None = None
    formation: Id | None = None


class KeyRequest(RequestModel, title="CreateKeyRequest"):
    """A key to create."""

    model_config = with_examples(
        {"name": "chat", "scope": ["users"], "permissions": ["read", "write"]}
    )

    name: Id
    scope: list[Id] = Field(
        default_factory=list, max_length=16, description="Below the scope of the request."
    )
    permissions: list[Permission] = Field(min_length=1, max_length=16)
    expires_at: Time | None = None


class RotationRequest(RequestModel, title="RotateKeyRequest"):
    """How long the old secret stays valid beside the new one."""

    overlap_s: float = Field(default=0.0, ge=0, le=ROTATION_OVERLAP_S_MAX)


class ChatRequest(RequestModel):
    """The user's message."""

    model_config = with_examples({"thread": "holidays", "text": "Where shall I go?"})

    thread: Id
    text: str = Field(min_length=1)
    assistant: Id | None = None
    prompt: bool = Field(
        default=False, description="Return the model's prompt in the event `done`."
    )
    language: Literal["en", "zh", "zh-hant"] | None = Field(
        default=None,
        description=(
            "The language in which the user reads the chat: words that both scripts of Chinese "
            "share are answered in its script."
        ),
    )
