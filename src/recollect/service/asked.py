"""What bodies of requests hold: every field named, none beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from recollect.records import Evidence, EvidenceMap, Json, JsonObject, NewMessage, Role
from recollect.stores.validate import ID_CHARACTERS_MAX

Id = Annotated[str, Field(min_length=1, max_length=ID_CHARACTERS_MAX)]
Time = AwareDatetime
Object = dict[str, JsonValue]


class Asked(BaseModel):
    """A body, or a part of one; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", str_max_length=1_000_000)


class AskedMessage(Asked):
    """A message as a caller gives it."""

    role: Role
    text: str
    id: Id | None = None
    name: Id | None = None
    time: Time | None = None
    session: Id | None = None
    source: Id | None = None
    content: list[JsonValue] | None = None
    metadata: Object = Field(default_factory=dict)

    def new_message(self, id_: str | None = None) -> NewMessage:
        """Return it as the library takes it; *id_* goes before its own id."""
        return NewMessage(
            role=self.role,
            text=self.text,
            id=id_ or self.id,
            name=self.name,
            time=self.time,
            session=self.session,
            source=self.source,
            content=cast("Sequence[Json] | None", self.content),
            metadata=cast("JsonObject", self.metadata),
        )


class AskedMessages(Asked):
    """Messages to be appended to a thread."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"messages": [{"role": "user", "text": "I moved to Oslo.", "name": "Ada"}]},
            ]
        },
    )

    messages: list[AskedMessage] = Field(min_length=1, max_length=1_000)
    quiet_s: float | None = Field(
        default=None, ge=0, le=86_400, description="How long a pause is, after which it is formed."
    )
    assistant: Id | None = Field(default=None, description="For which assistant it is formed.")


class AskedEvidence(Asked):
    """The message, and the words in it, that a field rests on."""

    thread: Id
    message: Id
    quote: str | None = None


class AskedMemory(Asked):
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
    evidence: dict[str, list[AskedEvidence]] = Field(default_factory=dict)

    def evidence_map(self) -> EvidenceMap:
        """Return its evidence as the library takes it."""
        return {
            pointer: [
                Evidence(thread=each.thread, message=each.message, quote=each.quote)
                for each in found
            ]
            for pointer, found in self.evidence.items()
        }


class AskedRecall(Asked):
    """A query, and what shapes its answer."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"query": "Where does Ada live?", "limit": 5, "budget_tokens": 500}]
        },
    )

    query: str = Field(min_length=1, max_length=20_000)
    limit: int = Field(default=10, ge=1, le=200)
    budget_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    valid_at: Time | Literal["now", "ever"] = "now"
    known_at: Time | None = None
    types: list[Id] | None = Field(default=None, max_length=100)
    roles: list[Role] | None = Field(
        default=None, description="Only messages of these roles; [] for no messages at all."
    )
    filter: Object | None = None
    below: bool = False
    thread: Id | None = Field(
        default=None, description="The thread of the talk: what is said in it is left out."
    )
    render: bool = True


class AskedRestore(Asked):
    """Which version is to be in force again."""

    version: int = Field(ge=1, le=2**53)


class AskedEnd(Asked):
    """Since when a memory is no longer true."""

    at: Time


class AskedReject(Asked):
    """Which part of a memory is refused; all of it by default."""

    pointer: str = Field(default="", max_length=1_000)
