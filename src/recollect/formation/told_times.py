"""Told times: when each part of a memory was said; words said before do not replace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.records import Json, Memory, Revision
from recollect.stores.field_evidence import MessageTimes, place_evidence
from recollect.stores.json_pointers import covers, leaves, part_at
from recollect.stores.provenance import cited_message
from recollect.stores.remainder import ORIGIN_QUOTE

RESTORED: Final = "restored"
"""The beginning of the cause of a version that a person restored; the former's number follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTimes:
    """
    When the parts of *memory* were said, or written by a person.

    *said* are the times of the messages that it cites, *history* its versions, oldest first.
    """

    memory: Memory
    said: MessageTimes
    history: Sequence[Revision] = ()

    def at(self, place: str) -> datetime:
        """
        Return when the value at the pointer *place* was said last, or since when it is as it is.

        It is never after the last write: the clock of who said it may be ahead.
        """
        found = place_evidence(place, self.memory.evidence)
        cited = [cited_message(each) for each in found if each.quote != ORIGIN_QUOTE]
        times = [self.said[each] for each in cited if each in self.said]
        since, is_restored = self._since(place)
        if not times:
            return since
        told = min(max(times), self.memory.updated_at)
        # A restored version cites what it cited before, but a person chose it now.
        return max(told, since) if is_restored else told

    def _since(self, place: str) -> tuple[datetime, bool]:
        """Return since when the value at *place* is as it is, and whether a restore made it so."""
        since, value, cause = self.memory.updated_at, part_at(self.memory.value, place), ""
        for version in reversed(self.history):
            if part_at(version.value, place) != value:
                break
            since, cause = version.believed_from, version.cause
        return since, cause.startswith(RESTORED)

    def replaced_after(self, place: str, value: Json, told: datetime) -> datetime | None:
        """
        Return when that was said which *value* at *place* would replace, if after *told*.

        A *value* of ``None`` removes what is there.
        """
        given = {place + pointer: leaf for pointer, leaf in leaves(value) if leaf is not None}
        times = [
            at
            for pointer, leaf in leaves(self.memory.value)
            if covers(place, pointer) or covers(pointer, place)
            if given.get(pointer) != leaf and (at := self.at(pointer)) > told
        ]
        return max(times, default=None)
