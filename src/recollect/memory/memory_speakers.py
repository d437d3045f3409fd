"""Read who said what a memory tells, in a scope where several people speak."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from recollect.recall.context_plan import MemoryName
from recollect.recall.query_analysis import names_in
from recollect.recall.results import Recalled
from recollect.records import Memory, Message
from recollect.stores.contract.base import Store
from recollect.stores.remainder import MEMORY_THREAD

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
    cited = await _cited_messages(store, memories)
    by_name = {(scope, each.thread, each.id): each for scope, each in cited}
    users = [each for each in (*messages, *by_name.values()) if each.role == "user"]
    if len({each.name for each in users}) < 2:
        return {}
    speakers = {}
    for memory in memories:
        names = {
            by_name[place].name
            for found_at in memory.evidence.values()
            for each in found_at
            if (place := (memory.scope, each.thread, each.message)) in by_name
        }
        name = names.pop() if len(names) == 1 else None
        if name and not names_in(memory.text, [name]):
            speakers[memory.scope, memory.type, memory.key] = name
    return speakers


def _is_said(memory: Memory) -> bool:
    return memory.trust == "user" and bool(memory.evidence) and not memory.is_document


async def _cited_messages(
    store: Store, memories: Iterable[Memory]
) -> Sequence[tuple[tuple[str, ...], Message]]:
    """Return the messages in the evidence of *memories*, each with its scope."""
    by_scope: dict[tuple[str, ...], set[tuple[str, str]]] = {}
    for memory in memories:
        by_scope.setdefault(memory.scope, set()).update(
            (each.thread, each.message)
            for found in memory.evidence.values()
            for each in found
            if not each.is_finding and each.thread != MEMORY_THREAD
        )
    return [
        (scope, message)
        for scope, names in by_scope.items()
        for message in await store.messages_named(scope, sorted(names))
    ]
