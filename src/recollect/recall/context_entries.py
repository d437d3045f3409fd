"""
Choose the entries of a context: the best ones for their cost, each in as few words as possible.

Each gets a handle, the short name by which the text cites its source.

The price of a token and the sizes of excerpts are those that showed the most whole evidence on the
development halves of public sets; see `docs/benchmarks_context.md`.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b32encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from typing import Final

from recollect.ports import TokenCounter
from recollect.recall.context import ContextEntry, LeftOut
from recollect.recall.context_plan import ContextPlan, TokenRoom, memory_name
from recollect.recall.context_text import GAP, clock_above, heading_above, line_of, safe_lines
from recollect.recall.empty_turns import own_words
from recollect.recall.excerpts import excerpt_of
from recollect.recall.memory_sentences import (
    WAITING,
    memory_sentence,
    origin_of,
    sentence_of,
    sentence_with_type,
    validity_of,
)
from recollect.recall.results import Recalled, ScopedMessage
from recollect.records import Memory, Message, Revision, Scope
from recollect.stores.fast_records import maker_of
from recollect.stores.field_evidence import each_evidence
from recollect.text.analysis import terms_of
from recollect.text.lapsed_mark import LAPSED
from recollect.text.passages import WHOLE_CHARACTERS_MAX

_HANDLE_LENGTH: Final = 4
COST_PER_TOKEN: Final = 0.004
"""Score that an entry must have more than another for each token that it costs more."""
COSTLY_TOKENS_MAX: Final = 400
"""Tokens beyond this add nothing to the price: longer entries are shown as excerpts."""
FIRST_ENTRIES: Final = 10
"""Entries whose excerpts may be longer, because they are the likeliest to hold the answer."""
FIRST_TOKENS: Final = 300
LATER_TOKENS: Final = 120
"""Cost of an excerpt at most: of the first entries, and of the later ones."""
FIRST_ANSWER_TOKENS: Final = 700
LATER_ANSWER_TOKENS: Final = 200
"""The same if the query asks for an assistant's answer: lists and drafts are long."""
LINE_TOKENS_MIN: Final = 12
"""No entry is tried with fewer tokens left: a handle, a speaker and a few words cost as much."""
PASSED_OVER_MAX: Final = 40
"""Stop after this many entries in a row that did not fit."""
INDENTED: Final = 0.9
"""Share of the remaining budget that an excerpt may cost: indenting its lines adds tokens."""


