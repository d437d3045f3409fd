"""Stores of entity summaries: in this process, in a scope, or a foreign one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Final

from anyio import to_thread

from recollect.conversation.base import pass_over
from recollect.conversation.document_sources import versions_before
from recollect.conversation.entity_names import folded
from recollect.memory.facade import Recollect
from recollect.memory.thread_summary import short_key
from recollect.records import DeleteMemory, Evidence, EvidenceMap, Memory, PutMemory, Scope
from recollect.stores.pages import each_page
from recollect.stores.remainder import MEMORY_THREAD
from recollect.stores.validation import PAGE_ROWS_MAX, WRITES_MAX
from recollect.sync.object_home import AnyRecollect, Home

ENTITY_TYPE: Final = "Entity"


class BaseEntityStore(ABC):
    """Stores a summary per name, with the methods of LangChain's entity stores."""

    @abstractmethod
    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the summary of *key*, *default* if there is none."""

    @abstractmethod
    def set(self, key: str, value: str | None) -> None:
        """Keep *value* as what is known of *key*."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Forget *key*."""

    @abstractmethod
    def exists(self, key: str) -> bool:
        """Return True if something is known of *key*."""

    @abstractmethod
    def clear(self) -> None:
        """Forget all names."""

    def keys(self) -> list[str]:
        """Return the names that something is known of; none, where the store cannot list."""
        return []


class InMemoryEntityStore(BaseEntityStore):
    """Names in this process, by their exact spelling; *store* is what is known at first."""

    def __init__(self, store: Mapping[str, str | None] | None = None, **unknown: object) -> None:
        pass_over(self, unknown)
        self.store: dict[str, str | None] = dict(store or {})

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the summary of *key*, *default* if there is none."""
        return self.store.get(key, default)

    def set(self, key: str, value: str | None) -> None:
        """Keep *value* as what is known of *key*."""
        self.store[key] = value

    def delete(self, key: str) -> None:
        """Forget *key*; nothing happens if it is unknown."""
        self.store.pop(key, None)

    def exists(self, key: str) -> bool:
        """Return True if something is known of *key*."""
        return key in self.store

    def clear(self) -> None:
        """Forget all names."""
        self.store.clear()

    def keys(self) -> list[str]:
        """Return the names that something is known of."""
        return list(self.store)


class ScopeEntityStore(BaseEntityStore):
    """
    Names as the ``Entity`` memories of a scope, which all its threads share.

    A name is found whatever its case and spacing; the first spelling is kept. Other fields of
    the memory (kind, aliases) are left as they are. Its methods are for a memory that is
    called without ``await``.
    """

    def __init__(self, memory: AnyRecollect, scope: Scope) -> None:
        self.home = Home(memory)
        self.scope = scope

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the summary of *key*, *default* if there is none."""
        found = self.home.call(partial(self.found, names=[key]))
        return summary_in(found[key]) if key in found else default

    def set(self, key: str, value: str | None) -> None:
        """Keep *value* as what is known of *key*; ``None`` and empty text forget it."""
        if not value:
            self.delete(key)
            return
        self.home.call(partial(self._set, key=key, value=value))

    def delete(self, key: str) -> None:
        """Forget *key*; nothing happens if it is unknown."""
        gone = DeleteMemory(type=ENTITY_TYPE, key=entity_key(key))
        self.home.call(lambda memory: memory.apply(self.scope, [gone]))

    def exists(self, key: str) -> bool:
        """Return True if something is known of *key*."""
        return key in self.home.call(partial(self.found, names=[key]))

    def clear(self) -> None:
        """Forget all names of the scope."""
        self.home.call(self.forget_all)

    def keys(self) -> list[str]:
        """Return the names that something is known of."""
        return self.home.call(self.listed)

    async def found(self, memory: Recollect, names: Sequence[str]) -> dict[str, Memory]:
        """Return the memories of those of *names* that are known, by the spelling asked for."""
        found = {
            name: await memory.get(self.scope, ENTITY_TYPE, entity_key(name))
            for name in names
            if folded(name)
        }
        return {name: each for name, each in found.items() if each is not None}

    async def listed(self, memory: Recollect) -> list[str]:
        """Return all names."""
        return [str(each.value.get("name", each.key)) for each in await self._all(memory)]

    async def forget_all(self, memory: Recollect) -> None:
        """Forget all names."""
        gone = [DeleteMemory(type=ENTITY_TYPE, key=each.key) for each in await self._all(memory)]
        for start in range(0, len(gone), WRITES_MAX):
            await memory.apply(self.scope, gone[start : start + WRITES_MAX])

    async def _all(self, memory: Recollect) -> list[Memory]:
        found: list[Memory] = []
        async for page in each_page(
            lambda cursor: memory.memories(
                self.scope, type_=ENTITY_TYPE, cursor=cursor, limit=PAGE_ROWS_MAX
            )
        ):
            found += [each for each in page.rows if each.state == "active"]
        return found

    async def _set(self, memory: Recollect, key: str, value: str) -> None:
        before = (await self.found(memory, [key])).get(key)
        await memory.apply(self.scope, [entity_write(key, value, before, [])])


