"""The evidence of a memory, and of one place in it: its own, of its parts, and of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import TypeAlias

from recollect.records import Evidence, EvidenceMap
from recollect.stores.json_pointers import covers
from recollect.stores.provenance import Found, cited_message, sufficient_sets
from recollect.stores.remainder import MEMORY_THREAD, ORIGIN_QUOTE

MessageTimes: TypeAlias = Mapping[tuple[str, str], datetime]
"""Times of messages by thread and id."""


def each_evidence(evidence: EvidenceMap) -> Iterator[Evidence]:
    """Yield all evidence of a memory, place by place."""
    return chain.from_iterable(evidence.values())


def messages_cited(evidence: Iterable[EvidenceMap]) -> list[tuple[str, str]]:
    """Return the messages that evidence cites, by thread and id, each once."""
    cited = {
        cited_message(each)
        for map_ in evidence
        for each in each_evidence(map_)
        if not each.is_finding and each.thread != MEMORY_THREAD
    }
    return sorted(cited)


def place_evidence(place: str, evidence: EvidenceMap) -> list[Evidence]:
    """Return what the value at the pointer *place* rests on."""
    return [each for found in _found_at(place, evidence) for each in found]


def is_written_over(evidence: EvidenceMap) -> bool:
    """Return True if a person wrote a part of the value over what a message says."""
    return any(each.quote == ORIGIN_QUOTE for each in each_evidence(evidence))


def cites_nothing_new(place: str, before: EvidenceMap, after: EvidenceMap) -> bool:
    """Return True if a version cites no words for *place* that the version before did not."""
    return _quotes(place, after) <= _quotes(place, before)


def newly_said(
    place: str, before: EvidenceMap, after: EvidenceMap, said: MessageTimes
) -> datetime | None:
    """
    Return when the new evidence of *place* was said; ``None`` if there is none of a known time.

    Messages that support the value only together say it with the last one; of messages that each
    support it alone, the first one counts, since the others repeat it.
    """
    known = {cited_message(each) for each in place_evidence(place, before)}
    times = [
        max(said[each] for each in messages if each in said)
        for found in _found_at(place, after)
        for messages in sufficient_sets(found)
        if not messages <= known and not messages.isdisjoint(said)
    ]
    return min(times, default=None)


def last_said(place: str, evidence: EvidenceMap, said: MessageTimes) -> datetime | None:
    """Return the time of the newest message in the evidence of *place*, if one is known."""
    cited = map(cited_message, place_evidence(place, evidence))
    return max((said[each] for each in cited if each in said), default=None)


def _found_at(place: str, evidence: EvidenceMap) -> Iterator[Found]:
    for at, found in evidence.items():
        if covers(at, place) or covers(place, at):
            yield tuple(found)


def _quotes(place: str, evidence: EvidenceMap) -> set[tuple[str, str, str | None]]:
    return {
        (each.thread, each.message, each.quote)
        for each in place_evidence(place, evidence)
        if each.quote != ORIGIN_QUOTE
    }
