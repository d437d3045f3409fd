"""The records of the public API: frozen, comparable dataclasses without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final, Generic, Literal, TypeAlias, TypeVar

Scope: TypeAlias = tuple[str, ...]
"""The owner of a memory: text segments, e.g. ``("acme", "users", "ada")``."""
ScopeLike: TypeAlias = "Scope | str"
"""A scope as callers pass it; a string is one segment and is never split."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]
Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
Trust: TypeAlias = Literal["user", "assistant", "external", "agent"]
"""
The least trusted source that a memory rests on.

Most trusted first: a user's words, the assistant's, those of an outside source, and an agent's own
finding, which no quote supports.
"""
EvidenceKind: TypeAlias = Literal["message", "agent", "file"]
"""A message of a thread, or a finding of an agent: its own or one in a file."""
MemoryState: TypeAlias = Literal["active", "quarantined", "rejected"]
"""Only active memories are recalled. Quarantined ones wait for a person's verdict."""
FormationStatus: TypeAlias = Literal["formed", "failed", "dead", "redriven", "consolidated"]
"""
The outcome of a formation run.

A dead formation gave up on messages; once it is redriven, they wait to be formed again. A
consolidation reads memories instead of messages.
"""
FormationAction: TypeAlias = Literal[
    "stored", "changed", "merged", "ended", "dropped", "unchanged", "quarantined", "refused"
]
"""The result of an operation that a model proposed; receipts count each."""
MemoryAddress: TypeAlias = tuple[str, str]
"""Type and key of a memory in its scope."""
MessageAddress: TypeAlias = tuple[str, str]
"""Thread and id of a message in its scope; evidence names versions of memories so too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """
    A message to be appended.

    The store fills in omitted fields: *id* with a UUIDv7, *time* from its clock. *name* is the
    speaker in a conversation between named people. *session* groups a thread's messages; without
    one, a pause of more than ``SESSION_GAP_S`` begins another session. *source* names the message's
    origin, so that everything from there can be erased together. *content* keeps the original
    content blocks.

    >>> NewMessage(role="user", text="We moved.", name="Ada", source="mail/17").source
    'mail/17'
    """

    role: Role
    text: str
    id: str | None = None
    name: str | None = None
    time: datetime | None = None
    session: str | None = None
    source: str | None = None
    content: Sequence[Json] | None = None
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """
    A stored message; *position* counts from 1 in its thread and is never reused.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     (kept,) = memory.append("ada", "chat", "We moved.")
    >>> kept.thread, kept.position, kept.role
    ('chat', 1, 'user')
    """

    thread: str
    id: str
    position: int
    role: Role
    text: str
    name: str | None
    time: datetime
    session: str
    source: str | None
    content: Sequence[Json] | None
    metadata: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLines:
    r"""
    Lines of a file, as an agent read them: from *line*, counted from 1, to *last_line*.

    *path* is relative to the project, with ``/`` between its names. *digest* is that of the lines
    when they were read, ``sha256:`` and 64 hexadecimal digits; ``None`` if unknown. Recollect never
    opens the file: a program that has it compares its current lines by `matches`.

    >>> lines = FileLines.quoting("Makefile", 12, "test:\n\tpytest -q\n")
    >>> str(lines), lines.matches("test:\r\n\tpytest -q"), lines.matches("test: pytest")
    ('Makefile:12-13', True, False)
    """

    path: str
    line: int
    last_line: int | None = None
    digest: str | None = None

    def __str__(self) -> str:
        """Return path and lines as compilers write them: ``src/app.py:3-5``."""
        is_one = self.last_line in {None, self.line}
        return f"{self.path}:{self.line}" + ("" if is_one else f"-{self.last_line}")

    @classmethod
    def quoting(cls, path: str, line: int, text: str) -> FileLines:
        """Return the lines of *text*, which begins at *line*, with their digest."""
        last = line + max(1, len(text.splitlines())) - 1
        return cls(path=path, line=line, last_line=last, digest=_lines_digest(text))

    def matches(self, text: str) -> bool:
        """Return True if *text*, the current lines, has the digest; False without a digest."""
        return self.digest == _lines_digest(text)


def _lines_digest(text: str) -> str:
    """Return the digest of lines, the same for every kind of line ending."""
    return "sha256:" + sha256("\n".join(text.splitlines()).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    The support of a field of a memory: a message and the quote in it, or a finding of an agent.

    Evidence in *group* 0 supports the field alone. Evidence of one field with the same higher group
    number supports it only together: each of these messages supplied part of it. An empty *quote*
    tells that a person wrote the value over what the message says: it is the origin of some words,
    which go when it is erased, but does not say the value.

    A finding has the *kind* ``agent``, or ``file`` with the lines in *file*. *thread* is the
    conversation in which it was made, and is erased with; *message* is an id of its own there, and
    *quote* the words that were found. *source* names the program that it came from: erasing that
    source erases the finding too. A memory that rests on a finding has the trust ``agent``.

    >>> rests_on = Evidence(thread="chat", message="m1", quote="we moved to Oslo")
    >>> home = {"home": "Oslo"}
    >>> PutMemory(type="User", key="User", value=home, evidence={"/home": [rests_on]}).trust
    'user'
    >>> lines = FileLines(path="Makefile", line=12)
    >>> Evidence(thread="chat", message="f1", kind="file", file=lines).is_finding
    True
    """

    thread: str
    message: str
    quote: str | None = None
    group: int = 0
    kind: EvidenceKind = "message"
    file: FileLines | None = None
    source: str | None = None

    @property
    def is_finding(self) -> bool:
        """Whether it is an agent's finding, not a message."""
        return self.kind != "message"


