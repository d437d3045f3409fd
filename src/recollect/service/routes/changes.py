"""Changes: what became different in a scope, as it happens."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Final

import anyio
from fastapi import APIRouter, Header
from starlette.responses import StreamingResponse

from recollect.errors import UsageError
from recollect.records import BESIDE_TYPES, JsonObject, Message, Scope
from recollect.service.reaching import Reach, Reading
from recollect.service.streaming import KEEP_ALIVE_S, Event, event_stream
from recollect.stores.plans.feed import Entry
from recollect.stores.rows import Cursor, Feed

router: Final = APIRouter(prefix="/v1", tags=["changes"])
LOOK_EVERY_S: Final = 0.5
_PLACE: Final = re.compile(r"([0-9]{1,18}):([0-9]{1,18})")


@router.get("/changes", summary="What changes in a scope", response_model=None)
async def changes(
    reach: Reading, last_event_id: Annotated[str | None, Header(max_length=64)] = None
) -> StreamingResponse:
    """
    Stream what changes in the scope from now on, or from where a reader stopped.

    After ``reset`` a reader reads anew what it shows: something was erased.
    """
    return event_stream(reach, _events(reach, read_place(reach.scope, last_event_id)))


def read_place(scope: Scope, last_event_id: str | None) -> Cursor | None:
    """
    Return where a reader stopped, ``None`` if it has not begun.

    Raises:
        UsageError: It is no id of an event of ours.
    """
    if not last_event_id:
        return None
    found = _PLACE.fullmatch(last_event_id)
    if found is None:
        msg = f"{last_event_id!r} is no Last-Event-ID of this stream: leave it out to begin anew"
        raise UsageError(msg)
    return Cursor(scope=scope, epoch=int(found[1]), seq=int(found[2]))


async def _events(reach: Reach, place: Cursor | None) -> AsyncGenerator[Event, None]:
    store, stopping = reach.memory.store, reach.service.stopping
    if place is None:
        feed = await store.changes(Cursor(scope=reach.scope))
        place = Cursor(scope=reach.scope, seq=feed.seq, epoch=feed.epoch)
        yield Event(id=_id_of(place))
    idle_s = 0.0
    while not stopping.is_set():
        feed, entries = await _read(reach, place)
        events = _told(feed, entries, place)
        place = Cursor(scope=reach.scope, seq=feed.seq, epoch=feed.epoch)
        for number, each in enumerate(events, start=1):
            # Only the last has an id, so that a reader that stops between goes on before them.
            yield Event(
                name=each.name,
                content=each.content,
                id=_id_of(place) if number == len(events) else None,
            )
        idle_s = 0.0 if events else idle_s + LOOK_EVERY_S
        if idle_s >= KEEP_ALIVE_S:
            idle_s = 0.0
            yield Event(id=_id_of(place))
        with anyio.move_on_after(LOOK_EVERY_S):
            await stopping.wait()


async def _read(reach: Reach, place: Cursor) -> tuple[Feed, Sequence[Entry]]:
    """Return what changed since a place, with the entries themselves, of one moment."""
    fed: list[Feed] = []

    def choose(feeds: Sequence[Feed]) -> list[tuple[Scope, int]]:
        fed[:] = feeds
        is_told = not feeds[0].reset or place.epoch == 0
        return [(reach.scope, each.uid) for each in feeds[0].entries] if is_told else []

    entries = await reach.memory.store.consult([place], choose)
    return fed[0], entries


def _told(feed: Feed, entries: Sequence[Entry], place: Cursor) -> list[Event]:
    """Return the events of a feed: a reset, or each change once."""
    is_begun = place.epoch == 0  # nothing was there before, so that nothing is to be reset
    if feed.reset and not is_begun and (feed.epoch, feed.seq) != (place.epoch, place.seq):
        return [Event(name="reset", content={"seq": feed.seq})]
    changed = [
        Event(name="change", content={**_named(each), "seq": feed.seq})
        for each in entries
        if isinstance(each.content, Message) or each.content.type not in BESIDE_TYPES
    ]
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
