"""Parts of a response as records: pages, lists, and the outcome of an import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from recollect.records import Message, Page, Revision
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.wire.erasures import receipt_from_json
from recollect.wire.memories import revision_from_json
from recollect.wire.messages import message_from_json
from recollect.worker.formation_run import FormationResult

T = TypeVar("T")


class RefusedRecords(NamedTuple):
    """How many records an import refused, and why the first of them."""

    number: int
    first: str


def page_of(name: str, parse: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    """Return a function that reads a page whose rows are called *name*."""
    return lambda told: Page(rows=tuple(map(parse, told[name])), cursor=told["cursor"])


def messages_of(told: Any) -> tuple[Message, ...]:
    """Return messages that were appended or listed."""
    return tuple(map(message_from_json, told["messages"]))


def revisions_of(told: Any) -> tuple[Revision, ...]:
    """Return the versions of a memory, the oldest first."""
    return tuple(map(revision_from_json, reversed(told["revisions"])))


def receipts_of(told: Any) -> list[EraseReceipt]:
    """Return the receipts of erasures by time."""
    return [receipt_from_json(each) for each in reversed(told["receipts"])]


def results_of(told: Any) -> list[FormationResult]:
    """Return how each formation ended."""
    return [FormationResult(end=each["end"], reason=each["reason"]) for each in told["results"]]


def import_outcome(told: Any) -> tuple[int, RefusedRecords | None]:
    """Return how many records were taken, and which were not."""
    if not told["refused"]:
        return int(told["taken"]), None
    first = told["refused"][0]
    words = f"record {first['line']}: {first['reason']}"
    return int(told["taken"]), RefusedRecords(number=told["refused_count"], first=words)
