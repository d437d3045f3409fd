"""The words that each field of a memory rests on, without those that a person has written over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.records import Memory, Revision
from recollect.stores.field_evidence import cites_nothing_new, place_evidence
from recollect.stores.json_pointers import join_pointer

_BY_HAND: Final = "put"


def field_quotes(memory: Memory, revisions: Sequence[Revision] = ()) -> dict[str, str]:
    """
    Return the first quote of each field of *memory*, by the pointer of the field.

    A field that a person changed has none, although the store keeps the evidence of the words that
    were left of the former text: it no longer says what they say.

    Args:
        revisions: The versions of the memory, oldest first. Without them nothing was changed.
    """
    past = [each for each in revisions if each.version <= memory.version]
    quotes = {}
    for name in memory.value:
        place = join_pointer([name])
        quote = next(
            (each.quote for each in place_evidence(place, memory.evidence) if each.quote), None
        )
        if quote is not None and not _is_by_hand(name, place, past):
            quotes[place] = quote
    return quotes


def _is_by_hand(name: str, place: str, revisions: Sequence[Revision]) -> bool:
    """Return True if the version that gave the field its value cites nothing new for it."""
    values = [each.value.get(name) for each in revisions]
    written = len(values) - 1
    while written > 0 and values[written - 1] == values[-1]:
        written -= 1
    if written <= 0 or revisions[written].cause != _BY_HAND:
        return False
    before, after = revisions[written - 1].evidence, revisions[written].evidence
    return cites_nothing_new(place, before, after)
