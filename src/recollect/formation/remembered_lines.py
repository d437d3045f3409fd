"""
Read the memories and messages that a prompt shows, for the rule model.

A prompt has them in one of two forms: `recollect.recall.rendering` (a JSON record per line) and
`recollect.recall.context` (headings, and a source in brackets).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

from recollect.text.days import MONTH_NAME, month_number
from recollect.text.lapsed_mark import LAPSED

Tense = Literal["", "since", "until"]

_DATE: Final = re.compile(
    rf"(?P<d>\d{{1,2}}) (?P<month>{MONTH_NAME}) (?P<y>\d{{4}})"
    r"|(?P<y2>\d{4})(?:年|-)(?P<m2>\d{1,2})(?:月|-)(?P<d2>\d{1,2})",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"<memory ([0-9a-f]+)>[^\n]*\n(.*?)\n</memory \1>", re.DOTALL)
_ENTRY: Final = re.compile(r"…?\[\w{4,}\] (?P<text>.*)", re.DOTALL)
_SPEAKER: Final = re.compile(r"(?P<speaker>[^:\n]{1,60}): (?P<words>.*)", re.DOTALL)
_DATED: Final = re.compile(r"(?P<text>.*?) \((?P<when>[^()]*\d{4}[^()]*)\)", re.DOTALL)
_BEFORE: Final = re.compile(r"[;；] ?(?:before: |之前[:：])|^before: |^之前[:：]")
_FORMER: Final = re.compile(
    r"(?P<name>\w+): (?P<value>.*?) \((?:(?P<since>(?:since |自)[^();；]*\d{4}[^();；]*)[;；] ?)?"
    rf"(?P<until>(?:until |至)(?:{_DATE.pattern})日?|before|之前): (?P<was>.+)\)",
    re.IGNORECASE | re.DOTALL,
)
"""A profile's field with its former value, and when that ended."""
_CLOCK: Final = re.compile(r"# \d{1,2}:\d{2}")
"""The heading of messages at another hour of the same day."""
_LAPSED: Final = tuple(f"({label})" for label in LAPSED)
"""How a message ends of which nothing holds any more: it answers no question."""
_FIELDS: Final = re.compile(r"; (?=\w+: )")
_FIELD: Final = re.compile(r"(?P<name>\w+): (?P<value>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedLine:
    """
    One thing that a prompt remembers: a field of a profile, another memory, or a message.

    *field* is the field's name, *speaker* who said a message; both are empty otherwise. *begun* is
    the first day of a line that also has a last one (*day*, with the tense "until").
    """

    text: str
    day: date | None = None
    tense: Tense = ""
    field: str = ""
    speaker: str = ""
    begun: date | None = None

    @property
    def is_memory(self) -> bool:
        """Whether it is a formed memory, not a message."""
        return not self.speaker

    @property
    def is_so_now(self) -> bool:
        """Whether it is a profile's field, or a memory with a beginning, that has not ended."""
        return self.is_memory and self.tense != "until" and bool(self.field or self.tense)

    def is_true_on(self, day: date) -> bool | None:
        """Return whether it was true on *day*, ``None`` if the line does not say when it was."""
        if self.day is None or not self.tense:
            return None
        if self.tense == "since":
            return self.day <= day
        return (self.begun is None or self.begun <= day) and day < self.day


def remembered_in(system: str) -> Iterator[RememberedLine]:
    """Yield the memories in a prompt, profiles by field; records first, oldest first."""
    records = [found for line in system.splitlines() if (found := _record_in(line))]
    for record in sorted(records, key=lambda each: each.day or date.min):
        yield from _fields_of(record)
    for _, body in _BLOCK.findall(system):
        lines = body.replace("\n  ", " ").split("\n")
        if not lines[0].startswith("{"):
            yield from _lines_of_context(lines)


def _record_in(line: str) -> RememberedLine | None:
    """Parse a record of `recollect.recall.rendering`; ``None`` for other and lapsed lines."""
    try:
        record = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return None
    if not all(isinstance(record.get(name), str) for name in ("source", "who", "text")):
        return None
    kind = record["who"].partition(" ")[0]
    is_memory = record["source"].startswith(f"{kind}/")
    when = day_in(str(record.get("date", record.get("at"))))
    speaker = "" if is_memory else record["who"]
    if speaker and record["text"].endswith(_LAPSED):
        return None
    return RememberedLine(text=record["text"], day=when, speaker=speaker)


def _lines_of_context(lines: Sequence[str]) -> Iterator[RememberedLine]:
    """Parse the lines of a `recollect.recall.context`."""
    day, speaker = None, ""
    for line in lines:
        if line.startswith("# "):
            day = day if _CLOCK.fullmatch(line) else day_in(line)
            speaker = ""
        elif line.startswith("- "):
            yield from _field_lines(line.removeprefix("- "))
        elif entry := _ENTRY.fullmatch(line):
            message = _SPEAKER.fullmatch(entry["text"]) if day else None
            if message:
                speaker = message["speaker"]
            # A line without a speaker continues the line above.
            words = message["words"] if message else entry["text"]
            if not speaker:
                yield from _fields_of(_dated(words))
                yield from _former_in(words)
            elif not words.endswith(_LAPSED):
                yield RememberedLine(text=words, day=day, speaker=speaker)


def _field_lines(text: str) -> Iterator[RememberedLine]:
    """Yield a profile's field, and its former value as a line that has ended."""
    former = _FORMER.fullmatch(text)
    if former is None:
        yield from _fields_of(_dated(text))
        return
    name, since = former["name"], day_in(former["since"] or "")
    tense: Tense = "since" if since else ""
    yield RememberedLine(text=f"{name}: {former['value']}", field=name, day=since, tense=tense)
    was, day = f"{name}: {former['was']}", day_in(former["until"]) or since
    yield RememberedLine(text=was, field=name, day=day, tense="until")


def _former_in(text: str) -> Iterator[RememberedLine]:
    """Yield what a memory that is no profile said before, if its line tells that."""
    found = _DATED.fullmatch(text)
    parts = _BEFORE.split(found["when"], maxsplit=1) if found else []
    if len(parts) == 2 and parts[1].strip():
        yield RememberedLine(text=parts[1].strip(), tense="until")


def _dated(text: str) -> RememberedLine:
    """Return a memory whose line ends with its time in brackets."""
    found = _DATED.fullmatch(text)
    if not found:
        return RememberedLine(text=text)
    # What the memory said before has a date of its own, which is not that of the line.
    when = _BEFORE.split(found["when"])[0]
    is_over = re.search(r"\buntil\b|至", when)
    tense: Tense = "until" if is_over else "since" if re.search(r"\bsince\b|自", when) else ""
    days = [match.group() for match in _DATE.finditer(when)]
    begun = day_in(days[0]) if tense == "until" and len(days) > 1 else None
    day = day_in(days[-1]) if days else None
    return RememberedLine(text=found["text"], day=day, tense=tense, begun=begun)


def _fields_of(line: RememberedLine) -> Iterator[RememberedLine]:
    """Yield the fields of a profile as lines of their own; anything else as it is."""
    parts = _FIELDS.split(line.text)
    if line.speaker or not all(_FIELD.fullmatch(each) for each in parts):
        yield line
        return
    for each in parts:
        yield replace(line, text=each, field=each.partition(":")[0])


def day_in(written: str) -> date | None:
    """Return the first full date in a text, ``None`` for none."""
    found = _DATE.search(written)
    if not found:
        return None
    if found["month"]:
        return date(int(found["y"]), month_number(found["month"]), int(found["d"]))
    return date(int(found["y2"]), int(found["m2"]), int(found["d2"]))
