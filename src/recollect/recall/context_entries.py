"""
The entries of a context: the best that their cost allows, each in as few words as say it.

The prices of tokens and the sizes of excerpts are those that showed most whole evidence on the
development halves; see `docs/benchmarks_context.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from recollect.ports import TokenCounter
from recollect.recall.context import (
    ContextEntry,
    Handles,
    LeftOut,
    heading_above,
    line_of,
    shown,
)
from recollect.recall.context_plan import ContextPlan, TokenRoom
from recollect.recall.excerpts import excerpt_of
from recollect.recall.results import Recalled
from recollect.recall.sentences import (
    is_chinese,
    memory_sentence,
    origin_of,
    sentence_of,
    validity_of,
)
from recollect.records import Memory, Message, Scope
from recollect.text.analysis import terms_of
from recollect.text.passages import WHOLE_CHARACTERS_MAX
from recollect.text.searchable import message_text

COST_PER_TOKEN: Final = 0.004
COSTLY_TOKENS_MAX: Final = 300
FIRST_ENTRIES: Final = 3
FIRST_TOKENS: Final = 300
LATER_TOKENS: Final = 120
FIRST_ANSWER_TOKENS: Final = 700
LATER_ANSWER_TOKENS: Final = 200
"""Where the query asks for what the assistant said: lists and drafts are long."""
LINE_TOKENS_MIN: Final = 12
PASSED_OVER_MAX: Final = 40
"""Once so many in a row found no room, none behind them is tried."""
INDENTED: Final = 0.9
"""The share of the remaining budget that an excerpt may cost; indenting its lines adds tokens."""


def entries_that_fit(
    plan: ContextPlan,
    bearing: Sequence[Recalled],
    weights: Mapping[int, float],
    handle: Handles,
    room: TokenRoom,
) -> tuple[list[ContextEntry], list[LeftOut]]:
    """Return the entries that fit, the best that their cost allows first, and the others."""
    entries, over = list[ContextEntry](), list[LeftOut]()
    first, later = (
        (FIRST_ANSWER_TOKENS, LATER_ANSWER_TOKENS)
        if plan.asks_for_answers
        else (FIRST_TOKENS, LATER_TOKENS)
    )
    told, passed_over = _Told(), 0
    for each in _by_cost(bearing, room.count):
        if room.tokens < LINE_TOKENS_MIN or passed_over >= PASSED_OVER_MAX:
            over.append(LeftOut(entry=each.entry, reason="budget"))
            continue
        if told.says(each):
            over.append(LeftOut(entry=each.entry, reason="repeats"))
            continue
        most = first if len(entries) < FIRST_ENTRIES else later
        line = None if each.exceeds(room.tokens) else _line(each, weights, handle, room, most)
        if line is None:
            passed_over += 1
            over.append(LeftOut(entry=each.entry, reason="budget"))
            continue
        passed_over = 0
        told.keep(each)
        entries.append(line)
    return entries, over


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An entry that may be shown, the text by which it was found, and what that costs."""

    entry: Recalled
    text: str
    tokens: int

    def exceeds(self, tokens: int) -> bool:
        """Return True if it is a message that cannot be cut, and costs more than *tokens*."""
        return (
            self.tokens > tokens
            and len(self.text) <= WHOLE_CHARACTERS_MAX
            and isinstance(self.entry.content, Message)
            and self.entry.content.name is None
        )


def _line(
    candidate: _Candidate, weights: Mapping[int, float], handle: Handles, room: TokenRoom, most: int
) -> ContextEntry | None:
    """Return what is shown of an entry, in *most* tokens, and pay it; None without room."""
    entry = candidate.entry
    name, heading = handle.of(entry.scope, entry.source), heading_above(entry)
    left = room.tokens - room.cost_above(heading)
    within = int((left - room.cost_of(line_of(name, "assistant: "))) * INDENTED)
    text, is_whole = _words(candidate, weights, min(most, within), room.count)
    cost = room.tokens - left + room.cost_of(line_of(name, text))
    if cost > room.tokens:
        return None
    room.pay(cost, heading)
    return ContextEntry(handle=name, entry=entry, text=text, is_excerpt=not is_whole, tokens=cost)


