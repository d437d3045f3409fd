"""Corrections by a person: replace a wrong value, and cite the person's words as evidence."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.errors import NotFoundError, UsageError
from recollect.formation.evidence import TracedOperation, traced
from recollect.formation.patch import PatchError
from recollect.formation.types import MemoryType
from recollect.formation.types.schema import violations
from recollect.records import Evidence, Json, Memory, PutMemory
from recollect.stores.json_pointers import value_at


def correction_of(
    memory: Memory,
    pointer: str,
    value: Json,
    *,
    because: Evidence,
    types: Sequence[MemoryType] = (),
) -> PutMemory:
    """
    Return the write that replaces the value at *pointer* in *memory* by *value*.

    The old value stays in the history with its evidence; the new one cites *because*. A missing
    field is added; the pointer ``""`` is the whole document.

    Raises:
        NotFoundError: There is no such place in the document.
        UsageError: The result would not fit its type's schema, if the type is among *types*.
    """
    address = f"{memory.type}/{memory.key}"
    if not pointer and not isinstance(value, dict):
        raise UsageError(f"the whole of {address} must be a JSON object, not {value!r}")
    verb = "replace" if _is_there(memory, pointer) else "add"
    step = TracedOperation(
        operation={"op": verb, "path": pointer, "value": value}, evidence={"": (because,)}
    )
    try:
        corrected, evidence = traced(memory.value, memory.evidence, [step])
    except PatchError as error:
        raise NotFoundError(f"{address} has no place {pointer!r}: {error}") from error
    for type_ in types:
        wrong = violations(type_, corrected) if type_.name == memory.type else ()
        if wrong:
            msg = f"the correction does not fit the type of {address}: {'; '.join(wrong)}"
            raise UsageError(msg)
    return PutMemory(
        type=memory.type,
        key=memory.key,
        value=corrected,
        expected=memory.version,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        expires_at=memory.expires_at,
        evidence=evidence,
        trust=memory.trust if pointer else "user",
        state=memory.state,
        cause=f"corrected {pointer}".strip(),
    )


def _is_there(memory: Memory, pointer: str) -> bool:
    try:
        value_at(memory.value, pointer)
    except LookupError:
        return False
    return True
