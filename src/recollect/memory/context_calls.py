"""`Recollect.context` and `caught_up`: what a prompt's next turn needs, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from recollect.deferred_imports import load_modules
from recollect.memory.runtime import MemoryRuntime
from recollect.ports import TokenCounter
from recollect.recall.context_defaults import CONTEXT_TOKENS, RECENT_MESSAGES
from recollect.recall.query import Where
from recollect.records import ScopeLike
from recollect.stores.contract.base import Store
from recollect.stores.validation import check_scope

if TYPE_CHECKING:
    from recollect.recall.context import Context

VECTORS_WAIT_S: Final = 0.15
"""So long a search waits for the vectors of what was just written."""


class ContextCalls:
    """The calls that give a prompt its context."""

    _runtime: MemoryRuntime
    store: Store

    async def caught_up(
        self, scope: ScopeLike, *, below: bool = False, wait_s: float = VECTORS_WAIT_S
    ) -> bool:
        """
        Wait briefly until what was just written in *scope* is found by its meaning as well.

        `settled` waits as long as it takes, and for what other processes wrote.

        Returns:
            False if *wait_s* ran out, or the embedder fails: a search finds the rest by its words.
        """
        scope, embedding = check_scope(scope), self._runtime.embedding
        return embedding is None or await embedding.caught_up(scope, wait_s, below=below)

    async def context(  # noqa: PLR0913 (each part of a prompt may be chosen)
        self,
        scope: ScopeLike,
        query: str,
        *,
        thread: str | None = None,
        recent: int | Sequence[str] = RECENT_MESSAGES,
        history_tokens: int = 0,
        budget_tokens: int = CONTEXT_TOKENS,
        min_score: float | None = None,
        profile: bool | Sequence[str] = True,
        instructions: str = "",
        examples: Sequence[str] = (),
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
        count_tokens: TokenCounter | None = None,
        secret: bytes | None = None,
    ) -> Context:
        """
        Return what a prompt should be told before its next turn; ``str()`` of it is the text.

        It holds the documents in force (the profile), and the memories and passages of messages
        that bear on *query*, each with a short handle for `Context.source` and `Context.expand`.
        A greeting gets the profile alone. `recollect.context_guide` says to a model how to read it.

        Args:
            scope: Whose memory it is.
            query: What the next turn is about, in its own words; an empty one gets the profile.
                Only its first ``QUERY_CHARACTERS_MAX`` count.
            thread: The conversation that the prompt is part of; it need not exist.
            recent: What the prompt shows already: so many of the newest messages of *thread*, or
                the texts themselves.
            history_tokens: The newest messages of *thread* that cost no more are given as
                `Context.history`, and count towards the budget.
            budget_tokens: What all of it may cost, as it is rendered; it may hold nothing.
            min_score: Only entries whose `Recalled.relevance` is at least so much. With ``None``
                everything is left out where no entry is likelier to bear than to idle talk.
            profile: Whether the documents in force are part of it; or the types whose are.
            instructions, examples: Texts that are counted with it; see `recollect.agents`.
            below, asked_at: As for `recall`.
            where: Which entries may be found; what has ended only if the query asks for it.
            count_tokens: What counts instead of the memory's token counter.
            secret: What the marker of the text is made with, by default this process's own.

        Raises:
            UsageError: An argument is outside its range, or the token counter failed.
        """
        await load_modules("recollect.memory.context_sources")
        from recollect.memory.context_sources import ContextQuery, gathered_context

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
            count_tokens=count_tokens or self._runtime.options.count_tokens,
            secret=secret,
        )
        waits = not await self.caught_up(scope, below=below, wait_s=VECTORS_WAIT_S)
        return await gathered_context(self._runtime, request, awaits_vectors=waits)
