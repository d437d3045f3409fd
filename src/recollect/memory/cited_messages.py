"""Write memories only if the messages that they name as their evidence exist."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from recollect.errors import UsageError
from recollect.memory.conflict_retries import decided_unerased
from recollect.records import Evidence, EvidenceMap, Memory, PutMemory, Scope, Write
from recollect.stores.contract.base import Store
from recollect.stores.remainder import MEMORY_THREAD
from recollect.text.scope_paths import written_scope

if TYPE_CHECKING:
    from recollect.memory.facade import Recollect

ResultT = TypeVar("ResultT")


async def apply_cited(
    memory: Recollect, scope: Scope, writes: Sequence[Write]
) -> tuple[Memory | None, ...]:
    """
    Apply *writes* if every message that a put cites exists: no erase would take what rests on it.

    A message that was removed counts as long as a version of the memory cites it.

    Raises:
        UsageError: There is no such message, or it was erased.
    """
    puts = [each for each in writes if isinstance(each, PutMemory) and any(_cited(each.evidence))]
    if not puts:
        return await memory.apply(scope, writes)

    async def apply_checked(store: Store) -> tuple[Memory | None, ...]:
        for each in puts:
            await _check_cited(store, scope, each)
        return await memory.over(store).apply(scope, writes)

    # A message that is erased after the check must not come back with what quotes it.
    return await decided_unerased(memory.store, scope, apply_checked)


async def citing(
    memory: Recollect,
    scope: Scope,
    evidence: Sequence[Evidence],
    change: Callable[[Recollect], Awaitable[ResultT]],
) -> ResultT:
    """
    Return the result of *change* on a view of *memory* if every message in *evidence* exists.

    Raises:
        UsageError: There is no such message, or it was erased.
    """
    cited = sorted(set(_cited({"": evidence})))
    if not cited:
        return await change(memory)

    async def change_checked(store: Store) -> ResultT:
        lacking = set(cited) - await store.known_messages(scope, cited)
        if lacking:
            raise _refusal("the evidence", *min(lacking), scope)
        return await change(memory.over(store))

    return await decided_unerased(memory.store, scope, change_checked)


async def _check_cited(store: Store, scope: Scope, put: PutMemory) -> None:
    cited = set(_cited(put.evidence))
    lacking = cited - await store.known_messages(scope, sorted(cited))
    for version in await store.history(scope, put.type, put.key) if lacking else ():
        lacking -= set(_cited(version.evidence))
    if lacking:
        raise _refusal(f"the evidence of {put.type}/{put.key}", *min(lacking), scope)


def _refusal(what: str, thread: str, message: str, scope: Scope) -> UsageError:
    return UsageError(
        f"{what} names the message {message!r} of the thread {thread!r}, which is not in "
        f"{written_scope(scope)}: append it first, or leave it out"
    )


def _cited(evidence: EvidenceMap) -> Iterator[tuple[str, str]]:
    """Yield the messages in *evidence* by (thread, id)."""
    for each in (each for found in evidence.values() for each in found):
        # An id with "@" and no quote only ties the memory to its thread, to be erased with it.
        is_tie = each.message.startswith("@") and each.quote is None
        if not (each.is_finding or is_tie or each.thread == MEMORY_THREAD):
            yield each.thread, each.message
