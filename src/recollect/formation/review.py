"""What a person decides about a memory: rejecting a value for good, approving what waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from recollect.errors import NotFoundError, UsageError, VersionConflictError
from recollect.formation.evidence import Step, traced
from recollect.formation.identity import content_key, field_keys, proposed_for
from recollect.formation.patch import PatchError
from recollect.formation.pointers import leaves, value_at
from recollect.records import (
    DeleteMemory,
    Json,
    JsonObject,
    Memory,
    MemoryState,
    PutMemory,
    Write,
)


def rejection_of(
    memory: Memory, pointer: str = "", *, standing: Memory | None = None
) -> list[Write]:
    """
    Return the writes that refuse *memory*, or what stands at *pointer* in it, for good.

    The refused value stays, visibly, so that it is not formed again: the memory in the state
    ``rejected``; of a field a memory beside it, and the document goes on without the field.

    Args:
        standing: The memory for which *memory* is a proposed change, if it is one: what it
            would change is refused, and the rest stays as it is.

    Raises:
        NotFoundError: There is nothing at *pointer*.
    """
    if pointer:
        value = _at(memory, pointer)
        return [_without(memory, pointer), *_refused_fields(memory, value, pointer)]
    refused: list[Write] = [_again(memory, memory.value, state="rejected", cause="rejected")]
    key = content_key(memory.value)
    proposed = proposed_for(memory.key) if memory.state == "quarantined" else None
    if proposed is not None:
        refused += _refused_changes(memory, standing, is_new=proposed[1] == 0)
    elif memory.key == memory.type:
        refused += _refused_fields(memory, memory.value, "")
    elif key != memory.key:
        refused.append(
            PutMemory(
                type=memory.type, key=key, value=memory.value, state="rejected", cause="rejected"
            )
        )
    return refused


def _refused_changes(proposal: Memory, standing: Memory | None, *, is_new: bool) -> Iterator[Write]:
    """Yield what keeps the changes of *proposal* from being proposed again, if they are known."""
    if standing is None and not is_new:
        return
    known = {} if standing is None else dict(leaves(standing.value))
    for at, leaf in leaves(proposal.value):
        if at not in known or known[at] != leaf:
            yield from _refused_fields(proposal, leaf, at)


def _at(memory: Memory, pointer: str) -> Json:
    try:
        return value_at(memory.value, pointer)
    except LookupError:
        msg = f"{memory.type}/{memory.key} has nothing at {pointer!r}"
        raise NotFoundError(msg) from None


def _without(memory: Memory, pointer: str) -> PutMemory:
    try:
        cut = Step(operation={"op": "remove", "path": pointer})
        value, evidence = traced(memory.value, memory.evidence, [cut])
    except PatchError as error:
        msg = f"{pointer!r} cannot be taken out of {memory.type}/{memory.key}: {error}"
        raise UsageError(msg) from error
    return replace(
        _again(memory, value, state=memory.state, cause=f"rejected {pointer}"), evidence=evidence
    )


def _refused_fields(memory: Memory, value: Json, pointer: str) -> list[Write]:
    """Return the memories that keep each leaf of *value* from being formed again."""
    fields = {
        key: {"pointer": at, "value": value_at(memory.value, at)}
        for at, key in field_keys(value, pointer)
    }
    return [
        PutMemory(type=memory.type, key=key, value=each, state="rejected", cause="rejected")
        for key, each in fields.items()
    ]


def approval_of(memory: Memory, standing: Memory | None) -> list[Write]:
    """
    Return the writes that put in force what waits in quarantine, exactly as it waits.

    *standing* is the memory that a proposed change is for, if it is one.

    Raises:
        UsageError: It does not wait for approval.
        VersionConflictError: What the change was proposed for has changed since.
    """
    if memory.state != "quarantined":
        msg = f"{memory.type}/{memory.key} is {memory.state}: nothing waits for approval"
        raise UsageError(msg)
    proposed = proposed_for(memory.key)
    if proposed is None:
        return [_again(memory, memory.value, state="active", cause="approved")]
    key, version = proposed
    actual = 0 if standing is None else standing.version
    if actual != version:
        raise VersionConflictError(f"{memory.type}/{key}", version, actual)
    approved = replace(
        _again(standing or memory, memory.value, state="active", cause="approved"),
        key=key,
        expected=version,
        evidence=memory.evidence,
        trust=memory.trust,
    )
    if memory.valid_until is not None:
        approved = replace(approved, valid_until=memory.valid_until)
    return [approved, DeleteMemory(type=memory.type, key=memory.key, expected=memory.version)]


def _again(memory: Memory, value: JsonObject, *, state: MemoryState, cause: str) -> PutMemory:
    return PutMemory(
        type=memory.type,
        key=memory.key,
        value=value,
        expected=memory.version,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        expires_at=memory.expires_at,
        evidence=memory.evidence,
        trust=memory.trust,
        state=state,
        cause=cause,
    )
