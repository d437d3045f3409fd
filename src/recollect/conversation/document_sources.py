"""Evidence of a policy's documents, so that they are erased with their messages."""

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
    """Return *messages* as evidence; none for a foreign history."""
    return [Evidence(thread=thread, message=each.id) for each in messages if each.id]


def sources_in(thread: str, messages: Sequence[Placed]) -> list[Source]:
    """Return *messages* as sources of words, the newest first."""
    return [
        Source(words_of(text_of(each.message)), tuple(said_in(thread, [each])))
        for each in reversed(messages)
    ]


def telling(
    text: str, thread: str, read: Sequence[Placed], besides: Sequence[Source] = ()
) -> list[Evidence]:
    """
    Return the evidence of a *text* that a model made from the messages *read*.

    This is the messages that share words with it, or all of them if none does; plus, from what the
    model was shown *besides*, the first source of each remaining word.
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
    Return earlier versions to cite as evidence of the version after *version*.

    Citing all of them would grow with the conversation. These are 1, 2, 4 … versions back, so that
    an erase reaches every later version in few steps.

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
