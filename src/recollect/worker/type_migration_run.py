"""Detect memories in a type's other `update_mode`, and convert them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from recollect.errors import LeaseLostError, NotFoundError, UpdateModeError, UsageError
from recollect.formation.derived_memories import DerivedChange, change_record, outcomes_of
from recollect.formation.formation_receipt import outcomes_record
from recollect.formation.formation_sources import consolidation_sources
from recollect.formation.type_migration import in_other_mode, migration
from recollect.formation.types import MemoryType, UpdateMode
from recollect.formation.value_identity import content_key
from recollect.records import JsonObject, Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_page
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.receipt_sources import EXAMINED, READ, examined_in
from recollect.stores.validation import check_id, check_scope, to_datetime
from recollect.text.scope_paths import written_scope
from recollect.worker.consolidation_input import PAGE_ROWS
from recollect.worker.lease_renewal import claim_or_release, release_if_possible


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeMigration:
    """
    The result of a type migration; `undo` takes its *id*, ``None`` if nothing was converted.

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     note = memory.remember("ada", "The boat is red.")
    ...     turned = memory.migrate_type("ada", "Note", "patch")
    ...     again = memory.migrate_type("ada", "Note", "patch")
    >>> turned.update_mode, len(turned.changes), again.id
    ('patch', 1, None)
    """

    id: str | None
    type: str
    update_mode: UpdateMode
    changes: tuple[DerivedChange, ...] = ()


async def check_modes(store: Store, scope: Scope, types: Sequence[MemoryType]) -> None:
    """
    Raise if active memories of *types* were written under another `update_mode`.

    Raises:
        UpdateModeError: There are such memories; the message names the type, their number and the
            remedy.
    """
    patched = [each for each in types if each.update_mode == "patch"]
    inserted = [each for each in types if each.update_mode == "insert"]
    documents = await store.get_many(scope, [(each.name, each.name) for each in inserted])
    now = to_datetime(store.now())
    for type_, document in zip(inserted, documents, strict=True):
        if document is not None and in_other_mode([document], "insert", now):
            raise UpdateModeError(type_.name, "patch", "insert", 1)
    for type_ in patched:
        others = await _others(store, scope, type_.name, "patch")
        if others:
            raise UpdateModeError(type_.name, "insert", "patch", len(others))


async def migrate(store: Store, scope: Scope, type_: str, update_mode: UpdateMode) -> TypeMigration:
    """
    Convert the memories of a type of a scope to *update_mode*, all or none of them.

    It holds the lease of the scope, so that nothing is formed meanwhile.

    Raises:
        UsageError: There is no such mode.
        LeaseLostError: The scope is being formed, or something was erased meanwhile.
        VersionConflictError: One of the memories was changed meanwhile.
    """
    scope, type_ = check_scope(scope), check_id(type_, "a memory's type")
    if update_mode not in get_args(UpdateMode):
        raise UsageError(
            f"there is no update_mode {update_mode!r}: use one of {', '.join(get_args(UpdateMode))}"
        )
    nothing = TypeMigration(id=None, type=type_, update_mode=update_mode)
    if not await _others(store, scope, type_, update_mode):
        return nothing
    owner = f"migration {os.getpid()}"
    lease = await claim_or_release(store, owner, scope=scope, idle=True)
    if lease is None:
        raise LeaseLostError(f"the scope {written_scope(scope)} is being formed: try again")
    try:
        # Read again under the lease: a formation may have changed them before the claim.
        changes = await _changes(store, scope, type_, update_mode)
        if not changes:
            await store.release(lease)
            return nothing
        return await _commit(store, lease, changes, update_mode)
    except BaseException:
        # Release the lease of a failed run, so that no worker waits for its expiry.
        await release_if_possible(store, lease)
        raise


async def _changes(
    store: Store, scope: Scope, type_: str, update_mode: UpdateMode
) -> tuple[DerivedChange, ...]:
    sources = await _others(store, scope, type_, update_mode)
    now = to_datetime(store.now())
    if not sources:
        return ()
    key = type_ if update_mode == "patch" else content_key(sources[0].value)
    standing = await store.get(scope, type_, key)
    if standing is not None and update_mode == "insert":
        # The new entry must not overwrite another one with the same content key.
        key, standing = store.new_name(), None
    return (migration(sources, update_mode, key=key, standing=standing, now=now),)


async def _commit(
    store: Store, lease: Lease, changes: tuple[DerivedChange, ...], update_mode: UpdateMode
) -> TypeMigration:
    type_ = changes[0].type
    last = await store.formations(lease.scope, status="consolidated", limit=1)
    receipt: JsonObject = {
        **outcomes_record(outcomes_of(changes)),
        "reason": f"{type_} was migrated to {update_mode}",
        "consolidation": {"changes": [change_record(each) for each in changes]},
        # The newest receipt alone is read for these: carry them on, or the next consolidation
        # would examine every group again.
        EXAMINED: list(examined_in(last.rows[0].receipt)) if last.rows else [],
        READ: consolidation_sources((), changes),
    }
    writes = [write for each in changes for write in each.writes]
    formed = Formed(watermarks={}, status="consolidated", receipt=receipt)
    await store.commit(lease, writes, formed)
    page = await store.formations(lease.scope, status="consolidated", limit=10)
    made = next((each.id for each in page.rows if each.fence == lease.fence), None)
    if made is None:
        raise NotFoundError(f"the migration of {type_!r} was stored, but erased meanwhile")
    return TypeMigration(id=made, type=type_, update_mode=update_mode, changes=changes)


async def _others(store: Store, scope: Scope, type_: str, update_mode: UpdateMode) -> list[Memory]:
    """Return the active memories of a type that are in the other mode."""
    found: list[Memory] = []
    now = to_datetime(store.now())
    async for page in each_page(
        lambda cursor: store.memories(scope, type_=type_, cursor=cursor, limit=PAGE_ROWS)
    ):
        found += in_other_mode(page.rows, update_mode, now)
    return found
