"""
Grounding: check that an operation is supported by what was said, and how trusted it is.

A quote must occur in the message it cites. A number, name or date of a value must occur in a
cited message or in the former document. A doubt that was expressed must be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.formation.grounding.implied_citations import NEAR_LINES, completed
from recollect.formation.grounding.leaf_claims import LeafClaims
from recollect.formation.grounding.passage_trust import (
    is_attributed,
    least,
    rests_on_order,
    trust_of,
)
from recollect.formation.grounding.quote_numbers import renumbered
from recollect.formation.grounding.quotes import hedges_in, keeps_hedge
from recollect.formation.grounding.telling_reasons import without_reasons
from recollect.formation.grounding.validity import (
    day_of_change,
    end_of,
    is_about,
    is_told_ahead,
    moment_of,
)
from recollect.formation.operations import (
    Citation,
    End,
    Fault,
    Insert,
    Operation,
    Patch,
    citations_of,
    cited_by,
)
from recollect.formation.owned_parts import with_owned_parts
from recollect.formation.ownership import attributed, documents_of, speaker_faults
from recollect.formation.support import HeardWindow, Support, support_of
from recollect.formation.support.heard_window import ASKED_CHARACTERS_MAX
from recollect.formation.support.leaves import is_label, type_of
from recollect.formation.support.lost_doubts import retells_doubt
from recollect.formation.support.voices import SENTENCE_END
from recollect.formation.types import MemoryType
from recollect.formation.window import Window
from recollect.records import Json, Trust
from recollect.stores.json_pointers import covers, leaves, shown, value_at

CITATION_CHARACTERS: Final = 100
"""Least characters that a quote counts for: the sentences around it are read as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """
    The support of an operation.

    *trust* is the trust of its least trusted words. *doubts* are reasons for a review before it is
    used; *faults* are errors for the model to repair. *remarks* stop nothing, but an entry with
    one is trusted no more than the assistant's words. *notes* tell what was read otherwise than it
    was written. *is_attributed* is set where words of others are told as their author's, beside
    words of the user who shows them: such an entry may change one that rests on the user's.
    """

    faults: tuple[Fault, ...] = ()
    doubts: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trust: Trust = "user"
    is_attributed: bool = False


_RECENT: Final = timedelta(days=31)
Judge: TypeAlias = Callable[[Operation, HeardWindow], Support]
"""A check of whether the cited words of an operation support it; a benchmark puts a weaker one."""


def decide(operation: Operation, heard: HeardWindow) -> tuple[Operation, Grounds]:
    """Return *operation* with implied citations added, and its grounds."""
    with heard.readings.in_use():
        return _decided(operation, heard)


def _decided(operation: Operation, heard: HeardWindow) -> tuple[Operation, Grounds]:
    if not heard.admits(_characters_of(operation)):
        reason = f"more than {ASKED_CHARACTERS_MAX} characters are asked to be kept: say less"
        return operation, Grounds(faults=(Fault(call=operation.call, kind="value", reason=reason),))
    found = renumbered(operation, heard.window)
    owned, others = with_owned_parts(found, heard.window, documents_of(found, heard.offer))
    whole = attributed(completed(owned, heard), heard.window, heard.offer)
    whole, notes = _without_wrong_dates(whole, heard)
    notes = (*others, *notes)
    if found != operation:
        notes = ("a quote was found in another message than the one cited", *notes)
    grounds = _grounds_of(whole, heard, support_of)
    return whole, replace(grounds, notes=(*notes, *grounds.notes))


def _without_wrong_dates(
    operation: Operation, heard: HeardWindow
) -> tuple[Operation, tuple[str, ...]]:
    """
    Return an insert or an end without dates that are malformed or unsupported, and notes on them.

    An end without a date takes effect when it was said. A date long before that stays, so that
    the model is asked about it.
    """
    if isinstance(operation, Patch) or _quote_faults(operation, operation.because, heard.window):
        return operation, ()
    if isinstance(operation, End) and not _is_recent(operation, heard):
        return operation, ()
    claims = _leaf_claims(operation, heard)
    dates = (
        {"at": operation.at}
        if isinstance(operation, End)
        else {"since": operation.since, "until": operation.until}
    )
    wrong = {name: _date_faults(operation, {name: date}, claims) for name, date in dates.items()}
    notes = tuple(f"left out: {each.reason}" for found in wrong.values() for each in found)
    kept = {name: None if wrong[name] else date for name, date in dates.items()}
    if isinstance(operation, End):
        return replace(operation, at=kept["at"]), notes
    if _is_plan(operation, kept["since"], heard):
        notes = (*notes, f"left out: since: {kept['since']} is still to come, as the text says")
        kept["since"] = None
    elif _is_event(operation, kept["since"], kept["until"], heard):
        notes = (*notes, f"left out: until: what happened on {kept['until']} stays true")
        kept["until"] = None
    return replace(operation, since=kept["since"], until=kept["until"]), notes


