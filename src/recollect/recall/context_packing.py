"""
Pack a context: profile, history and the best recalled entries, within a token budget.

A memory takes the place of the best ranked message that it rests on, and a message that says no
more than the memory is left out. Of long texts the passages that bear on the query are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from recollect.errors import UsageError
from recollect.ports import TokenCounter
from recollect.recall.context import Context, ContextEntry, LeftOut, ProfileDocument
from recollect.recall.context_entries import LINE_TOKENS_MIN, EntryPacker, Handles
from recollect.recall.context_plan import ContextPlan, TokenRoom, checked_counter, memory_name
from recollect.recall.context_selection import replies_among, select_entries, worth_adding
from recollect.recall.context_text import FRAME, profile_heading, rendered, safe_lines
from recollect.recall.excerpts import with_places
from recollect.recall.field_changes import FieldChange
from recollect.recall.memory_sentences import WAITING, day_of
from recollect.recall.results import Recalled
from recollect.records import Json, Memory, Message, Revision
from recollect.text.analysis import terms_of
from recollect.text.searchable import memory_text, message_text

PROFILE_SHARE: Final = 0.5
"""Share of the budget that a profile may take if entries bear on the query as well."""
SUMMARY_SHARE: Final = 0.5
"""Share of ``history_tokens`` that a summary may cost; a longer one is left out."""
FILLS_MAX: Final = 4
"""Maximum of passes over the entries; each spends tokens that the previous one overestimated."""
MARKER_SLACK: Final = 4
"""Tokens that a marker may cost beyond the placeholder in `FRAME`, by the caller's counter."""


def packed_context(
    plan: ContextPlan,
    ranked: Sequence[Recalled],
    weights: Mapping[int, float],
    documents: Sequence[Memory],
    count: TokenCounter,
) -> Context:
    """
    Return the context of *plan*, made of the *ranked* entries and the active *documents*.

    Args:
        plan: The query, the budget and the texts that the prompt shows already.
        ranked: The recalled entries, best first.
        weights: The weight of each query term, by its hash; see `Recall.term_weights`.
        documents: The active documents, which make the profile.
        count: Returns the number of tokens of a text.

    Raises:
        UsageError: *count* failed or did not return a whole number; or instructions and examples
            alone cost more than the budget.
    """
    count = checked_counter(count)
    weights = with_places(weights, plan.query)
    room = TokenRoom(plan.budget_tokens - _given_tokens(plan, count), count)
    draft = _Draft(plan, count, *_history(plan, room))
    room.tokens -= count(FRAME) + MARKER_SLACK
    chosen = select_entries(plan, ranked, documents, draft.history)
    handle = Handles()
    is_alone = not (chosen.ahead or chosen.bearing)
    draft.profile.extend(profile_documents(plan, documents, handle, room, is_alone=is_alone))
    packer = EntryPacker(plan, weights, handle, count)
    draft.entries = packer.entries
    packer.add_ahead(chosen.ahead)
    packer.add(chosen.bearing)
    _fill(packer, draft, room)
    left_out: Sequence[LeftOut] = chosen.left_out
    has_room = room.tokens >= LINE_TOKENS_MIN
    if has_room and (added := worth_adding(plan, draft.entries, chosen)):
        own = {id(each) for each in added}
        left_out = [each for each in left_out if id(each.entry) not in own]
        packer.add(added)
        _fill(packer, draft, room)
    if has_room and (replies := replies_among(draft.entries, packer.left_out)):
        packer.add(replies, may_repeat=True)
        _fill(packer, draft, room)
    trimmed = [LeftOut(entry=each.entry, reason="budget") for each in draft.trimmed()]
    return draft.context((*left_out, *packer.left_out, *trimmed))


def _fill(packer: EntryPacker, draft: _Draft, room: TokenRoom) -> None:
    """Choose entries for *draft* until the room is spent."""
    for _ in range(FILLS_MAX):
        if not packer.fill(room):
            break
        # A line was charged by itself, rounded up and with its speaker: the text costs less.
        room.tokens = draft.plan.budget_tokens - draft.render()


def _given_tokens(plan: ContextPlan, count: TokenCounter) -> int:
    """
    Return the cost of instructions and examples, which are never shortened.

    Raises:
        UsageError: They cost more than the whole budget.
    """
    tokens = sum(count(each) for each in (plan.instructions, *plan.examples) if each)
    if tokens > plan.budget_tokens:
        raise UsageError(
            f"instructions and examples cost {tokens} tokens, and budget_tokens is "
            f"{plan.budget_tokens}: shorten them, or allow more"
        )
    return tokens


