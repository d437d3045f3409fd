"""
Keep erased memories from being formed again from earlier messages.

When a memory is erased, its source messages stay in their thread, and may even be pending. So keyed
digests of its content are kept, with the time of the erase. A message from after that time may
form the same content again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.formation.value_identity import changing_keys, refusing_keys
from recollect.records import MemoryAddress, Revision, Scope
from recollect.side_records import FORGOTTEN, PutSideRecord, SideAddress
from recollect.stores.contract.base import Store
from recollect.stores.plans.erase_targets import EraseMemory
from recollect.stores.proposal_names import proposed_for
from recollect.stores.validation import WRITES_MAX


async def note_forgotten(store: Store, scope: Scope, target: EraseMemory) -> None:
    """Record the digests of a memory that is about to be erased; see `forgotten_notes`."""
    writes = await forgotten_notes(store, scope, target)
    for start in range(0, len(writes), WRITES_MAX):
        await store.apply(scope, writes[start : start + WRITES_MAX])


async def forgotten_notes(store: Store, scope: Scope, target: EraseMemory) -> list[PutSideRecord]:
    """
    Return the writes that record the digests of a memory which is about to be erased.

    There are none if it has no evidence to be formed from again, or if the erase will do nothing
    because the memory is not at the expected version.
    """
    versions = await store.history(scope, target.type, target.key)
    if not any(each.evidence for each in versions):
        return []
    if target.expected not in {None, versions[-1].version}:
        return []
    keys = await _keys_of(store, scope, target, versions)
    names = [await store.keyed(target.type, key) for key in sorted(keys)]
    return [PutSideRecord(kind=FORGOTTEN, key=name, value={}) for name in names]


async def _keys_of(
    store: Store, scope: Scope, target: EraseMemory, versions: Sequence[Revision]
) -> set[str]:
    """Return the keys that the content of *versions* would have if it was formed again."""
    proposed = proposed_for(target.key) if versions[-1].state == "quarantined" else None
    if proposed is None:
        return {k for each in versions for k in refusing_keys(target.type, target.key, each.value)}
    standing = await store.get(scope, target.type, proposed[0])
    known = standing.value if standing else {}
    # Only the proposed change is erased: the content that it would leave as it is stays allowed.
    return {
        key
        for each in versions
        for key in changing_keys(target.type, proposed[0], each.value, known)
    }


async def forgotten_at(
    store: Store, scope: Scope, addresses: Sequence[MemoryAddress]
) -> dict[MemoryAddress, datetime]:
    """Return the erase time of each of *addresses* whose content was erased before."""
    names = [SideAddress(FORGOTTEN, await store.keyed(*each)) for each in addresses]
    found = await store.side_records_at(scope, names)
    return {
        address: each.updated_at for address, each in zip(addresses, found, strict=True) if each
    }
