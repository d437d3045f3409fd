"""Functions over a thread's messages as nodes of a graph: trim, remove, summarise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.runnables import Runnable, RunnableLambda

from recollect.conversation.model_prompt import MemoryModel
from recollect.errors import UsageError
from recollect.integrations.langgraph.sync_wait import waited
from recollect.messages import (
    REMOVE_ALL_MESSAGES,
    AnyMessage,
    filter_messages,
    summarize_conversation,
    trim_messages,
    whole_pairs,
)
from recollect.messages.summarization import SummarizedMessages

MESSAGES: Final = "messages"
GraphState: TypeAlias = Mapping[str, Any]
Node: TypeAlias = Runnable[Any, dict[str, Any]]
"""A node of a graph whose state has messages: the state comes in, its update goes out."""


def trim_node(*, max_tokens: int, token_counter: Any, key: str = MESSAGES, **options: Any) -> Node:
    """
    Return a node that removes from a graph's state what `trim_messages` does not keep.

    By default tool pairs are kept whole, and the counter is shown the messages in order.
    """
    settled = {"whole_pairs": True, "in_order": True, **options}

    def trim(state: GraphState) -> dict[str, list[BaseMessage]]:
        messages = _messages_in(state, key)
        kept: Any = trim_messages(
            messages, max_tokens=max_tokens, token_counter=token_counter, **settled
        )
        return {key: _changes(messages, kept)}

    return RunnableLambda(trim, name="trim")


def remove_node(*, keep: int | None = None, key: str = MESSAGES, **filters: Any) -> Node:
    """
    Return a node that removes all but the last *keep* messages, and what *filters* leave out.

    *filters* are those of `filter_messages`. A result of a tool goes with its call, and a call
    with its results. Which messages go is told by id: others that come meanwhile stay.

    Raises:
        UsageError: Neither is given, or *keep* is negative.
    """
    if keep is None and not filters:
        msg = "nothing says what to remove: give keep=…, or a filter such as exclude_types=['tool']"
        raise UsageError(msg)
    if keep is not None and keep < 0:
        msg = f"keep={keep}: a conversation keeps 0 messages or more"
        raise UsageError(msg)

    def remove(state: GraphState) -> dict[str, list[BaseMessage]]:
        messages = _messages_in(state, key)
        kept: Any = filter_messages(messages, **filters) if filters else messages
        if keep is not None:
            kept = kept[max(0, len(kept) - keep) :]
        return {key: _removals(messages, whole_pairs(kept, messages))}

    return RunnableLambda(remove, name="remove")


def summarise_node(model: object, *, key: str = MESSAGES, **options: Any) -> Node:
    """
    Return a node that puts a summary in the place of the older messages of a graph's state.

    Args:
        model: What summarises: as for `recollect.open`, or a LangChain model.
        options: Those of `summarize_conversation`: ``keep``, ``trigger_messages``, ….

    Raises:
        ModelError: (the node) The model failed; the state is as it was.
    """
    asking = MemoryModel(model, "model")

    async def asummarise(state: GraphState) -> dict[str, list[AnyMessage]]:
        messages = _messages_in(state, key)
        return {key: _summarised(await summarize_conversation(messages, asking.model, **options))}

    def summarise(state: GraphState) -> dict[str, list[AnyMessage]]:
        return waited(lambda: asummarise(state))

    return RunnableLambda(summarise, afunc=asummarise, name="summarise")


def _messages_in(state: GraphState, key: str) -> list[BaseMessage]:
    if key not in state:
        msg = f"the graph's state has no {key!r}; it has {', '.join(sorted(state)) or 'nothing'}"
        raise UsageError(msg)
    found: list[BaseMessage] = list(state[key])
    return found


def _changes(messages: Sequence[BaseMessage], kept: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the updates that turn *messages* into *kept*, some of which may be cut."""
    there = {each.id: each for each in messages}
    cut = [each for each in kept if there.get(each.id) != each]
    return [*_removals(messages, kept), *cut]


def _removals(messages: Sequence[BaseMessage], kept: Sequence[BaseMessage]) -> list[BaseMessage]:
    ids = {each.id for each in kept}
    return [RemoveMessage(id=each.id) for each in messages if each.id and each.id not in ids]


def _summarised(done: SummarizedMessages | None) -> list[AnyMessage]:
    if done is None:
        return []
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *done.messages]