def _history(plan: ContextPlan, room: TokenRoom) -> tuple[str, tuple[Message, ...]]:
    """
    Return the thread's newest messages that fit, and charge them to *room*.

    If they do not reach the beginning of the thread, its summary takes the place of some of them.
    """
    most = min(room.tokens, plan.history_tokens)
    messages = _newest_that_fit(plan.history, most, room.count)
    reaches_back = bool(messages) and messages[0].position <= 1
    summary, cost = "", room.count(plan.summary) if plan.summary else 0
    if plan.summary and cost <= most * SUMMARY_SHARE and not reaches_back:
        summary, room.tokens = plan.summary, room.tokens - cost
        messages = _newest_that_fit(plan.history, most - cost, room.count)
    room.tokens -= sum(_message_cost(each, room.count) for each in messages)
    return summary, tuple(messages)


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
    """The cost of all rendered parts."""
    rendered_size: tuple[int, int] | None = None
    """The number of documents and entries that `text` holds."""

    def render(self) -> int:
        """Render the text, if an entry or a document was added or removed; return all tokens."""
        size = len(self.profile), len(self.entries)
        if self.rendered_size != size:
            text = self._rendered(self.profile, self.entries)
            self.text, self.tokens = text, self._fixed_cost() + (self.count(text) if text else 0)
            self.rendered_size = size
        return self.tokens

    def trimmed(self) -> list[ContextEntry]:
        """
        Drop the last entries, then documents, until the whole fits; return the dropped entries.

        Lines were charged one by one, but a tokenizer may count more for the joined text.
        """
        taken = list[ContextEntry]()
        while self.render() > self.plan.budget_tokens and (self.profile or self.entries):
            if self.entries:
                taken.append(self.entries.pop())
            else:
                self.profile.pop()
        return taken

    def _fixed_cost(self) -> int:
        """Return the cost of the parts beside the text: summary, given texts and history."""
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
        """Render one of the two parts alone; the text itself if the other one is empty."""
        if len(profile) == len(self.profile) and len(entries) == len(self.entries):
            return self.text
        return self._rendered(profile, entries)

    def _rendered(self, profile: Sequence[ProfileDocument], entries: Sequence[ContextEntry]) -> str:
        return rendered(profile, entries, self.plan.secret, chinese=self.plan.is_chinese)

    def context(self, left_out: tuple[LeftOut, ...]) -> Context:
        """Return the finished context; call `trimmed` first."""
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


def profile_documents(
    plan: ContextPlan,
    documents: Sequence[Memory],
    handle: Handles,
    room: TokenRoom,
    *,
    is_alone: bool,
) -> Iterator[ProfileDocument]:
    """
    Yield each document with the fields that fit, and charge them to *room*.

    Fields that share words with the query are preferred; those shown keep their order.
    """
    share = room.tokens if is_alone else int(room.tokens * PROFILE_SHARE)
    asked = set(terms_of(plan.query))
    for memory in documents:
        name = handle.of(memory.scope, f"{memory.type}/{memory.key}")
        heading = room.count(profile_heading(name, memory, chinese=plan.is_chinese) + "\n")
        left = min(share, room.tokens) - heading
        former = plan.former.get(memory_name(memory))
        lines = [_field_line(plan, memory, each, former) for each in memory.value]
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
        cost = spent + heading
        share -= cost
        room.tokens -= cost
        yield ProfileDocument(
            handle=name,
            memory=memory,
            fields=tuple(lines[at] for at in sorted(kept)),
            is_excerpt=len(kept) < len(lines),
            tokens=cost,
        )


def _listed(value: Json) -> Json:
    """Join a list of texts by semicolons if one has a comma; return other values as they are."""
    if not isinstance(value, list | tuple):
        return value
    texts = [each for each in value if isinstance(each, str)]
    has_commas = any(re.search("[,，]", each) for each in texts)
    return "; ".join(texts) if has_commas and len(texts) == len(value) else value


def _change_note(change: FieldChange, *, chinese: bool) -> str:
    """Return the days of a change, as they stand before the former value."""
    since = day_of(change.since, chinese=chinese) if change.since else ""
    until = day_of(change.until, chinese=chinese) if change.until else ""
    ended = f"至{until}" if chinese else f"until {until}"
    if not until or until == since:
        ended = "之前" if chinese else "before"
    begun = f"自{since}；" if chinese else f"since {since}; "
    return f"{begun}{ended}" if since else ended


def _field_line(plan: ContextPlan, memory: Memory, name: str, former: Revision | None) -> str:
    """
    Return the line of a field, marked if a change of it waits for review.

    It includes the field's previous value and when that ended, if *former* has one.
    """
    value, chinese = memory.value[name], plan.is_chinese
    words = memory_text({name: _listed(value)})
    before = former.value.get(name) if former else None
    if isinstance(before, list | tuple) and isinstance(value, list | tuple):
        before = [each for each in before if each not in value] or None
    if words and former and before not in (None, value):
        changes = plan.changes.get(memory_name(memory), {})
        change = changes.get(name) or FieldChange(until=former.valid_until or memory.updated_at)
        was = memory_text({"": before}).removeprefix(": ")
        words += f" ({_change_note(change, chinese=chinese)}: {was})"
    waiting = plan.waiting.get(memory_name(memory), ())
    if words and name in waiting:
        words += f" ({WAITING[chinese]})"
    return f"- {safe_lines(words)}" if words else ""
