"""`Recollect`: the object users hold; it keeps, recalls and forgets over one store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self, cast

from recollect.deferred_imports import load_modules
from recollect.embedders import EmbedderChoice
from recollect.errors import StoreClosedError
from recollect.memory.audit_access import AuditMethods
from recollect.memory.formation_control import FormationMethods, opened
from recollect.memory.health import LOG, Monitoring, operation_of
from recollect.memory.restoration import Restoration
from recollect.memory.runtime import MemoryRuntime, RuntimeOptions
from recollect.memory.scope_locks import ScopeLocks
from recollect.memory.thread_state import ThreadStateMethods, state_writes
from recollect.observability.spans import observed
from recollect.ports import Clock, Ids, OutsideVectors, TokenCounter
from recollect.recall.query import RecallQuery, Where
from recollect.recall.results import Recall
from recollect.recall.scope_listing import scopes_below
from recollect.records import (
    Attachment,
    EvidenceMap,
    Json,
    JsonObject,
    Memory,
    MemoryState,
    Message,
    NewMessage,
    Page,
    PutMemory,
    Revision,
    Scope,
    Thread,
    Write,
)
from recollect.stores.contract.base import Store
from recollect.stores.contract.durability import Durability
from recollect.stores.contract.scopes import ScopePattern
from recollect.stores.locator import open_store
from recollect.stores.plans.changes import Below
from recollect.stores.plans.erasure import EraseMemory, EraseReceipt, EraseTarget
from recollect.stores.plans.formation import Debounce
from recollect.stores.validation import check_list, check_mapping, check_scope
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.worker_options import CONCURRENCY, Notice, check_concurrency, tell_nobody

if TYPE_CHECKING:  # what the first append does not need is loaded when it is needed
    from recollect.formation.config import Assistants, FormationSettings
    from recollect.models import ModelChoice
    from recollect.recall.neighbours import Neighbour
    from recollect.worker.loop import Worker

SLOW_ERASE_S: Final = 15.0
"""An erase also removes bytes, and takes longer than other operations."""


def open(  # noqa: A001, PLR0913 (users write recollect.open, with what they need)
    url: str = "memory:",
    *,
    embedder: EmbedderChoice = "auto",
    model: ModelChoice | None = None,
    formation: Assistants | FormationSettings | None = None,
    worker: bool = True,
    concurrency: int = CONCURRENCY,
    notice: Notice = tell_nobody,
    count_tokens: TokenCounter = estimated_tokens,
    outside: OutsideVectors | None = None,
    durability: Durability = "full",
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> Recollect:
    """
    Return a memory over the store at *url*, to be entered with ``async with``.

    Args:
        url: ``memory:``, a SQLite file as a path or ``sqlite:///`` URL, or a server:
            ``postgresql://user@host/database``, ``redis://host:6379/0``.
        embedder: ``"minilm"``, ``"none"``, ``"auto"`` (MiniLM where it is installed), an
            `Embedder`, a LangChain ``Embeddings`` object, or a callable.
        model: What forms memories: ``"provider/model"``, a LangChain chat model, a `Model`, or
            an async callable; ``None`` for none, then messages wait until there is one.
        formation: The memory types and how they are formed, alike for all or by assistant.
        worker: Whether memories are formed in the background here; without, only `form` does.
        concurrency: At most so many scopes are formed at once, up to ``CONCURRENCY_MAX``.
        notice: Is told of every formation that ended: its scope, and how. It is called in the
            event loop, so that it returns soon and raises nothing.
        count_tokens: How many tokens a text costs; an estimate by default.
        outside: A store of vectors elsewhere that mirrors the entries and has a say in recall,
            such as `recollect.integrations.langchain.OutsideVectorStore`.
        durability: What an acknowledged write survives: ``"full"`` a power loss as well,
            ``"relaxed"`` the end of the process; see `open_store`.
        clock: Where the present moment comes from.
        ids: Where identity comes from.

    Raises:
        UsageError: The URL, embedder or concurrency is not one.
    """
    return Recollect(
        store=open_store(url, clock=clock, ids=ids, durability=durability),
        embedder=embedder,
        model=model,
        formation=formation,
        worker=worker,
        concurrency=concurrency,
        notice=notice,
        count_tokens=count_tokens,
        outside=outside,
    )


class Recollect(FormationMethods, ThreadStateMethods, AuditMethods, Restoration, Monitoring):
    """
    The memory of an application: threads of messages, and memories, by scope.

    Enter it with ``async with``: that starts the background work (vectors, formation, merging
    of indexes), and ends it and closes the store at the end. Methods may be called from many
    tasks of one event loop. A scope names exactly itself; *below* includes those under it.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedder: EmbedderChoice = "auto",
        model: ModelChoice | None = None,
        formation: Assistants | FormationSettings | None = None,
        worker: bool = True,
        concurrency: int = CONCURRENCY,
        notice: Notice = tell_nobody,
        count_tokens: TokenCounter = estimated_tokens,
        outside: OutsideVectors | None = None,
    ) -> None:
        options = RuntimeOptions(
            embedder=embedder,
            model=model,
            formation=formation,
            works=worker,
            concurrency=check_concurrency(concurrency),
            notice=notice,
            count_tokens=count_tokens,
            outside=outside,
        )
        self.store = store
        self._runtime = MemoryRuntime(store, options)

    async def __aenter__(self) -> Self:
        self._check_not_view()
        await self._runtime.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._runtime.aclose()

    @property
    def worker(self) -> Worker | None:
        """What forms memories while this is open, ``None`` where no model is configured."""
        return self._runtime.worker

    @property
    def turns(self) -> ScopeLocks:
        """The locks of those who write in one scope at the same time."""
        return self._runtime.turns

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The asyncio loop that it lives on; ``None`` while it is not open, or on another kind."""
        return self._runtime.loop

    @property
    def embedder(self) -> str | None:
        """Name the embedder in use, ``None`` if recall works by words alone."""
        embedding = self._runtime.embedding
        return embedding.identity if embedding else None

    @property
    def outside_error(self) -> str | None:
        """Say why the outside store of vectors failed, ``None`` if it did not when last asked."""
        outside = self._runtime.outside
        error = outside.last_error if outside else None
        return str(error) if error else None

    # Keep

    async def append(
        self,
        scope: Scope,
        thread: str,
        messages: Sequence[NewMessage],
        *,
        idempotency_key: str | None = None,
        debounce: Debounce | None = None,
        settings: JsonObject | None = None,
        state: Mapping[str, Json] | None = None,
        attachments: Sequence[Attachment] = (),
        writes: Sequence[Write] = (),
    ) -> tuple[Message, ...]:
        """
        Append messages to a thread; when this returns they are on disk, and found by their words.

        *settings* say how the thread is formed from now on (`recollect.formation.config`), among
        them for which assistant; *debounce* defaults to theirs. *state* and *attachments* are
        kept in the same transaction, as by `set_state` and `attach`, and so are *writes*, as by
        `apply`. See `Store.append`.
        """
        with observed("append", "upsert_memory", LOG, scope, thread) as seen:
            named = {} if settings is None else check_mapping(settings, "a thread's settings")
            default = await self._runtime.debounce_of(named, check_scope(scope))
            attaching = await self._attaching(scope, thread, attachments)
            beside = [*state_writes(thread, state or {}), *attaching, *check_list(writes, "write")]
            kept = await self.store.append(
                scope,
                thread,
                messages,
                idempotency_key=idempotency_key,
                debounce=debounce or default,
                settings=settings,
                writes=beside,
            )
            seen.count(len(kept))
        self._runtime.wrote(scope)
        return kept

    async def threads(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """Return the threads of a scope, by id; see `Store.threads`."""
        return await self.store.threads(scope, cursor=cursor, limit=limit)

    async def thread(self, scope: Scope, thread: str) -> Thread | None:
        """Return a thread, ``None`` if it does not exist."""
        return await self.store.thread(scope, thread)

    async def messages(
        self, scope: Scope, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """Return messages of a thread by position, after the position *after*."""
        return await self.store.messages(scope, thread, after=after, limit=limit)

    async def last_messages(
        self, scope: Scope, thread: str, *, limit: int, before: int | None = None
    ) -> tuple[Message, ...]:
        """Return the newest messages of a thread (before a position), oldest first."""
        return await self.store.last_messages(scope, thread, limit=limit, before=before)

    async def remove(self, scope: Scope, thread: str, messages: Sequence[str]) -> int:
        """Remove messages of a thread by id; see `Store.remove`."""
        return await self.store.remove(scope, thread, messages)

    async def keep(self, scope: Scope, thread: str, first: int, last: int | None = None) -> int:
        """Remove all messages of a thread outside the positions *first* to *last*."""
        return await self.store.keep(scope, thread, first, last)

    async def replace(
        self,
        scope: Scope,
        thread: str,
        message: NewMessage,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """Put *message* in the place of the one with its id; see `Store.replace`."""
        replaced = await self.store.replace(scope, thread, message, idempotency_key=idempotency_key)
        self._runtime.wrote(scope)
        return replaced

    # Memories

    async def put(
        self,
        scope: Scope,
        type_: str,
        key: str,
        value: JsonObject,
        *,
        expected: int | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
        evidence: EvidenceMap | None = None,
    ) -> Memory:
        """
        Create a memory, or write its next version; see `PutMemory` for the fields.

        *value* is checked against the schema of its type, where that is one in force in the
        scope or a built-in one; `apply` takes what a program has checked.

        Raises:
            UsageError: The value is no document of its type, or the type has almost the name of a
                known one.
        """
        write = PutMemory(
            type=type_,
            key=key,
            value=value,
            expected=expected,
            valid_from=valid_from,
            valid_until=valid_until,
            expires_at=expires_at,
            evidence=evidence or {},
        )
        await load_modules("recollect.memory.scope_types", "recollect.memory.value_checks")
        from recollect.memory.scope_types import types_in_force
        from recollect.memory.value_checks import check_document

        types = await types_in_force(self.store, scope, self._runtime.assistants, depth=1)
        check_document(types, type_, value)
        (memory,) = await self.apply(scope, [write])
        if memory is None:
            msg = f"{type_}/{key} was put and is not there"
            raise StoreClosedError(msg)
        return memory

    async def apply(
        self, scope: Scope, writes: Sequence[Write], *, idempotency_key: str | None = None
    ) -> tuple[Memory | None, ...]:
        """Apply all of *writes* in order, or none of them; see `Store.apply`."""
        writes = check_list(writes, "write")
        with observed("apply", operation_of(writes), LOG, scope) as seen:
            applied = await self.store.apply(scope, writes, idempotency_key=idempotency_key)
            seen.count(len(applied))
        self._runtime.wrote(scope)
        return applied

    async def apply_each(self, writes: Mapping[Scope, Sequence[Write]]) -> None:
        """Apply the writes of several scopes, all of them or none; see `Store.apply_each`."""
        with observed("apply_each", "upsert_memory", LOG, *writes) as seen:
            await self.store.apply_each(writes)
            seen.count(sum(map(len, writes.values())))
        self._runtime.wrote(*writes)

    async def get(self, scope: Scope, type_: str, key: str) -> Memory | None:
        """Return the memory at an address, ``None`` if there is none or it has expired."""
        return await self.store.get(scope, type_, key)

    async def memories(
        self,
        scope: Scope,
        *,
        type_: str | None = None,
        state: MemoryState | None = None,
        filter_: JsonObject | None = None,
        valid_at: datetime | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Memory]:
        """Return memories of a scope by (type, key); see `Store.memories`."""
        return await self.store.memories(
            scope,
            type_=type_,
            state=state,
            filter_=filter_,
            valid_at=valid_at,
            cursor=cursor,
            limit=limit,
        )

    async def history(self, scope: Scope, type_: str, key: str) -> tuple[Revision, ...]:
        """Return all versions of a memory, oldest first, the present one last."""
        return await self.store.history(scope, type_, key)

    async def scopes(
        self,
        *,
        prefix: ScopePattern = (),
        suffix: ScopePattern = (),
        depth_max: int | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Scope]:
        """Return scopes that hold something; see `Store.scopes`."""
        return await self.store.scopes(
            prefix=prefix, suffix=suffix, depth_max=depth_max, cursor=cursor, limit=limit
        )

    # Recall

    async def recall(
        self,
        scope: Scope | Sequence[Scope],
        query: str,
        *,
        limit: int = 10,
        budget_tokens: int | None = None,
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
    ) -> Recall:
        """
        Return the messages and memories that bear on *query*, best first, with their reasons.

        No model is called. Everything acknowledged before is searched; ties are broken by
        time, newest first.

        Args:
            scope: One scope, or several, which are then scored as one collection.
            query: What the next turn is about, in its own words.
            limit: At most so many entries, up to ``MATCHES_MAX``.
            budget_tokens: Whole entries are packed, best first, while their texts fit; the best
                is returned even if it alone exceeds the budget. The lines that `Recall.render`
                puts around each text are not counted: short texts cost several times as much.
            below: Search the scopes below as well.
            where: Which entries may be found.
            asked_at: The moment that the question means by "now", for "last week" and for which
                memories are true; the present if ``None``.

        Raises:
            UsageError: The query is empty, or an argument is outside its range.
        """
        recaller = opened(self._runtime.recaller)
        ask = RecallQuery(
            query=query,
            limit=limit,
            budget_tokens=budget_tokens,
            where=where or Where(),
            asked_at=asked_at,
        )
        scopes = tuple(dict.fromkeys(_listed(scope)))
        with observed("recall", "search_memory", LOG, scopes) as seen:
            found = await recaller.recall(Below(scopes) if below else scopes, ask)
            seen.count(len(found.entries))
        return found

    async def nearest(
        self,
        scope: Scope,
        query: str | Sequence[float],
        *,
        type_: str,
        limit: int = 10,
        filter_: JsonObject | None = None,
    ) -> list[Neighbour]:
        """
        Return the memories of a type whose vectors are nearest to *query*, best first.

        *query* is a text, or a vector of the embedder in use. Nothing but the vectors counts, and
        what has none yet is not found: `recall` answers questions. All memories of the scope
        are looked at, without an index.

        Raises:
            UsageError: No embedder is in use, or the vector has other dimensions.
            EmbedderError: The embedder failed.
        """
        await load_modules("recollect.recall.neighbours")
        from recollect.recall.neighbours import nearest

        embedding = self._runtime.embedding
        return await nearest(
            self.store, embedding, scope, query, type_=type_, limit=limit, filter_=filter_
        )

    async def settled(self, scope: Scope, *, below: bool = False) -> None:
        """
        Wait until everything in *scope* is found by its meaning as well, and is outside.

        That is at once without an embedder and an outside store.

        Raises:
            EmbedderError: The embedder failed.
            StoreError: The outside store failed.
        """
        for settling in (self._runtime.embedding, self._runtime.outside):
            if settling:
                for each in await self._scopes_of(scope, below=below):
                    await settling.settle(each)

    # Forget

    async def erase(self, scope: Scope, target: EraseTarget) -> EraseReceipt:
        """
        Erase *target*, and what rests on it alone, from values, history, index and files.

        What a memory said is not formed anew from words that were said before: no more than
        keyed digests of it are kept for that.

        The receipt's *clean_at* is set if the bytes are gone as well, also from outside stores
        of vectors; where another process still reads them, an outside store is away, or cleaning
        failed for any other reason, `clean` does that later.

        Raises:
            StoreError: The store failed before anything was erased; as always, after
                `StoreUnavailableError` it may have been.
        """
        with observed("erase", "delete_memory", LOG, scope, slow_s=SLOW_ERASE_S) as seen:
            if isinstance(target, EraseMemory):
                await load_modules("recollect.lifecycle.forgotten")
                from recollect.lifecycle.forgotten import note_forgotten

                await note_forgotten(self.store, scope, target)
            receipt = await self.store.erase(scope, target)
            self._runtime.forget(scope)
            cleaned = {each.id: each for each in await self._try_clean()}
            seen.count(receipt.messages + receipt.memories)
        return cleaned.get(receipt.id, receipt)

    async def receipts(self, *, unclean: bool = False) -> list[EraseReceipt]:
        """Return erase receipts by time; with *unclean* those whose bytes are not gone yet."""
        return await self.store.receipts(unclean=unclean)

    # Change the embedder

    async def reembed(self, embedder: EmbedderChoice) -> str:
        """
        Make all vectors of another embedder, then recall by it; return its name.

        Until then every recall works with the embedder in use and all its vectors, and from
        then on every recall with the new one: no answer mixes the two. What is written
        meanwhile has no vector of the new one at first, and is found by its words as ever.
        The vectors of the one in use stay, so that `undo_reembed` goes back at once; it makes
        none of them any more. Open the memory with the new embedder from then on, and every
        other process that uses the store.

        Raises:
            UsageError: It is the embedder in use, or none.
            EmbedderError: It failed; the one in use stays in use.
        """
        return await self._runtime.reembed(embedder)

    async def undo_reembed(self) -> str:
        """
        Go back to the embedder that was in use before `reembed`; return its name.

        What was written since gets its vectors first.

        Raises:
            NotFoundError: None was in use before, or this process did not change it.
            EmbedderError: It failed; the one in use stays in use.
        """
        return await self._runtime.undo_reembed()

    # Export and import

    async def export(self, scope: Scope, *, below: bool = False) -> AsyncIterator[JsonObject]:
        """Yield everything that a scope holds as records; each scope is of one moment."""
        for each in await self._scopes_of(scope, below=below):
            for record in await self.store.archive(each):
                yield record

    async def _scopes_of(self, scope: Scope | Sequence[Scope], *, below: bool) -> tuple[Scope, ...]:
        """Return the scopes meant, each once, in order."""
        given = _listed(scope)
        if not below:
            return tuple(dict.fromkeys(given))
        return await scopes_below(self.store, Below(given)) or given


def _listed(scope: Scope | Sequence[Scope]) -> tuple[Scope, ...]:
    """Return one scope or several as several."""
    if isinstance(scope, list | tuple) and scope and not isinstance(scope[0], str | int):
        return tuple(check_scope(cast("Scope", each)) for each in scope)
    return (check_scope(cast("Scope", scope)),)
