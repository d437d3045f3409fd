"""Evidence of summaries and facts, so that an erase of a message reaches them."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.conversation.thread_history import Placed
from recollect.messages import kind_of, text_of
from recollect.records import Evidence, Trust
from recollect.stores.provenance import (
    NO_WORDS,
    Origins,
    Source,
    carried_over,
    cited_at_once,
    unusual,
    words_of,
)
from recollect.stores.remainder import MEMORY_THREAD, version_name


def said_in(thread: str, messages: Sequence[Placed]) -> list[Evidence]:
    """Return *messages* as evidence; empty for a foreign history, whose messages have no ids."""
    return [Evidence(thread=thread, message=each.id) for each in messages if each.id]


def sources_in(thread: str, messages: Sequence[Placed]) -> list[Source]:
    """Return *messages* as sources of words, newest first."""
    return [
        Source(words_of(text_of(each.message)), tuple(said_in(thread, [each])))
        for each in reversed(messages)
    ]


def evidence_for(
    text: str, thread: str, read: Sequence[Placed], besides: Sequence[Source] = ()
) -> list[Evidence]:
    """
    Return the evidence of a *text* that a model wrote from the messages *read*.

    The evidence is the messages that share words with the text, or all of them if none does; plus,
    for each remaining word, the first of the *besides* (other sources in the prompt) that has it.
    """
    said = {
        each: source.words
        for source in reversed(sources_in(thread, read))
        for each in source.evidence
    }
    words = words_of(text)
    told = [each for each, spoken in said.items() if not spoken.isdisjoint(words)]
    given = cited_at_once(words, told or list(said), said.__getitem__)
    others = [Origins(map(unusual, besides))]
    return list(carried_over(words, given, lambda each: said.get(each, NO_WORDS), others=others))


def versions_before(type_: str, key: str, version: int) -> list[Evidence]:
    """
    Return the earlier versions to cite as evidence of the version after *version*.

    The citations go 1, 2, 4 … versions back: an erase reaches every later version in few steps,
    and the evidence does not grow with the conversation.

    >>> [each.message for each in versions_before("Summary", "s", 4)]
    ['Summary/s@4', 'Summary/s@3', 'Summary/s@1']
    """
    steps = [1 << power for power in range(version.bit_length())]
    back = [version + 1 - step for step in steps if step <= version]
    return [Evidence(thread=MEMORY_THREAD, message=version_name(type_, key, each)) for each in back]


def trust_of(messages: Sequence[Placed]) -> Trust:
    """Return the lowest trust among *messages*."""
    tools = {"tool", "function"}
    return "external" if any(kind_of(each.message) in tools for each in messages) else "assistant"
