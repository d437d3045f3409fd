"""`FormedStore`: a LangGraph store that shows formed memories beside its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from langgraph.store.base import (
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from recollect.errors import UsageError
from recollect.formation.types import BUILTIN_TYPES, MemoryType
from recollect.formation.types.schema import violations
from recollect.integrations.langgraph.graph_store import RecollectStore
from recollect.integrations.langgraph.store_reads import (
    ITEM,
    fits_all,
    is_true,
    item_fields,
    newest_true,
    prolong_used,
    ranked,
)
from recollect.integrations.langgraph.store_writes import Writes
from recollect.lifecycle.forgotten_memories import forgotten_notes
from recollect.memory.conflict_retries import retried
from recollect.memory.facade import Recollect
from recollect.memory.recall_calls import recall_of_types
from recollect.recall.query import Where, query_in
from recollect.recall.scopes_below import scopes_below
from recollect.records import (
    SPEAKER_MARK,
    UNRECALLED_TYPES,
    DeleteMemory,
    Memory,
    PutMemory,
    Scope,
    Write,
)
from recollect.side_records import SideWrite
from recollect.stores.plans.changes import Below
from recollect.stores.plans.erase_targets import EraseMemory
from recollect.stores.plans.prepared_writes import prepare_write
from recollect.sync.object_home import AnyRecollect

CAUSE: Final = "LangGraph's store"
Ranked = list[tuple[Memory, float | None]]


class FormedStore(RecollectStore):
    """
    A `RecollectStore` that shows formed memories as items, with a namespace for each type.

    A memory of the type T in the scope ``(*root, *N)`` is the item with its key in the namespace
    ``(*N, T)``: the profile of Ada is ``get(("ada", "User"), "User")``, and
    ``search(("ada",))`` finds items, profile and notes in one ranking. Putting such an item revises
    the memory's value. Deleting it forgets the memory, so that it is not formed again from earlier
    messages. Putting a valid value at the address of a memory that has ended puts it in force
    again, and at that of a missing profile creates the profile; any other new address is an
    ordinary item. A time to live and an index apply to ordinary items only, and are ignored for
    memories.

    Args:
        types: The types to show; the built-in ones by default.
    """

    def __init__(
        self,
        memory: AnyRecollect | str,
        root: Scope,
        *,
        types: Sequence[MemoryType] = BUILTIN_TYPES,
        index: IndexConfig | dict[str, Any] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__(memory, root, index=index, ttl=ttl)
        hidden = {*UNRECALLED_TYPES, ITEM}
        self.types: Mapping[str, MemoryType] = {
            each.name: each for each in types if each.name not in hidden
        }

    async def _batch(self, memory: Recollect, ops: Sequence[Op]) -> list[Result]:
        """Run *ops*; run them again if a memory that they revise was changed meanwhile."""
        return await retried(partial(super()._batch, memory, ops))

    async def _writes(self, memory: Recollect, ops: Sequence[Op]) -> Writes:
        last = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
        revised = {at: await self._revision(memory, op) for at, op in last.items()}
        writes = await super()._writes(memory, [op for at, op in last.items() if not revised[at]])
        for revision in revised.values():
            if revision:
                scope, write = revision
                given: list[Write | SideWrite] = [write]
                if isinstance(write, DeleteMemory):
                    target = EraseMemory(type=write.type, key=write.key)
                    given += await forgotten_notes(memory.store, scope, target)
                writes.setdefault(scope, []).extend([prepare_write(each)] for each in given)
        return writes

    async def _read(self, memory: Recollect, ops: Sequence[Op]) -> list[Result]:
        results = await super()._read(memory, [_plain(each) for each in ops])
        for number, op in enumerate(ops):
            if isinstance(op, GetOp) and results[number] is None:
                results[number] = await self._formed(memory, op)
            elif isinstance(op, SearchOp):
                results[number] = await self._search(memory, op)
            elif isinstance(op, ListNamespacesOp):
                results[number] = await self._listed(memory, op)
        return results

    async def _active_at(self, memory: Recollect, namespace: Scope, key: str) -> Memory | None:
        """Return the active formed memory at an item's address, which may have ended."""
        if not namespace or namespace[-1] not in self.types:
            return None
        found = await memory.store.get((*self.root, *namespace[:-1]), namespace[-1], key)
        return found if found is not None and found.state == "active" else None

    async def _formed(self, memory: Recollect, op: GetOp) -> Item | None:
        found = await self._active_at(memory, tuple(op.namespace), op.key)
        return Item(**self._item_fields(found)) if found and is_true(memory, found) else None

    async def _revision(self, memory: Recollect, op: PutOp) -> tuple[Scope, Write] | None:
        """Return the scope and write of a put to a formed memory; ``None`` for an ordinary item."""
        namespace = tuple(op.namespace)
        type_ = self.types.get(namespace[-1]) if namespace else None
        if type_ is None or await memory.get((*self.root, *namespace), ITEM, op.key):
            return None
        active = await self._active_at(memory, namespace, op.key)
        found = active if active and is_true(memory, active) else None
        wrong = [] if op.value is None else violations(type_, dict(op.value))
        if active and not found and op.value is not None and not wrong:
            # As an ended item. One beside it would share its address, should the end be undone.
            begun = replace(active, valid_from=None, valid_until=None)
            put = PutMemory(type=type_.name, key=op.key, value=dict(op.value), cause=CAUSE)
            return active.scope, revised(begun, put)
        if found is None and (op.value is None or wrong or not _is_document_of(type_, op.key)):
            return None
        scope = (*self.root, *namespace[:-1])
        if op.value is None:
            return scope, DeleteMemory(type=type_.name, key=op.key)
        if wrong:
            raise UsageError(f"the value is not a valid {type_.name}: {'; '.join(wrong)}")
        put = PutMemory(type=type_.name, key=op.key, value=dict(op.value), cause=CAUSE)
        return scope, revised(found, put) if found else put

    async def _search(self, memory: Recollect, op: SearchOp) -> list[SearchItem]:
        end = op.offset + op.limit
        if op.query and op.query.strip():
            found = await self._ranked(memory, op, end) if op.limit else []
            if op.limit and len(found) < end:
                known = {(each.scope, each.type, each.key) for each, _ in found}
                newest = await self._newest(memory, op, end)
                found += [
                    each
                    for each in newest
                    if (each[0].scope, each[0].type, each[0].key) not in known
                ]
        else:
            found = await self._newest(memory, op, end)
        shown = found[op.offset : end]
        if op.refresh_ttl:
            await prolong_used(memory, [each for each, _ in shown if each.type == ITEM])
        return [SearchItem(**self._item_fields(each), score=score) for each, score in shown]

    def _parts(self, prefix: Scope) -> list[tuple[Scope, tuple[str, ...], bool]]:
        """Return what a prefix covers: scopes, their types, and whether scopes below count."""
        parts: list[tuple[Scope, tuple[str, ...], bool]] = [
            ((*self.root, *prefix), (ITEM, *self.types), True)
        ]
        if prefix and prefix[-1] in self.types:
            parts.append(((*self.root, *prefix[:-1]), (prefix[-1],), False))
        return parts

    async def _ranked(self, memory: Recollect, op: SearchOp, end: int) -> Ranked:
        found: Ranked = []
        query = query_in(op.query or "")
        for scope, types, below in self._parts(tuple(op.namespace_prefix)):
            scopes = {scope}
            if below:
                scopes = {each for type_ in types for each in await _scopes(memory, scope, type_)}
            if not scopes:
                continue
            where = Where(messages=False, types=types, filter=op.filter or None)
            recall = partial(recall_of_types, memory, sorted(scopes), query, where=where)
            found += await ranked(recall, end)
        return sorted(found, key=lambda pair: -(pair[1] or 0.0))[:end]

    async def _newest(self, memory: Recollect, op: SearchOp, limit: int) -> Ranked:
        found: list[Memory] = []
        for scope, types, below in self._parts(tuple(op.namespace_prefix)):
            for type_ in types:
                read = partial(memory.store.newest, scope, type_, filter_=op.filter, below=below)
                found += await newest_true(memory, read, limit)
        found.sort(key=lambda each: (each.scope, each.type, each.key))
        found.sort(key=lambda each: each.updated_at, reverse=True)
        return [(each, None) for each in found[:limit]]

    async def _listed(self, memory: Recollect, op: ListNamespacesOp) -> list[Scope]:
        holding: dict[Scope, list[tuple[Scope, str]]] = {}
        for type_ in (ITEM, *self.types):
            for scope in await _scopes(memory, self.root, type_):
                namespace = self._namespace_of(scope, type_)
                if fits_all(op.match_conditions or (), namespace):
                    holding.setdefault(namespace[: op.max_depth], []).append((scope, type_))
        found: list[Scope] = []
        for namespace in sorted(holding):
            if len(found) == op.offset + op.limit:
                break
            if await _holds_any(memory, holding[namespace]):
                found.append(namespace)
        return found[op.offset :]

    def _namespace_of(self, scope: Scope, type_: str) -> Scope:
        inside = scope[len(self.root) :]
        return inside if type_ == ITEM else (*inside, type_)

    def _item_fields(self, memory: Memory) -> dict[str, Any]:
        return item_fields(memory, self._namespace_of(memory.scope, memory.type))


