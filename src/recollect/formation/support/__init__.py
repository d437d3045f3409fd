"""
Support: whether the words that an operation cites support its value.

Every content word of a value is traced to where it comes from (`origins`). Then rules with a
name decide (`judgement`, `polarity`, `orders`, `identity_fields`, `endings`): a fault is told
to the model, which is asked again; a doubt makes a person look first; a remark lowers the
value's trust and is told on the receipt.

How many words a value shares with its citations says nothing about whether it is true: a good
model paraphrases, and a false detail stands in the speaker's own words. So overlap alone stops a
value only where words of others are in the window, which could have planted it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from recollect.formation.operations import (
    End,
    Fault,
    Insert,
    Operation,
    Patch,
    citations_of,
    cited_by,
)
from recollect.formation.support.authorship import told_passages
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.corrected_numbers import corrected_number_reasons
from recollect.formation.support.endings import end_remarks, ending_reasons
from recollect.formation.support.grave_words import is_grave_word
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.identity_fields import (
    borrowed_name_reasons,
    identity_reasons,
    is_name_field,
)
from recollect.formation.support.judgement import (
    PREFERENCE_FIELDS,
    JudgedLeaf,
    TracedLeaf,
    content_of,
    contradicted_reasons,
    contributes,
    traced,
    unsupported_reasons,
)
from recollect.formation.support.later_corrections import correction_reasons
from recollect.formation.support.leaves import (
    contents_of,
    is_label,
    numbers_of,
    text_at,
    texts_of,
    type_of,
)
from recollect.formation.support.lost_doubts import doubtful_end_reasons, lost_doubt_reasons
from recollect.formation.support.orders import order_reasons
from recollect.formation.support.origins import trace
from recollect.formation.support.polarity import TEXT_CHARACTERS_MAX
from recollect.formation.support.stances import clauses_in, stances_in
from recollect.formation.support.subjects import speaks_of_user
from recollect.formation.support.told_of_whom import whom_reasons
from recollect.formation.support.unasked_words import unasked_reasons
from recollect.formation.types import MemoryType
from recollect.text.analysis import fold

_SPACE_IN_CHINESE: Final = re.compile(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])")
_NOTHING: Final = "the cited words say nothing of it: cite those that do"

__all__ = ["HeardWindow", "Support", "fold", "support_of"]


@dataclass(frozen=True, slots=True)
class Support:
    """The faults of an operation, its doubts for a reviewer, and remarks that stop nothing."""

    faults: tuple[Fault, ...] = ()
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def support_of(operation: Operation, heard: HeardWindow) -> Support:
    """Check whether the cited words of *operation* support it."""
    type_ = type_of(operation, heard)
    if isinstance(operation, End):
        text = contents_of(heard.offer.known[operation.target].value)
        passages = heard.passages(operation.because)
        ends = ending_reasons(text, passages, heard, operation.target)
        return Support(
            _faults(operation, ends),
            tuple(doubtful_end_reasons(passages)),
            tuple(end_remarks(text, passages, heard)),
        )
    leaves = [traced(each) for each in texts_of(operation, heard)]
    reasons = [*_contradicted(operation, type_, leaves, heard), *_removed(operation, heard)]
    doubts = [*order_reasons(leaves), *_foreign(operation, type_, leaves, heard)]
    remarks: list[str] = []
    for said in _said_as_one(operation, type_, leaves):
        is_exposed = heard.is_exposed_to(content_of(said))
        (reasons if heard.is_exposed else remarks).extend(unsupported_reasons(said, heard))
        # A few words of a profile are soon planted: "as a gambler like you knows".
        if (is_exposed or type_.update_mode == "patch") and not _names_speaker(said, operation):
            reasons += _uncaused(said, type_)
        doubts += _retold_otherwise(said, heard)
        remarks += _lost_doubts(said)
        if set(type_.roles) == {"user"}:
            doubts += unasked_reasons(said, heard)
    return Support(
        _faults(operation, reasons), tuple(dict.fromkeys(doubts)), tuple(dict.fromkeys(remarks))
    )


def _faults(operation: Operation, reasons: Iterator[str] | Sequence[str]) -> tuple[Fault, ...]:
    return tuple(
        Fault(call=operation.call, kind="support", reason=each) for each in dict.fromkeys(reasons)
    )


def _contradicted(
    operation: Operation, type_: MemoryType, leaves: Sequence[TracedLeaf], heard: HeardWindow
) -> Iterator[str]:
    """Yield contradictions between the value and the cited words."""
    for said in _said_as_one(operation, type_, leaves):
        yield from contradicted_reasons(said, heard, _told(said, type_, heard))
        yield from _corrected_later(said, heard)
    if type_.update_mode == "patch":
        yield from _numbers_of_nobody(operation, type_, heard)
        yield from borrowed_name_reasons(leaves, heard)
    if heard.is_exposed:
        yield from identity_reasons(leaves, heard)


def _told(said: Sequence[TracedLeaf], type_: MemoryType, heard: HeardWindow) -> Sequence[Passage]:
    """Return the words of others that *said* tells as theirs; a profile tells none."""
    if type_.update_mode == "patch":
        return ()
    return [each for leaf in said for each in told_passages(leaf.leaf, heard)]


def _uncaused(said: Sequence[TracedLeaf], type_: MemoryType) -> Iterator[str]:
    """Yield a reason if no word of *said* is in a message that may cause it."""
    causes = [
        each
        for leaf in said
        for each in leaf.leaf.sources.cited
        if not each.citation.implied and _may_cause(each, type_)
    ]
    if said and not contributes(said, causes):
        yield f"{said[0].leaf.pointer or '/'}: {_NOTHING}"


def _names_speaker(said: Sequence[TracedLeaf], operation: Operation) -> bool:
    """Return True for the name of the one user who is cited: it heads that user's own lines."""
    if not all(is_name_field(each.leaf.pointer) for each in said) or not said:
        return False
    heard = said[0].leaf.sources.heard
    cited = heard.passages([each for each in citations_of(operation) if not each.implied])
    speakers = {each.line.message.name for each in cited if each.line.message.role == "user"}
    return {each.leaf.text.strip() for each in said} == speakers


