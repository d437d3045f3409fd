"""Select the recalled entries that a context may show: relevant, and not in the prompt already."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Final

from recollect.recall.advice_requests import ADVICE_ENTRIES, tells_diet
from recollect.recall.coming_entries import entries_of_days
from recollect.recall.context import ContextEntry, LeftOut, LeftOutReason
from recollect.recall.context_plan import ContextPlan, MemoryName, memory_name
from recollect.recall.empty_turns import is_empty_answer, is_empty_turn, own_words, plain_words
from recollect.recall.restatements import without_restatements
from recollect.recall.results import Recalled
from recollect.records import Memory, Message
from recollect.stores.field_evidence import each_evidence
from recollect.stores.provenance import cited_message

TAIL_BELOW: Final = 0.0007
"""Relevance below which entries are left out, if the best one reaches ``TAIL_FROM``."""
TAIL_FROM: Final = 0.2
"""Relevance of the best entry below which ``TAIL_BELOW`` shrinks in proportion."""
AROUND_ENTRIES: Final = 10
"""Best entries whose neighbouring messages are shown as well if there is room."""
MEMORIES_ADDED: Final = 5
"""Further active memories that are shown if there is room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySelection:
    """
    The entries that may be shown, each list best first, and the others with their reasons.

    *ahead* go before the *bearing* ones; *beside* are worth their tokens if there is room.
    """

    ahead: list[Recalled] = field(default_factory=list)
    bearing: list[Recalled] = field(default_factory=list)
    beside: list[Recalled] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def select_entries(
    plan: ContextPlan,
    ranked: Sequence[Recalled],
    documents: Sequence[Memory],
    history: Sequence[Message],
) -> EntrySelection:
    """Return the entries that may be shown, and the others with their reasons."""
    best = max((each.relevance for each in ranked), default=0.0)
    is_idle = plan.min_score is None and best < plan.idle_below
    if is_idle and not plan.asks_for_advice:
        # All or nothing: a floor on single entries lost four points of LoCoMo's evidence.
        return EntrySelection(left_out=[LeftOut(entry=each, reason="score") for each in ranked])
    restating: list[Recalled] = []
    if not plan.asks_for_answers and plan.min_score is None:
        ranked, restating = without_restatements(ranked)
    reason_against = _Reasons(plan, ranked, history, _least_relevance(plan, best))
    # The profile shows the documents.
    addresses = set(map(memory_name, documents))
    ranked = [each for each in _memories_first(ranked) if _address(each) not in addresses]
    attitudes = _shown_attitudes(plan, ranked, addresses, reason_against)
    repeats = [LeftOut(entry=each, reason="repeats") for each in restating]
    if is_idle:
        advised = _advised(plan, ranked, attitudes)
        advised.left_out.extend(repeats)
        return advised
    # If the words of the query are found, only diets go before what bears on it.
    ahead = [each for each in attitudes if not plan.idle_below or tells_diet(each.text)]
    taken = set(map(id, ahead))
    coming = [each for each in entries_of_days(plan, ranked) if id(each) not in taken]
    ahead += [each for each in coming if reason_against(each) is None]
    chosen = EntrySelection(ahead=ahead, left_out=repeats)
    taken.update(map(id, ahead))
    for each in ranked:
        if id(each) in taken:
            continue
        if reason := reason_against(each):
            chosen.left_out.append(LeftOut(entry=each, reason=reason))
        else:
            chosen.bearing.append(each)
    taken.update(map(id, chosen.bearing))
    chosen.beside.extend(each for each in attitudes if id(each) not in taken)
    return chosen


def _shown_attitudes(
    plan: ContextPlan,
    ranked: Sequence[Recalled],
    addresses: AbstractSet[MemoryName],
    reason_against: _Reasons,
) -> list[Recalled]:
    """Return the plan's attitudes that may be shown, ranked as in *ranked* if they are there."""
    if not plan.attitudes:
        return []
    found = {(each.scope, each.source): each for each in ranked}
    return [
        found.get((each.scope, each.source), each)
        for each in plan.attitudes
        if _address(each) not in addresses
        and not plan.has_ended(each.content)
        # Advice rests on them whatever the query says, so that their relevance does not count.
        and reason_against(replace(each, relevance=1.0)) is None
    ]


def _least_relevance(plan: ContextPlan, best: float) -> float:
    """Return the relevance below which single entries are left out."""
    if plan.min_score is not None:
        return plan.min_score
    if plan.asks_for_news or plan.coming:
        return 0.0  # what changed, or is planned, shares no word with the question for it
    return TAIL_BELOW * min(1.0, best / TAIL_FROM)


def _advised(
    plan: ContextPlan, ranked: Sequence[Recalled], attitudes: Sequence[Recalled]
) -> EntrySelection:
    """Return the few entries for a request for advice whose words are not found."""
    taken = set(map(id, attitudes))
    others = [each for each in ranked if id(each) not in taken]
    memories = [each for each in others if _is_active(plan, each)]
    ahead = [*attitudes, *memories][:ADVICE_ENTRIES]
    taken.update(map(id, ahead))
    left_out = [LeftOut(entry=each, reason="score") for each in others if id(each) not in taken]
    return EntrySelection(ahead=ahead, left_out=left_out)


