"""`Recollect`, the memory that applications use, and `open`, which returns one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from recollect.deferred_imports import load_modules
from recollect.embedders import EmbedderChoice, check_choice
from recollect.errors import UsageError
from recollect.memory.context_calls import ContextCalls
from recollect.memory.embedder_strength import EmbedderTuning
from recollect.memory.formation_control import FormationMethods, require_open
from recollect.memory.health import LOG, Monitoring
from recollect.memory.host_task import HostTask
from recollect.memory.lifespan import LifespanMethods
from recollect.memory.memory_edits import MemoryEdits
from recollect.memory.restoration import Restoration
from recollect.memory.runtime import MemoryRuntime, RuntimeOptions
from recollect.memory.scope_locks import ScopeLocks
from recollect.memory.thread_state import ThreadStateMethods, state_writes
from recollect.messages.new_message import NewMessageLike, new_message, new_messages
from recollect.observability.spans import observed
from recollect.ports import Clock, Ids, OutsideVectors, TokenCounter
from recollect.recall.query import RecallQuery, Where
from recollect.recall.results import Recall
from recollect.recall.scope_listing import scopes_below
from recollect.records import (
    Attachment,
    Json,
    JsonObject,
    Memory,
    MemoryState,
    Message,
    Page,
    Revision,
    Scope,
    ScopeLike,
    Thread,
    Write,
)
from recollect.rerankers import RerankChoice, check_reranker
from recollect.stores.contract.base import Store
from recollect.stores.contract.durability import Durability
from recollect.stores.contract.scopes import ScopePattern
from recollect.stores.locator import open_store
from recollect.stores.plans.changes import Below
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.erase_targets import EraseMemory, EraseReceipt, EraseTarget
from recollect.stores.validation import check_list, check_mapping, check_scope
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.worker_options import (
    CONCURRENCY,
    FormationCallback,
    check_concurrency,
    tell_nobody,
)

if TYPE_CHECKING:  # imported at run time only when used: the first append needs none of these
    from recollect.formation.config import Assistants, FormationSettings
    from recollect.models import ModelChoice
    from recollect.recall.neighbours import Neighbour
    from recollect.worker.loop import Worker

SLOW_ERASE_S: Final = 15.0
"""Duration after which an erase is logged as slow; removing bytes takes longer than other calls."""


def open(  # noqa: A001, PLR0913 (users write recollect.open, with what they need)
    url: str = "memory:",
    *,
    embedder: EmbedderChoice = "auto",
    model: ModelChoice | None = None,
    formation: Assistants | FormationSettings | None = None,
    worker: bool = True,
    concurrency: int = CONCURRENCY,
    notice: FormationCallback = tell_nobody,
    count_tokens: TokenCounter = estimated_tokens,
    outside: OutsideVectors | None = None,
    rerank: RerankChoice = None,
    durability: Durability = "full",
    index_files: bool = True,
    replicas: Sequence[str] = (),
    clock: Clock | None = None,
    ids: Ids | None = None,
) -> Recollect:
    """
    Return a memory over the store at *url*; enter it with ``async with``.

    >>> import asyncio
    >>> async def main():
    ...     async with open("memory:", embedder="none") as memory:
    ...         await memory.append("ada", "chat", "I live in Turku.")
    ...         return await memory.recall("ada", "Where do I live?")
    >>> asyncio.run(main()).entries[0].text
    'I live in Turku.'

    Args:
        url: ``memory:``, a SQLite file as a path or ``sqlite:///`` URL, or a server:
            ``postgresql://user@host/database``, ``redis://host:6379/0``.
        embedder: ``"minilm"``, ``"none"``, ``"auto"`` (MiniLM where it is installed), another by
            its name, such as ``"openai/text-embedding-3-small"``, an `Embedder`, an object of a
            library, or a callable; see `open_embedder`.
        model: The model that forms memories: ``"provider/model"``, a LangChain chat model, a
            `Model`, or an async callable; see `open_model`. Without one, messages wait.
        formation: The memory types and how to form them, for all assistants or by assistant.
        worker: Whether to form memories in the background of this process; if not, call `form`.
        concurrency: How many scopes may be formed at once, up to ``CONCURRENCY_MAX``.
        notice: Called with the scope and result of every finished formation. It runs in the event
            loop, so it must return quickly and must not raise.
        count_tokens: Counts the tokens of a text; an estimate by default.
        outside: An external vector store for recall, such as LangChain's `OutsideVectorStore`.
        rerank: A URL, a `Reranker`, an object of a library or a callable that reorders the best
            entries; see `open_reranker`. Without an answer in 2 s the order stays.
        durability: With ``"full"``, acknowledged writes survive a power loss; with ``"relaxed"``,
            only the end of the process; see `open_store`.
        index_files: Whether the indexes of large scopes are kept in files beside a SQLite file.
        replicas: Addresses of PostgreSQL read replicas, for recalls that allow staleness.
        clock, ids: Sources of the current time and of identifiers.

    Raises:
        UsageError: The URL, embedder, model, reranker or concurrency is invalid.
        MissingExtraError, EmbedderError, ModelDeniedError: A package, weights or a key is missing.
    """
    model = _checked(embedder, model, rerank)  # before the store, which creates a missing file
    opened = partial(open_store, url, clock=clock, ids=ids, durability=durability)
    return Recollect(
        store=opened(index_files=index_files, replicas=replicas),
        embedder=embedder,
        model=model,
        formation=formation,
        worker=worker,
        concurrency=concurrency,
        notice=notice,
        count_tokens=count_tokens,
        outside=outside,
        rerank=rerank,
    )


def _checked(
    embedder: EmbedderChoice, model: ModelChoice | None, rerank: RerankChoice
) -> ModelChoice | None:
    """Raise if a choice cannot be used; return the opened model."""
    check_choice(embedder)
    check_reranker(rerank)
    if model is None:
        return None
    from recollect.models import open_model

    return open_model(model)


class Recollect(
    MemoryEdits,
    FormationMethods,
    ThreadStateMethods,
    LifespanMethods,
    ContextCalls,
    Restoration,
    Monitoring,
    EmbedderTuning,
):
    """
    The memory of an application: message threads and memories, by scope.

    Entering it with ``async with`` starts the background work (vectors, formation, index merging);
    leaving it stops that work and closes the store. Methods may be called from many tasks of one
    event loop. A scope means exactly itself; *below* includes the scopes under it.

    >>> memory = open("memory:", embedder="none", model="rules", worker=False)
    >>> async def main():
    ...     async with memory:
    ...         await memory.append("ada", "chat", "I live in Turku.")
    ...         await memory.form("ada")
    ...         return await memory.get("ada", "User", "User")
    >>> asyncio.run(main()).value
    {'home': 'Turku'}
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
        notice: FormationCallback = tell_nobody,
        count_tokens: TokenCounter = estimated_tokens,
        outside: OutsideVectors | None = None,
        rerank: RerankChoice = None,
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
            rerank=rerank,
        )
        self.store = store
        self._runtime = MemoryRuntime(store, options)
        self._host = HostTask(self)

    @property
    def worker(self) -> Worker | None:
        """The worker that forms memories; ``None`` without a model, or while closed."""
        return self._runtime.worker

    @property
    def turns(self) -> ScopeLocks:
        """Per-scope locks that serialise concurrent writers of a scope."""
        return self._runtime.turns

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The asyncio loop the memory runs on; ``None`` if closed or on another kind of loop."""
        return self._runtime.loop

    @property
    def embedder(self) -> str | None:
        """Identity of the embedder in use, ``None`` if recall compares words alone."""
        embedding = self._runtime.embedding
        return embedding.identity if embedding else None

    @property
    def outside_error(self) -> str | None:
        """Last error of the external vector store, ``None`` if its last call succeeded."""
        outside = self._runtime.outside
        error = outside.last_error if outside else None
        return str(error) if error else None

    # Keep

    async def append(
        self,
        scope: ScopeLike,
        thread: str,
        messages: NewMessageLike | Sequence[NewMessageLike],
        *,
        idempotency_key: str | None = None,
        debounce: Debounce | None = None,
        settings: JsonObject | None = None,
        state: Mapping[str, Json] | None = None,
        attachments: Sequence[Attachment] = (),
        writes: Sequence[Write] = (),
    ) -> tuple[Message, ...]:
        """
        Append messages to a thread; on return they are durable and found by their words.

        *messages* is one or several: a `NewMessage`, a text (the user's), or a dict such as
        ``{"role": "assistant", "content": "Hello!"}``; see `recollect.messages.new_message`.

        *settings* are the thread's formation settings from now on (`recollect.formation.config`),
        such as its assistant; *debounce* defaults to theirs. *state*, *attachments* and *writes*
        are stored in the same transaction, as by `set_state`, `attach` and `apply`. See
        `Store.append`.
        """
        scope = check_scope(scope)
        with observed("append", "upsert_memory", LOG, scope, thread) as seen:
            named = {} if settings is None else check_mapping(settings, "a thread's settings")
            default = await self._runtime.debounce_of(named, scope)
            attaching = await self._attaching(scope, thread, attachments)
            beside = [*state_writes(thread, state or {}), *attaching, *check_list(writes, "write")]
            kept = await self.store.append(
                scope,
                thread,
                new_messages(messages),
                idempotency_key=idempotency_key,
                debounce=debounce or default,
                settings=settings,
                writes=beside,
            )
            seen.count(len(kept))
        self._runtime.wrote(scope)
        return kept

    async def threads(
        self, scope: ScopeLike, *, cursor: str | None = None, limit: int = 100
    ) -> Page[Thread]:
        """Return the threads of a scope, by id; see `Store.threads`."""
        return await self.store.threads(check_scope(scope), cursor=cursor, limit=limit)

    async def thread(self, scope: ScopeLike, thread: str) -> Thread | None:
        """Return a thread, ``None`` if it does not exist."""
        return await self.store.thread(check_scope(scope), thread)

    async def messages(
        self, scope: ScopeLike, thread: str, *, after: int = 0, limit: int = 100
    ) -> Page[Message]:
        """Return messages of a thread by position, starting after position *after*."""
        return await self.store.messages(check_scope(scope), thread, after=after, limit=limit)

    async def last_messages(
        self,
        scope: ScopeLike,
        thread: str,
        *,
        limit: int,
        before: int | None = None,
        until: datetime | None = None,
    ) -> tuple[Message, ...]:
        """
        Return the newest messages of a thread, optionally before a position, oldest first.

        *until* leaves out messages said later, whenever they were stored.
        """
        return await self.store.last_messages(
            check_scope(scope), thread, limit=limit, before=before, until=until
        )

    async def remove(self, scope: ScopeLike, thread: str, messages: Sequence[str]) -> int:
        """Remove messages of a thread by id; see `Store.remove`."""
        return await self.store.remove(check_scope(scope), thread, messages)

    async def keep(self, scope: ScopeLike, thread: str, first: int, last: int | None = None) -> int:
        """Remove all messages of a thread outside positions *first* to *last* (inclusive)."""
        return await self.store.keep(check_scope(scope), thread, first, last)

    async def replace(
        self,
        scope: ScopeLike,
        thread: str,
        message: NewMessageLike,
        *,
        idempotency_key: str | None = None,
    ) -> Message:
        """Replace the message that has the same id as *message*; see `Store.replace`."""
        new, scope = new_message(message), check_scope(scope)
        replaced = await self.store.replace(scope, thread, new, idempotency_key=idempotency_key)
        self._runtime.wrote(scope)
        return replaced

    # Memories

    async def get(self, scope: ScopeLike, type_: str, key: str) -> Memory | None:
        """Return the memory at an address, ``None`` if there is none or it has expired."""
        return await self.store.get(check_scope(scope), type_, key)

    async def memories(
        self,
        scope: ScopeLike,
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
            check_scope(scope),
            type_=type_,
            state=state,
            filter_=filter_,
            valid_at=valid_at,
            cursor=cursor,
            limit=limit,
        )

    async def history(self, scope: ScopeLike, type_: str, key: str) -> tuple[Revision, ...]:
        """Return all versions of a memory, oldest first; the last one is the current."""
        return await self.store.history(check_scope(scope), type_, key)

    async def scopes(
        self,
        *,
        prefix: ScopePattern = (),
        suffix: ScopePattern = (),
        depth_max: int | None = None,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Scope]:
        """Return scopes that hold any data; see `Store.scopes`."""
        return await self.store.scopes(
            prefix=prefix, suffix=suffix, depth_max=depth_max, cursor=cursor, limit=limit
        )

    # Recall

    async def recall(
        self,
        scope: ScopeLike | Sequence[Scope],
        query: str,
        *,
        limit: int = 10,
        budget_tokens: int | None = None,
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
        min_score: float = 0.0,
        stale_s_max: float | None = None,
    ) -> Recall:
        """
        Return the messages and memories relevant to *query*, best first, with their scores.

        No model is called. Every write acknowledged before the call is searched, unless staleness
        is allowed; ties are broken by time, newest first.

        Args:
            scope: One scope, or several, which are scored as one collection.
            query: The question, or the text of the next turn.
            limit: Most entries to return, up to ``MATCHES_MAX``.
            budget_tokens: Whole entries are packed, best first, while their texts fit; the best
                is returned even if it alone exceeds the budget. The lines that `Recall.render`
                adds to each text are not counted: rendered, short texts cost several times as much.
            below: Search the scopes below as well.
            where: Which entries may be found.
            asked_at: The time of the question, from which "last week" counts in the zone of this
                time, and at which memories must be valid; the present if ``None``.
            min_score: Least `Recalled.relevance` of an entry, from 0 to 1.
            stale_s_max: Allow a read replica to answer if it lags by at most this many seconds; see
                `Recall.replica` and `Recall.behind_s`. Erased data is never returned.

        Raises:
            UsageError: The query is empty, or an argument is outside its range.
        """
        recaller = require_open(self._runtime.recaller)
        scopes = tuple(dict.fromkeys(_scopes_in(scope)))
        ask = RecallQuery(
            query=query,
            limit=limit,
            budget_tokens=budget_tokens,
            where=where or Where(),
            asked_at=self._runtime.asked_at(scopes[0] if scopes else (), asked_at),
            min_score=min_score,
            stale_s_max=stale_s_max,
        )
        with observed("recall", "search_memory", LOG, scopes) as seen:
            found = await recaller.recall(Below(scopes) if below else scopes, ask)
            seen.count(len(found.entries))
        return found

    async def nearest(
        self,
        scope: ScopeLike,
        query: str | Sequence[float],
        *,
        type_: str,
        limit: int = 10,
        filter_: JsonObject | None = None,
    ) -> list[Neighbour]:
        """
        Return the memories of a type whose vectors are nearest to *query*, best first.

        *query* is a text, or a vector of the embedder in use. Only vectors are compared, and
        memories without a vector are not found; use `recall` to answer questions. This scans all
        memories of the scope, without an index.

        Raises:
            UsageError: No embedder is in use, or the vector has other dimensions.
            EmbedderError: The embedder failed.
        """
        await load_modules("recollect.recall.neighbours")
        from recollect.recall.neighbours import nearest

        embedding = self._runtime.embedding
        return await nearest(
            self.store,
            embedding,
            check_scope(scope),
            query,
            type_=type_,
            limit=limit,
            filter_=filter_,
        )

    async def settled(self, scope: ScopeLike, *, below: bool = False) -> None:
        """
        Wait until everything in *scope* has its vector and is in the external vector store.

        Returns at once if there is neither an embedder nor an external vector store.

        Raises:
            EmbedderError: The embedder failed.
            StoreError: The external store failed.
        """
        for settling in (self._runtime.embedding, self._runtime.outside):
            if settling:
                for each in await self._scopes_of(scope, below=below):
                    await settling.settle(each)

    # Forget

    async def erase(self, scope: ScopeLike, target: EraseTarget) -> EraseReceipt:
        """
        Erase *target*, and what is derived from it alone, from values, history, index and files.

        An erased memory is not formed again from earlier messages; only keyed digests of it are
        kept for this purpose.

        The receipt's *clean_at* is set once the bytes are gone as well, including those in an
        external vector store. If another process still reads them, the external store is
        unreachable, or cleaning fails otherwise, a later `clean` removes them.

        Raises:
            StoreError: The store failed and nothing was erased; only after `StoreUnavailableError`
                the outcome is unknown.
        """
        scope = check_scope(scope)
        with observed("erase", "delete_memory", LOG, scope, slow_s=SLOW_ERASE_S) as seen:
            if isinstance(target, EraseMemory):
                await load_modules("recollect.lifecycle.forgotten")
                from recollect.lifecycle.forgotten import note_forgotten

                # Before the erase, while the memory can still be read for its digest.
                await note_forgotten(self.store, scope, target)
            receipt = await self.store.erase(scope, target)
            self._runtime.forget(scope)
            cleaned = {each.id: each for each in await self._try_clean()}
            seen.count(receipt.messages + receipt.memories)
        return cleaned.get(receipt.id, receipt)

    async def receipts(self, *, unclean: bool = False) -> list[EraseReceipt]:
        """Return erase receipts by time; with *unclean*, only those whose bytes remain."""
        return await self.store.receipts(unclean=unclean)

    # Change the embedder

    async def reembed(self, embedder: EmbedderChoice) -> str:
        """
        Compute all vectors with another embedder, then switch recall to it; return its identity.

        The switch is atomic: each recall uses either the old or the new vectors, never both.
        Entries written meanwhile are found by their words until their new vectors are ready. The
        old vectors are kept, so that `undo_reembed` can switch back, but are no longer maintained.
        Afterwards open the memory with the new embedder, in every process that uses the store.

        Raises:
            UsageError: The embedder is already in use, or is ``"none"``.
            EmbedderError: The new embedder failed; the old one stays in use.
        """
        return await self._runtime.reembed(embedder)

    async def undo_reembed(self) -> str:
        """
        Switch back to the embedder in use before `reembed`; return its identity.

        Entries written since are embedded with it first.

        Raises:
            NotFoundError: This process has not switched embedders, or none was in use before.
            EmbedderError: The embedder failed; the current one stays in use.
        """
        return await self._runtime.undo_reembed()

    # Export and import

    async def export(self, scope: ScopeLike, *, below: bool = False) -> AsyncIterator[JsonObject]:
        """Yield everything in a scope as records; each scope is read at one point in time."""
        for each in await self._scopes_of(scope, below=below):
            for record in await self.store.archive(each):
                yield record

    async def _scopes_of(self, scope: ScopeLike, *, below: bool) -> tuple[Scope, ...]:
        """Return *scope*, or with *below* all scopes with data at and under it."""
        given = (check_scope(scope),)
        return (await scopes_below(self.store, Below(given)) or given) if below else given


def _scopes_in(scope: ScopeLike | Sequence[Scope]) -> tuple[Scope, ...]:
    """Return the one or several scopes given; a list of strings is the segments of one scope."""
    if isinstance(scope, list | tuple) and scope and not isinstance(scope[0], str | int):
        for each in scope:
            if isinstance(each, str):
                msg = f"{each!r} among several scopes is a string: write it as ({each!r},)"
                raise UsageError(msg)
        return tuple(map(check_scope, scope))
    return (check_scope(cast("Scope", scope)),)
