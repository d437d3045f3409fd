"""The records of the public API: frozen, comparable dataclasses without I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

Scope: TypeAlias = tuple[str, ...]
"""The owner of a memory: text segments, e.g. ``("acme", "users", "ada")``."""
ScopeLike: TypeAlias = "Scope | str"
"""A scope as a caller gives it; a text is one segment, whatever it contains."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]
Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
Trust: TypeAlias = Literal["user", "assistant", "external", "agent"]
"""
The least trusted source that a memory rests on, most trusted first: words of a user, of the
assistant, of an outside source; what an agent found out itself, which no quote bears out.
"""
EvidenceKind: TypeAlias = Literal["message", "agent", "file"]
"""A message of a thread; or a finding of an agent: its own, or one in a file."""
MemoryState: TypeAlias = Literal["active", "quarantined", "rejected"]
"""Only active memories are recalled; the others wait for, or have had, a person's verdict."""
FormationStatus: TypeAlias = Literal["formed", "failed", "dead", "redriven", "consolidated"]
"""
A dead formation gave messages up; once it is redriven, they wait to be formed again. A
consolidated one read memories, and no messages.
"""
FormationAction: TypeAlias = Literal[
    "stored", "changed", "merged", "ended", "dropped", "unchanged", "quarantined", "refused"
]
"""The result of an operation that a model proposed; receipts count each."""


MemoryAddress: TypeAlias = tuple[str, str]
"""Type and key of a memory in its scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """
    A message to be appended.

    The store fills in what is omitted: *id* with a UUIDv7, *time* from its clock. *name* is the
    speaker in a conversation between named people. *session* groups a thread's messages; without
    one, a pause of more than ``SESSION_GAP_S`` begins another session. *source* names where the
    message came from, so that all of it can be erased together. *content* keeps the original
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
    as they were then, ``sha256:`` and 64 hexadecimal digits; ``None`` if it is not known. Nothing
    in Recollect opens the file: only who has it can compare the lines of today.

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
        """Return the lines that begin with *line* and say *text*, with their digest."""
        last = line + max(1, len(text.splitlines())) - 1
        return cls(path=path, line=line, last_line=last, digest=_lines_digest(text))

    def matches(self, text: str) -> bool:
        """Return True if *text*, the lines of today, has the digest; without one, False."""
        return self.digest == _lines_digest(text)