def _numbers_of_nobody(
    operation: Operation, type_: MemoryType, heard: HeardWindow
) -> Iterator[str]:
    """Yield the numbers of a document that no message which may cause it contains."""
    for pointer, leaf, cited in numbers_of(operation):
        explicit = [each for each in heard.passages(cited) if not each.citation.implied]
        causes = [each for each in explicit if _may_cause(each, type_)]
        voices = heard.voices_of(causes)
        if heard.lacks(voices, leaf, None) and not any(each.is_answer for each in causes):
            yield f"{pointer}: {_NOTHING}"


def _said_as_one(
    operation: Operation, type_: MemoryType, leaves: Sequence[TracedLeaf]
) -> list[Sequence[TracedLeaf]]:
    if isinstance(operation, Insert) and type_.update_mode == "insert":
        return [leaves]
    contents = [each for each in leaves if not each.leaf.is_label]
    if not contents:
        return [[each] for each in leaves]
    labels = [each for each in leaves if each.leaf.is_label]
    # A new label ("plans for autumn") only says when the new content matters.
    return [[contents[0], *labels], *([each] for each in contents[1:])]


def _retold_otherwise(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield what the cited clauses say of another person, or correct later."""
    contents, text, cited, place = _content_of(leaves)
    before = " ".join(each.before for each in contents)
    corrections = correction_reasons(text, cited, before)
    for reason in chain(whom_reasons(text, cited, heard, before), corrections):
        yield f"{place}: {reason}"


def _corrected_later(leaves: Sequence[TracedLeaf], heard: HeardWindow) -> Iterator[str]:
    """Yield an amount that the talk puts right in the cited message or later."""
    if not leaves:
        return
    _, text, cited, place = _content_of(leaves)
    for reason in corrected_number_reasons(text, cited, heard.corrections, heard.voices):
        yield f"{place}: {reason}"


def _lost_doubts(leaves: Sequence[TracedLeaf]) -> Iterator[str]:
    """Yield a doubt of a cited clause that the value leaves out."""
    _, text, cited, place = _content_of(leaves)
    labels = " ".join(each.leaf.text for each in leaves if each.leaf.is_label)
    for reason in lost_doubt_reasons(text, labels, cited):
        yield f"{place}: {reason}"


def _content_of(
    leaves: Sequence[TracedLeaf],
) -> tuple[list[JudgedLeaf], str, list[Passage], str]:
    """Return the leaves that are no labels, their text, what they cite, and their place."""
    contents = [each.leaf for each in leaves if not each.leaf.is_label]
    # Chinese is joined without a space, which would part it into clauses.
    text = _SPACE_IN_CHINESE.sub("", " ".join(each.text for each in contents))
    cited = list(dict.fromkeys(passage for each in contents for passage in each.sources.cited))
    place = contents[0].pointer if len(contents) == 1 else ""
    return contents, text, cited, place or "/"


def _may_cause(passage: Passage, type_: MemoryType) -> bool:
    """Return True for a new message of a permitted role, including what it pastes."""
    return passage.line.new and passage.line.message.role in type_.roles


def _removed(operation: Operation, heard: HeardWindow) -> Iterator[str]:
    """Yield removals that the cited words are not about."""
    if not isinstance(operation, Patch):
        return
    before = heard.offer.known[operation.target].value
    for change in operation.changes:
        pointer = str(change.operation.get("path"))
        standing = text_at(before, pointer)
        # A label only says when the rest matters: its removal follows from what else changes.
        if change.operation.get("op") == "remove" and standing and not is_label(pointer):
            gone = f"{standing} {pointer.rpartition('/')[2].replace('_', ' ')}"
            yield from ending_reasons(gone, heard.passages(cited_by(change)), heard, pointer)


def _foreign(
    operation: Operation, type_: MemoryType, leaves: Sequence[TracedLeaf], heard: HeardWindow
) -> Iterator[str]:
    """Yield doubts about values that rest on words of others."""
    if {"tool", "system"} & set(type_.roles):
        return
    cited = heard.passages(citations_of(operation))
    if all(each.trust != "external" for each in cited):
        return
    if type_.update_mode == "patch" or any(_is_preference(each) for each in leaves):
        yield "it rests on words of others, and says who the user is or what they want"
    elif any(_is_liking_of_others(each, heard) for each in leaves):
        yield "it says what somebody likes or wants, and rests on words of others"
    if any(_is_grave_of_others(each) for each in leaves):
        yield "it tells something grave of a person, and rests on words of others"


def _is_preference(leaf: TracedLeaf) -> bool:
    return not PREFERENCE_FIELDS.isdisjoint(leaf.leaf.pointer.split("/"))


def _is_liking_of_others(leaf: TracedLeaf, heard: HeardWindow) -> bool:
    """
    Return True if the text states a liking that no cited words of the user state.

    A text that tells the words of others as theirs may state the liking of somebody else.
    """
    clauses = clauses_in(leaf.leaf.text[:TEXT_CHARACTERS_MAX])
    taken = {attitude for clause in clauses for attitude, _ in clause.attitudes}
    own = [each for each in leaf.leaf.sources.cited if each.trust == "user"]
    said = {attitude for each in own for attitude, _ in stances_in(f"{each.text}\n{each.question}")}
    foreign = taken - said
    if foreign and told_passages(leaf.leaf, heard):
        return any(speaks_of_user(clauses, each) for each in foreign)
    return bool(foreign)


def _is_grave_of_others(leaf: TracedLeaf) -> bool:
    own = [each for each in leaf.leaf.sources.cited if each.trust == "user"]
    words = trace(leaf.leaf.text, replace(leaf.leaf.sources, cited=own))
    return any(
        is_grave_word(each.written) for each in words if each.origin in {"external", "nowhere"}
    )
