"""
What a context shows: the best of what was recalled, in as few words as say it, within a budget.

A memory and the messages that it rests on are one candidate: the memory's sentence stands where
the better ranked of them stood, and a message that says no more is left out. Long texts are shown
by the passages that bear on the query. The order and the sizes of excerpts are those that showed
most whole evidence on the development halves; see `docs/benchmarks.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from recollect.errors import UsageError
from recollect.ports import TokenCounter
from recollect.recall.context import (
    FRAME,
    Context,
    ContextEntry,
    Handles,
    LeftOut,
    LeftOutReason,
    ProfileDocument,
    heading_above,
    line_of,
    profile_heading,
    rendered,
    shown,
)
from recollect.recall.excerpts import excerpt_of, with_places
from recollect.recall.relevance import IDLE_BELOW
from recollect.recall.results import Recalled
from recollect.recall.sentences import day_of, is_chinese, memory_sentence, sentence_of, validity_of
from recollect.records import Json, Memory, Message, Revision, Scope
from recollect.text.analysis import fold, terms_of
from recollect.text.passages import WHOLE_CHARACTERS_MAX
from recollect.text.searchable import memory_text, message_text
from recollect.text.token_estimate import estimated_tokens

COST_PER_TOKEN: Final = 0.004
COSTLY_TOKENS_MAX: Final = 300
FIRST_ENTRIES: Final = 3
FIRST_TOKENS: Final = 300
LATER_TOKENS: Final = 120
FIRST_ANSWER_TOKENS: Final = 700
LATER_ANSWER_TOKENS: Final = 200
"""Where the query asks for what the assistant said: lists and drafts are long."""
PROFILE_SHARE: Final = 0.5
"""Of the budget a profile takes at most so much, once something else bears on the query."""
LINE_TOKENS_MIN: Final = 12
PASSED_OVER_MAX: Final = 40
"""Once so many in a row found no room, none behind them is tried."""
COUNTER_ERRORS: Final = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
)
"""What a tokenizer may raise that somebody else wrote."""
INDENTED: Final = 0.9
"""What an excerpt may cost of the room that is left: its lines will be indented."""
TAIL_BELOW: Final = 0.0007
TAIL_FROM: Final = 0.2
"""Entries so unlikely to bear are left out, if the best is at least so likely; else fewer are."""
SUMMARY_SHARE: Final = 0.5
"""Of the history's tokens a summary takes at most so much: a longer one is not told."""
MARKER_SLACK: Final = 4
"""How much more a marker may cost than the one of `FRAME`."""
_ASKS_FOR_HISTORY: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used to|originally|in the past|back then|earlier"
    r"|no longer|any ?more|still|history|chang\w*|switch\w*|mov(?:e|ed|ing)|replac\w*|since when"
    r"|how long|until when|last time)\b"
    r"|以前|之前|原来|原本|过去|曾经|从前|先前|变|改|换|搬|不再|还是|历史|多久|什么时候起",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """What a context is made for: see `Recollect.context` for each."""

    scope: Scope
    """Whose thread the prompt is part of."""
    query: str
    budget_tokens: int
    min_score: float | None = None
    idle_below: float = IDLE_BELOW
    asks_for_answers: bool = False
    known: frozenset[tuple[str, str]] = frozenset()
    """The messages of that scope that the prompt shows already, by thread and id."""
    said: tuple[str, ...] = ()
    """The texts that it shows already."""
    history: tuple[Message, ...] = ()
    former: Mapping[tuple[str, str], Revision] = field(default_factory=dict)
    """What a document said before, by type and key, where the query asks for it."""
    history_tokens: int = 0
    summary: str = ""
    """Of the thread, told where the history does not reach its beginning."""
    instructions: str = ""
    examples: tuple[str, ...] = ()
    awaits_vectors: bool = False
    secret: bytes = b""