def _lines_digest(text: str) -> str:
    """Return the digest of lines, however they end."""
    return "sha256:" + sha256("\n".join(text.splitlines()).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """
    The support of a field of a memory: a message and the quote in it, or a finding of an agent.

    Evidence in *group* 0 supports the field alone. Evidence of one field with the same higher group
    number supports it only together: each of these messages supplied part of it.

    A finding is of the *kind* ``agent``, or ``file`` with the lines of *file*. *thread* is the talk
    in which it was made, and with which it is erased, *message* an id of its own there, and *quote*
    the words that were found. *source* names the program that it came from, so that all of it can
    be erased together, with the messages of that source. A memory that rests on a finding has the
    trust ``agent``.

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
        """Whether an agent found it, and no message says it."""
        return self.kind != "message"


EvidenceMap: TypeAlias = Mapping[str, Sequence[Evidence]]
"""Evidence by JSON pointer (RFC 6901) into the value; ``""`` is the whole document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """
    One JSON document at the address (scope, type, key), in its current version.

    *text* is its searchable text. *valid_from* and *valid_until* bound when it is true in the world
    (from inclusive, until exclusive; ``None`` is open); after *expires_at* it is not returned by
    any read. *said_at* is the time of the newest message among its evidence; ``None`` if it has no
    known evidence.

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
        """When it became true; otherwise when it was said, or when it was written."""
        return self.valid_from or self.said_at or self.updated_at

    @property
    def is_document(self) -> bool:
        """Whether it is its type's single document, or one speaker's document."""
        return self.key == self.type or self.key.startswith(SPEAKER_MARK)

    @property
    def speaker(self) -> str | None:
        """Name of the speaker whose document this is, if each speaker has one."""
        is_his = self.key.startswith(SPEAKER_MARK)
        return self.key.removeprefix(SPEAKER_MARK) if is_his else None

    @property
    def label(self) -> str:
        """Its type, with the speaker if each speaker has one: ``User of ines``."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRecord:
    """
    A JSON object beside messages and memories, at the address (scope, thread, kind, key).

    No recall, feed or listing of memories shows it. *thread* is the thread that it is erased
    with, ``None`` for one that belongs to the scope alone. *version* counts from 1 with each
    put; past versions are not kept. After *expires_at* it is not returned by any read.
    """

    scope: Scope
    thread: str | None
    kind: str
    key: str
    value: JsonObject
    version: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PutSideRecord:
    """
    Create a side record, or replace the one at its address.

    *expected* is the version that the caller read, 0 if it saw none; ``None`` writes
    whatever is there.
    """

    kind: str
    key: str
    value: JsonObject
    thread: str | None = None
    expected: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSideRecord:
    """Remove a side record; nothing happens if there is none."""

    kind: str
    key: str
    thread: str | None = None
    expected: int | None = None


class SideAddress(NamedTuple):
    """Where a side record stands in its scope."""

    kind: str
    key: str
    thread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProlongSideRecord:
    """Move the expiry of exactly this *version* of a side record; it stays that version."""

    kind: str
    key: str
    version: int
    expires_at: datetime
    thread: str | None = None


SPEAKER_MARK: Final = "@"
"""Begins the key of a document of one of several speakers, as in ``User/@ines``."""
STATE: Final = "State"
"""The kind of the side records that hold a thread's state, by name."""
ATTACHMENT: Final = "Attachment"
"""The kind of the side records that tell of a file beside a thread, by its name."""
ATTACHMENT_PART: Final = "AttachmentPart"
"""The kind of the side records that hold a part of such a file."""
LIFETIME: Final = "Lifetime"
"""
The kind of the side records that say how long a memory lives after it was last used, for those
whose expiry moves with use.
"""
SCOPE_SETTINGS: Final = "ScopeSettings"
"""
The kind and the key of the side record that says how memories are formed in a scope and those
below it, where that was set.
"""
FORGOTTEN: Final = "Forgotten"
"""
The kind of the side records that say that a memory was erased, under a keyed digest of what it
said: so that it is not formed anew.
"""
SERVICE_KEY: Final = "ServiceKey"
"""The kind of the side records that keep a digest of an API key, by its id."""
SERVICE_KEY_USE: Final = "ServiceKeyUse"
"""The kind of the side records that say when an API key was last used, by its id."""
SERVICE_USAGE: Final = "ServiceUsage"
"""The kind of the side records that count what a scope used on a day."""
SETTING_KINDS: Final = frozenset({SCOPE_SETTINGS, SERVICE_KEY, SERVICE_KEY_USE})
"""Kinds of what many requests in a row rest on; see `Store.settings_stamp`."""
INSTRUCTIONS: Final = "Instructions"
INSTRUCTIONS_PROPOSAL: Final = "InstructionsProposal"
INSTRUCTIONS_CASE: Final = "InstructionsCase"
INSTRUCTIONS_OUTCOME: Final = "InstructionsOutcome"
UNRECALLED_TYPES: Final = frozenset(
    {INSTRUCTIONS, INSTRUCTIONS_PROPOSAL, INSTRUCTIONS_CASE, INSTRUCTIONS_OUTCOME}
)
"""Types of which recall finds nothing: instructions are read on a path of their own, whole."""


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
SideWrite: TypeAlias = PutSideRecord | DeleteSideRecord


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
    not_before: datetime | None = None
    again: tuple[int, ...] = ()
    """Positions that were given up before, and wait to be formed again."""


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
    """Formations that failed since the last that did not."""
    state: Literal["active", "paused"]
    again: tuple[int, ...] = ()
    """Positions that were given up before, and wait to be formed again."""
    settings: JsonObject = field(default_factory=dict, hash=False)
    """How it is to be formed."""
    lanes: Mapping[str, Lane] = field(default_factory=dict, hash=False)
    """Places of types that do not stand at *formed*, because they have a schedule of their own."""
    waiting: int = 0
    """Messages that wait to be formed, for the type for which most of them do."""

    @property
    def pending(self) -> bool:
        """Whether messages wait to be formed, for all types or for one."""
        return self.formed < self.last or bool(self.again) or bool(self.lanes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formation:
    """
    Record of one formation run of a scope; erasing anything in the scope blanks *receipt*.

    *fence* is the fencing token of its claim. *calls* and *tokens* count its model usage.
    *watermarks* maps each thread to the last position formed, *failed* to the positions given up.

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