class EntryPacker:
    """Chooses the entries of a context; `fill` may be called again once there is more room."""

    def __init__(
        self,
        plan: ContextPlan,
        weights: Mapping[int, float],
        handle: Handles,
        count: TokenCounter,
    ) -> None:
        self._weights = weights
        self._plan = plan
        self._chinese = plan.is_chinese
        self._handle = handle
        self._first, self._later = (
            (FIRST_ANSWER_TOKENS, LATER_ANSWER_TOKENS)
            if plan.asks_for_answers
            else (FIRST_TOKENS, LATER_TOKENS)
        )
        self._count = count
        self._waiting = list[_Candidate]()
        self._shown = _ShownEntries()
        self._repeats = list[LeftOut]()
        self.entries = list[ContextEntry]()
        """The entries that fit, in the order they were chosen."""

    @property
    def left_out(self) -> list[LeftOut]:
        """The other entries, with their reasons."""
        over = (LeftOut(entry=each.entry, reason="budget") for each in self._waiting)
        return [*self._repeats, *over]

    def add_ahead(self, first: Sequence[Recalled]) -> None:
        """Let the next `fill` choose among *first*, in their order."""
        self._waiting += [candidate for _, candidate in _priced(first, self._count)]

    def add(self, more: Sequence[Recalled], *, may_repeat: bool = False) -> None:
        """Offer *more* entries to the next `fill`; with *may_repeat* also repeating ones."""
        ordered = _memories_before_repeats(_ordered_by_value(more, self._count))
        if may_repeat:
            ordered = [replace(each, may_repeat=True) for each in ordered]
            own = {id(each) for each in more}
            self._repeats = [each for each in self._repeats if id(each.entry) not in own]
        self._waiting += ordered

    def fill(self, room: TokenRoom) -> bool:
        """Add the entries that fit, the best ones first; return True if there was any."""
        before, passed_over, waiting = len(self.entries), 0, list[_Candidate]()
        for at, each in enumerate(self._waiting):
            if room.tokens < LINE_TOKENS_MIN or passed_over >= PASSED_OVER_MAX:
                waiting += self._waiting[at:]
                break
            if not each.may_repeat and self._shown.repeats(each):
                self._repeats.append(LeftOut(entry=each.entry, reason="repeats"))
            elif (line := self._line(each, room)) is None:
                passed_over += 1
                waiting.append(each)
            else:
                passed_over = 0
                self._shown.add(each)
                self.entries.append(line)
        self._waiting = waiting
        return len(self.entries) > before

    def _line(self, candidate: _Candidate, room: TokenRoom) -> ContextEntry | None:
        """Return an entry as shown, and charge it to *room*; ``None`` if it does not fit."""
        if candidate.exceeds(room.tokens):
            return None
        entry = candidate.entry
        name = self._handle.of(entry.scope, entry.source)
        has_ended = self._plan.has_ended(entry.content)
        heading = heading_above(entry, has_ended=has_ended, chinese=self._chinese)
        hour = f"{heading} {entry.time.hour}"
        left = room.tokens - room.cost_above(heading) - _clock_cost(entry, heading, hour, room)
        within = int((left - room.cost_of(line_of(name, "assistant: "))) * INDENTED)
        most = min(within, self._first if len(self.entries) < FIRST_ENTRIES else self._later)
        text, is_whole = self._shown_text(candidate, most, room.count)
        cost = room.tokens - left + room.cost_of(GAP + line_of(name, text))
        if cost > room.tokens:
            return None
        room.pay(cost, heading, hour)
        return _SHOWN((name, entry, text, not is_whole, cost, has_ended))

    def _shown_text(
        self, candidate: _Candidate, budget: int, count: TokenCounter
    ) -> tuple[str, bool]:
        """Return the text shown of an entry within *budget* tokens, and whether it is complete."""
        content = candidate.entry.content
        if isinstance(content, Memory):
            name = memory_name(content)
            former, waits = self._plan.former.get(name), name in self._plan.waiting
            noted = _sentence_with_notes(content, former, chinese=self._chinese, waits=waits)
            speaker = content.speaker or self._plan.speakers.get(name)
            return safe_lines(f"{speaker}: {noted}" if speaker else noted), True
        mark = f" ({LAPSED[self._chinese]})" if candidate.entry.has_lapsed else ""
        if content.name is None and candidate.tokens <= budget and not mark:
            return safe_lines(f"{content.role}: {candidate.text}"), True
        text = own_words(content)
        budget -= count(mark) if mark else 0
        excerpt = excerpt_of(text, self._weights, budget_tokens=budget, count=count)
        words = f"{content.name or content.role}: {excerpt.text}{mark}"
        return safe_lines(words), excerpt.is_whole


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An entry that may be shown, with the text by which it was found and that text's cost."""

    entry: Recalled
    text: str
    tokens: int
    compared: tuple[Scope, str]
    """Its scope and folded text: another entry with the same pair repeats it."""
    may_repeat: bool = False

    def exceeds(self, tokens: int) -> bool:
        """Return True if it is a message of one passage that costs more than *tokens*."""
        return (
            self.tokens > tokens
            and len(self.text) <= WHOLE_CHARACTERS_MAX
            and isinstance(self.entry.content, Message)
            and self.entry.content.name is None
        )


# A context makes a hundred of both: `maker_of` skips the costly constructors.
_CANDIDATE: Final = maker_of(_Candidate)
_SHOWN: Final = maker_of(ContextEntry)


def _clock_cost(entry: Recalled, heading: str, hour: str, room: TokenRoom) -> int:
    """Return the cost of a message at an *hour* that its shown day lacks: at most two clocks."""
    is_session = isinstance(entry.content, Message) and heading in room.headings
    return 2 * room.cost_of(clock_above(entry)) if is_session and hour not in room.headings else 0


def _ordered_by_value(bearing: Sequence[Recalled], count: TokenCounter) -> list[_Candidate]:
    """Return the entries by their score less the price of their tokens, highest first."""
    scores = _non_increasing([each.score for each in bearing])
    priced = zip(scores, _priced(bearing, count), strict=True)
    keyed = [(price - score, candidate) for score, (price, candidate) in priced]
    return [each for _, each in sorted(keyed, key=itemgetter(0))]


def _priced(entries: Sequence[Recalled], count: TokenCounter) -> list[tuple[float, _Candidate]]:
    found = []
    for entry in entries:
        text = _own_text(entry.content)
        tokens = count(text)
        price = COST_PER_TOKEN * min(tokens, COSTLY_TOKENS_MAX)
        compared = entry.scope, _compared_text(entry.content, text)
        found.append((price, _CANDIDATE((entry, text, tokens, compared, False))))
    return found


def _memories_before_repeats(ordered: list[_Candidate]) -> list[_Candidate]:
    """Move each memory before the first message that adds nothing to it."""
    if not any(isinstance(each.entry.content, Memory) for each in ordered):
        return ordered
    said = {
        (each.entry.scope, content.thread, content.id): (place, content)
        for place, each in enumerate(ordered)
        if isinstance(content := each.entry.content, Message)
    }
    keyed = []
    for place, each in enumerate(ordered):
        messages, terms = _replaced_words(each.entry)
        earlier = (said[one] for one in messages if one in said and said[one][0] < place)
        repeats = (at - 0.5 for at, message in earlier if terms >= _message_terms(message))
        keyed.append((min(repeats, default=float(place)), each))
    return [each for _, each in sorted(keyed, key=itemgetter(0))]


