"""
Marks of messages that were taken back, so that no later undo brings back what they said.

Undos come in any order. Where a later message stands over an earlier one that is taken back,
nothing but the mark tells of it once the later one is taken back as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from recollect.records import Json, MessageAddress, Revision, Scope
from recollect.side_records import UNDONE_MESSAGE, PutSideRecord, undone_key
from recollect.stores.contract.base import Store
from recollect.stores.pages import each_row
from recollect.stores.plans.undo import UNDONE
from recollect.stores.validation import check_time, to_datetime

VersionAddress: TypeAlias = tuple[str, str, int]
"""A version of a memory: (type, key, version)."""
MARKS_A_PAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneMessages:
    """
    The messages of a scope that were taken back, each with the time.

    *passed* are the versions of memories whose end has passed on to later messages.
    """

    at: Mapping[MessageAddress, datetime]
    passed: Mapping[VersionAddress, frozenset[MessageAddress]]

    def gone_at(self, version: Revision) -> frozenset[MessageAddress]:
        """Return the messages that do not count for a version: said again later, they do."""
        is_undo = version.cause == UNDONE
        return frozenset(
            said for said, at in self.at.items() if is_undo or version.believed_from <= at
        )


async def read_undone(store: Store, scope: Scope) -> UndoneMessages:
    """Return the messages of a scope that were taken back."""
    at: dict[MessageAddress, datetime] = {}
    passed: dict[VersionAddress, frozenset[MessageAddress]] = {}
    async for record in each_row(
        lambda cursor: store.side_records(scope, UNDONE_MESSAGE, cursor=cursor, limit=MARKS_A_PAGE)
    ):
        value: Any = record.value
        at[value["thread"], value["message"]] = to_datetime(value["at"])
        for each in value["passed"]:
            because = frozenset((thread, message) for thread, message in each["because"])
            passed[each["type"], each["key"], each["version"]] = because
    return UndoneMessages(at=at, passed=passed)


def undone_mark(
    said: MessageAddress,
    at: datetime,
    passed: Mapping[VersionAddress, Sequence[MessageAddress]],
) -> PutSideRecord:
    """Return the write that marks a message as taken back at a time."""
    listed: list[Json] = [
        {"type": type_, "key": key, "version": version, "because": [list(each) for each in because]}
        for (type_, key, version), because in sorted(passed.items())
    ]
    value: dict[str, Json] = {
        "thread": said[0],
        "message": said[1],
        "at": check_time(at, "the time of an undo"),
        "passed": listed,
    }
    return PutSideRecord(kind=UNDONE_MESSAGE, key=undone_key(*said), value=value)
