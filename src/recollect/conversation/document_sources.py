"""What a document of a memory rests on, so that it goes with the messages that it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

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
from recollect.stores.validation import ID_CHARACTERS_MAX


def key_of(policy: str, thread: str) -> str:
    """
    Return the key of the document that *policy* keeps of *thread*, short for a long name.

    >>> key_of("summary", "talk")
    'summary/talk'
    """
    return short(f"{policy}/{thread}", f"{policy}/{sha256(thread.encode()).hexdigest()}")


def short(key: str, instead: str) -> str:
    """Return *key*, or *instead* where evidence could not name its versions any more."""
    return key if len(key) <= ID_CHARACTERS_MAX // 2 else instead


def said_in(thread: str, messages: Sequence[Placed]) -> list[Evidence]:
    """Return *messages* as evidence; those of somebody else's history are none."""
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
    Return what *text* rests on that a model made of the messages *read*.

    These are the messages that have words of it, and all of them if none has; and of what it
    was shown *besides*, the first that has a word which they have not.
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
    Return as evidence what the version after *version* goes back to.

    All the versions before would grow with a long talk. These are 1, 2, 4 … versions back: so
    an erase reaches every later version from any other in few steps.

    >>> [each.message for each in versions_before("Summary", "s", 4)]
    ['Summary/s@4', 'Summary/s@3', 'Summary/s@1']
    """
    steps = [1 << power for power in range(version.bit_length())]
    back = [version + 1 - step for step in steps if step <= version]
    return [Evidence(thread=MEMORY_THREAD, message=version_name(type_, key, each)) for each in back]


def trust_of(messages: Sequence[Placed]) -> Trust:
    """Return whose words, at the least trusted, what is made of *messages* rests on."""
    tools = {"tool", "function"}
    return "external" if any(kind_of(each.message) in tools for each in messages) else "assistant"
