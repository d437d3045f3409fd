"""`Recollect`, the memory that applications use, and `open`, which returns one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from recollect.deferred_imports import load_modules
from recollect.embedders import EmbedderChoice, check_choice
from recollect.memory.context_calls import ContextMethods
from recollect.memory.embedder_strength import TuningMethods
from recollect.memory.formation_control import FormationMethods
from recollect.memory.health import LOG, HealthMethods
from recollect.memory.lifespan import HostTask, LifespanMethods
from recollect.memory.memory_edits import WriteMethods
from recollect.memory.recall_calls import RecallMethods
from recollect.memory.record_imports import ImportMethods
from recollect.memory.runtime import MemoryRuntime, RuntimeOptions
from recollect.memory.scope_locks import ScopeLocks
from recollect.memory.thread_messages import MessageMethods
from recollect.observability.spans import observed
from recollect.ports import Clock, Ids, OutsideVectors, TokenCounter
from recollect.records import JsonObject, Memory, MemoryState, Page, Revision, Scope, ScopeLike
from recollect.rerankers import RerankChoice, check_reranker
from recollect.stores.contract.base import Store
from recollect.stores.contract.durability import Durability
from recollect.stores.contract.scopes import ScopePattern
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_targets import EraseMemory, EraseReceipt, EraseTarget
from recollect.stores.plans.quotations import Quotation
from recollect.stores.validation import check_scope
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
            `Model`, or a function; see `open_model`. Without one, messages wait.
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
        UsageError: The URL, embedder, model, formation, reranker or concurrency is invalid.
        MissingExtraError, EmbedderError, ModelDeniedError: A package, weights or a key is missing.
    """
    model = _checked(embedder, model, rerank, formation)  # before the store creates a file
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
    embedder: EmbedderChoice,
    model: ModelChoice | None,
    rerank: RerankChoice,
    formation: Assistants | FormationSettings | None,
) -> ModelChoice | None:
    """Raise if a choice cannot be used; return the opened model."""
    check_choice(embedder)
    check_reranker(rerank)
    if formation is not None:  # whoever made one has imported its module
        from recollect.formation.config import assistants_of

        assistants_of(formation)
    if model is None:
        return None
    from recollect.models import open_model

    return open_model(model)


class Recollect(
    WriteMethods,
    FormationMethods,
    MessageMethods,
    LifespanMethods,
    RecallMethods,
    ContextMethods,
    ImportMethods,
    HealthMethods,
    TuningMethods,
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
        """
        Return memories of a scope by (type, key); see `Store.memories`.

        Raises:
            UsageError: There are none, and the type's name looks like a misspelt known one.
        """
        scope = check_scope(scope)
        page = await self.store.memories(
            scope,
            type_=type_,
            state=state,
            filter_=filter_,
            valid_at=valid_at,
            cursor=cursor,
            limit=limit,
        )
        if not page.rows:
            await self._runtime.check_type_names([scope], type_ and [type_])
        return page

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

    # Forget

    async def erase(self, scope: ScopeLike, target: EraseTarget) -> EraseReceipt:
        """
        Erase *target*, and what is derived from it alone, from values, history, index and files.

        An erased memory is not formed again from earlier messages; only keyed digests of it are
        kept for this purpose. Other messages that quote what goes stay: see `quotations`.

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
                await load_modules("recollect.lifecycle.forgotten_memories")
                from recollect.lifecycle.forgotten_memories import note_forgotten

                # Before the erase, while the memory can still be read for its digest.
                await note_forgotten(self.store, scope, target)
            receipt = await self.store.erase(scope, target)
            self._runtime.forget(scope)
            cleaned = {each.id: each for each in await self._try_clean()}
            seen.count(receipt.messages + receipt.memories)
        return cleaned.get(receipt.id, receipt)

    async def quotations(self, scope: ScopeLike, target: EraseTarget) -> Sequence[Quotation]:
        """
        Return the messages that would stay and quote what `erase` of *target* removes.

        An assistant repeats what it was told, and a memory's words stand in the messages it rests
        on: erase these as well if nothing of it may remain. See `Store.quotations`.
        """
        return await self.store.quotations(check_scope(scope), target)

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
        """
        Yield everything in a scope as records; each scope is read at one point in time.

        What has expired is left out, unless a memory is derived from it. What is erased before its
        record is yielded is left out as well.
        """
        await load_modules("recollect.lifecycle.scope_export")
        from recollect.lifecycle.scope_export import exported_records

        for each in await self._scopes_of(scope, below=below):
            async for record in exported_records(self.store, each):
                yield record
