"""The context of a prompt: what is remembered that bears on its next turn, with sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from recollect.errors import NotFoundError, UsageError
from recollect.messages import AnyMessage, message_classes
from recollect.recall.results import Recalled
from recollect.records import Memory, Message
from recollect.text.chinese_scripts import is_chinese, simplified
from recollect.text.context_guides import GUIDES, GuideLanguage

LeftOutReason = Literal["budget", "in the thread", "repeats", "score"]
"""Why an entry was left out: no room, shown by the thread, repeats another, relevance too low."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextEntry:
    """
    A memory or message of a context.

    *handle* names it in the text and is the same in every context. *text* is the part of it that is
    shown; *is_excerpt*: some of it is left out. *has_ended*: it is a memory that was no longer true
    when the query was asked. *tokens* is the cost of its line, with the heading above it if it is
    the first one there.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.remember("ada", "The boat is red.")
    ...     context = memory.context("ada", "Is the boat red?")
    >>> entry = context.entries[0]
    >>> entry.text, entry.is_excerpt, context.source(entry.handle) == note
    ('The boat is red.', False, True)
    """

    handle: str
    entry: Recalled
    text: str
    is_excerpt: bool
    tokens: int
    has_ended: bool = False

    @property
    def source(self) -> str:
        """Its source: thread/message, or type/key."""
        return self.entry.source


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileDocument:
    """
    An active document with its shown *fields*; *handle* names it in the text.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     written = memory.put("ada", "User", "User", {"home": "Oslo"})
    ...     (document,) = memory.context("ada", "Where do I live?").profile
    >>> document.memory.value, document.fields
    ({'home': 'Oslo'}, ('- home: Oslo',))
    """

    handle: str
    memory: Memory
    fields: tuple[str, ...]
    is_excerpt: bool
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """
    An entry that was considered and is not shown, and why.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "The boat is red.")
    ...     context = memory.context("ada", "Is the boat red?", thread="chat", recent=1)
    >>> [each.reason for each in context.left_out]
    ['in the thread']
    """

    entry: Recalled
    reason: LeftOutReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """
    Remembered text for a prompt; ``str(context)`` is the text, "" if nothing bears on the query.

    *profile* are the active documents, *entries* the memories and messages that bear on the
    query, best first. *history* are the newest messages of the thread, oldest first, if they were
    requested; *summary* is the thread's summary, if the history does not reach its beginning.
    *instructions* and *examples* are as given. *tokens* is the cost of all these parts as rendered,
    at most *budget_tokens*. *awaits_vectors*: some of what was just written was searched by its
    words alone. *replica* and *behind_s* are those of the `Recall` behind it.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     kept = memory.append("ada", "chat", "My boat is called Ida.")
    ...     context = memory.context("ada", "What is my boat called?", budget_tokens=200)
    >>> "Ida" in str(context), context.tokens <= 200
    (True, True)
    """

    query: str
    profile: tuple[ProfileDocument, ...] = ()
    entries: tuple[ContextEntry, ...] = ()
    summary: str = ""
    history: tuple[Message, ...] = ()
    instructions: str = ""
    examples: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    tokens: int = 0
    tokens_by_part: Mapping[str, int] = field(default_factory=dict)
    budget_tokens: int
    awaits_vectors: bool = False
    replica: int | None = None
    behind_s: float = 0.0
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.text

    def expand(self, handle: str) -> str:
        """
        Return the whole text of an entry or document that the context shows in part.

        Raises:
            NotFoundError: The context has no such handle.
        """
        content = self.source(handle)
        if isinstance(content, Message):
            return content.text
        return content.text or json.dumps(content.value, ensure_ascii=False)

    def source(self, handle: str) -> Message | Memory:
        """
        Return the message or memory that *handle* names, with or without its brackets.

        Raises:
            NotFoundError: The context has no such handle.
        """
        wanted = handle.strip("[] ")
        for each in self.profile:
            if each.handle == wanted:
                return each.memory
        for entry in self.entries:
            if entry.handle == wanted:
                return entry.entry.content
        what = f"the context has no entry {handle!r}; it has {', '.join(self._handles()) or 'none'}"
        raise NotFoundError(what)

    def _handles(self) -> Iterator[str]:
        yield from (each.handle for each in self.profile)
        yield from (each.handle for each in self.entries)

    def messages(self) -> list[AnyMessage]:
        """Return the text as a list of one user message for LangChain's models; [] without text."""
        return [message_classes().human(text)] if (text := str(self)) else []


def context_guide(language: GuideLanguage = "en") -> str:
    """
    Return instructions for a system prompt: how to read, use and cite a context.

    They are in English, in simplified (``"zh"``) or in traditional Chinese (``"zh-hant"``).

    Raises:
        UsageError: They are in no such *language*.

    >>> "memory" in context_guide(), context_guide("zh") == context_guide()
    (True, False)
    """
    if language not in GUIDES:
        raise UsageError(f"there is no guide in {language!r}: give one of {', '.join(GUIDES)}")
    return GUIDES[language]


def guide_for(text: str) -> str:
    """
    Return the instructions of `context_guide` in the language and script of *text*.

    >>> guide_for("我住在哪裡？") == context_guide("zh-hant")
    True
    """
    if not is_chinese(text):
        return context_guide()
    return context_guide("zh" if simplified(text) == text else "zh-hant")
