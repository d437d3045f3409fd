"""
Reconciliation: decide, by fixed rules, how each grounded operation changes the stored memories.

Equal values merge. A new value of a single-valued field ends the old one's validity. A rejected
value stays rejected. A value in doubt is quarantined until a person decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import get_args

from recollect.formation.attribution import Exhibits, entry_evidence, schema_words
from recollect.formation.document_updates import document_outcomes, keys_of
from recollect.formation.grounding.grounds import Grounds
from recollect.formation.grounding.passage_trust import least
from recollect.formation.grounding.validity import end_of, ended_at, moment_of
from recollect.formation.offer import Offer
from recollect.formation.older_words import refused_end
from recollect.formation.operation_outcomes import (
    ENDS,
    Grounded,
    OperationOutcome,
    Present,
    expiry_of,
    new_memory,
    refusal,
    revision,
)
from recollect.formation.operations import (
    End,
    Insert,
    Operation,
    Patch,
    citations_of,
    same_operation,
)
from recollect.formation.patch import PatchError, apply_patch
from recollect.formation.rivals import identity_of, is_single, succession_among
from recollect.formation.succession import A_MOMENT, Succession, has_ended
from recollect.formation.types import MemoryType
from recollect.formation.value_identity import (
    content_key,
    field_keys,
    owner_of,
    proposal_key,
    same_in,
    same_text,
)
from recollect.formation.withdrawals import is_withdrawn
from recollect.records import (
    EndMemory,
    EvidenceMap,
    FormationAction,
    Memory,
    MemoryAddress,
    PutMemory,
    Trust,
)
from recollect.stores.kept_evidence import merged_evidence


def addresses_of(operation: Operation, offer: Offer) -> list[MemoryAddress]:
    """Return the addresses where equal or rejected values of *operation* are stored."""
    if isinstance(operation, End):
        return []
    if isinstance(operation, Patch):
        return _addresses_of_patch(operation, offer)
    if offer.types[operation.type].update_mode == "insert":
        return [(operation.type, content_key(operation.value))]
    owner = owner_of(operation.type, operation.document_key)
    fields = [(operation.type, key) for _, key in field_keys(operation.value, owner=owner)]
    return [(operation.type, operation.document_key), *fields]


def _addresses_of_patch(operation: Patch, offer: Offer) -> list[MemoryAddress]:
    memory = offer.known[operation.target]
    found: list[MemoryAddress] = []
    owner = owner_of(memory.type, memory.key)
    value = memory.value
    for change in operation.changes:
        found += [(memory.type, key) for key in keys_of(change, value, owner)]
        try:
            value = apply_patch(value, [change.operation])
        except PatchError:
            break
    if offer.types[memory.type].update_mode == "insert":
        found.append((memory.type, content_key(value)))
    return found


def rival_type(operation: Operation, offer: Offer) -> MemoryType | None:
    """Return the type whose memories *operation* may replace with a new single value, or None."""
    if not isinstance(operation, Insert):
        return None
    type_ = offer.types[operation.type]
    return type_ if is_single(type_, operation.value) else None


def reconcile(grounded: Sequence[Grounded], present: Present) -> list[OperationOutcome]:
    """
    Return the outcome of each operation, in order; no two write to one address.

    All operations on one document, and all equal new entries, are handled together.
    """
    outcomes: list[OperationOutcome] = []
    written: set[MemoryAddress] = set()
    for group in _groups(grounded, present):
        said = _messages_of(group, present)
        for outcome in (replace(each, said=said) for each in _outcomes(group, present)):
            address = (outcome.type, outcome.key)
            if outcome.write is not None and address in written:
                reason = "another operation of the same answer has written it"
                outcomes.append(replace(outcome, action="refused", reason=reason, write=None))
                continue
            if outcome.write is not None:
                written.add(address)
            outcomes.append(outcome)
    return _in_turn(outcomes, present)


def _messages_of(group: Sequence[Grounded], present: Present) -> tuple[tuple[str, str], ...]:
    """Return the (thread, message) pairs that the operations of a group cite."""
    cited = [cited.message for each in group for cited in citations_of(each.operation)]
    lines = [line for each in dict.fromkeys(cited) if (line := present.window.line(each))]
    return tuple((line.message.thread, line.message.id) for line in lines)


def _groups(grounded: Sequence[Grounded], present: Present) -> list[list[Grounded]]:
    """Group the operations by document or entry, without duplicates."""
    groups: dict[tuple[str, ...], list[Grounded]] = {}
    for each in grounded:
        group = groups.setdefault(_subject_of(each.operation, present.offer), [])
        if not any(same_operation(each.operation, other.operation) for other in group):
            group.append(each)
    return list(groups.values())


def _subject_of(operation: Operation, offer: Offer) -> tuple[str, ...]:
    if isinstance(operation, End):
        return ("end", operation.target)
    if isinstance(operation, Patch):
        memory = offer.known[operation.target]
        return ("document", memory.type, memory.key)
    if offer.types[operation.type].update_mode == "patch":
        return ("document", operation.type, operation.document_key)
    return ("entry", operation.type, content_key(operation.value))


def _outcomes(group: Sequence[Grounded], present: Present) -> Iterator[OperationOutcome]:
    operation, offer = group[0].operation, present.offer
    if isinstance(operation, End):
        for each in group:
            if isinstance(each.operation, End):
                yield _ended(each.operation, each.grounds, present)
    elif isinstance(operation, Patch):
        memory = offer.known[operation.target]
        type_ = offer.types[memory.type]
        yield from document_outcomes(group, memory, type_, present, key=memory.key)
    elif offer.types[operation.type].update_mode == "patch":
        key = operation.document_key
        standing = present.at.get((operation.type, key))
        type_ = offer.types[operation.type]
        yield from document_outcomes(group, standing, type_, present, key=key)
    else:
        yield from _new_entry(operation, group, present)


def _ended(operation: End, grounds: Grounds, present: Present) -> OperationOutcome:
    memory = present.offer.known[operation.target]
    at = said_at = _said_at([operation], present)
    if older := refused_end(memory, said_at, present):
        return older
    quotes = "\n".join(each.quote for each in operation.because)
    began = memory.valid_from
    if moment := ended_at(operation.at, quotes, said_at, began) if operation.at else None:
        # A date before the memory's own beginning is a slip of the model; the end itself is not.
        at = said_at if began and moment <= began else moment
    if began is not None and at <= began:
        reason = f"it would end at {at:%Y-%m-%d}, before it began"
        return OperationOutcome(action="refused", type=memory.type, key=memory.key, reason=reason)
    doubts = list(grounds.doubts)
    if least([memory.trust, grounds.trust]) != memory.trust:
        doubts.append(ENDS)
    if doubts:
        type_ = present.offer.types[memory.type]
        key = proposal_key(memory.key, memory.version, memory.value)
        waiting = replace(grounds, doubts=tuple(doubts), trust=memory.trust)
        return new_memory(
            type_,
            key,
            memory.value,
            waiting,
            evidence=memory.evidence,
            now=present.now,
            expected=None,
            since=memory.valid_from,
            until=at,
        )
    if not memory.is_document and is_withdrawn(each.quote for each in operation.because):
        # Ended, it would be told as true until then: "had altitude sickness until December".
        return OperationOutcome(
            action="ended",
            type=memory.type,
            key=memory.key,
            reason="the user says that it never was true",
            write=revision(memory, memory.value, state="rejected", cause="withdrawn: never true"),
        )
    write = EndMemory(
        type=memory.type, key=memory.key, at=at, expected=memory.version, cause="formed"
    )
    told = "; ".join(grounds.remarks)
    return OperationOutcome(
        action="ended", type=memory.type, key=memory.key, reason=told, write=write
    )


def _new_entry(
    operation: Insert, group: Sequence[Grounded], present: Present
) -> Iterator[OperationOutcome]:
    """Yield the outcomes of equal new entries: one entry with the best of their evidence."""
    type_, key = present.offer.types[operation.type], content_key(operation.value)
    standing = present.at.get((operation.type, key))
    because = [cited for each in group for cited in citations_of(each.operation)]
    if how := present.refused(operation.type, key, because):
        yield refusal(operation.type, key, how)
        return
    best = _best_of(group)
    grounds = best[0].grounds
    said = [each.operation for each in best if isinstance(each.operation, Insert)]
    equal = _equal(operation, standing, present)
    evidence = _evidence_of(said, present, equal)
    if len(group) > 1:
        reason = "the same was said more than once"
        yield OperationOutcome(action="merged", type=operation.type, key=key, reason=reason)
    if equal is not None:
        yield _merged(equal, evidence, grounds, present)
        return
    since = next((moment_of(each.since) for each in said if each.since), None)
    if type_.single_valued and since is None:
        since = _said_at(said, present)
    until = next((end_of(each.until) for each in said if each.until), None)
    if since and not grounds.doubts:
        rivals = present.rivals.get(said[0].call, ())
        grounds, found = _succession(type_, operation, grounds, rivals, since=since, until=until)
        until = found.until
        for end in found.ends:
            yield OperationOutcome(
                action="ended", type=end.type, key=end.key, reason=end.cause, write=end
            )
    if since and until and until <= since:
        reason = f"it would end at {until:%Y-%m-%d}, before it began"
        yield OperationOutcome(action="refused", type=operation.type, key=key, reason=reason)
        return
    yield new_memory(
        type_,
        key if standing is None else present.new_key(),
        operation.value,
        grounds,
        evidence=evidence,
        now=present.now,
        since=since,
        until=until,
    )


def _succession(
    type_: MemoryType,
    operation: Insert,
    grounds: Grounds,
    rivals: Sequence[Memory],
    *,
    since: datetime,
    until: datetime | None,
) -> tuple[Grounds, Succession]:
    """Return what a new entry ends; it ends nothing, and is doubted, if it is less trusted."""
    found = succession_among(
        type_, operation.value, rivals, since=since, until=until, trust=grounds.trust
    )
    if grounds.trust == "agent" and _ends_words(found.ends, rivals):
        doubted = replace(grounds, doubts=(ENDS,))
        return doubted, Succession(ends=(), until=until)
    return grounds, found


def _ends_words(ends: Sequence[EndMemory], rivals: Sequence[Memory]) -> bool:
    """Return True if one of *ends* is of a memory that rests on words, not on a finding."""
    of_words = {(each.type, each.key) for each in rivals if each.trust != "agent"}
    return any((each.type, each.key) in of_words for each in ends)


def _evidence_of(said: Sequence[Insert], present: Present, equal: Memory | None) -> EvidenceMap:
    """Return the evidence of equal entries: each alone is sufficient."""
    known = [e for e in (*present.offer.known.values(), *present.seen) if e != equal]
    exhibits = Exhibits(present.window, known) if equal else present.exhibits
    words, found = schema_words(present.offer.types[said[0].type].parameters), list[EvidenceMap]()
    for each in said:
        cited = present.evidence_of(each.because)
        found.append(entry_evidence(each.value, cited, exhibits, words))
    evidence, *others = found
    for other in others:
        evidence = merged_evidence(said[0].value, evidence, other, present.exhibits.said)
    return evidence


def _best_of(group: Sequence[Grounded]) -> list[Grounded]:
    """Return the operations of a group without doubts, if any, that have the highest trust."""
    certain = [each for each in group if not each.grounds.doubts] or [group[0]]
    trusts = {each.grounds.trust for each in certain}
    best = next(trust for trust in get_args(Trust) if trust in trusts)
    return [each for each in certain if each.grounds.trust == best]


def _equal(operation: Insert, standing: Memory | None, present: Present) -> Memory | None:
    """Return an active memory with the same content."""
    candidates = [*([standing] if standing else []), *present.offer.known.values()]
    for memory in candidates:
        is_present = not has_ended(memory, present.now)
        same = memory.type == operation.type and same_text(memory.value, operation.value)
        if same and is_present and memory.state != "rejected":
            return memory
    return None


def _merged(
    memory: Memory, evidence: EvidenceMap, grounds: Grounds, present: Present
) -> OperationOutcome:
    """Return the outcome for an existing memory whose content was said again."""
    type_, name = present.offer.types[memory.type], memory.type
    is_finding = grounds.trust == "agent"
    # A user's statement replaces an agent's finding, and rests on the user's words alone.
    is_released = (memory.state == "quarantined" or memory.trust == "agent") and not (
        grounds.doubts or is_finding
    )
    is_weaker = least([memory.trust, grounds.trust]) != memory.trust or bool(grounds.doubts)
    said = present.exhibits.said
    joined = merged_evidence(memory.value, memory.evidence, evidence, said)
    has_news = joined != merged_evidence(memory.value, memory.evidence, {}, said)
    if not memory.evidence:  # a person wrote it: it rests on no words, but lives on with them
        has_news = expiry_of(type_, present.now) is not None
    if not is_released and (is_weaker or not has_news):
        reason = "it is remembered already, from the same words or more trusted ones"
        return OperationOutcome(action="unchanged", type=name, key=memory.key, reason=reason)
    reason = "it was said again" + (", beyond doubt" if is_released else "")
    write = replace(
        revision(
            memory,
            memory.value,
            trust=grounds.trust if is_released else memory.trust,
            # A quarantined memory that is confirmed keeps only undoubted evidence.
            evidence=evidence if is_released else joined,
            cause=f"merged: {reason.removeprefix('it was ')}",
        ),
        state="active" if is_released else memory.state,
        expires_at=expiry_of(type_, present.now) or memory.expires_at,
    )
    action: FormationAction = "stored" if is_released else "merged"
    return OperationOutcome(action=action, type=name, key=memory.key, reason=reason, write=write)


def _in_turn(outcomes: Sequence[OperationOutcome], present: Present) -> list[OperationOutcome]:
    """Return *outcomes* with each new single value ending where the next one begins."""
    found = list(outcomes)
    for at, outcome in enumerate(found):
        put, type_ = outcome.write, present.offer.types[outcome.type]
        if not _is_single(outcome, type_) or not isinstance(put, PutMemory):
            continue
        later = [
            max(moment, put.valid_from + A_MOMENT)
            for place, other in enumerate(found)
            if _is_single(other, type_)
            and isinstance(other.write, PutMemory)
            and same_in(other.write.value, put.value, identity_of(type_))
            and (moment := other.write.valid_from)
            and put.valid_from
            and (moment, place) > (put.valid_from, at)
        ]
        if later:
            until = min([*later, *([put.valid_until] if put.valid_until else [])])
            found[at] = replace(outcome, write=replace(put, valid_until=until))
    return found


def _is_single(outcome: OperationOutcome, type_: MemoryType) -> bool:
    """Return True if an outcome stores a value of which only one may be valid at a time."""
    put = outcome.write
    return (
        outcome.action == "stored"
        and outcome.type == type_.name
        and isinstance(put, PutMemory)
        and is_single(type_, put.value)
    )


def _said_at(operations: Sequence[Operation], present: Present) -> datetime:
    """Return when the newest message that *operations* cite was said; now if they cite none."""
    return present.said_at(e for each in operations for e in citations_of(each)) or present.now