EvidenceMap: TypeAlias = Mapping[str, Sequence[Evidence]]
"""Evidence by JSON pointer (RFC 6901) into the value; ``""`` is the whole document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """
    One JSON document at the address (scope, type, key), in its current version.

    *text* is its searchable text. *valid_from* and *valid_until* bound when it is true in the world
    (from inclusive, until exclusive; ``None`` is open); after *expires_at* no read returns it.
    *said_at* is the time of the newest message among its evidence; ``None`` if no known message
    says it, or if a person wrote a part of it over what one says.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     written = memory.put("ada", "User", "User", {"home": "Oslo"})
    >>> written.version, written.value, written.is_document, written.state
    (1, {'home': 'Oslo'}, True, 'active')
    """

    scope: Scope
    type: str
    key: str
    value: JsonObject
    text: str
    version: int
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    expires_at: datetime | None
    evidence: EvidenceMap
    trust: Trust
    state: MemoryState
    said_at: datetime | None = None

    @property
    def time(self) -> datetime:
        """When it became true; if unknown, when it was said, or else written."""
        return self.valid_from or self.said_at or self.updated_at

    @property
    def is_document(self) -> bool:
        """Whether it is the single document of its type or of one speaker."""
        return self.key == self.type or self.key.startswith(SPEAKER_MARK)

    @property
    def speaker(self) -> str | None:
        """Name of the speaker whose document this is; ``None`` if it is not a speaker's."""
        if not self.key.startswith(SPEAKER_MARK):
            return None
        return self.key.removeprefix(SPEAKER_MARK)

    @property
    def label(self) -> str:
        """Its type, and its speaker if it has one: ``User of ines``."""
        return f"{self.type} of {self.speaker}" if self.speaker else self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """
    One version of a memory, which may be the current one.

    It was believed from *believed_from* (inclusive) to *believed_until* (exclusive; ``None`` for
    the current version).

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     for home in ("Turku", "Oslo"):
    ...         written = memory.put("ada", "User", "User", {"home": home})
    ...     history = memory.history("ada", "User", "User")
    >>> [(each.version, each.value["home"]) for each in history]
    [(1, 'Turku'), (2, 'Oslo')]
    >>> history[0].believed_until == history[1].believed_from
    True
    """

    version: int
    value: JsonObject
    text: str
    valid_from: datetime | None
    valid_until: datetime | None
    evidence: EvidenceMap
    trust: Trust
    state: MemoryState
    cause: str
    believed_from: datetime
    believed_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutMemory:
    """
    Create a memory or write its next version; the new version takes every field from here.

    *expected* is the version that the caller read, 0 if there was none; ``None`` writes
    unconditionally. *text* defaults to the text of the value's fields. *cause* is recorded in the
    history as the reason of this version.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     first = PutMemory(type="User", key="User", value={"home": "Oslo"}, expected=0)
    ...     (written,) = memory.apply("ada", [first])
    >>> written.version, written.value
    (1, {'home': 'Oslo'})
    """

    type: str
    key: str
    value: JsonObject
    text: str | None = None
    expected: int | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    evidence: EvidenceMap = field(default_factory=dict)
    trust: Trust = "user"
    state: MemoryState = "active"
    cause: str = "put"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndMemory:
    """
    Set the end of a memory's validity; it stays readable and searchable as history.

    >>> from datetime import UTC, datetime
    >>> EndMemory(type="Fact", key="home", at=datetime(2024, 5, 4, tzinfo=UTC), cause="moved").cause
    'moved'
    """

    type: str
    key: str
    at: datetime
    expected: int | None = None
    cause: str = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteMemory:
    """
    Remove a memory and all its revisions; a missing memory is not an error.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     written = memory.apply("ada", [DeleteMemory(type="Note", key="not there")])
    >>> written
    (None,)
    """

    type: str
    key: str
    expected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProlongMemory:
    """Move the expiry of exactly this *version* of a memory without creating a new version."""

    type: str
    key: str
    version: int
    expires_at: datetime


