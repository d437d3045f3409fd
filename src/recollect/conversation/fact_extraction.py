"""Parse the facts that a model extracts from a conversation; pure functions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.conversation.document_sources import evidence_for
from recollect.conversation.entity_names import mentioned
from recollect.conversation.thread_history import Placed
from recollect.graph.name_equality import NAME_CHARACTERS_MAX, name_key
from recollect.graph.triples import KnowledgeTriple, marked_triples
from recollect.graph.values import NewFact, Retraction
from recollect.messages import kind_of, text_of
from recollect.records import Evidence, Trust
from recollect.stores.provenance import Source

STATED_BY_AI: Final = "~"
"""The sign before a fact that the assistant states."""
SEVERAL: Final = "+"
"""The sign before one of several objects of a predicate."""
NOT_SO: Final = "!"
"""The sign before a fact that the conversation denies."""
_SIGNS: Final = re.compile(r"[~+!]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A fact that a model extracted, with the signs that it wrote before it."""

    triple: KnowledgeTriple
    is_of_ai: bool = False
    is_one_of_several: bool = False
    is_denied: bool = False


def statements_in(answer: str) -> list[Statement]:
    """
    Return the statements in a model's *answer*, in order; invalid ones are omitted.

    >>> [each.triple.object_ for each in statements_in("~(Ada, has, tea)<|>!(Ada, has, milk)")]
    ['tea', 'milk']
    """
    found = [
        (frozenset(_signs_of(before)), triple)
        for before, triple in marked_triples(answer)
        if all(name_key(part) and len(part) <= NAME_CHARACTERS_MAX for part in triple)
    ]
    return [
        Statement(
            triple=triple,
            is_of_ai=STATED_BY_AI in signs,
            is_one_of_several=SEVERAL in signs,
            is_denied=NOT_SO in signs,
        )
        for signs, triple in found
    ]


def _signs_of(before: str) -> str:
    # Only directly before the bracket: the "!" in "Well! (Ada, …)" denies nothing.
    found = _SIGNS.search(unicodedata.normalize("NFKC", before))
    return found[0] if found else ""


def facts_of(
    statements: Sequence[Statement],
    piece: Sequence[Placed],
    thread: str,
    besides: Sequence[Source] = (),
) -> list[NewFact | Retraction]:
    """
    Return *statements* as facts and retractions, with their trust, start time and evidence.

    The source of a statement is the next message that names its object. A statement found only in
    the assistant's words has the assistant's trust, even if the model did not mark it so. Several
    objects of one subject and predicate in one message do not end each other, marked or not.

    Args:
        besides: Other sources in the model's prompt, cited for words that they alone have.
    """
    placed: list[tuple[Statement, list[Placed]]] = []
    reached = 0
    for each in statements:
        sources = _sources_of(each, piece, reached)
        reached = sources[0].position if len(sources) == 1 else reached
        placed.append((each, sources))
    objects: dict[tuple[str, str, int], set[str]] = {}
    for each, sources in placed:
        if not each.is_denied:
            objects.setdefault(_place_of(each, sources), set()).add(name_key(each.triple.object_))
    return [
        _fact_of(
            each,
            sources,
            evidence_for(" ".join(each.triple), thread, sources, besides),
            is_listed=len(objects.get(_place_of(each, sources), ())) > 1,
        )
        for each, sources in placed
    ]


def _place_of(said: Statement, sources: Sequence[Placed]) -> tuple[str, str, int]:
    position = sources[0].position if sources else 0
    return name_key(said.triple.subject), name_key(said.triple.predicate), position


def _fact_of(
    said: Statement, sources: Sequence[Placed], evidence: Sequence[Evidence], *, is_listed: bool
) -> NewFact | Retraction:
    is_human = any(kind_of(each.message) == "human" for each in sources)
    trust: Trust = "user" if is_human and not said.is_of_ai else "assistant"
    since = sources[0].time if sources else None
    subject, predicate, object_ = said.triple
    if said.is_denied:
        return Retraction(
            subject=subject, predicate=predicate, object=object_, since=since, trust=trust
        )
    return NewFact(
        subject=subject,
        predicate=predicate,
        object=object_,
        several=True if said.is_one_of_several or is_listed else None,
        since=since,
        evidence=evidence,
        trust=trust,
    )


def _sources_of(said: Statement, piece: Sequence[Placed], reached: int) -> list[Placed]:
    """Return the message that states *said*; all candidates if none of them names its parts."""
    sides = {"ai"} if said.is_of_ai else {"human", "ai"}
    spoken = [each for each in piece if kind_of(each.message) in sides]
    for name in (said.triple.object_, said.triple.subject):
        having = [each for each in spoken if mentioned([name], text_of(each.message))]
        people = [each for each in having if kind_of(each.message) == "human"]
        if having:
            nearest = people or having
            return [next((e for e in nearest if e.position >= reached), nearest[0])]
    if said.is_of_ai:
        return spoken
    return [each for each in spoken if kind_of(each.message) == "human"] or spoken
