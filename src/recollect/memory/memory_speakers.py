"""Read who said what a memory tells, in a scope where several people speak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from recollect.recall.context_plan import MemoryName, memory_name
from recollect.recall.query_analysis import names_in
from recollect.recall.results import Recalled, ScopedMessage
from recollect.records import EvidenceMap, Memory, Message, Scope
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import messages_cited

SPOKEN_MAX: Final = 100
"""The number of best memories whose evidence is read."""


async def read_speakers(store: Store, entries: Iterable[Recalled]) -> Mapping[MemoryName, str]:
    """
    Return the speaker of each of the best memories in *entries*, if it is in doubt who "I" is.

    That is: several people speak, one of them alone said it, and its text does not name them.
    """
    contents = [each.content for each in entries]
    messages = [each for each in contents if isinstance(each, Message)]
    said = (each for each in contents if isinstance(each, Memory) and _is_said(each))
    memories = list(islice(said, SPOKEN_MAX))
    # Where messages were found, and none has a name, nobody has to be told apart.
    if not memories or (messages and not any(each.name for each in messages)):
        return {}
    return speakers_of(memories, messages, await _cited_messages(store, memories))


def speakers_of(
    memories: Iterable[Memory], found: Iterable[Message], cited: Mapping[ScopedMessage, Message]
) -> dict[MemoryName, str]:
    """Return the speakers of *memories*, of the messages that they cite; see `read_speakers`."""
    users = [each for each in (*found, *cited.values()) if each.role == "user"]
    if len({each.name for each in users}) < 2:
        return {}
    speakers = {}
    for memory in memories:
        places = ((memory.scope, *each) for each in messages_cited([memory.evidence]))
        names = {cited[each].name for each in places if each in cited}
        name = names.pop() if len(names) == 1 else None
        if name and not names_in(memory.text, [name]):
            speakers[memory_name(memory)] = name
    return speakers


def _is_said(memory: Memory) -> bool:
    return memory.trust == "user" and bool(memory.evidence) and not memory.is_document


async def _cited_messages(store: Store, memories: Iterable[Memory]) -> dict[ScopedMessage, Message]:
    """Return the messages in the evidence of *memories*."""
    evidence: defaultdict[Scope, list[EvidenceMap]] = defaultdict(list)
    for memory in memories:
        evidence[memory.scope].append(memory.evidence)
    return {
        (scope, each.thread, each.id): each
        for scope, found in evidence.items()
        for each in await store.messages_named(scope, messages_cited(found))
    }
