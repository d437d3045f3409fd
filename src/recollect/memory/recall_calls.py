"""`Recollect.recall`, `nearest` and `settled`: search, and wait for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, cast

from recollect.deferred_imports import load_modules
from recollect.errors import UsageError
from recollect.memory.formation_control import require_open
from recollect.memory.health import LOG
from recollect.memory.runtime import MemoryRuntime
from recollect.observability.spans import observed
from recollect.recall.query import RecallQuery, Where
from recollect.recall.results import Recall
from recollect.recall.scopes_below import scopes_below
from recollect.records import JsonObject, Memory, Scope, ScopeLike
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below
from recollect.stores.validation import check_scope

if TYPE_CHECKING:
    from recollect.recall.neighbours import Neighbour


class RecallMethods:
    """The part of `Recollect` that searches scopes."""

    store: Store
    _runtime: MemoryRuntime

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
        is allowed; ties are broken by time, newest first. A message of which nothing holds any more
        is marked (`Recalled.has_lapsed`), unless the query is about what was known at a past time.

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
            UsageError: The query is empty, an argument is outside its range, or no memory is found
                and the name of a type looks like a misspelt known one.
        """
        ask = RecallQuery(
            query=query,
            limit=limit,
            budget_tokens=budget_tokens,
            where=where or Where(),
            asked_at=asked_at,
            min_score=min_score,
            stale_s_max=stale_s_max,
        )
        return await recall_asked(self, scope, ask, below=below)

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

    async def _scopes_of(self, scope: ScopeLike, *, below: bool) -> tuple[Scope, ...]:
        given = (check_scope(scope),)
        return (await scopes_below(self.store, Below(given)) or given) if below else given


async def recall_asked(
    memory: RecallMethods, scope: ScopeLike | Sequence[Scope], ask: RecallQuery, *, below: bool
) -> Recall:
    """
    Return the answer to *ask*, which may have a filter of the caller's own.

    Raises:
        UsageError: No memory is found, and the name of a type looks misspelt.
    """
    runtime = memory._runtime  # noqa: SLF001 (the inner half of its method)
    scopes = tuple(dict.fromkeys(_scopes_in(scope)))
    found = await _recalled(runtime, scopes, ask, below=below)
    if not any(isinstance(each.content, Memory) for each in found.entries):
        asked = Below(scopes) if below else scopes
        await runtime.check_type_names(asked, ask.where.types)
    return found


async def _recalled(
    runtime: MemoryRuntime, scopes: tuple[Scope, ...], ask: RecallQuery, *, below: bool
) -> Recall:
    recaller = require_open(runtime.recaller)
    ask = replace(ask, asked_at=runtime.asked_at(scopes[0] if scopes else (), ask.asked_at))
    with observed("recall", "search_memory", LOG, scopes) as seen:
        found = await recaller.recall(Below(scopes) if below else scopes, ask)
        seen.count(len(found.entries))
    return found


async def recall_of_types(
    memory: RecallMethods, scopes: Sequence[Scope], query: str, *, limit: int, where: Where
) -> Recall:
    """Return the answer of `Recollect.recall`, with types of the caller's own in *where*."""
    # Such a type need not be known to the memory, and its name may look like one that is.
    ask = RecallQuery(query=query, limit=limit, budget_tokens=None, where=where, asked_at=None)
    runtime = memory._runtime  # noqa: SLF001 (as in `recall_asked`)
    return await _recalled(runtime, tuple(scopes), ask, below=False)


def _scopes_in(scope: ScopeLike | Sequence[Scope]) -> tuple[Scope, ...]:
    """Return the one or several scopes given; a list of strings is the segments of one scope."""
    if isinstance(scope, list | tuple) and scope and not isinstance(scope[0], str | int):
        for each in scope:
            if isinstance(each, str):
                msg = f"{each!r} among several scopes is a string: write it as ({each!r},)"
                raise UsageError(msg)
        return tuple(map(check_scope, scope))
    return (check_scope(cast("Scope", scope)),)
