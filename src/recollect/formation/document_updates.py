"""Documents: apply all operations of an answer on one document as its next version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.formation.attribution import document_evidence, schema_words
from recollect.formation.document_merges import list_step, merge_steps
from recollect.formation.evidence import TracedOperation, traced
from recollect.formation.grounding.grounds import Grounds
from recollect.formation.grounding.passage_trust import least
from recollect.formation.moved_ends import moved_end
from recollect.formation.older_words import refused_step
from recollect.formation.operation_outcomes import (
    CHANGES,
    Grounded,
    OperationOutcome,
    Present,
    new_memory,
    refusal,
    revision,
)
from recollect.formation.operations import (
    Citation,
    Insert,
    Patch,
    PatchChange,
    citations_of,
    cited_by,
)
from recollect.formation.patch import PatchError, apply_patch
from recollect.formation.succession import holds_from
from recollect.formation.types import MemoryType
from recollect.formation.types.schema import violations
from recollect.formation.value_identity import (
    content_key,
    field_key,
    field_keys,
    owner_of,
    proposal_key,
)
from recollect.records import EvidenceMap, FormationAction, Json, JsonObject, Memory, Trust
from recollect.stores.json_pointers import covers, leaves, part_at
from recollect.stores.kept_evidence import Founded
from recollect.stores.provenance import words_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """The next version of a document; *memory* is the stored one, *version* the new number."""

    type: MemoryType
    key: str
    memory: Memory | None
    version: int
    value: JsonObject
    evidence: EvidenceMap
    trust: Trust
    is_new: bool

    def outcome(
        self, action: FormationAction, reason: str, *, stale: bool = False
    ) -> OperationOutcome:
        """Return the outcome of an operation on the document that writes nothing."""
        return OperationOutcome(
            action=action, type=self.type.name, key=self.key, reason=reason, stale=stale
        )


class _NotPossibleError(Exception):
    """An operation does not fit the current draft of the document."""


class _LessTrustedError(Exception):
    """An operation would replace content with words of lower trust."""


def document_outcomes(
    group: Sequence[Grounded],
    standing: Memory | None,
    type_: MemoryType,
    present: Present,
    *,
    key: str,
) -> Iterator[OperationOutcome]:
    """
    Yield the outcomes of all operations on the document at *key*, which may be new.

    All certain operations make one version together, in order of dependency. Each doubtful one is
    proposed as the version after that.
    """
    before = _draft_of(standing, type_, key, present)
    draft, left = before, [each for each in group if not each.grounds.doubts]
    doubtful = [each for each in group if each.grounds.doubts]
    while left:
        waiting: list[tuple[Grounded, str]] = []
        for each in left:
            try:
                taken, refused = _taken(each, draft, present)
                draft = _checked(each, draft, taken)
            except _NotPossibleError as error:
                waiting.append((each, str(error)))
            except _LessTrustedError as error:
                doubts = (*each.grounds.doubts, str(error))
                doubtful.append(replace(each, grounds=replace(each.grounds, doubts=doubts)))
            else:
                yield from refused
        if waiting and len(waiting) == len(left):
            yield from (draft.outcome("refused", reason, stale=True) for _, reason in waiting)
            break
        left = [each for each, _ in waiting]
    written = _written(before, draft, present)
    if written is not None:
        yield written
        draft = replace(draft, version=draft.version + (written.write is not None))
    for each in doubtful:
        # A person decides about it, and sees beside it what was said since.
        yield from _proposed(each, draft, replace(present, told={}))


def _draft_of(standing: Memory | None, type_: MemoryType, key: str, present: Present) -> _Draft:
    # A document that a person ended is history: what is said since would not be seen in it.
    holding = standing if standing and holds_from(standing, present.now) else None
    return _Draft(
        type=type_,
        key=key,
        memory=standing,
        version=standing.version if standing else 0,
        value=holding.value if holding else {},
        evidence=holding.evidence if holding else {},
        trust=holding.trust if holding else "user",
        is_new=holding is None,
    )


def _taken(
    each: Grounded, draft: _Draft, present: Present
) -> tuple[_Draft, list[OperationOutcome]]:
    """Return the draft with *each* applied, and outcomes for values that a person rejected."""
    operation = each.operation
    if isinstance(operation, Insert):
        steps, refused = _brought_by(operation, draft, present)
    elif isinstance(operation, Patch):
        steps, refused = _steps_of(operation, draft, present)
    else:
        raise _NotPossibleError("a document cannot end")
    if not steps:
        return draft, refused
    try:
        value, evidence = traced(
            draft.value,
            draft.evidence,
            steps,
            said=present.exhibits.said,
            schema=schema_words(draft.type.parameters),
            others=[present.exhibits.origins],
        )
    except PatchError as error:
        raise _NotPossibleError(f"the patch does not apply: {error}") from None
    wrong = violations(draft.type, value)
    if wrong and refused:
        return draft, refused
    if wrong:
        raise _NotPossibleError(f"the document would not fit its schema: {'; '.join(wrong)}")
    if draft.type.update_mode == "insert" and value != draft.value:
        key = content_key(value)
        if how := present.refused(draft.type.name, key, citations_of(operation)):
            return draft, [*refused, refusal(draft.type.name, key, how)]
    if draft.trust == "agent" != each.grounds.trust:
        evidence = words_alone(evidence)
    trust = _trust_after(draft, each, value, evidence, present)
    return replace(draft, value=value, evidence=evidence, trust=trust), refused


def _trust_after(
    draft: _Draft, each: Grounded, value: JsonObject, evidence: EvidenceMap, present: Present
) -> Trust:
    """
    Return the trust of a document after an operation: the least of both.

    What an agent found is forgotten where all that is left rests on the words of the operation.
    """
    trust = least([draft.trust, each.grounds.trust])
    if trust != "agent" or each.grounds.trust == "agent":
        return trust
    cited = present.evidence_of([replace(e, path="") for e in citations_of(each.operation)])
    said = {(e.thread, e.message) for found in cited.values() for e in found}
    founded = [found for _, _, found in Founded(value, evidence).leaves()]
    is_said = all(found and {(e.thread, e.message) for e in found} <= said for found in founded)
    return each.grounds.trust if is_said else trust


def _checked(each: Grounded, draft: _Draft, taken: _Draft) -> _Draft:
    """
    Return the draft, unless words of lower trust remove content from it.

    Pasted, quoted or tool text may add to a document. It may change one only if such text may
    create one: if the type's roles include a tool or the system, and no one else contributed; or if
    a user shows it, and the entry tells it as its author's.
    What an agent found changes only what an agent found.
    """
    if each.grounds.trust == "agent" and _loses_words(draft, taken):
        raise _LessTrustedError("an agent found it, and more trusted words say otherwise")
    if draft.trust != "agent" and not draft.is_new and _has_finding(taken.evidence):
        raise _LessTrustedError("a part of it is what an agent found, and nobody said")
    is_theirs = {"tool", "system"} & set(draft.type.roles) and draft.trust == "external"
    is_entry = draft.type.update_mode == "insert" and each.grounds.is_attributed
    if each.grounds.trust != "external" or draft.is_new or is_theirs or is_entry:
        return taken
    if not _leaf_counts(draft.value) <= _leaf_counts(taken.value):
        raise _LessTrustedError(CHANGES)
    return taken


def _loses_words(draft: _Draft, taken: _Draft) -> bool:
    """Return True if a finding would change content that rests on words."""
    if draft.memory is None:
        return False
    if draft.trust != "agent":
        return True
    said = Counter(
        field_key(pointer, leaf)
        for pointer, leaf, found in Founded(draft.value, draft.evidence).leaves()
        if not any(each.is_finding for each in found)
    )
    # Without any evidence all fields are the agent's; next to findings, the others are a person's.
    return bool(draft.evidence) and not said <= _leaf_counts(taken.value)


def _has_finding(evidence: EvidenceMap) -> bool:
    return any(each.is_finding for found in evidence.values() for each in found)


def _leaf_counts(value: JsonObject) -> Counter[str]:
    """Return how often each leaf occurs at a pointer; positions in a list are ignored."""
    return Counter(field_key(pointer, leaf) for pointer, leaf in leaves(value))


def _brought_by(
    operation: Insert, draft: _Draft, present: Present
) -> tuple[list[TracedOperation], list[OperationOutcome]]:
    """Return the patch steps that merge a new document into the draft."""
    whole = TracedOperation(
        operation={"op": "replace", "path": "", "value": operation.value},
        evidence=_evidence_of(operation.value, operation.because, draft, present),
    )
    owner = owner_of(draft.type.name, draft.key)
    refused = {
        pointer: how
        for pointer, key in field_keys(operation.value, owner=owner)
        if (how := present.refused(operation.type, key, _bearing_on(pointer, operation)))
    }
    # Removing a list element moves the later ones up, so remove from the end.
    cuts = [
        TracedOperation(operation={"op": "remove", "path": pointer})
        for pointer in reversed(refused)
    ]
    value, evidence = traced({}, {}, [whole, *cuts], said=present.exhibits.said)
    steps: list[TracedOperation] = []
    outcomes = [refusal(operation.type, draft.key, how, at) for at, how in refused.items()]
    for step in merge_steps(draft.value, value, evidence, "") if value or not refused else ():
        cited = _bearing_on(str(step.operation["path"]), operation)
        if older := _refused_as_older(step, cited, draft, present):
            outcomes.append(older)
        else:
            steps.append(step)
    return steps, outcomes


def _evidence_of(
    value: Json, cited: Sequence[Citation], draft: _Draft, present: Present
) -> EvidenceMap:
    """Return the evidence of each part of a value that enters a document."""
    found = present.evidence_of(cited)
    schema = schema_words(draft.type.parameters)
    return document_evidence(value, found, present.exhibits.said, schema)


def _bearing_on(pointer: str, operation: Insert) -> list[Citation]:
    """Return the citations of a field or of one of its containers."""
    return [
        each
        for each in operation.because
        if covers(each.path, pointer) or covers(pointer, each.path)
    ]


def _refused_as_older(
    step: TracedOperation, cited: Sequence[Citation], draft: _Draft, present: Present
) -> OperationOutcome | None:
    if draft.is_new:
        return None
    return refused_step(step.operation, draft.value, cited, (draft.type.name, draft.key), present)


def _steps_of(
    operation: Patch, draft: _Draft, present: Present
) -> tuple[list[TracedOperation], list[OperationOutcome]]:
    steps: list[TracedOperation] = []
    refused: list[OperationOutcome] = []
    owner = owner_of(draft.type.name, draft.key)
    for change in operation.changes:
        path = str(change.operation.get("path"))
        is_moving = change.operation.get("op") in {"move", "copy"}
        value = _value_after(draft.value, steps) if is_moving or path.endswith("/-") else {}
        keys, cited = keys_of(change, value, owner), cited_by(change)
        ways = [present.refused(draft.type.name, key, cited) for key in keys]
        if how := next((each for each in ways if each), None):
            refused.append(refusal(draft.type.name, draft.key, how, path))
            continue
        elements = part_at(value, path.removesuffix("/-")) if path.endswith("/-") else None
        whole = [replace(each, path="") for each in cited]
        evidence = _evidence_of(change.operation.get("value"), whole, draft, present)
        step = list_step(change.operation, elements, evidence)
        if older := _refused_as_older(step, cited, draft, present):
            refused.append(older)
            continue
        steps.append(step)
    return steps, refused


def _value_after(value: JsonObject, steps: Sequence[TracedOperation]) -> JsonObject:
    try:
        return apply_patch(value, [step.operation for step in steps])
    except PatchError:
        return value  # the error is reported when all operations are carried out


def keys_of(change: PatchChange, value: JsonObject, owner: str) -> list[str]:
    """Return the keys under which rejected values of *change* are stored."""
    operation = change.operation
    pointer = str(operation.get("path"))
    if operation.get("op") in {"add", "replace"}:
        return [key for _, key in field_keys(operation.get("value"), pointer, owner)]
    if operation.get("op") in {"move", "copy"}:
        moved = part_at(value, str(operation.get("from")))
        return [key for _, key in field_keys(moved, pointer, owner)]
    return []


def _written(before: _Draft, draft: _Draft, present: Present) -> OperationOutcome | None:
    """Return the outcome that stores the draft, ``None`` if it did not change."""
    if draft is before:
        return None
    memory = draft.memory
    if draft.is_new:
        return new_memory(
            draft.type,
            draft.key,
            draft.value,
            Grounds(trust=draft.trust),
            evidence=draft.evidence,
            now=present.now,
            expected=draft.version,
        )
    is_same = draft.value == before.value
    if memory is None or (
        is_same and draft.evidence == traced(before.value, before.evidence, [])[1]
    ):
        return draft.outcome("unchanged", "it says so already")
    write = revision(
        memory,
        draft.value,
        trust=draft.trust,
        evidence=draft.evidence,
        cause="merged: said again" if is_same else "formed",
    )
    write = replace(write, valid_until=moved_end(memory, draft.value))
    return OperationOutcome(
        action="merged" if is_same else "changed",
        type=draft.type.name,
        key=draft.key,
        reason="it was said again" if is_same else "",
        write=write,
    )


def _proposed(each: Grounded, draft: _Draft, present: Present) -> Iterator[OperationOutcome]:
    try:
        proposed, refused = _taken(each, draft, present)
    except _NotPossibleError as error:
        yield draft.outcome("refused", str(error), stale=True)
        return
    yield from refused
    if proposed.value == draft.value:
        if not refused:
            yield draft.outcome("unchanged", "it says so already")
        return
    yield new_memory(
        draft.type,
        proposal_key(draft.key, draft.version, proposed.value),
        proposed.value,
        replace(each.grounds, trust=proposed.trust),
        evidence=proposed.evidence,
        now=present.now,
        expected=None,
    )
