"""The patch steps that merge a new document into a stored one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recollect.formation.evidence import TracedOperation, within
from recollect.formation.value_identity import normalised
from recollect.records import EvidenceMap, Json, JsonObject
from recollect.stores.json_pointers import is_list, is_same, join_pointer


def merge_steps(
    old: JsonObject, new: JsonObject, evidence: EvidenceMap, at: str
) -> Iterator[TracedOperation]:
    """Yield the patch steps that merge *new* into *old*, both at the pointer *at*."""
    for name, value in new.items():
        pointer = at + join_pointer([name])
        there = old.get(name)
        if isinstance(there, Mapping) and isinstance(value, Mapping):
            yield from merge_steps(there, value, evidence, pointer)
        elif is_list(there) and is_list(value):
            for number, element in enumerate(value):
                added = {"op": "add", "path": f"{pointer}/-", "value": element}
                yield list_step(added, there, within(f"{pointer}/{number}", evidence))
        else:
            operation: JsonObject = {"op": "add", "path": pointer, "value": value}
            yield TracedOperation(operation=operation, evidence=within(pointer, evidence))


def list_step(operation: JsonObject, elements: Json, evidence: EvidenceMap) -> TracedOperation:
    """Return the patch step of *operation*; a list gains no element that it already has."""
    path = str(operation["path"])
    if operation["op"] == "add" and path.endswith("/-") and is_list(elements):
        for number, element in enumerate(elements):
            if _same_words(element, operation["value"]):
                again = {"op": "replace", "path": f"{path[:-1]}{number}", "value": element}
                return TracedOperation(operation=again, evidence=evidence)
    return TracedOperation(operation=operation, evidence=evidence)


def _same_words(one: Json, other: Json) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return normalised(one) == normalised(other)
    return is_same(one, other)
