"""Stores of entity summaries: in this process, in a scope, or LangChain's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Final

from anyio import to_thread

from recollect.conversation.base import warn_ignored
from recollect.conversation.document_sources import versions_before
from recollect.conversation.entity_names import folded
from recollect.formation.succession import holds_from
from recollect.memory.facade import Recollect
from recollect.memory.pagination import each_memory
from recollect.memory.thread_summary import short_key
from recollect.records import DeleteMemory, Evidence, EvidenceMap, Memory, PutMemory, Scope, Write
from recollect.stores.remainder import MEMORY_THREAD
from recollect.stores.validation import WRITES_MAX, to_datetime
from recollect.sync.object_home import AnyRecollect, Home

ENTITY_TYPE: Final = "Entity"


class BaseEntityStore(ABC):
    """A store of one summary per name, with the methods of LangChain's entity stores."""

    @abstractmethod
    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the summary of *key*, or *default* if there is none."""

    @abstractmethod
    def set(self, key: str, value: str | None) -> None:
        """Store *value* as the summary of *key*."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove *key*."""

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Return True if *key* is stored."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all names."""

    def keys(self) -> list[str]:
        """Return the stored names; empty if the store cannot list them."""
        return []


class InMemoryEntityStore(BaseEntityStore):
    """Summaries in this process by the exact name; *store* holds the initial ones."""

    def __init__(self, store: Mapping[str, str | None] | None = None, **unknown: object) -> None:
        warn_ignored(self, unknown)
        self.store: dict[str, str | None] = dict(store or {})

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the summary of *key*, or *default* if there is none."""
        return self.store.get(key, default)

    def set(self, key: str, value: str | None) -> None:
        """Store *value* as the summary of *key*."""
        self.store[key] = value

    def delete(self, key: str) -> None:
        """Remove *key*; do nothing if it is not stored."""
        self.store.pop(key, None)

    def exists(self, key: str) -> bool:
        """Return True if *key* is stored."""
        return key in self.store

    def clear(self) -> None:
        """Remove all names."""
        self.store.clear()

    def keys(self) -> list[str]:
        """Return the stored names."""
        return list(self.store)


class ScopeEntityStore(BaseEntityStore):
    """
    Summaries in the ``Entity`` memories of a scope, which all its threads share.

    Names are compared without case and spacing; the first spelling is kept. Other fields of an
    ``Entity`` (kind, aliases) are not changed. The methods that LangChain's interface has are
    synchronous: with an asynchronous memory use the coroutines.
    """

    def __init__(self, memory: AnyRecollect, scope: Scope) -> None:
        self.home = Home(memory)
        self.scope = scope

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the summary of *key*, or *default* if there is none."""
        found = self.home.call(partial(self.in_force, names=[key]))
        return summary_in(found[key]) if key in found else default

    def set(self, key: str, value: str | None) -> None:
        """Store *value* as the summary of *key*; ``None`` or empty text removes the entity."""
        if not value:
            self.delete(key)
            return
        self.home.call(partial(self._set, key=key, value=value))

    def delete(self, key: str) -> None:
        """Remove *key*; do nothing if it is not stored."""
        gone = DeleteMemory(type=ENTITY_TYPE, key=entity_key(key))
        self.home.call(lambda memory: memory.apply(self.scope, [gone]))

    def exists(self, key: str) -> bool:
        """Return True if *key* is stored."""
        return key in self.home.call(partial(self.in_force, names=[key]))

    def clear(self) -> None:
        """Remove all entities of the scope."""
        self.home.call(self.forget_all)

    def keys(self) -> list[str]:
        """Return the stored names."""
        return self.home.call(self.listed)

    async def found(self, memory: Recollect, names: Sequence[str]) -> dict[str, Memory]:
        """
        Return the ``Entity`` memories of *names*, by the given spelling; unknown are omitted.

        Those that are rejected, waiting or ended are among them, as a write has to replace them.
        """
        found = {
            name: await memory.get(self.scope, ENTITY_TYPE, entity_key(name))
            for name in names
            if folded(name)
        }
        return {name: each for name, each in found.items() if each is not None}

    async def in_force(self, memory: Recollect, names: Sequence[str]) -> dict[str, Memory]:
        """Return what `found` does, without what is rejected, waiting or ended."""
        found = await self.found(memory, names)
        return {name: each for name, each in found.items() if holds_from(each, _now(memory))}

    async def listed(self, memory: Recollect) -> list[str]:
        """Return all names."""
        found = [each for each in await self._all(memory) if holds_from(each, _now(memory))]
        return [str(each.value.get("name", each.key)) for each in found]

    async def forget_all(self, memory: Recollect) -> None:
        """Remove all entities."""
        gone = [DeleteMemory(type=ENTITY_TYPE, key=each.key) for each in await self._all(memory)]
        for start in range(0, len(gone), WRITES_MAX):
            await memory.apply(self.scope, gone[start : start + WRITES_MAX])

    async def _all(self, memory: Recollect) -> list[Memory]:
        entities = each_memory(memory, self.scope, ENTITY_TYPE)
        return [each async for each in entities if each.state == "active"]

    async def _set(self, memory: Recollect, key: str, value: str) -> None:
        before = (await self.found(memory, [key])).get(key)
        await memory.apply(self.scope, entity_writes(key, value, before))


