"""Stream the changes of a scope."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

from fastapi import Header

from recollect.errors import UsageError
from recollect.records import JsonObject, Message, Scope
from recollect.server.http.event_streams import Event, FollowingResponse
from recollect.server.http.query_params import strict_router
from recollect.server.http.scope_access import Reach, Reading
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.plans.changes import Entry
from recollect.stores.plans.snapshot import StoreSnapshot

router: Final = strict_router(prefix="/v1", tags=["changes"])
LAST_EVENT_ID_CHARACTERS_MAX: Final = 64
_PLACE: Final = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")


@router.get("/changes", summary="Stream the changes of a scope", response_model=None)
async def changes(
    reach: Reading,
    last_event_id: Annotated[str | None, Header(max_length=LAST_EVENT_ID_CHARACTERS_MAX)] = None,
) -> FollowingResponse:
    """
    Stream the changes of the scope from now on, or from the Last-Event-ID.

    After the event ``reset``, reload everything: something was erased.
    """
    return FollowingResponse(reach, _Reader(reach, read_place(reach.scope, last_event_id)))


def read_place(scope: Scope, last_event_id: str | None) -> Cursor | None:
    """
    Return the reader's cursor, ``None`` if it is new.

    Raises:
        UsageError: The event id is invalid.
    """
    if not last_event_id:
        return None
    found = _PLACE.fullmatch(last_event_id)
    if found is None:
        msg = f"{last_event_id!r} is not a Last-Event-ID of this stream: omit it to start anew"
        raise UsageError(msg)
    return Cursor(scope=scope, epoch=int(found[1]), seq=int(found[2]))


class _Reader:
    """The reader of a stream, with its cursor."""

    __slots__ = ("_given", "_reach", "place")

    def __init__(self, reach: Reach, given: Cursor | None) -> None:
        self._reach = reach
        self._given = given
        self.place = given or Cursor(scope=reach.scope)

    async def begin(self) -> list[Event]:
        """Return the events since the given place; without one, only the start."""
        if self._given is not None:
            return await self.look()
        (self.place,) = await self._reach.service.memory.store.places([self._reach.scope])
        return [Event(id=_id_of(self.place))]

    async def look(self) -> list[Event]:
        """Return the events since the last call; without any, the current place."""
        feed, entries = await _read(self._reach, self.place)
        events = _events_of(feed, entries, self.place) or [Event()]
        self.place = Cursor(scope=self._reach.scope, seq=feed.seq, epoch=feed.epoch)
        # Only the last event has an id, so that a reader that stops halfway gets all of them again.
        return [*events[:-1], replace(events[-1], id=_id_of(self.place))]


async def _read(reach: Reach, place: Cursor) -> tuple[Feed, Sequence[Entry]]:
    """Return the changes since a place, with their entries, from one snapshot."""

    def read(snapshot: StoreSnapshot) -> tuple[Feed, Sequence[Entry]]:
        (feed,) = snapshot.feeds([place])
        # A reset is sent without entries: the reader reloads.
        changed = feed.entries if not feed.reset or place.epoch == 0 else ()
        return feed, snapshot.entries([(reach.scope, each.uid) for each in changed])

    return await reach.service.memory.store.read(read)


def _events_of(feed: Feed, entries: Sequence[Entry], place: Cursor) -> list[Event]:
    """Return the events of a feed: a reset, or each change once."""
    is_first = place.epoch == 0  # the scope was empty before: there is nothing to reset
    if feed.reset and not is_first and (feed.epoch, feed.seq) != (place.epoch, place.seq):
        return [Event(name="reset", content={"seq": feed.seq})]
    changed = [Event(name="change", content={**_named(each), "seq": feed.seq}) for each in entries]
    if feed.removed:
        gone: JsonObject = {"kind": "removed", "count": len(feed.removed), "seq": feed.seq}
        changed.append(Event(name="change", content=gone))
    return changed


def _named(entry: Entry) -> JsonObject:
    content = entry.content
    if isinstance(content, Message):
        return {
            "kind": "message",
            "thread": content.thread,
            "id": content.id,
            "position": content.position,
        }
    return {
        "kind": "memory",
        "type": content.type,
        "key": content.key,
        "version": content.version,
        "state": content.state,
    }


def _id_of(place: Cursor) -> str:
    return f"{max(0, place.epoch)}:{place.seq}"