def revised(stored: Memory, put: PutMemory) -> PutMemory:
    """
    Return *put* as a revision of the *stored* memory that changes its value only.

    As in every put, unchanged parts of the value, and words taken over, keep their evidence and are
    erased with it.
    """
    return replace(
        put,
        expected=stored.version,
        trust=stored.trust,
        valid_from=stored.valid_from,
        valid_until=stored.valid_until,
        expires_at=stored.expires_at,
    )


def _is_document_of(type_: MemoryType, key: str) -> bool:
    """Return True if *key* is that of the type's document, or of a speaker's document."""
    is_speakers = key.startswith(SPEAKER_MARK) and key != SPEAKER_MARK
    return type_.update_mode == "patch" and (key == type_.name or is_speakers)


_NOTHING: Final = GetOp(namespace=(), key="-", refresh_ttl=False)
"""A placeholder for an operation that this class runs itself."""


def _plain(op: Op) -> Op:
    """Return *op* if ordinary items can answer it, else a placeholder that costs nothing."""
    return op if isinstance(op, GetOp) else _NOTHING


async def _holds_any(memory: Recollect, places: Sequence[tuple[Scope, str]]) -> bool:
    """Return True if one of the scopes has a valid memory of its type."""
    for scope, type_ in places:
        if type_ == ITEM:  # a scope is listed only if it has an unexpired item
            return True
        if await newest_true(memory, partial(memory.store.newest, scope, type_, below=False), 1):
            return True
    return False


async def _scopes(memory: Recollect, prefix: Scope, type_: str) -> tuple[Scope, ...]:
    return await scopes_below(memory.store, Below((prefix,), type_))
