"""`Recollect.context`: gather what a prompt's next turn may need, and pack it into its budget."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from anyio import to_thread

from recollect.errors import UsageError
from recollect.memory.formation_control import opened
from recollect.memory.runtime import LOG, MemoryRuntime
from recollect.memory.scope_types import types_in_force
from recollect.observability.spans import observed
from recollect.recall.context import Context
from recollect.recall.context_packing import ContextPlan, asks_for_history, packed_context
from recollect.recall.query import RecallQuery, Where, check_score, query_in
from recollect.recall.query_analysis import asks_for_answers
from recollect.recall.relevance import IDLE_BELOW, IDLE_BELOW_BY_WORDS
from recollect.recall.results import Recall
from recollect.records import Memory, Message, Revision, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.changes import Below
from recollect.stores.validation import to_datetime

RECENT_MESSAGES: Final = 20
VECTORS_WAIT_S: Final = 0.15
"""So long a search waits for the vectors of what was just written."""
CANDIDATES: Final = 200
DOCUMENTS_MAX: Final = 100
HISTORY_MESSAGES_MAX: Final = 200
_SECRET: Final = secrets.token_bytes(16)


class ContextCalls:
    """The call that gives a prompt its context."""

    _runtime: MemoryRuntime
    store: Store

    async def caught_up(
        self, scope: Scope, *, below: bool = False, wait_s: float = VECTORS_WAIT_S
    ) -> bool:
        """
        Wait briefly until what was just written in *scope* is found by its meaning as well.

        `settled` waits as long as it takes, and for what other processes wrote.

        Returns:
            False if *wait_s* ran out, or the embedder fails: a search finds the rest by its words.
        """
        embedding = self._runtime.embedding
        return embedding is None or await embedding.caught_up(scope, wait_s, below=below)

    async def context(  # noqa: PLR0913 (each part of a prompt may be chosen)
        self,
        scope: Scope,
        query: str,
        *,
        thread: str | None = None,
        recent: int | Sequence[str] = RECENT_MESSAGES,
        history_tokens: int = 0,
        budget_tokens: int = 2_000,
        min_score: float | None = None,
        profile: bool = True,
        instructions: str = "",
        examples: Sequence[str] = (),
        below: bool = False,
        where: Where | None = None,
        asked_at: datetime | None = None,
    ) -> Context:
        """
        Return what a prompt should be told before its next turn; ``str()`` of it is the text.

        It holds the documents in force (the profile), and the memories and passages of messages
        that bear on *query*, each with a short handle that `Context.source` and `Context.expand`
        resolve. Where nothing bears on the query, as with a greeting, there is the profile alone.
        No model is called. `recollect.context_guide` says to a model how to read the text.

        Args:
            scope: Whose memory it is.
            query: What the next turn is about, in its own words; one that is empty, or asks for
                nothing, gets the profile. Only its first ``QUERY_CHARACTERS_MAX`` count.
            thread: The conversation that the prompt is part of; it need not exist.
            recent: What the prompt shows already, and is not shown again: so many of the newest
                messages of *thread*, or the texts themselves.
            history_tokens: The newest messages of *thread* that cost no more are given as
                `Context.history`, and count towards the budget.
            budget_tokens: What text, history, instructions and examples may cost together, as
                they are rendered, by the memory's token counter. A budget in which nothing fits
                gives an empty context.
            min_score: Only entries whose `Recalled.relevance` is at least so much. ``None`` leaves
                everything out if nothing reaches the level at which idle talk was told from
                questions, and nothing otherwise.
            profile: Whether the documents in force are part of it.
            instructions: A text that is counted with it, such as those of
                `recollect.agents.instructions`.
            examples: Further such texts.
            below: Search the scopes below as well.
            where: Which entries may be found. Unless it says so, what has ended is found only
                where the query asks for what was or has changed.
            asked_at: The moment that the query means by "now".

        Raises:
            UsageError: An argument is outside its range, or the token counter failed.
        """
        _check_budget("budget_tokens", budget_tokens, least=1)
        _check_budget("history_tokens", history_tokens, least=0)
        if min_score is not None:
            check_score(min_score)
        asked = query_in(query)
        newest = await self._newest(scope, thread, recent, history_tokens)
        documents = await self._documents(scope, asked_at) if profile else ()
        wants_history = asks_for_history(asked)
        found, is_caught_up = None, True
        if asked.strip():
            is_caught_up = await self.caught_up(scope, below=below)
            ask = RecallQuery(
                query=asked,
                limit=CANDIDATES,
                budget_tokens=None,
                where=_where(where, wants_history=wants_history),
                asked_at=asked_at,
            )
            found = await self._recalled(scope, ask, below=below)
        known = newest if isinstance(recent, int) else ()
        plan = ContextPlan(
            query=asked,
            budget_tokens=budget_tokens,
            min_score=min_score,
            idle_below=IDLE_BELOW if found and found.embedder else IDLE_BELOW_BY_WORDS,
            asks_for_answers=asks_for_answers(asked),
            known=frozenset((each.thread, each.id) for each in known[-_count(recent) :])
            if _count(recent)
            else frozenset(),
            said=() if isinstance(recent, int) else tuple(recent),
            history=tuple(newest) if history_tokens else (),
            history_tokens=history_tokens,
            awaits_vectors=not is_caught_up,
            former=await self._former(documents) if wants_history else {},
            instructions=instructions,
            examples=tuple(examples),
            secret=_SECRET,
        )
        return await to_thread.run_sync(
            packed_context,
            plan,
            found.considered if found else (),
            found.term_weights if found else {},
            documents,
            self._runtime.options.count_tokens,
        )

    async def _recalled(self, scope: Scope, ask: RecallQuery, *, below: bool) -> Recall:
        recaller = opened(self._runtime.recaller)
        with observed("recall", "search_memory", LOG, (scope,)) as seen:
            found = await recaller.recall(Below((scope,)) if below else (scope,), ask)
            seen.count(len(found.entries))
        return found

    async def _newest(
        self, scope: Scope, thread: str | None, recent: int | Sequence[str], history_tokens: int
    ) -> Sequence[Message]:
        if thread is None:
            return ()
        wanted = max(_count(recent), min(history_tokens, HISTORY_MESSAGES_MAX))
        if not wanted:
            return ()
        return await self.store.last_messages(scope, thread, limit=wanted)

    async def _documents(self, scope: Scope, at: datetime | None) -> Sequence[Memory]:
        """Return the documents in force of a scope, in the order of its types, then by key."""
        types = await types_in_force(self.store, scope, self._runtime.assistants, depth=1)
        found = list[Memory]()
        for name in dict.fromkeys(each.name for each in types if each.update_mode == "patch"):
            page = await self.store.memories(
                scope,
                type_=name,
                state="active",
                valid_at=at or to_datetime(self.store.now()),
                limit=DOCUMENTS_MAX,
            )
            found += [each for each in page.rows if each.is_document]
        return found

    async def _former(self, documents: Sequence[Memory]) -> dict[tuple[str, str], Revision]:
        """Return for each document that was changed the version before its present one."""
        found: dict[tuple[str, str], Revision] = {}
        for memory in documents:
            if memory.version > 1:
                revisions = await self.store.history(memory.scope, memory.type, memory.key)
                earlier = [each for each in revisions if each.version < memory.version]
                if earlier:
                    found[memory.type, memory.key] = max(earlier, key=lambda each: each.version)
        return found


def _where(where: Where | None, *, wants_history: bool) -> Where:
    chosen = where or Where()
    if wants_history and chosen.valid_at == "now":
        return replace(chosen, valid_at="ever")
    return chosen


def _count(recent: int | Sequence[str]) -> int:
    if isinstance(recent, int):
        _check_budget("recent", recent, least=0)
        return recent
    return 0


def _check_budget(name: str, given: object, *, least: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        msg = f"{name} {given!r} is no whole number from {least}"
        raise UsageError(msg)
