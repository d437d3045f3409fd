"""`RecallMiddleware`: adds the recalled context to each model request, within a token budget."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from langchain_core.messages import BaseMessage

from recollect.errors import UsageError
from recollect.integrations.langchain.middleware.request_middleware import (
    AgentRequest,
    RequestMiddleware,
    asked_in,
    own_text,
    query_of,
    with_block,
)
from recollect.integrations.langgraph.caller import Whose, check_whose, present_caller, scope_of
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.memory.facade import Recollect
from recollect.ports import TokenCounter
from recollect.recall.context import Context
from recollect.recall.context_text import rendered
from recollect.recall.query import Where, check_score
from recollect.records import Scope
from recollect.stores.validation import TEXT_CHARACTERS_MAX, readable
from recollect.sync.method_pairs import PairCall, prepared_pair
from recollect.sync.object_home import AnyRecollect
from recollect.text.chinese_scripts import is_chinese
from recollect.text.token_estimate import estimated_tokens

BUDGET_TOKENS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Options for a context; see `RecallMiddleware` for each field."""

    budget_tokens: int
    limit: int | None
    min_score: float | None
    documents: tuple[str, ...]
    where: Where | None
    below: bool
    count: TokenCounter
    secret: bytes


class RecallMiddleware(RequestMiddleware):
    """
    Shows an agent's model the context of the user's last message (see `Recollect.context`).

    The context precedes the text of that message: the system text and earlier messages stay byte
    for byte the same, and a second call of the same turn starts like the first, unless the memory
    has changed. The agent's state is never changed. Messages that the request contains already are
    not repeated, and a greeting gets the documents alone. No model is called. `context_guide`
    explains to a model how to read and cite the context.

    Args:
        memory: A `SyncRecollect`, or a `Recollect`; an agent on the latter's loop must be awaited.
        scope: The scope, or a function of the `GraphCaller`; never taken from model output.
        budget_tokens: The most tokens of the whole text, by *count_tokens*.
        limit: The most entries, documents included; by default as many as fit.
        min_score: The least relevance of an entry, as for `Recollect.context`.
        documents: Types whose documents are always shown: type/type, and those of each speaker.
        where, below: Filters, as for `Recollect.recall`.
        secret: The secret for the text's marker; set it if the calls of one turn may reach
            different processes.

    Raises:
        UsageError: *scope* is invalid, the budget or the limit is below 1, or *min_score* is not
            from 0 to 1.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Whose,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        limit: int | None = None,
        min_score: float | None = None,
        documents: Sequence[str] = ("User",),
        where: Where | None = None,
        below: bool = False,
        count_tokens: TokenCounter = estimated_tokens,
        secret: bytes | None = None,
    ) -> None:
        super().__init__()
        if budget_tokens < 1 or (limit is not None and limit < 1):
            msg = f"budget_tokens={budget_tokens}, limit={limit}: give at least 1 for each"
            raise UsageError(msg)
        if min_score is not None:
            check_score(min_score)
        self.scope = check_whose(scope)
        self.home = HomeLoop(memory)
        self._options = RecallOptions(
            budget_tokens=budget_tokens,
            limit=limit,
            min_score=min_score,
            documents=tuple(documents),
            where=where,
            below=below,
            count=count_tokens,
            secret=secrets.token_bytes(32) if secret is None else secret,
        )

    async def _prepared(self, call: PairCall, request: AgentRequest) -> AgentRequest:
        """Return *request* with the recalled context."""
        block = await call(self._read_block, self._aread_block, request)
        return request.override(messages=with_block(request.messages, block)) if block else request

    def _block_of(self, request: AgentRequest) -> Callable[[Recollect], Awaitable[str]]:
        """Return the context of *request*, as a block of data."""
        scope = scope_of(self.scope, present_caller(request.runtime))
        return partial(_block, scope=scope, messages=request.messages, options=self._options)

    _read_block, _aread_block = prepared_pair(_block_of, "_read_block")


async def _block(
    memory: Recollect, *, scope: Scope, messages: Sequence[BaseMessage], options: RecallOptions
) -> str:
    """Return the block to show; ``""`` if there is none."""
    place = asked_in(messages)
    if place is None:
        return ""
    context = await memory.context(
        scope,
        query_of(messages[place]),
        recent=[readable(own_text(each))[:TEXT_CHARACTERS_MAX] for each in messages],
        budget_tokens=options.budget_tokens,
        min_score=options.min_score,
        profile=options.documents,
        below=options.below,
        where=options.where,
        count_tokens=options.count,
        secret=options.secret,
    )
    return text_within(context, options)


def text_within(context: Context, options: RecallOptions) -> str:
    """Return the text of *context* within the limit of entries, documents included."""
    if options.limit is None or len(context.profile) + len(context.entries) <= options.limit:
        return context.text
    documents = context.profile[: options.limit]
    entries = context.entries[: options.limit - len(documents)]
    return rendered(documents, entries, options.secret, chinese=is_chinese(context.query))
