"""Documents at a past moment: the fields that are known to have been true then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from recollect.records import Json, JsonObject, Memory, Revision
from recollect.server.http.scope_access import Reach
from recollect.server.http.type_registry import types_of
from recollect.server.memory_listings import (
    ListedMemories,
    ListingFilter,
    ListingRequest,
    read_listing,
)
from recollect.stores.field_evidence import MessageTimes, messages_cited
from recollect.stores.json_pointers import covers, is_list, join_pointer
from recollect.stores.validation import check_time
from recollect.text.searchable import memory_text

DOCUMENTS_MAX: Final = 100
"""Documents of a type that are looked at as they were; a scope has few."""


async def read_dated_listing(
    reach: Reach, asked: ListingRequest, until: datetime
) -> ListedMemories:
    """
    Return a page of a listing without what was said after *until* and has no date of its own.

    Documents are returned as `document_at` has them; of several scopes, and of what was believed
    earlier, those that were changed later are left out.
    """
    wanted = replace(asked.wanted, until=check_time(until, "said_until"))
    if asked.below or asked.known_at is not None:
        return await read_listing(reach, replace(asked, wanted=wanted))
    types = frozenset(each.name for each in await types_of(reach) if each.update_mode == "patch")
    unknown: set[int] = set()
    for name in types:
        of_type = ListingFilter(now=wanted.now, type=name, valid_at=wanted.valid_at)
        request = ListingRequest(order="newest", wanted=of_type, limit=DOCUMENTS_MAX)
        found = await read_listing(reach, request)
        for (_, uid), each in zip(found.listing.places, found.memories, strict=True):
            if await document_at(reach, each, until) is None:
                unknown.add(uid)
    wanted = replace(wanted, documents=types, without=frozenset(unknown))
    listed = await read_listing(reach, replace(asked, wanted=wanted))
    shown = [
        (await document_at(reach, each, until) or each) if each.type in types else each
        for each in listed.memories
    ]
    return replace(listed, memories=shown)


async def document_at(reach: Reach, memory: Memory, at: datetime) -> Memory | None:
    """
    Return a document with the fields that are known to have been true at a moment.

    A field is known to be true from the time given for its change, else from when it was said, else
    from when it was written. Its former value is known to have been true only if that time was
    given: otherwise the later words may have corrected it. ``None`` if no field is left.
    """
    if memory.valid_until is not None and memory.valid_until <= at:
        return None
    found = await reach.memory.history(reach.scope, memory.type, memory.key)
    revisions = [each for each in found if each.version <= memory.version]
    value = value_at(revisions, await _said_times(reach, revisions), at)
    if not value:
        return None
    if value == memory.value:
        return memory
    return replace(memory, value=value, text=memory_text(value))


def value_at(revisions: Sequence[Revision], said: MessageTimes, at: datetime) -> JsonObject:
    """
    Return the fields that are known to have been true at a moment; see `document_at`.

    Args:
        revisions: The versions of the document, oldest first.
        said: When the messages that it cites were said.
        at: The moment.
    """
    names = dict.fromkeys(name for each in reversed(revisions) for name in each.value)
    known = {name: _FieldPast(name, said, at).known(revisions) for name in names}
    return {name: value for name, value in known.items() if value not in (None, [])}


@dataclass(frozen=True, slots=True)
class _FieldPast:
    """The past of one field of a document, as seen at a moment."""

    name: str
    said: MessageTimes
    at: datetime

    def known(self, revisions: Sequence[Revision]) -> Json:
        """Return the value at the moment, ``None`` if none is known."""
        if not revisions:
            return None
        value = revisions[-1].value.get(self.name)
        if is_list(value):
            return [each for each in value if self._since(revisions, each)[0] <= self.at]
        since, first = self._since(revisions, value)
        if since <= self.at:
            return value
        former = revisions[:first]
        until = former[-1].valid_until if former else None
        return self.known(former) if until is not None and self.at < until else None

    def _since(self, revisions: Sequence[Revision], part: Json) -> tuple[datetime, int]:
        """Return since when the field has *part*, and the place of the version that wrote it."""
        first = len(revisions) - 1
        while first and _has(revisions[first - 1].value.get(self.name), part):
            first -= 1
        written = revisions[first]
        changed = revisions[first - 1].valid_until if first else None
        since = written.valid_from or changed or self._said(written, part)
        return since or written.believed_from, first

    def _said(self, written: Revision, part: Json) -> datetime | None:
        """Return the time of the newest words on which a version rests for this field."""
        place = _place(self.name, written.value.get(self.name), part)
        times = [
            self.said[each.thread, each.message]
            for pointer, found in written.evidence.items()
            if covers(pointer, place) or covers(place, pointer)
            for each in found
            if (each.thread, each.message) in self.said
        ]
        return max(times, default=None)


def _has(value: Json, part: Json) -> bool:
    return part in value if is_list(value) else value == part


def _place(name: str, value: Json, part: Json) -> str:
    """Return the pointer of a field, or of an element of its list."""
    if is_list(value) and part in value:
        return join_pointer([name, list(value).index(part)])
    return join_pointer([name])


async def _said_times(reach: Reach, revisions: Sequence[Revision]) -> MessageTimes:
    cited = messages_cited(each.evidence for each in revisions)
    messages = await reach.memory.store.messages_named(reach.scope, cited)
    return {(each.thread, each.id): each.time for each in messages}
