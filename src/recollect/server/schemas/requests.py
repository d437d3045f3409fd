"""Request bodies: unknown fields are rejected."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from recollect.errors import UsageError
from recollect.recall.context_defaults import CONTEXT_TOKENS, RECENT_MESSAGES
from recollect.recall.query import QUERY_CHARACTERS_MAX, Where
from recollect.records import EvidenceKind, NewMessage, PutMemory, Role, Trust
from recollect.server.api_keys import ROTATION_OVERLAP_S_MAX
from recollect.server.authorization import Permission
from recollect.stores.file_lines import PATH_CHARACTERS_MAX
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.validation import ID_CHARACTERS_MAX, PAGE_ROWS_MAX
from recollect.wire.elements import evidence_from_json

Id = Annotated[str, Field(min_length=1, max_length=ID_CHARACTERS_MAX)]
Time = AwareDatetime
Object = dict[str, JsonValue]
BUDGET_TOKENS_MAX: Final = 1_000_000
RECENT_MAX: Final = PAGE_ROWS_MAX
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


class EntryFilters(RequestModel):
    """Which entries a search may find."""

    valid_at: Time | Literal["now", "ever"] = "now"
    known_at: Time | None = None
    asked_at: Time | None = Field(
        default=None,
        description='The moment meant by "now": for "last week", and for which memories are true.',
    )
    since: Time | None = None
    until: Time | None = None
    threads: list[Id] | None = Field(
        default=None, max_length=1_000, description="Only messages of these threads."
    )
    types: list[Id] | None = Field(default=None, max_length=100)
    roles: list[Role] | None = Field(
        default=None, description="Only messages of these roles; [] for no messages at all."
    )
    filter: Object | None = None
    below: bool = False
    whole: bool = Field(
        default=False,
        description="Whether each entry comes with all that is kept of it, and exact figures.",
    )

    def where(self) -> Where:
        """Return which entries may be found."""
        return Where(
            messages=self.roles != [],
            types=self.types,
            threads=self.threads,
            since=self.since,
            until=self.until,
            filter=self.filter,
            valid_at=self.valid_at,
            known_at=self.known_at,
        )


class RecallRequest(EntryFilters):
    """A query, and what shapes its answer."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"query": "Where does Ada live?", "limit": 5, "budget_tokens": 500}]
        },
    )

    query: str = Field(min_length=1, max_length=QUERY_CHARACTERS_MAX)
    limit: int = Field(default=10, ge=1, le=200)
    budget_tokens: int | None = Field(default=None, ge=1, le=BUDGET_TOKENS_MAX)
    min_score: float = Field(
        default=0, ge=0, le=1, description="Only entries of at least so much relevance."
    )
    thread: Id | None = Field(
        default=None, description="The thread of the talk: what is said in it is left out."
    )
    render: bool = True


class ContextRequest(EntryFilters):
    """The query of a prompt's next turn, its token budget, and filters of the entries shown."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"query": "Where does Ada live?", "thread": "holidays", "budget_tokens": 1000}
            ]
        },
    )

    query: str = Field(
        description=f"In its own words; only its first {QUERY_CHARACTERS_MAX:,} characters count. "
        "One that is empty gets the profile."
    )
    thread: Id | None = Field(
        default=None, description="The thread that the prompt is part of; it need not exist."
    )
    recent: (
        Annotated[int, Field(ge=0, le=RECENT_MAX)]
        | Annotated[list[str], Field(max_length=RECENT_MAX)]
    ) = Field(
        default=RECENT_MESSAGES,
        description="What the prompt shows already: so many of the newest messages of `thread`, "
        "or the texts themselves.",
    )
    history_tokens: int = Field(
        default=0,
        ge=0,
        le=BUDGET_TOKENS_MAX,
        description="Give the newest messages of `thread` that cost no more, as `history`.",
    )
    budget_tokens: int = Field(default=CONTEXT_TOKENS, ge=1, le=BUDGET_TOKENS_MAX)
    min_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Only entries of at least so much relevance; without it, nothing where no "
        "entry is likelier to bear on the query than on idle talk.",
    )
    profile: bool | Annotated[list[Id], Field(max_length=100)] = Field(
        default=True, description="Whether the documents in force are shown, or which types'."
    )
    instructions: str = Field(default="", description="A text that counts towards the budget.")
    examples: list[str] = Field(default_factory=list, max_length=1_000)
    roles: list[Role] | None = Field(
        default=None, max_length=0, description="[] for no messages at all."
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


class PlaceInput(RequestModel, title="MessageAddress"):
    """A message in its thread."""

    thread: Id
    id: Id


class AddressInput(RequestModel, title="MemoryAddress"):
    """A memory's address."""

    type: Id
    key: Id


class TargetInput(RequestModel, title="EraseTarget"):
    """The erase target: one of these."""

    scope: Literal[True] | None = None
    below: bool = False
    thread: Id | None = None
    message: PlaceInput | None = None
    memory: AddressInput | None = None
    source: Id | None = None

    def target(self) -> EraseTarget:
        """
        Return it as the library takes it.

        Raises:
            UsageError: It is none of them, or several.
        """
        found: list[EraseTarget] = []
        if self.scope:
            found.append(EraseScope(below=self.below))
        if self.thread is not None:
            found.append(EraseThread(thread=self.thread))
        if self.message is not None:
            named = self.message
            found.append(EraseMessages(thread=named.thread, messages=(named.id,)))
        if self.memory is not None:
            found.append(EraseMemory(type=self.memory.type, key=self.memory.key))
        if self.source is not None:
            found.append(EraseSource(source=self.source))
        if len(found) != 1 or (self.below and not self.scope):
            msg = (
                "a target is one of {scope: true}, {thread}, {message: {thread, id}}, "
                "{memory: {type, key}} and {source}; below goes with scope"
            )
            raise UsageError(msg)
        return found[0]


class EraseRequest(RequestModel, title="PreviewEraseRequest"):
    """The data to erase."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"target": {"thread": "holidays"}}]}
    )

    target: TargetInput


class ConfirmationRequest(RequestModel, title="EraseRequest"):
    """The token of a preview."""

    confirm: str = Field(min_length=1, max_length=8_000)


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
