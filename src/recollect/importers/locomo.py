"""Import of LoCoMo's JSON: two people's sessions, each with a date in words and its turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from recollect.errors import UsageError
from recollect.importers.import_entries import (
    ImportOptions,
    Incoming,
    Refused,
    Row,
    in_zone,
    made_id,
    optional_text_in,
    shown,
    text_blocks,
    text_in,
)
from recollect.records import Json, JsonObject, NewMessage
from recollect.text.coded_text import reason_of

_SESSION: Final = re.compile(r"session_(\d+)")
_DATE: Final = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2}) (?P<half>am|pm) on (?P<day>\d{1,2}) (?P<month>[a-z]+),?"
    r" (?P<year>\d{4})"
)
_MONTHS: Final = (
    "january february march april may june july august september october november december"
).split()
_HALF_DAY_HOURS: Final = 12


def is_sample(value: JsonObject) -> bool:
    """Return True if *value* is one sample: a conversation whose sessions are numbered."""
    talk = value.get("conversation")
    return isinstance(talk, Mapping) and any(map(_SESSION.fullmatch, talk))


def read_sample(sample: JsonObject, place: str, reading: ImportOptions) -> Iterator[Row]:
    """Yield the turns of a sample in the order of its sessions; an invalid turn as refused."""
    talk = sample.get("conversation")
    if not isinstance(talk, Mapping):
        return
    thread = sample.get("sample_id")
    thread = thread if isinstance(thread, str) and thread else reading.thread
    found = [match for name in talk if (match := _SESSION.fullmatch(name))]
    for match in sorted(found, key=lambda match: int(match[1])):
        session, turns = match[0], talk[match[0]]
        date = talk.get(f"{session}_date_time")
        for number, turn in enumerate(turns if isinstance(turns, Sequence) else (), start=1):
            where = f"{place}, {session}, turn {number}"
            try:
                time, is_assumed = read_date(date, reading)
                message = _read_turn(turn, session, time, where, reading)
            except UsageError as error:
                yield Refused(place=where, reason=reason_of(error))
                continue
            yield Incoming(place=where, thread=thread, message=message, is_zone_assumed=is_assumed)


def _read_turn(
    turn: Json, session: str, time: datetime, place: str, reading: ImportOptions
) -> NewMessage:
    if not isinstance(turn, Mapping):
        raise UsageError(f"a turn is {shown(turn)}, not a JSON object")
    text = optional_text_in(turn, "text") or ""
    return NewMessage(
        role="user",
        text=text,
        id=optional_text_in(turn, "dia_id") or made_id(reading, place, turn),
        name=text_in(turn, "speaker"),
        time=time,
        session=session,
        content=_read_content(turn, text),
    )


def _read_content(turn: JsonObject, text: str) -> list[Json] | None:
    """Return the content blocks of a turn that shows a picture; ``None`` without one."""
    caption, addresses = optional_text_in(turn, "blip_caption"), turn.get("img_url")
    if caption is None and not addresses:
        return None
    named = {"caption": caption, "url": addresses, "query": turn.get("query")}
    picture = {"type": "image", **{name: each for name, each in named.items() if each}}
    return [*text_blocks(text), picture]


def read_date(value: object, reading: ImportOptions) -> tuple[datetime, bool]:
    """
    Return the time of a session's date, and whether it named no time zone.

    Raises:
        UsageError: The date is missing, invalid, or not like ``1:56 pm on 8 May, 2023``.
    """
    match = _DATE.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if match is None or match["month"] not in _MONTHS:
        msg = f"its session's date is {shown(value)}, not one like '1:56 pm on 8 May, 2023'"
        raise UsageError(msg)
    hour = int(match["hour"]) % _HALF_DAY_HOURS  # 12 am is hour 0, 12 pm is hour 12
    hour += _HALF_DAY_HOURS if match["half"] == "pm" else 0
    month = _MONTHS.index(match["month"]) + 1
    try:
        time = datetime(int(match["year"]), month, int(match["day"]), hour, int(match["minute"]))  # noqa: DTZ001
    except ValueError as error:
        raise UsageError(f"its session's date {shown(value)} does not exist ({error})") from error
    return in_zone(time, reading.zone)
