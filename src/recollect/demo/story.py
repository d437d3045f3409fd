"""The example conversation and a model's recorded operations, replayed into a memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from io import BytesIO
from itertools import groupby
from typing import Any, Final

from recollect.errors import UsageError
from recollect.formation.formation_receipt import ModelExchanges, receipt_of
from recollect.formation.operation_outcomes import OperationOutcome
from recollect.formation.scope_types import settings_write
from recollect.formation.types import MemoryType, load_types
from recollect.formation.value_identity import proposal_key
from recollect.formation.window import Window
from recollect.importers import Incoming, InputFile, read_rows
from recollect.memory.facade import Recollect
from recollect.records import EndMemory, Evidence, NewMessage, PutMemory, Scope, Write
from recollect.stores.plans.formation import Formed
from recollect.stores.receipt_sources import names_by_thread

SCOPE: Final[Scope] = ("demo", "mira")
CONVERSATION: Final = "conversation.jsonl"
OPERATIONS: Final = "operations.jsonl"
TYPES: Final = "types.json"
_BEFORE: Final = datetime(2025, 3, 1, tzinfo=UTC)
_PAUSE: Final = timedelta(minutes=15)


class StoryClock:
    """A clock that shows the time of the story."""

    def __init__(self) -> None:
        self._now = _BEFORE

    def now(self) -> datetime:
        """Return the current time of the story."""
        return self._now

    def move_to(self, moment: datetime) -> None:
        """Advance to *moment*."""
        self._now = moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """One session of a thread, and the recorded operations of its formation."""

    session: str
    thread: str
    messages: tuple[NewMessage, ...]
    ended_at: datetime
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """The result of replaying the story."""

    messages: int
    threads: int
    sessions: int
    operations: int
    began_at: datetime
    ended_at: datetime


def read_chapters() -> tuple[Chapter, ...]:
    """Return the chapters of the story, in the order in which they happened."""
    operations = read_operations()
    chapters = []
    for (thread, session), rows in groupby(read_messages(), _place_of):
        messages = tuple(row.message for row in rows)
        chapters.append(
            Chapter(
                session=session,
                thread=thread,
                messages=messages,
                ended_at=max(message.time or _BEFORE for message in messages),
                writes=tuple(write for place, write in operations if place == session),
            )
        )
    return tuple(chapters)


def _place_of(row: Incoming) -> tuple[str, str]:
    return row.thread, row.message.session or ""


def read_messages() -> list[Incoming]:
    """Return the conversation, read as `recollect import` reads a file."""
    stream = BytesIO(files(__package__).joinpath(CONVERSATION).read_bytes())
    source = InputFile(name=CONVERSATION, stream=stream, packed=stream, size_bytes=None)
    rows = list(read_rows(source))
    if broken := [row for row in rows if not isinstance(row, Incoming)]:
        msg = f"the example conversation is damaged: {broken[0]}: install the package again"
        raise UsageError(msg)
    return [row for row in rows if isinstance(row, Incoming)]


def read_operations() -> list[tuple[str, Write]]:
    """Return the recorded memory operations, each with the session that it followed."""
    text = files(__package__).joinpath(OPERATIONS).read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [(row["session"], write_of(row)) for row in rows]


def read_types() -> tuple[MemoryType, ...]:
    """Return the memory types of the story."""
    return load_types(files(__package__).joinpath(TYPES).read_text("utf-8"))


def write_of(row: Mapping[str, Any]) -> Write:
    """Return the write of a recorded operation."""
    if row["operation"] == "end":
        return EndMemory(
            type=row["type"], key=row["key"], at=_moment(row["at"]) or _BEFORE, cause=row["cause"]
        )
    waits = row["operation"] == "propose"
    return PutMemory(
        type=row["type"],
        key=proposal_key(row["key"], row["version"], row["value"]) if waits else row["key"],
        value=row["value"],
        text=row.get("text"),
        valid_from=_moment(row.get("valid_from")),
        valid_until=_moment(row.get("valid_until")),
        evidence={
            pointer: tuple(Evidence(**each) for each in found)
            for pointer, found in row["evidence"].items()
        },
        trust="external" if waits else "user",
        state="quarantined" if waits else "active",
        cause=row["cause"],
    )


def _moment(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


async def _outcome(memory: Recollect, write: Write) -> OperationOutcome:
    """Return the outcome of a write of the story, as a formation reports it."""
    if isinstance(write, EndMemory):
        return OperationOutcome(
            action="ended", type=write.type, key=write.key, reason=write.cause or ""
        )
    if not isinstance(write, PutMemory):
        msg = f"the story only puts and ends memories, and does not {type(write).__name__}"
        raise UsageError(msg)
    if write.state == "quarantined":
        return OperationOutcome(
            action="quarantined", type=write.type, key=write.key, reason=write.cause
        )
    standing = await memory.get(SCOPE, write.type, write.key)
    return OperationOutcome(
        action="changed" if standing else "stored", type=write.type, key=write.key
    )


async def play(memory: Recollect, clock: StoryClock, chapters: Sequence[Chapter]) -> Played:
    """
    Store and form the story chapter by chapter, each at the time at which it happened.

    The scope gets the story's types, so that later messages in it are formed by them. The
    operations are committed as by any formation: the due thread is claimed, and writes and
    watermark are committed together under that lease.
    """
    types = [each.as_config() for each in read_types()]
    await memory.store.apply(SCOPE, [settings_write(types)])
    for chapter in chapters:
        clock.move_to(chapter.ended_at)
        kept = await memory.append(SCOPE, chapter.thread, chapter.messages)
        clock.move_to(chapter.ended_at + _PAUSE)
        lease = await memory.store.claim("demo")
        if lease is None:
            msg = f"the thread {chapter.thread!r} is not due: the demo needs a store of its own"
            raise UsageError(msg)
        outcomes = [await _outcome(memory, write) for write in chapter.writes]
        window = Window(scope=SCOPE, lines=(), watermarks={})
        receipt = {
            **receipt_of(
                window,
                ModelExchanges(),
                outcomes,
                model=None,
                sources=names_by_thread((each.thread, each.id) for each in kept),
            ),
            "messages": len(chapter.messages),
            "session": chapter.session,
        }
        formed = Formed(watermarks={chapter.thread: kept[-1].position}, receipt=receipt)
        await memory.store.commit(lease, chapter.writes, formed)
    return Played(
        messages=sum(len(chapter.messages) for chapter in chapters),
        threads=len({chapter.thread for chapter in chapters}),
        sessions=len(chapters),
        operations=sum(len(chapter.writes) for chapter in chapters),
        began_at=min(chapter.ended_at for chapter in chapters),
        ended_at=max(chapter.ended_at for chapter in chapters),
    )
