"""Token counts of messages, by a model's own counter or by an estimate."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence, Sized
from itertools import accumulate, takewhile
from typing import Final, TypeAlias

from anyio import to_thread

from recollect.messages import AnyMessage, CountingModel, buffer_string
from recollect.ports import TokenCounter
from recollect.text.token_estimate import estimated_tokens

Count: TypeAlias = Callable[[Sequence[AnyMessage]], Awaitable[int]]

# A LangChain model that overrides none of these counts with a tokenizer downloaded from a hub.
# Without a network it counts 0, so that no limit would ever be reached.
_OWN_COUNTS: Final = ("get_num_tokens_from_messages", "get_num_tokens", "get_token_ids")


def counter_of(llm: object, count_tokens: TokenCounter | None) -> Count:
    """
    Return a counter of tokens: *count_tokens* of the transcript, or the one of *llm*.

    For a model without its own counter, tokens are estimated (one per CJK character, one per four
    others).
    """
    if count_tokens is None and isinstance(llm, CountingModel) and counts_itself(llm):
        model = llm

        async def counted(messages: Sequence[AnyMessage]) -> int:
            return await to_thread.run_sync(model.get_num_tokens_from_messages, list(messages))

        return counted
    return Estimate(count_tokens or estimated_tokens)


class Cost:
    """
    Counts the tokens of one message in a transcript.

    Two with the same counter are equal, so that both find the same cached results.
    """

    def __init__(self, count_tokens: TokenCounter) -> None:
        self._count_tokens = count_tokens

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cost) and other._count_tokens is self._count_tokens

    def __hash__(self) -> int:
        return id(self._count_tokens)

    def __call__(self, message: AnyMessage) -> int:
        """Return the number of tokens."""
        return self._count_tokens(buffer_string([message]))


class Estimate:
    """Counts messages one by one: the count of a list is the sum of its messages' counts."""

    def __init__(self, count_tokens: TokenCounter) -> None:
        self.of = Cost(count_tokens)

    async def __call__(self, messages: Sequence[AnyMessage]) -> int:
        """Return the estimated number of tokens of *messages*."""
        return sum(map(self.of, messages))


def counts_itself(llm: object) -> bool:
    """Return True if a model overrides LangChain's counter, which downloads a tokenizer."""
    if getattr(llm, "custom_get_token_ids", None) is not None:
        return True
    owners = [
        next((base for base in type(llm).__mro__ if name in vars(base)), None)
        for name in _OWN_COUNTS
    ]
    return any(owner and not owner.__module__.startswith("langchain_core.") for owner in owners)


async def newest_that_fit(
    messages: Sequence[AnyMessage], limit: int, count: Count
) -> list[AnyMessage]:
    """
    Return the longest end of *messages* of at most *limit* tokens, possibly empty.

    An estimate is summed message by message. A model's counter is called in a binary search, as a
    call may be expensive; a longer end never counts less.
    """
    if isinstance(count, Estimate):
        return list(messages[first_that_fits(map(count.of, reversed(messages)), limit, messages) :])
    first, past = 0, len(messages)
    while first < past:
        middle = (first + past) // 2
        if await count(messages[middle:]) <= limit:
            past = middle
        else:
            first = middle + 1
    return list(messages[first:])


def first_that_fits(newest_first: Iterable[int], limit: int, entries: Sized) -> int:
    """
    Return the index at which the longest end of *entries* within *limit* starts.

    >>> first_that_fits([3, 2, 9], 5, ["costs 9", "costs 2", "costs 3"])
    1
    """
    sums = takewhile(lambda total: total <= limit, accumulate(newest_first))
    return len(entries) - sum(1 for _ in sums)
