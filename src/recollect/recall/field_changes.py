"""Date the changes of the fields of a document by its versions and their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

from recollect.records import Memory, Revision
from recollect.stores.field_evidence import MessageTimes, last_said, newly_said, place_evidence
from recollect.stores.json_pointers import join_pointer
from recollect.stores.provenance import cited_message
from recollect.text.begun_days import begun_day
from recollect.text.time_zones import told_in

FORMED: Final = "formed"
"""Cause of a version that a formation wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """
    The change of a field from its former value to that of the newest version.

    *until* is when the former value ended, *since* the beginning that was given or told for the
    new one; each is ``None`` if unknown.
    """

    until: datetime | None = None
    since: datetime | None = None


def changes_of(
    memory: Memory, former: Revision, newest: Revision, said: MessageTimes, zone: tzinfo = UTC
) -> dict[str, FieldChange]:
    """
    Return the change of each field of a document that has another value than in *former*.

    A field changed on the day that was given for it, else on the day that the words of its new
    value name ("I moved to Bergen in June"), else when these were said.
    Its time is that of the write only where it was not formed of words: a document that is
    formed of an old conversation did not change today.

    Args:
        memory: The document.
        former: The version before its newest one.
        newest: Its newest version.
        said: Times of the messages that both versions cite.
        zone: The zone that determines the days of words and writes.
    """
    given = memory.valid_from if memory.valid_from != former.valid_from else None
    ended = former.valid_until if former.valid_until != memory.valid_until else None
    changes = {}
    for name, value in memory.value.items():
        if former.value.get(name) == value:
            continue
        begun = given or _begun_at(name, former, newest, said, zone)
        until = ended or begun
        if until is None and (when := _changed_at(name, former, newest, said)):
            until = told_in(when, zone)
        changes[name] = FieldChange(until=until, since=begun)
    return changes


def _begun_at(
    name: str, former: Revision, newest: Revision, said: MessageTimes, zone: tzinfo
) -> datetime | None:
    """Return the beginning that the new words of a field name; ``None`` unless they agree."""
    place = join_pointer([name])
    known = {cited_message(each) for each in place_evidence(place, former.evidence)}
    told = {
        begun_day(each.quote, told_in(said[message], zone).date())
        for each in place_evidence(place, newest.evidence)
        if each.quote and (message := cited_message(each)) in said and message not in known
    }
    (day,) = told if len(told) == 1 else (None,)
    return datetime(day.year, day.month, day.day, tzinfo=zone) if day else None


def _changed_at(
    name: str, former: Revision, newest: Revision, said: MessageTimes
) -> datetime | None:
    """Return when a field's new value was said or else written; ``None`` if that is unknown."""
    place = join_pointer([name])
    when = newly_said(place, former.evidence, newest.evidence, said)
    before = last_said(place, former.evidence, said)
    if when is not None and (before is None or before <= when):
        return when
    return None if newest.cause == FORMED else newest.believed_from