@dataclass
class _Room:
    """What is left of a budget: lines are paid as they come, headings once."""

    tokens: int
    count: TokenCounter
    headings: set[str] = field(default_factory=set)

    def cost_above(self, heading: str) -> int:
        """Return what a heading costs, if it is not there yet."""
        return 0 if heading in self.headings else self.count(heading + "\n")

    def cost_of(self, line: str) -> int:
        """Return what a line costs."""
        return self.count(line + "\n")

    def pay(self, cost: int, heading: str) -> None:
        """Take *cost* off what is left."""
        self.tokens -= cost
        self.headings.add(heading)


def asks_for_history(query: str) -> bool:
    """Return True if *query* asks for what was, or for what has changed."""
    return bool(_ASKS_FOR_HISTORY.search(fold(query)))


def packed_context(
    plan: ContextPlan,
    ranked: Sequence[Recalled],
    weights: Mapping[int, float],
    documents: Sequence[Memory],
    count: TokenCounter,
) -> Context:
    """
    Return the context of *plan*, made of the *ranked* entries and the *documents* in force.

    Args:
        plan: What it is made for.
        ranked: What recall found, best first.
        weights: How much each term of the query tells, by its hash; see `Recall.term_weights`.
        documents: The profile.
        count: How many tokens a text costs.

    Raises:
        UsageError: *count* failed, or gave no whole number; or instructions and examples alone
            cost more than the budget.
    """
    count = _checked(count)
    weights = with_places(weights, plan.query)
    room = _Room(plan.budget_tokens - _given_tokens(plan, count), count)
    draft = _Draft(plan, count, *_history(plan, room))
    room.tokens -= count(FRAME) + MARKER_SLACK
    bearing, left_out = _bearing(plan, ranked, documents, draft.history)
    handle = Handles()
    draft.profile.extend(_profile(plan, documents, handle, room, is_alone=not bearing))
    entries, over = _entries(plan, bearing, weights, handle, room)
    draft.entries.extend(entries)
    over.extend(LeftOut(entry=each.entry, reason="budget") for each in draft.trimmed())
    return draft.context((*left_out, *over))


def _given_tokens(plan: ContextPlan, count: TokenCounter) -> int:
    """
    Return what instructions and examples cost.

    Raises:
        UsageError: It is more than the whole budget: they are the caller's, and never shortened.
    """
    tokens = sum(count(each) for each in (plan.instructions, *plan.examples) if each)
    if tokens > plan.budget_tokens:
        what = (
            f"instructions and examples cost {tokens} tokens, and budget_tokens is "
            f"{plan.budget_tokens}: shorten them, or allow more"
        )
        raise UsageError(what)
    return tokens


def _history(plan: ContextPlan, room: _Room) -> tuple[str, tuple[Message, ...]]:
    """Take the thread's newest messages off *room*, and its summary where they leave some out."""
    most = min(room.tokens, plan.history_tokens)
    messages = _newest_that_fit(plan.history, most, room.count)
    summary, cost = "", room.count(plan.summary) if plan.summary else 0
    if plan.summary and cost <= most * SUMMARY_SHARE and not _is_all(messages):
        summary, room.tokens = plan.summary, room.tokens - cost
        messages = _newest_that_fit(plan.history, most - cost, room.count)
    room.tokens -= sum(_message_cost(each, room.count) for each in messages)
    return summary, tuple(messages)


def _is_all(messages: Sequence[Message]) -> bool:
    """Return True if *messages* reach back to the first of their thread."""
    return bool(messages) and messages[0].position <= 1


