"""A person's verdict on a formed memory: approve it, or reject it for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from recollect.errors import NotFoundError, VersionConflictError
from recollect.formation.config import Assistants
from recollect.formation.rivals import is_single
from recollect.formation.scope_types import type_in_force
from recollect.formation.verdicts import approval_of, rejection_of
from recollect.memory.value_checks import check_key
from recollect.records import (
    DeleteMemory,
    EndMemory,
    JsonObject,
    Memory,
    MemoryAddress,
    PutMemory,
    Revision,
    Scope,
    Write,
)
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.proposal_names import is_named, is_shortened, proposed_for
from recollect.stores.remainder import REDUCED
from recollect.text.scope_paths import written_scope
from recollect.worker.formation_input import read_rivals

ROWS_A_PAGE: Final = 500


async def rejecting_writes(
    store: Store, scope: Scope, memory: Memory, pointer: str, assistants: Assistants
) -> Sequence[Write]:
    """Return the writes that reject *memory*, or the value at *pointer* in it."""
    proposal_for = await proposed_target(store, scope, memory.type, memory.key)
    known = await type_in_force(store, scope, assistants, memory.type)
    return rejection_of(memory, pointer, standing=proposal_for, type_=known)


async def approving_writes(
    store: Store,
    scope: Scope,
    memory: Memory,
    assistants: Assistants,
    decided: Mapping[MemoryAddress, Memory] | None = None,
) -> Sequence[Write]:
    """
    Return the writes that make a quarantined *memory* active, unchanged.

    *decided* are the memories that earlier writes of the same change leave otherwise than stored.
    """
    proposal_for = await proposed_target(store, scope, memory.type, memory.key)
    known = await type_in_force(store, scope, assistants, memory.type)
    rivals: Sequence[Memory] = ()
    if known is not None and is_single(known, memory.value):
        # Its type allows one value per subject: approving this one ends the others.
        found = await read_rivals(store, scope, known, {memory.key: memory.value})
        present = {(each.type, each.key): each for each in found[memory.key]} | dict(decided or {})
        rivals = [each for each in present.values() if each.type == memory.type]
    before = await _value_before(store, scope, memory, proposal_for)
    writes = approval_of(memory, proposal_for, before=before, type_=known, rivals=rivals)
    if proposal_for is None and known is not None:
        # It may wait since before its type was migrated; in force it would stop the formation.
        check_key([known], writes[0].type, writes[0].key, None)
    return writes


async def _value_before(
    store: Store, scope: Scope, memory: Memory, target: Memory | None
) -> JsonObject | None:
    """
    Return the value of *target* that *memory* was to change, if it was changed since.

    Where an erase took a part of that version, it is what the erase left.
    """
    proposed = proposed_for(memory.key)
    if proposed is None or target is None or proposed[1] == target.version:
        return None
    if proposed[1] == 0:
        return {}
    history = await store.history(scope, target.type, target.key)
    return next((e.value for e in history if _was_changed(memory, e, proposed[1])), None)


def _was_changed(waiting: Memory, version: Revision, number: int) -> bool:
    """Return True if *waiting* was to change a version, whose *number* an erase may have raised."""
    # What was written after the change began to wait may have been reduced as well.
    is_left = version.cause == REDUCED and version.believed_from <= waiting.created_at
    return version.version == number or (is_left and version.version > number)


async def releasing_writes(
    store: Store, scope: Scope, memory: Memory, assistants: Assistants
) -> list[Write]:
    """
    Return the writes that delete the refusals of what *memory* says.

    A memory that is in force must not be refused under another key: formation could not confirm
    it, and a person would see it twice.
    """
    refusals = await rejecting_writes(store, scope, memory, "", assistants)
    released: list[Write] = []
    for each in refusals:
        if isinstance(each, PutMemory) and (each.type, each.key) != (memory.type, memory.key):
            found = await store.get(scope, each.type, each.key)
            if found is not None and found.state == "rejected":
                released.append(
                    DeleteMemory(type=found.type, key=found.key, expected=found.version)
                )
    return released


async def verdict_writes(
    store: Store,
    scope: Scope,
    verdict: Literal["approve", "reject"],
    versions: Mapping[MemoryAddress, int],
    assistants: Assistants,
) -> list[Write]:
    """
    Return the writes that approve or reject memories, given with the versions that were reviewed.

    They have the same result as a verdict on one after the other: of two values of which only one
    can hold, the second that is approved ends the first.

    Raises:
        NotFoundError: A memory does not exist.
        UsageError: One cannot be approved: it is not in quarantine.
        VersionConflictError: One is not at its version.
    """
    writes: list[Write] = []
    decided: dict[MemoryAddress, Memory] = {}
    for address, expected in versions.items():
        memory = await existing_memory(store, scope, *address, expected)
        if verdict == "reject":
            writes += await rejecting_writes(store, scope, memory, "", assistants)
            continue
        more = await approving_writes(store, scope, memory, assistants, decided)
        decided |= await _after(store, memory, more, decided)
        writes += more
    return writes


async def _after(
    store: Store, memory: Memory, writes: Sequence[Write], decided: Mapping[MemoryAddress, Memory]
) -> dict[MemoryAddress, Memory]:
    """Return the memories as the *writes* that approve *memory* leave them."""
    found: dict[MemoryAddress, Memory] = {}
    for write in writes:
        address = write.type, write.key
        if isinstance(write, PutMemory) and address == (memory.type, memory.key):
            until, version = write.valid_until, memory.version + 1
            found[address] = replace(memory, state="active", valid_until=until, version=version)
        elif isinstance(write, EndMemory):
            was = decided.get(address) or await existing_memory(store, memory.scope, *address, None)
            found[address] = replace(was, valid_until=write.at, version=was.version + 1)
    return found


async def existing_memory(
    store: Store, scope: Scope, type_: str, key: str, expected: int | None
) -> Memory:
    """
    Return the memory at an address, at the version *expected* if one is given.

    Raises:
        NotFoundError: There is no such memory.
        VersionConflictError: It is not at version *expected*.
    """
    memory = await store.get(scope, type_, key)
    if memory is None:
        raise NotFoundError(f"there is no memory {type_}/{key} in {written_scope(scope)}")
    if expected is not None and memory.version != expected:
        raise VersionConflictError(f"{type_}/{key}", expected, memory.version)
    return memory


async def proposed_target(store: Store, scope: Scope, type_: str, key: str) -> Memory | None:
    """Return the memory that a proposal with this key would change; ``None`` if there is none."""
    proposed = proposed_for(key)
    if proposed is None:
        return None
    name = proposed[0]
    found = await store.get(scope, type_, name)
    if found is not None or not is_shortened(name):
        return found
    # A proposal holds a long key in short, with a digest: compare it with all keys of the type.
    async for each in each_row(
        lambda cursor: store.memories(scope, type_=type_, cursor=cursor, limit=ROWS_A_PAGE)
    ):
        if is_named(name, each.key):
            return each
    return None
