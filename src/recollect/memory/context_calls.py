"""`Recollect.context` and `caught_up`: the context of a prompt's next turn, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from recollect.deferred_imports import load_modules
from recollect.memory.context_query import ContextQuery
from recollect.memory.runtime import MemoryRuntime
from recollect.ports import TokenCounter
from recollect.recall.context_defaults import CONTEXT_TOKENS
from recollect.recall.query import Where
from recollect.records import Memory, ScopeLike
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below
from recollect.stores.validation import check_scope

if TYPE_CHECKING:
    from recollect.recall.context import Context

VECTORS_WAIT_S: Final = 0.15
"""Longest wait of `context` for the vectors of entries written just before."""


class ContextMethods:
    """The part of `Recollect` that returns the context of a prompt."""

    _runtime: MemoryRuntime
    store: Store

    async def caught_up(
        self, scope: ScopeLike, *, below: bool = False, wait_s: float = VECTORS_WAIT_S
    ) -> bool:
        """
        Wait up to *wait_s* for the vectors of entries that this process just wrote in *scope*.

        `settled` waits without a limit, and for the writes of other processes too.

        Returns:
            False if *wait_s* ran out or the embedder failed: search then finds the remaining
            entries by their words alone.
        """
        scope, embedding = check_scope(scope), self._runtime.embedding
        return embedding is None or await embedding.caught_up(scope, wait_s, below=below)

    async def context(  # noqa: PLR0913 (each part of a prompt may be chosen)
        self,
        scope: ScopeLike,
        query: str,
        *,
        thread: str | None = None,
        recent: int | Sequence[str] | None = None,
        history_tokens: int = 0,
        budget_tokens: int = CONTEXT_TOKENS,
        min_score: float | None = None,
        profile: bool | Sequence[str] = True,
        instructions: str = "",
        examples: Sequence[str] = (),
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
        stale_s_max: float | None = None,
        count_tokens: TokenCounter | None = None,
        secret: bytes | None = None,
    ) -> Context:
        """
        Return the context of a prompt's next turn; ``str()`` of it is the text to insert.

        It holds the active documents (the profile), and the memories and message passages relevant
        to *query*, each with a handle for `Context.source` and `Context.expand`; for a greeting the
        profile alone. `recollect.context_guide` tells a model how to read it.

        Args:
            scope: Whose memory it is.
            query: The text of the next turn, of which ``QUERY_CHARACTERS_MAX`` characters count.
            thread: The conversation that the prompt is part of; it need not exist.
            recent: What the prompt shows but for the history: a number of messages, or the texts.
            history_tokens: Budget, out of *budget_tokens*, of the history: the newest messages of
                *thread*, which entries do not repeat.
            budget_tokens: Most tokens of the whole rendered context, which may be empty.
            min_score: Least `Recalled.relevance` of an entry. By default there are no entries if
                even the best is no more relevant than to small talk.
            profile: Whether to include the active documents; or the types whose to include.
            instructions, examples: Texts that count towards the budget; see `recollect.agents`.
            below, asked_at, stale_s_max: As for `recall`; profile and *thread* are never stale.
            where: Which entries may be found; ended ones only if the query asks about the past.
            count_tokens: Token counter to use instead of the memory's own.
            secret: Key of the marker that frames the text; by default one of this process.

        Raises:
            UsageError: An argument is outside its range, the token counter failed, or no memory is
                found and a type's name looks misspelt.
        """
        request = ContextQuery(
            scope=check_scope(scope),
            query=query,
            thread=thread,
            recent=recent,
            history_tokens=history_tokens,
            budget_tokens=budget_tokens,
            min_score=min_score,
            profile=profile,
            instructions=instructions,
            examples=examples,
            below=below,
            where=where or Where(),
            asked_at=asked_at,
            stale_s_max=stale_s_max,
            count_tokens=count_tokens or self._runtime.options.count_tokens,
            secret=secret,
        )
        return await self._context_of(request)

    async def _context_of(self, request: ContextQuery) -> Context:
        """Return a context, or raise if it has no memories and a type's name looks misspelt."""
        await load_modules("recollect.memory.context_sources")
        from recollect.memory.context_sources import gathered_context

        scope, below = request.scope, request.below
        waits = not await self.caught_up(scope, below=below, wait_s=VECTORS_WAIT_S)
        context = await gathered_context(self._runtime, request, awaits_vectors=waits)
        if request.where.types and not _has_memories(context):
            asked = Below((scope,)) if below else (scope,)
            await self._runtime.check_type_names(asked, request.where.types)
        return context


def _has_memories(context: Context) -> bool:
    """Return True if memories were found, whether or not they are shown."""
    found = [each.entry for each in context.entries]
    found += [each.entry for each in context.left_out]
    return any(isinstance(each.content, Memory) for each in found)
