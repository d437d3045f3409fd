"""Take a memory out of force, in each way that there is."""

from dataclasses import replace
from typing import Final

from recollect import PutMemory, Scope, SyncRecollect

NOT_IN_FORCE: Final = ("rejected", "quarantined", "ended")


def take_out_of_force(memory: SyncRecollect, scope: Scope, type_: str, how: str) -> None:
    """Have a person reject or end the only memory of *type_*, or have it wait for a verdict."""
    (found,) = memory.memories(scope, type_=type_).rows
    if how == "rejected":
        memory.reject(scope, type_, found.key)
    elif how == "ended":
        memory.end(scope, type_, found.key, found.updated_at)
    else:
        same = PutMemory(type=type_, key=found.key, value=found.value, evidence=found.evidence)
        memory.apply(scope, [replace(same, state="quarantined")])
