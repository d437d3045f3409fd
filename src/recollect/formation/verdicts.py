"""Review decisions: reject a value for good, or approve a quarantined one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.errors import NotFoundError, StaleReadError, UsageError
from recollect.formation.evidence import TracedOperation, traced
from recollect.formation.operation_outcomes import revision
from recollect.formation.patch import PatchError
from recollect.formation.rebased_changes import rebased
from recollect.formation.rivals import succession_among
from recollect.formation.succession import told_at
from recollect.formation.types import MemoryType
from recollect.formation.types.schema import violations
from recollect.formation.value_identity import content_key, field_keys, owner_of
from recollect.records import DeleteMemory, Json, JsonObject, Memory, PutMemory, Write
from recollect.stores.json_pointers import leaves, value_at
from recollect.stores.proposal_names import proposed_for
from recollect.stores.provenance import evidence_at
from recollect.stores.remainder import MEMORY_THREAD, named_version
from recollect.text.coded_text import with_code


def rejection_of(
    memory: Memory,
    pointer: str = "",
    *,
    standing: Memory | None = None,
    type_: MemoryType | None = None,
) -> list[Write]:
    """
    Return the writes that reject *memory*, or the value at *pointer* in it, for good.

    The rejected value stays visible, so that it is not formed again: a memory in the state
    ``rejected``. For a field, that is a memory of its own, and the document loses the field.
    A field of an entry is rejected for that entry alone.

    Args:
        standing: The memory that *memory* proposes to change, if any: the proposed changes are
            rejected, and the rest stays.
        type_: The memory's type, where it is known.

    Raises:
        NotFoundError: There is nothing at *pointer*.
        UsageError: Without the value at *pointer* the memory would not fit its type.
    """
    owner = _owner(memory, standing)
    if pointer:
        value = _value_in(memory, pointer)
        return [
            _removal_of(memory, pointer, type_),
            *_refused_fields(memory, value, pointer, owner),
        ]
    refused: list[Write] = [revision(memory, memory.value, state="rejected", cause="rejected")]
    key = content_key(memory.value)
    proposed = proposed_for(memory.key) if memory.state == "quarantined" else None
    if proposed is not None:
        if standing is not None or proposed[1] == 0:
            refused += _refused_changes(memory, standing, owner)
    elif memory.key == memory.type or (memory.speaker and _is_patched(type_)):
        refused += _refused_fields(memory, memory.value, "", owner)
    elif key != memory.key and not _extends_itself(memory):
        refused.append(
            PutMemory(
                type=memory.type,
                key=key,
                value=memory.value,
                evidence=memory.evidence,
                trust=memory.trust,
                state="rejected",
                cause="rejected",
            )
        )
    return refused


def _extends_itself(memory: Memory) -> bool:
    """Return True for a running summary: it cites its earlier versions, and no text forms it."""
    return any(
        each.thread == MEMORY_THREAD
        and (named := named_version(each.message)) is not None
        and named[:2] == (memory.type, memory.key)
        for found in memory.evidence.values()
        for each in found
    )


def _is_patched(type_: MemoryType | None) -> bool:
    return type_ is None or type_.update_mode == "patch"


def _owner(memory: Memory, standing: Memory | None) -> str:
    """Return the owner of rejected fields: the entry that *memory* is, or would change."""
    proposed = proposed_for(memory.key) if memory.state == "quarantined" else None
    key = memory.key if proposed is None else proposed[0]
    return owner_of(memory.type, key if standing is None else standing.key)


def _refused_changes(proposal: Memory, standing: Memory | None, owner: str) -> Iterator[Write]:
    """Yield the writes that keep the changes of *proposal* from being proposed again."""
    known = {} if standing is None else dict(leaves(standing.value))
    for at, leaf in leaves(proposal.value):
        if at not in known or known[at] != leaf:
            yield from _refused_fields(proposal, leaf, at, owner)


def _value_in(memory: Memory, pointer: str) -> Json:
    try:
        return value_at(memory.value, pointer)
    except LookupError:
        msg = f"{memory.type}/{memory.key} has nothing at {pointer!r}"
        raise NotFoundError(msg) from None


def _removal_of(memory: Memory, pointer: str, type_: MemoryType | None) -> PutMemory:
    try:
        cut = TracedOperation(operation={"op": "remove", "path": pointer})
        value, evidence = traced(memory.value, memory.evidence, [cut])
    except PatchError as error:
        msg = f"{pointer!r} cannot be taken out of {memory.type}/{memory.key}: {error}"
        raise UsageError(msg) from error
    if type_ is not None:
        _check_needed(memory, value, pointer, type_)
    return replace(revision(memory, value, cause=f"rejected {pointer}"), evidence=evidence)


def _check_needed(memory: Memory, value: JsonObject, pointer: str, type_: MemoryType) -> None:
    """Reject the removal of a required value; violations that existed before may stay."""
    wrong = [
        each for each in violations(type_, value) if each not in violations(type_, memory.value)
    ]
    if wrong:
        msg = (
            f"{pointer!r} cannot be taken out of {memory.type}/{memory.key}, which would not fit "
            f"its type without it: {'; '.join(wrong)}; reject the whole memory, or put another "
            "value in its place"
        )
        raise UsageError(msg)


def _refused_fields(memory: Memory, value: Json, pointer: str, owner: str) -> list[Write]:
    """
    Return the memories that keep each leaf of *value* from being formed again.

    They repeat the rejected words, so they have the same evidence and trust, and are erased
    with it.
    """
    of: JsonObject = {"entry": owner} if owner else {}
    refused: dict[str, PutMemory] = {}
    for at, key in field_keys(value, pointer, owner):
        found = evidence_at(at, memory.evidence)
        refused[key] = PutMemory(
            type=memory.type,
            key=key,
            value={**of, "pointer": at, "value": value_at(memory.value, at)},
            evidence={"": found} if found else {},
            trust=memory.trust,
            state="rejected",
            cause="rejected",
        )
    return list(refused.values())


def approval_of(
    memory: Memory,
    standing: Memory | None,
    *,
    before: JsonObject | None = None,
    type_: MemoryType | None = None,
    rivals: Sequence[Memory] = (),
) -> list[Write]:
    """
    Return the writes that activate a quarantined memory unchanged.

    A single value ends the *rivals* that it replaces, as a newly formed one does, but none that was
    said after it.

    Args:
        standing: The memory that *memory* proposes to change, if any.
        before: The value that was to be changed, if *standing* may have changed since.
        type_: The memory's type, where it is known.
        rivals: Memories of the type about the same subject.

    Raises:
        UsageError: The memory is not quarantined.
        StaleReadError: What it would change says something else by now, or is gone.
    """
    if memory.state != "quarantined":
        msg = f"{memory.type}/{memory.key} is {memory.state}: nothing waits for approval"
        raise UsageError(msg)
    proposed = proposed_for(memory.key)
    if proposed is None:
        approved = revision(memory, memory.value, state="active", cause="approved")
        return [approved] if type_ is None else _in_place(approved, memory, type_, rivals)
    key, version = proposed if standing is None else (standing.key, proposed[1])
    actual = 0 if standing is None else standing.version
    if _is_another(standing, memory):
        change = None
    else:
        change = memory if actual == version else _rebased(memory, standing, before, type_)
    if change is None:
        raise StaleReadError(_overtaken(f"{memory.type}/{key}", version, standing, memory))
    approved = replace(
        revision(standing or memory, change.value, state="active", cause="approved"),
        key=key,
        expected=actual,
        evidence=change.evidence,
        trust=change.trust,
    )
    if memory.valid_until is not None:
        approved = replace(approved, valid_until=memory.valid_until)
    return [approved, DeleteMemory(type=memory.type, key=memory.key, expected=memory.version)]


def _is_another(standing: Memory | None, waiting: Memory) -> bool:
    """
    Return True if *standing* took the place of the memory that *waiting* was to change.

    Versions begin anew with another memory, so that its version may be the same.
    """
    return standing is not None and standing.created_at > waiting.updated_at


def _overtaken(address: str, version: int, standing: Memory | None, waiting: Memory) -> str:
    """Return why a change can no longer be made, and what a reviewer can do instead."""
    if standing is None:
        found = "is gone, which this would change"
    elif _is_another(standing, waiting):
        found = "is another memory by now: the one that this would change was removed"
    else:
        found = (
            f"was written since this change of it began to wait (version {standing.version}, not "
            f"{version}), and says something else where it would be changed"
        )
    # Not "read it again": that ends the same way, however often it is approved.
    return with_code(
        "change_overtaken",
        f"{address} {found}: reject the change, and write what should hold yourself",
        memory=address,
    )


def _rebased(
    memory: Memory, standing: Memory | None, before: JsonObject | None, type_: MemoryType | None
) -> Memory | None:
    """Return a change on top of what is stored by now; ``None`` if it cannot be made there."""
    if standing is None or before is None:
        return None
    change = rebased(memory, before, standing)
    is_wrong = change is not None and type_ is not None and violations(type_, change.value)
    return None if is_wrong else change


def _in_place(
    approved: PutMemory, memory: Memory, type_: MemoryType, rivals: Sequence[Memory]
) -> list[Write]:
    """
    Return the write of a value and the ends of the values that it replaces.

    It is as old as its words, not as its approval: what was said while it waited stays in force.
    """
    told = told_at(memory)
    found = succession_among(
        type_,
        memory.value,
        rivals,
        since=memory.valid_from or told,
        until=memory.valid_until,
        trust=memory.trust,
        told=told,
    )
    return [replace(approved, valid_until=found.until), *found.ends]