def _is_event(operation: Insert, since: str | None, until: str | None, heard: HeardWindow) -> bool:
    """Return True if a note is true on one day alone, which was over when it was told."""
    if since is None or until is None or type_of(operation, heard).single_valued:
        return False
    begun, over = moment_of(since), end_of(until)
    said = [each.line.message.time for each in heard.passages(operation.because)]
    if not begun or not over or not said:
        return False
    return begun.date() == over.date() < min(said).date()


def _is_plan(operation: Insert, since: str | None, heard: HeardWindow) -> bool:
    """Return True if a note begins later, on a day that it names. A single value takes effect."""
    if since is None or type_of(operation, heard).single_valued:
        return False
    said = [each.line.message.time for each in heard.passages(operation.because)]
    text = " ".join(str(leaf) for _, leaf in leaves(operation.value))
    return bool(said) and is_told_ahead(since, text, max(said))


def _is_recent(end: End, heard: HeardWindow) -> bool:
    """Return True if an end has no date, or one at most a month before it was said."""
    moment = end_of(end.at) if end.at else None
    said = [each.line.message.time for each in heard.passages(end.because)]
    return moment is None or any(abs(time - moment) <= _RECENT for time in said)


def _characters_of(operation: Operation) -> int:
    """Return the number of characters of texts and quotes in *operation*."""
    values: list[Json] = [operation.value] if isinstance(operation, Insert) else []
    if isinstance(operation, Patch):
        values = [each.operation.get("value") for each in operation.changes]
    texts = (str(leaf) for value in values for _, leaf in leaves(value))
    quotes = (max(len(each.quote), CITATION_CHARACTERS) for each in citations_of(operation))
    return sum(map(len, texts)) + sum(quotes)


def grounds_of(operation: Operation, heard: HeardWindow, judge: Judge = support_of) -> Grounds:
    """Return the support of *operation*, with its doubts and faults."""
    with heard.readings.in_use():
        return _grounds_of(operation, heard, judge)


def _grounds_of(operation: Operation, heard: HeardWindow, judge: Judge) -> Grounds:
    type_, window = type_of(operation, heard), heard.window
    cited = citations_of(operation)
    faults = [*_quote_faults(operation, cited, window), *_cause_faults(operation, type_, window)]
    faults += speaker_faults(operation, window, heard.offer)
    if faults:
        return Grounds(faults=tuple(faults))
    passages = heard.passages(cited)
    trust = trust_of(operation, passages, heard)
    support = judge(operation, heard)
    claims = _leaf_claims(operation, heard)
    faults = [*_claim_faults(operation, claims), *support.faults]
    doubts, remarks = list(support.doubts), [*support.remarks, *claims.remarks]
    if rests_on_order(operation, passages, heard):
        doubts.append("it rests on an instruction, and no user said it")
    return Grounds(
        faults=tuple(faults),
        doubts=tuple(dict.fromkeys(doubts)),
        remarks=tuple(dict.fromkeys(remarks)),
        notes=tuple(dict.fromkeys(claims.notes)),
        is_attributed=trust == "external" and is_attributed(operation, heard),
        trust=least([trust, "assistant"]) if remarks and _stands_alone(operation, type_) else trust,
    )


def _leaf_claims(operation: Operation, heard: HeardWindow) -> LeafClaims:
    may_remark = _stands_alone(operation, type_of(operation, heard))
    return LeafClaims(operation.call, heard, may_remark=may_remark)


def _stands_alone(operation: Operation, type_: MemoryType) -> bool:
    """
    Return True for a new entry that replaces nothing, whose trust can be lowered.

    A document, or a single value, of lower trust could not take the place of what it corrects.
    """
    is_entry = isinstance(operation, Insert) and type_.update_mode == "insert"
    return is_entry and not type_.single_valued


def _quote_faults(operation: Operation, cited: Sequence[Citation], window: Window) -> list[Fault]:
    found = []
    for each in cited:
        line = window.line(each.message)
        if line is None:
            reason = f"there is no message {each.message}; they are 1 to {len(window.lines)}"
            found.append(Fault(call=operation.call, kind="quote", reason=reason))
        elif line.find(each.quote) is None:
            reason = f"message {each.message} does not say {each.quote[:200]!r}: quote its words"
            found.append(Fault(call=operation.call, kind="quote", reason=reason))
    return found


def _cause_faults(operation: Operation, type_: MemoryType, window: Window) -> list[Fault]:
    """Reject an operation without an explicit citation of a new message of a permitted role."""
    for each in citations_of(operation):
        line = None if each.implied else window.line(each.message)
        if line is not None and line.new and line.message.role in type_.roles:
            return []
    roles = " or ".join(type_.roles)
    reason = f"only a new message of the {roles} may cause a {type_.name}: cite one, or leave it"
    return [Fault(call=operation.call, kind="quote", reason=reason)]


def _claim_faults(operation: Operation, claims: LeafClaims) -> list[Fault]:
    if isinstance(operation, Patch):
        return _patch_faults(operation, claims)
    if isinstance(operation, End):
        return _date_faults(operation, {"at": operation.at}, claims)
    dates = {"since": operation.since, "until": operation.until}
    return [*_insert_faults(operation, claims), *_date_faults(operation, dates, claims)]


