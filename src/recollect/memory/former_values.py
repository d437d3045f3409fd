"""Read what memories said before they changed, and when the fields of documents changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import chain
from typing import Final

from recollect.recall.context_plan import MemoryName, memory_name
from recollect.recall.field_changes import FieldChange, changes_of
from recollect.records import Memory, Revision
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import messages_cited

FORMER_MAX: Final = 10
"""The number of best memories whose previous version is read if the query asks for it."""


@dataclass(frozen=True, slots=True)
class FormerValues:
    """The previous versions of memories, and the changes of the fields of documents, by name."""

    revisions: Mapping[MemoryName, Revision] = field(default_factory=dict)
    changes: Mapping[MemoryName, Mapping[str, FieldChange]] = field(default_factory=dict)


async def read_former(
    store: Store, documents: Sequence[Memory], others: Iterable[Memory], zone: tzinfo
) -> FormerValues:
    """Return the previous version of each document, and of the *others*, that changed."""
    former: dict[MemoryName, Revision] = {}
    changes: dict[MemoryName, Mapping[str, FieldChange]] = {}
    for memory in chain(documents, others):
        name = memory_name(memory)
        if memory.version < 2 or name in former:
            continue
        revisions = {each.version: each for each in await store.history(*name)}
        earlier = [version for version in revisions if version < memory.version]
        if not earlier:
            continue
        former[name] = before = revisions[max(earlier)]
        newest = revisions.get(memory.version)
        if memory.is_document and newest is not None:
            cited = messages_cited([before.evidence, newest.evidence])
            named = await store.messages_named(memory.scope, cited)
            said = {(each.thread, each.id): each.time for each in named}
            changes[name] = changes_of(memory, before, newest, said, zone)
    return FormerValues(former, changes)
