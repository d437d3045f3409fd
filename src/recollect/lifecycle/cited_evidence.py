"""Read the evidence of imported memories, and reduce citations of messages that do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from recollect.lifecycle.erased_records import versions_in
from recollect.records import Evidence, Json, JsonObject, MessageAddress
from recollect.stores.plans.erase_ledger import evidence_in
from recollect.stores.remainder import MEMORY_THREAD

NOWHERE: Final = "@nowhere"
"""Id in evidence for a message of its thread that does not exist: it states nothing."""


def cited_by(record: JsonObject) -> Iterator[MessageAddress]:
    """Yield the messages and memory versions that a memory cites, in all its versions."""
    if record.get("kind") != "memory":
        return
    for version in versions_in(record):
        for found in evidence_in(version).values():
            yield from (
                (each.thread, each.message) for each in found if not _cites_no_message(each)
            )


def _cites_no_message(evidence: Evidence) -> bool:
    """Return True if evidence cites no message: an agent's finding, or a whole thread."""
    # An id with "@" and no quote only ties the memory to its thread, so that both are erased.
    return evidence.is_finding or (evidence.message.startswith("@") and evidence.quote is None)


def without_unfounded(record: JsonObject, unfounded: set[MessageAddress]) -> JsonObject:
    """
    Return a memory's record without the evidence in *unfounded*, in all its versions.

    Of messages only their thread stays, so that an erase of it still takes what rested on them.
    """
    past = [_version_without(each, unfounded) for each in list(versions_in(record))[1:]]
    return {**_version_without(record, unfounded), "revisions": past}


def _version_without(version: JsonObject, unfounded: set[MessageAddress]) -> dict[str, Json]:
    written = cast("Mapping[str, Sequence[Any]]", version["evidence"])
    left = {pointer: _founded(found, unfounded) for pointer, found in written.items()}
    if left == {pointer: list(found) for pointer, found in written.items()}:
        return dict(version)
    kept = {pointer: found for pointer, found in left.items() if found}
    # Nothing here shows that a user said it any more.
    trust = "agent" if version.get("trust") == "agent" else "external"
    return {**version, "evidence": kept, "trust": trust}


def _founded(found: Sequence[Any], unfounded: set[MessageAddress]) -> list[Any]:
    """Return the evidence of one field, with a tie to its thread for each unfounded message."""
    left: list[Any] = []
    for each in found:
        if (each[0], each[1]) not in unfounded:
            left.append(each)
        elif each[0] != MEMORY_THREAD:
            # The group stays: what needed all of its messages still needs the others.
            tie = [each[0], NOWHERE, None, *each[3:4]]
            left += [] if tie in left else [tie]
    return left