def _by_cost(bearing: Sequence[Recalled], count: TokenCounter) -> list[_Candidate]:
    """Return the entries by their place less what they cost, those in force before those ended."""
    scores = _falling([each.score for each in bearing])
    keyed = []
    for place, (score, entry) in enumerate(zip(scores, bearing, strict=True)):
        text = entry.text
        tokens = count(text)
        price = COST_PER_TOKEN * min(tokens, COSTLY_TOKENS_MAX)
        keyed.append((price - score, place, _Candidate(entry, text, tokens)))
    return [each for _, _, each in sorted(keyed, key=itemgetter(0, 1))]


def _falling(scores: Sequence[float]) -> list[float]:
    """Return scores that never rise: a memory that was put forward takes the score behind it."""
    found = list(scores)
    for at in range(len(found) - 2, -1, -1):
        found[at] = max(found[at], found[at + 1])
    return found


def _words(
    candidate: _Candidate, weights: Mapping[int, float], budget: int, count: TokenCounter
) -> tuple[str, bool]:
    """Return what is shown of an entry, and whether it is all of it."""
    content = candidate.entry.content
    if isinstance(content, Memory):
        return shown(_told_memory(content)), True
    if content.name is None and candidate.tokens <= budget:
        return shown(f"{content.role}: {candidate.text}"), True
    text = message_text(content.text, None, content.content)
    excerpt = excerpt_of(text, weights, budget_tokens=budget, count=count)
    return shown(f"{content.name or content.role}: {excerpt.text}"), excerpt.is_whole


def _told_memory(memory: Memory) -> str:
    sentence = memory_sentence(memory.value, memory.text)
    chinese = is_chinese(sentence)
    notes = [validity_of(memory, chinese=chinese), origin_of(memory, chinese=chinese)]
    told = "; ".join(filter(None, notes))
    who = f"{memory.speaker}: " if memory.speaker else ""
    return f"{who}{sentence} ({told})" if told else f"{who}{sentence}"


class _Told:
    """The entries that are shown, asked whether a further one only repeats them."""

    def __init__(self) -> None:
        self._by_message: dict[tuple[Scope, str, str], set[str]] = {}
        self._said: set[tuple[Scope, str]] = set()

    def keep(self, candidate: _Candidate) -> None:
        """Note that an entry is shown."""
        entry, content = candidate.entry, candidate.entry.content
        self._said.add((entry.scope, self._words(candidate)))
        if not isinstance(content, Memory):
            return
        words = set(terms_of(_told_memory(content)))
        if content.trust != "user":
            return  # what others made of a person's words does not stand for them
        for evidence in content.evidence.values():
            for each in evidence:
                known = self._by_message.setdefault((entry.scope, each.thread, each.message), set())
                known |= words

    def says(self, candidate: _Candidate) -> bool:
        """
        Return True if an entry says no more than those that are shown.

        A message does not if all its terms stand in a memory that rests on it.
        """
        entry, content = candidate.entry, candidate.entry.content
        if (entry.scope, self._words(candidate)) in self._said:
            return True
        if isinstance(content, Memory):
            return False
        told = self._by_message.get((entry.scope, content.thread, content.id))
        return told is not None and told >= set(
            terms_of(message_text(content.text, None, content.content))
        )

    @staticmethod
    def _words(candidate: _Candidate) -> str:
        content = candidate.entry.content
        if isinstance(content, Memory):
            said = sentence_of(content.value)
            return f"{content.valid_from} {content.valid_until} {said}".casefold()
        return f"{content.name or content.role} {candidate.text.strip()}".casefold()
