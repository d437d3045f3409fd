"""Quotes in tool calls: check them, find them in the conversation, or store them as messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.formation.citations import cited_words
from recollect.formation.evidence import QUOTE_CHARACTERS_MAX
from recollect.formation.grounding.quotes import find_quote
from recollect.formation.window import Window
from recollect.memory.facade import Recollect
from recollect.records import Memory, Message, NewMessage, PutMemory, Scope, Write
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import each_evidence
from recollect.stores.validation import check_texts, to_datetime


class Hearing(Protocol):
    """Stores an agent's quotes as user messages, in a thread that no one else writes."""

    @property
    def answer(self) -> str:
        """The user's words of agreement to an erasure; ``""`` if there is none."""
        ...

    async def keep(
        self,
        memory: Recollect,
        scope: Scope,
        thread: str,
        said: Sequence[NewMessage],
        writes: Sequence[Write],
    ) -> None:
        """
        Store the messages *said* and the *writes* that cite them, atomically.

        Raises:
            VersionConflictError: Another writer came first.
        """


def quoted_messages(store: Store, quotes: Sequence[str]) -> list[NewMessage]:
    """Return *quotes* as new user messages, with ids and the time of the store."""
    now = to_datetime(store.now())
    return [NewMessage(role="user", text=each, id=store.new_name(), time=now) for each in quotes]


def as_stored(said: Sequence[NewMessage], thread: str, after: int) -> list[Message]:
    """Return messages as *thread* will hold them, after the position *after*."""
    return [
        Message(
            thread=thread,
            id=each.id or "",
            position=position,
            role=each.role,
            text=each.text,
            name=None,
            time=each.time,
            session="",
            source=None,
            content=None,
            metadata={},
        )
        for position, each in enumerate(said, start=after + 1)
        if each.time is not None
    ]


def quotes_wrong(quotes: Sequence[str]) -> str:
    """
    Return why *quotes* are invalid regardless of the conversation; ``""`` if they are not.

    Raises:
        UsageError: The quotes are not a list of texts.
    """
    if any(not each.strip() for each in check_texts(quotes, "quote")):
        return "a quote is blank: quote the words of this talk that say so"
    return "" if quotes else "quote the words of this talk that say so"


def citations(quotes: Sequence[str], window: Window) -> tuple[list[str], str]:
    """Return the quotes as citations, or the reason why one of them is not in the window."""
    cited: list[str] = []
    for quote in quotes:
        saying = [line for line in window.lines if find_quote(quote, line.text)]
        if not saying:
            return [], f"nobody said {quote[:200]!r} in this talk: quote its exact words"
        best = max(saying, key=lambda line: (line.message.role == "user", line.number))
        cited.append(cited_words(best.number, quote))
    return cited, ""


def rests_already(memory: Memory, write: PutMemory, thread: str, quotes: Sequence[str]) -> bool:
    """Return True if *write* only repeats quotes that *memory* has as evidence."""
    known = {each.quote for each in each_evidence(memory.evidence) if each.thread == thread}
    is_same = (memory.value, memory.state) == (write.value, write.state)
    return is_same and all(each[:QUOTE_CHARACTERS_MAX] in known for each in quotes)