SPEAKER_MARK: Final = "@"
"""First character of the key of one speaker's document, as in ``User/@ines``."""
INSTRUCTIONS: Final = "Instructions"
INSTRUCTIONS_PROPOSAL: Final = "InstructionsProposal"
INSTRUCTIONS_CASE: Final = "InstructionsCase"
INSTRUCTIONS_OUTCOME: Final = "InstructionsOutcome"
UNRECALLED_TYPES: Final = frozenset(
    {INSTRUCTIONS, INSTRUCTIONS_PROPOSAL, INSTRUCTIONS_CASE, INSTRUCTIONS_OUTCOME}
)
"""Types that recall never returns: instructions are read whole, by an API of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """
    A file attached to a thread.

    >>> import recollect
    >>> file = Attachment(name="plan.txt", data=b"a red door", media_type="text/plain")
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "Here is the plan.", attachments=[file])
    ...     memory.attachment("ada", "chat", "plan.txt").data
    b'a red door'
    """

    name: str
    data: bytes
    media_type: str = "application/octet-stream"


Write: TypeAlias = PutMemory | EndMemory | DeleteMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """
    Formation progress and failures, in one thread, of a memory type with its own schedule.

    >>> import recollect
    >>> from recollect.formation.types import load_types
    >>> types = load_types(
    ...     [
    ...         {
    ...             "name": "Digest",
    ...             "description": "What a day brought",
    ...             "update_mode": "insert",
    ...             "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    ...             "schedule": "0 3 * * *",
    ...         }
    ...     ]
    ... )
    >>> settings = recollect.FormationSettings(types=types)
    >>> with recollect.open_sync(
    ...     "memory:", embedder="none", model="rules", formation=settings, worker=False
    ... ) as memory:
    ...     kept = memory.append("ada", "chat", "We moved.")
    ...     formed = memory.form("ada")
    ...     thread = memory.thread("ada", "chat")
    >>> thread.formed, thread.lanes["Digest"].formed  # the digest waits for three o'clock
    (1, 0)
    """

    formed: int
    """Everything up to this position has been formed, for this type."""
    attempts: int = 0
    """Formations in a row that failed."""
    not_before: datetime | None = None
    """No earlier than this is it formed again."""
    again: tuple[int, ...] = ()
    """Positions that were given up, and wait to be formed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """
    One conversation of a scope, with its formation progress.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", ["We moved.", "To Oslo."])
    ...     thread = memory.thread("ada", "chat")
    >>> thread.count, thread.formed, thread.pending
    (2, 0, True)
    """

    scope: Scope
    id: str
    created_at: datetime
    last: int
    """Newest position; 0 if it never had a message."""
    count: int
    """Messages that it holds now."""
    formed: int
    """Everything up to this position has been formed."""
    due: datetime | None
    """When its new messages may be formed; ``None`` if there are none."""
    attempts: int
    """Formations in a row that failed."""
    state: Literal["active", "paused"]
    again: tuple[int, ...] = ()
    """Positions that were given up, and wait to be formed again."""
    settings: JsonObject = field(default_factory=dict, hash=False)
    """Its formation settings."""
    lanes: Mapping[str, Lane] = field(default_factory=dict, hash=False)
    """Progress of the types with a schedule of their own, where it differs from *formed*."""
    waiting: int = 0
    """Messages that wait to be formed, counted for the type with the most of them."""

    @property
    def pending(self) -> bool:
        """Whether messages wait to be formed, for any type."""
        return self.formed < self.last or bool(self.again) or bool(self.lanes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formation:
    """
    Record of one formation run of a scope; an erase of what it read or wrote blanks *receipt*.

    *fence* is the fencing token of its claim. *calls* and *tokens* count its model usage.
    *watermarks* maps each thread to the last position formed, *failed* maps each to the positions
    that were given up.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none", model="rules", worker=False) as memory:
    ...     kept = memory.append("ada", "chat", "I live in Oslo.")
    ...     formed = memory.form("ada")
    ...     (record,) = memory.formations("ada").rows
    >>> record.status, record.calls, record.watermarks
    ('formed', 1, {'chat': 1})
    """

    scope: Scope
    id: str
    status: FormationStatus
    at: datetime
    fence: int
    calls: int
    tokens: int
    watermarks: Mapping[str, int] = field(hash=False)
    failed: Mapping[str, Sequence[int]] = field(hash=False)
    receipt: JsonObject = field(hash=False)


RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[RowT]):
    """
    One page of rows; *cursor* continues after them, ``None`` at the end.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", ["one", "two", "three"])
    ...     first = memory.messages("ada", "chat", limit=2)
    ...     rest = memory.messages("ada", "chat", after=first.rows[-1].position)
    >>> [each.text for each in (*first.rows, *rest.rows)]
    ['one', 'two', 'three']
    """

    rows: tuple[RowT, ...]
    cursor: str | None
