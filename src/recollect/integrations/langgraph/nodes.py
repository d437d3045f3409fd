"""Graph nodes that trim, remove and summarise the messages of a state."""

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
"""A graph node: it takes the state, and returns an update of it."""


def trim_node(*, max_tokens: int, token_counter: Any, key: str = MESSAGES, **options: Any) -> Node:
    """
    Return a node that trims the messages of a graph's state by `trim_messages`.

    By default tool calls stay with their results, and the counter gets the messages in order.
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
    Return a node that removes all but the last *keep* messages, and those excluded by *filters*.

    *filters* are the options of `filter_messages`. Tool calls and their results are removed
    together. Messages are removed by id, so that others added meanwhile stay.

    Raises:
        UsageError: Neither is given, or *keep* is negative.
    """
    if keep is None and not filters:
        raise UsageError("remove_node needs keep=…, or a filter such as exclude_types=['tool']")
    if keep is not None and keep < 0:
        raise UsageError(f"keep={keep} is negative: give 0 or more messages to keep")

    def remove(state: GraphState) -> dict[str, list[BaseMessage]]:
        messages = _messages_in(state, key)
        kept: Any = filter_messages(messages, **filters) if filters else messages
        if keep is not None:
            kept = kept[max(0, len(kept) - keep) :]
        return {key: _removals(messages, whole_pairs(kept, messages))}

    return RunnableLambda(remove, name="remove")


def summarise_node(model: object, *, key: str = MESSAGES, **options: Any) -> Node:
    """
    Return a node that replaces the older messages of a graph's state by a summary.

    Args:
        model: The summarising model: as for `recollect.open`, or a LangChain model.
        options: Options of `summarize_conversation`: ``keep``, ``trigger_messages``, ….

    Raises:
        ModelError: (when the node runs) The model failed; the state is unchanged.
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
    """Return the updates that turn *messages* into *kept*, some of which may be shortened."""
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