def _is_active(plan: ContextPlan, entry: Recalled) -> bool:
    return isinstance(entry.content, Memory) and not plan.has_ended(entry.content)


def _address(entry: Recalled) -> MemoryName | None:
    content = entry.content
    return memory_name(content) if isinstance(content, Memory) else None


def worth_adding(
    plan: ContextPlan, entries: Sequence[ContextEntry], selection: EntrySelection
) -> list[Recalled]:
    """
    Return entries left out for their score that are worth their tokens if the budget has room.

    The entries of *selection* beside, then the messages before and after the best ones, which may
    ask what those answer or correct them, and the best of the active memories.
    """
    if plan.min_score is not None or not entries or not selection.bearing:
        return []
    beside = {
        (each.entry.scope, content.thread, content.position + step)
        for each in entries[:AROUND_ENTRIES]
        if isinstance(content := each.entry.content, Message)
        for step in (-1, 1)
    }
    found, memories = list(selection.beside), len(selection.beside)
    for each in selection.left_out:
        content = each.entry.content
        if each.reason != "score":
            continue
        if isinstance(content, Message):
            place = each.entry.scope, content.thread, content.position
            is_beside = place in beside and not says_nothing(plan, content)
            found += [each.entry] if is_beside else []
        elif memories < MEMORIES_ADDED and not plan.has_ended(content):
            memories += 1
            found.append(each.entry)
    return found


def replies_among(entries: Sequence[ContextEntry], left_out: Sequence[LeftOut]) -> list[Recalled]:
    """
    Return the messages that were left out as repeating a memory, and reply to a shown answer.

    "No, once a day" repeats what is known by now, but without it the answer seems to stand.
    """
    answers = {
        (each.entry.scope, content.thread, content.position)
        for each in entries
        if isinstance(content := each.entry.content, Message) and content.role == "assistant"
    }
    return [
        each.entry
        for each in left_out
        if each.reason == "repeats"
        and isinstance(content := each.entry.content, Message)
        and (each.entry.scope, content.thread, content.position - 1) in answers
    ]


class _Reasons:
    """Returns the reason against an entry; ``None`` if it may be shown."""

    def __init__(
        self,
        plan: ContextPlan,
        ranked: Sequence[Recalled],
        history: Sequence[Message],
        least: float,
    ) -> None:
        self._plan = plan
        self._least = least
        # The prompt shows the query: the same question, asked before, would only repeat it.
        texts = (plan.query, *plan.said, *(each.text for each in history))
        said = {plain_words(text) for text in texts} - {""}
        initials = {each[0] for each in said}
        self._same = {
            (each.scope, content.thread, content.id)
            for each in (*ranked, *plan.attitudes)
            if isinstance(content := each.content, Message)
            and _may_begin_with(content.text, initials)
            and plain_words(content.text) in said
        }
        # A memory that rests on a text that the prompt shows says nothing new either.
        same = ((thread, id_) for scope, thread, id_ in self._same if scope == plan.scope)
        self._known = {*plan.known, *((each.thread, each.id) for each in history), *same}

    def __call__(self, entry: Recalled) -> LeftOutReason | None:
        # Check for text in the prompt first: only entries left out for their score may return.
        if self._is_in_prompt(entry):
            return "in the thread"
        content = entry.content
        if isinstance(content, Message) and not own_words(content).strip():
            return "repeats"
        is_left_out = entry.relevance < self._least or says_nothing(self._plan, content)
        return "score" if is_left_out else None

    def _is_in_prompt(self, entry: Recalled) -> bool:
        content = entry.content
        known = self._known if entry.scope == self._plan.scope else frozenset[tuple[str, str]]()
        if isinstance(content, Message):
            place = content.thread, content.id
            return place in known or (entry.scope, *place) in self._same
        rests_on = set(map(cited_message, each_evidence(content.evidence)))
        return bool(rests_on) and rests_on <= known


def _may_begin_with(text: str, initials: AbstractSet[str]) -> bool:
    """Return False if the plain words of *text* begin with none of *initials*, as most do."""
    first = text[:1]
    # A second character that is not ASCII may be an accent of the first.
    return not text[:2].isascii() or not first.isalnum() or first.lower() in initials


def says_nothing(plan: ContextPlan, content: Message | Memory) -> bool:
    """Return True for pleasantries, and for a user's question about what is remembered."""
    if isinstance(content, Memory):
        return False
    # Who asks for earlier answers, or for all entries of a relevance, gets their questions too.
    keeps_turns = plan.asks_for_answers or plan.min_score is not None
    return is_empty_answer(content) or (not keeps_turns and is_empty_turn(content))


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
        best = at + 0.5  # a memory stays behind the entry at its own place
        if isinstance(each.content, Memory):
            for cited in each_evidence(each.content.evidence):
                best = min(best, place.get((each.scope, *cited_message(cited)), best))
        keyed.append((best, at, each))
    return [each for _, _, each in sorted(keyed, key=itemgetter(0, 1))]