@dataclass
class _Draft:
    """The parts of a context while they are chosen."""

    plan: ContextPlan
    count: TokenCounter
    summary: str
    history: tuple[Message, ...]
    profile: list[ProfileDocument] = field(default_factory=list)
    entries: list[ContextEntry] = field(default_factory=list)
    text: str = ""
    tokens: int = 0
    """What all parts cost, as they are rendered."""

    def trimmed(self) -> list[ContextEntry]:
        """
        Take the last entries out, then documents, until the whole is in the budget; return entries.

        Lines were paid one by one; a tokenizer may count them as more when they stand together.
        """
        taken = list[ContextEntry]()
        beside = self._beside()
        while True:
            text = rendered(self.profile, self.entries, self.plan.secret)
            self.text, self.tokens = text, beside + (self.count(text) if text else 0)
            if self.tokens <= self.plan.budget_tokens or not (self.profile or self.entries):
                return taken
            if self.entries:
                taken.append(self.entries.pop())
            else:
                self.profile.pop()

    def _beside(self) -> int:
        """Return what the parts cost that are no lines of the text."""
        texts = (self.summary, self.plan.instructions, *self.plan.examples)
        return sum(self.count(each) for each in texts if each) + self._history_tokens

    @cached_property
    def _history_tokens(self) -> int:
        return sum(_message_cost(each, self.count) for each in self.history)

    def _tokens_by_part(self) -> dict[str, int]:
        texts = {
            "profile": [self._text_of(self.profile, ())],
            "entries": [self._text_of((), self.entries)],
            "summary": [self.summary],
            "instructions": [self.plan.instructions],
            "examples": self.plan.examples,
        }
        parts = {name: sum(map(self.count, filter(None, many))) for name, many in texts.items()}
        parts["history"] = self._history_tokens
        return {name: tokens for name, tokens in parts.items() if tokens}

    def _text_of(self, profile: Sequence[ProfileDocument], entries: Sequence[ContextEntry]) -> str:
        """Return one of the two parts as text, which is the whole text where there is no other."""
        if len(profile) == len(self.profile) and len(entries) == len(self.entries):
            return self.text
        return rendered(profile, entries, self.plan.secret)

    def context(self, left_out: tuple[LeftOut, ...]) -> Context:
        """Return the context that these parts are, once they are `trimmed`."""
        plan = self.plan
        return Context(
            query=plan.query,
            profile=tuple(self.profile),
            entries=tuple(self.entries),
            summary=self.summary,
            history=self.history,
            instructions=plan.instructions,
            examples=plan.examples,
            left_out=left_out,
            tokens=self.tokens,
            tokens_by_part=self._tokens_by_part(),
            budget_tokens=plan.budget_tokens,
            awaits_vectors=plan.awaits_vectors,
            text=self.text,
        )


def _checked(count: TokenCounter) -> TokenCounter:
    if count is estimated_tokens:
        return count  # our own, which neither fails nor gives anything but whole numbers

    def checked(text: str) -> int:
        try:
            tokens: object = count(text)
        except COUNTER_ERRORS as error:
            what = f"the token counter failed on a text of {len(text)} characters: {error!r}"
            raise UsageError(what) from error
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            what = f"the token counter returned {tokens!r}: it must return a whole number from 0"
            raise UsageError(what)
        return tokens

    return checked


def _newest_that_fit(
    messages: Sequence[Message], tokens: int, count: TokenCounter
) -> Sequence[Message]:
    """Return the newest messages that cost no more than *tokens*, oldest first."""
    kept = 0
    for message in reversed(messages):
        tokens -= _message_cost(message, count)
        if tokens < 0:
            break
        kept += 1
    return messages[len(messages) - kept :]


def _message_cost(message: Message, count: TokenCounter) -> int:
    return count(message_text(message.text, message.name or message.role, message.content))


def _bearing(
    plan: ContextPlan,
    ranked: Sequence[Recalled],
    documents: Sequence[Memory],
    history: Sequence[Message],
) -> tuple[list[Recalled], list[LeftOut]]:
    """Return the entries that may be shown, best first, and those that may not."""
    best = max((each.relevance for each in ranked), default=0.0)
    if plan.min_score is None and best < plan.idle_below:
        return [], [LeftOut(entry=each, reason="score") for each in ranked]
    tail = TAIL_BELOW * min(1.0, best / TAIL_FROM) if plan.min_score is None else plan.min_score
    known = plan.known | {(each.thread, each.id) for each in history}
    said = {_plain(text) for text in (*plan.said, *(each.text for each in history))} - {""}
    addresses = {(each.scope, each.type, each.key) for each in documents}
    bearing, left_out = list[Recalled](), list[LeftOut]()
    for each in _memories_first(ranked):
        own = known if each.scope == plan.scope else frozenset()
        reason = _reason_against(each, tail, own, said)
        content = each.content
        if isinstance(content, Memory) and (content.scope, content.type, content.key) in addresses:
            continue
        if reason:
            left_out.append(LeftOut(entry=each, reason=reason))
        else:
            bearing.append(each)
    return bearing, left_out