def entity_key(name: str) -> str:
    """
    Return the key of the entity *name*, the same for every case and spacing.

    >>> entity_key(" Ada  LOVELACE ")
    'ada lovelace'
    """
    key = folded(name)
    return short_key(key, sha256(key.encode()).hexdigest())


def _now(memory: Recollect) -> datetime:
    return to_datetime(memory.store.now())


def summary_in(entity: Memory) -> str:
    """Return the summary in an *entity* memory."""
    return str(entity.value.get("summary") or "")


def entity_writes(
    name: str,
    summary: str,
    before: Memory | None,
    *,
    said: Sequence[Evidence] = (),
    named: Sequence[Evidence] = (),
) -> list[Write]:
    """
    Return the writes that set the *summary* of *name*, and keep the entity's other fields.

    The summary rests on the messages that *said* it, and a new entity on those that *named* it:
    its key is made of the name, which may stand in none of the former.
    """
    writes: list[Write] = []
    if before is not None and before.state != "active":
        # Nothing can be derived from a version that a person rejected, or has not approved yet:
        # begin without it.
        writes.append(DeleteMemory(type=ENTITY_TYPE, key=before.key, expected=before.version))
        before = None
    value = dict(before.value) if before else {}
    value = {"name": name, **value, "summary": summary}
    put = PutMemory(
        type=ENTITY_TYPE,
        key=entity_key(name),
        value=value,
        expected=before.version if before else 0,
        evidence=_evidence(name, before, said, named),
        trust="assistant",
        cause="summarised",
    )
    return [*writes, put]


def _evidence(
    name: str, before: Memory | None, said: Sequence[Evidence], named: Sequence[Evidence]
) -> EvidenceMap:
    if before is None:
        found: dict[str, Sequence[Evidence]] = {"": named}
    else:
        found = dict(before.evidence)
        whole = [each for each in found.pop("", ()) if each.thread != MEMORY_THREAD]
        back = versions_before(ENTITY_TYPE, entity_key(name), before.version)
        found[""] = [*whole, *back]
    found["/summary"] = said
    return {pointer: each for pointer, each in found.items() if each}


@dataclass(frozen=True, slots=True)
class KnownEntities:
    """Summaries as read: *texts* by name (empty for unknown names), and their memories."""

    texts: Mapping[str, str]
    memories: Mapping[str, Memory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Learnt:
    """
    New summaries (*texts*) by name, as a model learnt them from a turn.

    *cite* returns the evidence of a summary; *beside* is a write of *scope*, the progress.
    """

    texts: Mapping[str, str]
    scope: Scope
    cite: Callable[[str], Sequence[Evidence]]
    beside: PutMemory


class KeptEntities:
    """Asynchronous access to an entity store, ours or LangChain's."""

    def __init__(self, store: BaseEntityStore) -> None:
        self.store = store

    def key(self, name: str) -> str:
        """Return *name* as the store compares it: exactly, or normalised in a scope."""
        return entity_key(name) if isinstance(self.store, ScopeEntityStore) else name

    async def read(self, memory: Recollect, names: Sequence[str]) -> KnownEntities:
        """Return the summaries of *names*, in order."""
        if isinstance(self.store, ScopeEntityStore):
            found, now = await self.store.found(memory, names), _now(memory)
            told = {n: summary_in(each) for n, each in found.items() if holds_from(each, now)}
            return KnownEntities({name: told.get(name, "") for name in names}, found)
        return KnownEntities(await to_thread.run_sync(self._read_foreign, names))

    async def names(self, memory: Recollect) -> list[str]:
        """Return the stored names, if the store can list them."""
        if isinstance(self.store, ScopeEntityStore):
            return await self.store.listed(memory)
        keys = getattr(self.store, "keys", None) or getattr(self.store, "store", {}).keys
        return list(await to_thread.run_sync(keys))

    async def write(self, memory: Recollect, known: KnownEntities, learnt: Learnt) -> None:
        """
        Store new summaries, atomically if the store is in the memory's own scope.

        Raises:
            VersionConflictError: An ``Entity`` was written since *known* was read.
        """
        store = self.store
        writes: list[Write] = []
        if not isinstance(store, ScopeEntityStore):
            await to_thread.run_sync(self._write_foreign, learnt.texts)
        else:
            here = store.scope == learnt.scope
            writes = [
                write
                for name, text in learnt.texts.items()
                if folded(name) and text != known.texts.get(name)
                for write in entity_writes(
                    name,
                    text,
                    known.memories.get(name),
                    said=learnt.cite(text) if here else (),
                    named=learnt.cite(name) if here else (),
                )
            ]
            # One write cannot span two scopes. The summaries go first: if the progress is not
            # written, the turn is read again.
            if writes and not here:
                await memory.apply(store.scope, writes)
                writes = []
        await memory.apply(learnt.scope, [*writes, learnt.beside])

    def _read_foreign(self, names: Sequence[str]) -> dict[str, str]:
        return {name: self.store.get(name, "") or "" for name in names}

    def _write_foreign(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            self.store.set(name, text)
