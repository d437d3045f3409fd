"""The rest of a version of a memory without messages that were taken back; pure."""

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
"""Prefix of a thread that no thread has."""


def messages_of(evidence: EvidenceMap) -> Messages:
    """Return the messages that evidence names."""
    return frozenset((each.thread, each.message) for found in evidence.values() for each in found)


def left_of(
    version: Memory | Revision, gone: AbstractSet[MessageAddress]
) -> tuple[dict[str, Json], EvidenceMap]:
    """Return the value and the evidence of a version without what needs messages that are gone."""
    if not gone & messages_of(version.evidence):
        return dict(version.value), version.evidence
    sources = json.loads(encode_evidence(version.evidence))
    spared = {at: tuple(_with_spared(found, gone)) for at, found in sources.items()}
    left = remainder_of(version.value, spared, gone)
    if left is None:
        return {}, {}
    evidence = {at: [_unspared(*each) for each in found] for at, found in left.evidence.items()}
    return dict(left.value), decode_evidence(json.dumps(evidence))


def _with_spared(found: Sequence[Cited], gone: AbstractSet[MessageAddress]) -> list[Cited]:
    """
    Return evidence in which messages that only lent words to a value have other names.

    Only where others, which stand, say the value: an undo then takes nothing of it. They stay in
    the evidence, so that an erase finds their words.
    """
    said = {group_of(e) for e in found if e[2] != ORIGIN_QUOTE and (e[0], e[1]) not in gone} - {0}
    return [
        cast("Cited", (_SPARED + each[0], *each[1:]))
        if each[2] == ORIGIN_QUOTE and group_of(each) in said
        else each
        for each in found
    ]


def _unspared(thread: str, *cited: Any) -> list[Any]:
    return [thread.removeprefix(_SPARED), *cited]
