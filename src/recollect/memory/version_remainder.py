"""Take the messages that were taken back out of a version of a memory; pure functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias, cast

from recollect.records import EvidenceMap, Json, Memory, MessageAddress, Revision
from recollect.stores.plans.evidence import decode_evidence, encode_evidence
from recollect.stores.remainder import ORIGIN_QUOTE, Cited, group_of, remainder_of

Messages: TypeAlias = frozenset[MessageAddress]
_SPARED: Final = "\0"
"""Prefix that hides a thread from `remainder_of`: no thread's id has this character."""


def messages_of(evidence: EvidenceMap) -> Messages:
    """Return the messages that evidence cites."""
    return frozenset((each.thread, each.message) for found in evidence.values() for each in found)


def without_messages(
    version: Memory | Revision, gone: AbstractSet[MessageAddress]
) -> tuple[dict[str, Json], EvidenceMap]:
    """Return the value and the evidence of a version without the parts that rest on *gone*."""
    if not gone & messages_of(version.evidence):
        return dict(version.value), version.evidence
    sources = json.loads(encode_evidence(version.evidence))
    hidden = {pointer: tuple(_hide_origins(cited, gone)) for pointer, cited in sources.items()}
    left = remainder_of(version.value, hidden, gone)
    if left is None:
        return {}, {}
    shown = {pointer: [_show(*each) for each in cited] for pointer, cited in left.evidence.items()}
    return dict(left.value), decode_evidence(json.dumps(shown))


def _hide_origins(cited: Sequence[Cited], gone: AbstractSet[MessageAddress]) -> list[Cited]:
    """
    Return evidence in which the mere origins of words of a value are hidden from its removal.

    Only in groups of which another message, which stays, states the value: an undo then takes
    nothing of it. The origins stay in the evidence, so that an erase finds their words.
    """
    stated = {
        group_of(each)
        for each in cited
        if each[2] != ORIGIN_QUOTE and (each[0], each[1]) not in gone
    } - {0}  # in no group
    return [
        cast("Cited", (_SPARED + each[0], *each[1:]))
        if each[2] == ORIGIN_QUOTE and group_of(each) in stated
        else each
        for each in cited
    ]


def _show(thread: str, *rest: Any) -> list[Any]:
    return [thread.removeprefix(_SPARED), *rest]