def _date_faults(
    operation: Insert | End, dates: Mapping[str, str | None], claims: LeafClaims
) -> list[Fault]:
    found = []
    # Unlike a date in a text, a date that nobody told is left out here, and the memory stays.
    strict = LeafClaims(operation.call, claims.heard, may_remark=False)
    for name, date in dates.items():
        if date is None:
            continue
        if moment_of(date) is None:
            reason = f"{name}: {date!r} is no date of the form 2024-05-07"
            found.append(Fault(call=operation.call, kind="value", reason=reason))
        elif not _is_day_of_saying(date, operation, claims.heard):
            faults = strict.faults_of(name, date, operation.because)
            told = " ".join(each.quote for each in operation.because)
            if faults and name == "until" and (following := day_of_change(date, told)):
                faults = strict.faults_of(name, following, operation.because)
            found += [] if faults and _is_told_nearby(date, operation, claims.heard) else faults
    return found


def _is_told_nearby(written: str, operation: Insert | End, heard: HeardWindow) -> bool:
    """Return True if a user tells a date a few messages from those cited, as for what is said."""
    cited = {each.line.number for each in heard.passages(operation.because)}
    near = (
        each
        for each in heard.voices
        if each.trust == "user"
        and any(abs(each.line.number - number) <= NEAR_LINES for number in cited)
    )
    return any(not heard.lacks([each], written, None) for each in near)


def _is_day_of_saying(written: str, operation: Insert | End, heard: HeardWindow) -> bool:
    """Return True for the day of a cited message: its content holds since then."""
    days = {each.line.message.time.date() for each in heard.passages(operation.because)}
    return any(is_about(written, day) for day in days)


def _insert_faults(operation: Insert, claims: LeafClaims) -> list[Fault]:
    found = [*_empty_faults(operation)]
    for pointer, leaf in leaves(operation.value):
        cited = [each for each in operation.because if covers(each.path, pointer)]
        if not cited:
            reason = f"{pointer} cites no message: add one to 'because', or leave the field out"
            found.append(Fault(call=operation.call, kind="quote", reason=reason))
            continue
        found += claims.faults_of(pointer, leaf, cited)
    return [*found, *_insert_hedge_faults(operation)]


def _insert_hedge_faults(operation: Insert) -> list[Fault]:
    """Return a fault if a doubt that was expressed is in no text of the value."""
    texts = [
        (pointer, leaf, _quoted([each for each in operation.because if covers(each.path, pointer)]))
        for pointer, leaf in leaves(operation.value)
        if isinstance(leaf, str) and not is_label(pointer)
    ]
    lacking = [(pointer, quoted) for pointer, leaf, quoted in texts if not _keeps(leaf, quoted)]
    doubtful = {sentence for _, quoted in lacking for sentence in quoted}
    is_kept = any(
        _keeps(leaf, quoted) and hedges_in(leaf) and doubtful & set(quoted)
        for _, leaf, quoted in texts
    )
    return [] if is_kept else [_hedge_fault(operation, pointer) for pointer, _ in lacking[:1]]


def _empty_faults(operation: Insert) -> Iterator[Fault]:
    """Yield faults of empty values, blank fields, and citations of missing fields."""
    said = list(leaves(operation.value))
    if not said:
        reason = "the value holds nothing: leave the call out, or say what was told"
        yield Fault(call=operation.call, kind="value", reason=reason)
    for pointer, leaf in said:
        if isinstance(leaf, str) and not leaf.strip():
            reason = f"{pointer} is blank: leave the field out, or say what was told"
            yield Fault(call=operation.call, kind="value", reason=reason)
    for each in operation.because:
        try:
            value_at(operation.value, each.path)
        except (LookupError, UsageError):
            reason = f"because: the value has nothing at {shown(each.path)}: cite for what is there"
            yield Fault(call=operation.call, kind="quote", reason=reason)


def _patch_faults(operation: Patch, claims: LeafClaims) -> list[Fault]:
    before = claims.heard.offer.known[operation.target].value
    found = []
    for change in operation.changes:
        value = change.operation.get("value")
        cited = cited_by(change)
        for below, leaf in leaves(value):
            pointer = f"{change.operation.get('path')}{below}"
            found += claims.faults_of(pointer, leaf, cited, before)
            quoted = _quoted(cited)
            is_idle = is_label(pointer) and not retells_doubt(str(leaf), quoted)
            if isinstance(leaf, str) and not is_idle and not _keeps(leaf, quoted):
                found.append(_hedge_fault(operation, pointer))
    return found


def _hedge_fault(operation: Operation, pointer: str) -> Fault:
    reason = f"{pointer or '/'}: the speaker was in doubt, or told what others say: say so"
    return Fault(call=operation.call, kind="hedge", reason=reason)


def _quoted(cited: Sequence[Citation]) -> list[str]:
    """Return the sentences of the model's own quotes."""
    parts = [part for each in cited if not each.implied for part in SENTENCE_END.split(each.quote)]
    return [without_reasons(part) for part in parts if part.strip()]


def _keeps(text: str, quoted: Sequence[str]) -> bool:
    return not quoted or any(keeps_hedge(text, each) for each in quoted)
