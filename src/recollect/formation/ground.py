"""
Grounding: whether an operation rests on what was said, by whom, and how far it can be trusted.

A quote must stand in the message that it cites; every number, name and date of a value in a
cited message or in the document before; a doubt that was spoken must not be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from recollect.errors import UsageError
from recollect.formation.claims import unsupported
from recollect.formation.completing import SENTENCE_END, sources_of
from recollect.formation.offer import Offer
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
from recollect.formation.ownership import speaker_faults
from recollect.formation.pointers import covers, leaves, shown, value_at
from recollect.formation.types import MemoryType
from recollect.formation.window import Window
from recollect.formation.wording.foreign import foreign_spans, instructs
from recollect.formation.wording.quotes import find_quote, hedges_in, keeps_hedge
from recollect.recall.text import memory_text
from recollect.records import Json, Trust
from recollect.stores.validate import check_time

_TRUST: Final[tuple[Trust, ...]] = ("user", "assistant", "external")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """
    What an operation rests on.

    *trust* is that of its least trusted words. *doubts* are reasons for a person to look at
    it before it is used; a fault besides is in *faults*.
    """

    faults: tuple[Fault, ...] = ()
    doubts: tuple[str, ...] = ()
    trust: Trust = "user"


def grounds_of(operation: Operation, window: Window, offer: Offer) -> Grounds:
    """Return what *operation* rests on in *window*, and what is wrong with that."""
    type_ = _type_of(operation, offer)
    cited = citations_of(operation)
    faults = [*_quote_faults(operation, cited, window), *_cause_faults(operation, type_, window)]
    faults += speaker_faults(operation, window, offer)
    if faults:
        return Grounds(faults=tuple(faults))
    trust = least([_trust_of(each, window) for each in cited])
    faults += _claim_faults(operation, window, offer)
    foreign = [each for each in cited if _trust_of(each, window) != "user"]
    doubts = []
    words = (_words_of(operation), *(_sentences_of(each, window) for each in foreign))
    if foreign and any(map(instructs, words)):
        doubts.append("it reads as an instruction, and no user said it")
    return Grounds(faults=tuple(faults), doubts=tuple(doubts), trust=trust)


def least(trusts: Sequence[Trust]) -> Trust:
    """Return the least trust of all; ``user`` of none."""
    return max(trusts, key=_TRUST.index, default="user")


def _type_of(operation: Operation, offer: Offer) -> MemoryType:
    if isinstance(operation, Insert):
        return offer.types[operation.type]
    return offer.types[offer.known[operation.target].type]


def _quote_faults(operation: Operation, cited: Sequence[Citation], window: Window) -> list[Fault]:
    found = []
    for each in cited:
        line = window.line(each.message)
        if line is None:
            reason = f"there is no message {each.message}; they are 1 to {len(window.lines)}"
            found.append(Fault(call=operation.call, kind="quote", reason=reason))
        elif find_quote(each.quote, line.text) is None:
            reason = f"message {each.message} does not say {each.quote[:200]!r}: quote its words"
            found.append(Fault(call=operation.call, kind="quote", reason=reason))
    return found


def _cause_faults(operation: Operation, type_: MemoryType, window: Window) -> list[Fault]:
    """Refuse what no new message of a permitted role causes; one that is implied causes nothing."""
    for each in citations_of(operation):
        line = None if each.implied else window.line(each.message)
        if line is not None and line.new and line.message.role in type_.roles:
            return []
    roles = " or ".join(type_.roles)
    reason = f"only a new message of the {roles} may cause a {type_.name}: cite one, or leave it"
    return [Fault(call=operation.call, kind="quote", reason=reason)]


def _trust_of(citation: Citation, window: Window) -> Trust:
    line = window.line(citation.message)
    if line is None or line.message.role in {"tool", "system"}:
        return "external"
    span = find_quote(citation.quote, line.text)
    if span and any(a < span[1] and span[0] < b for a, b in foreign_spans(line.text)):
        return "external"
    return "assistant" if line.message.role == "assistant" else "user"


def _claim_faults(operation: Operation, window: Window, offer: Offer) -> list[Fault]:
    if isinstance(operation, Patch):
        return _patch_faults(operation, window, offer)
    if isinstance(operation, End):
        return _date_faults(operation, {"at": operation.at}, window)
    dates = {"since": operation.since, "until": operation.until}
    return [*_insert_faults(operation, window), *_date_faults(operation, dates, window)]


def _date_faults(
    operation: Insert | End, dates: Mapping[str, str | None], window: Window
) -> list[Fault]:
    found = []
    for name, date in dates.items():
        if date is None:
            continue
        if moment_of(date) is None:
            reason = f"{name}: {date!r} is no date of the form 2024-05-07"
            found.append(Fault(call=operation.call, kind="value", reason=reason))
        else:
            found += _claim_faults_of(operation, name, date, operation.because, window, before=None)
    return found


def moment_of(date: str) -> datetime | None:
    """Return the beginning of an ISO date or time, in UTC if it names no zone."""
    try:
        moment = datetime.fromisoformat(date)
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        check_time(zoned, "a date")
        return zoned.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _insert_faults(operation: Insert, window: Window) -> list[Fault]:
    found = [*_empty_faults(operation)]
    for pointer, leaf in leaves(operation.value):
        cited = [each for each in operation.because if covers(each.path, pointer)]
        if not cited:
            reason = f"{pointer} cites no message: add one to 'because', or leave the field out"
            found.append(Fault(call=operation.call, kind="quote", reason=reason))
            continue
        found += _claim_faults_of(operation, pointer, leaf, cited, window, before=None)
    return [*found, *_insert_hedge_faults(operation)]


def _insert_hedge_faults(operation: Insert) -> list[Fault]:
    """Return a fault if a doubt that was spoken is in no text of the value."""
    texts = [
        (pointer, leaf, _quoted([each for each in operation.because if covers(each.path, pointer)]))
        for pointer, leaf in leaves(operation.value)
        if isinstance(leaf, str)
    ]
    lacking = [(pointer, quoted) for pointer, leaf, quoted in texts if not _keeps(leaf, quoted)]
    doubtful = {sentence for _, quoted in lacking for sentence in quoted}
    is_kept = any(
        _keeps(leaf, quoted) and hedges_in(leaf) and doubtful & set(quoted)
        for _, leaf, quoted in texts
    )
    return [] if is_kept else [_hedge_fault(operation, pointer) for pointer, _ in lacking[:1]]


def _empty_faults(operation: Insert) -> Iterator[Fault]:
    """Yield what a value lacks: anything at all, or the place that a citation is for."""
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


def _patch_faults(operation: Patch, window: Window, offer: Offer) -> list[Fault]:
    before = offer.known[operation.target].value
    found = []
    for change in operation.changes:
        value = change.operation.get("value")
        pointer = str(change.operation.get("path"))
        for below, leaf in leaves(value):
            found += _leaf_faults(
                operation, pointer + below, leaf, cited_by(change), window, before=before
            )
    return found


def _leaf_faults(  # noqa: PLR0917 (what a leaf rests on)
    operation: Operation,
    pointer: str,
    leaf: Json,
    cited: Sequence[Citation],
    window: Window,
    before: Json,
) -> list[Fault]:
    found = _claim_faults_of(operation, pointer, leaf, cited, window, before)
    if isinstance(leaf, str) and not _keeps(leaf, _quoted(cited)):
        found.append(_hedge_fault(operation, pointer))
    return found


def _hedge_fault(operation: Operation, pointer: str) -> Fault:
    reason = f"{pointer or '/'}: the speaker was in doubt, or told what others say: say so"
    return Fault(call=operation.call, kind="hedge", reason=reason)


def _quoted(cited: Sequence[Citation]) -> list[str]:
    """Return the sentences that a model quoted."""
    parts = [part for each in cited if not each.implied for part in SENTENCE_END.split(each.quote)]
    return [part for part in parts if part.strip()]


def _keeps(text: str, quoted: Sequence[str]) -> bool:
    return not quoted or any(keeps_hedge(text, each) for each in quoted)


def _claim_faults_of(  # noqa: PLR0917 (what a leaf rests on)
    operation: Operation,
    pointer: str,
    leaf: Json,
    cited: Sequence[Citation],
    window: Window,
    before: Json,
) -> list[Fault]:
    lines = [line for each in cited if (line := window.line(each.message))]
    missing = unsupported(leaf, sources_of(lines, window), before)
    numbers = ", ".join(str(line.number) for line in lines)
    return [
        Fault(
            call=operation.call,
            kind="claim",
            reason=f"{pointer or '/'}: {each} is not in message {numbers}",
        )
        for each in missing
    ]


def _sentences_of(citation: Citation, window: Window) -> str:
    """Return the whole sentences of which a quote may be a harmless part."""
    line = window.line(citation.message)
    span = find_quote(citation.quote, line.text) if line else None
    if line is None or span is None:
        return ""
    before = [match.end() for match in SENTENCE_END.finditer(line.text, 0, span[0])]
    after = SENTENCE_END.search(line.text, span[1])
    return line.text[max(before, default=0) : after.start() if after else None]


def _words_of(operation: Operation) -> str:
    if isinstance(operation, Insert):
        return memory_text(operation.value)
    if isinstance(operation, Patch):
        values = [change.operation.get("value") for change in operation.changes]
        return memory_text({"value": values})
    return ""
