"""The prompt of a chatbot: the relevant memories, and the conversation so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import Formatter
from typing import Final

from recollect.ports import TokenCounter, Turn
from recollect.recall.duplicates import SaidAlready
from recollect.recall.packing import packed
from recollect.recall.rendering import render_block
from recollect.recall.results import Recalled, record_of
from recollect.records import Memory, Message, Scope
from recollect.text.searchable import message_text

NOTHING_KNOWN: Final = "Nothing is remembered yet."


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMemories:
    """The memories relevant to a message: documents first, then what recall found."""

    documents: tuple[Recalled, ...] = ()
    entries: tuple[Recalled, ...] = ()
    tokens: int = 0

    def render(self) -> str:
        """Return it as a block for a prompt; `NOTHING_KNOWN` if there is nothing."""
        shown = [*self.documents, *self.entries]
        return render_block([record_of(each) for each in shown]) if shown else NOTHING_KNOWN


def known_within(
    documents: Sequence[Memory],
    found: Sequence[Recalled],
    *,
    limit: int,
    budget_tokens: int,
    count: TokenCounter,
) -> KnownMemories:
    """
    Return as many of *documents* and *found* as *budget_tokens* allows, in this order.

    The result is in order of time.
    """
    profiles = [
        Recalled(scope=each.scope, content=each, score=0.0, signals={}) for each in documents
    ]
    shown = {(each.scope, each.source) for each in profiles}
    others = [each for each in found if (each.scope, each.source) not in shown]
    ranked = [*profiles, *others]
    packing = packed(
        [each.text for each in ranked],
        limit=limit,
        budget_tokens=budget_tokens,
        count=count,
        said=SaidAlready(ranked, is_tight=True),
    )
    first = [ranked[place] for place in packing.kept if place < len(profiles)]
    later = [ranked[place] for place in packing.kept if place >= len(profiles)]
    return KnownMemories(
        documents=tuple(first),
        entries=tuple(sorted(later, key=_in_time)),
        tokens=packing.tokens,
    )


def _in_time(entry: Recalled) -> tuple[datetime, int]:
    content = entry.content
    return entry.time, content.position if isinstance(content, Message) else 0


def filled(template: str, values: Mapping[str, str]) -> str:
    """
    Return *template* with each ``{name}`` replaced by its value; doubled braces are literal.

    Values are never treated as templates.

    >>> filled("It is {time}. {{x}}", {"time": "noon"})
    'It is noon. {x}'
    """
    parts = Formatter().parse(template)
    return "".join(
        before + (values[name] if name is not None else "") for before, name, _, _ in parts
    )


def turns_of(
    messages: Sequence[Message], *, budget_tokens: int, count: TokenCounter
) -> tuple[Turn, ...]:
    """
    Return the newest of *messages* that *budget_tokens* admit as turns, the first by the user.

    The last one is there however long it is. Messages of other roles are left out.
    """
    turns: list[Turn] = []
    left = budget_tokens
    for message in reversed(messages):
        if message.role not in {"user", "assistant"}:
            continue
        text = message_text(message.text, None, message.content)
        left -= count(text)
        if left < 0 and turns:
            break
        turns.append(Turn(role="user" if message.role == "user" else "assistant", text=text))
    while len(turns) > 1 and turns[-1].role != "user":
        turns.pop()
    return tuple(reversed(turns))


def scope_entries(
    entries: Sequence[Recalled], scope: Scope, seen: Sequence[Message]
) -> list[Recalled]:
    """Return *entries* without those messages of *scope* that are *seen* already in the talk."""
    said = {(each.thread, each.id) for each in seen}
    return [
        each
        for each in entries
        if not (
            isinstance(each.content, Message)
            and each.scope == scope
            and (each.content.thread, each.content.id) in said
        )
    ]