def _replaced_words(entry: Recalled) -> tuple[list[ScopedMessage], set[str]]:
    """Return the messages that a memory may hide, and its terms."""
    content = entry.content
    # Only a memory of trusted words may hide the message it rests on: a document or a tool
    # could otherwise replace what the user said.
    if not isinstance(content, Memory) or content.trust != "user":
        return [], set()
    cited = each_evidence(content.evidence)
    messages = [(entry.scope, each.thread, each.message) for each in cited]
    return messages, set(terms_of(f"{content.speaker or ''} {_sentence_with_notes(content)}"))


def _message_terms(content: Message) -> set[str]:
    return set(terms_of(own_words(content)))


def _own_text(content: Message | Memory) -> str:
    """Return the text by which an entry was found, without what its speaker repeats."""
    if isinstance(content, Memory):
        return content.text
    words = own_words(content)
    return f"{content.name}: {words}" if content.name else words


def _compared_text(content: Message | Memory, text: str) -> str:
    if isinstance(content, Memory):
        sentence = sentence_of(content.value)
        return f"{content.valid_from} {content.valid_until} {sentence}".casefold()
    return f"{content.name or content.role} {text.strip()}".casefold()


def _non_increasing(scores: Sequence[float]) -> list[float]:
    """Raise each score to the highest behind it: a memory that was moved up gets its place's."""
    found = list(scores)
    for at in range(len(found) - 2, -1, -1):
        found[at] = max(found[at], found[at + 1])
    return found


def _sentence_with_notes(
    memory: Memory, former: Revision | None = None, *, chinese: bool = False, waits: bool = False
) -> str:
    sentence = sentence_with_type(memory)
    before = memory_sentence(former.value, "") if former else ""
    when = "" if _has_own_day(sentence, memory) else validity_of(memory, chinese=chinese)
    notes = [when, origin_of(memory, chinese=chinese)]
    if before not in {"", sentence}:
        notes.append(f"之前：{before}" if chinese else f"before: {before}")
    if waits:
        notes.append(WAITING[chinese])
    aside = "; ".join(filter(None, notes))
    content = memory.value.get("content")
    if isinstance(content, str) and sentence.startswith(f"{content} (") and aside:
        sentence = f"{sentence[:-1]}; {aside})"  # one bracket for a note's context and its dates
    elif aside and not sentence.endswith(f"({aside})"):
        sentence += f" ({aside})"
    return sentence


def _has_own_day(sentence: str, memory: Memory) -> bool:
    """Return True if a sentence, as "On 3 April 2025 Ada moved", needs no date of its words."""
    if memory.valid_from or memory.valid_until:
        return False
    days = (validity_of(memory, chinese=each) for each in (False, True))
    places = (sentence.find(day) for day in days if day)
    return any(at == 0 or (at > 0 and not sentence[at - 1].isdigit()) for at in places)


class _ShownEntries:
    """The entries shown so far, to check whether a further one only repeats them."""

    def __init__(self) -> None:
        self._terms_by_message: dict[ScopedMessage, set[str]] = {}
        self._texts: set[tuple[Scope, str]] = set()

    def add(self, candidate: _Candidate) -> None:
        self._texts.add(candidate.compared)
        messages, terms = _replaced_words(candidate.entry)
        for message in messages:
            self._terms_by_message.setdefault(message, set()).update(terms)

    def repeats(self, candidate: _Candidate) -> bool:
        """
        Return True if an entry adds nothing to the shown ones.

        That is: it has the text of a shown one, or is a message whose terms all occur in shown
        memories that cite it.
        """
        entry, content = candidate.entry, candidate.entry.content
        if candidate.compared in self._texts:
            return True
        if isinstance(content, Memory):
            return False
        known = self._terms_by_message.get((entry.scope, content.thread, content.id))
        return known is not None and known >= _message_terms(content)


@lru_cache(maxsize=4_096)
def _letters_of(scope: Scope, source: str) -> str:
    digest = hashlib.blake2b(json.dumps((scope, source)).encode(), digest_size=20).digest()
    return b32encode(digest).decode().lower()


class Handles:
    """
    The short names of sources in one context: four letters and digits, more if two clash.

    A handle is a prefix of the source's hash, so that it is the same in every context, except where
    the context has another source with the same prefix.
    """

    def __init__(self) -> None:
        self._taken: dict[str, tuple[Scope, str]] = {}

    def of(self, scope: Scope, source: str) -> str:
        """Return the handle of a source, thread/message or type/key, of a scope."""
        name, every = (scope, source), _letters_of(scope, source)
        length = _HANDLE_LENGTH
        while self._taken.setdefault(every[:length], name) != name:
            length += 1
        return every[:length]
