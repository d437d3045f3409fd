"""Later words: what was said about the same as a memory, after it began to wait for review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias

from recollect.formation.review_records import LaterWords
from recollect.formation.rivals import is_single, subject_key
from recollect.formation.similarity_groups import AlikeWords
from recollect.formation.succession import has_ended, told_at
from recollect.formation.told_times import ToldTimes
from recollect.formation.types import MemoryType
from recollect.records import Evidence, Memory, MemoryAddress, Revision
from recollect.stores.field_evidence import MessageTimes, place_evidence
from recollect.stores.json_pointers import join_pointer
from recollect.stores.proposal_names import proposed_for
from recollect.stores.provenance import cited_message
from recollect.stores.remainder import ORIGIN_QUOTE

LATER_MAX: Final = 5
"""Most later words that are shown beside one memory, the newest ones."""
Because: TypeAlias = Mapping[MemoryAddress, Sequence[tuple[str, str]]]
"""The messages (thread, id) because of which a formation ended or doubted a memory."""


@dataclass(frozen=True, kw_only=True)
class TypeInReview:
    """
    The memories of one type at the time of a review.

    *others* are those that may have been said since. *said* has the times of the messages that
    changes and ends rest on, *asked* the messages that asked for the end of a memory, *ended* those
    that ended one.
    """

    type: MemoryType | None
    now: datetime
    others: Sequence[Memory]
    said: MessageTimes = field(default_factory=dict)
    asked: Because = field(default_factory=dict)
    ended: Because = field(default_factory=dict)

    def about(self, waiting: Memory) -> list[Memory]:
        """Return those of *others* that are about the same as an entry that waits."""
        type_ = self.type
        if type_ is None or type_.update_mode != "insert":
            return []
        if is_single(type_, waiting.value):
            return self._by_subject.get(subject_key(type_, waiting.value), [])
        return self._alike.to(waiting) if self._alike else []

    @cached_property
    def _by_subject(self) -> Mapping[tuple[str, ...], list[Memory]]:
        found: dict[tuple[str, ...], list[Memory]] = {}
        if self.type is not None:
            for each in self.others:
                found.setdefault(subject_key(self.type, each.value), []).append(each)
        return found

    @cached_property
    def _alike(self) -> AlikeWords | None:
        return None if self.type is None else AlikeWords(self.type, self.others)


def is_over(memory: Memory, now: datetime) -> bool:
    """Return True if a memory is no longer in force: it has ended, or was withdrawn."""
    return memory.state != "active" or has_ended(memory, now)


def is_end(waiting: Memory) -> bool:
    """Return True if a waiting memory proposes the end of another one, whose value it repeats."""
    return proposed_for(waiting.key) is not None and waiting.valid_until is not None


def waits_since(waiting: Memory, review: TypeInReview) -> datetime:
    """Return when the words were said for which a memory waits."""
    if not is_end(waiting):
        return told_at(waiting)
    # Its evidence is that of the memory that it would end.
    asked = review.asked.get((waiting.type, waiting.key), ())
    return max(
        (review.said[each] for each in asked if each in review.said), default=waiting.created_at
    )


def later_words(
    waiting: Memory,
    review: TypeInReview,
    target: Memory | None = None,
    history: Sequence[Revision] = (),
) -> tuple[LaterWords, ...]:
    """
    Return what was said since about the same as *waiting*, the newest first.

    A change is compared with its *target*, field by field, by the *history* of that. An entry is
    compared with those of its subject if only one can hold, and with those alike in words.
    """
    since = waits_since(waiting, review)
    found: list[LaterWords] = []
    if target is not None and not is_over(target, review.now):
        found += _of_target(waiting, target, history, since, review.said)
    about = [each for each in review.about(waiting) if each.key != waiting.key and each != target]
    found += [
        LaterWords(memory=each, value=each.value, said_at=told_at(each))
        for each in about
        if not is_over(each, review.now) and told_at(each) > since
    ]
    ended = [*about, *([target] if target is not None else [])]
    found += (each for memory in ended for each in _end_of(memory, since, review))
    found.sort(key=lambda each: (each.said_at, each.memory.key), reverse=True)
    return tuple(found[:LATER_MAX])


def with_evidence(words: LaterWords, said: MessageTimes) -> LaterWords:
    """Return *words* with the newest message behind them, whose times are *said*."""
    if words.evidence is not None:
        return words
    cited = [each for found in words.memory.evidence.values() for each in found]
    return replace(words, evidence=_newest(cited, said))


def _of_target(
    waiting: Memory,
    target: Memory,
    history: Sequence[Revision],
    since: datetime,
    said: MessageTimes,
) -> Iterator[LaterWords]:
    """Yield the fields that a waiting change would write over, where newer words say them."""
    _, version = proposed_for(waiting.key) or ("", 0)
    before = next((each.value for each in history if each.version == version), {})
    names = [
        name
        for name in target.value
        if is_end(waiting) or waiting.value.get(name) != before.get(name)
    ]
    times = ToldTimes(memory=target, said=said, history=history)
    told = {name: times.at(join_pointer([name])) for name in names}
    newer = [name for name in names if told[name] > since]
    if newer:
        at = max(told[name] for name in newer)
        value = {name: target.value[name] for name in newer}
        whole = value if target.is_document else target.value
        cited = [e for name in newer for e in place_evidence(join_pointer([name]), target.evidence)]
        yield LaterWords(memory=target, value=whole, said_at=at, evidence=_newest(cited, said))


def _newest(cited: Sequence[Evidence], said: MessageTimes) -> Evidence | None:
    """Return the evidence of the newest message; of a finding, if there is no message."""
    told = [each for each in cited if each.quote != ORIGIN_QUOTE]
    known = [each for each in told if cited_message(each) in said]
    return max(known, key=lambda each: said[cited_message(each)], default=next(iter(told), None))


def _end_of(memory: Memory, since: datetime, review: TypeInReview) -> Iterator[LaterWords]:
    """Yield the newest message after *since* that ended a memory, if one is recorded."""
    named = review.ended.get((memory.type, memory.key), ())
    later = [each for each in named if each in review.said and review.said[each] > since]
    if not later or not is_over(memory, review.now):
        return
    thread, message = newest = max(later, key=lambda each: review.said[each])
    yield LaterWords(
        memory=memory,
        value=memory.value,
        said_at=review.said[newest],
        evidence=Evidence(thread=thread, message=message),
        ended=True,
    )