def _reason_against(
    entry: Recalled, least: float, known: frozenset[tuple[str, str]], said: set[str]
) -> LeftOutReason | None:
    if entry.relevance < least:
        return "score"
    content = entry.content
    if isinstance(content, Message):
        is_known = (content.thread, content.id) in known or (
            bool(said) and _plain(content.text) in said
        )
        return "in the thread" if is_known else None
    rests_on = {(each.thread, each.message) for many in content.evidence.values() for each in many}
    return "in the thread" if rests_on and rests_on <= known else None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


def _memories_first(ranked: Sequence[Recalled]) -> list[Recalled]:
    """Return *ranked*, each memory at the place of the best ranked message that it rests on."""
    if not any(isinstance(each.content, Memory) for each in ranked):
        return list(ranked)
    place = {
        (each.scope, each.content.thread, each.content.id): at
        for at, each in enumerate(ranked)
        if isinstance(each.content, Message)
    }
    keyed = []
    for at, each in enumerate(ranked):
        best = at + 0.5
        if isinstance(each.content, Memory):
            for evidence in each.content.evidence.values():
                for rest in evidence:
                    best = min(best, place.get((each.scope, rest.thread, rest.message), best))
        keyed.append((best, at, each))
    return [each for _, _, each in sorted(keyed, key=_first_two)]


def _first_two(keyed: tuple[float, int, object]) -> tuple[float, int]:
    return keyed[:2]


def _profile(
    plan: ContextPlan,
    documents: Sequence[Memory],
    handle: Handles,
    room: _Room,
    *,
    is_alone: bool,
) -> Iterator[ProfileDocument]:
    """Yield the documents, with the fields that fit: those that bear on the query first."""
    share = room.tokens if is_alone else int(room.tokens * PROFILE_SHARE)
    asked = set(terms_of(plan.query))
    for memory in documents:
        name = handle.of(memory.scope, _source(memory))
        left = min(share, room.tokens) - room.count(profile_heading(name, memory) + "\n")
        former = plan.former.get((memory.type, memory.key))
        lines = [_field_line(key, value, memory, former) for key, value in memory.value.items()]
        lines = [each for each in lines if each]
        kept = set[int]()
        spent = 0
        for at in sorted(
            range(len(lines)), key=lambda at: (-len(asked & set(terms_of(lines[at]))), at)
        ):
            cost = room.count(lines[at] + "\n")
            if spent + cost <= left:
                spent += cost
                kept.add(at)
        if not kept:
            continue
        cost = spent + room.count(profile_heading(name, memory) + "\n")
        share -= cost
        room.tokens -= cost
        yield ProfileDocument(
            handle=name,
            memory=memory,
            fields=tuple(lines[at] for at in sorted(kept)),
            is_excerpt=len(kept) < len(lines),
            tokens=cost,
        )


def _field_line(name: str, value: Json, memory: Memory, former: Revision | None) -> str:
    """Return the line of a field, with what it said before, if that is known."""
    words = memory_text({name: value})
    before = former.value.get(name) if former else None
    if words and former and before not in (None, value):
        day = day_of(former.valid_until or memory.updated_at, chinese=is_chinese(words))
        was = memory_text({"": before}).removeprefix(": ")
        words += f" (至{day}: {was})" if is_chinese(words) else f" (until {day}: {was})"
    return f"- {shown(words)}" if words else ""


def _entries(
    plan: ContextPlan,
    bearing: Sequence[Recalled],
    weights: Mapping[int, float],
    handle: Handles,
    room: _Room,
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
    candidate: _Candidate, weights: Mapping[int, float], handle: Handles, room: _Room, most: int
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
    return [each for _, _, each in sorted(keyed, key=_first_two)]


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
    when = validity_of(memory, chinese=chinese)
    who = f"{memory.speaker}: " if memory.speaker else ""
    return f"{who}{sentence} ({when})" if when else f"{who}{sentence}"


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


def _source(memory: Memory) -> str:
    return f"{memory.type}/{memory.key}"
