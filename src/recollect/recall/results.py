"""What recall answers: entries with their scores and reasons, and how they look in a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.recall.packing import DropReason
from recollect.recall.rendering import Record, render_block
from recollect.records import Memory, Message, Scope
from recollect.text.searchable import message_text

if TYPE_CHECKING:
    from recollect.messages import AnyMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """
    An entry that recall found.

    *signals* gives each signal's part, weight × standardised value; they sum to *score*.
    """

    scope: Scope
    content: Message | Memory
    score: float
    signals: Mapping[str, float]

    @property
    def text(self) -> str:
        """Return the text by which it was found."""
        return text_of(self.content)

    @property
    def time(self) -> datetime:
        """Return when it was said, or since when it is true; see `Memory.time`."""
        return self.content.time

    @property
    def source(self) -> str:
        """Return where it is from: thread/message, or type/key."""
        if isinstance(self.content, Message):
            return f"{self.content.thread}/{self.content.id}"
        return f"{self.content.type}/{self.content.key}"


def text_of(content: Message | Memory) -> str:
    """Return the text by which an entry is found."""
    if isinstance(content, Message):
        return message_text(content.text, content.name, content.content)
    return content.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """An entry that was ranked high enough to be considered and was left out, and why."""

    entry: Recalled
    reason: DropReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """
    The answer to a query: *entries* best first.

    Of *eligible* entries *searched* were ranked; if these differ the answer is partial:
    only the newest were searched. *tokens* is what the texts of the entries cost, without the
    lines around them in a block. *embedder* is the identity of the vectors used,
    ``None`` where recall worked by words alone. *outside* is the name of the outside store of
    vectors that had a part in it, ``None`` if there is none, or it failed.
    """

    query: str
    entries: tuple[Recalled, ...]
    dropped: tuple[Dropped, ...]
    tokens: int
    searched: int
    eligible: int
    embedder: str | None
    outside: str | None = None

    @property
    def is_partial(self) -> bool:
        """Say whether only the newest entries were searched."""
        return self.searched < self.eligible

    def render(self) -> str:
        """Return the entries as a block for a prompt, in the order of time; see `render_block`."""
        return render_block([record_of(entry) for entry in sorted(self.entries, key=in_time)])

    def messages(self) -> list[AnyMessage]:
        """Return the same block as a message of a person; none where nothing was found."""
        from recollect.messages import message_classes

        return [message_classes().human(self.render())] if self.entries else []


def in_time(entry: Recalled) -> tuple[datetime, str, int, str]:
    """Order entries by time; those of one moment as they were said."""
    content = entry.content
    if isinstance(content, Message):
        return (content.time, content.thread, content.position, content.id)
    return (entry.time, content.type, 0, content.key)


def record_of(entry: Recalled) -> Record:
    """Return how an entry appears in a prompt."""
    content = entry.content
    if isinstance(content, Message):
        who, text = content.name or content.role, message_text(content.text, None, content.content)
    else:
        who, text = content.label, content.text or json.dumps(content.value, ensure_ascii=False)
    date = entry.time.strftime("%Y-%m-%d %H:%M")
    return Record(source=entry.source, date=date, who=who, text=text)
