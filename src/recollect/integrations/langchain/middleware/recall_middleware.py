"""`RecallMiddleware`: what is remembered goes into each request, as data, within a budget."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import BaseMessage

from recollect.errors import UsageError
from recollect.integrations.langchain.middleware.prompt_placement import (
    asked_in,
    query_of,
    with_block,
    words_of,
)
from recollect.integrations.langchain.middleware.request_middleware import RequestMiddleware
from recollect.integrations.langgraph.caller import Whose, check_whose, present_caller, scope_of
from recollect.integrations.langgraph.home_loop import HomeLoop
from recollect.memory.facade import Recollect
from recollect.ports import TokenCounter
from recollect.recall.duplicates import SaidAlready
from recollect.recall.packing import packed
from recollect.recall.query import Where
from recollect.recall.rendering import keyed_marker, render_block
from recollect.recall.results import Recalled, in_time, record_of
from recollect.records import Memory, Message, Scope
from recollect.stores.validation import readable
from recollect.sync.method_pairs import PairCall, prepared_pair
from recollect.sync.object_home import AnyRecollect
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.formation_input import read_documents

BUDGET_TOKENS: Final = 1_000
ENTRIES: Final = 12
CONSIDERED: Final = 60
"""So many entries are considered, of which those are left out that the talk shows already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How a block is made; see `RecallMiddleware` for each field."""

    budget_tokens: int
    limit: int
    documents: tuple[str, ...]
    where: Where | None
    below: bool
    count: TokenCounter
    secret: bytes


class RecallMiddleware(RequestMiddleware):
    """
    Shows an agent's model what is remembered and bears on the person's last message.

    The block of data (see `render_block`) stands before the words of that message: the system
    text and the talk before it are byte for byte as they were, and a second call of the same turn
    begins as the first one, unless the memory has changed in between. The agent's state is never
    changed. What the request shows already is not shown again. No model is called.

    Args:
        memory: A `SyncRecollect`, or a `Recollect`; then an agent on its loop is awaited.
        scope: Whose memory it is, or a function of the `Caller`; never of what a model says.
        budget_tokens: The whole block costs no more, by *count_tokens*.
        limit: At most so many entries, the documents among them.
        documents: The types of which the documents are shown whatever is asked: type/type, and
            those of several speakers.
        where, below: What else may be found, as for `Recollect.recall`.
        secret: What the block's marker is made with; give one where the calls of a turn may
            come to different processes.

    Raises:
        UsageError: *scope* is neither, or the budget or the limit is below 1.
    """

    def __init__(
        self,
        memory: AnyRecollect,
        scope: Whose,
        *,
        budget_tokens: int = BUDGET_TOKENS,
        limit: int = ENTRIES,
        documents: Sequence[str] = ("User",),
        where: Where | None = None,
        below: bool = False,
        count_tokens: TokenCounter = estimated_tokens,
        secret: bytes | None = None,
    ) -> None:
        super().__init__()
        if budget_tokens < 1 or limit < 1:
            msg = f"budget_tokens={budget_tokens}, limit={limit}: each is at least 1"
            raise UsageError(msg)
        self.scope = check_whose(scope)
        self.home = HomeLoop(memory)
        self._manner = RecallOptions(
            budget_tokens=budget_tokens,
            limit=limit,
            documents=tuple(documents),
            where=where,
            below=below,
            count=count_tokens,
            secret=secrets.token_bytes(32) if secret is None else secret,
        )

    async def _prepared(self, call: PairCall, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return *request* with what is remembered."""
        block = await call(self._read_block, self._aread_block, request)
        return request.override(messages=with_block(request.messages, block)) if block else request

    def _block_of(self, request: ModelRequest[Any]) -> Callable[[Recollect], Awaitable[str]]:
        """Return what is remembered and bears on *request*, as a block of data."""
        scope = scope_of(self.scope, present_caller(request.runtime))
        return partial(_block, scope=scope, messages=request.messages, manner=self._manner)

    _read_block, _aread_block = prepared_pair(_block_of, "_read_block")


async def _block(
    memory: Recollect, *, scope: Scope, messages: Sequence[BaseMessage], manner: RecallOptions
) -> str:
    """Return what to show, ``""`` for nothing."""
    place = asked_in(messages)
    if place is None:
        return ""
    documents = [
        Recalled(scope=scope, content=each, score=0.0, signals={})
        for each in await _documents(memory, scope, manner.documents)
    ]
    query = query_of(messages[place])
    found: Sequence[Recalled] = ()
    if query.strip():
        recall = await memory.recall(
            scope,
            query,
            limit=max(CONSIDERED, manner.limit),
            where=manner.where,
            below=manner.below,
        )
        found = recall.entries
    shown = {(each.scope, each.source) for each in documents}
    others = [e for e in unseen(found, messages) if (e.scope, e.source) not in shown]
    return block_within(documents, others, manner)


async def _documents(memory: Recollect, scope: Scope, names: Sequence[str]) -> list[Memory]:
    found = [await read_documents(memory.store, scope, name) for name in names]
    return [each for of_type in found for each in of_type if each.valid_until is None]


def unseen(found: Sequence[Recalled], messages: Sequence[BaseMessage]) -> list[Recalled]:
    """Return what was *found* without the messages whose words stand in *messages* already."""
    said = {_plain(readable(words_of(each))) for each in messages}
    return [
        each
        for each in found
        if not (isinstance(each.content, Message) and _plain(record_of(each).text) in said)
    ]


def block_within(
    documents: Sequence[Recalled], others: Sequence[Recalled], manner: RecallOptions
) -> str:
    """
    Return the block of *documents* and, in the order of time, of the *others* that fit.

    The best come first where the budget ends; ``""`` if there is nothing that fits.
    """
    frame = manner.count(_rendered([], manner))
    costs: dict[str, int] = {}
    for each in (*documents, *others):
        alone = manner.count(_rendered([each], manner)) - frame + 1
        costs[each.text] = max(alone, costs.get(each.text, 0))
    room = manner.budget_tokens - frame
    ranked = [each for each in (*documents, *others) if costs[each.text] <= room]
    packing = packed(
        [each.text for each in ranked],
        limit=manner.limit,
        budget_tokens=max(1, room),
        count=costs.__getitem__,
        said=SaidAlready(ranked, is_tight=True),
    )
    kept = [ranked[place] for place in packing.kept]
    while kept:
        first = [each for each in kept if each in documents]
        later = [each for each in kept if each not in documents]
        block = _rendered([*first, *sorted(later, key=in_time)], manner)
        if manner.count(block) <= manner.budget_tokens:
            return block
        kept.pop()  # tokens of parts need not sum up to those of the whole
    return ""


def _rendered(entries: Sequence[Recalled], manner: RecallOptions) -> str:
    records = [record_of(each) for each in entries]
    return render_block(records, random_marker=keyed_marker(manner.secret, records))


def _plain(text: str) -> str:
    return "".join(text.split())
