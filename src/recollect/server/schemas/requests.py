"""Request bodies: unknown fields are rejected."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from recollect.errors import UsageError
from recollect.records import EvidenceKind, NewMessage, PutMemory, Role, Trust
from recollect.server.api_keys import ROTATION_OVERLAP_S_MAX
from recollect.server.authorization import Permission
from recollect.stores.file_lines import PATH_CHARACTERS_MAX
from recollect.stores.validation import ID_CHARACTERS_MAX
from recollect.wire.elements import evidence_from_json

Id = Annotated[str, Field(min_length=1, max_length=ID_CHARACTERS_MAX)]
Time = AwareDatetime
Object = dict[str, JsonValue]
CHANGED_MAX: Final = 200
"""So many memories are changed at once."""

GROUP = "0: enough by itself; evidence of the same other number is enough only together."


class RequestModel(BaseModel):
    """A body, or a part of one; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=1_000_000)


class MessageInput(RequestModel, title="NewMessage"):
    """A message as a caller gives it."""

    role: Role
    text: str = ""
    id: Id | None = None
    name: Id | None = None
    time: Time | None = None
    session: Id | None = None
    source: Id | None = None
    content: list[JsonValue] | str | None = Field(
        default=None, description="Content blocks; or, in place of `text`, the text."
    )
    metadata: Object = Field(default_factory=dict)

    def new_message(self, id_: str | None = None) -> NewMessage:
        """Return it as the library takes it; *id_* goes before its own id."""
        text, content = self.text, self.content
        if isinstance(content, str):
            if text:
                raise UsageError("a message has text and content: give its words once")
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
    """Messages to be appended to a thread."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"messages": [{"role": "user", "text": "I moved to Oslo.", "name": "Ada"}]},
            ]
        },
    )

    messages: list[MessageInput] = Field(min_length=1, max_length=1_000)
    quiet_s: float | None = Field(
        default=None, ge=0, le=86_400, description="How long a pause is, after which it is formed."
    )
    assistant: Id | None = Field(default=None, description="For which assistant it is formed.")


class FileLinesInput(RequestModel, title="NewFileLines"):
    """Lines of a file as an agent read them, `line` to `last_line`; the service never opens it."""

    path: str = Field(max_length=PATH_CHARACTERS_MAX, description="Relative to the project.")
    line: int = Field(ge=1, le=2**53)
    last_line: int | None = Field(default=None, ge=1, le=2**53)
    digest: str | None = Field(
        default=None, max_length=100, description="`sha256:` and 64 hexadecimal digits."
    )


class EvidenceInput(RequestModel, title="NewEvidence"):
    """
    The support of a field: a message and the words in it, or a finding of an agent.

    A finding has an id of its own as `message`, and goes with the `thread` it was made in. A memory
    that rests on one has the trust `agent`.
    """

    thread: Id
    message: Id
    quote: str | None = None
    group: int = Field(default=0, ge=0, le=2**53, description=GROUP)
    kind: EvidenceKind = "message"
    file: FileLinesInput | None = Field(default=None, description="Of the kind `file` only.")
    source: Id | None = Field(
        default=None, description="The program that a finding came from, to erase it by."
    )


class MemoryRequest(RequestModel, title="PutMemoryRequest"):
    """A memory as a caller writes it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "value": {"subject": "Ada", "predicate": "lives in", "object": "Oslo"},
                    "valid_from": "2026-05-01T00:00:00Z",
                }
            ]
        },
    )

    value: Object
    text: str | None = None
    valid_from: Time | None = None
    valid_until: Time | None = None
    expires_at: Time | None = None
    evidence: dict[str, list[EvidenceInput]] = Field(default_factory=dict)

    def put(self, type_: str, key: str, expected: int | None) -> PutMemory:
        """Return the write at an address, over the *expected* version."""
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


class UndoRequest(RequestModel):
    """The token of a change."""

    undo: str = Field(min_length=1, max_length=1_000_000)


class EndRequest(RequestModel, title="EndMemoryRequest"):
    """Since when a memory is no longer true."""

    at: Time


class MemoryVersionInput(RequestModel, title="MemoryVersion"):
    """A memory at the version that was seen."""

    type: Id
    key: Id
    version: int = Field(ge=1, le=2**53)


class ChangeMemoriesRequest(RequestModel, title="ChangeMemoriesRequest"):
    """One change to several memories of a scope."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"act": "end", "memories": [{"type": "Fact", "key": "home", "version": 1}]}
            ]
        },
    )

    act: Literal["delete", "end", "approve", "reject"]
    memories: list[MemoryVersionInput] = Field(min_length=1, max_length=CHANGED_MAX)
    at: Time | None = Field(
        default=None, description="With `end`: since when they are no longer true; now without it."
    )


class RememberRequest(RequestModel, title="RememberRequest"):
    """A sentence to remember, readable on its own."""

    text: str = Field(min_length=1)
    context: str = Field(default="", description="When it matters, and its limits.")
    trust: Trust = "user"
    source: Id | None = Field(
        default=None,
        description="Of what an agent found (`trust` is `agent`): its program, to erase it by.",
    )


class RejectRequest(RequestModel, title="RejectMemoryRequest"):
    """The part of a memory to reject; all of it by default."""

    pointer: str = Field(default="", max_length=1_000)


class TypesRequest(RequestModel, title="MemoryTypesRequest"):
    """Memory types, each as the configuration file has it."""

    types: list[Object] = Field(max_length=100)


class ThreadRequest(RequestModel, title="FormationRequest"):
    """The thread that is meant; all of the scope by default."""

    thread: Id | None = None


class RetryRequest(RequestModel, title="RetryFormationRequest"):
    """The thread or the dead formation that is meant; all of the scope by default."""

    thread: Id | None = None
    formation: Id | None = None


class KeyRequest(RequestModel, title="CreateKeyRequest"):
    """A key to create."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "chat", "scope": ["users"], "permissions": ["read", "write"]}]
        },
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

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"thread": "holidays", "text": "Where shall I go?"}]},
    )

    thread: Id
    text: str = Field(min_length=1)
    assistant: Id | None = None
    prompt: bool = Field(
        default=False, description="Tell in `done` the prompt that the model was given."
    )