def entity_key(name: str) -> str:
    """
    Return the key of the entity *name*, the same for all its spellings.

    >>> entity_key(" Ada  LOVELACE ")
    'ada lovelace'
    """
    key = folded(name)
    return short_key(key, sha256(key.encode()).hexdigest())


def summary_in(entity: Memory) -> str:
    """Return the summary in an *entity* memory."""
    return str(entity.value.get("summary") or "")


def entity_write(
    name: str, summary: str, before: Memory | None, said: Sequence[Evidence]
) -> PutMemory:
    """Return the write that makes *summary* what is known of *name*; the rest stays."""
    value = dict(before.value) if before else {}
    value = {"name": name, **value, "summary": summary}
    return PutMemory(
        type=ENTITY_TYPE,
        key=entity_key(name),
        value=value,
        expected=before.version if before else 0,
        evidence=_evidence(name, before, said),
        trust="assistant",
        cause="summarised",
    )


def _evidence(name: str, before: Memory | None, said: Sequence[Evidence]) -> EvidenceMap:
    kept: dict[str, Sequence[Evidence]] = dict(before.evidence) if before else {}
    whole = [each for each in kept.pop("", ()) if each.thread != MEMORY_THREAD]
    back = versions_before(ENTITY_TYPE, entity_key(name), before.version) if before else []
    kept |= {"": [*whole, *back], "/summary": list(said)}
    if before is None:
        kept["/name"] = list(said)
    return {pointer: each for pointer, each in kept.items() if each}


@dataclass(frozen=True, slots=True)
class KnownEntities:
    """Summaries as read: *texts* by name, empty for unknown names."""

    texts: Mapping[str, str]
    memories: Mapping[str, Memory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Learnt:
    """The result to store: new *texts* by name, a document of *scope*, and the evidence *told*."""

    texts: Mapping[str, str]
    scope: Scope
    told: Callable[[str], Sequence[Evidence]]
    beside: PutMemory


class KeptEntities:
    """Access of a memory to an entity store, ours or a foreign one."""

    def __init__(self, store: BaseEntityStore) -> None:
        self.store = store

    def key(self, name: str) -> str:
        """Return a name in the form in which the store compares spellings."""
        return entity_key(name) if isinstance(self.store, ScopeEntityStore) else name

    async def read(self, memory: Recollect, names: Sequence[str]) -> KnownEntities:
        """Return the summaries of *names*, in order."""
        if isinstance(self.store, ScopeEntityStore):
            found = await self.store.found(memory, names)
            return KnownEntities(
                {n: summary_in(found[n]) if n in found else "" for n in names}, found
            )
        return KnownEntities(await to_thread.run_sync(self._read_foreign, names))

    async def names(self, memory: Recollect) -> list[str]:
        """Return the names that are known, as far as the store can list them."""
        if isinstance(self.store, ScopeEntityStore):
            return await self.store.listed(memory)
        keys = getattr(self.store, "keys", None) or getattr(self.store, "store", {}).keys
        return list(await to_thread.run_sync(keys))

    async def write(self, memory: Recollect, known: KnownEntities, learnt: Learnt) -> None:
        """
        Keep what was learnt; in the memory's own scope all of it or nothing.

        Raises:
            VersionConflictError: An entity of ours was written since *known* was read.
        """
        store = self.store
        writes: list[PutMemory] = []
        if not isinstance(store, ScopeEntityStore):
            await to_thread.run_sync(self._write_foreign, learnt.texts)
        else:
            here = store.scope == learnt.scope
            writes = [
                entity_write(
                    name, text, known.memories.get(name), learnt.told(text) if here else ()
                )
                for name, text in learnt.texts.items()
                if folded(name) and text != known.texts.get(name)
            ]
            if writes and not here:
                await memory.apply(store.scope, writes)
                writes = []
        await memory.apply(learnt.scope, [*writes, learnt.beside])

    def _read_foreign(self, names: Sequence[str]) -> dict[str, str]:
        return {name: self.store.get(name, "") or "" for name in names}

    def _write_foreign(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            self.store.set(name, text)
