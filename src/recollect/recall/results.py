"""The answer of a recall: entries with scores and signals, and their rendering."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from recollect.recall.memory_sentences import label_with_origin
from recollect.recall.recall_packing import DropReason
from recollect.recall.rendering import Record, render_block
from recollect.records import Memory, Message, Scope
from recollect.text.chinese_scripts import is_chinese
from recollect.text.lapsed_mark import LAPSED
from recollect.text.searchable import message_text

if TYPE_CHECKING:
    from recollect.messages import AnyMessage


ScopedMessage: TypeAlias = tuple[Scope, str, str]
"""Scope, thread and id of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """
    An entry that recall found.

    *signals* are the parts of *score*, each a weight × a standardised value; *score* compares the
    entries of one answer. *relevance* is the probability that the entry bears on the query, from 0
    to 1 on one scale for all queries, scopes and embedders. *strength* is the weight that vectors
    had (see `recollect.recall.strength`). *has_lapsed* marks a message of which nothing holds any
    more (see `Store.lapsed`).

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", ["The boat leaks.", "It rains."])
    ...     best = memory.recall("ada", "Does the boat leak?").entries[0]
    >>> best.text, abs(sum(best.signals.values()) - best.score) < 1e-5, 0 <= best.relevance <= 1
    ('The boat leaks.', True, True)
    """

    scope: Scope
    content: Message | Memory
    score: float
    signals: Mapping[str, float]
    relevance: float = 0.0
    strength: float = field(default=1.0, repr=False, compare=False)
    has_lapsed: bool = False

    @property
    def text(self) -> str:
        """The text by which it was found."""
        return text_of(self.content)

    @property
    def time(self) -> datetime:
        """When it was said, or since when it is true; see `Memory.time`."""
        return self.content.time

    @property
    def source(self) -> str:
        """Its source: thread/message, or type/key."""
        if isinstance(self.content, Message):
            return f"{self.content.thread}/{self.content.id}"
        return f"{self.content.type}/{self.content.key}"


def text_of(content: Message | Memory) -> str:
    """Return the text by which an entry is found."""
    if isinstance(content, Message):
        return message_text(content.text, content.name, content.content)
    return content.text


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedEntry:
    """
    An entry that was ranked high enough to be considered and was left out, and why.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", ["The boat leaks.", "The boat is red and long."])
    ...     found = memory.recall("ada", "the boat", budget_tokens=5)
    >>> [each.reason for each in found.dropped]
    ['budget']
    """

    entry: Recalled
    reason: DropReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """
    The answer to a query: *entries*, best first.

    *searched* of the *eligible* entries were ranked; if these differ the answer is partial, and
    only the newest entries were searched. *tokens* is the cost of the entries' texts, without the
    lines around them in a block. *embedder* is the identity of the embedder whose vectors were
    used, ``None`` if recall worked by words alone. *outside* is the name of the outside vector
    store that took part, *reranker* the identity of the reranker that ordered the best entries;
    each is ``None`` if there is none or it failed. *replica* is the number of the read replica that
    answered, ``None`` for the primary, and the answer was at most *behind_s* seconds old when the
    store was read; 0 if it lacked nothing. *term_weights* is the weight of each query term,
    by its hash; excerpts are chosen by it.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", ["The boat leaks.", "It rains."])
    ...     found = memory.recall("ada", "Does the boat leak?", limit=1)
    >>> [each.text for each in found.entries], found.searched, found.is_partial
    (['The boat leaks.'], 2, False)
    """

    query: str
    entries: tuple[Recalled, ...]
    dropped: tuple[DroppedEntry, ...]
    tokens: int
    searched: int
    eligible: int
    embedder: str | None
    outside: str | None = None
    reranker: str | None = None
    replica: int | None = None
    behind_s: float = 0.0
    term_weights: Mapping[int, float] = field(default_factory=dict, repr=False)

    @property
    def is_partial(self) -> bool:
        """Whether only the newest entries were searched."""
        return self.searched < self.eligible

    @property
    def considered(self) -> list[Recalled]:
        """Return the entries with those that were dropped, best first."""
        every = (*self.entries, *(each.entry for each in self.dropped))
        return sorted(every, key=lambda each: -each.score)

    def render(self) -> str:
        """Return the entries as a block for a prompt, in order of time; see `render_block`."""
        chinese = is_chinese(self.query)
        entries = sorted(self.entries, key=in_time)
        return render_block([record_of(each, chinese=chinese) for each in entries])

    def messages(self) -> list[AnyMessage]:
        """Return the same block as a user message; an empty list if nothing was found."""
        from recollect.messages import message_classes

        return [message_classes().human(self.render())] if self.entries else []


def in_time(entry: Recalled) -> tuple[datetime, str, int, str]:
    """Return a sort key: by time, then in the order of the conversation."""
    content = entry.content
    if isinstance(content, Message):
        return (content.time, content.thread, content.position, content.id)
    return (entry.time, content.type, 0, content.key)


def lapsed_marks(
    entries: Iterable[Recalled], lapsed: Collection[ScopedMessage]
) -> Iterator[Recalled]:
    """Yield *entries* with marks at the messages in *lapsed*."""
    if not lapsed:
        yield from entries
        return
    for entry in entries:
        content = entry.content
        is_lapsed = (
            isinstance(content, Message) and (entry.scope, content.thread, content.id) in lapsed
        )
        yield replace(entry, has_lapsed=True) if is_lapsed else entry


def record_of(entry: Recalled, *, chinese: bool = False) -> Record:
    """Return the record that shows an entry in a prompt; *chinese* marks are in Chinese."""
    content = entry.content
    if isinstance(content, Message):
        who, text = content.name or content.role, message_text(content.text, None, content.content)
    else:
        who = label_with_origin(content)
        text = content.text or json.dumps(content.value, ensure_ascii=False)
    if entry.has_lapsed:
        text = f"{text} ({LAPSED[chinese]})"
    date = entry.time.strftime("%Y-%m-%d %H:%M")
    return Record(source=entry.source, date=date, who=who, text=text)
