"""
Lanes: the formation progress, in a thread, of types with their own schedule.

A lane says how far a type is formed; who may form the scope now is told by its lease, in `leases`.
A type without a lane is at the thread's watermark. It gets a lane when either moves without the
other. Lanes are a column of the thread's row, so that they move in the formation's transaction and
are deleted with the thread.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.records import Json, Lane
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.rows import ThreadRow
from recollect.stores.validation import check_id, check_time, to_datetime

LANES: Final = "lanes"
"""The field of a receipt that lists the types to which its formation was limited."""


def lanes_of(thread: ThreadRow) -> dict[str, Lane]:
    """Return the lanes of a thread by type, in order."""
    found = json.loads(thread.lanes)
    return {
        name: Lane(
            formed=each["formed"],
            attempts=each.get("attempts", 0),
            not_before=to_datetime(each["not_before"]) if "not_before" in each else None,
            again=tuple(each.get("again", ())),
        )
        for name, each in sorted(found.items())
    }


def lane_of(thread: ThreadRow, type_: str) -> Lane:
    """Return the progress of a type in a thread."""
    return lanes_of(thread).get(type_, Lane(formed=thread.formed))


def with_lanes(thread: ThreadRow, lanes: Mapping[str, Lane]) -> ThreadRow:
    """Return the thread with exactly *lanes*, leaving out those that equal its watermark."""
    at_watermark = Lane(formed=thread.formed)
    kept = {name: each for name, each in sorted(lanes.items()) if each != at_watermark}
    return replace(thread, lanes=json.dumps(lanes_record(kept), separators=(",", ":")))


def lanes_record(lanes: Mapping[str, Lane]) -> dict[str, Json]:
    """Return lanes as JSON, omitting default values."""
    return {name: _lane_record(each) for name, each in lanes.items()}


def _lane_record(lane: Lane) -> dict[str, Json]:
    found: dict[str, Json] = {"formed": lane.formed}
    if lane.attempts:
        found["attempts"] = lane.attempts
    if lane.not_before is not None:
        found["not_before"] = check_time(lane.not_before, "a lane's time")
    if lane.again:
        found["again"] = list(lane.again)
    return found


def restored_lanes(record: Json, last: int) -> dict[str, Lane]:
    """Return the lanes of a thread from an archive record."""
    found = {}
    for name, each in _objects(record).items():
        given = RecordFields(each)
        not_before = given.optional_moment("not_before")
        lane = Lane(
            formed=given.count("formed"),
            attempts=given.count("attempts") if "attempts" in each else 0,
            not_before=None if not_before is None else to_datetime(not_before),
            again=given.positions("again", last),
        )
        if lane.formed > last:
            raise UsageError(
                f"the type {name!r} is formed up to {lane.formed}, beyond the last position {last}"
            )
        found[check_id(name, "a type's name")] = lane
    return found


def _objects(record: Json) -> dict[str, Mapping[str, Json]]:
    """Return the lanes of an archive record by type, if all of them are objects."""
    given = record if isinstance(record, Mapping) else {"": record}
    found = {name: each for name, each in given.items() if isinstance(each, Mapping)}
    if len(found) < len(given):
        raise UsageError(f"the field 'lanes' must be an object of objects by type, not {record!r}")
    return found


def advance_lanes(thread: ThreadRow, formed: int, lanes: Mapping[str, Lane]) -> ThreadRow:
    """
    Return *thread*, advanced type by type to where a copy of it has got: *formed* and *lanes*.

    No type moves back, or messages would be formed twice.
    """
    own = lanes_of(thread)
    moved = replace(thread, formed=max(thread.formed, formed))
    joined = {}
    for name in {*own, *lanes}:
        here = own.get(name, Lane(formed=thread.formed))
        there = lanes.get(name, Lane(formed=formed))
        joined[name] = replace(here, formed=max(here.formed, there.formed))
    return with_lanes(moved, joined)


def keep_lane_positions(before: ThreadRow, after: ThreadRow, types: Sequence[str]) -> ThreadRow:
    """Return *after*, with *types* left at the progress they had in *before*."""
    if not types and before.lanes == "{}":
        return after
    # A type without a lane stood at the old watermark: it gets a lane there before that moves.
    left = {name: lane_of(before, name) for name in types}
    return with_lanes(after, {**lanes_of(before), **left})


def form_lanes(
    thread: ThreadRow,
    types: Sequence[str],
    until: int | None,
    *,
    again: Sequence[int] = (),
    failed: Sequence[int] = (),
) -> ThreadRow:
    """
    Return the thread with *types* formed up to *until*, and the watermark unchanged.

    Raises:
        UsageError: *until* lies before a type's progress or after the last message, or does not
            pass a *failed* position.
    """
    lanes = lanes_of(thread)
    for name in types:
        lane = lane_of(thread, name)
        position = lane.formed if until is None else until
        passed = all(1 <= each <= position for each in failed)
        if not lane.formed <= position <= thread.last or not passed:
            raise UsageError(
                f"the type {name!r} cannot be formed up to position {position} of the thread "
                f"{thread.id!r}, giving up {list(failed)}: it is formed up to {lane.formed}, and "
                f"the thread ends at {thread.last}"
            )
        done = {*again, *failed}
        left = tuple(each for each in lane.again if each not in done)
        lanes[name] = Lane(formed=position, again=left)
    return with_lanes(thread, lanes)


def postpone_lanes(
    thread: ThreadRow, types: Sequence[str], not_before: datetime, *, failures: int
) -> ThreadRow:
    """Return the thread with *types* postponed until *not_before*."""
    lanes = lanes_of(thread)
    for name in types:
        lane = lane_of(thread, name)
        lanes[name] = replace(lane, attempts=lane.attempts + failures, not_before=not_before)
    return with_lanes(thread, lanes)


def redriven_lanes(thread: ThreadRow, types: Sequence[str], positions: Sequence[int]) -> ThreadRow:
    """Return the thread with *positions* pending again for *types* alone."""
    lanes = lanes_of(thread)
    for name in types:
        lane = lane_of(thread, name)
        lanes[name] = replace(lane, again=tuple(sorted({*lane.again, *positions})))
    return with_lanes(thread, lanes)


def lanes_without(thread: ThreadRow, positions: Iterable[int]) -> ThreadRow:
    """Return the thread with *positions* no longer pending in any lane."""
    lanes, gone = lanes_of(thread), set(positions)
    if not lanes:
        return thread
    return with_lanes(
        thread,
        {
            name: replace(each, again=tuple(p for p in each.again if p not in gone))
            for name, each in lanes.items()
        },
    )
