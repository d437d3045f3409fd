"""Parse parts of responses into records: pages, lists, and the outcome of an import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from recollect.formation.operations import RefusedCall
from recollect.records import Message, Page, Revision
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.wire.elements import Fields
from recollect.wire.erasures import receipt_from_json
from recollect.wire.memories import revision_from_json
from recollect.wire.threads import message_from_json
from recollect.worker.formation_result import FormationResult

T = TypeVar("T")


def page_of(name: str, parse: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    """Return a parser of a page whose rows are in the field *name*."""
    return lambda fields: Page(rows=tuple(map(parse, fields[name])), cursor=fields["cursor"])


def messages_of(fields: Fields) -> tuple[Message, ...]:
    """Parse appended or listed messages."""
    return tuple(map(message_from_json, fields["messages"]))


def revisions_of(fields: Fields) -> tuple[Revision, ...]:
    """Parse the versions of a memory, oldest first."""
    return tuple(map(revision_from_json, reversed(fields["revisions"])))


def receipts_of(fields: Fields) -> list[EraseReceipt]:
    """Parse the receipts of erases, oldest first."""
    return [receipt_from_json(each) for each in reversed(fields["receipts"])]


def results_of(fields: Fields) -> list[FormationResult]:
    """Parse the results of formations."""
    return [
        FormationResult(
            end=each["end"],
            reason=each["reason"],
            # A service of an earlier version tells none.
            refused=tuple(map(_refused_call, each.get("refused", ()))),
        )
        for each in fields["results"]
    ]


def _refused_call(fields: Fields) -> RefusedCall:
    return RefusedCall(
        kind=fields["kind"],
        reason=fields["reason"],
        type=fields.get("type"),
        value=fields.get("value"),
        target=fields.get("target"),
    )


def import_outcome(fields: Fields) -> tuple[int, int, str]:
    """Parse the numbers of stored and of refused records, and the reason of the first refusal."""
    if not fields["refused"]:
        return int(fields["taken"]), 0, ""
    first = fields["refused"][0]
    words = f"record {first['line']}: {first['reason']}"
    return int(fields["taken"]), int(fields["refused_count"]), words
